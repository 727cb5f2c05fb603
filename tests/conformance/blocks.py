"""Block bodies of docs/protocol.md: bits, bindings, fates, presence, columns; and the hash of a chunk's state."""
import collections
from dataclasses import dataclass, field

from xxh3 import xxh3_64

DESTROYED, MOVED, NO_LONGER_REPLICATED = range(3)
STILL, RAW = 30, 31
M32 = (1 << 32) - 1


class Bad(Exception):
    pass


@dataclass(frozen=True)
class Component:
    wire_id: int
    audience: int
    bits: tuple  # of each column
    references: tuple  # columns at which the id of an entity begins


class Bits:
    def __init__(self, data):
        self.value, self.left = int.from_bytes(data, "little"), 8 * len(data)

    def take(self, bits):
        if bits > self.left:
            raise Bad("the body ends before the state does")
        value = self.value & (1 << bits) - 1
        self.value >>= bits
        self.left -= bits
        return value

    def flag(self):
        return self.take(1) == 1

    def golomb(self, order):
        bits = order
        while self.flag():
            bits += 1
            if bits > 32:
                raise Bad("no 32-bit number has this code")
        value = self.take(bits) + (1 << bits) - (1 << order)
        if value > M32:
            raise Bad("no 32-bit number has this code")
        return value

    def mask(self, slots):
        return [slot for slot in slots if self.flag()]

    def finish(self):
        if self.left >= 8 or self.value != 0:
            raise Bad("the body goes on behind the state")


def unzigzag(value):
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


class Ids:
    """Each list of ids begins anew."""

    def __init__(self, bits, seen):
        self.bits, self.seen, self.index, self.generation = bits, seen, 0, 1

    def take(self):
        if self.bits.flag():
            self.seen["raw id"] += 1
            self.index, self.generation = self.bits.take(32), self.bits.take(32)
        else:
            self.index = self.index + unzigzag(self.bits.golomb(4)) & M32
            self.generation = self.generation + unzigzag(self.bits.golomb(2)) & M32
        return self.index, self.generation


@dataclass(frozen=True)
class Departure:
    entity: tuple
    reason: int
    target: int = 0
    tick: int = 0


@dataclass
class State:
    """Of one chunk at one tick."""
    ids: dict = field(default_factory=dict)  # slot -> (index, generation)
    values: dict = field(default_factory=dict)  # wire id -> slot -> list of integers

    def copy(self):
        return State(dict(self.ids), {wire_id: {slot: list(row) for slot, row in rows.items()}
                                      for wire_id, rows in self.values.items()})


def decode(body, chunk, to, before, components, seen=None):
    """The state at tick `to` and the departures. `before`: the baseline's state, or None. `components`: all of the
    schema. `seen` counts what occurred."""
    seen = collections.Counter() if seen is None else seen
    bits = Bits(body)
    state = before.copy() if before else State()
    departures = []
    fresh = []
    if before is None:
        surviving = []
        fresh = _new_ids(bits, state, surviving, seen)
    elif bits.flag():
        surviving, fresh = _changed_bindings(bits, chunk, to, state, departures, seen)
    else:
        surviving = sorted(state.ids)
    for component in sorted(components, key=lambda c: c.wire_id):
        if component.audience == chunk >> 30:
            _component(bits, state, component, before, surviving, fresh, seen)
    bits.finish()
    return state, departures


def _new_ids(bits, state, surviving, seen):
    span = bits.take(7)
    if span > 64:
        raise Bad("a chunk has 64 slots")
    fresh = bits.mask(slot for slot in range(span) if slot not in surviving)
    ids = Ids(bits, seen)
    for slot in fresh:
        entity = ids.take()
        if entity[1] == 0 or entity[0] in {index for index, _ in state.ids.values()}:
            raise Bad("an id that is none, or an index bound to two slots")
        state.ids[slot] = entity
    return fresh


def _fate(bits, entity, chunk, to, seen):
    reason = bits.take(2)
    seen["fate", reason] += 1
    if reason > NO_LONGER_REPLICATED:
        raise Bad("a reason that does not exist")
    if reason != MOVED:
        return Departure(entity, reason)
    number = bits.golomb(8)
    if number >> 30:
        raise Bad("a chunk's number has 30 bits")
    return Departure(entity, reason, chunk >> 30 << 30 | number, to - bits.golomb(2) & M32)


