"""Stopping, restarting and coming back, as an operator meets it: real processes, real signals, kill -9.

Started by ctest with SHOAL_BIN, the folder of a build with faults, in the environment.
"""

import os
import re
import signal
import subprocess
import time
import unittest

from programs_test import BIN, TIME_OUT, Programs


class Life(Programs):
    """Programs whose words go to files, which can be read while they run: process.log."""

    def start(self, program, *arguments, fault="", variables=None):
        log = self.path / f"log-{len(self.processes)}"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        environment["XDG_STATE_HOME"] = str(self.path / "state")
        environment.update(variables or {})
        if fault:
            environment["SHOAL_FAULT"] = fault
        with log.open("w") as target:
            process = subprocess.Popen([BIN / program, *map(str, arguments)], env=environment, stdout=target,
                                       stderr=subprocess.STDOUT)
        process.log = log
        self.processes.append(process)
        return process

    def finish(self, process):
        return process.wait(timeout=TIME_OUT), process.log.read_text()

    def wait_for(self, process, pattern, times=1):
        deadline = time.monotonic() + TIME_OUT
        while len(re.findall(pattern, process.log.read_text())) < times:
            self.assertLess(time.monotonic(), deadline, f"{pattern} never came in:\n{process.log.read_text()}")
            time.sleep(0.02)

    def serve(self, *arguments, port=0, fault=""):
        """A server and its port: one that another server has left, or any."""
        server = self.start("shoal-server", "--bind", "127.0.0.1", "--port", port, "--identity",
                            self.path / "identity.key", "--entities", 50, "--time-out", 1, *arguments, fault=fault)
        self.wait_for(server, "server key: ")
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", server.log.read_text())
        return server, int(found.group(1))

    def play(self, port, server, count, *arguments):
        """Bots that are in session."""
        bots = self.start_bots(port, "--bots", count, *arguments)
        self.wait_for(server, r"player \d+ joined", times=count)
        return bots


class Drain(Life):
    def test_players_are_told_and_may_play_on_until_the_deadline(self):
        server, port = self.serve("--drain-seconds", 3)
        bots = self.play(port, server, 3, "--reconnect", 0)
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        self.wait_for(server, r"draining at tick \d+: 3 players have 3\.0 s")
        late = self.start("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 1)
        code, said = self.finish(late)
        self.assertEqual(code, 1, said)
        self.assertIn("the server ends soon and lets nobody in", said)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        self.assertGreater(time.monotonic() - began, 2.9)
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.report("bots")["lost"], 0)

    def test_it_ends_when_the_last_player_has_left(self):
        server, port = self.serve("--drain-seconds", 600)
        bots = self.play(port, server, 3)
        server.send_signal(signal.SIGTERM)
        self.wait_for(server, "draining at tick")
        bots.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(bots)[0], 0)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)

    def test_a_second_sigterm_ends_it_at_once_and_the_exit_code_says_so(self):
        server, port = self.serve("--drain-seconds", 600)
        bots = self.play(port, server, 3, "--reconnect", 0)
        server.send_signal(signal.SIGTERM)
        self.wait_for(server, "draining at tick")
        server.send_signal(signal.SIGTERM)
        code, said = self.finish(server)
        self.assertEqual(code, 3, said)
        self.assertIn("before players had left", said)
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.report("bots")["lost"], 0, "they were told")


class Reconnect(Life):
    def test_bots_are_back_after_the_server_was_killed_and_started_again(self):
        server, port = self.serve()
        bots = self.play(port, server, 5)
        server.kill()
        server.wait()
        server, _ = self.serve(port=port)
        self.wait_for(server, r"player \d+ joined", times=5)
        bots.send_signal(signal.SIGINT)
        self.finish(bots)
        report = self.report("bots")
        self.assertEqual((report["connected"], report["lost"], report["reconnected"]), (5, 5, 5))
        self.assertEqual((report["sessions"], report["mismatches"], report["decode_errors"]), (10, 0, 0))

    def test_bots_are_back_after_a_drain_and_nothing_was_lost(self):
        server, port = self.serve("--drain-seconds", 1)
        bots = self.play(port, server, 5)
        server.send_signal(signal.SIGTERM)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        server, _ = self.serve(port=port)
        self.wait_for(server, r"player \d+ joined", times=5)
        bots.send_signal(signal.SIGINT)
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        report = self.report("bots")
        self.assertEqual((report["connected"], report["lost"], report["reconnected"]), (5, 0, 5))

    def test_bots_that_stood_still_for_too_long_find_their_players_again(self):
        server, port = self.serve()
        bots = self.play(port, server, 3)
        bots.send_signal(signal.SIGSTOP)
        self.wait_for(server, r"player \d+ left: timed out", times=3)
        bots.send_signal(signal.SIGCONT)
        self.wait_for(server, r"player [123] is back", times=3)
        self.assertEqual(len(re.findall(r"player \d+ joined", server.log.read_text())), 3)

    def test_who_does_not_come_back_counts_as_lost_and_the_run_ends(self):
        server, port = self.serve()
        bots = self.play(port, server, 2, "--reconnect", 1)
        server.kill()
        code, said = self.finish(bots)
        self.assertEqual(code, 1, said)
        report = self.report("bots")
        self.assertEqual((report["lost"], report["reconnected"]), (2, 0))


class Watchdog(Life):
    def test_it_names_the_system_in_which_the_tick_hangs_and_says_that_it_goes_on(self):
        server, port = self.serve("--watchdog-seconds", 0.5, fault="stall-in-a-system")
        self.wait_for(server, r"the tick has not gone on for \d+\.\d s: it is in systems: sleepwalk\n")
        self.wait_for(server, r"the tick goes on, after \d+\.\d s")
        self.assertEqual(len(re.findall("sleepwalk", server.log.read_text())), 1, "it is said every ten seconds")
        server.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(server)[0], 0)

    def test_it_ends_the_process_when_told_to(self):
        server, port = self.serve("--watchdog-seconds", 0.3, "--watchdog-abort-seconds", 1, fault="stall-in-a-system")
        code, said = self.finish(server)
        self.assertEqual(code, -signal.SIGABRT, said)
        self.assertIn("it is in systems: sleepwalk; ending", said)


if __name__ == "__main__":
    unittest.main()
