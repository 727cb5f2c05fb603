"""What a load test says at its end: limits, exit code, JSON and the page, against a real server and a stand-in for its
admin port.

Started by ctest with SHOAL_BIN, the folder of a build with faults, in the environment.
"""

import http.server
import json
import re
import signal
import threading
import time
import unittest
from html.parser import HTMLParser

from programs_test import Programs


class AdminStandIn:
    """Answers /stats.json with the tick's figures that a test sets; None: no such page."""

    def __init__(self):
        stand_in = self
        self.stats = {"tick_rate": 30, "tick_ms": {"p50": 1.25, "p99": 4.5, "max": 9.0},
                      "recent_tick_ms": {"p50": 1.5, "p99": 3.25, "max": 4.0}, "overruns": 2}
        self.questions = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                stand_in.questions += 1
                known = stand_in.stats is not None and self.path == "/stats.json"
                body = json.dumps(stand_in.stats).encode() if known else b"no such page"
                self.send_response(200 if known else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Page(HTMLParser):
    """The report in a page, the plots that its script draws, and everything that would load something."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.loads, self.open_script = {}, [], None
        self.feed(text)
        self.report = json.loads(self.scripts["report"])
        self.program = self.scripts[""]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.loads += [value for key, value in attributes if key in ("src", "href", "data", "action", "srcset")]
        if tag in ("link", "iframe", "img", "object", "embed", "base"):
            self.loads.append(tag)
        if tag == "script":
            self.open_script = values.get("id", "")
            self.scripts[self.open_script] = ""

    def handle_endtag(self, tag):
        if tag == "script":
            self.open_script = None

    def handle_data(self, data):
        if self.open_script is not None:
            self.scripts[self.open_script] += data


class LoadTest(Programs):
    def setUp(self):
        super().setUp()
        self.admin = AdminStandIn()
        self.addCleanup(self.admin.close)

    def run_bots(self, *arguments, seconds=3, bots=3):
        _, port = self.start_server("--entities", 50)
        outcome = self.finish(self.start_bots(port, "--bots", bots, "--seconds", seconds, *arguments))
        self.processes[0].send_signal(signal.SIGINT)
        self.finish(self.processes[0])
        (self.path / "port").unlink()
        self.processes.clear()
        return outcome

    def test_run_within_its_limits_passes_and_says_each(self):
        code, said = self.run_bots("--admin", self.admin.address, "--max-tick-p99-ms", 4.5, "--max-update-age-p99-ms", 5000,
                                   "--max-kbit-per-second", 100000, "--max-mismatches", 0, "--max-lost", 0)
        self.assertEqual(code, 0, said)
        for line in ("tick p99: 4.50 ms, within --max-tick-p99-ms 4.50", "within --max-update-age-p99-ms 5000",
                     "within --max-kbit-per-second 100000", "mismatches: 0, within --max-mismatches 0",
                     "sessions lost: 0, within --max-lost 0", "; within all limits"):
            self.assertIn(line, said)
        report = self.report("bots")
        self.assertTrue(report["passed"])
        self.assertEqual([check["finding"] for check in report["limits"].values()], ["within"] * 5)
        self.assertEqual(report["server_seen"]["tick_p99_ms"], 4.5)
        self.assertGreaterEqual(self.admin.questions, 3)

    def test_broken_limits_are_named_and_the_exit_code_tells(self):
        code, said = self.run_bots("--admin", f"http://{self.admin.address}/", "--max-tick-p99-ms", 4, "--max-kbit-per-second", 1,
                                   "--max-lost", 5)
        self.assertEqual(code, 1, said)
        self.assertIn("tick p99: 4.50 ms, BROKEN: --max-tick-p99-ms 4", said)
        self.assertIn("BROKEN: --max-kbit-per-second 1", said)
        self.assertIn("limits broken: --max-tick-p99-ms, --max-kbit-per-second", said)
        self.assertIn("sessions lost: 0, within --max-lost 5", said)
        report = self.report("bots")
        self.assertFalse(report["passed"])
        self.assertEqual(len(report["failures"]), 2)

    def test_limit_on_the_tick_without_an_admin_port_names_the_remedy(self):
        for admin, problem in (("127.0.0.1:1", "no answer"), (self.admin.address, "HTTP 404"), ("nonsense:port", "HOST:PORT")):
            self.admin.stats = None
            code, said = self.finish(self.start("shoal-bots", "--server", "127.0.0.1:9", "--admin", admin, "--max-tick-p99-ms", 5))
            self.assertEqual(code, 2, said)
            self.assertIn(problem, said)
            self.assertIn("--admin", said)

    def test_answer_without_the_numbers_is_said(self):
        self.admin.stats["tick_ms"] = {"p50": 1}
        code, said = self.finish(self.start("shoal-bots", "--server", "127.0.0.1:9", "--admin", self.admin.address))
        self.assertEqual(code, 2, said)
        self.assertIn("is not in the answer", said)

    def test_wrong_limit_says_what_is_allowed(self):
        code, said = self.finish(self.start("shoal-bots", "--max-lost", "few"))
        self.assertEqual(code, 2)
        self.assertIn("at least 0, or none", said)

    def test_timeline_and_options_are_in_the_report(self):
        stages = self.path / "stages.toml"
        stages.write_text("[[stage]]\nseconds = 2\nbots = 4\n[[stage]]\nseconds = 3\nmix = { fight = 1, crowd = 2 }\n")
        _, port = self.start_server("--entities", 50)
        code, said = self.finish(self.start_bots(port, "--stages", stages, "--link", "wifi", "--loss", 2, "--admin", self.admin.address))
        self.assertEqual(code, 0, said)
        report = self.report("bots")
        timeline = report["timeline"]
        length = len(timeline["at_seconds"])
        self.assertGreaterEqual(length, 4)
        for key, values in timeline.items():
            if key != "seconds_per_sample":
                self.assertEqual(len(values), length, key)
        self.assertEqual(timeline["tick_p99_ms"], [3.25] * length)
        self.assertEqual(max(timeline["connected"]), 4)
        self.assertEqual(report["stages"], {"start_seconds": [0, 2], "bots": [4, 4], "mix": ["wander 1", "fight 1, crowd 2"]})
        self.assertEqual((report["link"]["profile"], report["link"]["loss_percent"], report["link"]["latency_ms"]), ("wifi", 2, 8))
        self.assertEqual((report["options"]["link"], report["options"]["loss"]), ("wifi", "2"))
        self.assertNotIn("latency", report["options"], "nobody said it: it is the profile's")

    def test_lines_of_progress_tell_how_far_it_is(self):
        _, port = self.start_server("--entities", 50)
        code, said = self.finish(self.start_bots(port, "--bots", 2, "--seconds", 7))
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\b[5-6] of 7 s · 2/2 connected")


class ReportPage(Programs):
    def page_of(self, *arguments, stop_after=None):
        _, port = self.start_server("--entities", 50)
        html = self.path / "report.html"
        bots = self.start("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 2, "--html", html, "--report", self.path / "bots.json",
                          *arguments)
        if stop_after is not None:
            time.sleep(stop_after)
            bots.send_signal(signal.SIGINT)
        code, said = self.finish(bots)
        self.assertEqual(code, 0, said)
        return html.read_text(encoding="utf-8")

    def test_page_holds_the_report_and_loads_nothing(self):
        text = self.page_of("--seconds", 3)
        page = Page(text)
        self.assertEqual(page.report, self.report("bots"))
        self.assertEqual(page.loads, [])
        self.assertEqual(re.findall(r"https?://(?!www\.w3\.org/2000/svg)\S+", text), [])
        self.assertNotRegex(text, r"@import|url\(|fetch\(|XMLHttpRequest|innerHTML|import\(")

    def test_every_plot_has_its_data(self):
        page = Page(self.page_of("--seconds", 3))
        plots = dict(re.findall(r'\{ id: "(\w+)".*?series: (\[\[.*?\]\])', page.program, re.DOTALL))
        self.assertLessEqual({"tick", "age", "bandwidth", "connected", "faults"}, plots.keys())
        drawn = set()
        for series in plots.values():
            for _, key, _ in json.loads(series):
                self.assertIn(key, page.report["timeline"])
                drawn.add(key)
        self.assertEqual(drawn, page.report["timeline"].keys() - {"seconds_per_sample", "at_seconds", "refused"})

    def test_names_with_quotes_and_markup_break_nothing(self):
        folder = self.path / "a<"
        folder.mkdir()
        stages = folder / "script><script>alert('\"&amp;<!--\\"  # </script> in a path
        stages.write_text("[[stage]]\nseconds = 3\nbots = 2\n")
        _, port = self.start_server("--entities", 50)
        html = self.path / "odd \" '<report>.html"
        code, said = self.finish(self.start("shoal-bots", "--server", f"127.0.0.1:{port}", "--stages", stages, "--html", html))
        self.assertEqual(code, 0, said)
        text = html.read_text(encoding="utf-8")
        page = Page(text)
        self.assertEqual(page.report["options"]["stages"], str(stages))
        self.assertEqual(page.report["options"]["html"], str(html))
        self.assertEqual((text.lower().count("<script"), text.lower().count("</script")), (2, 2))

    def test_interrupted_run_has_both_reports(self):
        page = Page(self.page_of(stop_after=3))
        self.assertEqual(page.report, self.report("bots"))
        self.assertEqual(page.report["connected"], 2)

    def test_page_that_cannot_be_written_is_said_at_the_start(self):
        code, said = self.finish(self.start("shoal-bots", "--html", self.path / "no" / "page.html"))
        self.assertEqual(code, 2)
        self.assertIn("page.html", said)


if __name__ == "__main__":
    unittest.main()
