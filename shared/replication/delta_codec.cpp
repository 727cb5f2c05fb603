#include "shared/replication/delta_codec.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "shared/base/fault.hpp"
#include "shared/wire/bits.hpp"

// Body of a block, in this order, a number in brackets being bits:
//
//   bindings    from nothing: span (7), a bit per slot below span, an id per bound slot
//               else: changed (1), and if so
//                 a bit per slot bound in `from`: it leaves; a fate for each that does
//                 span (7), a bit per slot below span that does not survive: it is bound anew; an id for each
//                 extra departures: count, then slot (6), id and fate of each
//                 if anyone departed: check (16) of ids and fates
//   then per component of the chunk's audience
//     presence  if slots survive: changed (1), and if so a bit per surviving slot
//               if slots are bound anew: any (1), and if so a bit per such slot
//     values    if values are kept: changed (1), and if so a bit per kept row, then per column
//                 mode (5), a Golomb order, raw or still; unless still, a residual per changed row
//               per column and row that is not kept: the value, in the column's bits
//
//   id          raw (1); index and generation, as they are (64) or against the id before
//   fate        reason (2); if Moved: number of the target chunk, of the same audience; age of the move in ticks

namespace shoal {
namespace {

constexpr unsigned kSpanBits = 7;
constexpr unsigned kReasonBits = 2;
constexpr unsigned kModeBits = 5;
constexpr unsigned kRawMode = 31;
constexpr unsigned kStillMode = 30;  // every residual of the column is 0: none is written
constexpr unsigned kMaxGolombOrder = 24;
constexpr unsigned kIndexOrder = 4;
constexpr unsigned kGenerationOrder = 2;
constexpr unsigned kChunkOrder = 8;
constexpr unsigned kAgeOrder = 2;

// Which slots of `to` are bound as in `from`, and which are new. Both sides know it once bindings are coded.
struct SlotSets {
  std::uint64_t surviving = 0;
  std::uint64_t fresh = 0;
};

unsigned span_of(std::uint64_t slots) {
  return static_cast<unsigned>(std::bit_width(slots));
}
std::uint64_t below(unsigned span) {
  return span >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << span) - 1;
}

void write_mask(BitWriter& writer, std::uint64_t asked, std::uint64_t set) {
  for_each_slot(asked, [&](Slot slot) { writer.write_bool((set & slot_bit(slot)) != 0); });
}
std::uint64_t read_mask(BitReader& reader, std::uint64_t asked) {
  std::uint64_t set = 0;
  for_each_slot(asked, [&](Slot slot) {
    if (reader.read_bool()) set |= slot_bit(slot);
  });
  return set;
}

unsigned exp_golomb_bits(std::uint32_t value, unsigned k) {
  return 2 * static_cast<unsigned>(std::bit_width(std::uint64_t{value} + (std::uint64_t{1} << k))) - 1 - k;
}

// Ids are coded against the one before, since neighbours in a chunk were often born together; far ones raw.
// So an id never costs more than kWorstIdBits.
class IdCoder {
 public:
  void write(BitWriter& writer, Entity id) {
    const std::uint32_t index = zigzag(static_cast<std::int32_t>(id.index - last_.index));
    const std::uint32_t generation = zigzag(static_cast<std::int32_t>(id.generation - last_.generation));
    const bool raw = exp_golomb_bits(index, kIndexOrder) + exp_golomb_bits(generation, kGenerationOrder) > 64;
    writer.write_bool(raw);
    if (raw) {
      writer.write(id.index, 32);
      writer.write(id.generation, 32);
    } else {
      writer.write_exp_golomb(index, kIndexOrder);
      writer.write_exp_golomb(generation, kGenerationOrder);
    }
    last_ = id;
  }
  Entity read(BitReader& reader) {
    if (reader.read_bool()) {
      last_.index = reader.read(32);
      last_.generation = reader.read(32);
    } else {
      last_.index += static_cast<std::uint32_t>(unzigzag(reader.read_exp_golomb(kIndexOrder)));
      last_.generation += static_cast<std::uint32_t>(unzigzag(reader.read_exp_golomb(kGenerationOrder)));
    }
    return last_;
  }

