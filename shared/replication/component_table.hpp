// The components that a server replicates, as columns of small integers. Built from descriptors at run
// time, so that a client can hold, hash and pass on components of which it knows nothing but their
// description.
//
// 1. Components are ordered by wire id, their columns by field: the same order on both sides, whatever the
//    order of registration.
// 2. The table does not change once built; it may be read from several threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/replication/ids.hpp"
#include "shared/wire/component_descriptor.hpp"
#include "shared/wire/schema_versions.hpp"

namespace shoal {

/// Bits of an entity's id on the wire at most: 64 and a flag (delta_codec.cpp).
inline constexpr unsigned kWorstIdBits = 65;

/// Most columns that a component may have; the generator's size limit keeps well below.
inline constexpr unsigned kMaxColumnsPerComponent = 512;

struct ColumnSpec {
  ComponentIndex component;
  std::uint8_t bits;   // of a value on the wire, 1 to 32
  std::uint8_t bytes;  // of a value in memory: 1, 2 or 4
};

struct ReplicatedComponent {
  std::string name;
  std::uint32_t wire_id;
  std::uint64_t hash;
  Audience audience;
  std::uint32_t size_bytes;  // 0 for a tag
  std::vector<FieldDescriptor> fields;
  ColumnIndex first_column;
  unsigned column_count;
  unsigned value_bits;  // of all columns together
};

class ComponentTable {
 public:
  /// REQUIRES: wire ids differ (the generator refuses collisions). `descriptors` need not outlive the call;
  /// the path texts of their fields must outlive the table.
  explicit ComponentTable(std::span<const ComponentDescriptor> descriptors);

  std::size_t size() const { return components_.size(); }
  const ReplicatedComponent& operator[](ComponentIndex index) const { return components_[index]; }
  std::span<const ReplicatedComponent> components() const { return components_; }
  std::span<const ColumnSpec> columns() const { return columns_; }
  std::optional<ComponentIndex> find(std::uint32_t wire_id) const;
  /// Those of one audience, rising: what its chunks hold.
  std::span<const ComponentIndex> of(Audience audience) const {
    return by_audience_[static_cast<std::size_t>(audience)];
  }

  /// Integers of all fields of component `index`, read from its aggregate: first_column onwards, `target`
  /// holds column_count of them.
  void quantise(ComponentIndex index, const void* aggregate, std::uint32_t* target) const;
  /// The counterpart; writes size_bytes, padding included as zeros.
  void dequantise(ComponentIndex index, const std::uint32_t* source, void* aggregate) const;

  /// Where an entity stands on the ground, in the units of the schema.
  struct Place {
    double x = 0;
    double y = 0;
  };
  /// The component that places entities on the interest grid, if the schema has one.
  std::optional<ComponentIndex> interest_component() const { return interest_component_; }
  /// From the integers of the interest component: its first two fields of kind Position, as a client could tell
  /// them apart. REQUIRES: interest_component().
  Place place_of(const std::uint32_t* values) const;

  /// Bits that one entity may cost at most in a full state of that audience: its id and a bit per component …
  std::size_t worst_slot_bits(Audience audience) const { return kWorstIdBits + of(audience).size(); }
  /// … and this for each component that it has.
  std::size_t value_bits(ComponentIndex index) const { return components_[index].value_bits; }

 private:
  std::vector<ReplicatedComponent> components_;
  std::vector<ColumnSpec> columns_;
  std::array<std::vector<ComponentIndex>, kAudiences> by_audience_;
  std::optional<ComponentIndex> interest_component_;
};

/// What the handshake compares of it; sorted.
SchemaVersions schema_versions(const ComponentTable& table);

}  // namespace shoal
