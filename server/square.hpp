// The squares into which chunks are sorted: a cell of the interest grid, the "always" square of what stands
// nowhere, one per team, one per owner. Who sees a square receives all of its chunks.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>

#include "shared/base/random.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/replication/component_table.hpp"
#include "shared/wire/component_descriptor.hpp"

namespace shoal {

using Place = ComponentTable::Place;

/// How the ground is divided and how far players see, in the units of the interest component.
struct InterestConfig {
  double square_size = 32;
  /// Squares nearer than this to a player are in its interest; 0: all of them are.
  double radius = 0;
  /// From so many receivers of a chunk on they move to new baselines together. More of them then share an encoded body,
  /// which leads from an older state and is larger: worth it where many stand in one place.
  std::uint32_t crowd = 8;

  /// Who stands in a square stays in it until it is further outside than this. Against moving to and fro on an edge.
  double square_hysteresis() const { return square_size / 8; }
  /// A square stays in interest until it is this much further away.
  double radius_hysteresis() const { return square_size / 2; }
  /// The point from which a player sees lags behind it by this much at most, along either axis.
  double centre_step() const { return square_size / 16; }
};

enum class SquareKind : std::uint8_t { Always, Cell, Team, Owner };

struct SquareKey {
  SquareKind kind = SquareKind::Always;
  std::uint32_t a = 0;  // Cell: column; Team: its number; Owner: the player's index
  std::uint32_t b = 0;  // Cell: row; Owner: the player's generation

  static SquareKey always() { return {}; }
  static SquareKey team(std::uint32_t number) { return {SquareKind::Team, number, 0}; }
  static SquareKey owner(Entity player) { return {SquareKind::Owner, player.index, player.generation}; }
  static SquareKey cell(std::int32_t column, std::int32_t row) {
    return {SquareKind::Cell, static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row)};
  }
  /// REQUIRES: a cell.
  std::int32_t column() const { return static_cast<std::int32_t>(a); }
  std::int32_t row() const { return static_cast<std::int32_t>(b); }
  Audience audience() const {
    return kind == SquareKind::Team    ? Audience::Team
           : kind == SquareKind::Owner ? Audience::Owner
                                       : Audience::Everyone;
  }

  friend auto operator<=>(const SquareKey&, const SquareKey&) = default;
};

struct SquareKeyHash {
  std::size_t operator()(const SquareKey& key) const noexcept {
    return static_cast<std::size_t>(
        mix64((std::uint64_t{key.a} << 32 | key.b) ^ static_cast<std::uint64_t>(key.kind) << 62));
  }
};

/// The cell that a coordinate falls into. Far out, where a cell could not be told from the next, the last one.
inline std::int32_t cell_of(double coordinate, double square_size) {
  constexpr double kFar = 1 << 30;
  return static_cast<std::int32_t>(std::clamp(std::floor(coordinate / square_size), -kFar, kFar));
}
inline SquareKey cell_at(Place place, double square_size) {
  return SquareKey::cell(cell_of(place.x, square_size), cell_of(place.y, square_size));
}
/// From the place to the nearest point of the cell; 0 inside.
inline double distance_to_cell(Place place, const SquareKey& cell, double square_size) {
  const auto outside = [&](double at, std::int32_t index) {
    const double low = index * square_size;
    return std::max({low - at, at - (low + square_size), 0.0});
  };
  return std::hypot(outside(place.x, cell.column()), outside(place.y, cell.row()));
}
/// True when the place is no further than `margin` outside the cell, along either axis.
inline bool is_about_in(Place place, const SquareKey& cell, double square_size, double margin) {
  const auto near = [&](double at, std::int32_t index) {
    const double low = index * square_size;
    return at >= low - margin && at <= low + square_size + margin;
  };
  return near(place.x, cell.column()) && near(place.y, cell.row());
}

}  // namespace shoal
