"""Datagrams and tables of docs/protocol.md, by the places of the fields in schema/protocol.fbs."""
from dataclasses import dataclass

import flat
import xxh3

MAX_DATAGRAM = 1200
HEADER = 17
TAG = 16
VERSION = 3
HELLO, CHALLENGE, RESPONSE, ACCEPT, REFUSE, PACKET, DENIAL = range(1, 8)
WRONG_PROTOCOL_VERSION = 1
FRAME, CLIENT_UPDATE, CLOSE, MESSAGES = 1, 2, 3, 4


class Bad(Exception):
    """The datagram is to be dropped."""


@dataclass(frozen=True)
class Header:
    type: int
    connection: int
    sequence: int

    def bytes(self):
        return bytes([self.type]) + self.connection.to_bytes(8, "little") + self.sequence.to_bytes(8, "little")


def read_header(data):
    return Header(data[0], int.from_bytes(data[1:9], "little"), int.from_bytes(data[9:17], "little"))


# ------------------------------------------------------------------------------------------------ in clear

def clear_datagram(header, body):
    before = header.bytes() + body
    return before + xxh3.canonical_128(before)


def read_clear(data):
    if not HEADER + TAG <= len(data) <= MAX_DATAGRAM:
        raise Bad("size")
    header = read_header(data)
    if header.type not in (HELLO, CHALLENGE, REFUSE):
        raise Bad("type")
    if xxh3.canonical_128(data[:-TAG]) != data[-TAG:]:
        raise Bad("tag")
    return header, data[HEADER:-TAG]


def hello(nonce, client_key, version=VERSION, size=MAX_DATAGRAM):
    table = flat.build({0: flat.number(version, 4), 1: flat.struct(client_key)})
    return clear_datagram(Header(HELLO, nonce, 0), table.ljust(size - HEADER - TAG, b"\0"))


def read_hello(body):
    table = flat.root(body)
    return table.number(0, 4), table.struct(1, 32)


@dataclass(frozen=True)
class Challenge:
    issued_seconds: int
    code: bytes
    schema_hash: int
    server_key: bytes


def read_challenge(body):
    table = flat.root(body)
    cookie, key = table.struct(0, 40), table.struct(2, 32)
    if cookie is None or key is None:
        raise Bad("a challenge has a cookie and a key")
    return Challenge(int.from_bytes(cookie[:8], "little"), cookie[8:], table.number(1, 8), key)


def read_refuse(body):
    table = flat.root(body)
    return table.number(0, 1), table.octets(1).decode()


# ------------------------------------------------------------------------------ sealed parts of the handshake

def response_clear(version, client_key, challenge):
    return version.to_bytes(4, "little") + client_key + challenge.issued_seconds.to_bytes(8, "little") + challenge.code


@dataclass(frozen=True)
class Response:
    schema_hash: int
    credential_kind: int
    credentials: bytes
    player_key: bytes
    player_signature: bytes
    ciphers: int


def response_body(response):
    return flat.build({0: flat.number(response.schema_hash, 8), 4: flat.number(response.credential_kind, 1),
                       5: flat.octets(response.credentials), 6: flat.struct(response.player_key),
                       7: flat.struct(response.player_signature), 8: flat.number(response.ciphers, 1)})


def read_response(body):
    table = flat.root(body)
    return Response(table.number(0, 8), table.number(4, 1), table.octets(5), table.struct(6, 32), table.struct(7, 64),
                    table.number(8, 1))


@dataclass(frozen=True)
class Accept:
    connection: int
    time_out_ms: int
    tick_rate_hz: int
    cipher: int
    player: bytes
    resume_ticket: bytes


def read_accept(body):
    table = flat.root(body)
    return Accept(table.number(0, 8), table.number(1, 4), table.number(2, 4), table.number(3, 1), table.struct(4, 16),
                  table.octets(5))


# --------------------------------------------------------------------------------------- of a session, opened

@dataclass(frozen=True)
class Packet:
    acknowledged: list  # of (oldest, newest), newest run first
    ack_delay_us: int
    payload_type: int
    payload: object
    path_challenge: object
    path_response: object


