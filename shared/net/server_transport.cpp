#include "shared/net/server_transport.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"

namespace shoal {
namespace {

// Or as many as there are sessions: when the server ends, each of them may have missed it.
constexpr std::size_t kLeastTombstones = 256;
constexpr int kTombstoneAnswers = 8;
// Responses are remembered for longer than their cookies live, so that a copy that was long under way cannot
// open a second session.
constexpr Duration kRememberResponse = kCookieLifetime + seconds{2};
constexpr Duration kTimerSpacing = milliseconds{5};
constexpr Duration kAcceptSpacing = milliseconds{50};
constexpr std::uint32_t kMaxSessions = 1u << 16;
constexpr std::uint64_t kSlotMask = kMaxSessions - 1;  // the low bits of a connection id are its slot

// What no client sends counts as state: it is refused one layer up.
TrafficKind kind_of(const protocol::Packet& packet) {
  switch (packet.payload_type()) {
    case protocol::Payload::NONE:
      return packet.path_response() ? TrafficKind::Path : TrafficKind::SignOfLife;
    case protocol::Payload::Messages:
      return TrafficKind::Messages;
    case protocol::Payload::Close:
      return TrafficKind::Close;
    default:
      return TrafficKind::State;
  }
}

}  // namespace

ServerTransport::ServerTransport(DatagramPort& port, const Clock& clock, Entropy& entropy,
                                 ServerTransportConfig config, Handler& handler)
    : port_(port),
      clock_(clock),
      entropy_(entropy),
      config_(std::move(config)),
      handler_(handler),
      identity_(config_.identity ? *config_.identity : Secret::random(entropy)),
      admission_(config_.admission, identity_,
                 config_.wall_clock != nullptr ? *config_.wall_clock : no_wall_clock_),
      cookies_(entropy) {
  SHOAL_ASSERT(config_.max_sessions >= 1 && config_.max_sessions <= kMaxSessions,
               "max_sessions is 1 to 65,536");
  SHOAL_ASSERT(config_.admission.mode != JoinMode::Ticket || config_.wall_clock != nullptr,
               "tickets need the time of day: set wall_clock");
  sort_schema(config_.schema);
  schema_hash_ = schema_hash(config_.schema);
  outcomes_.reserve(kMaxInFlight);
  slots_.resize(config_.max_sessions);
  for (std::uint32_t i = 0; i < config_.max_sessions; ++i) free_slots_.push_back(i);
}

ServerTransport::~ServerTransport() = default;

ServerTransport::Session* ServerTransport::find(SessionId id) const {
  if (id.index >= slots_.size()) return nullptr;
  if (slots_[id.index].generation != id.generation && !fault("net-any-generation")) return nullptr;
  return slots_[id.index].session.get();
}

void ServerTransport::poll() {
  SHOAL_ASSERT(!is_polling_, "a handler must not poll the transport that calls it");
  is_polling_ = true;
  const std::uint64_t operations_before = public_key_operations_so_far();
  const Time began = clock_.now();
  Time now = began;
  // What is left waits at the port for the next poll.
  for (std::size_t budget = kPollBudget; budget > 0 && now - began < kPollTime && port_.receive(datagram_);
       --budget) {
    take(datagram_, now);
    now = clock_.now();
  }
  const std::size_t turns = fault("net-claims-at-once") ? claims_.size() : kClaimsPerPoll;
  for (std::size_t left = turns; left > 0 && !claims_.empty(); --left) {
    const WaitingClaim claim = std::move(claims_.front());
    claims_.pop_front();
    waiting_.erase(claim.key);
    take_claim(claim, clock_.now());
  }
  counters_.public_key_operations += public_key_operations_so_far() - operations_before;
  now = clock_.now();
  if (now >= next_timers_) run_timers(now);
  port_.flush();
  is_polling_ = false;
}

void ServerTransport::count_bad(BadDatagram bad, std::size_t size) {
  counters_.count(bad);
  counters_.received_by_kind[static_cast<std::size_t>(TrafficKind::Bad)].add(size);
}

void ServerTransport::take(const Datagram& datagram, Time now) {
  ++counters_.received_datagrams;
  counters_.received_bytes += datagram.size;
  PacketHeader header;
  if (const auto error = read_header(datagram.span(), header))
    return count_bad(bad_datagram(*error), datagram.size);
  if (header.type != DatagramType::Packet)
    counters_.received_by_kind[static_cast<std::size_t>(TrafficKind::Handshake)].add(datagram.size);
  switch (header.type) {
    case DatagramType::Packet:
      return take_packet(datagram, header, now);
    case DatagramType::Hello:
      return take_hello(datagram, now);
    case DatagramType::Response:
      return take_response(datagram, header, now);
    case DatagramType::Challenge:
    case DatagramType::Accept:
    case DatagramType::Refuse:
    case DatagramType::Denial:
      return counters_.count(BadDatagram::UnexpectedHandshake);
  }
}

// ---------------------------------------------------------------------------------------------- handshake

void ServerTransport::take_hello(const Datagram& datagram, Time now) {
  if (datagram.size < kMaxDatagramBytes && !fault("net-short-hello"))
    return counters_.count(BadDatagram::UnpaddedHello);
  Opened opened;
  if (const auto error = read_clear(datagram.span(), body_, opened))
    return counters_.count(bad_datagram(*error));
  const auto hello = read_hello(opened.body);
  if (!hello) return counters_.count(BadDatagram::Malformed);
  const std::uint64_t nonce = opened.header.connection;
  if (closed_door_) return refuse(datagram.peer, nonce, {*closed_door_, {}});
  if (hello->protocol_version != config_.protocol_version) {
    return refuse(datagram.peer, nonce,
                  {RefuseReason::WrongProtocolVersion,
                   fmt::format("server {} client {}", config_.protocol_version, hello->protocol_version)});
  }
  const HandshakeCookie cookie = cookies_.make(datagram.peer, nonce, hello->client_key, now);
  if (fault("net-remember-hellos"))
    used_in_order_.push_back({{datagram.peer, nonce, cookie}, now + kRememberResponse});
  handshake_.challenge(nonce, {cookie, schema_hash_, identity_.public_key()}, outgoing_);
  put_out(datagram.peer, TrafficKind::Handshake);
}

void ServerTransport::take_response(const Datagram& datagram, const PacketHeader& header, Time now) {
  const auto clear = read_response_clear(datagram.span());
  if (!clear) return counters_.count(BadDatagram::TooShort);
  const std::uint64_t nonce = header.connection;
  if (fault("net-keys-before-cookie")) (void)identity_.agree(clear->client_key);
  switch (cookies_.check(clear->cookie, datagram.peer, nonce, clear->client_key, now)) {
    case CookieMint::Verdict::Good:
      break;
    case CookieMint::Verdict::Stale:
      return counters_.count(BadDatagram::StaleCookie);
    case CookieMint::Verdict::Forged:
      return counters_.count(BadDatagram::ForgedCookie);
  }
  const ResponseKey key{datagram.peer, nonce, clear->cookie};
  if (const auto used = used_responses_.find(key); used != used_responses_.end()) {
    if (Session* session = find(used->second)) {
      // Accept was lost; or somebody repeats Response to keep us busy.
      if (now - session->accepted_at >= kAcceptSpacing) send_accept(*session);
      return;
    }
    return counters_.count(BadDatagram::ReplayedResponse);
  }
  ClaimKey claim_key{key, {}};
  if (!fault("net-one-claim-per-cookie"))
    std::ranges::copy(datagram.span().last<kPacketTagBytes>(), claim_key.tag.begin());
  if (waiting_.contains(claim_key)) return;
  if (closed_door_) return refuse(datagram.peer, nonce, {*closed_door_, {}});
  // Before it costs its address anything.
  if (claims_.size() >= kMaxWaitingClaims) return counters_.count(BadDatagram::TooManyResponses);
  if (clear->protocol_version != config_.protocol_version) {
    return refuse(datagram.peer, nonce,
                  {RefuseReason::WrongProtocolVersion,
                   fmt::format("server {} client {}", config_.protocol_version, clear->protocol_version)});
  }
  if (const auto stopped = admission_.stop_at_the_door(datagram.peer, now))
    return refuse(datagram.peer, nonce, *stopped);
  claims_.push_back({datagram, claim_key, *clear});
  waiting_.insert(claim_key);
}

void ServerTransport::take_claim(const WaitingClaim& claim, Time now) {
  const auto& [datagram, claim_key, clear] = claim;
  const ResponseKey& key = claim_key.response;
  // What may have changed while it waited.
  if (used_responses_.contains(key)) return counters_.count(BadDatagram::ReplayedResponse);
  if (closed_door_) return refuse(datagram.peer, key.nonce, {*closed_door_, {}});
  if (admission_.bans().bans(datagram.peer))
    return refuse(datagram.peer, key.nonce, {RefuseReason::Banned, {}});
  const auto es = identity_.agree(clear.client_key);
  if (!es) return counters_.count(BadDatagram::BadTag);
  const ResponseKeys keys(*es, {clear.protocol_version, key.nonce, clear.client_key, clear.cookie,
                                schema_hash_, identity_.public_key()});
  Opened opened;
  if (const auto error = open(keys.response, datagram.span(), ResponseClear::kBytes, body_, opened))
    return counters_.count(bad_datagram(*error));
  const auto response = read_response(opened.body);
  if (!response) return counters_.count(BadDatagram::Malformed);
  if (response->schema_hash != schema_hash_) {
    const SchemaVersions theirs = read_response_components(opened.body);
    return refuse(
        datagram.peer, key.nonce,
        {RefuseReason::SchemaMismatch,
         describe_schema_difference(config_.schema, theirs, response->components_cut, kMaxDetailBytes)},
        &keys);
  }
  const Digest256 challenge = player_challenge(keys.transcript);
  if (!is_signed_by(response->player_key, std::as_bytes(std::span(challenge)), response->player_signature) &&
      !fault("net-believe-players"))
    return counters_.count(BadDatagram::BadPlayerKey);
  forget_used_responses(now);
  if (used_in_order_.size() >= config_.max_used_responses && !fault("net-evict-responses"))
    return refuse(datagram.peer, key.nonce, {RefuseReason::Busy, {}}, &keys);
  auto admitted = admission_.judge({response->credential_kind, response->credentials, response->player_key});
  if (!admitted) return refuse(datagram.peer, key.nonce, admitted.error(), &keys);
  const auto found = players_.find(admitted->player);
  const Session* playing = found == players_.end() ? nullptr : find(found->second);
  // A Response that was held back on the way, and comes to end what began after it.
  if (playing != nullptr && key.cookie.issued_seconds < playing->cookie_issued_seconds &&
      !fault("net-late-responses"))
    return counters_.count(BadDatagram::ReplayedResponse);
  if (!admission_.has_room(datagram.peer, playing ? std::optional(playing->admitted_from) : std::nullopt))
    return refuse(datagram.peer, key.nonce, {RefuseReason::TooManySessions, {}}, &keys);
  // The player proved who they are, so it is they who come again, perhaps after a crash.
  if (playing != nullptr && !fault("net-keep-replaced")) end(found->second, CloseReason::Replaced, {}, true);
  if (free_slots_.empty()) {
    return refuse(datagram.peer, key.nonce,
                  {RefuseReason::ServerFull, fmt::format("{} of {} sessions", session_count_, slots_.size())},
                  &keys);
  }
  open_session(key, *admitted, keys, clear.client_key, datagram.span().last<kPacketTagBytes>(),
               response->ciphers, now);
}

void ServerTransport::open_session(const ResponseKey& key, const Admitted& admitted, const ResponseKeys& keys,
                                   const PublicKey& client_key,
                                   std::span<const std::byte, kPacketTagBytes> response_tag,
                                   std::uint8_t ciphers, Time now) {
  const AgreementKey ephemeral =
      fault("net-keys-twice") ? AgreementKey(Secret{}) : AgreementKey::make(entropy_);
  const auto ee = ephemeral.agree(client_key);
  if (!ee) return counters_.count(BadDatagram::BadTag);
  const SessionSecrets secrets(keys, *ee, response_tag, ephemeral.public_key());
  const bool both_have_aes =
      config_.allow_aes && has_aes() && (ciphers & (1u << static_cast<unsigned>(Cipher::Aes256Gcm))) != 0;
  const Cipher cipher = both_have_aes ? Cipher::Aes256Gcm : Cipher::ChaCha20Poly1305;

  const std::uint32_t index = free_slots_.front();
  free_slots_.pop_front();
  Slot& slot = slots_[index];
  ++slot.generation;
  ConnectionId connection;
  do {
    connection.value = (entropy_.next() & ~kSlotMask) | index;
  } while (connection.value <= kSlotMask);
  const ConnectionKeys session_keys{{cipher, secrets.to_client}, {cipher, secrets.to_server}};
  slot.session = std::make_unique<Session>(connection, key.peer, now, session_keys, config_.bytes_per_second);
  Session& session = *slot.session;
  session.player = admitted.player;
  session.cookie_issued_seconds = key.cookie.issued_seconds;
  handshake_.accept({Cipher::ChaCha20Poly1305, secrets.accept}, key.nonce, ephemeral.public_key(),
                    {connection, config_.time_out, config_.tick_rate_hz, cipher, admitted.player,
                     admission_.resume_ticket(admitted, entropy_)},
                    outgoing_);
  session.accept.assign(outgoing_.span().begin(), outgoing_.span().end());
  ++session_count_;
  ++counters_.joined;
  const SessionId id{index, slot.generation};
  admission_.admit(admitted, key.peer, now);
  players_[admitted.player] = id;
  used_responses_.emplace(key, id);
  used_in_order_.push_back({key, now + kRememberResponse});
  if (may_log_debug()) {
    log_debug(LogFields{to_string(id), to_string(admitted.player), to_string(key.peer)},
              "net: session {} joined from {} as player {} {}, {}", to_string(id), to_string(key.peer),
              to_string(admitted.player), admitted.name, to_string(cipher));
  }
  send_accept(session);
  handler_.on_joined(id, {key.peer, admitted.player, admitted.name});
}

void ServerTransport::send_accept(Session& session) {
  session.accepted_at = clock_.now();
  std::copy(session.accept.begin(), session.accept.end(), outgoing_.bytes.begin());
  outgoing_.size = session.accept.size();
  session.budget.spend_other(outgoing_.size);
  put_out(session, TrafficKind::Handshake);
}

bool ServerTransport::may_log_debug() {
  if (log_level() > LogLevel::Debug) return false;
  const LineAllowance::Answer answer = lines_.ask(clock_.now());
  if (answer.left_out_before > 0)
    log_debug("net: {} lines about peers were left out", answer.left_out_before);
  return answer.may_write;
}

void ServerTransport::refuse(const Endpoint& peer, std::uint64_t nonce, const RefuseBody& body,
                             const ResponseKeys* keys) {
  ++counters_.refused[static_cast<std::size_t>(body.reason)];
  if (keys != nullptr) {
    handshake_.denial(keys->denial, nonce, Sequence{entropy_.next()}, body, outgoing_);
  } else {
    handshake_.refuse(nonce, body, outgoing_);
  }
  put_out(peer, TrafficKind::Handshake);
  if (may_log_debug()) {
    log_debug(LogFields{.peer = to_string(peer)}, "net: refused {}: {} ({})", to_string(peer),
              to_string(body.reason), body.detail);
  }
  handler_.on_refused(peer, body.reason, body.detail);
}

void ServerTransport::forget_used_responses(Time now) {
  const auto is_over = [&] {
    return used_in_order_.front().forget_at <= now ||
           (used_in_order_.size() >= config_.max_used_responses && fault("net-evict-responses"));
  };
  while (!used_in_order_.empty() && is_over()) {
    used_responses_.erase(used_in_order_.front().key);
    used_in_order_.pop_front();
  }
}

// ------------------------------------------------------------------------------------------------ session

void ServerTransport::take_packet(const Datagram& datagram, const PacketHeader& header, Time now) {
  const std::size_t index = header.connection & kSlotMask;
  Session* session = index < slots_.size() ? slots_[index].session.get() : nullptr;
  if (session == nullptr || session->connection.id().value != header.connection) {
    count_bad(BadDatagram::UnknownConnection, datagram.size);
    return answer_from_tombstone(datagram, header, now);
  }
  Opened opened;
  if (const auto bad = session->connection.open(datagram.span(), body_, opened))
    return count_bad(*bad, datagram.size);
  const SessionId id{static_cast<std::uint32_t>(index), slots_[index].generation};
  const protocol::Packet* packet = nullptr;
  outcomes_.clear();
  if (const auto bad = session->connection.read(opened, now, outcomes_, packet))
    return count_bad(*bad, datagram.size);
  session->traffic.received_bytes += datagram.size;
  counters_.received_by_kind[static_cast<std::size_t>(kind_of(*packet))].add(datagram.size);
  if (session->connection.peer() != datagram.peer && !fault("net-never-move"))
    follow(*session, datagram, header.sequence, *packet, now);
  deliver(id);
  take_payload(id, header.sequence, *packet, now);
}

void ServerTransport::follow(Session& session, const Datagram& datagram, Sequence sequence,
                             const protocol::Packet& packet, Time now) {
  // A late packet says where the client was.
  if (!session.connection.is_newest(sequence)) return;
  if (admission_.bans().bans(datagram.peer)) return;
  const bool is_known = session.new_path && session.new_path->peer == datagram.peer &&
                        now - session.new_path->first_heard < kPathLifetime;
  if ((is_known && packet.path_response() == session.new_path->challenge) || fault("net-move-unproved")) {
    if (may_log_debug()) {
      log_debug(LogFields{.player = to_string(session.player), .peer = to_string(datagram.peer)},
                "net: player {} moved from {} to {}", to_string(session.player),
                to_string(session.connection.peer()), to_string(datagram.peer));
    }
    session.connection.move_to(datagram.peer);
    session.congestion.on_new_path();
    session.path_began = session.connection.next_sequence();
    session.new_path.reset();
    ++counters_.moved;
    return;
  }
  if (is_known) session.new_path->received_bytes += datagram.size;
  if (session.new_path && now - session.new_path->last_asked < kPathRetry && !fault("net-ask-everyone"))
    return;
  if (!is_known) {
    // Last asked: nobody was, but who sends from ever new addresses does not make us ask more often.
    session.new_path = NewPath{datagram.peer, entropy_.next(), now, now - kPathRetry, datagram.size, 0};
  }
  NewPath& path = *session.new_path;
  if (path.sent_bytes + kPathWordsBytes > path.received_bytes && !fault("net-ask-everyone")) return;
  own_builder_.Clear();
  if (!session.connection.write_path_words(own_builder_, {path.challenge, std::nullopt}, now, outgoing_))
    return;
  SHOAL_ASSERT(outgoing_.size == kPathWordsBytes, "kPathWordsBytes is wrong");
  path.last_asked = now;
  path.sent_bytes += outgoing_.size;
  session.budget.spend_other(outgoing_.size);
  session.traffic.sent_bytes += outgoing_.size;
  put_out(datagram.peer, TrafficKind::Path);
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
      return end(id, close_reason_from_client(static_cast<std::uint8_t>(close.reason())), detail, false);
    }
    case protocol::Payload::ClientUpdate: {
      const PacketVerdict verdict = handler_.on_packet(id, sequence, packet);
      session = find(id);
      if (session != nullptr && verdict == PacketVerdict::Acknowledge)
        session->connection.acknowledge(sequence, now);
      return;
    }
    case protocol::Payload::Messages:
      return take_messages(id, sequence, *packet.payload_as_Messages(), now);
    default:
      return counters_.count(BadDatagram::UnexpectedPayload);
  }
}

