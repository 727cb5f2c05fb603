"""XXH3 with 64 and with 128 bits, by hand from its public specification (xxHash's doc/xxhash_spec.md, version 0.2)."""

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
M128 = (1 << 128) - 1

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX1, PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e"
    "e03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a"
    "51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8f"
    "f8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def _u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def _u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def _swap32(value):
    return int.from_bytes(value.to_bytes(4, "little"), "big")


def _swap64(value):
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _rotate64(value, bits):
    return (value << bits | value >> (64 - bits)) & M64


def _fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def _avalanche(hash_):
    hash_ ^= hash_ >> 37
    hash_ = hash_ * PRIME_MX1 & M64
    return hash_ ^ hash_ >> 32


def _avalanche_xxh64(hash_):
    hash_ ^= hash_ >> 33
    hash_ = hash_ * P64_2 & M64
    hash_ ^= hash_ >> 29
    hash_ = hash_ * P64_3 & M64
    return hash_ ^ hash_ >> 32


def _mix_step(data, at, secret_at, seed):
    return _fold(_u64(data, at) ^ (_u64(SECRET, secret_at) + seed & M64),
                 _u64(data, at + 8) ^ (_u64(SECRET, secret_at + 8) - seed & M64))


# --------------------------------------------------------------------------------------- up to 16 bytes

def _small64(data, seed):
    size = len(data)
    if size == 0:
        return _avalanche_xxh64(seed ^ _u64(SECRET, 56) ^ _u64(SECRET, 64))
    if size <= 3:
        combined = data[size - 1] | size << 8 | data[0] << 16 | data[size >> 1] << 24
        return _avalanche_xxh64(((_u32(SECRET, 0) ^ _u32(SECRET, 4)) + seed & M64) ^ combined)
    if size <= 8:
        first, last = _u32(data, 0), _u32(data, size - 4)
        modified = seed ^ _swap32(seed & M32) << 32
        combined = last | first << 32
        value = ((_u64(SECRET, 8) ^ _u64(SECRET, 16)) - modified & M64) ^ combined
        value ^= _rotate64(value, 49) ^ _rotate64(value, 24)
        value = value * PRIME_MX2 & M64
        value ^= (value >> 35) + size
        value = value * PRIME_MX2 & M64
        return value ^ value >> 28
    first, last = _u64(data, 0), _u64(data, size - 8)
    low = ((_u64(SECRET, 24) ^ _u64(SECRET, 32)) + seed & M64) ^ first
    high = ((_u64(SECRET, 40) ^ _u64(SECRET, 48)) - seed & M64) ^ last
    return _avalanche(size + _swap64(low) + high + _fold(low, high) & M64)


def _small128(data, seed):
    size = len(data)
    if size == 0:
        return (_avalanche_xxh64(seed ^ _u64(SECRET, 80) ^ _u64(SECRET, 88)) << 64
                | _avalanche_xxh64(seed ^ _u64(SECRET, 64) ^ _u64(SECRET, 72)))
    if size <= 3:
        combined = data[size - 1] | size << 8 | data[0] << 16 | data[size >> 1] << 24
        low = ((_u32(SECRET, 0) ^ _u32(SECRET, 4)) + seed & M64) ^ combined
        swapped = _swap32(combined)
        rotated = (swapped << 13 | swapped >> 19) & M32
        high = ((_u32(SECRET, 8) ^ _u32(SECRET, 12)) - seed & M64) ^ rotated
        return _avalanche_xxh64(high) << 64 | _avalanche_xxh64(low)
    if size <= 8:
        first, last = _u32(data, 0), _u32(data, size - 4)
        modified = seed ^ _swap32(seed & M32) << 32
        combined = first | last << 32
        value = ((_u64(SECRET, 16) ^ _u64(SECRET, 24)) + modified & M64) ^ combined
        product = value * (P64_1 + (size << 2) & M64) & M128
        low, high = product & M64, product >> 64
        high = high + (low << 1) & M64
        low ^= high >> 3
        low ^= low >> 35
        low = low * PRIME_MX2 & M64
        low ^= low >> 28
        return _avalanche(high) << 64 | low
    first, last = _u64(data, 0), _u64(data, size - 8)
    value1 = ((_u64(SECRET, 32) ^ _u64(SECRET, 40)) - seed & M64) ^ first ^ last
    value2 = ((_u64(SECRET, 48) ^ _u64(SECRET, 56)) + seed & M64) ^ last
    product = value1 * P64_1
    low = (product & M64) + (size - 1 << 54) & M64
    high = (product >> 64) + (value2 & ~M32) + (value2 & M32) * P32_2 & M64
    low ^= _swap64(high)
    product = low * P64_2
    low = product & M64
    high = (product >> 64) + high * P64_2 & M64
    return _avalanche(high) << 64 | _avalanche(low)


