// The client's half of the transport: one session with one server, from the first Hello to the reason why it
// ended.
//
// 1. Only datagrams from the server's endpoint are looked at, and only those of the present session: what an
//    earlier one left behind on the way is counted and dropped.
// 2. Each packet sent by send() ends in exactly one of on_acknowledged and on_lost, unless the session ends
// first.
// 3. The end has a reason, told once by on_closed and kept for asking.
// Threads: one. poll() is cheap when nothing waits.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/base/time.hpp"
#include "shared/net/congestion.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/datagram_port.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/message_channels.hpp"
#include "shared/net/send_budget.hpp"

namespace shoal {

struct ClientTransportConfig {
  Endpoint server{};
  SchemaVersions schema{};
  Duration connect_time_out = seconds{10};
  /// The server's X25519 key, when it is known: nobody else gets the credentials. Without it whoever answers is
  /// believed.
  std::optional<PublicKey> server_key{};
  CredentialKind credential_kind = CredentialKind::None;  // a password, a ticket, or nothing
  std::vector<std::byte> credentials{};                   // at most kMaxCredentialBytes
  /// Ed25519 seed of the player's long-lived key; without one it is drawn anew, for all sessions of this transport.
  std::optional<Secret> player_key{};
  bool allow_aes = true;  // where both sides have it
  std::uint32_t protocol_version = kProtocolVersion;
  std::uint64_t packets_per_key = kPacketsPerKey;
};

enum class ClientState : std::uint8_t { Idle, Connecting, Connected, Closed };

class ClientTransport {
 public:
  /// Calls may send, close, connect again after on_closed, and ask; they must not poll.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_connected(const AcceptBody& accept) = 0;
    /// `packet` is verified, lies in memory of the transport until the call returns, and holds a Frame; each
    /// sequence comes once. Counts, ids and enumerators inside are the handler's to check.
    virtual PacketVerdict on_packet(Sequence sequence, const protocol::Packet& packet) = 0;
    /// A whole message, once. False: no server of ours sends that, and the session ends.
    virtual bool on_message(ReceivedMessage /*message*/) { return true; }
    virtual void on_acknowledged(Sequence sequence) = 0;
    virtual void on_lost(Sequence sequence) = 0;
    virtual void on_closed(CloseReason reason, std::string_view detail) = 0;
  };

  /// All references must outlive the transport. Nothing is sent before connect().
  ClientTransport(DatagramPort& port, const Clock& clock, Entropy& entropy, ClientTransportConfig config,
                  Handler& handler);
  ClientTransport(const ClientTransport&) = delete;
  ClientTransport& operator=(const ClientTransport&) = delete;

  /// Says Hello. After the session ended it opens a new one, which has nothing in common with the old.
  /// REQUIRES: Idle or Closed.
  void connect();
  /// Takes in what waits at the port, repeats what the handshake lost, sends signs of life, times out.
  void poll();

  /// A cleared builder for the next payload. Good until the next call of builder().
  flatbuffers::FlatBufferBuilder& builder();
  /// Bytes that builder() may hold when the payload is complete; 0 unless Connected.
  std::size_t payload_room() const;
  /// Whether the path has room for an update now; what it carries may as well go with a later one. False unless
  /// Connected. What is sent all the same is paid for, too.
  bool may_send();
  Result<Sequence, SendError> send(protocol::Payload type, flatbuffers::Offset<void> payload);
  template <class Table>
  Result<Sequence, SendError> send(flatbuffers::Offset<Table> payload) {
    return send(protocol::PayloadTraits<Table>::enum_value, payload.Union());
  }
  /// Copies a message into the queue; it leaves with the next polls. What waits when the session ends is lost.
  Result<std::uint32_t, QueueError> queue_message(MessageChannel channel, std::span<const std::byte> message);
  /// Tells the server and ends the session; on_closed is called before this returns. Does nothing when Idle
  /// or Closed.
  void close(CloseReason reason = CloseReason::ClientLeft, std::string_view detail = {});