void ServerTransport::deliver(SessionId id) {
  for (const SendLog::Outcome& outcome : outcomes_) {
    Session* session = find(id);
    if (session == nullptr) return;
    const bool is_of_this_path = outcome.sequence >= session->path_began || fault("net-keep-old-path");
    if (outcome.acknowledged) {
      ++counters_.acknowledged;
      ++session->traffic.acknowledged;
      if (is_of_this_path) session->congestion.on_acknowledged();
      if (session->messages.settle(outcome.sequence, true)) continue;
      handler_.on_acknowledged(id, outcome.sequence);
    } else {
      ++counters_.lost;
      ++session->traffic.lost;
      if (is_of_this_path) session->congestion.on_lost();
      if (session->messages.settle(outcome.sequence, false)) continue;
      handler_.on_lost(id, outcome.sequence);
    }
  }
}

void ServerTransport::take_messages(SessionId id, Sequence sequence, const protocol::Messages& messages,
                                    Time now) {
  Session* session = find(id);
  if (const auto error = session->messages.take(messages))
    return end(id, CloseReason::ProtocolError, to_string(*error), true);
  session->connection.acknowledge(sequence, now);
  while (session != nullptr) {
    auto message = session->messages.next();
    if (!message) return;
    if (!handler_.on_message(id, *std::move(message)))
      return end(id, CloseReason::ProtocolError, "a message that makes no sense", true);
    session = find(id);  // the handler may have closed it
  }
}

