"""docs/follow-one-change.md is true: its files exist, its functions stand where it says, its arrows are calls.

The page's signs: a bold path opens a file. "→ `f()` in **`file`**" goes on in another file: the file before names
f, the file after defines it, and one declaration of f is seen by both. "← **`file`**" goes back to a file that was
open before. "⇢" crosses to the other machine: the path behind it is a header that both sides include.
"""
import functools
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "follow-one-change.md"
TOKEN = re.compile(r"(?P<sign>[→←⇢])|\*\*`(?P<open>[\w./-]+)`\*\*|`(?P<function>\w+)\(\)`|`(?P<path>[\w-]+/[\w./-]+\.\w+)`")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@functools.lru_cache(None)
def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def header_of(path):
    return path.removesuffix(".cpp") + ".hpp" if path.endswith(".cpp") and (ROOT / (path[:-4] + ".hpp")).is_file() else path


@functools.lru_cache(None)
def seen_by(path):
    """The file itself and everything that it includes, directly or not, as far as it lies in the repository."""
    seen, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file in seen or not (ROOT / file).is_file():
            continue
        seen.add(file)
        waiting += INCLUDE.findall(text_of(file))
    return seen


def names(path, function):
    return any(re.search(rf"\b{function}\b", text_of(file)) for file in {path, header_of(path)})


def calls_or_defines(path, function):
    return any(re.search(rf"\b{function}(<[^;(){{]*>)?\(", text_of(file)) for file in {path, header_of(path)})


def declares(path, function):
    """A type, or decltype(auto), then the name: not a call."""
    kind = r"(?!return\b|else\b|throw\b)(?:decltype\(auto\)|[\w:<>,&*\[\]]+)"
    return re.search(rf"^ {{0,4}}(?:{kind} )+[\w:&*]*\b{function}\(", text_of(path), re.MULTILINE) is not None


class Walk:
    """Reads the page from top to bottom and collects what is not true."""

    def __init__(self, text):
        self.faults, self.opened, self.current = [], [], None
        self.arrow, self.sign, self.crossing, self.crossings, self.functions = None, None, None, 0, 0
        text = text[text.index("## 1."):]
        for match in TOKEN.finditer(text):
            line = text.count("\n", 0, match.start())
            self.place = text.splitlines()[line]
            if match["sign"]:
                self.end_of_sign()
                self.sign, self.arrow = match["sign"], None
            elif match["function"]:
                self.function(match["function"])
            elif match["path"]:
                self.mention(match["path"])
            else:
                self.open(match["open"])
        self.end_of_sign()

    def fault(self, what):
        self.faults.append(f"{what}   in: {self.place.strip()}")

    def end_of_sign(self):
        if self.sign is not None:
            self.fault(f"{self.sign} without a file")
        self.sign = None

    def function(self, name):
        self.functions += 1
        if self.sign == "→" and self.arrow is None:
            self.arrow = name
        elif not calls_or_defines(self.current, name):
            self.fault(f"{self.current} has no {name}()")

    def mention(self, path):
        if not (ROOT / path).is_file():
            self.fault(f"{path} does not exist")
        elif self.sign == "⇢":
            self.crossing = path

    def open(self, path):
        if not (ROOT / path).is_file():
            return self.fault(f"{path} does not exist")
        sign, self.sign = self.sign, None
        if sign == "→":
            self.follow(path)
        elif sign == "←":
            if path not in self.opened:
                self.fault(f"{path} was not open before")
        elif sign == "⇢":
            self.crossings += 1
            if self.crossing not in seen_by(path) or not any(self.crossing in seen_by(file) for file in self.opened):
                self.fault(f"{self.crossing} is not seen by both sides of the crossing to {path}")
        elif self.opened:
            self.fault(f"{path} comes without an arrow")
        self.current = path
        self.opened.append(path)

    def follow(self, path):
        name = self.arrow
        if name is None:
            return self.fault(f"→ {path} without a function")
        if not names(self.current, name):
            self.fault(f"{self.current} does not name {name}")
        if not declares(path, name):
            self.fault(f"{path} does not define {name}()")
        common = seen_by(self.current) & (seen_by(path) | seen_by(header_of(path)))
        common |= seen_by(header_of(self.current)) & seen_by(path)
        if not any(declares(file, name) for file in common):
            self.fault(f"{self.current} and {path} see no common declaration of {name}()")


class FollowOneChange(unittest.TestCase):
    def test_page_is_true(self):
        walk = Walk(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(walk.faults, [])

    def test_page_goes_the_whole_way(self):
        walk = Walk(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(walk.crossings, 2)
        self.assertGreater(walk.functions, 80)
        for path in ("shared/game/effects.cpp", "server/change_tracker.cpp", "server/chunk.cpp", "server/client_view.cpp",
                     "shared/replication/delta_codec.cpp", "shared/net/connection.cpp", "client/mirror.cpp", "shared/ecs/signal.hpp"):
            self.assertIn(path, walk.opened)


class TheCheckItself(unittest.TestCase):
    """Each kind of untruth is found."""

    def faults(self, text):
        return "\n".join(Walk("## 1. Way\n\n" + text).faults)

    def test_truth(self):
        self.assertEqual(self.faults("**`server/server.cpp`**: `run_tick()`.\n→ `choose()` in **`server/client_view.cpp`**"), "")

    def test_file_that_does_not_exist(self):
        self.assertIn("server/nothing.cpp does not exist", self.faults("**`server/nothing.cpp`**"))

    def test_function_in_another_file(self):
        self.assertIn("server/server.cpp has no decode_block()", self.faults("**`server/server.cpp`**: `decode_block()`"))

    def test_call_of_what_the_caller_does_not_know(self):
        found = self.faults("**`server/chunk.cpp`**\n→ `choose()` in **`server/client_view.cpp`**")
        self.assertIn("server/chunk.cpp does not name choose", found)
        self.assertIn("see no common declaration", found)

    def test_call_of_what_is_only_called_there(self):
        found = self.faults("**`server/server.cpp`**\n→ `end_tick()` in **`server/server.hpp`**")
        self.assertIn("server/server.hpp does not define end_tick()", found)

    def test_return_to_where_nobody_was(self):
        self.assertIn("was not open before", self.faults("**`server/server.cpp`**\n← **`server/chunk.cpp`**"))

    def test_jump_without_an_arrow(self):
        self.assertIn("comes without an arrow", self.faults("**`server/server.cpp`** and **`server/chunk.cpp`**"))


if __name__ == "__main__":
    unittest.main()
