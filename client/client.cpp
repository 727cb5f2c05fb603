#include "client/client.hpp"

#include <algorithm>

#include "schema/service_generated.h"
#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"

namespace shoal {
namespace {

/// Ticks by which inputs arrive ahead of their tick, against jitter.
constexpr std::uint32_t kInputLeadTicks = 2;
/// Ticks by which inputs may run ahead of that. A server that stood still, or a path that was slow for a moment, leaves
/// them further ahead: then some are left out until time has caught up, else each would wait at the server for ever.
constexpr std::int32_t kMaxInputSurplusTicks = 2;
/// A server that is not heard is held to go on for so many ticks.
constexpr std::uint32_t kMaxTicksUnheard = 32;
/// Chunks asked for in one update; the others come with the next.
constexpr std::size_t kMaxResyncsPerUpdate = 16;

ClientTransportConfig transport_config(const ClientConfig& config, const ComponentTable& table) {
  ClientTransportConfig result;
  result.server = config.server;
  result.schema = schema_versions(table);
  result.connect_time_out = config.connect_time_out;
  result.server_key = config.server_key;
  result.credential_kind = config.credential_kind;
  result.credentials = config.credentials;
  result.player_key = config.player_key;
  result.allow_aes = config.allow_aes;
  return result;
}

}  // namespace

Client::World::World(const ComponentTable& table, const ClientConfig& config)
    : registry(RegistryLimits{.max_entities = config.max_entities}),
      mirror((config.register_components(registry), registry.freeze(), table), registry) {}

Client::Client(DatagramPort& port, const Clock& clock, Entropy& entropy, ClientConfig config)
    : clock_(&clock),
      config_(std::move(config)),
      table_(config_.components),
      messages_(
          [this](SessionId, MessageChannel channel, std::span<const std::byte> message) {
            return transport_.queue_message(channel, message);
          },
          true),
      transport_(port, clock, entropy, transport_config(config_, table_), *this) {
  listen_to_server();
}

// What shoal's server says by itself, beside the game's messages.
void Client::listen_to_server() {
  messages_.on<service::Announcement>(
      [this](const MessageSource&, const service::Announcement& announcement) {
        if (config_.on_announcement && announcement.text())
          config_.on_announcement(printable(announcement.text()->string_view()));
      });
  messages_.on<service::ServerEnding>([this](const MessageSource&, const service::ServerEnding& ending) {
    // A number of the wire: anything that is no time to come means now. No server drains for longer than a day.
    const double left = ending.seconds() > 0 ? std::min(double{ending.seconds()}, 86'400.0) : 0.0;
    const Duration until_then = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(left));
    server_ends_at_ = clock_->now() + until_then;
    if (config_.on_server_ending)
      config_.on_server_ending(until_then, ending.text() ? printable(ending.text()->string_view()) : "");
  });
}

void Client::on_connected(const AcceptBody& accept) {
  world_ = std::make_unique<World>(table_, config_);
  inputs_ = {};
  tick_rate_hz_ = std::clamp<std::uint32_t>(accept.tick_rate_hz, 1, 1000);
  newest_tick_.reset();
  last_input_tick_.reset();
  controlled_ = {};
  is_frozen_ = false;
  chunks_in_view_.reset();
  comparison_ = Comparison::None;
  server_ends_at_.reset();
  if (config_.on_world) config_.on_world(world_->registry);
}

void Client::on_closed(CloseReason, std::string_view) {
  log_debug("{}", describe_close());
  messages_.end_session({});
}

bool Client::on_message(ReceivedMessage message) {
  return messages_.take({}, std::move(message), clock_->now());
}

void Client::poll() {
  transport_.poll();
  const Time now = clock_->now();
  messages_.tick(now);
  messages_.release_events(now, [this](std::uint64_t entity, Tick version) {
    return world_ && world_->mirror.is_as_new_as(Entity::from_bits(entity), version);
  });
}

PacketVerdict Client::on_packet(Sequence, const protocol::Packet& packet) {
  const auto* frame = packet.payload_as_Frame();
  if (!frame || !world_) return PacketVerdict::Acknowledge;
  ++measures_.frames;
  const Tick tick{frame->tick()};
  if (!newest_tick_ || tick > *newest_tick_) {
    newest_tick_ = tick;
    newest_tick_at_ = clock_->now();
    if (frame->controlled() != 0) controlled_ = Entity::from_bits(frame->controlled());
    is_frozen_ = frame->phase() == protocol::Phase::Frozen;
    const auto in_view = frame->chunks_in_view();
    chunks_in_view_ = in_view ? std::optional(*in_view) : std::nullopt;
  }
  if (const auto ack = frame->input_ack()) inputs_.acknowledge(Tick{*ack});
  if (frame->dropped()) {
    for (const auto* dropped : *frame->dropped())
      world_->mirror.drop(ChunkId{dropped->chunk()}, Epoch{dropped->epoch()});
  }
  const PacketVerdict verdict = take_blocks(*frame);
  if (frame->digest() && state() == ClientState::Connected) compare(*frame->digest());
  return fault("acknowledge-unverified") ? PacketVerdict::Acknowledge : verdict;
}

PacketVerdict Client::take_blocks(const protocol::Frame& frame) {
  if (!frame.blocks()) return PacketVerdict::Acknowledge;
  const auto bodies = frame.bodies()
                          ? std::as_bytes(std::span(frame.bodies()->data(), frame.bodies()->size()))
                          : std::span<const std::byte>{};
  std::size_t total = 0;
  for (const auto* entry : *frame.blocks()) total += entry->length();
  if (total != bodies.size()) {
    ++measures_.bad_frames;
    return PacketVerdict::Ignore;
  }
  absent_.clear();
  if (frame.absent()) {
    for (const std::uint32_t chunk : *frame.absent()) absent_.push_back(ChunkId{chunk});
  }
  PacketVerdict verdict = PacketVerdict::Acknowledge;
  std::size_t offset = 0;
  for (const auto* entry : *frame.blocks()) {
    const bool is_full = entry->from() == entry->to();
    const ReceivedBlock block{ChunkId{entry->chunk()},
                              Epoch{entry->epoch()},
                              is_full ? std::nullopt : std::optional(Tick{entry->from()}),
                              Tick{entry->to()},
                              entry->hash(),
                              bodies.subspan(offset, entry->length()),
                              absent_};
    offset += entry->length();
    const std::uint64_t updates_before = world_->mirror.counters().entity_updates;
    const BlockOutcome outcome = world_->mirror.apply(block);
    if (!may_be_acknowledged(outcome)) verdict = PacketVerdict::Ignore;
    if (outcome == BlockOutcome::Refused) {
      // It would be sent again for ever, and what cannot be shown would not be missed by anyone.
      transport_.close(
          CloseReason::ProtocolError,
          fmt::format("chunk {} is beyond this client's limits ({} entities, {} chunks): raise max_entities",
                      block.chunk.value, config_.max_entities, kMaxMirrorChunks));
      return PacketVerdict::Ignore;
    }
    if (outcome == BlockOutcome::Applied && !is_full) {
      const auto baseline_age = static_cast<std::size_t>(std::max(0, ticks_between(*block.from, block.to)));
      AgeBucket& bucket =
          measures_.by_baseline_age[std::min(baseline_age, measures_.by_baseline_age.size() - 1)];
      ++bucket.blocks;
      bucket.bytes += entry->length() + sizeof(protocol::BlockEntry);
      bucket.updates += world_->mirror.counters().entity_updates - updates_before;
      const auto ticks = static_cast<std::uint64_t>(std::max(0, ticks_between(block.to, Tick{frame.tick()})));
      const auto half_rtt = static_cast<std::uint64_t>(transport_.rtt().count() / 2000);
      measures_.update_age_us.add(ticks * 1'000'000 / tick_rate_hz_ + half_rtt);
    }
  }
  return verdict;
}

void Client::compare(const protocol::Digest& digest) {
  if (comparison_ == Comparison::Exact) return;
  compared_tick_ = Tick{digest.tick()};
  own_digest_ = digest_world(world_->registry, table_);
  const bool exact = own_digest_ == WorldDigest{digest.hash(), digest.entities()};
  comparison_ = exact ? Comparison::Exact : Comparison::Different;
}

double Client::join_progress() const {
  if (!world_ || !newest_tick_) return 0;
  if (!chunks_in_view_) return 1;
  const auto shown = static_cast<double>(world_->mirror.shown_count());
  return std::min(1.0, shown / std::max(1.0, static_cast<double>(*chunks_in_view_)));
}

Tick Client::server_tick() const {
  if (!newest_tick_) return {};
  const Duration most = Duration(seconds(1)) * kMaxTicksUnheard / tick_rate_hz_;
  const Duration since = std::min(clock_->now() - newest_tick_at_ + transport_.rtt() / 2, most);
  return *newest_tick_ + static_cast<std::uint32_t>(since.count() * tick_rate_hz_ / 1'000'000'000);
}

bool Client::add_input(std::span<const std::byte> input) {
  if (!newest_tick_) return false;  // the server's time is not known yet
  const auto ahead = static_cast<std::uint32_t>(transport_.rtt().count() / 2 * tick_rate_hz_ / 1'000'000'000);
  Tick tick = server_tick() + ahead + kInputLeadTicks;
  if (last_input_tick_ && tick <= *last_input_tick_) {
    if (ticks_between(tick, *last_input_tick_) >= kMaxInputSurplusTicks) return false;
    tick = *last_input_tick_ + 1;
  }
  last_input_tick_ = tick;
  inputs_.push(tick, input);
  return true;
}

void Client::send_update() {
  // Nothing is lost by waiting: what is not acknowledged stands in the next update as well.
  if (!transport_.may_send()) return;
  auto& builder = transport_.builder();
  const auto inputs = inputs_.build(builder, transport_.payload_room() / 2);
  std::vector<flatbuffers::Offset<protocol::Resync>> resyncs;
  for (const auto& wanted : world_->mirror.wanted()) {
    if (resyncs.size() == kMaxResyncsPerUpdate) break;
    const auto hashes = wanted.component_hashes.empty() || wanted.component_hashes.size() > 32
                            ? flatbuffers::Offset<flatbuffers::Vector<std::uint32_t>>()
                            : builder.CreateVector(wanted.component_hashes);
    resyncs.push_back(protocol::CreateResync(builder, wanted.chunk.value, wanted.epoch.value,
                                             wanted.failed_at.value, hashes));
    if (builder.GetSize() > transport_.payload_room() / 2) break;  // the others come with the next update
  }
  flatbuffers::Offset<protocol::DigestReport> report;
  if (comparison_ != Comparison::None) {
    const auto result =
        comparison_ == Comparison::Exact ? protocol::DigestResult::Exact : protocol::DigestResult::Differs;
    report = protocol::CreateDigestReport(builder, compared_tick_.value, result, own_digest_.hash,
                                          own_digest_.entities);
  }
  const auto resync_vector = resyncs.empty() ? 0 : builder.CreateVector(resyncs);
  protocol::ClientUpdateBuilder update(builder);
  if (newest_tick_) update.add_newest_tick(newest_tick_->value);
  update.add_inputs(inputs);
  update.add_resyncs(resync_vector);
  update.add_digest(report);
  // A lost update is no loss: the next one carries the same, and a session without an end will time out.
  (void)transport_.send(update.Finish()).ok();
}

}  // namespace shoal
