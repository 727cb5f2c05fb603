// Why a client has of an entity what it has: for people who look for what does not arrive. Made by Server::explain,
// which changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "server/interest.hpp"
#include "server/square.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/replication/ids.hpp"

namespace shoal {

/// What a client has of one chunk.
struct ChunkExplanation {
  bool is_subscribed = false;  // else nothing below is set
  Epoch epoch{};
  RateLevel level{};
  float distance = 0;
  std::optional<Tick> current;       // newest version that there is
  std::optional<Tick> sent;          // newest version that is in flight or arrived
  std::optional<Tick> sent_at;       // when that left; not known while a newer one waits
  std::optional<Tick> acknowledged;  // newest version that the client has
  std::optional<Tick> baseline;
  bool is_in_flight = false;  // the newest one that was sent is not acknowledged yet
  bool is_waiting = false;    // a newer version waits
  std::uint32_t age_ticks = 0;
  std::uint64_t urgency = 0;
  bool is_overdue = false;  // it was due and did not leave, for want of room or budget
  std::optional<Tick> next_due;
};

/// Of one audience: the entity's components for it.
struct AudienceExplanation {
  Audience audience = Audience::Everyone;
  bool is_bound = false;
  ChunkId chunk{};
  std::uint32_t slot = 0;
  SquareKey square;
  std::optional<double> distance;  // of a cell: from the client's centre
  ChunkExplanation state;
  /// One sentence: that it is sent, or why not.
  std::string_view verdict;
};

struct EntityExplanation {
  Entity entity{};
  bool is_alive = false;
  bool is_local = false;
  Tick tick;
  double radius = 0;
  std::vector<AudienceExplanation> audiences;  // those for which the entity has something
  /// One sentence.
  std::string_view verdict;
};

}  // namespace shoal
