"""docs/state-machines.md has exactly the states, timers and reasons of the code."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NET = ROOT / "shared" / "net"
PAGE = (ROOT / "docs" / "state-machines.md").read_text(encoding="utf-8")
NOTHING = "nothing"
# Structs of the server's transport that are no state of a session: places, keys, and what its interface hands around.
NO_STATES = {"SessionTraffic", "ServerTransportConfig", "JoinRequest", "Slot", "ClaimKey", "ClaimKeyHash"}


def source(name):
    return (NET / name).read_text(encoding="utf-8")


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def enumerators(file, name):
    body = re.search(rf"enum class {name}\b[^{{]*\{{([^}}]*)\}}", without_comments(source(file))).group(1)
    return [entry.split("=")[0].strip() for entry in body.split(",") if entry.strip()]


def rows(section):
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith(("| state |", "| constant |")):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def states(cells):
    return {cell.strip("`") for cell in cells}


class StateMachinesPage(unittest.TestCase):
    def test_rows_have_four_cells(self):
        for section in ("Client", "Server"):
            self.assertGreater(len(list(rows(section))), 10)
            for row in rows(section):
                self.assertEqual(len(row), 4, row)

    def test_states_of_the_client_are_those_of_the_code(self):
        steps = enumerators("client_transport.hpp", "Step")
        code = {state for state in enumerators("client_transport.hpp", "ClientState") if state != "Connecting"}
        code |= {f"Connecting[{step}]" for step in steps}
        self.assertEqual(states(row[0] for row in rows("Client")), code)
        self.assertEqual(states(row[3] for row in rows("Client")), code - {"Idle"})

    def test_states_of_the_server_are_those_of_the_code(self):
        structs = set(re.findall(r"\bstruct (\w+) \{", without_comments(source("server_transport.hpp"))))
        code = structs - NO_STATES | {NOTHING}
        self.assertEqual(states(row[0] for row in rows("Server")), code)
        self.assertEqual(states(row[3] for row in rows("Server")), code)

    def test_every_type_of_datagram_is_an_event_or_never_taken(self):
        for kind in enumerators("packet_header.hpp", "DatagramType"):
            for section in ("Client", "Server"):
                events = " ".join(row[1] for row in rows(section))
                never = re.search(r"A client never takes ([\w ]+)\.", PAGE).group(1) if section == "Client" else ""
                self.assertRegex(events + " " + never, rf"\b{kind}\b", section)

    def test_reasons_of_an_end_are_those_of_the_code(self):
        text = PAGE.split("## Timers")[0]
        for reason in enumerators("reasons.hpp", "CloseReason"):
            if reason != "Unspecified":
                self.assertRegex(text, rf"\b{reason}\b")
        named = re.findall(r"end(?: with Close)?: (\w+)", text)
        self.assertGreater(len(named), 8)
        self.assertLessEqual(set(named), set(enumerators("reasons.hpp", "CloseReason")))

    def test_counters_exist(self):
        for name in re.findall(r"count `(\w+)`", PAGE):
            self.assertIn(name, enumerators("transport_counters.hpp", "BadDatagram"))

    def test_timers_are_those_of_the_code(self):
        code = {}
        for file in ("transport_limits.hpp", "client_transport.cpp", "server_transport.cpp"):
            code |= dict(re.findall(r"^(?:inline )?constexpr Duration (\w+) = (.*);$", source(file), re.MULTILINE))
        page = {row[0].strip("`"): row[1].strip("`") for row in rows("Timers")}
        self.assertEqual(page, code)

    def test_numbers_in_words_are_those_of_the_code(self):
        text = source("transport_limits.hpp") + source("client_transport.cpp") + source("server_transport.cpp")
        for constant in ("kCloseCopies = 4;", "kCloseAnswers = 8;", "kTombstoneAnswers = 8;", "kLeastTombstones = 256;"):
            self.assertIn(constant, text)
        self.assertEqual(set(re.findall(r"at most (\w+) times", PAGE)), {"eight"})
        self.assertEqual(set(re.findall(r"Close (\w+) times", PAGE)), {"four"})
        self.assertEqual(re.findall(r"(\d+) later ones", PAGE), ["256"])


if __name__ == "__main__":
    unittest.main()
