#include "server/server.hpp"

#include <algorithm>

#include "schema/service_generated.h"
#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"
#include "shared/ecs/local.hpp"
#include "shared/ecs/world_copy.hpp"

namespace shoal {
namespace {

// The frame's table with all fields, the lengths of its vectors and the alignment between them; a test builds
// it.
constexpr std::size_t kFrameTableBytes = 136;
static_assert(kMaxBlockBytes + sizeof(protocol::BlockEntry) + kFrameTableBytes + 96 <= kMaxPacketBodyBytes,
              "the largest block, its entry, its frame and the packet around it share one datagram");

// A frame without blocks still carries the time; it leaves at least this often.
constexpr std::int32_t kMaxTicksWithoutFrame = 5;
constexpr std::size_t kMaxResyncsPerUpdate = 64;
// Inputs that arrived late are applied at once, but no faster than this.
constexpr std::uint32_t kMaxInputsPerTick = 4;
// An input for a tick further ahead is refused: no honest clock is that far off.
constexpr std::uint32_t kMaxInputLeadTicks = 64;
// Each costs a walk over the world: so many in one tick do not make it late.
constexpr int kDigestsPerTick = 4;

void warn_of_large_entities(const ComponentTable& table) {
  for (const Audience audience : {Audience::Everyone, Audience::Team, Audience::Owner}) {
    std::size_t bits = worst_full_state_bits(table) + table.worst_slot_bits(audience);
    for (const ComponentIndex index : table.of(audience)) bits += table.value_bits(index);
    if (bits <= kMaxBlockBytes * 8) continue;
    log_warn(
        "an entity with all {} components of one audience takes {} bits, a datagram has room for {}: an "
        "entity that "
        "gets so many ends the server",
        table.of(audience).size(), bits, kMaxBlockBytes * 8);
  }
}

ServerTransportConfig transport_config(const ServerConfig& config, const ComponentTable& table) {
  ServerTransportConfig result;
  result.max_sessions = config.max_sessions;
  result.time_out = config.time_out;
  result.tick_rate_hz = config.tick_rate_hz;
  result.bytes_per_second = config.client_bytes_per_second;
  result.schema = schema_versions(table);
  result.identity = config.identity;
  result.admission = config.admission;
  result.wall_clock = config.wall_clock;
  result.allow_aes = config.allow_aes;
  return result;
}

}  // namespace

Server::Server(Game& game, DatagramPort& port, const Clock& clock, Entropy& entropy,
               const ServerConfig& config)
    : game_(&game),
      clock_(&clock),
      config_(config),
      table_(game.components()),
      registry_(RegistryLimits{.max_entities = config.max_entities}),
      executor_(make_executor(config.threads)),
      schedule_(&clock),
      chunks_(table_),
      full_states_(config.full_state_bytes_per_second, clock.now()),
      messages_([this](SessionId session, MessageChannel channel, std::span<const std::byte> message) {
        return transport_.queue_message(session, channel, message);
      }),
      transport_(port, clock, entropy, transport_config(config, table_), *this),
      sessions_(config.max_sessions),
      absent_(config.max_sessions),
      players_(config.resumed ? config.resumed->newest_player : 0),
      tick_(config.resumed ? config.resumed->tick : config.first_tick) {
  warn_of_large_entities(table_);
  game.register_components(registry_);
  register_affiliation(registry_);
  registry_.freeze();
  registry_.log().set_enabled(true);  // the tracker reads it, from the first entity on
  schedule_.set_executor(executor_.get());
  game.register_systems(schedule_);
  schedule_.build(registry_);
  if (config.resumed) {
    copy_world(*config.resumed->registry, registry_);
    game.resume(registry_, tick_);
  } else {
    game.start(registry_);
  }
  tracker_.emplace(table_, registry_, chunks_, config_.interest);
  tracker_->end_tick(tick_);
  game.register_messages(*this);
}

Server::~Server() = default;

Server::Session* Server::find(SessionId id) {
  if (id.index >= sessions_.size() || !sessions_[id.index] || sessions_[id.index]->id != id) return nullptr;
  return sessions_[id.index].get();
}

bool Server::may_log(LineAllowance& lines, std::string_view about) {
  const LineAllowance::Answer answer = lines.ask(clock_->now());
  if (answer.left_out_before > 0) log_info("{} lines about {} were left out", answer.left_out_before, about);
  return answer.may_write;
}

// --- one tick ----------------------------------------------------------------------------------------------

void Server::run_tick() {
  ++tick_;
  phase_times_ = {};
  TickPhaseTimer timer(*clock_, phase_times_);
  if (!is_frozen()) {
    progress_.set("players who come and go");
    admit_players();
    progress_.set("inputs");
    for (const auto& session : sessions_) {
      if (session) apply_inputs(*session);
    }
    timer.end(TickPhase::Inputs);
    progress_.set("systems");
    schedule_.run(registry_, tick_);
    timer.end(TickPhase::Systems);
  }
  progress_.set("changes");
  tracker_->end_tick(tick_);
  timer.end(TickPhase::Changes);
  messages_.tick(clock_->now());
  progress_.set("views");
  begin_views();
  timer.end(TickPhase::Views);
  if (!is_frozen()) {
    progress_.set("events of the game");
    game_->after_tick(registry_, *this, tick_);
    timer.end(TickPhase::GameEvents);
  }
  progress_.set("frames");
  full_states_.refill(clock_->now());
  // Whose turn is first changes, so that what all share does not always go to the same ones.
  const std::size_t first = tick_.value % sessions_.size();
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    const auto& session = sessions_[(first + i) % sessions_.size()];
    if (session) send_frames(*session);
  }
  timer.end(TickPhase::Frames);
  progress_.set("digests");
  if (is_frozen()) make_digests();
  progress_.set("handing datagrams to the system");
  transport_.flush();
  timer.end(TickPhase::Flush);
  progress_.set(nullptr);
}