void ServerTransport::send_messages(Session& session, Time now) {
  session.budget.refill(now);
  while (session.messages.has_something_to_send() && !session.connection.send_log().is_full() &&
         session.budget.may_send_other(session.state_waits)) {
    own_builder_.Clear();
    const auto payload = session.messages.build(own_builder_, session.connection.payload_room(now),
                                                session.connection.next_sequence());
    if (payload.IsNull()) return;
    const auto written = session.connection.write(own_builder_, protocol::Payload::Messages, payload.Union(),
                                                  true, now, outgoing_);
    SHOAL_ASSERT(written.ok(), "messages were built for a packet that does not leave");
    session.budget.spend_other(outgoing_.size);
    session.congestion.on_sent(outgoing_.size);
    put_out(session, TrafficKind::Messages);
  }
}

void ServerTransport::run_timers(Time now) {
  next_timers_ = now + kTimerSpacing;
  forget_used_responses(now);
  while (!tombstones_.empty() && tombstones_.front().forget_at <= now) forget_oldest_tombstone();
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].session == nullptr) continue;
    const SessionId id{i, slots_[i].generation};
    outcomes_.clear();
    slots_[i].session->connection.detect_losses(now, outcomes_);
    deliver(id);
    Session* session = find(id);
    if (session == nullptr) continue;
    if (session->connection.next_sequence().value > config_.packets_per_key) {
      end(id, CloseReason::KeyUsedUp, {}, true);
      continue;
    }
    if (now - session->connection.last_heard() >= config_.time_out && !fault("net-keep-silent")) {
      end(id, CloseReason::TimedOut, fmt::format("nothing for {:.1f} s", to_seconds(config_.time_out)), true);
      continue;
    }
    // A path that carries all that is asked of it has no rate of its own.
    if (session->congestion.update(session->connection.rtt().rtt(), now)) {
      const std::uint64_t rate = session->congestion.rate();
      const bool is_free = config_.bytes_per_second == 0 && rate == kMostBytesPerSecond;
      if (!fault("net-budget-ignores-rate")) session->budget.set_bytes_per_second(is_free ? 0 : rate);
    }
    send_messages(*session, now);
    const Duration silence = now - session->connection.last_sent();
    session->budget.refill(now);
    // A slow client's budget may be in debt for its last frame; for so long the frame is its sign of life.
    if (silence >= 4 * kKeepAlive || (silence >= kKeepAlive && session->budget.may_send_other(false))) {
      own_builder_.Clear();
      if (session->connection.write(own_builder_, protocol::Payload::NONE, 0, false, now, outgoing_)) {
        session->budget.spend_other(outgoing_.size);
        put_out(*session, TrafficKind::SignOfLife);
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
    const auto close = create_close(own_builder_, reason, detail);
    if (connection.write(own_builder_, protocol::Payload::Close, close.Union(), false, now, outgoing_))
      put_out(*session, TrafficKind::Close);
  }
  if (tell_peer) bury(connection, reason, detail, now);
  if (may_log_debug()) {
    log_debug(LogFields{to_string(id), to_string(session->player), to_string(connection.peer())},
              "net: session {} from {} left: {}{}{}", to_string(id), to_string(connection.peer()),
              to_string(reason), detail.empty() ? "" : ", ", detail);
  }
  counters_.resent_message_units += session->messages.sender().resent_units();
  admission_.left(session->admitted_from);
  if (const auto playing = players_.find(session->player); playing != players_.end() && playing->second == id)
    players_.erase(playing);
  slots_[id.index].session.reset();
  free_slots_.push_back(id.index);
  --session_count_;
  ++counters_.left[static_cast<std::size_t>(reason)];
  handler_.on_left(id, reason);
}

