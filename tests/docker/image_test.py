#!/usr/bin/env python3
"""The image on a real Docker engine: what is in it, limits, health, a clean stop, a world that comes back, compose.

Started by scripts/test-docker, which builds the image and says by SHOAL_TEST_* how to call the engine.
"""
import gzip
import json
import os
import pathlib
import re
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = os.environ["SHOAL_TEST_DOCKER"]
COMPOSE = os.environ["SHOAL_TEST_COMPOSE"].split()
LABEL = os.environ["SHOAL_TEST_LABEL"]
IMAGE = "shoal:latest"
MEGABYTE = 1000 * 1000
# As docs/operations.md runs it.
HARDENED = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--memory", "256m", "--memory-swap",
            "256m", "--cpus", "1", "--pids-limit", "64", "--ulimit", "nofile=4096:4096"]


def docker(*arguments, check=True, timeout=120):
    done = subprocess.run([DOCKER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"docker {' '.join(arguments)}: {done.returncode}: {done.stdout}{done.stderr}")
    return done


def wait_until(what, is_true, seconds=60):
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.2)


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Containers(unittest.TestCase):
    def setUp(self):
        self.containers = []
        self.volumes = []
        self.network = f"shoal-{uuid.uuid4().hex[:8]}"
        docker("network", "create", self.network)

    def tearDown(self):
        for name in self.containers:
            docker("rm", "--force", "--volumes", name, check=False)
        for name in self.volumes:
            docker("volume", "rm", "--force", name, check=False)
        docker("network", "rm", self.network, check=False)

    def volume(self):
        name = f"shoal-{uuid.uuid4().hex[:8]}"
        docker("volume", "create", name)
        self.volumes.append(name)
        return name

    def run_server(self, *arguments, options=()):
        name = f"server-{uuid.uuid4().hex[:8]}"
        self.containers.append(name)
        docker("run", "--detach", "--name", name, "--label", LABEL, "--network", self.network, *HARDENED, *options, IMAGE,
               "shoal-server", *arguments)
        return name

    def run_bots(self, server, *arguments):
        return docker("run", "--rm", "--label", LABEL, "--network", self.network, *HARDENED, IMAGE, "shoal-bots", "--server",
                      f"{server}:7777", *arguments, check=False)

    def state(self, name):
        return json.loads(docker("inspect", "--format", "{{json .State}}", name).stdout)

    def health(self, name):
        return self.state(name)["Health"]["Status"]

    def logs(self, name):
        done = docker("logs", name)
        return done.stdout + done.stderr

    def stop(self, name):
        """Its exit code."""
        docker("stop", "--time", "30", name)
        return self.state(name)["ExitCode"]


class Contents(Containers):
    def test_image_is_at_most_twenty_megabytes_compressed(self):
        saved = subprocess.run([DOCKER, "save", IMAGE], stdout=subprocess.PIPE, check=True, timeout=120).stdout
        compressed = len(gzip.compress(saved, compresslevel=6))
        print(f"\nthe image: {compressed / MEGABYTE:.1f} MB compressed")
        self.assertLessEqual(compressed, 20 * MEGABYTE)

    def test_labels_say_which_version_it_is(self):
        labels = json.loads(docker("inspect", "--format", "{{json .Config.Labels}}", IMAGE).stdout)
        self.assertEqual(labels["org.opencontainers.image.version"], os.environ["SHOAL_TEST_VERSION"])
        self.assertEqual(labels["org.opencontainers.image.revision"], os.environ["SHOAL_TEST_REVISION"])

    def test_all_programs_of_one_version_are_there(self):
        for program in ("shoal-server", "shoal-bots", "shoal-ticket", "shoal-image"):
            done = docker("run", "--rm", "--label", LABEL, IMAGE, program, "--version")
            self.assertIn(os.environ["SHOAL_TEST_VERSION"], done.stdout, program)

    def test_nobody_is_root_and_there_is_no_shell(self):
        self.assertEqual(docker("inspect", "--format", "{{.Config.User}}", IMAGE).stdout.strip(), "10001:10001")
        self.assertNotEqual(docker("run", "--rm", "--label", LABEL, IMAGE, "sh", "-c", "true", check=False).returncode, 0)

    def test_version_of_the_dockerfile_is_that_of_the_project(self):
        text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
        self.assertEqual(re.search(r"^ARG VERSION=(.*)$", text, re.MULTILINE)[1], os.environ["SHOAL_TEST_VERSION"])


