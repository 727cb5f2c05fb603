"""The programs as a user meets them: real processes, real UDP on loopback, real signals, real files.

Started by ctest with SHOAL_BIN, the folder of a build with faults, in the environment.
"""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(os.environ["SHOAL_BIN"])
TIME_OUT = 120


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.folder.cleanup()

    def start(self, program, *arguments, fault="", variables=None):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        environment["XDG_STATE_HOME"] = str(self.path / "state")
        environment.update(variables or {})
        if fault:
            environment["SHOAL_FAULT"] = fault
        process = subprocess.Popen([BIN / program, *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def finish(self, process):
        """Exit code and what it said."""
        out, err = process.communicate(timeout=TIME_OUT)
        return process.returncode, out + err

    def start_server(self, *arguments, fault=""):
        port_file = self.path / "port"
        server = self.start("shoal-server", "--bind", "127.0.0.1", "--port", 0, "--port-file", port_file, "--report",
                            self.path / "server.json", *arguments, fault=fault)
        deadline = time.monotonic() + TIME_OUT
        while not (port_file.exists() and port_file.read_text().endswith("\n")):
            self.assertIsNone(server.poll(), "the server did not start")
            self.assertLess(time.monotonic(), deadline, "the server does not come up")
            time.sleep(0.02)
        return server, int(port_file.read_text())

    def start_bots(self, port, *arguments, fault=""):
        return self.start("shoal-bots", "--server", f"127.0.0.1:{port}", "--report", self.path / "bots.json",
                          *arguments, fault=fault)

    def report(self, name):
        return json.loads((self.path / f"{name}.json").read_text())


class WholeRun(Programs):
    def test_every_mirror_is_exact_at_the_end_of_a_lossy_run(self):
        server, port = self.start_server("--seconds", 4, "--entities", 200, "--threads", 3)
        bots = self.start_bots(port, "--bots", 8, "--loss", 5, "--latency", 20, "--jitter", 5, "--duplicate", 2,
                               "--reorder", 5, "--corrupt", 1, "--until-server-ends")
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        report = self.report("bots")
        self.assertEqual((report["connected"], report["refused"], report["lost"]), (8, 0, 0))
        self.assertEqual((report["mismatches"], report["decode_errors"]), (0, 0))
        self.assertEqual(report["exact_at_end"], 8)
        self.assertGreater(report["blocks_verified"], 1000)
        self.assertGreater(self.report("server")["blocks_sent"], self.report("server")["blocks_encoded"])

    def test_one_value_flipped_in_one_mirror_is_found(self):
        server, port = self.start_server("--seconds", 3, "--entities", 100)
        bots = self.start_bots(port, "--bots", 5, "--until-server-ends", fault="flip-mirror-value")
        code, said = self.finish(bots)
        self.assertNotEqual(code, 0, said)
        code, said = self.finish(server)
        self.assertNotEqual(code, 0, said)
        self.assertEqual((self.report("bots")["exact_at_end"], self.report("bots")["different_at_end"]), (4, 1))

    def test_interrupted_server_compares_tells_its_clients_and_ends_clean(self):
        server, port = self.start_server("--entities", 50)
        bots = self.start_bots(port, "--bots", 3, "--until-server-ends")
        time.sleep(2)
        server.send_signal(signal.SIGINT)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.report("bots")["exact_at_end"], 3)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", port))  # nothing holds the port any more

    def test_interrupted_bots_leave_and_the_server_goes_on(self):
        server, port = self.start_server("--entities", 50)
        bots = self.start_bots(port, "--bots", 3)
        time.sleep(2)
        bots.send_signal(signal.SIGINT)
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        again = self.start_bots(port, "--bots", 2, "--seconds", 1)
        code, said = self.finish(again)
        self.assertEqual(code, 0, said)
        self.assertIsNone(server.poll())
        server.send_signal(signal.SIGINT)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)

    def test_churn_bots_that_are_away_at_the_end_are_not_missed(self):
        server, port = self.start_server("--seconds", 12, "--entities", 100, "--max-players", 12)
        bots = self.start_bots(port, "--bots", 12, "--scenario", "churn", "--loss", 3, "--latency", 20,
                               "--until-server-ends")
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        report = self.report("bots")
        self.assertEqual((report["connected"], report["refused"], report["lost"]), (12, 0, 0))
        self.assertGreater(report["sessions"], 12)
        self.assertEqual(report["sessions"], self.report("server")["joined"])
        self.assertEqual(report["exact_at_end"], report["in_session_at_end"])
        self.assertGreater(report["exact_at_end"], 0)

    def test_stages_are_followed(self):
        stages = self.path / "stages.toml"
        stages.write_text("[[stage]]\nseconds = 2\nbots = 12\n[[stage]]\nseconds = 2\nbots = 4\n"
                          "mix = { crowd = 1, fight = 1 }\n")
        code, said = self.finish(self.start("shoal-bots", "--stages", stages, "--check-stages"))
        self.assertEqual((code, said), (0, "12 4\n"))
        server, port = self.start_server("--seconds", 5, "--entities", 100)
        bots = self.start_bots(port, "--stages", stages, "--until-server-ends")
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        report = self.report("bots")
        self.assertEqual((report["connected"], report["lost"]), (12, 0))
        self.assertEqual((report["in_session_at_end"], report["exact_at_end"]), (4, 4))

    def test_empty_world_and_no_bots(self):
        server, _ = self.start_server("--entities", 0)
        time.sleep(0.5)
        server.send_signal(signal.SIGTERM)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.report("server")["joined"], 0)


