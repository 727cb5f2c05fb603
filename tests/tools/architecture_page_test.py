"""docs/architecture.md: what it says of the code's places is so. (Its include table is checked by include_table.py.)"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def section(title):
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL).group(1)


def rows(title):
    for line in section(title).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and not set(line) <= set("|-: "):
            yield cells


class ArchitecturePage(unittest.TestCase):
    def test_files_exist(self):
        for path in re.findall(r"`((?:shared|server|client|schema|tests|cmake|scripts)/[\w./-]*\w)`", PAGE):
            self.assertTrue((ROOT / path).exists(), path)

    def test_decisions_stand_where_the_page_says(self):
        for decision, code in list(rows("Decisions and where they are"))[1:]:
            paths = re.findall(r"`([\w/]+\.[ch]pp)`", code)
            self.assertTrue(paths, decision)
            for name, path in re.findall(r"`([\w:]+)` in `([\w/]+\.[ch]pp)`", code):
                self.assertRegex((ROOT / path).read_text(encoding="utf-8"), rf"\b{name.split('::')[-1]}\(", decision)

    def test_each_word_of_the_glossary_stands_there_once_in_order(self):
        words = [cells[0].lower() for cells in rows("Glossary")][1:]
        self.assertEqual(words, sorted(set(words)))
        self.assertGreater(len(words), 50)

    def test_libraries_that_one_file_hides(self):
        includers = sorted(file.relative_to(ROOT).as_posix() for folder in ("shared", "server", "client")
                     for file in (ROOT / folder).rglob("*.[ch]pp") if re.search(r"#include <asio", file.read_text(encoding="utf-8")))
        self.assertEqual(includers, ["shared/ecs/thread_pool_executor.cpp", "shared/net/udp_port.cpp"])


class Decisions(unittest.TestCase):
    def test_index_lists_every_page(self):
        folder = ROOT / "docs" / "decisions"
        index = (folder / "README.md").read_text(encoding="utf-8")
        pages = sorted(page.name for page in folder.glob("0*.md"))
        self.assertEqual(re.findall(r"\]\((0[\w-]+\.md)\)", index), pages)
        for page in pages:
            self.assertTrue((folder / page).read_text(encoding="utf-8").startswith(f"# {page[:4]} "), page)


if __name__ == "__main__":
    unittest.main()
