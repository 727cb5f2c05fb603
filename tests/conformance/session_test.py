"""A recorded session, decoded from docs/protocol.md and the components' schema alone: headers, packets,
acknowledgements, frames, block bodies. Each rebuilt state has the hash that its block promises.

session.jsonl is what conformance_recorder prints; to keep a new one:
    build/dev/bin/conformance_recorder > tests/conformance/session.jsonl
"""
import collections
import json
import os
import pathlib
import subprocess
import unittest

import blocks
import flat
import wire

FIXTURE = pathlib.Path(__file__).parent / "session.jsonl"
LINES = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
COMPONENTS = [blocks.Component(c["wire_id"], c["audience"], tuple(c["bits"]), tuple(c["references"]))
              for c in LINES[0]["components"]]
PACKETS = [(line["from"], wire.read_header(bytes.fromhex(line["header"])), bytes.fromhex(line["body"]))
           for line in LINES if "from" in line]


def frames():
    for sender, _, body in PACKETS:
        packet = wire.read_packet(body)
        if sender == "server" and packet.payload_type == wire.FRAME:
            yield wire.read_frame(packet.payload)


def is_newer_epoch(a, b):
    return 0 < (a - b) % (1 << 16) < 1 << 15


class Mirror:
    """The receiver of frames, by the page's numbered duties."""

    def __init__(self):
        self.epochs = {}  # chunk -> epoch
        self.over = {}  # chunk -> epoch that was dropped
        self.versions = {}  # chunk -> tick -> state
        self.seen = collections.Counter()
        self.decoded = []  # (block, baseline, state)

    def take(self, frame):
        for chunk, epoch in frame.dropped:
            self.seen["dropped"] += 1
            if chunk in self.epochs and is_newer_epoch(self.epochs[chunk], epoch):
                continue
            self.over[chunk] = epoch
            self.epochs.pop(chunk, None)
            self.versions.pop(chunk, None)
        for block in frame.blocks:
            self.take_block(block)

    def take_block(self, block):
        known = self.epochs.get(block.chunk, self.over.get(block.chunk))
        if known is not None and is_newer_epoch(known, block.epoch) or block.epoch == self.over.get(block.chunk):
            self.seen["outdated"] += 1
            return
        if block.epoch != self.epochs.get(block.chunk):
            self.epochs[block.chunk] = block.epoch
            self.versions[block.chunk] = {}
            self.over.pop(block.chunk, None)
        versions = self.versions[block.chunk]
        before = None if block.baseline is None else versions[block.baseline]
        self.seen["full state" if before is None else "delta"] += 1
        state, _ = blocks.decode(block.body, block.chunk, block.to, before, COMPONENTS, self.seen)
        if blocks.state_hash(block.chunk, block.to, state, COMPONENTS) != block.hash:
            raise blocks.Bad("the state does not match its hash")
        versions[block.to] = state
        self.decoded.append((block, before, state))

    def newest(self):
        return [versions[max(versions)] for versions in self.versions.values() if versions]


