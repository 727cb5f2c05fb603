// What the tick's thread tells everybody else about the server: plain values, made a few times a second, never changed
// afterwards. Names point into the server, which outlives every status.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/report.hpp"
#include "server/server.hpp"
#include "server/tick_phases.hpp"
#include "shared/base/bucket_histogram.hpp"
#include "shared/base/tick.hpp"
#include "shared/base/time.hpp"
#include "shared/net/datagram_port.hpp"

namespace shoal {

/// One player, over the last second or so.
struct PlayerStatus {
  SessionStatus session;
  double sent_bytes_per_second = 0;
  double received_bytes_per_second = 0;
  double loss = 0;  // lost ÷ settled packets, 0 to 1
};

struct PoolStatus {
  std::string_view component;
  std::size_t entities = 0;
  std::size_t memory_bytes = 0;
};

struct SystemStatus {
  std::string_view name;
  BucketHistogram seconds;
};

/// Of a server that saves its world.
struct SaveFigures {
  std::uint64_t saves = 0;  // that are there for good
  std::uint64_t failures = 0;
  std::uint64_t late = 0;   // waited for the one before
  std::uint64_t bytes = 0;  // of all saves
  std::uint64_t newest_bytes = 0;
  Duration newest_copy{};   // that it took of the tick
  Duration newest_write{};  // and beside it
  Duration age{};           // since the world was as in the newest save; without one, since the start
  Duration interval{};
};

/// What the program set, and what does not change.
struct ServerLimits {
  std::uint32_t tick_rate_hz = 30;
  std::uint32_t max_players = 0;
  std::uint64_t client_bytes_per_second = 0;      // 0: without a limit
  std::uint64_t full_state_bytes_per_second = 0;  // 0: without a limit
  Duration period() const { return Duration(seconds(1)) / tick_rate_hz; }
};

struct ServerStatus {
  Time made{};
  Tick tick;
  /// A word: "starting", "running", …
  std::string_view phase;
  /// Of the phase; the server may be full.
  bool takes_players = false;
  /// No tick follows, as it should be.
  bool is_over = false;
  std::size_t player_count = 0;
  ServerLimits limits;

  ServerMeasures measures;
  std::uint64_t skipped_ticks = 0;
  std::uint64_t stalls = 0;
  std::size_t absent_players = 0;
  BucketHistogram tick_seconds;
  std::vector<BucketHistogram> phase_seconds;  // by TickPhase
  std::vector<SystemStatus> systems;

  // Each client counts once a second.
  BucketHistogram client_bytes_per_second;  // sent to it
  BucketHistogram client_rtt_seconds;
  BucketHistogram client_jitter_seconds;
  BucketHistogram client_loss;
  BucketHistogram client_wait_seconds;  // of the change that waits longest for its turn
  std::shared_ptr<const std::vector<PlayerStatus>> players;

  std::vector<PoolStatus> pools;
  std::size_t chunks = 0;
  std::size_t squares = 0;
  std::size_t chunk_memory_bytes = 0;
  std::size_t message_memory_bytes = 0;
  std::uint64_t resent_message_units = 0;
  std::uint64_t binding_bits = 0;
  std::vector<std::uint64_t> component_bits;  // as component_names
  std::vector<std::string_view> component_names;
  PortCounters port;
  std::optional<SaveFigures> saves;

  bool is_full() const { return player_count >= limits.max_players; }
  bool is_ready() const { return takes_players && !is_full(); }
};

}  // namespace shoal
