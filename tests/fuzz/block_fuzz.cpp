// Blocks to a mirror: arbitrary bodies, and real ones of arbitrary states with lies in them, against any baseline, in
// any order. The hash is made to fit whatever decodes, so that it is really applied: what the mirror does then must
// not depend on the server's honesty.
//
// An input: operations until it ends; see `Operation`.
#include <array>
#include <deque>
#include <map>
#include <set>

#include "client/mirror.hpp"
#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/base/assert.hpp"
#include "shared/base/limits.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

using namespace demo;

enum class Operation : std::uint8_t {
  Raw,       // where, baseline, flags (Flag), length u16, body
  Real,      // where, baseline, flags (Flag), edits of the baseline's state (Edit)
  Drop,      // chunk, epoch
  OldBlock,  // which: comes again
};
constexpr std::uint32_t kOperations = 4;
enum Flag : unsigned {
  kFalseHash = 1,
  kDamaged = 2,   // patches: count, each offset u16, xor
  kFarTick = 4,   // any; else a little before or after the newest of the chunk
  kFarChunk = 8,  // any; else one of four: two for everyone, one for a team, one for an owner
  kEpoch = 16,    // any; else 1
  kAbsent = 32,   // none of the four is received, by the block's word
};
enum class Edit : std::uint8_t { Bind, Unbind, Add, Remove, Value, Passing };
constexpr std::uint32_t kEdits = 6;

constexpr std::uint32_t kMaxEntities = 128;
constexpr std::uint32_t kNearChunks = 4;
constexpr ChunkId near_chunk(std::uint32_t number) {
  const Audience audience = number < 2 ? Audience::Everyone : number == 2 ? Audience::Team : Audience::Owner;
  return ChunkId::of(audience, number);
}
constexpr std::array kAllNearChunks{near_chunk(0), near_chunk(1), near_chunk(2), near_chunk(3)};
constexpr int kMaxOperations = 200;
// Who has a component, as the signals tell it.
template <class T>
class Book {
 public:
  explicit Book(Registry& registry)
      : registry_(&registry),
        constructed_(registry.on_construct<T>().connect_scoped([this](Registry& r, Entity e) {
          SHOAL_ASSERT(r.all_of<T>(e), "what was constructed is there");
          SHOAL_ASSERT(entities_.insert(e).second, "it is constructed once");
        })),
        updated_(registry.on_update<T>().connect_scoped([this](Registry& r, Entity e) {
          SHOAL_ASSERT(r.all_of<T>(e) && entities_.contains(e), "what is updated was constructed");
        })),
        destroyed_(registry.on_destroy<T>().connect_scoped([this](Registry& r, Entity e) {
          SHOAL_ASSERT(r.all_of<T>(e), "what is about to go is still there");
          SHOAL_ASSERT(entities_.erase(e) == 1, "what goes was constructed");
        })) {}

  void check() const {
    SHOAL_ASSERT(registry_->storage<T>().size() == entities_.size(), "the signals told of all that is there");
  }

 private:
  Registry* registry_;
  std::set<Entity> entities_;
  ScopedConnection constructed_;
  ScopedConnection updated_;
  ScopedConnection destroyed_;
};

class BlockFuzz {
 public:
  explicit BlockFuzz(FuzzInput& input)
      : input_(input), registry_(RegistryLimits{.max_entities = kMaxEntities}) {
    register_components(registry_);
    registry_.freeze();
    mirror_.emplace(table_, registry_);
    health_.emplace(registry_);
    ai_.emplace(registry_);
    burning_.emplace(registry_);
  }

  void run() {
    for (int i = 0; i < kMaxOperations && !input_.empty(); ++i) {
      switch (static_cast<Operation>(input_.below(kOperations))) {
        case Operation::Raw:
          raw();
          break;
        case Operation::Real:
          real();
          break;
        case Operation::Drop:
          mirror_->drop(near_chunk(input_.below(kNearChunks)), Epoch{input_.byte()});
          break;
        case Operation::OldBlock:
          if (!old_.empty()) apply(old_[input_.byte() % old_.size()]);
          break;
      }
      check();
    }
  }

 private:
  struct Made {
    ReceivedBlock block;  // its body is `bytes`
    std::vector<std::byte> bytes;
  };
  struct Place {
    ChunkId chunk;
    Epoch epoch;
    Tick to;
    unsigned flags;
    const ChunkVersion* from;          // what the mirror has, too, or null
    std::optional<Tick> named_from{};  // what the block says
  };

  Place read_place() {
    Place place{};
    place.flags = input_.byte();
    place.chunk =
        (place.flags & kFarChunk) != 0 ? ChunkId{input_.u32()} : near_chunk(input_.below(kNearChunks));
    place.epoch.value = (place.flags & kEpoch) != 0 ? input_.u16() : std::uint16_t{1};
    auto& versions = versions_[place.chunk.value];
    const std::uint32_t baseline = input_.byte();
    if (baseline == 0xFF) {
      place.named_from = Tick{input_.u32()};  // perhaps there by chance
      const auto found = versions.find(place.named_from->value);
      place.from = found == versions.end() ? nullptr : &found->second;
    } else if (baseline != 0 && !versions.empty()) {
      place.from =
          &std::next(versions.begin(), static_cast<std::ptrdiff_t>(baseline % versions.size()))->second;
      place.named_from = place.from->tick();
    }
    const std::uint32_t newest = versions.empty() ? 100 : versions.rbegin()->first;
    place.to.value = (place.flags & kFarTick) != 0 ? input_.u32() : newest + input_.below(8) - 2;
    return place;
  }

