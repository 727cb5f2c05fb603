// What to tell Agones' side-car next, from what the server is and what the side-car last said. No thread and no
// socket: AgonesSdk asks for the next request, sends it and hands the answer back.
//
//   GET /gameserver ─► labels, annotations, counter ─► ready (after the first tick) ─► … ─► shutdown (after the end)
//          └ again every second                 health at half the period, while the tick is alive ┘
//
// 1. What was not acknowledged is said again; a side-car may come up late, die and come back.
// 2. What the game server's state already says is not asked for again; a state that does not come about is, after five
//    seconds.
// 3. After shutdown no other state is asked for.
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/fleet/agones_json.hpp"
#include "server/fleet/http_client.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// The counter of players, by its name in the Fleet.
inline constexpr const char* kPlayersCounter = "players";

struct AgonesPlanConfig {
  std::uint32_t max_players = 0;
  /// With the first player a Ready server allocates itself.
  bool allocate_on_join = false;
  /// When the last player has left an Allocated server, it is Reserved for so long, then Ready again; 0: it stays
  /// Allocated.
  Duration reserve{};
  std::vector<std::pair<std::string, std::string>> labels{};
  std::vector<std::pair<std::string, std::string>> annotations{};
};

/// What the tick's thread posts.
struct FleetStatus {
  bool has_ticked = false;
  bool is_over = false;  // the world has ended; nobody is served any more
  std::uint32_t players = 0;
};

enum class AgonesCall : std::uint8_t {
  Look,
  Health,
  Ready,
  Allocate,
  Reserve,
  Shutdown,
  Label,
  Annotation,
  Count
};
inline constexpr std::size_t kAgonesCalls = 9;

struct AgonesRequest {
  AgonesCall call = AgonesCall::Look;
  HttpMethod method = HttpMethod::Get;
  std::string path;
  std::string body;
};

class AgonesPlan {
 public:
  explicit AgonesPlan(AgonesPlanConfig config) : config_(std::move(config)) {}

  /// None: nothing is due. Otherwise answered() is the next call. `is_alive`: the tick goes on.
  std::optional<AgonesRequest> next(Time now, const FleetStatus& status, bool is_alive);
  void answered(const AgonesRequest& request, const HttpAnswer& answer, Time now);

  /// The side-car said that this server is to end, by somebody else's wish: its state is Shutdown, or it is being
  /// deleted. True for good.
  bool wants_end() const { return wants_end_; }
  /// It knows that this server has ended.
  bool has_shut_down() const { return has_shut_down_; }

 private:
  std::optional<AgonesRequest> next_state(Time now, const FleetStatus& status) const;
  std::optional<AgonesRequest> next_metadata() const;
  void take_answer(AgonesCall call, const HttpAnswer& answer, Time now);
  void take_refusal(const AgonesRequest& request, const HttpAnswer& answer, Time now);
  void take_silence(const std::string& why, Time now);
  void take_game_server(const std::string& body, Time now);
  bool may_call(AgonesCall call, Time now) const;
  bool may_complain(std::optional<Time>& last, Time now) const;

  AgonesPlanConfig config_;
  std::optional<GameServer> seen_;  // as the side-car last said
  bool wants_end_ = false;
  bool is_ready_told_ = false;
  bool has_shut_down_ = false;
  bool has_played_ = false;  // somebody was here since it became Allocated
  std::size_t labels_told_ = 0;
  std::size_t annotations_told_ = 0;
  std::optional<std::uint32_t> counted_;  // players, as acknowledged
  std::uint32_t count_asked_ = 0;
  bool is_without_counter_ = false;
  // When each call may be made again.
  std::array<Time, kAgonesCalls> not_before_{};
  Time silent_until_{};
  bool is_silent_ = false;
  std::optional<Time> silence_said_;
  std::array<std::optional<Time>, kAgonesCalls> refusal_said_;
};

}  // namespace shoal