# -------------------------------------------------------------------------------------- 17 to 240 bytes

def _medium64(data, seed):
    size = len(data)
    acc = size * P64_1 & M64
    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            acc += _mix_step(data, i * 16, i * 32, seed)
            acc += _mix_step(data, size - i * 16 - 16, i * 32 + 16, seed)
        return _avalanche(acc & M64)
    for i in range(8):
        acc += _mix_step(data, i * 16, i * 16, seed)
    acc = _avalanche(acc & M64)
    for i in range(8, size // 16):
        acc += _mix_step(data, i * 16, (i - 8) * 16 + 3, seed)
    acc += _mix_step(data, size - 16, 136 - 17, seed)
    return _avalanche(acc & M64)


def _medium128(data, seed):
    size = len(data)
    acc = [size * P64_1 & M64, 0]

    def two(first, second, secret_at, seed=seed):
        acc[0] = acc[0] + _mix_step(data, first, secret_at, seed) & M64
        acc[0] ^= _u64(data, second) + _u64(data, second + 8) & M64
        acc[1] = acc[1] + _mix_step(data, second, secret_at + 16, seed) & M64
        acc[1] ^= _u64(data, first) + _u64(data, first + 8) & M64

    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            two(i * 16, size - i * 16 - 16, i * 32)
    else:
        for i in range(4):
            two(i * 32, i * 32 + 16, i * 32)
        acc[:] = [_avalanche(acc[0]), _avalanche(acc[1])]
        for i in range(4, size // 32):
            two(i * 32, i * 32 + 16, (i - 4) * 32 + 3)
        two(size - 16, size - 32, 136 - 17 - 16, -seed & M64)
    low = acc[0] + acc[1] & M64
    high = acc[0] * P64_1 + acc[1] * P64_4 + (size - seed) * P64_2 & M64
    return (-_avalanche(high) & M64) << 64 | _avalanche(low)


# ------------------------------------------------------------------------------------- above 240 bytes

def _seeded_secret(seed):
    if seed == 0:
        return SECRET
    words = []
    for at in range(0, 192, 16):
        words.append(_u64(SECRET, at) + seed & M64)
        words.append(_u64(SECRET, at + 8) - seed & M64)
    return b"".join(word.to_bytes(8, "little") for word in words)


def _accumulate(acc, data, at, secret, secret_at):
    for i in range(8):
        value = _u64(data, at + 8 * i)
        mixed = value ^ _u64(secret, secret_at + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + value & M64
        acc[i] = acc[i] + (mixed & M32) * (mixed >> 32) & M64


def _large_accumulators(data, secret):
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes_per_block = (192 - 64) // 8
    block = stripes_per_block * 64
    blocks = (len(data) - 1) // block
    for n in range(blocks):
        for stripe in range(stripes_per_block):
            _accumulate(acc, data, n * block + stripe * 64, secret, stripe * 8)
        for i in range(8):
            acc[i] ^= acc[i] >> 47
            acc[i] ^= _u64(secret, 192 - 64 + 8 * i)
            acc[i] = acc[i] * P32_1 & M64
    for stripe in range((len(data) - 1 - blocks * block) // 64):
        _accumulate(acc, data, blocks * block + stripe * 64, secret, stripe * 8)
    _accumulate(acc, data, len(data) - 64, secret, 192 - 71)
    return acc


def _merge(acc, start, secret, secret_at):
    result = start
    for i in range(4):
        result += _fold(acc[2 * i] ^ _u64(secret, secret_at + 16 * i), acc[2 * i + 1] ^ _u64(secret, secret_at + 16 * i + 8))
    return _avalanche(result & M64)


def _large64(data, seed):
    secret = _seeded_secret(seed)
    return _merge(_large_accumulators(data, secret), len(data) * P64_1 & M64, secret, 11)


def _large128(data, seed):
    secret = _seeded_secret(seed)
    acc = _large_accumulators(data, secret)
    low = _merge(acc, len(data) * P64_1 & M64, secret, 11)
    high = _merge(acc, ~(len(data) * P64_2) & M64, secret, 192 - 64 - 11)
    return high << 64 | low


def xxh3_64(data, seed=0):
    return (_small64 if len(data) <= 16 else _medium64 if len(data) <= 240 else _large64)(data, seed)


def xxh3_128(data, seed=0):
    return (_small128 if len(data) <= 16 else _medium128 if len(data) <= 240 else _large128)(data, seed)


def canonical_128(data):
    """High half first, each half big-endian: what ends a datagram in clear."""
    return xxh3_128(data).to_bytes(16, "big")