class Session(unittest.TestCase):
    def test_headers_count_from_one_in_each_direction(self):
        for side in ("client", "server"):
            headers = [header for sender, header, _ in PACKETS if sender == side]
            self.assertGreater(len(headers), 50)
            self.assertEqual({header.type for header in headers}, {wire.PACKET})
            sequences = [header.sequence for header in headers]
            self.assertEqual(len(set(sequences)), len(sequences))
            if side == "client":  # recorded where it left, so without gaps
                self.assertEqual(sequences, list(range(1, len(sequences) + 1)))
        self.assertEqual(len({header.connection for _, header, _ in PACKETS}), 1)

    def test_acknowledgements_name_what_was_there(self):
        there = {"client": set(), "server": set()}
        runs_seen = 0
        for sender, header, body in PACKETS:
            there[sender].add(header.sequence)
            other = there["server" if sender == "client" else "client"]
            packet = wire.read_packet(body)
            runs_seen = max(runs_seen, len(packet.acknowledged))
            for oldest, newest in packet.acknowledged:
                self.assertLessEqual(set(range(oldest, newest + 1)), other)
        self.assertGreater(runs_seen, 3)

    def test_every_block_decodes_to_the_state_that_its_hash_promises(self):
        mirror, digest = Mirror(), None
        for frame in frames():
            mirror.take(frame)
            mirror.seen["absent"] += len(frame.absent)
            mirror.seen["chunks in view"] += frame.chunks_in_view is not None
            digest = frame.digest or digest
        self.assertEqual(blocks.world_digest(mirror.newest(), COMPONENTS), digest[1:])
        for what in ("full state", "delta", "golomb", "still", "raw", "presence changed", "dropped", "absent",
                     "chunks in view", "extra departure", ("fate", blocks.DESTROYED), ("fate", blocks.MOVED)):
            self.assertGreater(mirror.seen[what], 0, f"the recording never shows: {what}")

    def test_states_are_those_of_the_server(self):
        mirror, compared = Mirror(), 0
        for frame in frames():
            mirror.take(frame)
        decoded = {(block.chunk, block.to): state for block, _, state in mirror.decoded}
        for line in (line for line in LINES if "chunk" in line):
            if (line["chunk"], line["tick"]) in decoded:
                self.compare(line, decoded[line["chunk"], line["tick"]])
                compared += 1
        self.assertGreater(compared, 8)

    def compare(self, line, state):
        self.assertEqual({str(slot): list(entity) for slot, entity in state.ids.items()},
                         {slot: entry["id"] for slot, entry in line["slots"].items()})
        for slot, entry in line["slots"].items():
            self.assertEqual({str(wire_id): rows[int(slot)] for wire_id, rows in state.values.items()
                              if int(slot) in rows}, entry["components"])

    def test_what_else_the_session_says(self):
        kinds = collections.Counter()
        path_words = {"challenge": set(), "response": set()}
        inputs, results, close, fragments = {}, set(), None, 0
        for sender, _, body in PACKETS:
            packet = wire.read_packet(body)
            kinds[sender, packet.payload_type] += 1
            if sender == "server" and packet.path_challenge is not None:
                path_words["challenge"].add(packet.path_challenge)
            if sender == "client" and packet.path_response is not None:
                path_words["response"].add(packet.path_response)
            if packet.payload_type == wire.CLIENT_UPDATE:
                update = wire.read_client_update(packet.payload)
                ticks = [tick for tick, _ in update.inputs]
                self.assertEqual(ticks, sorted(set(ticks)))
                for tick, payload in update.inputs:
                    self.assertEqual(inputs.setdefault(tick, payload), payload)
                if update.digest:
                    results.add(update.digest[1])
            if packet.payload_type == wire.MESSAGES:
                messages = wire.read_messages(packet.payload)
                fragments += len(messages.ordered) + len(messages.unordered)
            if packet.payload_type == wire.CLOSE:
                close = wire.read_close(packet.payload)
        self.assertEqual({kind for sender, kind in kinds if sender == "client"}, {0, wire.CLIENT_UPDATE})
        self.assertEqual({kind for sender, kind in kinds if sender == "server"}, {0, wire.FRAME, wire.CLOSE, wire.MESSAGES})
        self.assertGreater(fragments, 0)
        self.assertEqual(path_words["challenge"], path_words["response"])
        self.assertEqual(len(path_words["challenge"]), 1)
        self.assertGreater(len(inputs), 20)
        self.assertEqual(results, {1})  # exact
        self.assertEqual(close, (2, ""))  # the server shut down

    def test_a_damaged_block_is_noticed_or_says_the_same(self):
        mirror, noticed = Mirror(), 0
        for frame in frames():
            mirror.take(frame)
        tried = 0
        for n, (block, before, _) in enumerate(mirror.decoded[::5]):
            for bit in range(n % 11, 8 * len(block.body), 37):
                damaged = bytearray(block.body)
                damaged[bit // 8] ^= 1 << bit % 8
                tried += 1
                try:
                    said = blocks.decode(bytes(damaged), block.chunk, block.to, before, COMPONENTS)
                except blocks.Bad:
                    noticed += 1
                    continue
                if blocks.state_hash(block.chunk, block.to, said[0], COMPONENTS) != block.hash:
                    noticed += 1
                    continue
                # Some numbers have two codes, and the slot of an extra departure is told for nobody's sake.
                self.assertEqual(said, blocks.decode(block.body, block.chunk, block.to, before, COMPONENTS),
                                 f"chunk {block.chunk} to {block.to}, bit {bit}")
        self.assertGreater(tried, 200)
        self.assertGreater(noticed, tried * 0.95)

    def test_a_cut_packet_is_malformed_or_says_less(self):
        whole = PACKETS[20][2]
        for size in range(4, len(whole), 3):
            try:
                packet = wire.read_packet(whole[:size])
                if packet.payload_type == wire.FRAME:
                    wire.read_frame(packet.payload)
            except (flat.Malformed, wire.Bad):
                continue
            self.assertGreater(size, 40)

    @unittest.skipUnless("SHOAL_BIN" in os.environ, "without a build there is nothing to compare with")
    def test_recording_is_what_the_code_says_today(self):
        recorder = pathlib.Path(os.environ["SHOAL_BIN"]) / "conformance_recorder"
        now = subprocess.run([recorder], stdout=subprocess.PIPE, check=True).stdout
        self.assertTrue(now == FIXTURE.read_bytes(), "the bytes changed; see the head of this file for a new recording")


if __name__ == "__main__":
    unittest.main()
