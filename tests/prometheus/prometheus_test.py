"""What operators watch, against the real thing: metrics of a server under bots, scraped by Prometheus; each query of the
dashboard and of the alerts; the page that says what the metrics mean; and an admin port under bad clients.

Started by ctest with SHOAL_BIN, the folder of a build, in the environment.
"""
import json
import math
import re
import socket
import subprocess
import time
import unittest

from programs import BIN, ROOT, TIME_OUT, TOKEN, Programs, wait_for

DOCKER = ROOT / "docker"


def families_of(text):
    """Of Prometheus' text form: name -> (type, labels)."""
    families = {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        labels = set()
        for line in re.findall(rf"^{name}(?:_bucket|_sum|_count)?(?:{{(.*)}})? \S+$", text, re.MULTILINE):
            labels |= set(re.findall(r'(\w+)="', line))
        families[name] = (kind, labels - {"le"})
    return families


def dashboard_queries():
    """(panel, expression as Grafana would send it) of every target."""
    dashboard = json.loads((DOCKER / "grafana" / "dashboards" / "shoal.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "10s")


def alert_expressions():
    text = (DOCKER / "prometheus" / "alerts.yml").read_text(encoding="utf-8")
    return dict(re.findall(r"- alert: (\w+)\n\s+expr: (?:>-\n)?(.*?)\n\s+(?:for|labels):", text, re.DOTALL))


class Rules(unittest.TestCase):
    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=DOCKER / "prometheus")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_configuration_and_rules_are_sound(self):
        self.promtool("check", "config", "prometheus.yml")
        self.promtool("check", "rules", "--lint=all", "--lint-fatal", "alerts.yml")

    def test_each_alert_fires_where_it_must(self):
        self.promtool("test", "rules", "alerts_test.yml")
        tests = (DOCKER / "prometheus" / "alerts_test.yml").read_text(encoding="utf-8")
        for alert in alert_expressions():
            with self.subTest(alert):
                self.assertRegex(tests, rf"alertname: {alert}\n\s+exp_alerts:")
                self.assertRegex(tests, rf"{{eval_time: 20m, alertname: {alert}}}")

    def test_each_alert_is_explained(self):
        page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
        section = re.search(r"^## What each alert means$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(set(re.findall(r"^### (\w+)$", section, re.MULTILINE)), set(alert_expressions()))


class Scraped(Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.start_server("--entities", 300, "--admin-token-file", cls.path / "token", "--save-dir", cls.path / "saves",
                         "--save-interval", 2)
        cls.start_bots(8, "--loss", 5, "--latency", 20, "--scenario", "fight")
        cls.start_prometheus()
        # Rates need a few samples, and histograms over clients a few seconds.
        wait_for("ten seconds of samples", lambda: (cls.query("min_over_time(shoal_client_round_trip_seconds_count[10s] offset 2s) > 8")
                                                    and cls.query("count_over_time(shoal_players[20s]) > 44")))

    def test_metrics_pass_promtool(self):
        text = self.ask("GET", "/metrics")[1]
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_every_query_of_the_dashboard_returns_something(self):
        queries = list(dashboard_queries())
        self.assertGreater(len(queries), 50)
        for panel, expression in queries:
            with self.subTest(panel=panel, expression=expression):
                series = self.query(expression)
                self.assertTrue(series, "no series")
                self.assertTrue(any(math.isfinite(float(one["value"][1])) for one in series), series)

    def test_every_metric_of_the_alerts_is_there(self):
        for alert, expression in alert_expressions().items():
            with self.subTest(alert):
                self.query(expression)  # it is understood
                for name in set(re.findall(r"\b(?:shoal_\w+|up)\b", re.sub(r"\{.*?\}", "", expression))):
                    self.assertTrue(self.query(name), name)

    def test_no_alert_fires_for_a_healthy_server(self):
        self.assertEqual(self.query('ALERTS{alertname=~"ShoalServerGone|ShoalTickStuck|ShoalNotReady|ShoalMismatches|ShoalMismatchSeen|ShoalSavesOverdue"}'), [])

    def test_page_names_each_metric_with_its_type_and_labels(self):
        page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
        section = re.search(r"^### Metrics$(.*?)(?=^##+ |\Z)", page, re.MULTILINE | re.DOTALL).group(1)
        stated = {}
        for line in section.splitlines():
            if not line.startswith("| `shoal_"):
                continue
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            stated[cells[0].strip("`")] = (cells[1], set(re.findall(r"`(\w+)`", cells[2])))
            self.assertGreater(len(cells[3].split()), 2, line)
        self.assertEqual(stated, families_of(self.ask("GET", "/metrics")[1]))

    def test_cardinality_is_low(self):
        """No label grows with players, addresses or entities."""
        text = self.ask("GET", "/metrics")[1]
        self.assertLess(len([line for line in text.splitlines() if not line.startswith("#")]), 1500)
        for labels in re.findall(r"{(.*?)}", text):
            self.assertNotRegex(labels, r"127\.0\.0\.1|[0-9a-f]{32}")

    def test_numbers_agree_with_each_other(self):
        metrics = self.ask("GET", "/metrics")[1]
        stats = json.loads(self.ask("GET", "/stats.json")[1])
        players = json.loads(self.ask("GET", "/players.json")[1])
        value = lambda name: float(re.search(rf"^{re.escape(name)} (\S+)$", metrics, re.MULTILINE).group(1))
        self.assertEqual(value("shoal_players"), 8)
        self.assertEqual(len(players), 8)
        self.assertEqual(stats["joined"], 8)
        self.assertGreaterEqual(stats["blocks_sent"], value("shoal_blocks_sent_total"))
        self.assertEqual(value("shoal_entities{component=\"shoal.demo.Player\"}"), 8)
        for player in players:
            self.assertGreater(player["rtt_ms"], 10)
            self.assertGreater(player["sent_kbit_per_second"], 1)
            status, why = self.ask("GET", f"/why?client={player['client']}&entity={player['entity']}")
            self.assertEqual(status, 200)
            self.assertTrue(json.loads(why)["alive"])


class AdminPort(Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.start_server("--entities", 200, "--admin-token-file", cls.path / "token", "--max-players", 6)

    def run_server(self, *arguments):
        """Exit code and what it said, of a server that is not to come up."""
        done = subprocess.run([str(word) for word in (BIN / "shoal-server", "--bind", "127.0.0.1", "--port", 0, "--identity",
                                                      self.path / "identity", *arguments)],
                              capture_output=True, text=True, timeout=TIME_OUT, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_silent_deaf_and_slow_clients_stall_neither_the_tick_nor_others(self):
        ticks = lambda: json.loads(self.ask("GET", "/stats.json")[1])["ticks"]
        before, began = ticks(), time.monotonic()
        connections = []
        for number in range(16):
            connection = socket.create_connection(("127.0.0.1", self.admin_port))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            # Silent, deaf, or in the middle of a request; none of them reads.
            connection.sendall([b"", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /metrics HTT"][number % 3])
            connections.append(connection)
        for _ in range(20):
            self.assertEqual(self.ask("GET", "/metrics")[0], 200)
            self.assertEqual(self.ask("GET", "/healthz")[0], 200)
        time.sleep(2)
        passed = ticks() - before
        for connection in connections:
            connection.close()
        # Half of what the clock says: the machine may be busy with other tests; a stalled tick makes none.
        self.assertGreater(passed, 0.5 * 30 * (time.monotonic() - began) - 30)
        self.assertEqual(self.ask("GET", "/readyz"), (200, "ready\n"))

    def test_commands(self):
        bots = self.start_bots(3)
        player = json.loads(self.ask("GET", "/players.json")[1])[0]
        number = player["client"]
        self.assertEqual(self.ask("POST", f"/kick?client={number}")[0], 401)
        self.assertEqual(self.ask("POST", f"/kick?client={number}", token="wrong")[0], 403)
        self.assertEqual(self.ask("POST", f"/kick?client={number}", token=TOKEN)[0], 200)
        numbers = lambda: [one["client"] for one in json.loads(self.ask("GET", "/players.json")[1])]
        wait_for("the kicked player to be gone", lambda: number not in numbers())
        self.assertEqual(self.ask("POST", "/log-level?level=debug", token=TOKEN)[0], 200)
        self.assertEqual(self.ask("POST", "/ban?address=127.0.0.0/8", token=TOKEN)[0], 200)
        wait_for("the others to be gone, too", lambda: not numbers())
        self.assertNotIn(TOKEN, self.log_of("shoal-server"))
        bots.kill()

    def test_address_in_use(self):
        taken = f"127.0.0.1:{self.admin_port}"
        code, said = self.run_server("--admin", taken)
        self.assertEqual(code, 2, said)
        self.assertIn("name another port, 0 for a free one, or off", said)

    def test_default_address_in_use_is_warned_of_and_the_server_runs(self):
        with socket.socket() as other:
            try:
                other.bind(("127.0.0.1", 7780))
                other.listen()
            except OSError:
                pass  # then somebody else has it
            server = self.start(BIN / "shoal-server", "--bind", "127.0.0.1", "--port", 0, "--port-file",
                                self.path / "port-of-second", "--identity", self.path / "identity")
            wait_for("the warning", lambda: "this one has no admin port" in self.log_of("shoal-server"))
            self.port_in("port-of-second", server)
            server.terminate()
            self.assertEqual(server.wait(TIME_OUT), 0)

    def test_what_is_wrong_is_said_with_the_remedy(self):
        (self.path / "open").write_text(TOKEN, encoding="utf-8")
        (self.path / "open").chmod(0o644)
        for arguments, words in [(("--admin", "nonsense"), "neither an address with a port"),
                                 (("--admin", "127.0.0.1:0", "--admin-token-file", self.path / "open"), "chmod 600"),
                                 (("--admin", "127.0.0.1:0", "--admin-token-file", self.path / "none"), "No such file"),
                                 (("--admin", "192.0.2.1:0"), "192.0.2.1"),
                                 (("--admin", "127.0.0.1:0", "--admin-port-file", "/nowhere/port"), "/nowhere/port")]:
            with self.subTest(words):
                code, said = self.run_server(*arguments)
                self.assertEqual(code, 2, said)
                self.assertIn(words, said)



if __name__ == "__main__":
    unittest.main()