void Server::admit_players() {
  tell_of_absent_players();
  for (const SessionId id : std::exchange(joining_, {})) {
    Session* session = find(id);
    if (!session) continue;
    session->player = game_->spawn_player(registry_, session->number, tick_);
    if (!session->player.is_null() && !registry_.all_of<OwnedBy>(session->player))
      registry_.emplace<OwnedBy>(session->player, session->player);
  }
  tell_of_returned_players();
}

void Server::apply_inputs(Session& session) {
  for (std::uint32_t applied = 0; applied < kMaxInputsPerTick; ++applied) {
    const auto input = session.inputs.peek();
    if (!input) return;
    const std::int32_t ticks_ahead = ticks_between(tick_, input->tick);
    if (ticks_ahead > 0 && ticks_ahead <= static_cast<std::int32_t>(kMaxInputLeadTicks))
      return;  // its tick comes
    if (ticks_ahead > 0) {
      ++counters_.bad_inputs;
    } else if (registry_.alive(session.player) &&
               !game_->apply_input(registry_, session.player, tick_, input->payload)) {
      ++counters_.bad_inputs;
    }
    (void)session.inputs.next();
  }
}

// --- frames out --------------------------------------------------------------------------------------------

Viewer Server::viewer_of(const Session& session) const {
  Viewer viewer;
  if (!registry_.alive(session.player)) return viewer;
  viewer.player = session.player;
  viewer.place = tracker_->place_of(session.player);
  if (const auto* team = registry_.try_get<const OnTeam>(session.player)) viewer.team = team->team;
  return viewer;
}

// The square in which the registry says that the entity should be seen. Hysteresis decides in which of two it is; what
// should be bound and is not is in the one where it stands, and will be missed.
std::optional<SquareKey> Server::shown_in(Entity entity, Audience audience) const {
  const auto square = tracker_->square_of(entity, audience);
  const ChangeTracker::Binding binding = tracker_->binding(entity, audience);
  return square && binding.is_bound() ? chunks_.square_of(binding.chunk) : square;
}

std::uint64_t Server::bytes_per_second(PlayerNumber number) const {
  for (const auto& session : sessions_) {
    if (session && session->number.value == number.value) return transport_.bytes_per_second(session->id);
  }
  return 0;
}

Entity Server::player_entity(PlayerNumber number) const {
  for (const auto& session : sessions_) {
    if (session && session->number.value == number.value) return session->player;
  }
  return kNullEntity;
}

std::size_t Server::replicated_entity_count() const {
  const StorageBase* local = registry_.find_slot(detail::type_slot<Local>());
  return registry_.alive_count() - (local ? local->size() : 0);
}

