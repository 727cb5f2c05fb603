#!/usr/bin/env python3
"""Breaks the code at each named place (docs/faults.md) and shows which test, checker or fuzzer notices.

Started by scripts/mutations, which builds the programs. Each fault is turned on by SHOAL_FAULT in one program after the
other, the likely ones first, until one fails; the first failure is what the table shows. A fault that nothing notices is
a survivor, and the exit code is 1. Rows of docs/faults.md whose fault must do no harm ("nothing: …", "nothing is lost")
are hardships: there every program must pass, but for the tests of the module itself, which look at what is inside (how
many bursts, how many versions) and not at what comes of it. Only what a person has to look at, because no program can,
is booked without one: its row says so ("by hand: …").
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = 80
# Programs whose tests turn faults on themselves would fight with the environment: simulation_test is not among them.
UNITS = ["net", "server", "client", "replication", "ecs", "game", "base", "config", "image", "wire", "saves"]
FUZZ = ["messages", "datagram", "update", "block"]
MODULE_OF = {"shared/net": "net", "shared/ecs": "ecs", "shared/replication": "replication", "server/saves": "saves", "server": "server",
             "client": "client", "shared/game": "game"}


def rows_of_page():
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    without_record = re.sub(r"<!-- mutations -->.*?<!-- /mutations -->", "", page, flags=re.DOTALL)
    for line in without_record.splitlines():
        if line.startswith("| `"):
            name, breaks, notices = (cell.strip() for cell in line.strip("|").split("|"))
            yield name.strip("`"), breaks, notices


class Programs:
    def __init__(self, build):
        self.bin = build / "bin"
        self.build = build

    def command(self, detector):
        kind, _, name = detector.partition(":")
        if kind == "unit":
            return [str(self.bin / f"unit_{name}"), "--gtest_brief=1", "--gtest_fail_fast",
                    "--gtest_filter=-Seeds/RegistryModel*:*ScheduleDeterminism*"]
        if kind == "simulation":
            return [str(self.bin / "shoal-simulate"), "--seeds", str(SEEDS)]
        if kind == "fuzz":
            return [str(self.bin / f"fuzz_{name}"), "--mutations", "300", str(ROOT / "tests/fuzz/corpus" / name)]
        if kind == "race":
            return [str(self.bin / "planted_race")]
        raise ValueError(detector)

    def exists(self, detector):
        return pathlib.Path(self.command(detector)[0]).exists()

    def run(self, detector, fault):
        """None when it passes, else what failed, in a few words."""
        environment = dict(os.environ, SHOAL_FAULT=fault)
        try:
            done = subprocess.run(self.command(detector), cwd=self.build, env=environment, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        except subprocess.TimeoutExpired:
            return f"{detector.replace(':', ' ')} does not end"
        if done.returncode == 0:
            return None
        return first_failure(detector, done)

    def both(self, name, others):
        """The test that turns on both, and passes when what comes of it is noticed; None when there is none."""
        source = (ROOT / "tests/simulation/simulation_test.cpp").read_text(encoding="utf-8")
        together = "|".join(rf"{re.escape(a)},{re.escape(b)}" for other in others for a, b in ((name, other), (other, name)))
        for test in re.finditer(r"^TEST_F\((\w+), (\w+)\) \{(.*?)^\}", source, re.MULTILINE | re.DOTALL):
            if not re.search(together, test[3]):
                continue
            command = [str(self.bin / "simulation_test"), f"--gtest_filter={test[1]}.{test[2]}"]
            done = subprocess.run(command, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
            return f"test {test[1]}.{test[2]}, beside {others[0]}" if done.returncode == 0 else None
        return None


    def own_test(self, name, notices):
        """Of a fault that real processes show: the tests of the named Python file that turn it on, and pass when what
        comes of it is noticed; None when there is none."""
        for file in re.findall(r"`(tests/[\w/]+_test\.py)`", notices):
            source = (ROOT / file).read_text(encoding="utf-8")
            of_class, found = "", []
            for part in re.finditer(r"^class (\w+)|^    def (test_\w+)\(.*?(?=^    def |^class |\Z)", source, re.MULTILINE | re.DOTALL):
                of_class = part[1] or of_class
                if part[2] and f'"{name}"' in part[0]:
                    found.append(f"{of_class}.{part[2]}")
            if not found:
                continue
            environment = dict(os.environ, SHOAL_BIN=str(self.bin))
            done = subprocess.run([sys.executable, str(ROOT / file), *found], cwd=self.build, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            return f"test {found[0]} ({file}), which turns it on" if done.returncode == 0 else None
        return None


def first_failure(detector, done):
    kind, _, name = detector.partition(":")
    if kind == "unit":
        failed = re.search(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.MULTILINE)
        return f"test {failed[1]} (unit_{name})" if failed else f"unit_{name} dies"
    if kind == "simulation":
        failed = re.search(r"^seed (\d+) failed: ([\w-]+)", done.stdout, re.MULTILINE)
        return f"checker {failed[2]}, seed {failed[1]}" if failed else "the simulation dies"
    return f"{kind} {name}".strip()


def detectors_for(breaks, must_pass):
    files = re.findall(r"`([\w/]+)\.[ch]pp`", breaks)
    own = []
    for file in files:
        for prefix, module in MODULE_OF.items():
            if file.startswith(prefix):
                own.append(f"unit:{module}")
    others = ["simulation:"] + [f"unit:{unit}" for unit in UNITS] + [f"fuzz:{name}" for name in FUZZ]
    return [other for other in others if other not in own] if must_pass else list(dict.fromkeys(own + others))


def combination(notices):
    """Faults that only show beside another one: "with `other`: …"."""
    return re.findall(r"^with `([\w-]+)`", notices)


def is_hardship(notices):
    return notices.startswith("nothing")


def is_by_hand(notices):
    return notices.startswith("by hand: ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="names of faults, with commas")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here, too")
    arguments = parser.parse_args()
    programs = Programs(arguments.build.resolve())
    chosen = set(filter(None, arguments.only.split(",")))
    rows = [row for row in rows_of_page() if not chosen or row[0] in chosen]
    unknown = chosen - {row[0] for row in rows}
    if unknown:
        sys.exit(f"mutations: no such fault: {', '.join(sorted(unknown))} (docs/faults.md lists them)")

    table, survivors, harmful = [], [], []
    for number, (name, breaks, notices) in enumerate(rows, 1):
        began = time.monotonic()
        # Real processes are the quicker ones where the page names nothing else: such faults sleep, or kill the process.
        verdict = programs.own_test(name, notices) if "_test.cpp`" not in notices else None
        for detector in [] if verdict else detectors_for(breaks, is_hardship(notices)):
            if not programs.exists(detector):
                continue
            verdict = programs.run(detector, name)
            if verdict:
                break
        if not verdict and combination(notices):
            verdict = programs.both(name, combination(notices))
        if is_hardship(notices):
            if verdict:
                harmful.append(name)
            verdict = f"HARMS: {verdict}" if verdict else "hardship: everything passes"
        elif not verdict:
            verdict = notices if is_by_hand(notices) else "SURVIVES"
            if verdict == "SURVIVES":
                survivors.append(name)
        table.append((name, verdict))
        print(f"[{number}/{len(rows)}] {name}: {verdict} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)

    width = max(len(name) for name, _ in table)
    for name, verdict in table:
        print(f"{name:<{width}}  {verdict}")
    if arguments.markdown:
        lines = ["| fault | noticed first by |", "|---|---|"] + [f"| `{f}` | {v} |" for f, v in table]
        arguments.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(table)} faults, {len(survivors)} survivors, {len(harmful)} hardships that harm")
    return 1 if survivors or harmful else 0


if __name__ == "__main__":
    sys.exit(main())
