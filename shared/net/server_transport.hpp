// The server's half of the transport: answers handshakes, holds the sessions, and turns datagrams into calls
// of a handler.
//
// 1. Nothing is kept for a peer before its cookie came back, no work is done with keys, and no answer is larger than
//    what asked for it.
// 2. Every on_joined is followed by exactly one on_left. After it the SessionId names nobody, for ever.
// 3. Each packet sent by send() ends in exactly one of on_acknowledged and on_lost, unless its session ends
// first.
// 4. Memory is bounded by max_sessions; a peer that is slow or silent costs no other peer anything.
// Threads: one, the tick's. poll() is cheap when nothing waits: call it often between ticks.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "shared/base/line_allowance.hpp"
#include "shared/base/random.hpp"
#include "shared/base/time.hpp"
#include "shared/net/admission.hpp"
#include "shared/net/congestion.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/cookie.hpp"
#include "shared/net/datagram_port.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/message_channels.hpp"
#include "shared/net/response_key.hpp"
#include "shared/net/send_budget.hpp"

namespace shoal {

struct ServerTransportConfig {
  std::uint32_t max_sessions = 256;  // at most 65,536
  Duration time_out = kDefaultTimeOut;
  std::uint32_t tick_rate_hz = 30;  // told to clients
  /// To each client, UDP payload, at most; 0: without a limit. Everything that a session sends pays. A path that loses
  /// or delays more gets less (CongestionControl).
  std::uint64_t bytes_per_second = 0;
  SchemaVersions schema{};
  std::uint32_t protocol_version = kProtocolVersion;
  /// X25519; without one it is drawn anew, and clients that have pinned a key will not come back after a restart.
  std::optional<Secret> identity{};
  AdmissionConfig admission{};
  /// For what expires. Null: time of day stands still. REQUIRED where players need tickets. Outlives the transport.
  const WallClock* wall_clock = nullptr;
  bool allow_aes = true;  // where both sides have it
  std::uint64_t packets_per_key = kPacketsPerKey;
  /// Each that opened a session is remembered for as long as its cookie is good; who comes when there is no room is told
  /// Busy.
  std::size_t max_used_responses = 65536;
};

/// What one session came to so far.
struct SessionTraffic {
  std::uint64_t sent_bytes = 0;      // UDP payload
  std::uint64_t received_bytes = 0;  // of packets that were good
  std::uint64_t acknowledged = 0;    // of packets with a reported outcome
  std::uint64_t lost = 0;
};

struct JoinRequest {
  Endpoint peer;
  PlayerId player;
  std::string_view name;  // of the matchmaker's ticket, or empty; only during the call
};

class ServerTransport {
 public:
  /// Calls may send, close sessions and ask; they must not poll.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_joined(SessionId session, const JoinRequest& request) = 0;
    /// `packet` is verified, lies in memory of the transport until the call returns, and holds a
    /// ClientUpdate; each sequence comes once. Counts, ids and enumerators inside are the handler's to check.
    virtual PacketVerdict on_packet(SessionId session, Sequence sequence, const protocol::Packet& packet) = 0;
    /// A whole message, once. False: no peer of ours sends that, and the session ends.
    virtual bool on_message(SessionId /*session*/, ReceivedMessage /*message*/) { return true; }
    virtual void on_acknowledged(SessionId session, Sequence sequence) = 0;
    virtual void on_lost(SessionId session, Sequence sequence) = 0;
    virtual void on_left(SessionId session, CloseReason reason) = 0;
    /// For showing it; the client was told the same.
    virtual void on_refused(const Endpoint& /*peer*/, RefuseReason /*reason*/, std::string_view /*detail*/) {}
  };

  /// All references must outlive the transport.
  ServerTransport(DatagramPort& port, const Clock& clock, Entropy& entropy, ServerTransportConfig config,
                  Handler& handler);
  ~ServerTransport();
  ServerTransport(const ServerTransport&) = delete;
  ServerTransport& operator=(const ServerTransport&) = delete;

  /// Takes in what waits at the port, answers handshakes at once, sends signs of life, ends what timed out, flushes. A
  /// flood cannot hold the tick: at most kPollBudget datagrams and kPollTime, and at most kClaimsPerPoll Responses whose
  /// cookie is good, about a fifth of a millisecond each. What is left is for the next poll.
  void poll();
  /// Whether Responses were left for the next poll.
  bool has_claims_waiting() const { return !claims_.empty(); }
  /// Puts out what send() and close() left in the port. After the last of a tick; poll() does it, too.
  void flush() { port_.flush(); }
  static constexpr std::size_t kPollBudget = 8192;
  static constexpr Duration kPollTime = milliseconds{5};
  static constexpr std::size_t kClaimsPerPoll = 16;
  /// Responses that wait for the work with their keys; more are dropped, and their clients repeat them.
  static constexpr std::size_t kMaxWaitingClaims = 256;

