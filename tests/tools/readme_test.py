"""The README's code is the example's, its commands exist with their options, its links lead somewhere."""
import pathlib
import re
import subprocess
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "schema/README.md")]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def marked_lines(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    marked = re.search(r"^ *// readme: begin\n(.*?)^ *// readme: end$", text, re.MULTILINE | re.DOTALL)
    return textwrap.dedent(marked.group(1))


def commands():
    """Every line of a block without language, and every inline code, that starts ./run, ./test or a script."""
    lines = [line for block in blocks("") for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", README)
    for line in lines:
        words = line.split("#")[0].split()
        if words and re.fullmatch(r"\./(run|test)|scripts/\w+", words[0]):
            yield words


class Readme(unittest.TestCase):
    def test_code_is_the_example_that_the_build_compiles(self):
        self.assertEqual(blocks("cpp"), [marked_lines("examples/first_world.cpp")])

    def test_schema_is_the_example_that_the_build_compiles(self):
        self.assertEqual(blocks("fbs"), [marked_lines("examples/first_world.fbs")])

    def test_code_stands_on_few_lines(self):
        code = blocks("cpp")[0].splitlines()
        self.assertLessEqual(len(code), 14)

    def test_commands_and_their_options_exist(self):
        seen = set()
        for program, *arguments in commands():
            seen.add(program)
            shown = subprocess.run([ROOT / program, "--help"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
            for option in (word for word in arguments if word.startswith("--")):
                self.assertRegex(shown, rf"(?m)^\s+{option}\b", f"{program} has no option {option}")
        self.assertLessEqual({"./run", "./test"}, seen)

    def test_links_lead_to_files(self):
        for page in PAGES + sorted((ROOT / "docs").rglob("*.md")):
            words = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", words):
                if not re.match(r"\w+:", target):
                    self.assertTrue((page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target} is not there")


if __name__ == "__main__":
    unittest.main()
