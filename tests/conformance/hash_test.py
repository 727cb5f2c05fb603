"""The XXH3 of the second client gives what the C library gives.

xxh3_vectors.json was written once with libxxhash 0.8.1: [bytes, seed, 64 bits, 128 bits] over the start of a text whose
byte i is the top byte of s(i), with s(0) = 2654435761 and s(i + 1) = s(i) * 11400714785074694797 modulo 2^64.
"""
import json
import pathlib
import unittest

import xxh3

VECTORS = json.loads((pathlib.Path(__file__).parent / "xxh3_vectors.json").read_text())


def text(size):
    state, result = 2654435761, bytearray()
    for _ in range(size):
        result.append(state >> 56)
        state = state * 11400714785074694797 % (1 << 64)
    return bytes(result)


class Hashes(unittest.TestCase):
    def test_all_lengths_and_seeds(self):
        self.assertGreater(len(VECTORS), 150)
        for size, seed, short, long in VECTORS:
            self.assertEqual(f"{xxh3.xxh3_64(text(size), int(seed, 16)):016x}", short, (size, seed))
            self.assertEqual(f"{xxh3.xxh3_128(text(size), int(seed, 16)):032x}", long, (size, seed))

    def test_one_bit_changes_the_canonical_tag(self):
        data = bytearray(text(1184))
        tag = xxh3.canonical_128(bytes(data))
        self.assertEqual(len(tag), 16)
        data[700] ^= 1
        self.assertNotEqual(xxh3.canonical_128(bytes(data)), tag)


if __name__ == "__main__":
    unittest.main()
