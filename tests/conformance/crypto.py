"""X25519 (RFC 7748), Ed25519 (RFC 8032) and ChaCha20-Poly1305 (RFC 8439), by hand from their RFCs, and the three uses of
BLAKE2b that docs/protocol.md defines. For tests only: slow, and it takes a different time for different secrets."""
import hashlib

P = 2**255 - 19


def _little(data):
    return int.from_bytes(data, "little")


# ---------------------------------------------------------------------------------------- BLAKE2b, by the page

def u64(value):
    return value.to_bytes(8, "little")


def hash_of(label, *pieces):
    return hashlib.blake2b(u64(len(label)) + label.encode() + b"".join(pieces), digest_size=32).digest()


def derive(secret, label, context):
    return hashlib.blake2b(label.encode().ljust(64, b"\0") + context, digest_size=32, key=secret).digest()


# ----------------------------------------------------------------------------------------------------- X25519

BASE = (9).to_bytes(32, "little")


def x25519(secret, point=BASE):
    scalar = _little(secret) & ~7 & (1 << 254) - 1 | 1 << 254
    u = _little(point) & (1 << 255) - 1
    x1, x2, z2, x3, z3, swapped = u, 1, 0, u, 1, 0
    for bit in range(254, -1, -1):
        set_ = scalar >> bit & 1
        if set_ != swapped:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = set_
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x3, z3 = (da + cb)**2 % P, x1 * (da - cb)**2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


# ---------------------------------------------------------------------------------------------------- Ed25519

ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
_Y = 4 * pow(5, P - 2, P) % P


def _recover_x(y, sign):
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x % 2 != sign else x


_X = _recover_x(_Y, 0)
_G = (_X, _Y, 1, _X * _Y % P)


def _add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _compress(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _expand(seed):
    digest = hashlib.sha512(seed).digest()
    return _little(digest[:32]) & ~7 & (1 << 254) - 1 | 1 << 254, digest[32:]


def ed25519_public(seed):
    return _compress(_multiply(_expand(seed)[0], _G))


def ed25519_sign(seed, message):
    scalar, prefix = _expand(seed)
    public = _compress(_multiply(scalar, _G))
    r = _little(hashlib.sha512(prefix + message).digest()) % ORDER
    point = _compress(_multiply(r, _G))
    k = _little(hashlib.sha512(point + public + message).digest()) % ORDER
    return point + ((r + k * scalar) % ORDER).to_bytes(32, "little")


# ------------------------------------------------------------------------------------------ ChaCha20-Poly1305

M32 = (1 << 32) - 1


def _quarter(s, a, b, c, d):
    for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = s[x] + s[y] & M32
        mixed = s[z] ^ s[x]
        s[z] = (mixed << bits | mixed >> (32 - bits)) & M32


def _chacha_block(key, counter, nonce):
    start = [int.from_bytes(b"expand 32-byte k"[i:i + 4], "little") for i in range(0, 16, 4)]
    start += [_little(key[i:i + 4]) for i in range(0, 32, 4)] + [counter]
    start += [_little(nonce[i:i + 4]) for i in range(0, 12, 4)]
    state = list(start)
    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            _quarter(state, a, b, c, d)
    return b"".join((a + b & M32).to_bytes(4, "little") for a, b in zip(state, start))


def _chacha(key, nonce, text):
    stream = b"".join(_chacha_block(key, 1 + n, nonce) for n in range((len(text) + 63) // 64))
    return bytes(a ^ b for a, b in zip(text, stream))


def _poly1305(key, message):
    r, s, total = _little(key[:16]) & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF, _little(key[16:]), 0
    for at in range(0, len(message), 16):
        total = (total + _little(message[at:at + 16] + b"\1")) * r % (2**130 - 5)
    return (total + s & (1 << 128) - 1).to_bytes(16, "little")


def _tag(key, nonce, before, sealed):
    def padded(data):
        return data + bytes(-len(data) % 16)

    return _poly1305(_chacha_block(key, 0, nonce)[:32],
                     padded(before) + padded(sealed) + u64(len(before)) + u64(len(sealed)))


def seal(key, sequence, before, text):
    """Everything of a sealed datagram behind what stands in clear."""
    nonce = u64(sequence) + bytes(4)
    sealed = _chacha(key, nonce, text)
    return sealed + _tag(key, nonce, before, sealed)


def open_sealed(key, sequence, before, sealed_and_tag):
    """None: it does not open."""
    nonce, sealed = u64(sequence) + bytes(4), sealed_and_tag[:-16]
    if _tag(key, nonce, before, sealed) != sealed_and_tag[-16:]:
        return None
    return _chacha(key, nonce, sealed)


# ------------------------------------------------------------------------------------ the keys of a handshake

class ResponseKeys:
    def __init__(self, es, version, nonce, client_key, challenge):
        self.es = es
        self.transcript = hash_of("shoal handshake", u64(version), u64(nonce), client_key,
                                  u64(challenge.issued_seconds), challenge.code, u64(challenge.schema_hash),
                                  challenge.server_key)
        self.response = derive(es, "shoal response", self.transcript)
        self.denial = derive(es, "shoal denial", self.transcript)
        self.player_challenge = hash_of("shoal player", self.transcript)


class SessionKeys:
    def __init__(self, keys, ee, response_tag, server_ephemeral):
        session = hash_of("shoal session", keys.transcript, response_tag, server_ephemeral)
        self.accept = derive(keys.es + ee, "shoal accept", session)
        self.to_server = derive(keys.es + ee, "shoal to server", session)
        self.to_client = derive(keys.es + ee, "shoal to client", session)


def player_of_key(player_key):
    return hash_of("shoal player of key", player_key)[:16]
