"""docs/testing.md names each folder of tests, each checker of the simulation and each fuzz target that there is."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


def rows(text):
    return sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


class TestingPage(unittest.TestCase):
    def test_every_folder_has_a_row(self):
        folders = sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith("_"))
        self.assertEqual(rows(PAGE.split("## The simulation")[0]), folders)

    def test_every_checker_has_a_row(self):
        text = PAGE.split("## The simulation")[1].split("## Fuzzing")[0]
        checkers = sorted(re.search(r'name\(\) const override \{ return "(\w+)"', path.read_text(encoding="utf-8"))[1]
                          for path in (ROOT / "tests" / "simulation" / "checkers").glob("*_checker.hpp"))
        self.assertEqual(rows(text), checkers)

    def test_every_fuzz_target_was_run_for_ten_minutes_or_ten_million_inputs(self):
        targets = sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "tests" / "fuzz").glob("*_fuzz.cpp"))
        text = PAGE.split("## Long runs")[1]
        self.assertEqual(rows(text), targets)
        for seconds, inputs in re.findall(r"^\| `\w+` \| (\d+) s \| ([\d,]+) \|", text, re.MULTILINE):
            self.assertTrue(int(seconds) >= 600 or int(inputs.replace(",", "")) >= 10_000_000)


if __name__ == "__main__":
    unittest.main()
