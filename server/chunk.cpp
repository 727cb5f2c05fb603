#include "server/chunk.hpp"

#include <algorithm>
#include <bit>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

/// What a block can tell: who left the baseline's slots, and kMaxExtraDepartures more. A baseline with more behind it
/// is answered by the full state anyway, and a client that acknowledges nothing must not make the log grow for ever.
constexpr std::size_t kMaxLoggedDepartures = kChunkSlots + kMaxExtraDepartures;

}  // namespace

Chunk::Chunk(const ComponentTable& table, ColumnPool& pool, ChunkId id)
    : table_(&table),
      id_(id),
      pending_(std::make_unique<ChunkVersion>(table, pool, id)),
      worst_bits_(worst_full_state_bits(table)) {}

Chunk::Version* Chunk::find_version(Tick tick) const {
  for (auto version = versions_.rbegin(); version != versions_.rend(); ++version) {
    if ((*version)->state.tick() == tick) return version->get();
  }
  return nullptr;
}

const ChunkVersion* Chunk::find(Tick tick) const {
  const Version* version = find_version(tick);
  return version ? &version->state : nullptr;
}

std::size_t Chunk::bound_count() const {
  return static_cast<std::size_t>(std::popcount(pending_->bound()));
}

std::size_t Chunk::slot_bits(Slot slot) const {
  std::size_t bits = table_->worst_slot_bits(id_.audience());
  for (const ComponentIndex component : table_->of(id_.audience())) {
    if (pending_->present(component) & slot_bit(slot)) bits += table_->value_bits(component);
  }
  return bits;
}

Slot Chunk::bind(Entity entity) {
  const auto slot = static_cast<Slot>(std::countr_one(pending_->bound()));
  SHOAL_ASSERT(slot < kChunkSlots, "the chunk has no free slot");
  pending_->bind(slot, entity);
  worst_bits_ += table_->worst_slot_bits(id_.audience());
  dirty_ = true;
  return slot;
}

void Chunk::unbind(Slot slot, Tick now, DepartureReason reason, ChunkId target) {
  worst_bits_ -= slot_bits(slot);
  departures_.push_back({now, slot, pending_->id(slot), reason, target});
  if (!fault("skip-unbind")) pending_->unbind(slot);
  dirty_ = true;
}

void Chunk::add_component(ComponentIndex component, Slot slot) {
  pending_->add_component(component, slot);
  worst_bits_ += table_->value_bits(component);
  dirty_ = true;
}

void Chunk::remove_component(ComponentIndex component, Slot slot) {
  pending_->remove_component(component, slot);
  worst_bits_ -= table_->value_bits(component);
  dirty_ = true;
}

bool Chunk::set_values(ComponentIndex component, Slot slot, std::span<const std::uint32_t> values) {
  const ColumnIndex first = (*table_)[component].first_column;
  bool changed = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto column = first + static_cast<ColumnIndex>(i);
    if (pending_->value(column, slot) == values[i]) continue;
    pending_->set_value(column, slot, values[i]);
    changed = true;
  }
  dirty_ = dirty_ || changed;
  return changed;
}

std::unique_ptr<Chunk::Version> Chunk::take_version() {
  if (spare_.empty()) return std::make_unique<Version>(Version{*pending_, 0, 0, 0});
  auto version = std::move(spare_.back());
  spare_.pop_back();
  version->state = *pending_;
  return version;
}

void Chunk::commit(Tick now) {
  SHOAL_ASSERT(versions_.empty() || now > current().tick(), "versions follow each other in time");
  pending_->set_tick(now);
  auto version = take_version();
  version->hash = version->state.hash();
  version->pins = 0;
  version->acknowledgements = 0;
  versions_.push_back(std::move(version));
  encoded_count_ = 0;
  without_delta_.clear();
  dirty_ = false;
}