class Running(Containers):
    def test_bots_join_a_hardened_server_that_becomes_healthy_and_ends_with_zero(self):
        server = self.run_server("--entities", "500", options=("--volume", f"{self.volume()}:/var/lib/shoal",
                                                               "--health-interval", "1s"))
        wait_until("healthy", lambda: self.health(server) == "healthy")
        bots = self.run_bots(server, "--bots", "10", "--seconds", "5")
        self.assertEqual(bots.returncode, 0, bots.stdout + bots.stderr)
        self.assertIn("10 of 10 connected", bots.stdout + bots.stderr)
        self.assertEqual(self.stop(server), 0, self.logs(server))

    def test_server_has_no_capabilities_and_its_limits(self):
        server = self.run_server("--entities", "0", options=("--volume", f"{self.volume()}:/var/lib/shoal"))
        wait_until("listening", lambda: "listening" in self.logs(server))
        limits = json.loads(docker("inspect", "--format", "{{json .HostConfig}}", server).stdout)
        self.assertEqual(limits["Memory"], 256 * 1024 * 1024)
        status = pathlib.Path(f"/proc/{self.state(server)['Pid']}/status")
        if not status.exists():
            self.skipTest("the engine runs elsewhere: its processes cannot be looked at")
        fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        self.assertEqual(int(fields["CapEff"], 16), 0)
        self.assertEqual(fields["Uid"].split()[0], "10001")
        self.assertEqual(fields["NoNewPrivs"], "1")

    def test_server_that_hangs_is_unhealthy_and_recovers(self):
        server = self.run_server("--entities", "0", options=("--volume", f"{self.volume()}:/var/lib/shoal",
                                                             "--health-interval", "1s", "--health-retries", "2"))
        wait_until("healthy", lambda: self.health(server) == "healthy")
        docker("kill", "--signal", "STOP", server)
        wait_until("unhealthy", lambda: self.health(server) == "unhealthy")
        docker("kill", "--signal", "CONT", server)
        wait_until("healthy again", lambda: self.health(server) == "healthy")

    def test_world_comes_back_with_its_volume(self):
        volume = self.volume()
        options = ("--volume", f"{volume}:/var/lib/shoal", "--env", "SHOAL_SAVE_DIR=/var/lib/shoal/saves")
        first = self.run_server("--entities", "300", options=options)
        wait_until("listening", lambda: "listening" in self.logs(first))
        key = re.search(r"server key: (\w+)", self.logs(first))[1]
        self.assertEqual(self.stop(first), 0, self.logs(first))
        ended_at = int(re.search(r"ended at tick (\d+)", self.logs(first))[1])
        second = self.run_server("--entities", "300", options=options)
        wait_until("listening", lambda: "listening" in self.logs(second))
        self.assertIn(key, self.logs(second))
        went_on = re.search(r"the world goes on from \S+: tick (\d+)", self.logs(second))
        self.assertIsNotNone(went_on, self.logs(second))
        self.assertEqual(int(went_on[1]), ended_at)

    def test_volume_that_cannot_be_written_is_said(self):
        server = self.run_server("--entities", "0", options=("--env", "SHOAL_SAVE_DIR=/var/lib/shoal/saves"))
        wait_until("ended", lambda: self.state(server)["Status"] == "exited")
        self.assertEqual(self.state(server)["ExitCode"], 2)
        self.assertIn("/var/lib/shoal/saves", self.logs(server))


class Compose(unittest.TestCase):
    """Without the profile of Grafana, whose image is no part of this test; with the limits of production."""

    def setUp(self):
        self.prometheus = free_port(socket.SOCK_STREAM)
        self.environment = dict(os.environ, BOTS="10", ENTITIES="500", PORT=str(free_port(socket.SOCK_DGRAM)),
                                ADMIN_PORT=str(free_port(socket.SOCK_STREAM)), PROMETHEUS_PORT=str(self.prometheus),
                                COMPOSE_PROJECT_NAME=os.environ["SHOAL_TEST_PROJECT"])

    def compose(self, *arguments, check=True):
        done = subprocess.run([*COMPOSE, "-f", "docker/compose.yaml", "-f", "docker/compose.limits.yaml", *arguments], cwd=ROOT,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180)
        if check and done.returncode != 0:
            raise AssertionError(f"compose {' '.join(arguments)}: {done.returncode}: {done.stdout}")
        return done.stdout

    def tearDown(self):
        self.compose("down", "--volumes", "--timeout", "20", check=False)

    def query(self, expression):
        """The value of each series, or none while Prometheus does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.prometheus}/api/v1/query?" +
                                        urllib.parse.urlencode({"query": expression}), timeout=5) as answer:
                return [float(series["value"][1]) for series in json.load(answer)["data"]["result"]]
        except OSError:
            return []

    def test_one_command_gives_graphs_that_move(self):
        self.compose("up", "--detach", "--no-build")
        try:
            wait_until("Prometheus sees ten players", lambda: self.query("shoal_players") == [10.0], seconds=90)
            wait_until("blocks leave", lambda: any(rate > 0 for rate in self.query("rate(shoal_blocks_sent_total[30s])")),
                       seconds=90)
            self.assertEqual(self.query("shoal_mismatches_reported_total"), [0.0])
        except AssertionError:
            print(self.compose("logs", "--tail", "40", check=False))
            raise


if __name__ == "__main__":
    unittest.main()
