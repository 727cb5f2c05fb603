// A uniform grid over the bodies (what has health) of one tick: who is near? Built anew each tick by a
// counting sort, which is cheaper than keeping it right while everything moves.
//
// Invariants
// 1. Bodies of one square lie next to each other, in the order in which they were given; so the order in
//    which neighbours are visited depends on nothing else.
// 2. Nothing is allocated once the vectors have grown to the size of the world.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/ecs/entity.hpp"
#include "shared/game/vector.hpp"

namespace shoal::demo {

struct Body {
  Entity entity;
  Vector2 position;
  std::uint8_t team = 0;
};

class BodyGrid {
 public:
  static constexpr float kSquareSize = 8;  // metres

  /// Sorts `bodies` into squares. Positions outside -half_size … half_size count to the border squares.
  /// O(bodies + squares).
  void build(std::span<const Body> bodies, float half_size);

  /// Calls f(const Body&) for each body in the squares that touch the circle; f looks at the distance itself.
  template <class F>
  void for_each_near(Vector2 centre, float radius, F f) const {
    if (squares_ == 0) return;
    const std::uint32_t left = square_of(centre.x - radius), right = square_of(centre.x + radius);
    const std::uint32_t bottom = square_of(centre.y - radius), top = square_of(centre.y + radius);
    for (std::uint32_t row = bottom; row <= top; ++row) {
      // The squares of a row are neighbours in memory.
      const std::uint32_t first = first_[row * squares_ + left];
      const std::uint32_t last = first_[row * squares_ + right + 1];
      for (std::uint32_t i = first; i < last; ++i) f(sorted_[i]);
    }
  }

  std::size_t size() const { return sorted_.size(); }

 private:
  std::uint32_t square_of(float coordinate) const;

  float half_size_ = 0;
  std::uint32_t squares_ = 0;         // along one side
  std::vector<std::uint32_t> first_;  // per square the position of its first body, and one end
  std::vector<std::uint32_t> square_of_body_;
  std::vector<Body> sorted_;
};

/// Resource: the grid and the list that it is built from.
struct Bodies {
  std::vector<Body> all;
  BodyGrid grid;
};

}  // namespace shoal::demo
