"""The figures of docs/benchmarks.md are what scripts/figures makes of the numbers that lie beside them."""
import contextlib
import copy
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "figures"))

import line_chart  # noqa: E402
import measure  # noqa: E402
import pages  # noqa: E402

MEASURED = pages.load(pages.FOLDER)


class RegistryTable(unittest.TestCase):
    def test_table_is_that_of_the_numbers(self):
        check = subprocess.run([sys.executable, ROOT / "tests/bench/ecs_table.py", "--check", ROOT / "docs/benchmarks.md"],
                               capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stderr)


class CommittedFigures(unittest.TestCase):
    REMEDY = "scripts/bench figures --draw makes it again"

    def test_drawings_are_those_of_the_numbers(self):
        for path, svg in pages.drawings(MEASURED, pages.FOLDER).items():
            self.assertEqual(path.read_text(encoding="utf-8"), svg, f"{path.name} is not of its numbers: {self.REMEDY}")

    def test_words_of_the_page_are_those_of_the_numbers(self):
        page = pages.PAGE.read_text(encoding="utf-8")
        self.assertEqual(page, pages.with_text(page, pages.text(MEASURED)), f"{pages.PAGE.name}: {self.REMEDY}")

    def test_numbers_are_written_as_the_script_writes_them(self):
        for path, words in pages.data_files(MEASURED, pages.FOLDER).items():
            self.assertEqual(path.read_text(encoding="utf-8"), words, path.name)

    def test_folder_holds_nothing_else(self):
        names = sorted(path.name for path in pages.FOLDER.iterdir())
        self.assertEqual(names, sorted(f"{name}.{kind}" for name in pages.NAMES for kind in ("json", "svg")))

    def test_every_run_that_is_planned_is_there_and_was_exact(self):
        for name, planned in measure.plans(quick=False).items():
            data = MEASURED[name]
            self.assertEqual([run["options"] for run in data["runs"]], planned, f"{name}: scripts/bench figures measures anew")
            for run in data["runs"]:
                bots = run["report"]["bots"]
                self.assertEqual((bots["exact_at_end"], bots["mismatches"], bots["lost"]), (bots["requested"], 0, 0), run["command"])

    def test_drawings_are_xml_whose_marks_lie_within(self):
        for path in pages.drawings(MEASURED, pages.FOLDER):
            drawing = xml.etree.ElementTree.fromstring(path.read_text(encoding="utf-8"))
            circles = drawing.findall(".//{*}circle")
            self.assertTrue(circles, path.name)
            for circle in circles:
                self.assertTrue(0 < float(circle.get("cx")) < line_chart.WIDTH and 0 < float(circle.get("cy")) < line_chart.HEIGHT)

    def test_a_number_that_changed_changes_drawing_and_words(self):
        changed = copy.deepcopy(MEASURED)
        changed["tick-time"]["runs"][0]["report"]["server"]["tick_ms"]["p50"] *= 1.5
        bots = changed["bytes-per-update"]["runs"][0]["report"]["bots"]
        bots["by_baseline_age"]["bytes"] = [10 * count for count in bots["by_baseline_age"]["bytes"]]
        before, after = (pages.drawings(data, pages.FOLDER) for data in (MEASURED, changed))
        for path in before:
            self.assertNotEqual(before[path], after[path])
        self.assertNotEqual(pages.text(MEASURED), pages.text(changed))


