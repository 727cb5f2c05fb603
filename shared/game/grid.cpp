#include "shared/game/grid.hpp"

namespace shoal::demo {

void BodyGrid::build(std::span<const Body> bodies, float half_size) {
  half_size_ = half_size;
  squares_ = static_cast<std::uint32_t>(2 * half_size / kSquareSize) + 1;
  first_.assign(std::size_t{squares_} * squares_ + 1, 0);
  square_of_body_.resize(bodies.size());
  sorted_.resize(bodies.size());

  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Vector2 position = bodies[i].position;
    square_of_body_[i] = square_of(position.y) * squares_ + square_of(position.x);
    ++first_[square_of_body_[i]];
  }
  std::uint32_t before = 0;
  for (std::uint32_t& first : first_) {
    before += first;
    first = before;  // the end of this square; filling from the back makes it the beginning
  }
  for (std::size_t i = bodies.size(); i-- > 0;) sorted_[--first_[square_of_body_[i]]] = bodies[i];
}

std::uint32_t BodyGrid::square_of(float coordinate) const {
  const float square = (coordinate + half_size_) / kSquareSize;
  if (!(square > 0)) return 0;
  const float last = static_cast<float>(squares_ - 1);
  return square >= last ? squares_ - 1 : static_cast<std::uint32_t>(square);
}

}  // namespace shoal::demo