 private:
  Entity last_{0, 1};
};

void write_fate(BitWriter& writer, const Departure& departure, Tick to) {
  writer.write(static_cast<std::uint32_t>(departure.reason), kReasonBits);
  if (departure.reason != DepartureReason::Moved) return;
  writer.write_exp_golomb(departure.target.number(), kChunkOrder);
  writer.write_exp_golomb(to.value - departure.tick.value, kAgeOrder);
}
bool read_fate(BitReader& reader, Departure& departure, ChunkId chunk, Tick to) {
  const std::uint32_t reason = reader.read(kReasonBits);
  if (reason >= kWireDepartureReasons) return false;
  departure.reason = static_cast<DepartureReason>(reason);
  departure.tick = to;
  if (departure.reason != DepartureReason::Moved) return true;
  const std::uint32_t number = reader.read_exp_golomb(kChunkOrder);
  if (number > ChunkId::kNumberMask) return false;
  departure.target = ChunkId::of(chunk.audience(), number);
  departure.tick = to - reader.read_exp_golomb(kAgeOrder);
  return true;
}

// What became of the departed is no part of the state, so the hash of the state does not prove it: this does.
class DepartureCheck {
 public:
  void add(const Departure& departure) {
    const bool moved = departure.reason == DepartureReason::Moved;
    const std::uint64_t line[] = {departure.entity.bits(), static_cast<std::uint64_t>(departure.reason),
                                  moved ? departure.target.value : 0u, moved ? departure.tick.value : 0u};
    hash_ = XXH3_64bits_withSeed(line, sizeof line, hash_);
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(hash_) & 0xFFFF; }

