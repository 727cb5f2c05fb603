#include "shared/net/client_transport.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

// So many datagrams in one call: who cannot keep up loses some at the port, and goes on answering.
constexpr std::size_t kPollBudget = 128;
constexpr int kCloseAnswers = 8;
constexpr int kMessagePacketsPerPoll = 4;
// A cookie this old may be stale when it arrives: ask for a new one.
constexpr Duration kCookieUse = kCookieLifetime / 2;

}  // namespace

ClientTransport::ClientTransport(DatagramPort& port, const Clock& clock, Entropy& entropy,
                                 ClientTransportConfig config, Handler& handler)
    : port_(port),
      clock_(clock),
      entropy_(entropy),
      config_(std::move(config)),
      handler_(handler),
      player_key_(config_.player_key ? *config_.player_key : Secret::random(entropy)) {
  SHOAL_ASSERT(config_.credentials.size() <= kMaxCredentialBytes,
               "credentials are at most kMaxCredentialBytes long");
  sort_schema(config_.schema);
  schema_hash_ = schema_hash(config_.schema);
  outcomes_.reserve(kMaxInFlight);
}

void ClientTransport::connect() {
  SHOAL_ASSERT(state_ == ClientState::Idle || state_ == ClientState::Closed,
               "connect() while a session is open");
  const Time now = clock_.now();
  state_ = ClientState::Connecting;
  step_ = Step::Hello;
  nonce_ = entropy_.next();
  ephemeral_ = AgreementKey::make(entropy_);
  response_keys_.reset();
  connection_.reset();
  close_reason_ = CloseReason::Unspecified;
  refuse_reason_ = RefuseReason::Unspecified;
  was_resume_ticket_refused_ = false;
  close_detail_.clear();
  close_answers_left_ = 0;
  connect_started_ = now;
  retry_ = kHandshakeRetry;
  send_handshake(now);
}

void ClientTransport::poll() {
  SHOAL_ASSERT(!is_polling_, "a handler must not poll the transport that calls it");
  is_polling_ = true;
  for (std::size_t budget = kPollBudget; budget > 0 && port_.receive(datagram_); --budget) take(clock_.now());
  run_timers(clock_.now());
  is_polling_ = false;
}

void ClientTransport::take(Time now) {
  ++counters_.received_datagrams;
  counters_.received_bytes += datagram_.size;
  if (datagram_.peer != config_.server) return counters_.count(BadDatagram::WrongAddress);
  PacketHeader header;
  if (const auto error = read_header(datagram_.span(), header)) return counters_.count(bad_datagram(*error));
  if (header.type == DatagramType::Packet) return take_packet(header, now);
  if (header.type == DatagramType::Hello || header.type == DatagramType::Response ||
      state_ != ClientState::Connecting || header.connection != nonce_) {
    return counters_.count(BadDatagram::UnexpectedHandshake);
  }
  switch (header.type) {
    case DatagramType::Challenge:
      return take_challenge(now);
    case DatagramType::Accept:
      return take_accept(now);
    default:
      return take_refuse(header.type == DatagramType::Denial);
  }
}

// ---------------------------------------------------------------------------------------------- handshake

void ClientTransport::send_handshake(Time now) {
  next_retry_ = now + retry_;
  retry_ = std::min(retry_ * 2, kHandshakeRetryMax);
  if (step_ == Step::Response && now - challenged_at_ > kCookieUse) step_ = Step::Hello;
  if (step_ == Step::Hello) {
    handshake_.hello(nonce_, {config_.protocol_version, ephemeral_->public_key()}, outgoing_);
  } else {
    outgoing_ = response_;
  }
  put_out();
}

void ClientTransport::take_challenge(Time now) {
  Opened opened;
  if (const auto error = read_clear(datagram_.span(), body_, opened))
    return counters_.count(bad_datagram(*error));
  const auto challenge = read_challenge(opened.body);
  if (!challenge) return counters_.count(BadDatagram::Malformed);
  if (step_ == Step::Response) return;  // the answer to a Hello that was repeated
  if (config_.server_key && challenge->server_key != *config_.server_key && !fault("net-any-server")) {
    counters_.count(BadDatagram::BadServerKey);
    return end(CloseReason::WrongServerKey, fmt::format("it has {}", to_string(challenge->server_key)));
  }
  challenge_ = *challenge;
  if (!make_response()) return counters_.count(BadDatagram::BadServerKey);
  challenged_at_ = now;
  step_ = Step::Response;
  retry_ = kHandshakeRetry;
  send_handshake(now);
}

