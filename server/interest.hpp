// Which squares one client sees, and how well. Decided once per tick, from where its player stands and whose it
// is, never from single entities: so whatever enters and leaves a square within a tick is one change.
//
// 1. A cell is in interest when it is within the radius of the player, and stays in it until it is further away
//    than radius and hysteresis. The "always" square, the player's team and what it owns are always in it.
// 2. Who has no place sees from where it had one last, or from the middle of the world. The point from which is
//    measured follows the player in steps of a sixteenth of a square: most ticks there is nothing to look at.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "server/chunk_store.hpp"
#include "server/square.hpp"
#include "shared/ecs/entity.hpp"

namespace shoal {

/// What a client looks with.
struct Viewer {
  Entity player{};
  std::optional<Place> place;
  std::optional<std::uint32_t> team;
};

/// How often a square's changes are sent: near ones each tick, others every second and every fourth. The same for
/// all clients of one level, so that their baselines, and with them the encoded blocks, are the same.
struct RateLevel {
  std::uint8_t value = 0;  // 0 to kRateLevels - 1
  std::uint32_t period_ticks() const { return 1u << value; }
  friend constexpr auto operator<=>(RateLevel, RateLevel) = default;
};
inline constexpr unsigned kRateLevels = 3;

class Interest {
 public:
  explicit Interest(const InterestConfig& config) : config_(config) {}

  struct Watched {
    SquareKey square;
    RateLevel level;
    float distance;  // from the player to the square
  };

  /// Looks again where that may change anything: the viewer moved, or squares came and went. Returns whether it did.
  bool update(const Viewer& viewer, const ChunkStore& chunks);
  /// Nearest first.
  const std::vector<Watched>& squares() const { return squares_; }
  bool sees(const SquareKey& square) const { return seen_.contains(square); }
  Place centre() const { return centre_; }

 private:
  void look(const ChunkStore& chunks);
  void add(const SquareKey& square, double distance);

  InterestConfig config_;
  Viewer viewer_;
  Place centre_;
  bool has_looked_ = false;
  std::uint64_t layout_ = 0;
  std::vector<Watched> squares_;
  std::unordered_map<SquareKey, std::uint64_t, SquareKeyHash> seen_;  // and at which look
  std::uint64_t looks_ = 0;
};

}  // namespace shoal
