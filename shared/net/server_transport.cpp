#include "shared/net/server_transport.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"

namespace shoal {
namespace {

constexpr std::size_t kMaxTombstones = 256;
constexpr int kTombstoneAnswers = 8;
// Responses are remembered for longer than their cookies live, so that a copy that was long under way cannot
// open a second session.
constexpr std::size_t kMaxUsedResponses = 65536;
constexpr Duration kRememberResponse = kCookieLifetime + seconds{2};
constexpr Duration kTimerSpacing = milliseconds{5};
constexpr Duration kAcceptSpacing = milliseconds{50};
constexpr std::uint32_t kMaxSessions = 1u << 16;
constexpr std::uint64_t kSlotMask = kMaxSessions - 1;  // the low bits of a connection id are its slot

}  // namespace

ServerTransport::ServerTransport(DatagramPort& port, const Clock& clock, Entropy& entropy,
                                 ServerTransportConfig config, Handler& handler)
    : port_(port),
      clock_(clock),
      entropy_(entropy),
      config_(std::move(config)),
      handler_(handler),
      cookies_(entropy) {
  SHOAL_ASSERT(config_.max_sessions >= 1 && config_.max_sessions <= kMaxSessions,
               "max_sessions is 1 to 65,536");
  sort_schema(config_.schema);
  schema_hash_ = schema_hash(config_.schema);
  outcomes_.reserve(kMaxInFlight);
  slots_.resize(config_.max_sessions);
  for (std::uint32_t i = 0; i < config_.max_sessions; ++i) free_slots_.push_back(i);
}

ServerTransport::~ServerTransport() = default;

ServerTransport::Session* ServerTransport::find(SessionId id) const {
  if (id.index >= slots_.size() || slots_[id.index].generation != id.generation) return nullptr;
  return slots_[id.index].session.get();
}

void ServerTransport::poll() {
  SHOAL_ASSERT(!is_polling_, "a handler must not poll the transport that calls it");
  is_polling_ = true;
  for (std::size_t budget = kPollBudget; budget > 0 && port_.receive(datagram_); --budget) {
    take(datagram_, clock_.now());
  }
  const Time now = clock_.now();
  if (now >= next_timers_) run_timers(now);
  port_.flush();
  is_polling_ = false;
}

void ServerTransport::take(const Datagram& datagram, Time now) {
  ++counters_.received_datagrams;
  counters_.received_bytes += datagram.size;
  Opened opened;
  if (const auto error = open(datagram.span(), body_, opened)) return counters_.count(bad_datagram(*error));
  switch (opened.header.type) {
    case DatagramType::Packet:
      return take_packet(datagram, opened, now);
    case DatagramType::Hello:
      return take_hello(datagram, opened, now);
    case DatagramType::Response:
      return take_response(datagram, opened, now);
    case DatagramType::Challenge:
    case DatagramType::Accept:
    case DatagramType::Refuse:
      return counters_.count(BadDatagram::UnexpectedHandshake);
  }
}

// ---------------------------------------------------------------------------------------------- handshake

void ServerTransport::take_hello(const Datagram& datagram, const Opened& opened, Time now) {
  if (datagram.size < kMaxDatagramBytes) return counters_.count(BadDatagram::UnpaddedHello);
  const auto hello = read_hello(opened.body);
  if (!hello) return counters_.count(BadDatagram::Malformed);
  const std::uint64_t nonce = opened.header.connection;
  if (is_shutting_down_) return refuse(datagram.peer, nonce, RefuseReason::ShuttingDown, {});
  if (hello->protocol_version != config_.protocol_version) {
    return refuse(datagram.peer, nonce, RefuseReason::WrongProtocolVersion,
                  fmt::format("server {} client {}", config_.protocol_version, hello->protocol_version));
  }
  const HandshakeCookie cookie = cookies_.make(datagram.peer, nonce, hello->client_key, now);
  handshake_.challenge(nonce, {cookie, schema_hash_}, outgoing_);
  put_out(datagram.peer);
}

void ServerTransport::take_response(const Datagram& datagram, const Opened& opened, Time now) {
  const auto response = read_response(opened.body);
  if (!response) return counters_.count(BadDatagram::Malformed);
  const std::uint64_t nonce = opened.header.connection;
  switch (cookies_.check(response->cookie, datagram.peer, nonce, response->client_key, now)) {
    case CookieMint::Verdict::Good:
      break;
    case CookieMint::Verdict::Stale:
      return counters_.count(BadDatagram::StaleCookie);
    case CookieMint::Verdict::Forged:
      return counters_.count(BadDatagram::ForgedCookie);
  }
  if (const auto used = used_responses_.find({datagram.peer, nonce}); used != used_responses_.end()) {
    if (Session* session = find(used->second)) {
      // Accept was lost; or somebody repeats Response to keep us busy.
      if (now - session->accepted_at >= kAcceptSpacing) send_accept(*session);
      return;
    }
    return counters_.count(BadDatagram::ReplayedResponse);
  }
  if (is_shutting_down_) return refuse(datagram.peer, nonce, RefuseReason::ShuttingDown, {});
  if (response->protocol_version != config_.protocol_version) {
    return refuse(datagram.peer, nonce, RefuseReason::WrongProtocolVersion,
                  fmt::format("server {} client {}", config_.protocol_version, response->protocol_version));
  }
  if (response->schema_hash != schema_hash_) {
    const SchemaVersions theirs = read_response_components(opened.body);
    return refuse(
        datagram.peer, nonce, RefuseReason::SchemaMismatch,
        describe_schema_difference(config_.schema, theirs, response->components_cut, kMaxDetailBytes));
  }
  open_session(datagram.peer, nonce, *response, now);
}

void ServerTransport::open_session(const Endpoint& peer, std::uint64_t nonce, const ResponseBody& response,
                                   Time now) {
  forget_used_responses(now);
  if (used_in_order_.size() >= kMaxUsedResponses) return refuse(peer, nonce, RefuseReason::Busy, {});
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    Session* session = slots_[i].session.get();
    if (session == nullptr || session->connection.peer() != peer) continue;
    if (session->nonce == nonce) return send_accept(*session);  // Accept was lost for longer than we remember
    // The cookie proved the address, so it is the same client that comes again, perhaps after a crash.
    end({i, slots_[i].generation}, CloseReason::Replaced, {}, true);
  }
  if (free_slots_.empty()) {
    return refuse(peer, nonce, RefuseReason::ServerFull,
                  fmt::format("{} of {} sessions", session_count_, slots_.size()));
  }
  const std::uint32_t index = free_slots_.front();
  free_slots_.pop_front();
  Slot& slot = slots_[index];
  ++slot.generation;
  ConnectionId connection;
  do {
    connection.value = (entropy_.next() & ~kSlotMask) | index;
  } while (connection.value <= kSlotMask);
  slot.session = std::make_unique<Session>(connection, peer, now, nonce, config_.bytes_per_second);
  ++session_count_;
  ++counters_.joined;
  const SessionId id{index, slot.generation};
  used_responses_.emplace(ResponseKey{peer, nonce}, id);
  used_in_order_.push_back({{peer, nonce}, now + kRememberResponse});
  log_debug("net: session {}.{} joined from {}", id.index, id.generation, to_string(peer));
  send_accept(*slot.session);
  handler_.on_joined(id, {peer, response.credentials});
}