  ClientState state() const { return state_; }
  /// Meaningful when Closed.
  CloseReason close_reason() const { return close_reason_; }
  /// Meaningful when Closed with CloseReason::Refused.
  RefuseReason refuse_reason() const { return refuse_reason_; }
  const std::string& close_detail() const { return close_detail_; }
  /// Why it ended, as a sentence for people: reason, remedy, detail.
  std::string describe_close() const;
  /// As whom the server knows this client: of the present or the last session.
  const PlayerId& player() const { return player_; }
  /// What the server gave for coming again as the same player, empty before the first session. The next connect()
  /// shows it by itself; a program that ends may keep it and give it to the next one.
  std::span<const std::byte> resume_ticket() const { return resume_ticket_; }
  /// The last attempt showed one and was refused for it; it is forgotten.
  bool was_resume_ticket_refused() const { return was_resume_ticket_refused_; }
  void set_resume_ticket(std::span<const std::byte> ticket) {
    resume_ticket_.assign(ticket.begin(), ticket.end());
  }
  /// The server's key, as it said; meaningful once Connected.
  const PublicKey& server_key() const { return challenge_.server_key; }
  /// For tools and tests that speak in this session's name; null before the first one.
  const ConnectionKeys* keys() const { return connection_ ? &connection_->keys() : nullptr; }
  /// Of the present session.
  Cipher cipher() const { return connection_ ? connection_->keys().send.cipher() : Cipher::ChaCha20Poly1305; }
  /// Of the present or the last session; 0 before the first.
  ConnectionId connection_id() const { return connection_ ? connection_->id() : ConnectionId{}; }
  /// Of its packets that were good.
  std::uint64_t session_received_bytes() const { return session_received_bytes_; }
  /// Smoothed; 0 before the first measurement.
  Duration rtt() const { return connection_ ? connection_->rtt().rtt() : Duration{0}; }
  /// Time since the server was last heard; 0 unless Connected.
  Duration silence() const;
  const TransportCounters& counters() const { return counters_; }
  std::size_t in_flight() const { return connection_ ? connection_->send_log().in_flight() : 0; }

 private:
  enum class Step : std::uint8_t { Hello, Response };  // what Connecting repeats

  void take(Time now);
  void take_challenge(Time now);
  void take_accept(Time now);
  void take_refuse(bool is_sealed);
  void take_packet(const PacketHeader& header, Time now);
  /// Seals the claim for the challenge at hand. False: the server's key is none.
  bool make_response();
  void take_payload(Sequence sequence, const protocol::Packet& packet, Time now);
  void deliver();
  void take_messages(Sequence sequence, const protocol::Messages& messages, Time now);
  void send_messages(Time now);
  void run_timers(Time now);
  void send_handshake(Time now);
  void send_close(CloseReason reason, std::string_view detail);
  void end(CloseReason reason, std::string_view detail);
  void put_out();

  DatagramPort& port_;
  const Clock& clock_;
  Entropy& entropy_;
  ClientTransportConfig config_;
  Handler& handler_;
  std::uint64_t schema_hash_;
  HandshakeWriter handshake_;
  TransportCounters counters_;
  ClientState state_ = ClientState::Idle;
  Step step_ = Step::Hello;
  bool is_polling_ = false;
  std::uint64_t nonce_ = 0;
  SignatureKey player_key_;
  std::optional<AgreementKey> ephemeral_;  // while connecting
  ChallengeBody challenge_;
  std::optional<ResponseKeys> response_keys_;  // while connecting
  OutgoingDatagram response_;                  // repeated as it is: a key seals one text
  bool showed_resume_ticket_ = false;
  bool was_resume_ticket_refused_ = false;
  PlayerId player_;
  std::vector<std::byte> resume_ticket_;
  Time challenged_at_{};
  Time connect_started_{};
  Time next_retry_{};
  Duration retry_{};
  Duration time_out_ = kDefaultTimeOut;
  std::unique_ptr<Connection> connection_;
  std::uint64_t session_received_bytes_ = 0;  // with the connection
  std::optional<MessageChannels> messages_;   // with the connection
  SendBudget budget_;
  CongestionControl congestion_{kLeastBytesPerSecond, kMostBytesPerSecondOfClient, Time{}};
  int close_answers_left_ = 0;  // for a server that missed our Close
  CloseReason close_reason_ = CloseReason::Unspecified;
  RefuseReason refuse_reason_ = RefuseReason::Unspecified;
  std::string close_detail_;
  std::vector<SendLog::Outcome> outcomes_;
  flatbuffers::FlatBufferBuilder builder_{4096};
  flatbuffers::FlatBufferBuilder own_builder_{1024};  // for signs of life and Close, beside the caller's
  OutgoingDatagram outgoing_;
  Datagram datagram_;
  BodyBuffer body_;
};

}  // namespace shoal
