"""The second client says Hello to a real server over UDP on loopback, and reads its Challenge to the last byte."""
import os
import secrets
import socket
import unittest

import flat
import live
import wire

PATIENCE_S = 10  # for what must come
SILENCE_S = 0.3  # without a word, so long, and the server will say nothing


@unittest.skipUnless("SHOAL_BIN" in os.environ, "there is no server to talk to")
class Handshake(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = live.Server("--entities", "20")
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(self.server.address)
        self.addCleanup(self.socket.close)
        self.nonce = secrets.randbits(64)
        self.key = secrets.token_bytes(32)

    def ask(self, datagram):
        """The answer, which is never larger than what asked for it; None: there is none."""
        self.socket.send(datagram)
        self.socket.settimeout(PATIENCE_S)
        answer = self.socket.recv(2048)
        self.assertLessEqual(len(answer), len(datagram))
        return answer

    def assert_no_answer(self, datagram):
        """A good Hello behind it is answered, so the server has seen both, and said nothing to the first."""
        self.socket.send(datagram)
        later = self.nonce ^ 1
        answer = self.ask(wire.hello(later, self.key))
        self.assertEqual(wire.read_header(answer).connection, later)
        self.socket.settimeout(SILENCE_S)
        with self.assertRaises(TimeoutError):
            self.socket.recv(2048)

    def challenge(self):
        header, body = wire.read_clear(self.ask(wire.hello(self.nonce, self.key)))
        self.assertEqual(header, wire.Header(wire.CHALLENGE, self.nonce, 0))
        return wire.read_challenge(body)

    def test_challenge_is_read_in_full(self):
        first, second = self.challenge(), self.challenge()
        self.assertEqual(len(first.code), 32)
        self.assertNotEqual(first.code, bytes(32))
        self.assertEqual(first.server_key, second.server_key)
        self.assertNotEqual(first.server_key, bytes(32))
        self.assertNotEqual(first.schema_hash, 0)
        self.assertEqual(first.schema_hash, second.schema_hash)
        self.assertIn(second.issued_seconds - first.issued_seconds, (0, 1, 2))

    def test_cookie_is_of_this_client_alone(self):
        first = self.challenge()
        for nonce, key in ((self.nonce ^ 1, self.key), (self.nonce, secrets.token_bytes(32))):
            _, body = wire.read_clear(self.ask(wire.hello(nonce, key)))
            other = wire.read_challenge(body)
            self.assertNotEqual(other.code, first.code)

    def test_challenge_fits_into_far_less_than_the_hello(self):
        self.assertLess(len(self.ask(wire.hello(self.nonce, self.key))), 200)

    def test_short_hello_gets_nothing(self):
        for size in (wire.MAX_DATAGRAM - 1, 600, 120):
            self.assert_no_answer(wire.hello(self.nonce, self.key, size=size))

    def test_long_hello_gets_nothing(self):
        self.assert_no_answer(wire.hello(self.nonce, self.key, size=wire.MAX_DATAGRAM + 1))

    def test_damaged_hello_gets_nothing(self):
        whole = wire.hello(self.nonce, self.key)
        for at in (1, 9, 40, 700, wire.MAX_DATAGRAM - 1):
            damaged = bytearray(whole)
            damaged[at] ^= 0x10
            self.assert_no_answer(bytes(damaged))

    def test_hello_without_a_key_gets_nothing(self):
        body = flat.build({0: flat.number(wire.VERSION, 4)}).ljust(wire.MAX_DATAGRAM - 33, b"\0")
        self.assert_no_answer(wire.clear_datagram(wire.Header(wire.HELLO, self.nonce, 0), body))

    def test_hello_whose_table_leaves_the_buffer_gets_nothing(self):
        body = (5000).to_bytes(4, "little").ljust(wire.MAX_DATAGRAM - 33, b"\0")
        self.assert_no_answer(wire.clear_datagram(wire.Header(wire.HELLO, self.nonce, 0), body))

    def test_types_that_a_server_does_not_take_get_nothing(self):
        for kind in (0, wire.CHALLENGE, wire.ACCEPT, wire.REFUSE, wire.DENIAL, 8, 255):
            self.assert_no_answer(wire.clear_datagram(wire.Header(kind, self.nonce, 0), bytes(1167)))

    def test_response_with_a_cookie_of_its_own_gets_nothing(self):
        clear = wire.VERSION.to_bytes(4, "little") + self.key + (1).to_bytes(8, "little") + bytes(32)
        self.assert_no_answer(wire.Header(wire.RESPONSE, self.nonce, 0).bytes() + clear + bytes(300))

    def test_packet_of_no_session_gets_nothing(self):
        self.assert_no_answer(wire.Header(wire.PACKET, self.nonce, 1).bytes() + bytes(64))

    def test_unknown_version_is_refused_with_both_versions(self):
        for version in (wire.VERSION - 1, wire.VERSION + 1, 0, 2**32 - 1):
            header, body = wire.read_clear(self.ask(wire.hello(self.nonce, self.key, version)))
            self.assertEqual(header, wire.Header(wire.REFUSE, self.nonce, 0))
            reason, detail = wire.read_refuse(body)
            self.assertEqual(reason, wire.WRONG_PROTOCOL_VERSION)
            self.assertEqual(detail, f"server {wire.VERSION} client {version}")


if __name__ == "__main__":
    unittest.main()
