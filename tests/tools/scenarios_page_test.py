"""docs/scenarios.md describes each scenario that there is, and shows the example file as it is."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")


def words_in_code():
    source = (ROOT / "client" / "bots" / "behaviour.hpp").read_text(encoding="utf-8")
    return re.findall(r'\{"(\w+)", Scenario::\w+\}', source)


class ScenariosPage(unittest.TestCase):
    def test_page_and_code_name_the_same_scenarios(self):
        described = re.findall(r"^\| `(\w+)` \|", PAGE.split("## Stages")[0], re.MULTILINE)
        self.assertEqual(sorted(described), sorted(words_in_code()))
        self.assertGreaterEqual(len(described), 5)

    def test_run_knows_every_scenario(self):
        run = (ROOT / "run").read_text(encoding="utf-8")
        self.assertIn("(" + "|".join(words_in_code()) + ")", run)

    def test_example_is_the_file(self):
        shown = re.search(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(shown, (ROOT / "examples" / "stages.toml").read_text(encoding="utf-8"))

    def test_keys_of_a_stage_are_those_of_the_reader(self):
        described = re.findall(r"^\| `(\w+)` \|", PAGE.split("## Stages")[1], re.MULTILINE)
        reader = (ROOT / "client" / "bots" / "stages.cpp").read_text(encoding="utf-8")
        self.assertEqual(sorted(described), sorted(set(re.findall(r'key == "(\w+)"', reader)) - {"stage"}))


if __name__ == "__main__":
    unittest.main()
