// The tick's side of the admin port: times what each tick did, and makes a status of the server about four times a
// second.
//
// 1. A tick costs a walk over the buckets of each system and phase; a status costs the number of pools and counters;
//    once a second one costs the number of sessions. Nothing walks over the world.
// 2. Nobody is waited for (StatusBoard).
// Threads: the tick's.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/admin/status.hpp"
#include "server/admin/status_board.hpp"

namespace shoal {

class StatusCollector {
 public:
  /// What only the program knows, asked when a status is made.
  struct Sources {
    std::function<TickMeasures()> measures;
    std::function<std::uint64_t()> skipped_ticks;
    std::function<std::uint64_t()> stalls;  // of the tick, that the watchdog saw
    std::function<PortCounters()> port;
    std::function<SaveFigures()> saves{};  // none: the world is not saved
  };
  /// References outlive the collector.
  StatusCollector(const Server& server, const Clock& clock, const ServerLimits& limits, Sources sources,
                  StatusBoard& board);

  void set_saves(std::function<SaveFigures()> saves) { sources_.saves = std::move(saves); }
  /// `phase`: a word that lives for ever; with the next status.
  void set_phase(std::string_view phase, bool takes_players);
  void after_tick(Duration took);
  /// No tick follows: what the server is doing instead is told at once.
  void end(std::string_view phase);

 private:
  void publish(Time now);
  void count_systems();
  void look_at_players(Time now);
  std::shared_ptr<const ServerStatus> make(Time now);

  const Server& server_;
  const Clock& clock_;
  ServerLimits limits_;
  Sources sources_;
  StatusBoard& board_;
  std::string_view phase_ = "starting";
  bool takes_players_ = false;
  bool is_over_ = false;
  bool is_phase_new_ = true;
  BucketHistogram tick_seconds_;
  std::vector<BucketHistogram> phase_seconds_;
  std::vector<SystemStatus> systems_;
  std::vector<std::uint64_t> system_runs_;
  BucketHistogram client_bytes_per_second_;
  BucketHistogram client_rtt_seconds_;
  BucketHistogram client_jitter_seconds_;
  BucketHistogram client_loss_;
  BucketHistogram client_wait_seconds_;
  std::unordered_map<std::uint32_t, SessionTraffic> traffic_before_;  // by player's number
  std::unordered_map<std::uint32_t, SessionTraffic> traffic_now_;
  std::shared_ptr<const std::vector<PlayerStatus>> players_;
  std::size_t message_memory_bytes_ = 0;
  Time players_seen_{};
  Time published_{};
};

}  // namespace shoal