void Server::make_digests() {
  if (squares_of_frozen_.empty()) {
    squares_of_frozen_.resize(config_.max_entities);
    registry_.for_each_entity([&](Entity entity) {
      for (unsigned audience = 0; audience < kAudiences; ++audience)
        squares_of_frozen_[entity.index][audience] = shown_in(entity, static_cast<Audience>(audience));
    });
  }
  int made = 0;
  for (const auto& session : sessions_) {
    if (!session || session->digest || made == kDigestsPerTick) continue;
    if (!session->view->has_everything() && clock_->now() - *frozen_at_ <= config_.freeze_deadline) continue;
    session->digest = digest_world(registry_, table_, [&](Entity entity) {
      AudienceMask mask = 0;
      for (unsigned audience = 0; audience < kAudiences; ++audience) {
        const auto& square = squares_of_frozen_[entity.index][audience];
        if (square && session->view->interest().sees(*square))
          mask |= audience_bit(static_cast<Audience>(audience));
      }
      return mask;
    });
    ++made;
  }
}

// All before the first event and the first frame: who lost sight of an entity in this tick hears no more of it.
void Server::begin_views() {
  for (const auto& session : sessions_) {
    if (!session) continue;
    if (session->view->is_beyond_help()) {
      // Ends the session: nothing of it may be touched afterwards.
      transport_.close(session->id, CloseReason::ProtocolError, "acknowledges nothing");
      continue;
    }
    session->view->begin_tick(tick_, viewer_of(*session));
  }
}

void Server::send_frames(Session& session) {
  const std::size_t least_room = kMaxBlockBytes + sizeof(protocol::BlockEntry);
  const std::optional<Tick> input_ack = session.inputs.newest();
  const bool has_news = session.input_told != input_ack || (session.digest && !session.has_compared) ||
                        ticks_between(session.last_frame, tick_) >= kMaxTicksWithoutFrame;
  bool ran_out = true;  // of budget or datagrams; not of what to send
  std::uint32_t datagrams = 0;
  for (; datagrams < config_.max_datagrams_per_tick; ++datagrams) {
    if (!transport_.may_send(session.id)) break;
    const std::size_t room = transport_.payload_room(session.id);
    const Choice choice = session.view->choose(
        {.bytes = std::max(least_room, room > kFrameTableBytes ? room - kFrameTableBytes : 0),
         .per_block = sizeof(protocol::BlockEntry),
         .per_dropped = sizeof(protocol::DroppedChunk),
         .per_absent = sizeof(std::uint32_t)});
    ran_out = !(choice.empty() && !(datagrams == 0 && has_news)) && send_frame(session, choice);
    if (!ran_out) break;
  }
  const bool has_more = session.view->has_due() || (datagrams == 0 && has_news);
  transport_.set_state_waits(session.id, ran_out && has_more);
  session.view->end_tick(tick_);
}

