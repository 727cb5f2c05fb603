// The server: one world, its tick, its clients. It owns the registry and the sessions; time, randomness and
// the port are given to it, so that main runs it over UDP and the simulation over a network in memory.
//
// 1. One tick: leavers, joiners, inputs, systems, changes into chunks, views, the game's events, frames out. Clients
//    never see half a tick.
// 2. What a client sends is its own matter: it is checked, counted, bounded, and at worst ends that
//    session.
// 3. Frozen, the systems stand still and who joins only watches; traffic goes on until every client has everything
//    and has compared its mirror with the server's digest.
// 4. A player whose session broke off keeps its entity for ServerConfig::return_time, and nobody else gets it.
// Threads: all calls from one thread, but for progress() and Schedule::for_each_running(). The systems run on those of an executor as well (ServerConfig::threads).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/absent_players.hpp"
#include "server/change_tracker.hpp"
#include "server/chunk_store.hpp"
#include "server/client_view.hpp"
#include "server/game.hpp"
#include "server/game_messages.hpp"
#include "server/tick_phases.hpp"
#include "server/tick_progress.hpp"
#include "shared/base/allowance.hpp"
#include "shared/base/histogram.hpp"
#include "shared/base/line_allowance.hpp"
#include "shared/base/log.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/schedule.hpp"
#include "shared/net/input_channel.hpp"
#include "shared/net/send_budget.hpp"
#include "shared/net/server_transport.hpp"
#include "shared/replication/component_table.hpp"
#include "shared/replication/world_digest.hpp"

namespace shoal {

inline constexpr Duration kDefaultFreezeDeadline = seconds(10);
inline constexpr Duration kDefaultReturnTime = seconds(30);
/// How long players may play on when the server drains. `docker stop` kills 10 seconds after SIGTERM: the rest is for
/// saving.
inline constexpr Duration kDefaultDrainTime = seconds(5);

/// A world that goes on.
struct ResumedWorld {
  /// With the types that the game registers. Not needed any more when the server is constructed.
  const Registry* registry = nullptr;
  Tick tick{};                      // the next one is the one after
  std::uint32_t newest_player = 0;  // numbers of players go on behind this one
};

struct ServerConfig {
  std::uint32_t tick_rate_hz = 30;
  std::uint32_t max_sessions = 256;
  Duration time_out = kDefaultTimeOut;
  /// Whose session timed out, was replaced, or ended with the server, may come back to its entity for so long, counted in
  /// ticks. 0: its entity goes at once, as that of who leaves by itself, is kicked or banned.
  Duration return_time = kDefaultReturnTime;
  InterestConfig interest;
  /// Bytes of UDP payload per second to one client, everything included; 0: without a limit. What does not fit
  /// waits, the most urgent leaves first.
  std::uint64_t client_bytes_per_second = 0;
  /// The same for full states, to all clients together: when many join at once, those who play do not notice.
  std::uint64_t full_state_bytes_per_second = 0;
  /// Per client and tick, so that no bucket is emptied in one burst.
  std::uint32_t max_datagrams_per_tick = 24;
  std::uint32_t max_entities = 1u << 18;
  Tick first_tick{0};
  /// In place of a new world that begins at first_tick; its entities are less than max_entities.
  std::optional<ResumedWorld> resumed{};
  /// That run systems, the tick's among them. The world is the same for any number.
  std::uint32_t threads = 1;
  /// Who may join, and how often.
  AdmissionConfig admission{};
  /// Long-lived secret that clients pin the public part of; without one it is drawn anew.
  std::optional<Secret> identity{};
  /// For what expires; null: time of day stands still. REQUIRED where players need tickets. Outlives the server.
  const WallClock* wall_clock = nullptr;
  bool allow_aes = true;
  /// Frozen, a client that does not catch up within this time is sent its digest all the same.
  Duration freeze_deadline = kDefaultFreezeDeadline;
};

struct ServerCounters {
  std::uint64_t joined = 0;
  std::uint64_t left = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t returned = 0;     // of those that joined: they found their entity waiting
  std::uint64_t bad_updates = 0;  // counts, ids or enumerators that no client sends
  std::uint64_t bad_inputs = 0;   // bytes that are no input of the game
  std::uint64_t mismatches_reported = 0;
  std::uint64_t mismatched_sessions = 0;  // that reported one or more
  std::uint64_t digests_exact = 0;
  std::uint64_t digests_different = 0;
  std::uint64_t events_refused = 0;  // found no room in a session's queue
  std::uint64_t relays_refused = 0;  // what clients would have others told, beyond their allowance
  std::uint64_t announced = 0;       // words of the operator, by session
  std::uint64_t notices_refused =
      0;  // announcements, and news of the end, that found no room in a session's queue
};

/// One session, for who watches the server.
struct SessionStatus {
  PlayerNumber number;
  PlayerId player;
  Endpoint peer;
  Entity entity;  // null: none, it watches
  Time joined_at{};
  Duration rtt{};     // 0 before the first measurement
  Duration jitter{};  // mean deviation of the round trip
  SessionTraffic traffic;
  std::uint64_t may_send_bytes_per_second = 0;
  std::size_t chunks = 0;
  std::size_t chunks_missing = 0;  // of those, the ones of which it has nothing yet
  std::uint32_t longest_wait_ticks = 0;
};

class Server final : public GameMessages, private ServerTransport::Handler {
 public:
  /// All references outlive the server. Starts the game's world, or goes on with it, and makes its first version.
  Server(Game& game, DatagramPort& port, const Clock& clock, Entropy& entropy, const ServerConfig& config);
  ~Server() override;

