"""A client that joins a real server: handshake, acknowledgements, one packet after the other. Written from
docs/protocol.md; slow, and only as much of it as the tests ask for."""
import os
import pathlib
import secrets
import socket
import subprocess
import tempfile
import time

import crypto
import flat
import wire


class Silence(Exception):
    pass


class Client:
    def __init__(self, address, player_seed=None):
        self.address = address
        self.socket = None
        self.move()
        self.nonce = secrets.randbits(64)
        self.ephemeral = secrets.token_bytes(32)
        self.key = crypto.x25519(self.ephemeral)
        self.player_seed = player_seed or secrets.token_bytes(32)
        self.sequence = 0
        self.arrived = set()

    def move(self):
        """Goes on from another port."""
        if self.socket:
            self.socket.close()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(self.address)

    def close(self):
        self.socket.close()

    def send(self, datagram):
        self.socket.send(datagram)

    def receive(self, seconds=5):
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(2048)
        except TimeoutError:
            raise Silence from None

    # ------------------------------------------------------------------------------------------- handshake

    def challenge(self):
        self.send(wire.hello(self.nonce, self.key))
        _, body = wire.read_clear(self.receive())
        return wire.read_challenge(body)

    def respond(self, challenge, schema_hash=None, kind=0, credentials=b"", signed=None, version=wire.VERSION, body=None):
        """Sends the Response; what `signed` is signed in place of the player's challenge."""
        self.keys = crypto.ResponseKeys(crypto.x25519(self.ephemeral, challenge.server_key), version, self.nonce,
                                        self.key, challenge)
        response = wire.Response(challenge.schema_hash if schema_hash is None else schema_hash, kind, credentials,
                                 crypto.ed25519_public(self.player_seed),
                                 crypto.ed25519_sign(self.player_seed, signed or self.keys.player_challenge), 1)
        before = wire.Header(wire.RESPONSE, self.nonce, 0).bytes() + wire.response_clear(version, self.key, challenge)
        self.response = before + crypto.seal(self.keys.response, 0, before, body or wire.response_body(response))
        self.send(self.response)

    def take_accept(self, datagram):
        if wire.read_header(datagram) != wire.Header(wire.ACCEPT, self.nonce, 0):
            raise wire.Bad("no Accept")
        ephemeral = datagram[17:49]
        self.session = crypto.SessionKeys(self.keys, crypto.x25519(self.ephemeral, ephemeral), self.response[-16:],
                                          ephemeral)
        self.accept = wire.read_accept(crypto.open_sealed(self.session.accept, 0, datagram[:49], datagram[49:]))
        return self.accept

    def take_denial(self, datagram):
        header = wire.read_header(datagram)
        if (header.type, header.connection) != (wire.DENIAL, self.nonce):
            raise wire.Bad("no Denial")
        return wire.read_refuse(crypto.open_sealed(self.keys.denial, header.sequence, datagram[:17], datagram[17:]))

    def join(self, **response):
        self.respond(self.challenge(), **response)
        return self.take_accept(self.receive())

    # --------------------------------------------------------------------------------------------- session

    def packet(self, fields=None):
        """Seals the next packet: acknowledgements of all that arrived lately, and these fields."""
        runs = []
        for sequence in sorted(self.arrived, reverse=True)[:400]:
            if runs and runs[-1][0] == sequence + 1:
                runs[-1][0] = sequence
            elif len(runs) < 48:
                runs.append([sequence, sequence])
        table = dict(fields or {})
        if runs:
            gaps = [0] + [earlier[0] - later[1] - 1 for earlier, later in zip(runs, runs[1:])]
            table[0] = flat.number(runs[0][1], 8)
            table[1] = flat.vector([gap.to_bytes(2, "little") + (newest - oldest + 1).to_bytes(2, "little")
                                    for gap, (oldest, newest) in zip(gaps, runs)])
        self.sequence += 1
        before = wire.Header(wire.PACKET, self.accept.connection, self.sequence).bytes()
        return before + crypto.seal(self.session.to_server, self.sequence, before, flat.build(table))

    def update(self, tick):
        """ClientUpdate with the newest tick."""
        return self.packet({3: flat.number(wire.CLIENT_UPDATE, 1), 4: flat.table({0: flat.number(tick, 4)})})

    def close_packet(self, reason):
        return self.packet({3: flat.number(wire.CLOSE, 1), 4: flat.table({0: flat.number(reason, 1)})})

    def path_response(self, number):
        return self.packet({6: flat.number(number, 8)})

    def take_packet(self, datagram):
        """None: not a packet of this session that is new."""
        header = wire.read_header(datagram)
        if (header.type, header.connection) != (wire.PACKET, self.accept.connection) or header.sequence in self.arrived:
            return None
        body = crypto.open_sealed(self.session.to_client, header.sequence, datagram[:17], datagram[17:])
        if body is None:
            return None
        self.arrived.add(header.sequence)
        return wire.read_packet(body)

    def packets(self, seconds):
        """Everything that comes for so long, answered with an update now and then."""
        end, next_update = time.monotonic() + seconds, 0
        tick = 0
        while (now := time.monotonic()) < end:
            if now >= next_update:
                self.send(self.update(tick))
                next_update = now + 0.1
            try:
                packet = self.take_packet(self.receive(0.05))
            except Silence:
                continue
            if packet is None:
                continue
            if packet.payload_type == wire.FRAME:
                tick = max(tick, packet.payload.number(0, 4))
            yield packet


class Server:
    """shoal-server of the build in SHOAL_BIN, on a port of its own."""

    def __init__(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        self.folder = tempfile.TemporaryDirectory()
        port_file = pathlib.Path(self.folder.name) / "port"
        self.process = subprocess.Popen(
            [pathlib.Path(os.environ["SHOAL_BIN"]) / "shoal-server", "--bind", "127.0.0.1", "--port", "0", "--port-file",
             port_file, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (port_file.exists() and port_file.read_text().endswith("\n")):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("the server does not come up")
            time.sleep(0.02)
        self.address = ("127.0.0.1", int(port_file.read_text()))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