bool Server::send_frame(Session& session, const Choice& choice) {
  const auto blocks = choice.blocks;
  auto& builder = transport_.builder();
  std::size_t body_bytes = 0;
  for (const ChosenBlock& block : blocks) body_bytes += block.body.size();
  std::uint8_t* body = nullptr;
  const auto bodies = builder.CreateUninitializedVector(body_bytes, sizeof(std::uint8_t), &body);
  for (const ChosenBlock& block : blocks) {
    body = std::copy_n(reinterpret_cast<const std::uint8_t*>(block.body.data()), block.body.size(), body);
  }
  // Not CreateUninitializedVectorOfStructs: FlatBuffers 2.0 aligns that to the struct's size, and 20 bytes are
  // no alignment; some lengths would give a frame that no verifier takes.
  const auto entries = builder.CreateVectorOfStructs<protocol::BlockEntry>(
      blocks.size(),
      [](std::size_t i, protocol::BlockEntry* entry, const std::span<const ChosenBlock>* chosen) {
        const ChosenBlock& block = (*chosen)[i];
        *entry = protocol::BlockEntry(block.chunk.value, block.from.value_or(block.to).value, block.to.value,
                                      block.hash, static_cast<std::uint16_t>(block.body.size()),
                                      block.epoch.value);
      },
      &blocks);
  flatbuffers::Offset<flatbuffers::Vector<const protocol::DroppedChunk*>> dropped;
  if (!choice.dropped.empty()) {
    dropped = builder.CreateVectorOfStructs<protocol::DroppedChunk>(
        choice.dropped.size(),
        [](std::size_t i, protocol::DroppedChunk* entry, const std::span<const DroppedChunk>* chosen) {
          *entry = protocol::DroppedChunk((*chosen)[i].chunk.value, (*chosen)[i].epoch.value);
        },
        &choice.dropped);
  }
  flatbuffers::Offset<flatbuffers::Vector<std::uint32_t>> absent;
  if (!choice.absent.empty()) {
    std::uint32_t* values = nullptr;
    absent = builder.CreateUninitializedVector(choice.absent.size(), &values);
    for (const ChunkId chunk : choice.absent) *values++ = flatbuffers::EndianScalar(chunk.value);
  }
  flatbuffers::Offset<protocol::Digest> digest;
  if (session.digest && !session.has_compared) {
    digest = protocol::CreateDigest(builder, tick_.value, session.digest->hash, session.digest->entities);
  }
  protocol::FrameBuilder frame(builder);
  frame.add_tick(tick_.value);
  if (const auto newest = session.inputs.newest()) frame.add_input_ack(newest->value);
  frame.add_blocks(entries);
  frame.add_bodies(bodies);
  if (!dropped.IsNull()) frame.add_dropped(dropped);
  if (!absent.IsNull()) frame.add_absent(absent);
  if (session.view->chunks_missing() > 0)
    frame.add_chunks_in_view(static_cast<std::uint32_t>(session.view->chunk_count()));
  if (!digest.IsNull()) frame.add_digest(digest);
  frame.add_phase(is_frozen() ? protocol::Phase::Frozen : protocol::Phase::Running);
  if (!session.player.is_null()) frame.add_controlled(session.player.bits());
  const auto sent = transport_.send(session.id, frame.Finish());
  if (!sent.ok()) {
    SHOAL_ASSERT(sent.error() != SendError::TooLarge, "a frame was filled beyond its datagram");
    return false;
  }
  session.view->sent(*sent, tick_);
  session.input_told = session.inputs.newest();
  session.last_frame = tick_;
  return true;
}

// --- what clients send -------------------------------------------------------------------------------------

PacketVerdict Server::on_packet(SessionId id, Sequence, const protocol::Packet& packet) {
  Session* session = find(id);
  const auto* update = packet.payload_as_ClientUpdate();
  if (!session || !update) return PacketVerdict::Acknowledge;
  if (!session->inputs.accept(*update) || fault("reject-inputs")) ++counters_.bad_updates;
  take_resyncs(*session, *update);
  if (update->digest()) take_digest(*session, *update->digest());
  return PacketVerdict::Acknowledge;
}

void Server::take_resyncs(Session& session, const protocol::ClientUpdate& update) {
  if (!update.resyncs()) return;
  if (update.resyncs()->size() > kMaxResyncsPerUpdate) {
    ++counters_.bad_updates;
    return;
  }
  for (const auto* resync : *update.resyncs()) {
    const ChunkId id{resync->chunk()};
    const Chunk* chunk = chunks_.find(id);
    if (session.view->on_resync(id, Epoch{resync->epoch()}, tick_) && chunk)
      report_mismatch(session, *resync, *chunk);
  }
}

// Names the component whose share of the state differs, while the version in question is still kept.
void Server::report_mismatch(Session& session, const protocol::Resync& resync, const Chunk& chunk) {
  const auto* hashes = resync.component_hashes();
  if (!hashes || hashes->size() != table_.size()) return;
  ++counters_.mismatches_reported;
  if (!std::exchange(session.has_reported_mismatch, true)) ++counters_.mismatched_sessions;
  const ChunkVersion* version = chunk.find(Tick{resync.to()});
  if (!version || !session.mismatch_lines.take(clock_->now()) || !may_log(mismatch_lines_, "mismatches"))
    return;
  for (ComponentIndex component = 0; component < table_.size(); ++component) {
    if (hashes->Get(component) == version->component_hash(component)) continue;
    log_warn(session.about, "player {}: chunk {} at tick {} differs in {}; sending it whole",
             session.number.value, chunk.id().value, resync.to(), table_[component].name);
    return;
  }
  log_warn(session.about, "player {}: chunk {} at tick {} differs in its bindings; sending it whole",
           session.number.value, chunk.id().value, resync.to());
}

