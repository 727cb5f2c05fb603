"""tests/bench/flood.py says `held` only of a server that was flooded and held."""
import copy
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("flood", ROOT / "tests" / "bench" / "flood.py")
flood = importlib.util.module_from_spec(spec)
spec.loader.exec_module(flood)

GOOD = {"rate": 99990.0, "overrun_percent": 0.0, "tick_p99_ms": 7.0, "lost": 0, "connected": 100, "different": 0}
TURNS = [dict(GOOD, kind=phase, against=kind, rate=0.0 if phase == "off" else GOOD["rate"])
         for kind in ("hello", "forged") for _ in range(5) for phase in ("off", kind, "off")]

# Writes what it is asked for, and is done.
STAND_IN = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --port-file) echo 7 > "$2" ;;
    --report) echo '{report}' > "$2" ;;
  esac
  shift
done
"""


class Flood(unittest.TestCase):
    def judged(self, **change):
        """Of the third turn under forged packets, changed so."""
        turns = copy.deepcopy(TURNS)
        [row for row in turns if row["kind"] == "forged"][2].update(change)
        verdict, _, final = flood.judge(turns, bots=100, per_second=100000)
        return verdict, final

    def test_server_that_lost_nothing_under_the_whole_flood_held(self):
        self.assertEqual(self.judged(), ("held", "hello: 99990 datagrams/s, overruns 0.00 %, 0 sessions lost; "
                                                 "forged: 99990 datagrams/s, overruns 0.00 %, 0 sessions lost"))

    def test_one_round_without_a_flood_tries_nothing(self):
        for rate in (0.0, 79999.0):
            verdict, final = self.judged(rate=rate)
            self.assertEqual(verdict, "untried")
            self.assertIn(f"one round sent {rate:.0f} a second, which is no flood of 100000", final)

    def test_one_session_lost_or_one_mirror_different_is_lost_under_any_flood(self):
        for change in ({"lost": 1}, {"connected": 99}, {"different": 1}, {"lost": 1, "rate": 0.0}):
            self.assertEqual(self.judged(**change)[0], "lost", change)

    def test_late_ticks_in_most_rounds_are_lost(self):
        turns = [dict(row, overrun_percent=1.1 if row["kind"] == "hello" else 0.0) for row in TURNS]
        self.assertEqual(flood.judge(turns, bots=100, per_second=100000)[0], "lost")

    def test_flood_that_failed_or_said_nothing_is_an_error(self):
        self.assertEqual(flood.rate_of(0, "99983 datagrams per second, 699881 in all\n"), 99983)
        for code, said in ((2, ""), (2, "99983 datagrams per second, 699881 in all\n"), (-9, ""), (0, ""), (0, "usage:\n")):
            with self.assertRaises(flood.NoFlood):
                flood.rate_of(code, said)

    def test_run_whose_flood_fails_ends_with_an_error_and_says_nothing_of_held(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = {"shoal-server": '{"overruns": 0, "ticks": 180, "tick_ms": {"p99": 7}}',
                        "shoal-bots": '{"lost": 0, "refused": 0, "connected": 100}', "shoal-flood": None}
            for name, report in programs.items():
                program = pathlib.Path(folder, name)
                program.write_text(STAND_IN.format(report=report) if report else "#!/bin/sh\nexit 2\n")
                program.chmod(0o755)
            done = subprocess.run([sys.executable, flood.__file__, "--bin", folder, "--bench-bin", folder, "--rounds", "1"],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("flood: shoal-flood failed with 2", done.stderr)
        self.assertNotIn("held", done.stdout)


if __name__ == "__main__":
    unittest.main()
