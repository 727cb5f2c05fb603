// The audit of silent writes: which components were written through a plain reference, without replace, patch or
// mark_dirty. Such writes are replicated all the same; listeners and observers do not hear of them, and finding out
// costs a comparison. A tool for tests and for development: it copies every pool.
//
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/ecs/registry.hpp"

namespace shoal {

class WriteAudit {
 public:
  /// Values of one component that changed in silence.
  struct Finding {
    ComponentType type;
    std::string component;
    std::size_t values;
    Entity first;  // the first of them in the order of the pool
  };

  /// Remembers all values, byte by byte, of the types that may be copied so. O(all values). The registry outlives this.
  explicit WriteAudit(const Registry& registry);

  /// What differs from what was remembered and is not dirty, by component number. Call it before clear_changes().
  /// Bytes of padding count as well.
  std::vector<Finding> findings() const;
  /// "shoal.demo.Health: 3 values written without a signal, first entity 7:2; use patch() or replace()", a line for each
  /// finding; empty if there is none.
  std::string report() const;
  /// Remembers anew.
  void remember();

 private:
  struct Copy {
    std::vector<std::uint32_t> indices;
    std::vector<std::byte> values;
  };

  const Registry* registry_;
  std::vector<Copy> copies_;  // by component number
};

}  // namespace shoal