void ServerTransport::send_accept(Session& session) {
  handshake_.accept(session.nonce, {session.connection.id(), config_.time_out, config_.tick_rate_hz},
                    outgoing_);
  session.accepted_at = clock_.now();
  session.budget.spend_other(outgoing_.size);
  put_out(session.connection.peer());
}

void ServerTransport::refuse(const Endpoint& peer, std::uint64_t nonce, RefuseReason reason,
                             std::string detail) {
  ++counters_.refused[static_cast<std::size_t>(reason)];
  handshake_.refuse(nonce, {reason, detail}, outgoing_);
  put_out(peer);
  // A flood of refusals must not become a flood of lines.
  log_debug("net: refused {}: {} ({})", to_string(peer), to_string(reason), detail);
  handler_.on_refused(peer, reason, detail);
}

void ServerTransport::forget_used_responses(Time now) {
  while (!used_in_order_.empty() && used_in_order_.front().forget_at <= now) {
    used_responses_.erase(used_in_order_.front().key);
    used_in_order_.pop_front();
  }
}

// ------------------------------------------------------------------------------------------------ session

void ServerTransport::take_packet(const Datagram& datagram, const Opened& opened, Time now) {
  const std::uint64_t connection = opened.header.connection;
  const std::size_t index = connection & kSlotMask;
  Session* session = index < slots_.size() ? slots_[index].session.get() : nullptr;
  if (session == nullptr || session->connection.id().value != connection) {
    counters_.count(BadDatagram::UnknownConnection);
    return answer_from_tombstone(datagram, opened);
  }
  if (session->connection.peer() != datagram.peer) return counters_.count(BadDatagram::WrongAddress);
  const SessionId id{static_cast<std::uint32_t>(index), slots_[index].generation};
  const protocol::Packet* packet = nullptr;
  outcomes_.clear();
  if (const auto bad = session->connection.read(opened, now, outcomes_, packet)) return counters_.count(*bad);
  deliver(id);
  take_payload(id, opened.header.sequence, *packet, now);
}

