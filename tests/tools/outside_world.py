#!/usr/bin/env python3
"""Fails where a library reads a clock, makes a random number, reads the environment or opens a socket itself.

Time, randomness and I/O are inputs: they come in through shared/base (Clock, Random, Entropy) and through
DatagramPort. The few files that stand at the border are listed here.
"""
import argparse
import pathlib
import re
import sys

RULES = [  # what it is, how it looks, the files that may
    ("a clock", r"\b(steady_clock|system_clock|high_resolution_clock|utc_clock)\b|\b(clock_gettime|gettimeofday)\s*\(|\bstd::time\s*\(",
     r"shared/base/time\.(cpp|hpp)$"),
    ("a random number", r"\brandom_device\b|\bmt19937\w*\b|\bstd::s?rand\s*\(|\bgetrandom\s*\(|\brandombytes_\w+\s*\(",
     r"shared/base/random\.(cpp|hpp)$"),
    ("the environment", r"\bgetenv\s*\(|\benviron\b", r"shared/base/fault\.cpp$|(server|server/tickets|client/bots|shared/image)/main\.cpp$|server/service/program\.cpp$"),
    ("a socket", r"::socket\s*\(|\basio::ip::udp::socket\b|\brecvmm?sg\s*\(|\bsendmm?sg\s*\(",
     r"shared/net/udp_\w+\.(cpp|hpp)$"),
    # The demo sleeps on purpose, by a fault.
    ("sleep", r"\bsleep_(for|until)\s*\(|\busleep\s*\(|\bnanosleep\s*\(", r"(server|client/bots)/main\.cpp$|server/service/program\.cpp$|server/demo/demo_game\.cpp$"),
    ("standard output", r"\bstd::c(out|err)\b|\bstd::printf\s*\(|\bstd::puts\s*\(", r"(server|client/bots)/main\.cpp$|client/bots/\w+\.cpp$"),
]
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def without_words(text):
    """The code alone: comments and texts blanked out, lines kept."""
    for pattern in (STRING, COMMENT):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return text


def faults_in(path, text):
    code = without_words(text)
    for what, pattern, allowed in RULES:
        if re.search(allowed, path):
            continue
        for match in re.finditer(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {what} ({match.group().strip('( ')}) comes in from outside, see {__file__.split('/')[-1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    found = []
    for folder in ("shared", "server", "client"):
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            found += faults_in(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    print("\n".join(found) if found else "no library looks outside by itself")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
