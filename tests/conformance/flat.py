"""As much of FlatBuffers as the protocol needs: a reader that checks every offset, and a builder of small tables.

Format: https://flatbuffers.dev/internals/. Fields are named by their place in the table, a union having two.
"""


class Malformed(Exception):
    pass


class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - self._number(at, 4, signed=True)
        self.vtable_bytes = self._number(self.vtable, 2)
        table_bytes = self._number(self.vtable + 2, 2)
        if self.vtable_bytes < 4 or self.vtable_bytes % 2 != 0 or self.vtable + self.vtable_bytes > len(data):
            raise Malformed("the vtable leaves the buffer")
        if at + table_bytes > len(data):
            raise Malformed("the table leaves the buffer")

    def _number(self, at, size, signed=False):
        if at < 0 or at + size > len(self.data):
            raise Malformed("an offset leaves the buffer")
        return int.from_bytes(self.data[at:at + size], "little", signed=signed)

    def _field(self, place):
        entry = 4 + 2 * place
        offset = self._number(self.vtable + entry, 2) if entry < self.vtable_bytes else 0
        return self.at + offset if offset else None

    def number(self, place, size, default=0):
        at = self._field(place)
        return default if at is None else self._number(at, size)

    def struct(self, place, size):
        """The bytes of an inline struct, or None."""
        at = self._field(place)
        if at is None:
            return None
        if at + size > len(self.data):
            raise Malformed("a struct leaves the buffer")
        return self.data[at:at + size]

    def _target(self, place):
        at = self._field(place)
        return None if at is None else at + self._number(at, 4)

    def table(self, place):
        at = self._target(place)
        return None if at is None else Table(self.data, at)

    def vector(self, place, size):
        """The elements as bytes of `size` each; empty when absent."""
        at = self._target(place)
        if at is None:
            return []
        count, at = self._number(at, 4), at + 4
        if at + count * size > len(self.data):
            raise Malformed("a vector leaves the buffer")
        return [self.data[at + i * size:at + (i + 1) * size] for i in range(count)]

    def octets(self, place):
        at = self._target(place)
        if at is None:
            return b""
        count = self._number(at, 4)
        if at + 4 + count > len(self.data):
            raise Malformed("a vector of bytes leaves the buffer")
        return bytes(self.data[at + 4:at + 4 + count])

    def tables(self, place):
        at = self._target(place)
        if at is None:
            return []
        count = self._number(at, 4)
        return [Table(self.data, at + 4 + 4 * i + self._number(at + 4 + 4 * i, 4)) for i in range(count)]


def root(data):
    if len(data) < 4:
        raise Malformed("no room for a root")
    return Table(data, int.from_bytes(data[:4], "little"))


# ------------------------------------------------------------------------------------------------ builder
# A value is ("inline", bytes, alignment), ("vector", number of elements, bytes) or ("table", {place: value}).

def number(value, size):
    return ("inline", value.to_bytes(size, "little"), size)


def struct(data, alignment=1):
    return ("inline", data, alignment)


def octets(data):
    return ("vector", len(data), data)


def vector(elements):
    """Of structs of at most four-byte alignment."""
    return ("vector", len(elements), b"".join(elements))


def table(values):
    return ("table", values)


def build(fields):
    """A finished buffer whose root is the table with these {place: value}."""
    data = bytearray(4)

    def align(alignment):
        data.extend(bytes(-len(data) % alignment))

    def put_table(values):
        places = max(values, default=-1) + 1
        align(8)
        vtable = len(data)
        data.extend(bytes(4 + 2 * places))
        align(8)
        at = len(data)
        data.extend((at - vtable).to_bytes(4, "little", signed=True))
        later = []
        for place, value in sorted(values.items(), key=lambda item: item[0]):
            align(value[2] if value[0] == "inline" else 4)
            data[vtable + 4 + 2 * place:vtable + 6 + 2 * place] = (len(data) - at).to_bytes(2, "little")
            if value[0] == "inline":
                data.extend(value[1])
            else:
                later.append((len(data), value))
                data.extend(bytes(4))
        data[vtable:vtable + 4] = (4 + 2 * places).to_bytes(2, "little") + (len(data) - at).to_bytes(2, "little")
        for offset_at, value in later:
            if value[0] == "vector":
                align(4)
                target = len(data)
                data.extend(value[1].to_bytes(4, "little") + value[2])
            else:
                target = put_table(value[1])
            data[offset_at:offset_at + 4] = (target - offset_at).to_bytes(4, "little")
        return at

    data[0:4] = put_table(fields).to_bytes(4, "little")
    align(8)
    return bytes(data)