 private:
  std::uint64_t hash_ = 0;
};
constexpr unsigned kDepartureCheckBits = 16;

// --- bindings ----------------------------------------------------------------------------------------------

void write_new_ids(BitWriter& writer, const ChunkVersion& to, std::uint64_t free, std::uint64_t fresh) {
  const unsigned span = span_of(fresh);
  writer.write(span, kSpanBits);
  write_mask(writer, free & below(span), fresh);
  IdCoder ids;
  for_each_slot(fresh, [&](Slot slot) { ids.write(writer, to.id(slot)); });
}

// The log's line of an entity's last stay in a slot.
const Departure* find_departure(std::span<const Departure> log, Slot slot, Entity entity) {
  for (auto line = log.rbegin(); line != log.rend(); ++line) {
    if (line->slot == slot && line->entity == entity) return &*line;
  }
  return nullptr;
}

bool write_bindings(BitWriter& writer, const ChunkVersion* from, const ChunkVersion& to,
                    std::span<const Departure> log, SlotSets& sets) {
  if (!from) {
    sets = {0, to.bound()};
    write_new_ids(writer, to, ~std::uint64_t{0}, to.bound());
    return true;
  }
  sets.surviving = fault("keep-slot-on-reuse") ? from->bound() & to.bound() : from->same_ids(to);
  sets.fresh = to.bound() & ~sets.surviving;
  const std::uint64_t leaving = from->bound() & ~sets.surviving;

  // Lines of entities that came and went between the two versions: a client may have seen them in another
  // block.
  std::array<const Departure*, kMaxExtraDepartures> extra;
  std::uint32_t extra_count = 0;
  const auto first = std::partition_point(log.begin(), log.end(),
                                          [&](const Departure& line) { return line.tick <= from->tick(); });
  for (const auto& line : log.subspan(static_cast<std::size_t>(first - log.begin()))) {
    if (line.tick > to.tick()) break;
    if (from->is_bound(line.slot) && from->id(line.slot) == line.entity) continue;
    if (extra_count == kMaxExtraDepartures) return false;
    extra[extra_count++] = &line;
  }
  const bool changed = leaving != 0 || sets.fresh != 0 || extra_count != 0;
  writer.write_bool(changed);
  if (!changed) return true;

  DepartureCheck check;
  write_mask(writer, from->bound(), leaving);
  for_each_slot(leaving, [&](Slot slot) {
    const Departure* line = find_departure(log, slot, from->id(slot));
    SHOAL_ASSERT(line, "every unbinding has a line in the departure log");
    write_fate(writer, *line, to.tick());
    check.add(*line);
  });
  write_new_ids(writer, to, ~sets.surviving, sets.fresh);
  writer.write_exp_golomb(extra_count, 0);
  IdCoder ids;
  for (std::uint32_t i = 0; i < extra_count; ++i) {
    writer.write(extra[i]->slot, 6);
    ids.write(writer, extra[i]->entity);
    write_fate(writer, *extra[i], to.tick());
    check.add(*extra[i]);
  }
  if (leaving != 0 || extra_count != 0) writer.write(check.value(), kDepartureCheckBits);
  return true;
}

std::optional<DecodeError> read_new_ids(BitReader& reader, ChunkVersion& to, std::uint64_t free,
                                        SlotSets& sets) {
  const unsigned span = reader.read(kSpanBits);
  if (span > kChunkSlots) return DecodeError::BadEntity;
  sets.fresh = read_mask(reader, free & below(span));
  IdCoder ids;
  for (std::uint64_t rest = sets.fresh; rest != 0 && reader.ok(); rest &= rest - 1) {
    const Entity id = ids.read(reader);
    if (id.is_null() || id.generation == 0) return DecodeError::BadEntity;
    bool twice = false;
    for_each_slot(to.bound(), [&](Slot slot) { twice = twice || to.id(slot).index == id.index; });
    if (twice) return DecodeError::BadEntity;
    to.bind(static_cast<Slot>(std::countr_zero(rest)), id);
  }
  return std::nullopt;
}

std::optional<DecodeError> read_bindings(BitReader& reader, const ChunkVersion* from, ChunkVersion& to,
                                         std::vector<Departure>& departures, SlotSets& sets) {
  if (!from) return read_new_ids(reader, to, ~std::uint64_t{0}, sets);
  sets.surviving = from->bound();
  if (!reader.read_bool()) return std::nullopt;

  const std::uint64_t leaving = read_mask(reader, from->bound());
  sets.surviving &= ~leaving;
  for (std::uint64_t rest = leaving; rest != 0 && reader.ok(); rest &= rest - 1) {
    const auto slot = static_cast<Slot>(std::countr_zero(rest));
    Departure departure{to.tick(), slot, from->id(slot), DepartureReason::Destroyed, {}};
    if (!read_fate(reader, departure, to.chunk(), to.tick())) return DecodeError::BadDeparture;
    departures.push_back(departure);
    to.unbind(slot);
  }
  if (!reader.ok()) return DecodeError::Truncated;
  if (const auto error = read_new_ids(reader, to, ~sets.surviving, sets)) return error;

  const std::uint32_t extra_count = reader.read_exp_golomb(0);
  if (extra_count > kMaxExtraDepartures) return DecodeError::BadDeparture;
  IdCoder ids;
  for (std::uint32_t i = 0; i < extra_count && reader.ok(); ++i) {
    Departure departure{to.tick(), reader.read(6), {}, DepartureReason::Destroyed, {}};
    departure.entity = ids.read(reader);
    if (!read_fate(reader, departure, to.chunk(), to.tick())) return DecodeError::BadDeparture;
    departures.push_back(departure);
  }
  DepartureCheck check;
  for (const Departure& departure : departures) check.add(departure);
  if (!departures.empty() && reader.read(kDepartureCheckBits) != check.value())
    return DecodeError::BadDeparture;
  return std::nullopt;
}

// --- presence ----------------------------------------------------------------------------------------------

void write_presence(BitWriter& writer, const ChunkVersion* from, const ChunkVersion& to,
                    ComponentIndex component, const SlotSets& sets) {
  if (sets.surviving != 0) {
    const bool changed = ((from->present(component) ^ to.present(component)) & sets.surviving) != 0;
    writer.write_bool(changed);
    if (changed) write_mask(writer, sets.surviving, to.present(component));
  }
  if (sets.fresh != 0) {
    const bool any = (to.present(component) & sets.fresh) != 0;
    writer.write_bool(any);
    if (any) write_mask(writer, sets.fresh, to.present(component));
  }
}

void read_presence(BitReader& reader, ChunkVersion& to, ComponentIndex component, const SlotSets& sets) {
  std::uint64_t present = to.present(component);
  if (sets.surviving != 0 && reader.read_bool()) {
    present = (present & ~sets.surviving) | read_mask(reader, sets.surviving);
  }
  if (sets.fresh != 0 && reader.read_bool()) present |= read_mask(reader, sets.fresh);
  for_each_slot(to.present(component) & ~present, [&](Slot slot) { to.remove_component(component, slot); });
  for_each_slot(present & ~to.present(component), [&](Slot slot) { to.add_component(component, slot); });
}

// --- values ------------------------------------------------------------------------------------------------

std::uint32_t low_mask(unsigned bits) {
  return bits == 32 ? ~0u : (1u << bits) - 1;
}

// The shortest signed difference modulo 2^bits.
std::int32_t residual(std::uint32_t from, std::uint32_t to, unsigned bits) {
  return static_cast<std::int32_t>((to - from) << (32 - bits)) >> (32 - bits);
}

// The Golomb order that codes these residuals shortest, or raw where that is shorter.
unsigned choose_mode(std::span<const std::uint32_t> residuals, unsigned bits) {
  std::uint64_t sum = 0;
  for (const auto value : residuals) sum += value;
  if (sum == 0) return kStillMode;
  const std::uint64_t mean = sum / residuals.size();
  const unsigned guess = std::min(static_cast<unsigned>(std::bit_width(mean)), kMaxGolombOrder);
  unsigned best_mode = kRawMode;
  std::size_t best_cost = residuals.size() * bits;
  for (unsigned k = guess > 1 ? guess - 2 : 0; k <= guess; ++k) {
    std::size_t cost = 0;
    for (const auto value : residuals) cost += exp_golomb_bits(value, k);
    if (cost < best_cost) {
      best_cost = cost;
      best_mode = k;
    }
  }
  return best_mode;
}

std::uint64_t changed_rows(const ChunkVersion& from, const ChunkVersion& to,
                           const ReplicatedComponent& component, std::uint64_t kept) {
  std::uint64_t changed = 0;
  for (unsigned i = 0; i < component.column_count; ++i) {
    const auto& before = from.column(component.first_column + i);
    const auto& after = to.column(component.first_column + i);
    if (!before.is(after)) changed |= before->differing(*after);
  }
  return changed & kept;
}

void write_values(BitWriter& writer, const ChunkVersion* from, const ChunkVersion& to, ComponentIndex index,
                  const SlotSets& sets) {
  const auto& component = to.table()[index];
  const std::uint64_t kept = from ? from->present(index) & to.present(index) & sets.surviving : 0;
  if (component.column_count == 0) return;
  if (kept != 0) {
    const std::uint64_t changed = changed_rows(*from, to, component, kept);
    writer.write_bool(changed != 0);
    if (changed != 0) {
      write_mask(writer, kept, changed);
      for (unsigned i = 0; i < component.column_count; ++i) {
        const ColumnIndex column = component.first_column + i;
        const unsigned bits = to.table().columns()[column].bits;
        const Column& before = *from->column(column);
        const Column& after = *to.column(column);
        if (&before == &after) {
          writer.write(kStillMode, kModeBits);
          continue;
        }
        std::array<std::uint32_t, kChunkSlots> residuals;
        std::size_t count = 0;
        for_each_slot(changed, [&](Slot slot) {
          residuals[count++] = zigzag(residual(before.get(slot), after.get(slot), bits));
        });
        const unsigned mode = choose_mode(std::span(residuals).first(count), bits);
        writer.write(mode, kModeBits);
        for (std::size_t row = 0; row < count && mode != kStillMode; ++row) {
          if (mode == kRawMode) {
            writer.write(residuals[row], bits);
          } else {
            writer.write_exp_golomb(residuals[row], mode);
          }
        }
      }
    }
  }
  const std::uint64_t fresh = to.present(index) & ~kept;
  for (unsigned i = 0; fresh != 0 && i < component.column_count; ++i) {
    const ColumnIndex column = component.first_column + i;
    for_each_slot(
        fresh, [&](Slot slot) { writer.write(to.value(column, slot), to.table().columns()[column].bits); });
  }
}

std::optional<DecodeError> read_values(BitReader& reader, const ChunkVersion* from, ChunkVersion& to,
                                       ComponentIndex index, const SlotSets& sets) {
  const auto& component = to.table()[index];
  const std::uint64_t kept = from ? from->present(index) & to.present(index) & sets.surviving : 0;
  if (component.column_count == 0) return std::nullopt;
  if (kept != 0 && reader.read_bool()) {
    const std::uint64_t changed = read_mask(reader, kept);
    for (unsigned i = 0; i < component.column_count && reader.ok(); ++i) {
      const ColumnIndex column = component.first_column + i;
      const unsigned bits = to.table().columns()[column].bits;
      const unsigned mode = reader.read(kModeBits);
      if (mode == kStillMode) continue;
      if (mode > kMaxGolombOrder && mode != kRawMode) return DecodeError::BadMode;
      for_each_slot(changed, [&](Slot slot) {
        const std::uint32_t coded = mode == kRawMode ? reader.read(bits) : reader.read_exp_golomb(mode);
        const auto difference = static_cast<std::uint32_t>(unzigzag(coded));
        to.set_value(column, slot, (to.value(column, slot) + difference) & low_mask(bits));
      });
    }
  }
  const std::uint64_t fresh = to.present(index) & ~kept;
  for (unsigned i = 0; fresh != 0 && i < component.column_count && reader.ok(); ++i) {
    const ColumnIndex column = component.first_column + i;
    for_each_slot(fresh, [&](Slot slot) {
      to.set_value(column, slot, reader.read(to.table().columns()[column].bits));
    });
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(DecodeError error) {
  switch (error) {
    case DecodeError::Truncated:
      return "truncated";
    case DecodeError::TrailingBytes:
      return "trailing bytes";
    case DecodeError::BadEntity:
      return "bad entity";
    case DecodeError::BadDeparture:
      return "bad departure";
    case DecodeError::BadMode:
      return "bad mode";
  }
  return "unknown";
}

std::size_t encode_block(const ChunkVersion* from, const ChunkVersion& to,
                         std::span<const Departure> departures, std::span<std::byte> target,
                         EncodedShares* shares) {
  SHOAL_ASSERT(!from || from->chunk() == to.chunk(), "a delta leads from a version of the same chunk");
  BitWriter writer(target);
  SlotSets sets;
  if (!write_bindings(writer, from, to, departures, sets)) return 0;
  std::size_t told = writer.bits_written();
  if (shares) shares->binding_bits += told;
  for (const ComponentIndex component : to.table().of(to.chunk().audience())) {
    write_presence(writer, from, to, component, sets);
    write_values(writer, from, to, component, sets);
    if (!shares) continue;
    const std::size_t written = writer.bits_written();
    shares->component_bits[component] += written - told;
    told = written;
  }
  const std::size_t bytes = writer.finish();
  return writer.overflowed() ? 0 : bytes;
}

Result<ChunkVersion, DecodeError> decode_block(const ComponentTable& table, ColumnPool& pool, ChunkId chunk,
                                               const ChunkVersion* from, Tick to_tick,
                                               std::span<const std::byte> body,
                                               std::vector<Departure>& departures) {
  departures.clear();
  BitReader reader(body);
  ChunkVersion to = from ? *from : ChunkVersion(table, pool, chunk);
  to.set_tick(to_tick);
  SlotSets sets;
  if (const auto error = read_bindings(reader, from, to, departures, sets)) return Failure{*error};
  for (const ComponentIndex component : table.of(chunk.audience())) {
    if (!reader.ok()) break;
    read_presence(reader, to, component, sets);
    if (const auto error = read_values(reader, from, to, component, sets)) return Failure{*error};
  }
  if (!reader.ok()) return Failure{DecodeError::Truncated};
  if (!reader.at_end()) return Failure{DecodeError::TrailingBytes};
  return to;
}

std::size_t worst_full_state_bits(const ComponentTable& table) {
  return kSpanBits + kChunkSlots + table.size() + 8;
}

}  // namespace shoal
