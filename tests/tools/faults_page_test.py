"""docs/faults.md lists exactly the faults of the code, each with its file and with who notices it."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
from mutations import rows_of_page  # noqa: E402
FAULT = re.compile(r'\bfault\("([^"]*)"\)')
SIMULATION_TEST = ROOT / "tests" / "simulation" / "simulation_test.cpp"


def faults_of_code():
    found = {}
    for folder in ("shared", "server", "client", "schema"):
        for file in sorted((ROOT / folder).rglob("*.[ch]pp")):
            for name in FAULT.findall(file.read_text(encoding="utf-8")):
                found.setdefault(name, set()).add(file.relative_to(ROOT).as_posix())
    return found


class FaultsPage(unittest.TestCase):
    def test_page_lists_the_faults_of_the_code(self):
        names = [name for name, _, _ in rows_of_page()]
        self.assertEqual(sorted(names), sorted(faults_of_code()))

    def test_each_row_names_the_files_of_its_fault(self):
        code = faults_of_code()
        for name, breaks, _ in rows_of_page():
            self.assertEqual(set(re.findall(r"`([\w/]+\.cpp)`", breaks)), code[name], name)

    def test_record_says_of_each_fault_what_noticed_it(self):
        page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
        record = re.search(r"<!-- mutations -->\n(.*?)<!-- /mutations -->", page, re.DOTALL)[1]
        names = re.findall(r"^\| `([a-z0-9-]+)` \|", record, re.MULTILINE)
        self.assertEqual(sorted(names), sorted(faults_of_code()), "scripts/mutations --record writes it")
        self.assertNotIn("SURVIVES", record)
        self.assertNotIn("HARMS", record)

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