  /// Takes in what waits at the port; handshakes are answered at once, messages are handed to their handlers and leave as
  /// budgets allow. Call it often between ticks.
  void poll() { transport_.poll(); }
  /// Whether the next poll() has work though nothing arrives.
  bool has_joiners_waiting() const { return transport_.has_claims_waiting(); }
  /// One step of the world, and what is new to every client.
  void run_tick();

  /// The systems stand still from the next tick on; every client is asked to compare its mirror.
  void freeze();
  bool is_frozen() const { return frozen_at_.has_value(); }
  /// Frozen, and every client has told what came out of the comparison, or is gone.
  bool all_compared() const;
  /// Nobody is let in any more; clients are told that their sessions are closed in so long, and play on until
  /// shut_down() says that the server is expected back. Once.
  void begin_drain(Duration left, std::string_view text);
  bool is_draining() const { return is_draining_; }
  /// Tells every client that the server ends. Poll a little longer, for those who miss it.
  void shut_down();

  /// From now on; who is on the list and plays is sent away, and what waits for a player on it goes.
  void set_bans(BanList bans);
  /// Ends that player's session. False: nobody has that number.
  bool kick(PlayerNumber number, std::string_view why);
  /// The operator's words to all who are in session, after what was queued for them before. At most kMaxDetailBytes are
  /// sent; who has no room for it hears nothing. O(sessions).
  void announce(std::string_view text);
  /// For pinning by clients.
  const PublicKey& public_key() const { return transport_.public_key(); }

  /// Those whose entities go in the next tick, those who are absent, who has waited longest first, and those who play, by
  /// rising number: what a saved world keeps beside its entities, so that each of these belongs to somebody. O(players).
  std::vector<SavedPlayer> players_to_save() const;
  /// After a saved world was loaded, before the first tick: all of them are absent, and their time to come back begins. Of
  /// more than may wait the last ones stay. Of what fits no player the first tick tells the game that it is gone; whose entity is not there joins as a new one.
  void restore_players(std::span<const SavedPlayer> players);
  /// Players without a session, whose entities wait for them.
  std::size_t absent_count() const { return absent_.all().size(); }

  /// For handlers and for what is not about an entity.
  MessageRouter& messages() override { return messages_; }
  SessionId session_of(PlayerNumber number) const override;
  SessionId session_of(Entity player) const override;
  std::optional<PlayerNumber> player_of(SessionId session) const override;
  Entity entity_of(SessionId session) const override;
  bool may_relay(SessionId session) override;

  Tick tick() const { return tick_; }
  /// The highest number that a player got so far.
  PlayerNumber newest_player() const { return {players_}; }
  Registry& registry() { return registry_; }
  const Registry& registry() const { return registry_; }
  const ComponentTable& table() const { return table_; }
  const ChunkStore& chunks() const { return chunks_; }
  const Schedule& schedule() const { return schedule_; }
  /// Which part of run_tick() runs now.
  const TickProgress& progress() const { return progress_; }
  std::size_t session_count() const { return transport_.session_count(); }
  /// How long each part of the last tick took; 0 for what a frozen world does not do.
  const TickPhaseTimes& phase_times() const { return phase_times_; }
  /// f(const SessionStatus&) for each session. O(sessions).
  template <class F>
  void for_each_session_status(F f) const {
    for (const auto& session : sessions_) {
      if (session) f(status_of(*session));
    }
  }
  /// What the player of that number has of the entity at that index, of this generation or of the one that lives, and
  /// why it has no more. None: nobody has that number.
  std::optional<EntityExplanation> explain(PlayerNumber number, std::uint32_t index,
                                           std::optional<std::uint32_t> generation) const;
  const ServerCounters& counters() const { return counters_; }
  const ReplicationCounters& replication() const { return replication_; }
  const TransportCounters& transport_counters() const { return transport_.counters(); }
  /// What the message channels of all sessions hold, roughly. O(sessions).
  std::size_t message_memory_bytes() const { return transport_.message_memory_bytes(); }
  /// Units of messages that were sent again. O(sessions).
  std::uint64_t resent_message_units() const { return transport_.resent_message_units(); }
  /// The entity that the player of that number steers; null when there is none.
  Entity player_entity(PlayerNumber number) const;
  /// What may be sent to the player of that number now; 0 when there is none.
  std::uint64_t bytes_per_second(PlayerNumber number) const;
  /// f(PlayerNumber, Endpoint of the client, const ClientView&) for each session.
  template <class F>
  void for_each_view(F f) const {
    for (const auto& session : sessions_) {
      if (session) f(session->number, transport_.peer(session->id), *session->view);
    }
  }
  /// Entities that clients should see. O(world).
  std::size_t replicated_entities() const { return digest_world(registry_, table_).entities; }
  /// The same without looking at each of them. O(1).
  std::size_t replicated_entity_count() const;

