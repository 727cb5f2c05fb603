"""Runs the real thing, server and bots through ./run, and collects their reports for the figures.

A series is a list of options for ./run. What it came to is one JSON object: how and where it was measured, and each
run with its command and its report as ./run wrote it. Nothing is computed here; pages.py does that.
"""
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = [ROOT / "build" / "release" / "bin" / name for name in ("shoal-server", "shoal-bots")]
ENTITIES = 5000
# Beyond --seconds: bots join, mirrors are compared. Only the guess for the first run; then the runs say it.
USUAL_EXTRA_SECONDS = 2.0
# A run that takes so much longer than asked for hangs.
MAX_EXTRA_SECONDS = 180.0


class MeasuringFailed(Exception):
    """With the words for the user."""


def plans(quick):
    """{name of the figure: options of each of its runs}"""
    seconds = 5 if quick else 15

    def options(bots, latency_ms, loss_percent):
        return {"bots": bots, "entities": ENTITIES, "seconds": seconds, "latency": latency_ms, "loss": loss_percent}

    bots = (25, 50) if quick else (25, 50, 100, 200, 300)
    paths = ((0, 0), (80, 5)) if quick else [(latency, loss) for latency in (0, 40, 80, 150) for loss in (0, 5, 20)]
    return {
        "tick-time": [options(count, 0, 0) for count in bots],
        "bytes-per-update": [options(50, latency, loss) for latency, loss in paths],
    }


# --- where ---------------------------------------------------------------------------------------------------


def output_of(*command):
    """First line of what a command prints, or "" when there is none: the figures do not fail for want of a footnote."""
    try:
        lines = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return lines[0] if lines else ""


def first_match(path, pattern):
    with contextlib.suppress(OSError):
        match = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
        return match.group(1).strip() if match else ""
    return ""


def machine():
    compiler = first_match(ROOT / "build" / "release" / "CMakeCache.txt", r"^CMAKE_CXX_COMPILER:\w+=(.*)$")
    memory_kib = first_match("/proc/meminfo", r"^MemTotal:\s*(\d+)")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": first_match("/proc/cpuinfo", r"^model name\s*:(.*)$") or platform.machine(),
        "is_virtual": bool(first_match("/proc/cpuinfo", r"^flags\s*:.*\b(hypervisor)\b")),
        "memory_gib": round(int(memory_kib or 0) / 2**20, 1),
        "system": first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "kernel": platform.release(),
        "compiler": output_of(compiler, "--version") if compiler else "",
    }


def provenance(command):
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": output_of("git", "rev-parse", "--short=12", "HEAD"),
        "sources_differ_from_commit": bool(output_of(
            "git", "status", "--porcelain", "--", "server", "client", "shared", "schema", "cmake", "CMakeLists.txt")),
        "machine": machine(),
    }


# --- one run -------------------------------------------------------------------------------------------------