  /// A cleared builder for the next payload. Good until the next call of builder().
  flatbuffers::FlatBufferBuilder& builder();
  /// Bytes that builder() may hold when the payload is complete; 0 for an unknown session.
  std::size_t payload_room(SessionId session) const;
  /// Whether the session's budget has room for state now. What is sent all the same is paid for, too.
  bool may_send(SessionId session);
  /// Sends what builder() holds, at the latest with flush(). A datagram that the port loses is a lost packet, not an error.
  Result<Sequence, SendError> send(SessionId session, protocol::Payload type,
                                   flatbuffers::Offset<void> payload);
  template <class Table>
  Result<Sequence, SendError> send(SessionId session, flatbuffers::Offset<Table> payload) {
    return send(session, protocol::PayloadTraits<Table>::enum_value, payload.Union());
  }

  /// Copies a message into the session's queue; it leaves with the next polls, as the budget allows. What waits when the
  /// session ends is lost.
  Result<std::uint32_t, QueueError> queue_message(SessionId session, MessageChannel channel,
                                                  std::span<const std::byte> message);
  /// Whether the session's state is behind: while it is, messages get at most half of the budget.
  void set_state_waits(SessionId session, bool waits);

  /// Tells the client and ends the session; on_left is called before this returns. Does nothing for an
  /// unknown session.
  void close(SessionId session, CloseReason reason, std::string_view detail = {});
  /// Refuses new sessions from now on (RefuseReason::Draining); those that are open go on.
  void start_draining() { closed_door_ = RefuseReason::Draining; }
  /// Closes all sessions and refuses new ones from now on: as ServerRestart when it drained before, else as
  /// ServerShutDown. Poll on for a moment: who missed the news is told again.
  void shut_down();

  /// From now on; who is on the list and plays is sent away.
  void set_bans(BanList bans);
  /// For pinning by clients.
  const PublicKey& public_key() const { return identity_.public_key(); }