void ServerTransport::take_payload(SessionId id, Sequence sequence, const protocol::Packet& packet,
                                   Time now) {
  Session* session = find(id);
  if (session == nullptr) return;  // the handler closed it when it heard of acknowledgements
  switch (packet.payload_type()) {
    case protocol::Payload::NONE:
      return session->connection.acknowledge(sequence, now);
    case protocol::Payload::Close: {
      const protocol::Close& close = *packet.payload_as_Close();
      const auto detail =
          close.detail() == nullptr ? std::string() : printable(close.detail()->string_view());
      return end(id, close_reason_from_wire(static_cast<std::uint8_t>(close.reason())), detail, false);
    }
    case protocol::Payload::ClientUpdate: {
      const PacketVerdict verdict = handler_.on_packet(id, sequence, packet);
      session = find(id);
      if (session != nullptr && verdict == PacketVerdict::Acknowledge)
        session->connection.acknowledge(sequence, now);
      return;
    }
    default:
      return counters_.count(BadDatagram::UnexpectedPayload);
  }
}

void ServerTransport::deliver(SessionId id) {
  for (const SendLog::Outcome& outcome : outcomes_) {
    if (find(id) == nullptr) return;
    if (outcome.acknowledged) {
      ++counters_.acknowledged;
      handler_.on_acknowledged(id, outcome.sequence);
    } else {
      ++counters_.lost;
      handler_.on_lost(id, outcome.sequence);
    }
  }
}

void ServerTransport::run_timers(Time now) {
  next_timers_ = now + kTimerSpacing;
  forget_used_responses(now);
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].session == nullptr) continue;
    const SessionId id{i, slots_[i].generation};
    outcomes_.clear();
    slots_[i].session->connection.detect_losses(now, outcomes_);
    deliver(id);
    Session* session = find(id);
    if (session == nullptr) continue;
    if (now - session->connection.last_heard() >= config_.time_out) {
      end(id, CloseReason::TimedOut, fmt::format("nothing for {:.1f} s", to_seconds(config_.time_out)), true);
      continue;
    }
    const Duration silence = now - session->connection.last_sent();
    session->budget.refill(now);
    // A slow client's budget may be in debt for its last frame; for so long the frame is its sign of life.
    if (silence >= 4 * kKeepAlive || (silence >= kKeepAlive && session->budget.may_send_other(false))) {
      own_builder_.Clear();
      if (session->connection.write(own_builder_, protocol::Payload::NONE, 0, false, now, outgoing_)) {
        session->budget.spend_other(outgoing_.size);
        put_out(session->connection.peer());
      }
    }
  }
}