  void raw() {
    const Place place = read_place();
    const auto body = input_.bytes(input_.u16() % kMaxPacketBodyBytes);
    finish(place, {body.begin(), body.end()});
  }

  void real() {
    const Place place = read_place();
    if (!place.chunk.is_valid()) return;  // no version has such an id
    ChunkVersion next = place.from ? *place.from : ChunkVersion(table_, pool_, place.chunk);
    next.set_tick(place.to);
    departures_.clear();
    for (std::uint32_t edits = input_.below(40); edits > 0; --edits) edit(next, place.to);
    std::array<std::byte, kMaxPacketBodyBytes> bytes;
    // Encoding needs an older baseline; the mirror is told of it all the same.
    if (place.from && place.from->tick() >= place.to) return;
    const std::size_t size = encode_block(place.from, next, departures_, bytes);
    if (size == 0) return;
    finish(place, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
  }

  Entity any_entity() {
    const std::uint32_t form = input_.byte();
    if (form == 0xFF) return {input_.u32(), input_.u32()};
    return {form % 24, 1 + input_.below(3)};
  }
  Departure any_departure(Slot slot, Entity entity, Tick now) {
    Departure departure{
        now, slot, entity, static_cast<DepartureReason>(input_.below(kWireDepartureReasons)), {}};
    departure.target.value = input_.below(kNearChunks + 1);
    departure.tick = now - input_.below(3);
    return departure;
  }
  void edit(ChunkVersion& version, Tick now) {
    const auto kind = static_cast<Edit>(input_.below(kEdits));
    const Slot slot = input_.below(kChunkSlots);
    const auto components = table_.of(version.chunk().audience());
    const ComponentIndex component = components[input_.below(static_cast<std::uint32_t>(components.size()))];
    const bool has = (version.present(component) & slot_bit(slot)) != 0;
    switch (kind) {
      case Edit::Bind: {
        const Entity entity = any_entity();
        if (!version.is_bound(slot) && !entity.is_null()) version.bind(slot, entity);
        return;
      }
      case Edit::Unbind:
        if (!version.is_bound(slot)) return;
        departures_.push_back(any_departure(slot, version.id(slot), now));
        return version.unbind(slot);
      case Edit::Passing:
        departures_.push_back(any_departure(slot, any_entity(), now));
        return;
      case Edit::Add:
        if (version.is_bound(slot) && !has) version.add_component(component, slot);
        return;
      case Edit::Remove:
        if (has) version.remove_component(component, slot);
        return;
      case Edit::Value: {
        const unsigned columns = table_[component].column_count;
        if (!has || columns == 0) return;
        const ColumnIndex column = table_[component].first_column + input_.below(columns);
        const unsigned bits = table_.columns()[column].bits;
        const std::uint32_t value = bits <= 8 ? input_.byte() : input_.u32() & 0xFFFFFF;
        return version.set_value(column, slot, bits == 32 ? value : value & ((1u << bits) - 1));
      }
    }
  }

  void finish(const Place& place, std::vector<std::byte> bytes) {
    if ((place.flags & kDamaged) != 0 && !bytes.empty()) {
      for (std::uint32_t i = input_.below(6); i > 0; --i) {
        const std::size_t at = input_.u16() % bytes.size();
        bytes[at] ^= static_cast<std::byte>(input_.byte());
      }
    }
    Made made{{.chunk = place.chunk,
               .epoch = place.epoch,
               .from = place.named_from,
               .to = place.to,
               .hash = 0,
               .body = {}},
              std::move(bytes)};
    if ((place.flags & kAbsent) != 0) made.block.absent = kAllNearChunks;
    if ((place.flags & kFalseHash) == 0) made.block.hash = hash_of(place, made.bytes);
    if (old_.size() == 32) old_.pop_front();
    apply(old_.emplace_back(std::move(made)));
  }

  // What it decodes to; kept as a version that later blocks may start from.
  std::uint32_t hash_of(const Place& place, std::span<const std::byte> bytes) {
    if (!place.chunk.is_valid()) return 0;
    std::vector<Departure> ignored;
    auto decoded = decode_block(table_, pool_, place.chunk, place.from, place.to, bytes, ignored);
    if (!decoded.ok()) return 0;
    const std::uint32_t hash = decoded->hash();
    auto& versions = versions_[place.chunk.value];
    versions.emplace(place.to.value, *decoded);
    if (versions.size() > 2 * kMaxMirrorVersions) versions.erase(versions.begin());
    return hash;
  }

  void apply(Made& made) {
    made.block.body = made.bytes;
    const ChunkVersion* const before = mirror_->shown(made.block.chunk);
    const bool was_shown = before != nullptr;
    const Tick tick_before = was_shown ? before->tick() : Tick{};
    const BlockOutcome outcome = mirror_->apply(made.block);
    const ChunkVersion* const shown = mirror_->shown(made.block.chunk);
    const bool is_same = was_shown ? shown && shown->tick() == tick_before : !shown;
    if (is_same) return;
    SHOAL_ASSERT(outcome == BlockOutcome::Applied, "a bad block changes nothing that is shown");
    SHOAL_ASSERT(shown && shown->tick() == made.block.to && shown->hash() == made.block.hash,
                 "what is shown was proved");
  }

  void check() const {
    health_->check();
    ai_->check();
    burning_->check();
    SHOAL_ASSERT(registry_.alive_count() <= kMaxEntities, "the mirror is bounded");
    SHOAL_ASSERT(mirror_->version_count() <= mirror_->chunk_count() * kMaxMirrorVersions,
                 "history is bounded");
    SHOAL_ASSERT(mirror_->wanted().size() <= mirror_->chunk_count(), "each chunk is asked for once");
  }

  FuzzInput& input_;
  ComponentTable table_{component_descriptors()};
  ColumnPool pool_;
  Registry registry_;
  std::optional<Mirror> mirror_;
  std::optional<Book<Health>> health_;
  std::optional<Book<AI>> ai_;
  std::optional<Book<Burning>> burning_;
  std::map<std::uint32_t, std::map<std::uint32_t, ChunkVersion>> versions_;  // by chunk, by tick
  std::deque<Made> old_;
  std::vector<Departure> departures_;
};

SeedWriter& operator<<(SeedWriter& writer, Operation operation) {
  return writer.byte(static_cast<unsigned>(operation));
}
SeedWriter& operator<<(SeedWriter& writer, Edit edit) {
  return writer.byte(static_cast<unsigned>(edit));
}

// An edit that needs neither slot nor component reads them all the same.
void bind(SeedWriter& writer, unsigned slot, unsigned index, unsigned generation) {
  (writer << Edit::Bind).byte(slot).byte(0).byte(index).byte(generation - 1);
}
void add(SeedWriter& writer, unsigned slot, unsigned component) {
  (writer << Edit::Add).byte(slot).byte(component);
}

}  // namespace