bool ClientTransport::make_response() {
  const auto es = ephemeral_->agree(challenge_.server_key);
  if (!es) return false;
  response_keys_.emplace(
      *es, HandshakeContext{config_.protocol_version, nonce_, ephemeral_->public_key(), challenge_.cookie,
                            challenge_.schema_hash, challenge_.server_key});
  ResponseBody body;
  body.schema_hash = schema_hash_;
  if (challenge_.schema_hash != schema_hash_) body.components = config_.schema;
  showed_resume_ticket_ = !resume_ticket_.empty();
  body.credential_kind = showed_resume_ticket_ ? CredentialKind::Resume : config_.credential_kind;
  body.credentials = showed_resume_ticket_ ? resume_ticket_ : config_.credentials;
  body.player_key = player_key_.public_key();
  const Digest256 challenge = player_challenge(response_keys_->transcript);
  body.player_signature = player_key_.sign(std::as_bytes(std::span(challenge)));
  body.ciphers = 1u << static_cast<unsigned>(Cipher::ChaCha20Poly1305);
  if (config_.allow_aes && has_aes()) body.ciphers |= 1u << static_cast<unsigned>(Cipher::Aes256Gcm);
  handshake_.response(response_keys_->response, nonce_,
                      {config_.protocol_version, ephemeral_->public_key(), challenge_.cookie}, body,
                      response_);
  return true;
}

void ClientTransport::take_accept(Time now) {
  if (step_ != Step::Response) return counters_.count(BadDatagram::UnexpectedHandshake);
  const auto server_ephemeral = read_accept_clear(datagram_.span());
  if (!server_ephemeral) return counters_.count(BadDatagram::TooShort);
  const auto ee = ephemeral_->agree(*server_ephemeral);
  if (!ee) return counters_.count(BadDatagram::BadTag);
  const SessionSecrets secrets(*response_keys_, *ee, response_.span().last<kPacketTagBytes>(),
                               *server_ephemeral);
  Opened opened;
  if (const auto error =
          open({Cipher::ChaCha20Poly1305, secrets.accept}, datagram_.span(), kKeyBytes, body_, opened))
    return counters_.count(bad_datagram(*error));
  const auto accept = read_accept(opened.body);
  const bool has_cipher =
      accept && (accept->cipher == Cipher::ChaCha20Poly1305 || (config_.allow_aes && has_aes()));
  if (!has_cipher) return counters_.count(BadDatagram::Malformed);
  connection_ = std::make_unique<Connection>(
      accept->connection, config_.server, now,
      ConnectionKeys{{accept->cipher, secrets.to_server}, {accept->cipher, secrets.to_client}});
  session_received_bytes_ = 0;
  messages_.emplace(kClientMessageLimits, kServerMessageLimits);
  budget_ = SendBudget(kMostBytesPerSecondOfClient, now);
  congestion_ = CongestionControl(kLeastBytesPerSecond, kMostBytesPerSecondOfClient, now);
  ephemeral_.reset();
  response_keys_.reset();
  player_ = accept->player;
  resume_ticket_ = accept->resume_ticket;
  // A server cannot make us wait for ever, nor give up at once.
  time_out_ = std::clamp<Duration>(accept->time_out, seconds{1}, seconds{120});
  state_ = ClientState::Connected;
  ++counters_.joined;
  handler_.on_connected(*accept);
}

void ClientTransport::take_refuse(bool is_sealed) {
  Opened opened;
  if (is_sealed && step_ != Step::Response) return counters_.count(BadDatagram::UnexpectedHandshake);
  if (const auto error = is_sealed ? open(response_keys_->denial, datagram_.span(), 0, body_, opened)
                                   : read_clear(datagram_.span(), body_, opened))
    return counters_.count(bad_datagram(*error));
  const auto refuse = read_refuse(opened.body);
  if (!refuse) return counters_.count(BadDatagram::Malformed);
  refuse_reason_ = refuse->reason;
  ++counters_.refused[static_cast<std::size_t>(refuse->reason)];
  // The next attempt shows what it was given in the beginning.
  was_resume_ticket_refused_ = showed_resume_ticket_ && refuse->reason == RefuseReason::TicketExpired;
  if (was_resume_ticket_refused_) resume_ticket_.clear();
  end(CloseReason::Refused, with_own_names(refuse->detail, config_.schema));
}

// ------------------------------------------------------------------------------------------------ session