void Server::take_digest(Session& session, const protocol::DigestReport& report) {
  if (!session.digest || session.has_compared) return;
  if (report.result() != protocol::DigestResult::Exact &&
      report.result() != protocol::DigestResult::Differs) {
    ++counters_.bad_updates;
    return;
  }
  session.has_compared = true;
  const bool exact = report.result() == protocol::DigestResult::Exact;
  ++(exact ? counters_.digests_exact : counters_.digests_different);
  if (!exact && may_log(mismatch_lines_, "mismatches")) {
    log_warn(session.about, "player {}: its mirror differs: {} entities there, {} here", session.number.value,
             report.entities(), session.digest->entities);
  }
}

// --- messages ----------------------------------------------------------------------------------------------

bool Server::on_message(SessionId id, ReceivedMessage message) {
  return messages_.take(id, std::move(message), clock_->now());
}

SessionId Server::session_of(PlayerNumber number) const {
  for (const auto& session : sessions_) {
    if (session && session->number == number) return session->id;
  }
  return {};
}

SessionId Server::session_of(Entity player) const {
  if (player.is_null()) return {};
  for (const auto& session : sessions_) {
    if (session && session->player == player) return session->id;
  }
  return {};
}

std::optional<PlayerNumber> Server::player_of(SessionId id) const {
  const Session* session = find(id);
  return session ? std::optional(session->number) : std::nullopt;
}

Entity Server::entity_of(SessionId id) const {
  const Session* session = find(id);
  return session ? session->player : kNullEntity;
}

bool Server::may_relay(SessionId id) {
  Session* session = find(id);
  if (session && session->relays.take(clock_->now())) return true;
  ++counters_.relays_refused;
  return false;
}

SessionId Server::session_at(std::uint32_t slot) const {
  return sessions_[slot] ? sessions_[slot]->id : SessionId{};
}

std::optional<Audience> Server::seen_by(const Session& session, Entity entity) const {
  for (unsigned i = 0; i < kAudiences; ++i) {
    const ChangeTracker::Binding binding = tracker_->binding(entity, static_cast<Audience>(i));
    if (binding.is_bound() && session.view->receives(chunks_[binding.chunk].id()))
      return static_cast<Audience>(i);
  }
  return std::nullopt;
}

std::optional<Tick> Server::seen_version(SessionId id, Entity entity) const {
  const Session* session = find(id);
  const std::optional<Audience> audience = session ? seen_by(*session, entity) : std::nullopt;
  return audience ? followed_version(entity, *audience) : std::nullopt;
}

std::optional<Tick> Server::followed_version(Entity entity, Audience audience) const {
  const ChangeTracker::Binding binding = tracker_->binding(entity, audience);
  if (!binding.is_bound() || chunks_.followers(binding.chunk) == 0) return std::nullopt;
  return chunks_[binding.chunk].current().tick();
}

Result<std::uint32_t, EventError> Server::queue_event(SessionId id, MessageChannel channel,
                                                      std::span<const std::byte> bytes) {
  const auto queued = transport_.queue_message(id, channel, bytes);
  if (queued) return *queued;
  if (queued.error() == QueueError::NoSession) return Failure{EventError::NotSeen};
  ++counters_.events_refused;
  return Failure{queued.error() == QueueError::TooLarge ? EventError::TooLarge : EventError::QueueFull};
}

std::size_t Server::queue_event_for_viewers(Entity entity, Audience audience, MessageChannel channel,
                                            std::span<const std::byte> bytes) {
  std::size_t count = 0;
  for (const auto& session : sessions_) {
    const bool is_viewer = session && (seen_by(*session, entity) == audience || fault("event-to-all"));
    if (is_viewer && queue_event(session->id, channel, bytes)) ++count;
  }
  return count;
}

std::size_t Server::queue_for_all(std::span<const std::byte> message) {
  std::size_t count = 0;
  for (const auto& session : sessions_) {
    if (!session) continue;
    const bool is_queued = transport_.queue_message(session->id, MessageChannel::Ordered, message).ok();
    ++(is_queued ? count : counters_.notices_refused);
  }
  return count;
}

