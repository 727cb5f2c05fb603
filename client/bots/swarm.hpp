// Many clients in one process, each with its own port, its own link faults, its own mirror, and one session after the
// other. The port is made by whoever owns the swarm: sockets in shoal-bots, the simulated network in tests.
//
// 1. A session that a bot ended itself (churn, a stage with fewer bots) is neither lost nor refused.
// 2. Sums go over all sessions of all bots, those that are over included.
// 3. Once the world is frozen nobody leaves or comes back by plan: who is in session stays to be compared, who is away
//    stays away.
// Threads: all calls from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "client/bots/stages.hpp"
#include "client/client.hpp"
#include "client/reconnect.hpp"
#include "shared/base/histogram.hpp"
#include "shared/base/random.hpp"
#include "shared/net/faulty_port.hpp"

namespace shoal {

/// What a bot shows at the door.
struct Credentials {
  CredentialKind kind = CredentialKind::None;
  std::vector<std::byte> bytes;
};

struct SwarmConfig {
  Endpoint server;
  /// With stages these say how many bots there are and what they do; `bots` and `scenario` count nothing then.
  std::uint32_t bots = 200;
  Scenario scenario = Scenario::Wander;
  Stages stages;
  /// Metres: the side of the server's squares of interest, for the border scenario.
  float square_size = kDefaultSquareSize;
  std::uint64_t seed = 1;
  /// Of each bot's link, in either direction.
  LinkFaults faults;
  /// Bots that start to connect per second. A churn bot that comes back is not held up.
  double joins_per_second = 100;
  std::uint32_t max_entities = 1u << 18;
  /// For how long a bot whose session broke off, or whose server ends to come back, tries to connect again; 0: not at all.
  Duration reconnect_for{};
  /// Nobody but its owner gets the credentials; without one whoever answers.
  std::optional<PublicKey> server_key{};
  /// Asked once for each bot, when it starts; empty: the bots show nothing.
  std::function<Credentials(std::size_t bot)> credentials{};
};

// How long a churn bot stays, and how long it stays away.
inline constexpr Duration kMinChurnStay = seconds(2), kMaxChurnStay = seconds(8);
inline constexpr Duration kMinChurnAbsence = milliseconds(500), kMaxChurnAbsence = seconds(3);

/// What the swarm has come to so far.
struct SwarmSummary {
  std::uint32_t requested = 0;  // with stages: that were started so far
  std::uint32_t connected_now = 0;
  std::uint32_t connected = 0;  // bots that ever had a session
  std::uint64_t sessions = 0;   // that were opened, in all
  std::uint32_t refused = 0;
  std::uint32_t lost = 0;  // sessions that ended neither by us nor by the server's end; the bot may come back
  std::uint64_t reconnected = 0;  // sessions that bots opened by themselves, after one that ended unasked
  std::uint32_t expected =
      0;  // bots in session since the world is frozen: each must have compared its mirror
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
  std::uint64_t chats = 0;          // that bots said: each one when it joined
  std::uint64_t events = 0;         // hits and what was said, that bots heard of
  std::uint64_t late_events = 0;    // of those: the state of which they speak was not there
  std::uint64_t announcements = 0;  // of the server's operator, that bots heard
  /// As in ClientMeasures: by whole ticks, the last one for all older baselines, too.
  decltype(ClientMeasures::by_baseline_age) by_baseline_age{};
  Histogram mirrored_entities;
  Histogram update_age_us;
  /// From one run() to the next: how long a bot waits for its turn. Above a tick's period the load generator is the
  /// bottleneck, and what it measures says little about the server.
  Histogram round_us;
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
  /// True when nobody is connecting or connected any more, and nobody will come: every bot has started, or the server
  /// ended, or nobody is left whom the stages ask for.
  bool is_over() const;
  SwarmSummary summary() const;
  /// The first reason why a session was refused or lost; empty if none was.
  const std::string& first_trouble() const { return first_trouble_; }
  std::size_t size() const { return bots_.size(); }
  Client& client(std::size_t index) { return *bots_[index]->client; }
  Scenario scenario(std::size_t index) const { return bots_[index]->behaviour.scenario(); }

 private:
  enum class Life : std::uint8_t {
    Playing,  // connecting or connected
    Away,     // a churn bot between two sessions
    Lost,     // it lost its session and tries to come back
    Resting,  // the stage needs fewer bots
    Ended,    // for good
  };
  struct Bot {
    std::unique_ptr<DatagramPort> port;
    std::unique_ptr<FaultyPort> faulty;
    std::unique_ptr<Client> client;
    std::optional<Reconnector> reconnector;
    Behaviour behaviour;
    Random random;  // of coming and going
    Life life = Life::Playing;
    bool was_in_session = false;  // when it was last looked at
    bool is_expected = false;     // in session with a frozen world
    bool left_by_us = false;
    bool was_withdrawn = false;  // by plan, or with the server's end, before anybody answered
    Time next_update{};
    Time joined_at{};
    Time moves_at{};                  // a churn bot leaves, or comes back
    std::uint64_t past_sessions = 0;  // whose counters are in `past`
    MirrorCounters past{};
    Duration past_time{};
    std::uint64_t chats = 0;
    std::uint64_t events = 0;
    std::uint64_t late_events = 0;
    std::uint64_t announcements = 0;
    std::uint32_t refused = 0;
    std::uint32_t lost = 0;
    std::uint64_t reconnected = 0;
  };

  void follow_stages();
  void start_due();
  bool start_bot();
  void hear_announcement(Bot& bot, std::string_view text);
  void hear_ending(Duration left, std::string_view text);
  static void listen(Bot& bot);
  void run_bot(Bot& bot);
  void play(Bot& bot);
  void begin_session(Bot& bot);
  void end_session(Bot& bot, Life next);
  void take_end(Bot& bot);
  void come_back(Bot& bot);
  /// The session ended unasked. True: the bot tries to come back.
  bool lose_session(Bot& bot);
  void try_again(Bot& bot);
  Duration churn_time(Bot& bot, Duration least, Duration most) const;
  std::uint32_t most_bots() const;

  SwarmConfig config_;
  const Clock* clock_;
  Entropy* entropy_;
  OpenPort open_port_;
  std::vector<std::unique_ptr<Bot>> bots_;
  Time started_at_{};
  std::optional<Time> last_run_;
  Histogram round_us_;
  Time next_join_{};
  std::uint32_t wanted_ = 0;         // bots by number: those below it play
  std::vector<Scenario> scenarios_;  // by number, in this stage
  std::size_t stage_ = 0;
  bool is_frozen_ = false;  // some client was told so
  bool has_server_ended_ = false;
  bool is_leaving_ = false;
  std::string last_announcement_;  // all bots hear the same: it is logged once
  bool has_heard_ending_ = false;  // of the server that they are at
  std::string first_trouble_;
};

}  // namespace shoal