void ClientTransport::take_packet(const PacketHeader& header, Time now) {
  if (connection_ == nullptr || connection_->id().value != header.connection) {
    return counters_.count(BadDatagram::UnknownConnection);
  }
  Opened opened;
  if (const auto bad = connection_->open(datagram_.span(), body_, opened)) return counters_.count(*bad);
  if (state_ != ClientState::Connected) {
    counters_.count(BadDatagram::UnknownConnection);
    if (close_answers_left_ > 0) {
      --close_answers_left_;
      send_close(close_reason_, close_detail_);
    }
    return;
  }
  const protocol::Packet* packet = nullptr;
  outcomes_.clear();
  if (const auto bad = connection_->read(opened, now, outcomes_, packet)) return counters_.count(*bad);
  session_received_bytes_ += datagram_.size;
  if (const auto challenge = packet->path_challenge()) {
    own_builder_.Clear();
    if (connection_->write_path_words(own_builder_, {std::nullopt, challenge}, now, outgoing_)) put_out();
  }
  deliver();
  if (state_ == ClientState::Connected) take_payload(header.sequence, *packet, now);
}

void ClientTransport::take_payload(Sequence sequence, const protocol::Packet& packet, Time now) {
  switch (packet.payload_type()) {
    case protocol::Payload::NONE:
      return connection_->acknowledge(sequence, now);
    case protocol::Payload::Close: {
      const protocol::Close& close = *packet.payload_as_Close();
      const auto detail =
          close.detail() == nullptr ? std::string() : printable(close.detail()->string_view());
      return end(close_reason_from_wire(static_cast<std::uint8_t>(close.reason())), detail);
    }
    case protocol::Payload::Frame: {
      const PacketVerdict verdict = handler_.on_packet(sequence, packet);
      const bool goes_on = state_ == ClientState::Connected;  // the handler may have closed it
      if (goes_on && verdict == PacketVerdict::Acknowledge) connection_->acknowledge(sequence, now);
      return;
    }
    case protocol::Payload::Messages:
      return take_messages(sequence, *packet.payload_as_Messages(), now);
    default:
      return counters_.count(BadDatagram::UnexpectedPayload);
  }
}

void ClientTransport::deliver() {
  for (const SendLog::Outcome& outcome : outcomes_) {
    if (state_ != ClientState::Connected) return;
    if (outcome.acknowledged) {
      ++counters_.acknowledged;
      congestion_.on_acknowledged();
      if (messages_->settle(outcome.sequence, true)) continue;
      handler_.on_acknowledged(outcome.sequence);
    } else {
      ++counters_.lost;
      congestion_.on_lost();
      if (messages_->settle(outcome.sequence, false)) continue;
      handler_.on_lost(outcome.sequence);
    }
  }
}

void ClientTransport::take_messages(Sequence sequence, const protocol::Messages& messages, Time now) {
  const auto give_up = [this](std::string_view detail) {
    send_close(CloseReason::ProtocolError, detail);
    end(CloseReason::ProtocolError, detail);
  };
  if (const auto error = messages_->take(messages)) return give_up(to_string(*error));
  connection_->acknowledge(sequence, now);
  while (state_ == ClientState::Connected) {
    auto message = messages_->next();
    if (!message) return;
    if (!handler_.on_message(*std::move(message))) return give_up("a message that makes no sense");
  }
}

void ClientTransport::send_messages(Time now) {
  // A client sends little beside its inputs; so many at once leave room for them.
  for (int packets = 0; packets < kMessagePacketsPerPoll; ++packets) {
    if (!messages_->has_something_to_send() || connection_->send_log().is_full()) return;
    if (!budget_.may_send_other(true)) return;
    own_builder_.Clear();
    const auto payload =
        messages_->build(own_builder_, connection_->payload_room(now), connection_->next_sequence());
    if (payload.IsNull()) return;
    const auto written =
        connection_->write(own_builder_, protocol::Payload::Messages, payload.Union(), true, now, outgoing_);
    SHOAL_ASSERT(written.ok(), "messages were built for a packet that does not leave");
    budget_.spend_other(outgoing_.size);
    congestion_.on_sent(outgoing_.size);
    put_out();
  }
}

