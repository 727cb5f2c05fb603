"""docs/faults.md lists exactly the faults of the code, each with its file and with who notices it."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
from mutations import is_by_hand, is_hardship, rows_of_page  # noqa: E402
FAULT = re.compile(r'\bfault\("([^"]*)"\)')
SIMULATION_TEST = ROOT / "tests" / "simulation" / "simulation_test.cpp"


def faults_of_code():
    found = {}
    for folder in ("shared", "server", "client", "schema"):
        for file in sorted((ROOT / folder).rglob("*.[ch]pp")):
            for name in FAULT.findall(file.read_text(encoding="utf-8")):
                found.setdefault(name, set()).add(file.relative_to(ROOT).as_posix())
    return found


# What mutations.py says of a fault that a program noticed.
NOTICED = re.compile(r"(test|checker|fuzz) \S|.* (dies|does not end)$")


def why_unnoticed(verdict, notices):
    """None when a program noticed it, or when its row says why none does."""
    if is_hardship(notices):
        return None if verdict == "hardship: everything passes" else "a hardship that harms"
    if is_by_hand(notices):
        return None
    return None if NOTICED.match(verdict) else "nothing noticed it, and its row is not marked"


class FaultsPage(unittest.TestCase):
    def test_page_lists_the_faults_of_the_code(self):
        names = [name for name, _, _ in rows_of_page()]
        self.assertEqual(sorted(names), sorted(faults_of_code()))

    def test_each_row_names_the_files_of_its_fault(self):
        code = faults_of_code()
        for name, breaks, _ in rows_of_page():
            self.assertEqual(set(re.findall(r"`([\w/]+\.[ch]pp)`", breaks)), code[name], name)

    def test_record_says_of_each_fault_what_noticed_it(self):
        page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
        record = re.search(r"<!-- mutations -->\n(.*?)<!-- /mutations -->", page, re.DOTALL)[1]
        verdicts = re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", record, re.MULTILINE)
        self.assertEqual(sorted(name for name, _ in verdicts), sorted(faults_of_code()), "scripts/mutations --record writes it")
        notices_of = {name: notices for name, _, notices in rows_of_page()}
        for name, verdict in verdicts:
            self.assertEqual(why_unnoticed(verdict, notices_of[name]), None, name)

    def test_only_a_marked_row_may_go_unnoticed_by_programs(self):
        self.assertIsNone(why_unnoticed("test Some.Thing (unit_net)", "`tests/unit/net/some_test.cpp`"))
        self.assertIsNone(why_unnoticed("by hand: the report's sharing falls", "by hand: the report's sharing falls"))
        self.assertIsNone(why_unnoticed("hardship: everything passes", "nothing is lost"))
        for verdict in ("SURVIVES", "HARMS: test Some.Thing (unit_net)", "by hand: the sharing falls",
                        "hardship: everything passes", "the sharing falls"):
            self.assertIsNotNone(why_unnoticed(verdict, "the sharing falls"), verdict)

    def test_names_are_lower_case_words_with_hyphens(self):
        for name in faults_of_code():
            self.assertRegex(name, r"^[a-z0-9]+(-[a-z0-9]+)+$")

    def test_who_notices_exists(self):
        cases = re.findall(r'FaultCase\{"([^"]+)",\s*"([^"]*)"(?:,\s*\d+)?\}', SIMULATION_TEST.read_text(encoding="utf-8"))
        for name, _, notices in rows_of_page():
            for path in re.findall(r"`(tests/[\w/.]+)`", notices):
                self.assertTrue((ROOT / path).is_file(), f"{name}: {path}")
            for checker in re.findall(r"checker `(\w+)`", notices):
                companions = set(re.findall(r"with `([\w-]+)`", notices)) | {name}
                self.assertIn((companions, checker), [(set(faults.split(",")), by) for faults, by in cases], name)


if __name__ == "__main__":
    unittest.main()
