"""docs/joining.md tells a remedy for each reason of refusal that there is, and names options that exist."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "joining.md").read_text(encoding="utf-8")


def reasons_of_schema():
    schema = (ROOT / "schema" / "protocol.fbs").read_text(encoding="utf-8")
    body = re.search(r"^enum RefuseReason : ubyte \{(.*?)^\}", schema, re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"^\s*(\w+)", body, re.MULTILINE)


def rows_of_page():
    section = PAGE.split("## Why a server refuses")[1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()
            if line.startswith("| `")]


class JoiningPage(unittest.TestCase):
    def test_page_and_schema_name_the_same_reasons_in_one_order(self):
        self.assertEqual([row[0].strip("`") for row in rows_of_page()], reasons_of_schema())
        self.assertGreaterEqual(len(reasons_of_schema()), 14)

    def test_each_reason_has_a_meaning_and_a_remedy(self):
        for row in rows_of_page():
            self.assertEqual(len(row), 3, row)
            self.assertTrue(all(row), row)

    def test_modes_are_those_of_the_option(self):
        options = (ROOT / "server" / "options.cpp").read_text(encoding="utf-8")
        words = re.findall(r'\{"(\w+)", JoinMode::\w+\}', options)
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", PAGE.split("### Tickets")[0], re.MULTILINE), words)
        self.assertEqual(len(words), 3)

    def test_options_exist(self):
        known = set()
        for file in ("server/options.cpp", "client/bots/options.cpp", "server/tickets/main.cpp"):
            source = (ROOT / file).read_text(encoding="utf-8")
            known |= {f"--{name}" for name in re.findall(r'\badd\(\s*"([a-z-]+)"', source)}
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))
        self.assertLessEqual({"--identity", "--join", "--server-key", "--valid"}, named)
        self.assertEqual(named - known, set())


if __name__ == "__main__":
    unittest.main()