def busy_seconds():
    """Processor time that the whole machine has spent, idling and waiting aside, what a host took included."""
    words = first_match("/proc/stat", r"^cpu (.*)$").split()
    if len(words) < 8:
        return 0.0
    user, nice, system, _idle, _iowait, irq, softirq, steal = (int(word) for word in words[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    return sum(usage.ru_utime + usage.ru_stime
               for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def end(process):
    """As two Ctrl-C would: ./run ends its server and bots itself. What does not listen is killed."""
    for patience_seconds, signal_number in ((1, signal.SIGTERM), (10, signal.SIGTERM), (5, signal.SIGKILL)):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_seconds)


def run_once(options, report_path, on_second):
    """Returns what one run came to. on_second(seconds since its start) is called about once a second."""
    words = ["./run"]
    for name, value in options.items():
        words += [f"--{name}", str(value)]
    shown = shlex.join(words)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    limit_seconds = options["seconds"] + MAX_EXTRA_SECONDS
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        busy_before, own_before, begin = busy_seconds(), own_seconds(), time.monotonic()
        # In a session of its own: a Ctrl-C in the terminal reaches this script alone, which then ends the run.
        process = subprocess.Popen(words + ["--no-install", "--report", report_path], cwd=ROOT, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        try:
            while process.poll() is None and time.monotonic() - begin < limit_seconds:
                on_second(time.monotonic() - begin)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
        finally:
            hangs = process.poll() is None and sys.exc_info()[0] is None
            end(process)
        wall_seconds = time.monotonic() - begin
        run_seconds = own_seconds() - own_before
        other_seconds = max(0.0, busy_seconds() - busy_before - run_seconds)
        if process.returncode != 0 or hangs:
            output.seek(0)
            why = f"did not end within {limit_seconds:.0f} s" if hangs else f"ended with {process.returncode}"
            raise MeasuringFailed(f"{shown} {why}; nothing was written. It said:\n{output.read().rstrip()}")
    try:
        report = json.loads(pathlib.Path(report_path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MeasuringFailed(f"{shown} left no report that can be read: {error}") from error
    return {
        "command": shown,
        "options": options,
        "wall_seconds": round(wall_seconds, 1),
        "cpu_seconds_of_run": round(run_seconds, 1),
        "cpu_seconds_of_others": round(other_seconds, 1),
        "report": report,
    }


# --- all of them ---------------------------------------------------------------------------------------------


class Progress:
    """Says on standard error which run of how many it is and how long the others take; a live line on a terminal."""

    def __init__(self, all_options):
        self.all_options, self.done, self.extras = all_options, 0, []
        self.is_live = sys.stderr.isatty()

    def seconds_left(self, elapsed):
        extra = sum(self.extras) / len(self.extras) if self.extras else USUAL_EXTRA_SECONDS
        return max(0.0, sum(options["seconds"] + extra for options in self.all_options[self.done:]) - elapsed)

    def line(self, elapsed):
        options = self.all_options[self.done]
        words = ", ".join(f"{name} {value}" for name, value in options.items())
        return f"run {self.done + 1} of {len(self.all_options)}: {words}; about {self.seconds_left(elapsed):.0f} s left in all"

    def on_second(self, elapsed):
        if self.is_live:
            print(f"\r\033[K{self.line(elapsed)}", end="", file=sys.stderr, flush=True)
        elif elapsed < 0.5:
            print(self.line(elapsed), file=sys.stderr, flush=True)

    def on_end(self, run):
        self.extras.append(run["wall_seconds"] - run["options"]["seconds"])
        self.done += 1
        server, bots = run["report"]["server"], run["report"]["bots"]
        print(f"{chr(13) + chr(27) + '[K' if self.is_live else ''}  tick p50 {server['tick_ms']['p50']:.2f}, "
              f"p99 {server['tick_ms']['p99']:.2f} ms; {server['overruns']} overruns; "
              f"{bots['bytes_per_entity_update']:.1f} bytes per update; {bots['exact_at_end']} mirrors exact",
              file=sys.stderr, flush=True)


def fingerprint():
    return [hashlib.sha256(program.read_bytes()).hexdigest() for program in PROGRAMS]


def measure(command, quick):
    """{name of the figure: its data}. Raises MeasuringFailed, and passes on KeyboardInterrupt."""
    planned = plans(quick)
    progress = Progress([options for series in planned.values() for options in series])
    measured = {name: provenance(command) | {"runs": []} for name in planned}
    before = fingerprint()
    with tempfile.TemporaryDirectory() as scratch:
        for name, series in planned.items():
            for options in series:
                run = run_once(options, f"{scratch}/report.json", progress.on_second)
                measured[name]["runs"].append(run)
                progress.on_end(run)
    # ./run builds what has changed; then the points of a line would be of different programs.
    if fingerprint() != before:
        raise MeasuringFailed("the programs were built anew in the middle, by a change of the sources; nothing was written")
    return measured