void ServerTransport::bury(const Connection& connection, CloseReason reason, std::string_view detail,
                           Time now) {
  Tombstone tombstone{connection.id(),
                      connection.peer(),
                      reason,
                      std::string(detail.substr(0, kMaxDetailBytes)),
                      connection.keys(),
                      fault("net-forget-sequence") ? Sequence{1} : connection.next_sequence(),
                      kTombstoneAnswers,
                      now + config_.time_out};
  if (tombstones_.size() >= std::max<std::size_t>(kLeastTombstones, config_.max_sessions))
    forget_oldest_tombstone();
  tombstones_.push_back(std::move(tombstone));
  tombstone_of_[connection.id().value] = &tombstones_.back();
}

void ServerTransport::forget_oldest_tombstone() {
  const auto found = tombstone_of_.find(tombstones_.front().connection.value);
  if (found != tombstone_of_.end() && found->second == &tombstones_.front()) tombstone_of_.erase(found);
  tombstones_.pop_front();
}

void ServerTransport::answer_from_tombstone(const Datagram& datagram, const PacketHeader& header, Time now) {
  const auto found = tombstone_of_.find(header.connection);
  if (found == tombstone_of_.end()) return;
  Tombstone& tombstone = *found->second;
  Opened opened;
  if (tombstone.peer != datagram.peer || tombstone.answers_left == 0 || now >= tombstone.forget_at ||
      open(tombstone.keys.receive, datagram.span(), 0, body_, opened))
    return;
  --tombstone.answers_left;
  own_builder_.Clear();
  const auto close = create_close(own_builder_, tombstone.reason, tombstone.detail);
  own_builder_.Finish(protocol::CreatePacket(own_builder_, 0, 0, 0, protocol::Payload::Close, close.Union()));
  const auto body = std::as_bytes(std::span(own_builder_.GetBufferPointer(), own_builder_.GetSize()));
  outgoing_.size =
      seal(tombstone.keys.send, {DatagramType::Packet, header.connection, tombstone.next_sequence}, {}, body,
           outgoing_.bytes);
  ++tombstone.next_sequence.value;
  put_out(datagram.peer, TrafficKind::Close);
}

