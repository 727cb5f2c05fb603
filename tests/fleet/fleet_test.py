"""A real shoal-server beside a stand-in for Agones' side-car: what it says, when, and what it does when told to end."""

import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "end_to_end"))

from programs_test import BIN, TIME_OUT, Programs  # noqa: E402
from side_car import SideCar  # noqa: E402

PLAYERS = "PATCH /v1beta1/counters/players"


class Fleet(Programs):
    def setUp(self):
        super().setUp()
        self.log = self.path / "log"

    def side_car(self, **options):
        side_car = SideCar(**options)
        self.addCleanup(side_car.close)
        return side_car

    def serve(self, agones_port, *arguments, fault=""):
        """The server, in a fleet because the environment says so, and its port. Its words go to self.log."""
        port_file = self.path / "port"
        port_file.unlink(missing_ok=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        environment |= {"XDG_STATE_HOME": str(self.path / "state"), "AGONES_SDK_HTTP_PORT": str(agones_port)}
        if fault:
            environment["SHOAL_FAULT"] = fault
        with self.log.open("w") as log:
            server = subprocess.Popen([BIN / "shoal-server", "--bind", "127.0.0.1", "--port", "0", "--port-file", port_file,
                                       "--entities", "50", "--max-players", "8", *map(str, arguments)], env=environment,
                                      stdout=log, stderr=log)
        self.processes.append(server)
        self.until(lambda: server.poll() is not None or (port_file.exists() and port_file.read_text().endswith("\n")), "port")
        self.assertIsNone(server.poll(), self.log.read_text())
        return server, int(port_file.read_text())

    def until(self, is_so, what):
        deadline = time.monotonic() + TIME_OUT
        while not is_so():
            self.assertLess(time.monotonic(), deadline, f"never: {what}\n{self.log.read_text() if self.log.exists() else ''}")
            time.sleep(0.02)

    def ends(self, server, code=0):
        self.assertEqual(server.wait(TIME_OUT), code, self.log.read_text())
        return self.log.read_text()

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        self.finish(process)


class Life(Fleet):
    def test_calls_come_in_order_from_ready_to_shutdown(self):
        side_car = self.side_car()
        server, port = self.serve(side_car.port, "--fleet-map", "arena-1")
        self.until(lambda: side_car.now_in() == "Ready", "Ready")
        bots = self.start_bots(port, "--bots", 3)
        self.until(lambda: side_car.counters["players"]["count"] == 3, "three players counted")
        self.assertEqual(side_car.counters["players"]["capacity"], 8)
        self.assertEqual(side_car.now_in(), "Ready", "nobody asked it to allocate itself")
        self.stop(bots)
        self.until(lambda: side_car.counters["players"]["count"] == 0, "they left")
        server.send_signal(signal.SIGTERM)
        said = self.ends(server)
        names = side_car.names()
        self.assertEqual(names[:5], ["PUT /metadata/label"] * 2 + ["PUT /metadata/annotation", PLAYERS, "POST /ready"])
        self.assertEqual(names[-1], "POST /shutdown")
        self.assertEqual((names.count("POST /ready"), names.count("POST /shutdown")), (1, 1))
        self.assertEqual(side_car.labels["agones.dev/sdk-map"], "arena-1")
        self.assertRegex(side_car.labels["agones.dev/sdk-version"], r"\A\d+\.\d+\.\d+\Z")
        self.assertIn(f"server key: {side_car.annotations['agones.dev/sdk-server-key']};", said)
        self.assertGreater(side_car.count("POST /health"), 0)
        self.assertTrue(all(body for _, call, body in side_car.calls if call.startswith("POST")), "an empty body is refused")
        self.assertNotIn("Unhealthy", side_car.states)

    def test_shutdown_is_said_when_the_world_ends_by_itself_and_sigterm_is_waited_for(self):
        side_car = self.side_car()
        server, port = self.serve(side_car.port, "--seconds", 1)
        bots = self.start_bots(port, "--bots", 1, "--until-server-ends")
        self.until(lambda: side_car.now_in() == "Shutdown", "Shutdown")
        self.finish(bots)
        self.until(lambda: "waiting for SIGTERM" in self.log.read_text(), "waiting")
        healths = side_car.count("POST /health")
        self.until(lambda: side_car.count("POST /health") > healths + 1, "health until the end")
        self.assertIsNone(server.poll())
        server.send_signal(signal.SIGTERM)
        self.ends(server)

    def test_without_the_variable_nobody_is_called_and_off_switches_off(self):
        side_car = self.side_car()
        for variable, arguments in ((side_car.port, ("--fleet", "off")), ("", ())):
            server, _ = self.serve(variable, *arguments)
            time.sleep(0.5)
            server.send_signal(signal.SIGTERM)
            self.assertNotIn("fleet:", self.ends(server))
        self.assertEqual(side_car.calls, [])

    def test_wrong_variable_and_wrong_map_are_refused(self):
        for variables, arguments, words in (({"AGONES_SDK_HTTP_PORT": "http"}, (), "AGONES_SDK_HTTP_PORT"),
                                            ({"AGONES_SDK_HTTP_PORT": "70000"}, (), "--fleet off"),
                                            ({"AGONES_SDK_HTTP_PORT": "9358"}, ("--fleet-map", "no spaces"), "--fleet-map")):
            code, said = self.finish(self.start("shoal-server", "--port", 0, *arguments, variables=variables))
            self.assertEqual(code, 2, said)
            self.assertIn(words, said)


class Trouble(Fleet):
    def free_port(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]

    def test_side_car_that_comes_up_late_is_found(self):
        agones = self.free_port()
        server, port = self.serve(agones)
        self.until(lambda: "does not answer" in self.log.read_text(), "the warning")
        code, said = self.finish(self.start_bots(port, "--bots", 1, "--seconds", 1))
        self.assertEqual(code, 0, said)
        side_car = self.side_car(port=agones)
        self.until(lambda: side_car.now_in() == "Ready", "Ready")
        server.send_signal(signal.SIGTERM)
        said = self.ends(server)
        self.assertEqual(said.count("does not answer"), 1, "one line, not one for each attempt")
        self.assertEqual(side_car.now_in(), "Shutdown")

    def test_side_car_that_dies_and_comes_back_hears_on(self):
        first = SideCar()
        server, port = self.serve(first.port)
        self.until(lambda: first.now_in() == "Ready", "Ready")
        first.close()
        self.until(lambda: "does not answer" in self.log.read_text(), "the warning")
        bots = self.start_bots(port, "--bots", 2)
        again = self.side_car(port=first.port, state="Ready")  # its state is the cluster's
        self.until(lambda: again.counters["players"]["count"] == 2, "the players that came meanwhile")
        self.until(lambda: again.count("POST /health") > 1, "health")
        self.assertEqual(again.count("POST /ready"), 0, "it is ready as it was")
        self.stop(bots)
        server.send_signal(signal.SIGTERM)
        self.ends(server)
        self.assertEqual(again.now_in(), "Shutdown")

    def test_side_car_that_never_comes_does_not_hold_up_the_end(self):
        server, _ = self.serve(self.free_port())
        server.send_signal(signal.SIGTERM)
        self.assertIn("took no shutdown", self.ends(server))

    def test_side_car_that_accepts_and_never_answers_does_not_hold_up_tick_or_end(self):
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen(16)
            server, port = self.serve(mute.getsockname()[1])
            code, said = self.finish(self.start_bots(port, "--bots", 2, "--seconds", 2))
            self.assertEqual(code, 0, said)
            server.send_signal(signal.SIGTERM)
            self.ends(server)

    def test_side_car_without_counters_is_said_once(self):
        for counters in (False, {}):
            side_car = self.side_car(counters=counters)
            server, port = self.serve(side_car.port)
            self.until(lambda: side_car.now_in() == "Ready", "Ready")
            self.finish(self.start_bots(port, "--bots", 2, "--seconds", 1))
            server.send_signal(signal.SIGTERM)
            self.assertEqual(self.ends(server).count("no counter 'players'"), 1)
            self.assertEqual(side_car.count(PLAYERS), 1)

    def test_health_stops_while_the_tick_hangs(self):
        side_car = self.side_car(period_seconds=1, failure_threshold=3)
        self.serve(side_car.port, fault="tick-hangs")
        self.until(lambda: side_car.count("POST /health") > 0, "health of the first ticks")
        self.until(lambda: side_car.now_in() == "Unhealthy", "Unhealthy")
        healths = side_car.count("POST /health")
        looks = side_car.count("GET /gameserver")
        self.until(lambda: side_car.count("GET /gameserver") > looks + 2, "the thread goes on")
        self.assertEqual(side_car.count("POST /health"), healths)
        self.until(lambda: "no way back" in self.log.read_text(), "said")


class States(Fleet):
    def test_first_player_allocates_and_the_last_one_reserves(self):
        side_car = self.side_car()
        _, port = self.serve(side_car.port, "--fleet-allocate-on-join", "--fleet-reserve-seconds", 1)
        self.until(lambda: side_car.now_in() == "Ready", "Ready")
        bots = self.start_bots(port, "--bots", 2)
        self.until(lambda: side_car.now_in() == "Allocated", "Allocated")
        self.stop(bots)
        self.until(lambda: "Reserved" in side_car.states and side_car.now_in() == "Ready", "Reserved, then Ready")
        self.assertEqual(side_car.states, ["Scheduled", "Ready", "Allocated", "Reserved", "Ready"])
        self.assertEqual(side_car.names().count("POST /reserve"), 1)

    def test_allocation_by_the_fleet_is_left_as_it_is(self):
        side_car = self.side_car()
        _, port = self.serve(side_car.port)
        self.until(lambda: side_car.now_in() == "Ready", "Ready")
        side_car.become("Allocated")
        self.until(lambda: "is Allocated, was Ready" in self.log.read_text(), "seen")
        self.finish(self.start_bots(port, "--bots", 1, "--seconds", 1))
        self.until(lambda: side_car.counters["players"]["count"] == 0 and side_car.count(PLAYERS) > 2, "they left")
        self.assertEqual(side_car.now_in(), "Allocated")

    def test_shutdown_from_outside_and_deletion_end_the_server(self):
        for end in (lambda car: car.become("Shutdown"), lambda car: setattr(car, "deletion", 1531795395)):
            side_car = self.side_car()
            server, port = self.serve(side_car.port)
            self.until(lambda: side_car.now_in() == "Ready", "Ready")
            bots = self.start_bots(port, "--bots", 1, "--until-server-ends")
            self.until(lambda: side_car.counters["players"]["count"] == 1, "a player")
            end(side_car)
            self.until(lambda: side_car.count("POST /shutdown") == 1, "the drain's end")
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
            self.assertIn("Agones ends this server", self.ends(server))
            self.finish(bots)


if __name__ == "__main__":
    unittest.main()
