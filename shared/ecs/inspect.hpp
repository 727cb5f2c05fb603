// What an entity is made of and what the pools hold, as text for people: consoles, logs, failing tests. The
// text may change from version to version; a program reads the registry itself.
//
// Thread rule: from several threads while nobody changes the registry.
// Invariants:
// 1. Nothing is marked as changed by being looked at.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/ecs/registry.hpp"

namespace shoal {

/// The text of a value of this pool, for who knows the fields of its type; none leaves it to its bytes. Not
/// called for tags.
using ValuePrinter = std::function<std::optional<std::string>(const StorageBase& pool, const void* value)>;

/// One line of the entity: id, whether it lives, how many components, bytes of their values. Then one line per
/// component, by component number: full name, bytes, and the value by `print`, or else its first 32 bytes in
/// hexadecimal, as they lie in memory and with what pads them; what cannot be copied as bytes shows its size
/// alone. Any handle may be asked for.
std::string dump(const Registry& registry, Entity entity, const ValuePrinter& print = {});

struct PoolStatistics {
  ComponentType type;
  std::string_view name;         // lives as long as the registry
  std::size_t size = 0;          // entities
  std::size_t capacity = 0;      // entities that fit without growth
  std::size_t value_bytes = 0;   // of one value; 0: a tag
  std::size_t memory_bytes = 0;  // of values, indices and marks, used or not
  std::size_t dirty = 0;         // announced changes since clear_changes
};

/// Of every pool, by component number. O(pools + size of those with changes).
std::vector<PoolStatistics> pool_statistics(const Registry& registry);

/// The same as a table with a heading, one line per pool, and a last line for the whole registry.
std::string statistics_table(const Registry& registry);

}  // namespace shoal
