// A client: one session, the mirror it feeds, and the inputs it sends. The part of a player's program that
// talks to the server; bots are made of it, and a game's own client would be.
//
// 1. A datagram is acknowledged only if each of its blocks decoded and matched.
// 2. A session has a mirror of its own: after a reconnect nothing of the old one is left, and `on_world` is
//    called again so that listeners can be connected to the new registry.
// 3. An event is handed out when the mirror shows the state of which it speaks, or late; events and requests of a session
//    end with it, handlers stay.
// Threads: all calls from one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/mirror.hpp"
#include "shared/base/histogram.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/net/client_transport.hpp"
#include "shared/net/input_channel.hpp"
#include "shared/net/message_router.hpp"
#include "shared/replication/world_digest.hpp"

namespace shoal {

struct ClientConfig {
  Endpoint server;
  /// The components that this client was built with: the generated component_descriptors().
  std::span<const ComponentDescriptor> components;
  /// Registers their types: the generated register_components().
  std::function<void(Registry&)> register_components;
  /// Called with each new, still empty mirror registry, before the first block.
  std::function<void(Registry&)> on_world;
  /// The operator's words to all who play, fit for a screen. Called from Client::poll; may send and close.
  std::function<void(std::string_view text)> on_announcement{};
  /// The server closes the session in so long, and lets nobody in until it is back. As on_announcement.
  std::function<void(Duration left, std::string_view text)> on_server_ending{};
  std::uint32_t max_entities = 1u << 18;
  Duration connect_time_out = seconds(10);
  /// The server's key, when it is known (shoal-server prints it): nobody else gets the credentials.
  std::optional<PublicKey> server_key{};
  CredentialKind credential_kind = CredentialKind::None;  // a password, a ticket, or nothing
  std::vector<std::byte> credentials{};
  /// By which the server knows the player again; without one it is drawn anew, for all sessions of this client.
  std::optional<Secret> player_key{};
  bool allow_aes = true;
};

/// What came of the server's digest of the frozen world.
enum class Comparison { None, Exact, Different };

/// Of the deltas whose baseline was so many ticks older than what they led to.
struct AgeBucket {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;    // bodies and their directory entries
  std::uint64_t updates = 0;  // entities that changed
};

struct ClientMeasures {
  /// By whole ticks; the last one counts all older baselines, too.
  std::array<AgeBucket, kHistoryTicks + 1> by_baseline_age{};
  Histogram update_age_us;  // of blocks with a baseline: from the tick of the state to its arrival
  std::uint64_t frames = 0;
  std::uint64_t bad_frames = 0;  // directory and bodies that do not fit together
};

class Client final : private ClientTransport::Handler {
 public:
  /// The references outlive the client. `entropy` gives what must not be guessed.
  Client(DatagramPort& port, const Clock& clock, Entropy& entropy, ClientConfig config);

  void connect() { transport_.connect(); }
  /// Takes in what waits at the port, and hands out messages, events whose state is there, and what became of requests.
  /// Call it at least ten times a second.
  void poll();
  /// Of all sessions, one after the other: SessionId is null here. Register handlers before connect(); they may send and
  /// close, and must not poll.
  MessageRouter& messages() { return messages_; }
  const MessageRouter& messages() const { return messages_; }
  /// Queues what the player does; it is repeated in every update until the server has it. False: it was left out,
  /// since the server's tick is not known yet, or the inputs before are as far ahead of it as is sensible; a later
  /// input may say the same again. REQUIRES: connected.
  bool add_input(std::span<const std::byte> input);
  /// Sends inputs, wishes and the result of the comparison. Call it once per tick.
  void send_update();
  void close() { transport_.close(); }

  ClientState state() const { return transport_.state(); }
  CloseReason close_reason() const { return transport_.close_reason(); }
  std::string describe_close() const { return transport_.describe_close(); }
  RefuseReason refuse_reason() const { return transport_.refuse_reason(); }
  /// The last attempt showed the note of an earlier session and was refused for it: the next one shows the client's own
  /// credentials.
  bool was_resume_ticket_refused() const { return transport_.was_resume_ticket_refused(); }
  /// For tools and tests that speak in this session's name; null before the first one.
  const ConnectionKeys* session_keys() const { return transport_.keys(); }
  ConnectionId connection_id() const { return transport_.connection_id(); }
  /// Of packets of this session that were good.
  std::uint64_t session_received_bytes() const { return transport_.session_received_bytes(); }
  /// As whom the server knows this client; meaningful once connected.
  const PlayerId& player() const { return transport_.player(); }
  Duration rtt() const { return transport_.rtt(); }
  std::uint32_t tick_rate_hz() const { return tick_rate_hz_; }

  /// The tick that the server has reached by now, as far as can be told from here. It stands still some ticks after
  /// the last frame.
  Tick server_tick() const;
  /// The entity that this client's inputs steer; null before it is known.
  Entity controlled() const { return controlled_; }
  /// The mirror registry; null before the first session.
  Registry* registry() { return world_ ? &world_->registry : nullptr; }
  const Registry* registry() const { return world_ ? &world_->registry : nullptr; }
  const Mirror* mirror() const { return world_ ? &world_->mirror : nullptr; }
  const ComponentTable& table() const { return table_; }
  bool is_frozen() const { return is_frozen_; }
  /// How much of what this client sees has arrived, 0 to 1. 1 once the server knows that each part of it came; what
  /// comes into interest later may lower it for a moment.
  double join_progress() const;
  Comparison comparison() const { return comparison_; }
  /// When the server will close this session, as it told; none: it told nothing of that.
  std::optional<Time> server_ends_at() const { return server_ends_at_; }
  const ClientMeasures& measures() const { return measures_; }
  const TransportCounters& transport_counters() const { return transport_.counters(); }

 private:
  struct World {
    World(const ComponentTable& table, const ClientConfig& config);
    Registry registry;
    Mirror mirror;
  };

  void on_connected(const AcceptBody& accept) override;
  PacketVerdict on_packet(Sequence sequence, const protocol::Packet& packet) override;
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  bool on_message(ReceivedMessage message) override;
  void on_closed(CloseReason reason, std::string_view detail) override;

  void listen_to_server();
  PacketVerdict take_blocks(const protocol::Frame& frame);
  void compare(const protocol::Digest& digest);

  const Clock* clock_;
  ClientConfig config_;
  ComponentTable table_;
  MessageRouter messages_;  // before the transport, which hands it messages
  ClientTransport transport_;
  std::unique_ptr<World> world_;
  InputSender inputs_;
  std::uint32_t tick_rate_hz_ = 30;
  std::optional<Tick> newest_tick_;
  Time newest_tick_at_{};
  std::optional<Tick> last_input_tick_;
  Entity controlled_{};
  bool is_frozen_ = false;
  std::optional<std::uint32_t> chunks_in_view_;  // by the newest frame; none: each was here once
  std::vector<ChunkId> absent_;
  Comparison comparison_ = Comparison::None;
  std::optional<Time> server_ends_at_;
  Tick compared_tick_{};
  WorldDigest own_digest_;
  ClientMeasures measures_;
};

}  // namespace shoal