 private:
  struct Session {
    SessionId id;
    PlayerId player_id;
    PlayerNumber number;
    std::optional<AddressHolder> holder;  // none: its address is exempt from limits
    Entity player{};
    std::unique_ptr<ClientView> view;
    InputReceiver inputs;
    std::optional<Tick> input_told;  // the acknowledgement that the last frame carried
    Tick last_frame{};
    Time joined_at{};
    bool has_compared = false;
    bool has_reported_mismatch = false;
    Allowance relays{kRelaysPerSecond, kRelaysAtOnce};
    Allowance mismatch_lines{1, 1};
    LogFields about;                    // session and player, for lines of the log
    std::optional<WorldDigest> digest;  // of what it should see of the frozen world
  };

  void on_joined(SessionId session, const JoinRequest& request) override;
  PacketVerdict on_packet(SessionId session, Sequence sequence, const protocol::Packet& packet) override;
  void on_acknowledged(SessionId session, Sequence sequence) override;
  void on_lost(SessionId session, Sequence sequence) override;
  bool on_message(SessionId session, ReceivedMessage message) override;
  void on_left(SessionId session, CloseReason reason) override;
  void on_refused(const Endpoint& peer, RefuseReason reason, std::string_view detail) override;

  std::uint32_t session_slots() const override { return static_cast<std::uint32_t>(sessions_.size()); }
  SessionId session_at(std::uint32_t slot) const override;
  std::optional<Tick> seen_version(SessionId session, Entity entity) const override;
  std::optional<Tick> followed_version(Entity entity, Audience audience) const override;
  Result<std::uint32_t, EventError> queue_event(SessionId session, MessageChannel channel,
                                                std::span<const std::byte> bytes) override;
  std::size_t queue_event_for_viewers(Entity entity, Audience audience, MessageChannel channel,
                                      std::span<const std::byte> bytes) override;
  /// Queues bytes of the router for every session. Returns for how many.
  std::size_t queue_for_all(std::span<const std::byte> message);
  /// The first audience by which the session sees the entity.
  std::optional<Audience> seen_by(const Session& session, Entity entity) const;

  Session* find(SessionId id);
  const Session* find(SessionId id) const { return const_cast<Server*>(this)->find(id); }
  SessionStatus status_of(const Session& session) const;
  /// To be asked before each line that a peer can cause. What a peer can say without end has an allowance of its own, so
  /// that it leaves room for who comes and goes. `about`: what is told of those that were left out.
  bool may_log(LineAllowance& lines, std::string_view about);
  void admit_players();
  Tick return_deadline() const;
  /// The session is over: the player's entity waits for it, or goes in the next tick.
  void end_player(const Session& session, CloseReason reason);
  void give_up(const AbsentPlayers::Absent& absent);
  /// True: the session's player has its entity and its number again.
  bool take_back(Session& session);
  void tell_of_absent_players();
  void tell_of_returned_players();
  void apply_inputs(Session& session);
  void take_resyncs(Session& session, const protocol::ClientUpdate& update);
  void take_digest(Session& session, const protocol::DigestReport& report);
  void report_mismatch(Session& session, const protocol::Resync& resync, const Chunk& chunk);
  void begin_views();
  void send_frames(Session& session);
  bool send_frame(Session& session, const Choice& choice);
  void make_digests();
  std::optional<SquareKey> shown_in(Entity entity, Audience audience) const;
  Viewer viewer_of(const Session& session) const;

  Game* game_;
  const Clock* clock_;
  ServerConfig config_;
  ComponentTable table_;
  Registry registry_;
  std::unique_ptr<Executor> executor_;
  Schedule schedule_;
  ChunkStore chunks_;
  std::optional<ChangeTracker> tracker_;
  ReplicationCounters replication_;
  SendBudget full_states_;  // before the sessions, whose views use it
  ServerCounters counters_;
  LineAllowance lines_;  // about who comes and goes
  LineAllowance refusal_lines_;
  LineAllowance mismatch_lines_;
  MessageRouter messages_;  // before the transport, which hands it messages
  ServerTransport transport_;
  std::vector<std::unique_ptr<Session>> sessions_;  // by session index
  std::vector<SessionId> joining_;
  AbsentPlayers absent_;
  std::vector<SessionId> returned_;
  std::vector<AbsentPlayers::Absent> departed_;  // given up, and the game has not heard of it
  std::uint32_t players_ = 0;
  TickPhaseTimes phase_times_{};
  Tick tick_;
  TickProgress progress_;
  std::optional<Time> frozen_at_;
  bool is_draining_ = false;
  // Of the frozen world, by entity index: the squares that its parts are in. Worked out once, for all digests.
  std::vector<std::array<std::optional<SquareKey>, kAudiences>> squares_of_frozen_;
};

}  // namespace shoal