std::vector<Seed> seeds() {
  std::vector<Seed> result;
  {
    SeedWriter writer;  // a full state, then a change of it, then a death
    (writer << Operation::Real).byte(0).byte(1).byte(0).byte(3).byte(6);
    for (unsigned i = 0; i < 3; ++i) bind(writer, i, i, 1);
    for (unsigned i = 0; i < 3; ++i) add(writer, i, i);
    (writer << Operation::Real).byte(0).byte(1).byte(1).byte(4).byte(3);
    add(writer, 0, 5);
    bind(writer, 5, 9, 2);
    (writer << Edit::Value).byte(1).byte(1).byte(0).u32(77);
    (writer << Operation::Real).byte(0).byte(1).byte(1).byte(4).byte(1);
    (writer << Edit::Unbind).byte(0).byte(0).byte(0).byte(0).byte(0);
    result.push_back({"life", writer.written()});
  }
  {
    SeedWriter writer;  // moves to another chunk, which has it already; a passing one; a baseline of long ago
    (writer << Operation::Real).byte(0).byte(0).byte(0).byte(3).byte(2);
    bind(writer, 3, 7, 1);
    add(writer, 3, 1);
    (writer << Operation::Real).byte(0).byte(0).byte(1).byte(4).byte(2);
    (writer << Edit::Unbind).byte(3).byte(0).byte(1).byte(1).byte(0);
    (writer << Edit::Passing).byte(4).byte(0).byte(8).byte(0).byte(0).byte(0).byte(0);
    (writer << Operation::Real).byte(0).byte(1).byte(0).byte(4).byte(1);
    bind(writer, 9, 7, 1);
    (writer << Operation::Drop).byte(1).byte(1);
    (writer << Operation::OldBlock).byte(0);
    result.push_back({"move", writer.written()});
  }
  {
    SeedWriter writer;  // damaged on the way, with a hash that fits
    (writer << Operation::Real).byte(kDamaged).byte(2).byte(0).byte(3).byte(4);
    for (unsigned i = 0; i < 2; ++i) bind(writer, 10 * i, i, 2);
    for (unsigned i = 0; i < 2; ++i) add(writer, 10 * i, 3);
    writer.byte(2).u16(1).byte(4).u16(9).byte(0x80);
    (writer << Operation::Raw).byte(kFarTick | kEpoch).byte(2).u16(2).byte(1).u32(500).u16(4).u32(0xFFFF0001);
    (writer << Operation::Raw).byte(kFalseHash).byte(3).byte(0).byte(0).u16(2).u16(0);
    result.push_back({"damage", writer.written()});
  }
  return result;
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return shoal::fuzz::run_bounded<shoal::fuzz::BlockFuzz>(bytes, size);
}