def _changed_bindings(bits, chunk, to, state, departures, seen):
    leaving = bits.mask(sorted(state.ids))
    for slot in leaving:
        departures.append(_fate(bits, state.ids[slot], chunk, to, seen))
        del state.ids[slot]
        for rows in state.values.values():
            rows.pop(slot, None)
    surviving = sorted(state.ids)
    fresh = _new_ids(bits, state, surviving, seen)
    count = bits.golomb(0)
    if count > 64:
        raise Bad("more departures than anyone tells")
    ids = Ids(bits, seen)
    for _ in range(count):
        seen["extra departure"] += 1
        bits.take(6)
        departures.append(_fate(bits, ids.take(), chunk, to, seen))
    if departures and bits.take(16) != check(departures):
        raise Bad("the departures do not match their check")
    return surviving, fresh


def check(departures):
    hash_ = 0
    for line in departures:
        words = (line.entity[1] << 32 | line.entity[0], line.reason, line.target, line.tick)
        hash_ = xxh3_64(b"".join(word.to_bytes(8, "little") for word in words), hash_)
    return hash_ & 0xFFFF


def _component(bits, state, component, before, surviving, fresh, seen):
    rows = state.values.setdefault(component.wire_id, {})
    kept_before = {slot for slot in surviving if slot in rows}
    if surviving and bits.flag():
        seen["presence changed"] += 1
        present = bits.mask(surviving)
        for slot in kept_before - set(present):
            del rows[slot]
        for slot in set(present) - kept_before:
            rows[slot] = None
    if fresh and bits.flag():
        for slot in bits.mask(fresh):
            rows[slot] = None
    if not component.bits:
        for slot in rows:
            rows[slot] = []
        return
    kept = sorted(kept_before & set(rows))
    if kept and bits.flag():
        changed = bits.mask(kept)
        for column, width in enumerate(component.bits):
            mode = bits.take(5)
            seen["still" if mode == STILL else "raw" if mode == RAW else "golomb"] += 1
            if mode == STILL:
                continue
            if 24 < mode < STILL:
                raise Bad("a mode that does not exist")
            for slot in changed:
                difference = unzigzag(bits.take(width) if mode == RAW else bits.golomb(mode))
                rows[slot][column] = rows[slot][column] + difference & (1 << width) - 1
    whole = sorted(set(rows) - set(kept))
    for slot in whole:
        rows[slot] = []
    for width in component.bits:
        for slot in whole:
            rows[slot].append(bits.take(width))


# --------------------------------------------------------------------------------------------------- hashes

def _mask(slots):
    return sum(1 << slot for slot in slots)


def _word(value):
    return value.to_bytes(8, "little")


def _column(values, width):
    """Of 64 slots, zeros where there is nothing."""
    size = 1 if width <= 8 else 2 if width <= 16 else 4
    return xxh3_64(b"".join(values.get(slot, 0).to_bytes(size, "little") for slot in range(64)))


def state_hash(chunk, tick, state, components):
    """BlockEntry.hash."""
    indices = _column({slot: index for slot, (index, _) in state.ids.items()}, 32) if state.ids else 0
    generations = _column({slot: generation for slot, (_, generation) in state.ids.items()}, 32) if state.ids else 0
    hash_ = xxh3_64(b"".join(map(_word, (chunk, tick, _mask(state.ids), indices, generations))))
    for component in sorted(components, key=lambda c: c.wire_id):
        rows = state.values.get(component.wire_id)
        if not rows:
            continue
        own = xxh3_64(_word(_mask(rows)), component.wire_id)
        for column, width in enumerate(component.bits):
            own = xxh3_64(_word(_column({slot: row[column] for slot, row in rows.items()}, width)), own)
        hash_ = xxh3_64(_word(own), hash_)
    return hash_ & M32


NULL_ENTITY = (M32, 0)


def world_digest(states, components):
    """Hash and number of the entities of these states, one of each chunk in view."""
    def row(*numbers):
        return xxh3_64(b"".join(number.to_bytes(4, "little") for number in numbers))

    entities = {entity for state in states for entity in state.ids.values()}
    total = sum(row(*entity) for entity in entities)
    by_id = {component.wire_id: component for component in components}
    for state in states:
        for wire_id, rows in state.values.items():
            for slot, values in rows.items():
                values = list(values)
                for at in by_id[wire_id].references:
                    if (values[at], values[at + 1]) not in entities:
                        values[at:at + 2] = NULL_ENTITY
                total += row(*state.ids[slot], wire_id, *values)
    return total % (1 << 64), len(entities)