class BadInput(Programs):
    def test_schedule_is_printed_as_a_graph(self):
        code, said = self.finish(self.start("shoal-server", "--print-schedule"))
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\Adigraph schedule \{\n")
        self.assertIn("writes shoal.demo.Position", said)
        self.assertTrue(said.endswith("}\n"), said)

    def test_port_in_use_is_said(self):
        _, port = self.start_server()
        code, said = self.finish(self.start("shoal-server", "--bind", "127.0.0.1", "--port", port))
        self.assertEqual(code, 2)
        self.assertIn(str(port), said)
        self.assertIn("in use", said)

    def test_unreadable_configuration_names_file_line_and_key(self):
        config = self.path / "server.toml"
        config.write_text('[network]\nport = "many"\nprot = 5\n')
        code, said = self.finish(self.start("shoal-server", "--config", config))
        self.assertEqual(code, 2)
        for part in ("server.toml", "2", "port", "prot", "did you mean"):
            self.assertIn(part, said)

    def test_configuration_that_is_not_there_is_said(self):
        code, said = self.finish(self.start("shoal-bots", "--config", self.path / "nothing.toml"))
        self.assertEqual(code, 2)
        self.assertIn("nothing.toml", said)

    def test_option_out_of_range_names_what_is_allowed(self):
        code, said = self.finish(self.start("shoal-bots", "--loss", 200))
        self.assertEqual(code, 2)
        self.assertIn("100", said)

    def test_wrong_stages_name_file_line_and_remedy(self):
        stages = self.path / "stages.toml"
        stages.write_text("[[stage]]\nbots = 5\nmix = { crowds = 1 }\n")
        code, said = self.finish(self.start("shoal-bots", "--stages", stages))
        self.assertEqual(code, 2)
        self.assertIn("stages.toml:3:9: unknown scenario crowds; did you mean crowd?", said)
        code, said = self.finish(self.start("shoal-bots", "--stages", self.path / "nothing.toml"))
        self.assertEqual(code, 2)
        self.assertIn("nothing.toml", said)
        for option in ("--bots=7", "--scenario=wander"):
            code, said = self.finish(self.start("shoal-bots", "--stages", stages, option))
            self.assertEqual(code, 2)
            self.assertIn("contradict", said)

    def test_stages_that_nobody_answers_are_no_success(self):
        stages = self.path / "stages.toml"
        stages.write_text("[[stage]]\nseconds = 1\nbots = 2\n")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            code, said = self.finish(self.start_bots(silent.getsockname()[1], "--stages", stages))
        self.assertEqual(code, 1, said)

    def test_nobody_answers(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            code, said = self.finish(self.start_bots(silent.getsockname()[1], "--bots", 1))
        self.assertEqual(code, 1)
        self.assertIn("never answered", said)
        self.assertEqual(self.report("bots")["lost"], 1)

    def test_bots_that_never_got_in_are_no_success(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            code, said = self.finish(self.start_bots(silent.getsockname()[1], "--bots", 2, "--seconds", 1))
        self.assertEqual(code, 1, said)

    def test_report_that_cannot_be_written_is_said_at_the_start(self):
        for program in ("shoal-server", "shoal-bots"):
            code, said = self.finish(self.start(program, "--report", self.path / "no" / "such" / "folder.json"))
            self.assertEqual(code, 2)
            self.assertIn("folder.json", said)

    def test_full_server_refuses_with_a_reason(self):
        server, port = self.start_server("--max-players", 2)
        code, said = self.finish(self.start_bots(port, "--bots", 4, "--seconds", 2))
        self.assertEqual(code, 1)
        self.assertEqual((self.report("bots")["connected"], self.report("bots")["refused"]), (2, 2))
        self.assertIn("no free session", said)

    def test_garbage_on_the_port_disturbs_nobody(self):
        server, port = self.start_server("--seconds", 3, "--entities", 50)
        bots = self.start_bots(port, "--bots", 3, "--until-server-ends")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as garbage:
            for i in range(3000):
                garbage.sendto(bytes((i * 7 + j * 13) % 256 for j in range(i % 1300)), ("127.0.0.1", port))
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.report("bots")["exact_at_end"], 3)
        code, said = self.finish(server)
        self.assertEqual(code, 0, said)


class Help(Programs):
    def test_help_shows_every_option_with_its_environment_name(self):
        for program in ("shoal-server", "shoal-bots", "shoal-simulate"):
            code, said = self.finish(self.start(program, "--help"))
            self.assertEqual(code, 0)
            self.assertIn("SHOAL_", said)
            code, said = self.finish(self.start(program, "--version"))
            self.assertEqual(code, 0)
            self.assertRegex(said, r"\d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