const EncodedBlock* Chunk::encode(std::optional<Tick> from, std::uint64_t& blocks_encoded,
                                  EncodedShares* shares) {
  for (std::size_t i = 0; i < encoded_count_; ++i) {
    if (encoded_[i]->from == from) return encoded_[i].get();
  }
  const ChunkVersion* baseline = from ? find(*from) : nullptr;
  if (from && !baseline) return nullptr;
  if (from && std::find(without_delta_.begin(), without_delta_.end(), *from) != without_delta_.end())
    return encode(std::nullopt, blocks_encoded, shares);
  if (encoded_count_ == encoded_.size()) encoded_.push_back(std::make_unique<EncodedBlock>());
  EncodedBlock& block = *encoded_[encoded_count_];
  block.size = encode_block(baseline, current(), departures_, block.bytes, shares);
  if (block.size == 0) {
    SHOAL_ASSERT(from, "a chunk is filled only as far as its full state fits a datagram");
    without_delta_.push_back(*from);
    return encode(std::nullopt, blocks_encoded, shares);
  }
  if (fault("corrupt-block") && from && current().tick().value % 8 == 0)
    block.bytes[block.size / 2] ^= std::byte{0x10};
  block.moved_to.clear();
  for (auto line = departures_.rbegin(); from && line != departures_.rend() && line->tick > *from; ++line) {
    const bool is_new =
        line->reason == DepartureReason::Moved &&
        std::find(block.moved_to.begin(), block.moved_to.end(), line->target) == block.moved_to.end();
    if (is_new) block.moved_to.push_back(line->target);
  }
  block.from = from;
  block.hash = versions_.back()->hash;
  ++encoded_count_;
  ++blocks_encoded;
  return &block;
}

void Chunk::count_acknowledgement(Tick tick) {
  if (Version* version = find_version(tick)) ++version->acknowledgements;
}

std::uint32_t Chunk::acknowledgements(Tick tick) const {
  const Version* version = find_version(tick);
  return version ? version->acknowledgements : 0;
}

bool Chunk::pin(Tick tick) {
  Version* version = find_version(tick);
  if (!version) return false;
  ++version->pins;
  return true;
}

void Chunk::unpin(Tick tick) {
  Version* version = find_version(tick);
  if (version && version->pins > 0) --version->pins;
}

bool Chunk::trim(Tick now) {
  if (versions_.size() < 2) return false;
  // With the fault baselines fall out of the history all the time, as under a crowd of slow clients.
  const bool is_short = fault("short-history");
  const std::int32_t history = is_short ? 6 : static_cast<std::int32_t>(kHistoryTicks);
  const std::size_t most_pinned = is_short ? 1 : kPinnedVersions;
  const auto is_young = [&](const Version& version) {
    return ticks_between(version.state.tick(), now) < history;
  };
  if (is_young(*versions_.front()) || fault("keep-old-versions")) return true;
  std::size_t old_pinned = 0;
  std::size_t later_departures = 0;  // than the version at hand
  bool any_dropped = false;
  // From the newest down, so that of the old pinned versions the newest stay.
  for (std::size_t i = versions_.size() - 1; i-- > 0;) {
    Version& version = *versions_[i];
    if (is_young(version)) continue;
    while (later_departures < departures_.size() &&
           departures_[departures_.size() - 1 - later_departures].tick > version.state.tick()) {
      ++later_departures;
    }
    const bool is_of_use = version.pins > 0 && later_departures <= kMaxLoggedDepartures;
    if (is_of_use && ++old_pinned <= most_pinned) continue;
    version.state.clear();  // lets go of the columns
    spare_.push_back(std::move(versions_[i]));
    any_dropped = true;
  }
  if (any_dropped) {
    std::erase(versions_, nullptr);
    const Tick oldest = versions_.front()->state.tick();
    std::erase_if(departures_, [&](const Departure& line) { return line.tick <= oldest; });
  }
  return versions_.size() > 1;
}

}  // namespace shoal
