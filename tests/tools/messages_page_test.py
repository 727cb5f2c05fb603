"""docs/messages.md: its code is that of examples/messages.cpp, its limits are those of the code."""
import pathlib
import re
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
LIMITS = (ROOT / "shared" / "net" / "message_limits.hpp").read_text(encoding="utf-8")


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def marked(path):
    found = re.findall(r"^ *// messages\.md: begin(?: \w+)?\n(.*?)^ *// messages\.md: end$", read(path), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(lines) for lines in found]


def row(name):
    cells = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE).group(1).split("|")
    return [cell.strip() for cell in cells]


def size(words):
    """Of "1 MiB": 1048576."""
    number, unit = re.match(r"(\d+) (KiB|MiB)", words).groups()
    return int(number) << {"KiB": 10, "MiB": 20}[unit]


class MessagesPage(unittest.TestCase):
    def test_code_is_that_of_the_example(self):
        self.assertEqual(sorted(blocks("cpp")), sorted(marked("examples/messages.cpp")))
        self.assertEqual(blocks("fbs"), marked("examples/campfire_messages.fbs"))

    def test_build_lines_are_those_of_the_example(self):
        for line in blocks("cmake")[0].splitlines():
            self.assertIn(line, read("examples/CMakeLists.txt"))

    def test_limits_are_those_of_the_code(self):
        def largest(side):
            text = re.search(rf"k{side}MessageLimits\{{(.*?)\}};", LIMITS, re.DOTALL).group(1)
            return [eval(first) for first in re.findall(r"\{(\d+u? ?<< ?\d+),", text.replace("u", ""))]
        ordered, unordered = row("largest ordered message"), row("largest unordered message")
        # What a client takes is what a server may send.
        self.assertEqual([size(ordered[0]), size(unordered[0])], largest("Client"))
        self.assertEqual([size(ordered[1]), size(unordered[1])], largest("Server"))
        router, gate = read("shared/net/message_router.hpp"), read("shared/net/event_gate.hpp")
        self.assertIn(f"kMaxRequests = {row('requests of a session that wait for answers')[0]};", router)
        self.assertIn("kMaxEvents = 256;", gate)
        self.assertIn("kMaxBytes = 256u << 10;", gate)
        self.assertIn("kMaxWait = seconds{1};", gate)


if __name__ == "__main__":
    unittest.main()
