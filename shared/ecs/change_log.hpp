// The change log: births, deaths, additions and removals of one tick in the order in which they happened. Who reads it
// switches it on, and clears it once per tick: nothing else bounds it. `ChangeSummary` is the algebra of the log: what it comes to, seen from before and
// after.
//
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity.hpp"

namespace shoal {

enum class LogKind : std::uint8_t {
  Born,
  Died,  // after a Removed for each component that it had
  Added,
  Removed,
};

struct LogEntry {
  Entity entity;
  ComponentType type;  // no type for Born and Died
  LogKind kind;

  friend constexpr bool operator==(const LogEntry&, const LogEntry&) = default;
};

class ChangeLog {
 public:
  void add(LogKind kind, Entity entity, ComponentType type = {}) {
    if (enabled_) entries_.push_back({entity, type, kind});
  }
  std::span<const LogEntry> entries() const { return entries_; }
  void clear() { entries_.clear(); }

  bool enabled() const { return enabled_; }
  /// Switching off also clears.
  void set_enabled(bool enabled);

 private:
  bool enabled_ = false;
  std::vector<LogEntry> entries_;
};

enum class NetKind : std::uint8_t {
  Born,
  Died,
  Added,    // had it not before, has it now
  Removed,  // had it before, has it not now
  Reset,    // had it before and has it now, but not the same one: an observer must not carry anything over
};

struct NetChange {
  Entity entity;
  ComponentType type;  // no type for Born and Died
  NetKind kind;

  friend constexpr bool operator==(const NetChange&, const NetChange&) = default;
};

/// Each entity and each component of it once at most: add and remove come to nothing, remove and add to a
/// reset, birth and death to nothing at all.
class ChangeSummary {
 public:
  /// The net changes of a whole log, valid until the next call. Entities in the order in which the log first
  /// names them; within one entity Born first, then components by number, Died last. n log n in the entries;
  /// allocates only while it grows.
  std::span<const NetChange> summarize(std::span<const LogEntry> entries);

 private:
  struct Keyed {
    LogEntry entry;
    std::uint32_t order;
  };
  struct Group {
    std::uint32_t first_order;
    std::uint32_t begin;
    std::uint32_t end;
  };
  void append_net(std::span<const Keyed> life);

  std::vector<Keyed> keyed_;
  std::vector<Group> groups_;
  std::vector<NetChange> net_;
};

}  // namespace shoal
