"""docs/ecs.md: its code is that of the examples, its rules are executed row by row.

In the examples the page's code stands between `// ecs.md: begin name` and `// ecs.md: end`; clang-format has it in the
page as in the example. A row "destroy another" of a table of rules has a test `DestroyAnother`.
"""
import pathlib
import re
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ecs.md").read_text(encoding="utf-8")
TESTS = (ROOT / "tests" / "unit" / "ecs" / "rules_test.cpp").read_text(encoding="utf-8")


def marked():
    """By name: the lines between the marks of all examples."""
    found = {}
    for path in sorted((ROOT / "examples").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        for name, lines in re.findall(r"^ *// ecs\.md: begin (\w+)\n(.*?)^ *// ecs\.md: end$", text, re.MULTILINE | re.DOTALL):
            assert name not in found, f"{name} stands in two examples"
            found[name] = textwrap.dedent(lines)
    return found


def rows(title):
    """The first column of the first table below a title, without the heading."""
    section = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL).group(1)
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE).group(0).splitlines()
    return [line.strip("|").split("|")[0].strip() for line in table[2:]]


def test_name(row):
    words = re.findall(r"\w+", row.split(":")[0])
    return "".join(word[0].upper() + word[1:] for word in words)


class EcsPage(unittest.TestCase):
    def test_code_is_that_of_the_examples(self):
        blocks = re.findall(r"^```cpp\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        examples = marked()
        for block in blocks:
            self.assertTrue(block in examples.values(), f"stands in no example between marks:\n{block}")
        for name, lines in examples.items():
            self.assertTrue(lines in blocks, f"{name} is not in the page as in the example")

    def test_first_world_stands_on_few_lines(self):
        self.assertLessEqual(len(marked()["first_world"].splitlines()), 15)

    def test_each_rule_has_a_test_of_its_name_and_no_test_is_without_a_row(self):
        for title, suite in (("What is allowed when", "Rules"), ("What ends references", "WhatEnds")):
            tests = re.findall(rf"^TEST(?:_F)?\({suite}, (\w+)\)", TESTS, re.MULTILINE)
            self.assertEqual([test_name(row) for row in rows(title)], tests)


if __name__ == "__main__":
    unittest.main()
