"""docs/operations.md: its numbers are those of docs/sizes.json, and nobody typed them in."""
import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("size", str(ROOT / "scripts" / "size"))
size = importlib.util.module_from_spec(importlib.util.spec_from_loader("size", loader))
loader.exec_module(size)
DATA = json.loads(size.DATA.read_text(encoding="utf-8"))
PAGE = size.PAGE.read_text(encoding="utf-8")


class Sizes(unittest.TestCase):
    def test_page_is_that_of_the_numbers(self):
        self.assertEqual(PAGE, size.with_text(PAGE, size.text(DATA)), "scripts/size --write makes it again")

    def test_every_run_that_is_planned_is_there_and_was_exact(self):
        self.assertEqual([run["options"] for run in DATA["runs"]], size.plan(quick=False))
        for run in DATA["runs"]:
            bots = run["report"]["bots"]
            self.assertEqual((bots["exact_at_end"], bots["mismatches"], bots["lost"]), (bots["requested"], 0, 0), run["command"])

    def test_a_number_that_changed_changes_the_page(self):
        for change in (lambda server: server.update(cpu_seconds=server["cpu_seconds"] * 2),
                       lambda server: server.update(peak_rss_bytes=server["peak_rss_bytes"] * 2),
                       lambda server: server.update(bytes_sent=server["bytes_sent"] * 2)):
            changed = copy.deepcopy(DATA)
            for run in changed["runs"]:
                change(run["report"]["server"])
            self.assertNotEqual(size.text(DATA), size.text(changed))

    def test_least_of_the_three_limits_counts(self):
        row = {"players": 64, "entities": 5000, "cores": 0.1, "mib": 10, "mbit": 1}
        for key, value, words in (("cores", 1.0, "2, by the processors"), ("mib", 8000, "1, by the memory"),
                                  ("mbit", 100, "5, by the network")):
            self.assertIn(words, size.arithmetic(row | {key: value})[-1])

    def test_quietest_attempt_counts(self):
        runs = [{"cpu_seconds_of_others": cpu, "wall_seconds": 10} for cpu in (9, 3, 5, 0.5, 0)]
        self.assertEqual(size.quietest(3, iter(runs).__next__), runs[1])
        self.assertEqual(size.quietest(9, iter(runs).__next__), runs[3])

    def test_failed_attempt_is_made_again_and_the_last_failure_is_told(self):
        run = {"cpu_seconds_of_others": 0, "wall_seconds": 10}
        outcomes = iter([size.measure.MeasuringFailed("first"), run, size.measure.MeasuringFailed("second")])

        def run_once():
            outcome = next(outcomes)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        self.assertEqual(size.quietest(2, run_once), run)
        with self.assertRaisesRegex(size.measure.MeasuringFailed, "second"):
            size.quietest(1, run_once)

    def test_page_without_marks_is_refused(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            size.with_text("# Operations\n", "words\n")


class Fleets(unittest.TestCase):
    def test_options_of_the_section_are_those_of_the_server(self):
        options = (ROOT / "server" / "options.cpp").read_text(encoding="utf-8")
        known = {f"--{name}" for name in re.findall(r'add\(\s*"([\w-]+)"', options)}
        section = re.search(r"^## Fleets$(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL).group(1)
        named = set(re.findall(r"(--[a-z][\w-]+)", section)) - {"--server-key"}
        self.assertEqual(named - known, set())
        self.assertLessEqual({name for name in known if name.startswith("--fleet")}, named)


if __name__ == "__main__":
    unittest.main()