class Numbers(unittest.TestCase):
    def run_with(self, size, updates, latency=0):
        return {"options": {"latency": latency}, "report": {"bots": {"by_baseline_age": {"bytes": size, "updates": updates}}}}

    def test_bytes_per_update_are_merged_by_sums_and_rare_ages_are_left_out(self):
        many, few = pages.LEAST_UPDATES, pages.LEAST_UPDATES // 2 - 1
        runs = [self.run_with([10 * many, 7, 30], [many, few, 0]), self.run_with([40 * many, 7, 60 * many], [many, few, 3 * many])]
        self.assertEqual(pages.bytes_by_age(runs), [(1, 25.0), (3, (30 + 60 * many) / (3 * many))])

    def test_median_age_goes_by_updates(self):
        self.assertEqual(pages.median_age([self.run_with([], [10, 10, 21])]), 3)
        self.assertEqual(pages.median_age([self.run_with([], [10, 10, 20])]), 2)

    def test_numbers_have_three_digits(self):
        self.assertEqual([pages.digits(value) for value in (0, 0.1234, 9.996, 12.34, 99.96, 123.4, 12345)],
                         ["0", "0.12", "10.0", "12.3", "100", "123", "12,300"])

    def test_axes_reach_beyond_the_numbers(self):
        linear = [value for value, _ in line_chart.linear_axis("", 23.7).ticks]
        self.assertEqual((linear[0], linear[-1] >= 23.7), (0, True))
        logarithmic = [value for value, _ in line_chart.log_axis("", 0.73, 33.3).ticks]
        self.assertEqual((logarithmic[0], logarithmic[-1]), (0.5, 50))

    def test_a_page_without_marks_is_refused(self):
        with self.assertRaises(pages.BadData):
            pages.with_text("# Benchmarks\n", "words\n")


class Measuring(unittest.TestCase):
    """run_once on a stand-in for ./run."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.addCleanup(setattr, measure, "ROOT", measure.ROOT)
        measure.ROOT = self.folder

    def stand_in(self, script):
        (self.folder / "run").write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
        (self.folder / "run").chmod(0o755)

    def run_once(self, on_second=lambda elapsed: None, **options):
        return measure.run_once({"seconds": 1} | options, str(self.folder / "report.json"), on_second)

    def test_report_command_and_options_are_kept(self):
        self.stand_in('while [[ $1 != --report ]]; do shift; done; echo "{\\"server\\": 1}" > "$2"')
        run = self.run_once(bots=7)
        self.assertEqual((run["command"], run["options"], run["report"]),
                         ("./run --seconds 1 --bots 7", {"seconds": 1, "bots": 7}, {"server": 1}))

    def test_a_run_that_fails_stops_with_its_output(self):
        self.stand_in("echo 'Not exact: 2 of 3'; exit 1")
        with self.assertRaisesRegex(measure.MeasuringFailed, r"(?s)--seconds 1 ended with 1; nothing.*Not exact: 2 of 3"):
            self.run_once()

    def test_a_report_that_is_none(self):
        self.stand_in('exit 0')
        with self.assertRaisesRegex(measure.MeasuringFailed, "no report"):
            self.run_once()

    def test_an_interruption_ends_the_run_as_two_ctrl_c_do(self):
        self.stand_in('n=0; trap "((++n)); ((n < 2)) || { echo > ended; exit 1; }" TERM; while true; do sleep 0.05; done')

        def interrupt(elapsed):
            if elapsed > 0.5:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.run_once(interrupt)
        self.assertTrue((self.folder / "ended").exists())

    def test_seconds_left_go_by_the_runs_that_were(self):
        progress = measure.Progress([{"seconds": 10}] * 3)
        self.assertEqual(progress.seconds_left(4), 3 * (10 + measure.USUAL_EXTRA_SECONDS) - 4)
        report = {"server": {"tick_ms": {"p50": 1, "p99": 2}, "overruns": 0}, "bots": {"bytes_per_entity_update": 1, "exact_at_end": 1}}
        with contextlib.redirect_stderr(io.StringIO()):
            progress.on_end({"wall_seconds": 15, "options": {"seconds": 10}, "report": report})
        self.assertEqual(progress.seconds_left(0), 30)


class CommandLine(unittest.TestCase):
    def bench(self, *arguments):
        return subprocess.run([ROOT / "scripts" / "bench", *arguments], capture_output=True, text=True, check=False)

    def test_help_names_the_figures(self):
        shown = self.bench("--help").stdout
        for word in ("figures", "--quick", "--draw"):
            self.assertRegex(shown, rf"(?m)^  {word}\b")

    def test_contradictions_are_refused(self):
        for arguments in (("figures", "--quick", "--draw"), ("figures", "ecs"), ("ecs", "--quick"), ("figures", "--filter", "x")):
            ended = self.bench(*arguments)
            self.assertEqual((ended.returncode, "--help" in ended.stderr), (2, True), arguments)


if __name__ == "__main__":
    unittest.main()
