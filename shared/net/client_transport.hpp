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
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/base/time.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/datagram_port.hpp"
#include "shared/net/handshake.hpp"

namespace shoal {

struct ClientTransportConfig {
  Endpoint server{};
  SchemaVersions schema{};
  Duration connect_time_out = seconds{10};
  std::vector<std::byte> credentials{};  // at most kMaxCredentialBytes
  std::uint32_t protocol_version = kProtocolVersion;
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
  Result<Sequence, SendError> send(protocol::Payload type, flatbuffers::Offset<void> payload);
  template <class Table>
  Result<Sequence, SendError> send(flatbuffers::Offset<Table> payload) {
    return send(protocol::PayloadTraits<Table>::enum_value, payload.Union());
  }
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
  /// Of the present or the last session; 0 before the first.
  ConnectionId connection_id() const { return connection_ ? connection_->id() : ConnectionId{}; }
  /// Smoothed; 0 before the first measurement.
  Duration rtt() const { return connection_ ? connection_->rtt().rtt() : Duration{0}; }
  /// Time since the server was last heard; 0 unless Connected.
  Duration silence() const;
  const TransportCounters& counters() const { return counters_; }
  std::size_t in_flight() const { return connection_ ? connection_->send_log().in_flight() : 0; }

 private:
  enum class Step : std::uint8_t { Hello, Response };  // what Connecting repeats

  void take(Time now);
  void take_challenge(const Opened& opened, Time now);
  void take_accept(const Opened& opened, Time now);
  void take_refuse(const Opened& opened);
  void take_packet(const Opened& opened, Time now);
  void take_payload(Sequence sequence, const protocol::Packet& packet, Time now);
  void deliver();
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
  HandshakeKey client_key_{};
  ChallengeBody challenge_;
  Time challenged_at_{};
  Time connect_started_{};
  Time next_retry_{};
  Duration retry_{};
  Duration time_out_ = kDefaultTimeOut;
  std::unique_ptr<Connection> connection_;
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