void ClientTransport::run_timers(Time now) {
  if (state_ == ClientState::Connecting) {
    if (now - connect_started_ >= config_.connect_time_out) {
      const bool nobody_there = port_.counters().unreachable > 0;
      return end(
          CloseReason::NoAnswer,
          fmt::format("{} for {:.1f} s{}", to_string(config_.server), to_seconds(config_.connect_time_out),
                      nobody_there ? "; the host says that nothing listens there" : ""));
    }
    if (now >= next_retry_) send_handshake(now);
    return;
  }
  if (state_ != ClientState::Connected) return;
  outcomes_.clear();
  connection_->detect_losses(now, outcomes_);
  deliver();
  if (state_ != ClientState::Connected) return;
  if (connection_->next_sequence().value > config_.packets_per_key) return close(CloseReason::KeyUsedUp);
  if (now - connection_->last_heard() >= time_out_) {
    const std::string detail = fmt::format("nothing for {:.1f} s", to_seconds(time_out_));
    send_close(CloseReason::TimedOut, detail);
    return end(CloseReason::TimedOut, detail);
  }
  if (congestion_.update(connection_->rtt().rtt(), now)) budget_.set_bytes_per_second(congestion_.rate());
  budget_.refill(now);
  send_messages(now);
  if (now - connection_->last_sent() >= kKeepAlive) {
    own_builder_.Clear();
    if (connection_->write(own_builder_, protocol::Payload::NONE, 0, false, now, outgoing_)) put_out();
  }
}

void ClientTransport::send_close(CloseReason reason, std::string_view detail) {
  own_builder_.Clear();
  const auto detail_at =
      detail.empty() ? 0 : own_builder_.CreateString(detail.data(), std::min(detail.size(), kMaxDetailBytes));
  const auto close =
      protocol::CreateClose(own_builder_, static_cast<protocol::CloseReason>(reason), detail_at);
  if (connection_->write(own_builder_, protocol::Payload::Close, close.Union(), false, clock_.now(),
                         outgoing_))
    put_out();
}

void ClientTransport::end(CloseReason reason, std::string_view detail) {
  close_reason_ = reason;
  close_detail_ = detail;
  state_ = ClientState::Closed;
  ephemeral_.reset();
  response_keys_.reset();
  ++counters_.left[static_cast<std::size_t>(reason)];
  handler_.on_closed(reason, close_detail_);
}

void ClientTransport::put_out() {
  ++counters_.sent_datagrams;
  counters_.sent_bytes += outgoing_.size;
  if (!port_.send(config_.server, outgoing_.span())) ++counters_.send_failures;
  port_.flush();  // a client has one datagram at a time, and nothing that is worth waiting for
}

// ------------------------------------------------------------------------------------------------- caller

flatbuffers::FlatBufferBuilder& ClientTransport::builder() {
  builder_.Clear();
  return builder_;
}

std::size_t ClientTransport::payload_room() const {
  return state_ == ClientState::Connected ? connection_->payload_room(clock_.now()) : 0;
}

bool ClientTransport::may_send() {
  if (state_ != ClientState::Connected) return false;
  budget_.refill(clock_.now());
  return budget_.may_send_state();
}

Result<Sequence, SendError> ClientTransport::send(protocol::Payload type, flatbuffers::Offset<void> payload) {
  if (state_ != ClientState::Connected) return Failure{SendError::NoSession};
  auto sequence = connection_->write(builder_, type, payload, true, clock_.now(), outgoing_);
  if (sequence) {
    budget_.spend_state(outgoing_.size);
    congestion_.on_sent(outgoing_.size);
    put_out();
  }
  return sequence;
}

Result<std::uint32_t, QueueError> ClientTransport::queue_message(MessageChannel channel,
                                                                 std::span<const std::byte> message) {
  if (state_ != ClientState::Connected) return Failure{QueueError::NoSession};
  return messages_->queue(channel, message);
}

void ClientTransport::close(CloseReason reason, std::string_view detail) {
  if (state_ == ClientState::Connected) {
    for (int copy = 0; copy < kCloseCopies; ++copy) send_close(reason, detail);
    close_answers_left_ = kCloseAnswers;
  } else if (state_ != ClientState::Connecting) {
    return;
  }
  end(reason, detail);
}

Duration ClientTransport::silence() const {
  return state_ == ClientState::Connected ? clock_.now() - connection_->last_heard() : Duration{0};
}

std::string ClientTransport::describe_close() const {
  std::string text(to_string(close_reason_));
  text += ": ";
  text += close_reason_ == CloseReason::Refused ? explain(refuse_reason_) : explain(close_reason_);
  if (!close_detail_.empty()) text += " (" + close_detail_ + ")";
  return text;
}

}  // namespace shoal
