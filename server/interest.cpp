#include "server/interest.hpp"

#include <algorithm>
#include <cmath>

#include "shared/base/fault.hpp"

namespace shoal {

void Interest::add(const SquareKey& square, double distance) {
  // Three rings: the inner one at the full rate. Without a radius everything is near.
  std::uint8_t level = 0;
  if (config_.radius > 0) {
    if (distance > config_.radius * 0.4) level = 1;
    if (distance > config_.radius * 0.75) level = 2;
  }
  squares_.push_back({square, {level}, static_cast<float>(distance)});
  seen_[square] = looks_;
}

bool Interest::update(const Viewer& viewer, const ChunkStore& chunks) {
  const double step = config_.centre_step();
  const bool has_moved = viewer.place && (std::abs(viewer.place->x - centre_.x) > step ||
                                          std::abs(viewer.place->y - centre_.y) > step);
  if (has_moved) centre_ = *viewer.place;
  const bool is_same = has_looked_ && !has_moved && viewer.player == viewer_.player &&
                       viewer.team == viewer_.team && layout_ == chunks.layout();
  if (is_same) return false;
  viewer_ = viewer;
  layout_ = chunks.layout();
  has_looked_ = true;
  look(chunks);
  return true;
}

void Interest::look(const ChunkStore& chunks) {
  ++looks_;
  squares_.clear();
  const auto add_if_there = [&](const SquareKey& square, double distance) {
    if (!chunks.chunks_of(square).empty()) add(square, distance);
  };
  add_if_there(SquareKey::always(), 0);
  if (viewer_.team) add_if_there(SquareKey::team(*viewer_.team), 0);
  if (!viewer_.player.is_null()) add_if_there(SquareKey::owner(viewer_.player), 0);

  const auto add_cell = [&](const SquareKey& cell) {
    const double distance = distance_to_cell(centre_, cell, config_.square_size);
    const bool is_in = config_.radius <= 0 || distance <= config_.radius ||
                       (distance <= config_.radius + config_.radius_hysteresis() && seen_.contains(cell));
    if (is_in) add_if_there(cell, distance);
  };
  const double reach = config_.radius + config_.radius_hysteresis();
  const double cells_across = 2 * reach / config_.square_size + 2;
  if (config_.radius > 0 && cells_across * cells_across < static_cast<double>(chunks.square_count()) * 2) {
    const std::int32_t left = cell_of(centre_.x - reach, config_.square_size);
    const std::int32_t right = cell_of(centre_.x + reach, config_.square_size);
    const std::int32_t bottom = cell_of(centre_.y - reach, config_.square_size);
    const std::int32_t top = cell_of(centre_.y + reach, config_.square_size);
    for (std::int32_t row = bottom; row <= top; ++row) {
      for (std::int32_t column = left; column <= right; ++column) add_cell(SquareKey::cell(column, row));
    }
  } else {
    chunks.for_each_square([&](const SquareKey& square, std::span<const ChunkIndex>) {
      if (square.kind == SquareKind::Cell) add_cell(square);
    });
  }
  if (fault("show-all")) {
    squares_.clear();
    chunks.for_each_square([&](const SquareKey& square, std::span<const ChunkIndex>) { add(square, 0); });
  }
  std::erase_if(seen_, [&](const auto& entry) { return entry.second != looks_; });
  std::sort(squares_.begin(), squares_.end(), [](const Watched& a, const Watched& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.square < b.square;
  });
}

}  // namespace shoal
