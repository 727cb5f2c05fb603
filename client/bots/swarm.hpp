// Many clients in one process, each with its own port, its own link faults, its own session and its own
// mirror. The port is made by whoever owns the swarm: sockets in shoal-bots, the simulated network in tests.
// Threads: all calls from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "client/client.hpp"
#include "shared/base/histogram.hpp"
#include "shared/net/faulty_port.hpp"

namespace shoal {

struct SwarmConfig {
  Endpoint server;
  std::uint32_t bots = 50;
  Scenario scenario = Scenario::Wander;
  std::uint64_t seed = 1;
  /// Of each bot's link, in either direction.
  LinkFaults faults;
  /// Bots that start to connect per second.
  double joins_per_second = 100;
  std::uint32_t max_entities = 1u << 18;
};

/// What the swarm has come to so far.
struct SwarmSummary {
  std::uint32_t requested = 0;
  std::uint32_t connected_now = 0;
  std::uint32_t connected = 0;  // ever
  std::uint32_t refused = 0;
  std::uint32_t lost = 0;  // sessions that ended neither by us nor by the server's end
  std::uint32_t exact = 0;
  std::uint32_t different = 0;
  std::uint32_t compared = 0;
  std::uint64_t blocks_verified = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t resyncs = 0;
  std::uint64_t decode_errors = 0;
  std::uint64_t baseline_misses = 0;
  std::uint64_t entity_updates = 0;
  std::uint64_t bytes_received = 0;
  Histogram mirrored_entities;
  Histogram update_age_us;
  Histogram bits_per_second;
};

class Swarm {
 public:
  using OpenPort = std::function<std::unique_ptr<DatagramPort>()>;

  /// `clock` and `entropy` outlive the swarm. `open_port` is called once per bot, when it starts; null: there is
  /// none now, and the bot tries again with the next run().
  Swarm(const SwarmConfig& config, const Clock& clock, Entropy& entropy, OpenPort open_port);

  /// Moves everything on: joins that are due, datagrams, updates at each bot's tick. Call it every few
  /// milliseconds.
  void run();
  void leave();
  /// True when every bot has started and none is connecting or connected any more.
  bool is_over() const;
  SwarmSummary summary() const;
  /// The first reason why a session was refused or lost; empty if none was.
  const std::string& first_trouble() const { return first_trouble_; }
  std::size_t size() const { return bots_.size(); }
  Client& client(std::size_t index) { return *bots_[index]->client; }

 private:
  struct Bot {
    std::unique_ptr<DatagramPort> port;
    std::unique_ptr<FaultyPort> faulty;
    std::unique_ptr<Client> client;
    Behaviour behaviour;
    Time next_update{};
    Time connected_at{};
    Time ended_at{};
    bool was_connected = false;
    bool has_ended = false;
    bool left_by_us = false;
  };

  void start_due();
  bool start_bot();
  void run_bot(Bot& bot);

  SwarmConfig config_;
  const Clock* clock_;
  Entropy* entropy_;
  OpenPort open_port_;
  std::vector<std::unique_ptr<Bot>> bots_;
  Time started_at_{};
  bool is_leaving_ = false;
  std::string first_trouble_;
};

}  // namespace shoal