void ServerTransport::end(SessionId id, CloseReason reason, std::string_view detail, bool tell_peer) {
  Session* session = find(id);
  if (session == nullptr) return;
  const Time now = clock_.now();
  Connection& connection = session->connection;
  for (int copy = 0; tell_peer && copy < kCloseCopies; ++copy) {
    own_builder_.Clear();
    const auto detail_at =
        detail.empty() ? 0
                       : own_builder_.CreateString(detail.data(), std::min(detail.size(), kMaxDetailBytes));
    const auto close =
        protocol::CreateClose(own_builder_, static_cast<protocol::CloseReason>(reason), detail_at);
    if (connection.write(own_builder_, protocol::Payload::Close, close.Union(), false, now, outgoing_)) {
      put_out(connection.peer());
    }
  }
  if (tell_peer) {
    Tombstone tombstone{connection.id(),
                        connection.peer(),
                        reason,
                        std::string(detail.substr(0, kMaxDetailBytes)),
                        connection.next_sequence(),
                        kTombstoneAnswers};
    if (tombstones_.size() < kMaxTombstones) {
      tombstones_.push_back(std::move(tombstone));
    } else {
      tombstones_[next_tombstone_] = std::move(tombstone);
      next_tombstone_ = (next_tombstone_ + 1) % kMaxTombstones;
    }
  }
  log_debug("net: session {}.{} from {} left: {}{}{}", id.index, id.generation, to_string(connection.peer()),
            to_string(reason), detail.empty() ? "" : ", ", detail);
  slots_[id.index].session.reset();
  free_slots_.push_back(id.index);
  --session_count_;
  ++counters_.left[static_cast<std::size_t>(reason)];
  handler_.on_left(id, reason);
}

void ServerTransport::answer_from_tombstone(const Datagram& datagram, const Opened& opened) {
  for (Tombstone& tombstone : tombstones_) {
    if (tombstone.connection.value != opened.header.connection || tombstone.peer != datagram.peer) continue;
    if (tombstone.answers_left == 0) return;
    --tombstone.answers_left;
    own_builder_.Clear();
    const auto detail = tombstone.detail.empty() ? 0 : own_builder_.CreateString(tombstone.detail);
    const auto close =
        protocol::CreateClose(own_builder_, static_cast<protocol::CloseReason>(tombstone.reason), detail);
    own_builder_.Finish(
        protocol::CreatePacket(own_builder_, 0, 0, 0, protocol::Payload::Close, close.Union()));
    const auto body = std::as_bytes(std::span(own_builder_.GetBufferPointer(), own_builder_.GetSize()));
    outgoing_.size = seal({DatagramType::Packet, opened.header.connection, tombstone.next_sequence}, body,
                          outgoing_.bytes);
    ++tombstone.next_sequence.value;
    return put_out(datagram.peer);
  }
}

void ServerTransport::put_out(const Endpoint& peer) {
  ++counters_.sent_datagrams;
  counters_.sent_bytes += outgoing_.size;
  if (!port_.send(peer, outgoing_.span())) ++counters_.send_failures;
}

// ------------------------------------------------------------------------------------------------- caller

flatbuffers::FlatBufferBuilder& ServerTransport::builder() {
  builder_.Clear();
  return builder_;
}

std::size_t ServerTransport::payload_room(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? 0 : session->connection.payload_room(clock_.now());
}

Result<Sequence, SendError> ServerTransport::send(SessionId id, protocol::Payload type,
                                                  flatbuffers::Offset<void> payload) {
  Session* session = find(id);
  if (session == nullptr) return Failure{SendError::NoSession};
  auto sequence = session->connection.write(builder_, type, payload, true, clock_.now(), outgoing_);
  if (sequence) {
    session->budget.spend_state(outgoing_.size);
    put_out(session->connection.peer());
  }
  return sequence;
}

bool ServerTransport::may_send(SessionId id) {
  Session* session = find(id);
  if (session == nullptr) return false;
  session->budget.refill(clock_.now());
  return session->budget.may_send_state();
}

void ServerTransport::close(SessionId id, CloseReason reason, std::string_view detail) {
  end(id, reason, detail, true);
}

void ServerTransport::shut_down() {
  is_shutting_down_ = true;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].session != nullptr) end({i, slots_[i].generation}, CloseReason::ServerShutDown, {}, true);
  }
  port_.flush();
}

Duration ServerTransport::rtt(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? Duration{0} : session->connection.rtt().rtt();
}

Endpoint ServerTransport::peer(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? Endpoint{} : session->connection.peer();
}

std::size_t ServerTransport::in_flight(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? 0 : session->connection.send_log().in_flight();
}

}  // namespace shoal
