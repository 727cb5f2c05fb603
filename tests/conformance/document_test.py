"""The worked example of docs/protocol.md, made again from its four secrets: each key, each signature, each datagram."""
import base64
import pathlib
import re
import unittest

import crypto
import wire

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
EXAMPLES = {name: bytes.fromhex(digits)
            for name, digits in re.findall(r"^```hex ([\w-]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)}
NONCE = 0x0102030405060708
SESSION = 0x1122334455660007


def counting_from(first):
    return bytes(range(first, first + 32))


class Document(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client, cls.server, cls.ephemeral, cls.player = map(counting_from, (0x00, 0x20, 0x40, 0x60))
        _, body = wire.read_clear(EXAMPLES["challenge"])
        cls.challenge = wire.read_challenge(body)
        cls.keys = crypto.ResponseKeys(crypto.x25519(cls.client, EXAMPLES["server-key"]), wire.VERSION, NONCE,
                                       crypto.x25519(cls.client), cls.challenge)
        cls.session = crypto.SessionKeys(cls.keys, crypto.x25519(cls.client, EXAMPLES["server-ephemeral"]),
                                         EXAMPLES["response"][-16:], EXAMPLES["server-ephemeral"])

    def expect(self, **values):
        for name, value in values.items():
            self.assertEqual(value.hex(), EXAMPLES[name.replace("_", "-")].hex(), name)

    def test_public_keys(self):
        self.expect(client_key=crypto.x25519(self.client), server_key=crypto.x25519(self.server),
                    server_ephemeral=crypto.x25519(self.ephemeral), player_key=crypto.ed25519_public(self.player))

    def test_hello(self):
        # Another builder may lay the table out in another way: ours is read, theirs is made whole again.
        start, tag = EXAMPLES["hello-start"], EXAMPLES["hello-tag"]
        zeros = int(re.search(r"this, (\d+) zeros", PAGE)[1])
        header, body = wire.read_clear(start + bytes(zeros) + tag)
        self.assertEqual(header, wire.Header(wire.HELLO, NONCE, 0))
        self.assertEqual(wire.read_hello(body), (3, EXAMPLES["client-key"]))
        _, ours = wire.read_clear(wire.hello(NONCE, EXAMPLES["client-key"]))
        self.assertEqual(wire.read_hello(ours), (3, EXAMPLES["client-key"]))

    def test_challenge(self):
        self.assertEqual(self.challenge, wire.Challenge(1000, b"\xcc" * 32, 0x5C4E3A0000000001, EXAMPLES["server-key"]))

    def test_keys(self):
        self.expect(es=self.keys.es, transcript=self.keys.transcript, response_key=self.keys.response,
                    denial_key=self.keys.denial, player_challenge=self.keys.player_challenge,
                    player_signature=crypto.ed25519_sign(self.player, self.keys.player_challenge),
                    ee=crypto.x25519(self.ephemeral, EXAMPLES["client-key"]), accept_key=self.session.accept,
                    to_server_key=self.session.to_server, to_client_key=self.session.to_client)

    def test_response(self):
        clear = wire.response_clear(wire.VERSION, EXAMPLES["client-key"], self.challenge)
        before = wire.Header(wire.RESPONSE, NONCE, 0).bytes() + clear
        self.assertEqual(len(before), 17 + 76)
        self.expect(response=before + crypto.seal(self.keys.response, 0, before, EXAMPLES["response-body"]))
        response = wire.read_response(EXAMPLES["response-body"])
        self.assertEqual(response, wire.Response(self.challenge.schema_hash, 1, b"sardin", EXAMPLES["player-key"],
                                                 EXAMPLES["player-signature"], 1))
        self.assertEqual(wire.read_response(wire.response_body(response)), response)

    def test_accept(self):
        before = wire.Header(wire.ACCEPT, NONCE, 0).bytes() + EXAMPLES["server-ephemeral"]
        self.expect(accept=before + crypto.seal(self.session.accept, 0, before, EXAMPLES["accept-body"]))
        self.assertEqual(wire.read_accept(EXAMPLES["accept-body"]),
                         wire.Accept(SESSION, 10000, 30, 0, crypto.player_of_key(EXAMPLES["player-key"]), b"\1\2"))

    def test_client_update(self):
        before = wire.Header(wire.PACKET, SESSION, 1).bytes()
        self.expect(client_update=before + crypto.seal(self.session.to_server, 1, before, EXAMPLES["client-update-body"]))
        packet = wire.read_packet(EXAMPLES["client-update-body"])
        self.assertEqual((packet.acknowledged, packet.payload_type), ([], wire.CLIENT_UPDATE))
        self.assertEqual(wire.read_client_update(packet.payload), wire.ClientUpdate(40, [(41, b"\xc0\xde")], [], None))

    def test_sealed_example_damaged_does_not_open(self):
        whole = EXAMPLES["client-update"]
        self.assertIsNotNone(crypto.open_sealed(self.session.to_server, 1, whole[:17], whole[17:]))
        for at in (0, 1, 9, 17, 60, len(whole) - 1):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            self.assertIsNone(crypto.open_sealed(self.session.to_server, 1, bytes(damaged[:17]), bytes(damaged[17:])))

    def test_ticket(self):
        ticket = (b"SHT1" + b"\x11" * 16 + crypto.u64(1700000000) + crypto.u64(1700000300) + b"\x04anna" + b"\x04eu-1")
        ticket += crypto.ed25519_sign(counting_from(0x80), crypto.hash_of("shoal ticket", ticket))
        self.expect(ticket=ticket)
        self.assertIn("`" + base64.urlsafe_b64encode(ticket).decode().rstrip("=") + "`", PAGE)

    def test_every_example_is_looked_at(self):
        source = pathlib.Path(__file__).read_text(encoding="utf-8")
        for name in EXAMPLES:
            if name in ("message", "messages"):  # tests/unit/net/message_document_test.cpp looks at these
                continue
            self.assertTrue(f'"{name}"' in source or name.replace("-", "_") + "=" in source, name)


if __name__ == "__main__":
    unittest.main()