  bool is_open(SessionId session) const { return find(session) != nullptr; }
  std::size_t session_count() const { return session_count_; }
  /// Smoothed; 0 before the first measurement and for an unknown session.
  Duration rtt(SessionId session) const;
  /// How far a round trip is from the smoothed one, on average: the jitter. 0 likewise.
  Duration rtt_deviation(SessionId session) const;
  /// What the session may send now; 0 for an unknown session.
  std::uint64_t bytes_per_second(SessionId session) const;
  Endpoint peer(SessionId session) const;
  /// Zeros for an unknown session.
  SessionTraffic traffic(SessionId session) const;
  /// The zero for an unknown session.
  PlayerId player(SessionId session) const;
  const TransportCounters& counters() const { return counters_; }
  /// Of the message channels of all sessions, roughly. O(sessions).
  std::size_t message_memory_bytes() const;
  /// Units of messages that were sent again, of all sessions that ever were. O(sessions).
  std::uint64_t resent_message_units() const;
  /// Of this session's packets whose fate is open.
  std::size_t in_flight(SessionId session) const;
  template <class F>
  void for_each_session(F f) const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].session != nullptr) f(SessionId{i, slots_[i].generation});
    }
  }

 private:
  /// An address from which a session's packets come and which is not proved yet.
  struct NewPath {
    Endpoint peer;
    std::uint64_t challenge = 0;
    Time first_heard{};
    Time last_asked{};
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;  // never more: the address is not proved
  };
  struct Session {
    Session(ConnectionId id, const Endpoint& peer, Time now, const ConnectionKeys& keys,
            std::uint64_t bytes_per_second)
        : connection(id, peer, now, keys),
          budget(bytes_per_second, now),
          congestion(kLeastBytesPerSecond, bytes_per_second == 0 ? kMostBytesPerSecond : bytes_per_second,
                     now),
          admitted_from(peer) {}
    Connection connection;
    SendBudget budget;
    CongestionControl congestion;
    MessageChannels messages{kServerMessageLimits, kClientMessageLimits};
    bool state_waits = false;
    SessionTraffic traffic;
    Endpoint admitted_from;
    PlayerId player;
    std::vector<std::byte> accept;  // the datagram, for a client that missed it
    Time accepted_at{};             // when it was sent last
    std::uint64_t cookie_issued_seconds = 0;
    Sequence path_began;  // what became of earlier ones says nothing of the path
    std::optional<NewPath> new_path;
  };
  struct Slot {
    std::uint32_t generation = 0;
    std::unique_ptr<Session> session;
  };
  /// A session that ended a moment ago: who still writes to it is told again that it is over.
  struct Tombstone {
    ConnectionId connection;
    Endpoint peer;
    CloseReason reason = CloseReason::Unspecified;
    std::string detail;
    ConnectionKeys keys;
    Sequence next_sequence;
    int answers_left = 0;
    Time forget_at{};
  };
  struct UsedResponse {
    ResponseKey key;
    Time forget_at{};
  };
  /// A Response whose cookie is good. What else has its cookie is no copy unless it has its tag: cookies can be read on
  /// the way, and rubbish that overtakes a Response must not keep it out.
  struct ClaimKey {
    ResponseKey response;
    std::array<std::byte, kPacketTagBytes> tag{};
    friend bool operator==(const ClaimKey&, const ClaimKey&) = default;
  };
  struct ClaimKeyHash {
    std::size_t operator()(const ClaimKey& key) const noexcept {
      return std::hash<ResponseKey>{}(key.response);
    }
  };
  struct WaitingClaim {
    Datagram datagram;
    ClaimKey key;
    ResponseClear clear;
  };

  Session* find(SessionId id) const;
  void take(const Datagram& datagram, Time now);
  /// Of what is no handshake.
  void count_bad(BadDatagram bad, std::size_t size);
  void take_hello(const Datagram& datagram, Time now);
  void take_response(const Datagram& datagram, const PacketHeader& header, Time now);
  void take_claim(const WaitingClaim& claim, Time now);
  void take_packet(const Datagram& datagram, const PacketHeader& header, Time now);
  void take_payload(SessionId id, Sequence sequence, const protocol::Packet& packet, Time now);
  /// `ciphers`: what the client has. REQUIRES: a free slot.
  void open_session(const ResponseKey& key, const Admitted& admitted, const ResponseKeys& keys,
                    const PublicKey& client_key, std::span<const std::byte, kPacketTagBytes> response_tag,
                    std::uint8_t ciphers, Time now);
  void send_accept(Session& session);
  /// In clear, or sealed when there are keys.
  void refuse(const Endpoint& peer, std::uint64_t nonce, const RefuseBody& body,
              const ResponseKeys* keys = nullptr);
  /// Of a packet that arrived from another address than the session's.
  void follow(Session& session, const Datagram& datagram, Sequence sequence, const protocol::Packet& packet,
              Time now);
  void bury(const Connection& connection, CloseReason reason, std::string_view detail, Time now);
  void forget_oldest_tombstone();
  void answer_from_tombstone(const Datagram& datagram, const PacketHeader& header, Time now);
  void deliver(SessionId id);
  void take_messages(SessionId id, Sequence sequence, const protocol::Messages& messages, Time now);
  void send_messages(Session& session, Time now);
  void run_timers(Time now);
  void forget_used_responses(Time now);
  void end(SessionId id, CloseReason reason, std::string_view detail, bool tell_peer);
  void put_out(const Endpoint& peer, TrafficKind kind);
  void put_out(Session& session, TrafficKind kind);
  /// Whether a line that a peer caused is written now, at level debug.
  bool may_log_debug();

  DatagramPort& port_;
  const Clock& clock_;
  Entropy& entropy_;
  ServerTransportConfig config_;
  Handler& handler_;
  ManualWallClock no_wall_clock_;
  AgreementKey identity_;
  Admission admission_;
  std::uint64_t schema_hash_;
  CookieMint cookies_;
  HandshakeWriter handshake_;
  TransportCounters counters_;
  LineAllowance lines_;
  std::vector<Slot> slots_;
  std::deque<std::uint32_t> free_slots_;  // reused first in, first out
  std::size_t session_count_ = 0;
  std::unordered_map<PlayerId, SessionId> players_;
  std::unordered_map<ResponseKey, SessionId> used_responses_;
  std::deque<UsedResponse> used_in_order_;
  std::deque<WaitingClaim> claims_;
  std::unordered_set<ClaimKey, ClaimKeyHash> waiting_;  // of claims_
  std::deque<Tombstone> tombstones_;                    // the oldest first
  // Which of them a connection has: a flood of packets of no session must not walk through all.
  std::unordered_map<std::uint64_t, Tombstone*> tombstone_of_;
  std::vector<SendLog::Outcome> outcomes_;
  Time next_timers_{};
  bool is_polling_ = false;
  std::optional<RefuseReason> closed_door_;  // nobody is let in any more
  flatbuffers::FlatBufferBuilder builder_{4096};
  flatbuffers::FlatBufferBuilder own_builder_{1024};  // for signs of life and Close, beside the caller's
  OutgoingDatagram outgoing_;
  Datagram datagram_;
  BodyBuffer body_;
};

}  // namespace shoal
