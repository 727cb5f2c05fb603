"""docs/report.md and the two writers of the report name the same keys."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITERS = {"server": "server/report.cpp", "bots": "client/bots/report.cpp"}


def keys_of_writer(source):
    """tick_ms.p50 for add("p50") between begin("tick_ms") and end(); a key that is no literal is `*`."""
    keys, path = set(), []
    for call, literal in re.findall(r'json\.(begin|add|end)\((?:"([^"]*)")?', source):
        if call == "begin":
            path.append(literal or "*")
        elif call == "end":
            path.pop()
        else:
            keys.add(".".join(path + [literal or "*"]))
    return keys


def keys_of_page(page, section):
    body = re.search(rf"^## {section}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL).group(1)
    keys = set()
    for line in body.splitlines():
        if line.startswith("| `"):
            keys |= set(re.findall(r"`([\w.*]+)`", line.split("|")[1]))
    return keys


class ReportPage(unittest.TestCase):
    def test_page_and_writers_name_the_same_keys(self):
        page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
        for section, writer in WRITERS.items():
            with self.subTest(section):
                self.assertEqual(keys_of_page(page, section), keys_of_writer((ROOT / writer).read_text(encoding="utf-8")))

    def test_every_row_says_something(self):
        page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
        for line in page.splitlines():
            if line.startswith("| `"):
                self.assertGreater(len(line.split("|")[3].split()), 3, line)

    def test_nested_and_nameless_keys_of_a_writer(self):
        source = 'json.add("a", 1); json.begin("b"); json.add("c", x.p("d")); json.add(system.name, 1); json.end(); json.add("e", 2); json.begin(name); json.add("f", 1); json.end();'
        self.assertEqual(keys_of_writer(source), {"a", "b.c", "b.*", "e", "*.f"})


if __name__ == "__main__":
    unittest.main()
