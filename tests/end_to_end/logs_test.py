"""The logs of real programs: both formats, a flood of refusals, and no secret in any of them.

Started by ctest with SHOAL_BIN, the folder of a build with faults, in the environment.
"""

import json
import re
import signal
import socket
import sys
import time
import unittest
from pathlib import Path

from joining_test import Joining

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
import wire


def objects(text):
    """Each line as JSON; fails on any line that is none."""
    return [json.loads(line) for line in text.splitlines()]


class Logs(Joining):
    def end(self, server, log):
        server.send_signal(signal.SIGTERM)
        return self.ends_with(server, 0, log)

    def test_each_line_is_an_object_and_names_session_player_and_peer(self):
        server, log = self.start_logged("shoal-server", "--bind", "127.0.0.1", "--port", 0, "--entities", 50, "--log-level", "trace",
                                        "--log-format", "json")
        port = self.wait_for(log, r"listening on 127\.0\.0\.1:(\d+)").group(1)
        bots, bots_log = self.start_logged("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 2, "--seconds", 6,
                                           "--log-level", "trace", "--log-format", "json")
        self.ends_with(bots, 0, bots_log)
        lines = objects(self.end(server, log))
        for line in lines + objects(bots_log.read_text()):
            self.assertRegex(line["ts"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(line["level"], ("trace", "debug", "info", "warn", "error"))
            self.assertLessEqual(line.keys(), {"ts", "level", "msg", "session", "player", "peer"})
        joined = [line for line in lines if line["level"] == "info" and " joined from " in line["msg"]]
        left = [line for line in lines if line["level"] == "info" and " left: " in line["msg"]]
        self.assertEqual((len(joined), len(left)), (2, 2))
        for line in joined:
            self.assertRegex(line["peer"], r"^127\.0\.0\.1:\d+$")
            self.assertIn(line["player"], line["msg"])
        self.assertEqual(sorted((line["session"], line["player"]) for line in joined),
                         sorted((line["session"], line["player"]) for line in left))
        self.assertEqual({line["session"] for line in joined}, {"0.1", "1.1"})
        self.assertTrue(any("of 6 s" in line["msg"] for line in objects(bots_log.read_text())), "a line of progress")

    def test_flood_of_refused_joins_is_no_flood_of_lines(self):
        # Clients of another version: each is refused, and each refusal is worth a line.
        flood = 6000
        hellos = [wire.hello(nonce, bytes(range(32)), version=99) for nonce in range(1, 33)]
        for level, marker, told_of in (("info", "info  refused 127", "info "), ("debug", "debug net: refused 127", "debug net:")):
            with self.subTest(level), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                server, log = self.start_logged("shoal-server", "--bind", "127.0.0.1", "--port", 0, "--entities", 0, "--log-level", level)
                port = int(self.wait_for(log, r"listening on 127\.0\.0\.1:(\d+)").group(1))
                began = time.monotonic()
                for i in range(flood):
                    stranger.sendto(hellos[i % len(hellos)], ("127.0.0.1", port))
                    if i % 40 == 39:
                        time.sleep(0.02)
                time.sleep(1.5)  # the next line is allowed, and tells of those that were left out
                stranger.sendto(hellos[0], ("127.0.0.1", port))
                left_out = rf"{told_of} ?(\d+) lines about (?:peers|refusals) were left out"
                time.sleep(0.5)
                seconds = time.monotonic() - began
                text = self.end(server, log)
                written = text.count(f" {marker}")
                self.assertGreater(written, 0)
                self.assertLessEqual(written, 200 * (int(seconds) + 2))
                unwritten = sum(map(int, re.findall(left_out, text)))
                self.assertGreater(unwritten, 0, "what is not written is counted")
                self.assertLessEqual(written + unwritten, flood + 1)
                self.assertGreater(written + unwritten, flood // 2)

    def test_no_secret_is_in_any_log_of_any_format(self):
        password = "open-sesame-7291"
        password_file = self.file("password", password + "\n")
        matchmaker, issuer = self.matchmaker()
        secrets = [password]
        for form in ("text", "json"):
            for join, shown in ((("--join", "password", "--password-file", password_file), ("--password-file", password_file)),
                                (("--join", "ticket", "--ticket-issuer", issuer), ("--ticket-key", matchmaker))):
                identity = self.path / f"identity-{len(self.logs)}"
                server, log = self.start_logged("shoal-server", "--bind", "127.0.0.1", "--port", 0, "--entities", 50, "--identity", identity,
                                                "--log-level", "trace", "--log-format", form, *join)
                port = self.wait_for(log, r"listening on 127\.0\.0\.1:(\d+)").group(1)
                key = self.wait_for(log, r"server key: ([0-9a-f]{64});").group(1)
                bots, bots_log = self.start_logged("shoal-bots", "--server", f"127.0.0.1:{port}", "--server-key", key, "--bots", 2, "--seconds", 1,
                                                   "--log-level", "trace", "--log-format", form, *shown)
                self.ends_with(bots, 0, bots_log)
                # Without it, the refusal is logged, too.
                stranger, stranger_log = self.start_logged("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 1, "--log-level", "trace",
                                                           "--log-format", form)
                self.ends_with(stranger, 1, stranger_log)
                self.end(server, log)
                secrets.append(identity)
        secrets.append(matchmaker)
        words = set()
        for secret in secrets:
            text = secret if isinstance(secret, str) else secret.read_text()
            found = [password] if isinstance(secret, str) else re.findall(r"\b[0-9a-fA-F]{64}\b", text)
            self.assertTrue(found, f"no secret in {secret}")
            words |= set(found)
        for log in self.logs:
            raw = log.read_bytes()
            for word in words:
                forms = [word.encode(), word.encode().hex().encode()]
                if re.fullmatch(r"[0-9a-fA-F]{64}", word):
                    forms.append(bytes.fromhex(word))
                for one in forms:
                    self.assertNotIn(one.lower(), raw.lower(), f"a secret is in {log.name}")


if __name__ == "__main__":
    unittest.main()
