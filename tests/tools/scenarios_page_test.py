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
        described = re.findall(r"^\| `(\w+)` \|", PAGE.split("## Links")[0], re.MULTILINE)
        self.assertEqual(sorted(described), sorted(words_in_code()))
        self.assertGreaterEqual(len(described), 5)

    def test_run_knows_every_scenario(self):
        run = (ROOT / "run").read_text(encoding="utf-8")
        self.assertIn("(" + "|".join(words_in_code()) + ")", run)

    def test_links_are_those_of_the_code_with_their_figures(self):
        source = (ROOT / "client" / "bots" / "link_profile.hpp").read_text(encoding="utf-8")
        in_code = {}
        for word, body in re.findall(r'\{"([\w-]+)",\s*LinkProfile::\w+,\s*\{(.*?)\}\}', source, re.DOTALL):
            figures = {key: float(value) for key, value in re.findall(r"\.(\w+)_percent = ([\d.]+)", body)}
            for key, unit, value in re.findall(r"\.(latency|jitter) = (?:std::chrono::)?(\w+)\((\d+)\)", body):
                figures[key] = float(value) / {"microseconds": 1000, "milliseconds": 1}[unit]
            in_code[word] = [figures.get(key, 0) for key in ("latency", "jitter", "loss", "duplicate", "reorder", "corrupt")]
        links = PAGE.split("## Links")[1].split("## Stages")[0]
        described = {word: [float(cell) for cell in cells.strip(" |").split("|")[:6]]
                     for word, cells in re.findall(r"^\| `([\w-]+)` (\|.*)$", links, re.MULTILINE)}
        self.assertEqual(described, in_code)
        self.assertIn("(" + "|".join(in_code) + ")", (ROOT / "run").read_text(encoding="utf-8"))

    def test_example_is_the_file(self):
        shown = re.search(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(shown, (ROOT / "examples" / "stages.toml").read_text(encoding="utf-8"))

    def test_keys_of_a_stage_are_those_of_the_reader(self):
        described = re.findall(r"^\| `(\w+)` \|", PAGE.split("## Stages")[1], re.MULTILINE)
        reader = (ROOT / "client" / "bots" / "stages.cpp").read_text(encoding="utf-8")
        self.assertEqual(sorted(described), sorted(set(re.findall(r'key == "(\w+)"', reader)) - {"stage"}))


if __name__ == "__main__":
    unittest.main()