def read_packet(body):
    table = flat.root(body)
    newest, runs = table.number(0, 8), []
    for i, run in enumerate(table.vector(1, 4)):
        gap, count = int.from_bytes(run[:2], "little"), int.from_bytes(run[2:], "little")
        if (i == 0) != (gap == 0) or count == 0:
            raise Bad("runs neither touch nor are empty")
        if i > 0:
            newest = runs[-1][0] - gap - 1
        if newest < count:
            raise Bad("a run leaves the numbers from 1")
        runs.append((newest - count + 1, newest))
    if not runs and table.number(0, 8) != 0 or len(runs) > 48:
        raise Bad("acknowledgements")
    kind = table.number(3, 1)
    if kind > MESSAGES or (kind == 0) != (table.table(4) is None):
        raise Bad("payload")
    return Packet(runs, table.number(2, 4), kind, table.table(4), table.number(5, 8, None), table.number(6, 8, None))


@dataclass(frozen=True)
class Block:
    chunk: int
    baseline: object  # None: the body is the full state
    to: int
    hash: int
    epoch: int
    body: bytes


@dataclass(frozen=True)
class Frame:
    tick: int
    input_ack: object
    blocks: list
    dropped: list  # of (chunk, epoch)
    digest: object  # (tick, hash, entities) or None
    frozen: bool
    controlled: int
    absent: list
    chunks_in_view: object


def _words(data, *sizes):
    at = 0
    for size in sizes:
        yield int.from_bytes(data[at:at + size], "little")
        at += size


def read_frame(table):
    bodies, at, blocks = table.octets(3), 0, []
    for entry in table.vector(2, 20):
        chunk, baseline, to, hash_, length, epoch = _words(entry, 4, 4, 4, 4, 2, 2)
        blocks.append(Block(chunk, None if baseline == to else baseline, to, hash_, epoch, bodies[at:at + length]))
        at += length
    if at != len(bodies):
        raise Bad("directory and bodies differ")
    digest = table.table(5)
    return Frame(table.number(0, 4), table.number(1, 4, None), blocks,
                 [tuple(_words(entry, 4, 2)) for entry in table.vector(4, 8)],
                 digest and (digest.number(0, 4), digest.number(1, 8), digest.number(2, 4)), table.number(6, 1) == 1,
                 table.number(7, 8), [int.from_bytes(chunk, "little") for chunk in table.vector(8, 4)],
                 table.number(9, 4, None))


@dataclass(frozen=True)
class ClientUpdate:
    newest_tick: object
    inputs: list  # of (tick, payload)
    resyncs: list  # of (chunk, epoch, to)
    digest: object  # (tick, result, hash, entities) or None


def read_client_update(table):
    digest = table.table(3)
    return ClientUpdate(table.number(0, 4, None),
                        [(entry.number(0, 4), entry.octets(1)) for entry in table.tables(1)],
                        [(entry.number(0, 4), entry.number(1, 2), entry.number(2, 4)) for entry in table.tables(2)],
                        digest and (digest.number(0, 4), digest.number(1, 1), digest.number(2, 8), digest.number(3, 4)))


@dataclass(frozen=True)
class Fragment:
    message: int
    total: int
    first_unit: int
    data: bytes


@dataclass(frozen=True)
class Messages:
    ordered: list
    unordered: list
    ordered_limit: object
    unordered_limit: object


def read_messages(table):
    bodies, at, channels = table.octets(2), 0, []
    for place in (0, 1):
        channels.append([])
        for entry in table.vector(place, 12):
            message, total, first, units = _words(entry, 4, 4, 2, 2)
            end = min(total, 64 * (first + units))
            if units == 0 or first + units > max(1, -(-total // 64)):
                raise Bad("a fragment outside of its message")
            data = bodies[at:at + end - 64 * first]
            at += len(data)
            channels[-1].append(Fragment(message, total, first, data))
    if at != len(bodies):
        raise Bad("bodies and fragments do not fit together")
    return Messages(*channels, table.number(3, 4, None), table.number(4, 4, None))


def read_close(table):
    return table.number(0, 1), table.octets(1).decode()