void ServerTransport::put_out(Session& session, TrafficKind kind) {
  session.traffic.sent_bytes += outgoing_.size;
  put_out(session.connection.peer(), kind);
}

void ServerTransport::put_out(const Endpoint& peer, TrafficKind kind) {
  ++counters_.sent_datagrams;
  counters_.sent_bytes += outgoing_.size;
  counters_.sent_by_kind[static_cast<std::size_t>(kind)].add(outgoing_.size);
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
    session->congestion.on_sent(outgoing_.size);
    put_out(*session, TrafficKind::State);
  }
  return sequence;
}

Result<std::uint32_t, QueueError> ServerTransport::queue_message(SessionId id, MessageChannel channel,
                                                                 std::span<const std::byte> message) {
  Session* session = find(id);
  if (session == nullptr) return Failure{QueueError::NoSession};
  return session->messages.queue(channel, message);
}

void ServerTransport::set_state_waits(SessionId id, bool waits) {
  if (Session* session = find(id)) session->state_waits = waits;
}

std::size_t ServerTransport::message_memory_bytes() const {
  std::size_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.session == nullptr) continue;
    bytes +=
        slot.session->messages.sender().memory_bytes() + slot.session->messages.receiver().memory_bytes();
  }
  return bytes;
}

std::uint64_t ServerTransport::resent_message_units() const {
  std::uint64_t units = counters_.resent_message_units;
  for (const Slot& slot : slots_) {
    if (slot.session != nullptr) units += slot.session->messages.sender().resent_units();
  }
  return units;
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
  const CloseReason reason =
      closed_door_ == RefuseReason::Draining ? CloseReason::ServerRestart : CloseReason::ServerShutDown;
  if (!closed_door_) closed_door_ = RefuseReason::ShuttingDown;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].session != nullptr) end({i, slots_[i].generation}, reason, {}, true);
  }
  port_.flush();
}

void ServerTransport::set_bans(BanList bans) {
  admission_.set_bans(std::move(bans));
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const Session* session = slots_[i].session.get();
    if (session == nullptr) continue;
    if (admission_.bans().bans(session->connection.peer()) || admission_.bans().bans(session->player))
      end({i, slots_[i].generation}, CloseReason::Kicked, "banned", true);
  }
}

Duration ServerTransport::rtt(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? Duration{0} : session->connection.rtt().rtt();
}

Duration ServerTransport::rtt_deviation(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? Duration{0} : session->connection.rtt().rtt_deviation();
}

std::uint64_t ServerTransport::bytes_per_second(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? 0 : session->congestion.rate();
}

Endpoint ServerTransport::peer(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? Endpoint{} : session->connection.peer();
}

SessionTraffic ServerTransport::traffic(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? SessionTraffic{} : session->traffic;
}

PlayerId ServerTransport::player(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? PlayerId{} : session->player;
}

std::size_t ServerTransport::in_flight(SessionId id) const {
  const Session* session = find(id);
  return session == nullptr ? 0 : session->connection.send_log().in_flight();
}

}  // namespace shoal