void Server::announce(std::string_view text) {
  const std::string said = printable(text);
  counters_.announced +=
      queue_for_all(messages_.encode_plain<service::Announcement>([&](MessageRouter::Builder& builder) {
        return service::CreateAnnouncement(builder, builder.CreateString(said));
      }));
}

void Server::begin_drain(Duration left, std::string_view text) {
  if (std::exchange(is_draining_, true)) return;
  transport_.start_draining();
  const std::string said = printable(text);
  queue_for_all(messages_.encode_plain<service::ServerEnding>([&](MessageRouter::Builder& builder) {
    return service::CreateServerEnding(builder, static_cast<float>(to_seconds(left)),
                                       builder.CreateString(said));
  }));
}

// --- sessions ----------------------------------------------------------------------------------------------

void Server::on_joined(SessionId id, const JoinRequest& request) {
  auto session = std::make_unique<Session>();
  session->id = id;
  session->player_id = request.player;
  if (!is_exempt(config_.admission.limits, request.peer)) session->holder = holder_of(request.peer);
  const bool is_back = take_back(*session);
  if (!is_back) session->number = {++players_};
  session->view = std::make_unique<ClientView>(chunks_, config_.interest, replication_, full_states_);
  session->last_frame = tick_ - kMaxTicksWithoutFrame;
  session->about = {to_string(id), to_string(request.player), {}};
  session->joined_at = clock_->now();
  ++counters_.joined;
  if (may_log(lines_, "players")) {
    LogFields about = session->about;
    about.peer = to_string(request.peer);
    log_info(about, "player {} {} from {} as {}{}{}", session->number.value, is_back ? "is back" : "joined",
             to_string(request.peer), to_string(request.player), request.name.empty() ? "" : ", ",
             request.name);
  }
  sessions_[id.index] = std::move(session);
  if (!is_back) joining_.push_back(id);
}

void Server::on_left(SessionId id, CloseReason reason) {
  Session* session = find(id);
  if (!session) return;
  ++counters_.left;
  if (reason == CloseReason::TimedOut) ++counters_.timed_out;
  if (may_log(lines_, "players"))
    log_info(session->about, "player {} left: {}", session->number.value, to_string(reason));
  end_player(*session, reason);
  sessions_[id.index].reset();
  messages_.end_session(id);
}

void Server::on_refused(const Endpoint& peer, RefuseReason reason, std::string_view detail) {
  if (!may_log(refusal_lines_, "refusals")) return;
  log_info(LogFields{.peer = to_string(peer)}, "refused {}: {}{}{}", to_string(peer), to_string(reason),
           detail.empty() ? "" : ": ", detail);
}

void Server::on_acknowledged(SessionId id, Sequence sequence) {
  if (Session* session = find(id)) session->view->on_acknowledged(sequence);
}
void Server::on_lost(SessionId id, Sequence sequence) {
  if (Session* session = find(id)) session->view->on_lost(sequence);
}

SessionStatus Server::status_of(const Session& session) const {
  SessionStatus status;
  status.number = session.number;
  status.player = transport_.player(session.id);
  status.peer = transport_.peer(session.id);
  status.entity = session.player;
  status.joined_at = session.joined_at;
  status.rtt = transport_.rtt(session.id);
  status.jitter = transport_.rtt_deviation(session.id);
  status.traffic = transport_.traffic(session.id);
  status.may_send_bytes_per_second = transport_.bytes_per_second(session.id);
  status.chunks = session.view->chunk_count();
  status.chunks_missing = session.view->chunks_missing();
  status.longest_wait_ticks = session.view->longest_wait(tick_);
  return status;
}

bool Server::kick(PlayerNumber number, std::string_view why) {
  const SessionId session = session_of(number);
  if (session.is_null()) return false;
  transport_.close(session, CloseReason::Kicked, why);
  return true;
}

// --- the end -----------------------------------------------------------------------------------------------

void Server::freeze() {
  if (!is_frozen()) frozen_at_ = clock_->now();
}

bool Server::all_compared() const {
  if (!is_frozen()) return false;
  return std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return !session || session->has_compared; });
}

void Server::shut_down() {
  transport_.shut_down();
}

}  // namespace shoal
