#!/usr/bin/env python3
"""Does a server hold while somebody floods it? Bots play; the flood is off, on, off; five rounds for each kind.

Started by scripts/bench flood, which builds the programs. Each turn is a server of its own with bots that play for some
seconds; while the flood is on, shoal-flood sends as fast as asked for. The last line says `held`, `lost` or `untried`, with
the figures: held means that no session was lost and that no more than one tick in a hundred came late while the flood was
on (the median of the rounds); untried, that some round sent less than four fifths of what was asked for. A flood that
fails ends the run.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MAX_OVERRUN_PERCENT = 1.0
LEAST_SHARE_OF_RATE = 0.8


def wait_for_port(path, server):
    for _ in range(200):
        text = path.read_text() if path.exists() else ""
        if text.strip():
            return int(text)
        if server.poll() is not None:
            sys.exit("flood: the server ended before it listened")
        time.sleep(0.05)
    sys.exit("flood: the server did not listen within ten seconds")


class NoFlood(Exception):
    pass


def rate_of(code, said):
    """Datagrams per second, as shoal-flood says at its end."""
    if code != 0:
        raise NoFlood(f"shoal-flood failed with {code}, so nothing was tried; it says why above")
    words = said.split()
    if not words or not words[0].isdigit():
        raise NoFlood(f"shoal-flood told no rate: {said!r}")
    return float(words[0])


def judge(turns, bots, per_second):
    """`held`, `lost` or `untried`, the lines of the table, and the figures in a line."""
    has_held, was_tried, final = True, True, []
    table = [f"{'flood':<8} {'datagrams/s':>12} {'overruns':>9} {'tick p99':>9} {'sessions lost':>14} {'mirrors different':>18}"]
    for kind in ("hello", "forged"):
        for phase in ("off", kind):
            rows = [row for row in turns if row["against"] == kind and row["kind"] == phase]
            median = {key: statistics.median(row[key] for row in rows) for key in ("rate", "overrun_percent", "tick_p99_ms")}
            lost = sum(row["lost"] + bots - row["connected"] for row in rows)
            different = sum(row["different"] for row in rows)
            table.append(f"{phase if phase != 'off' else '– off':<8} {median['rate']:>12.0f} {median['overrun_percent']:>8.2f}% "
                         f"{median['tick_p99_ms']:>6.1f} ms {lost:>14} {different:>18}")
            if phase == "off":
                continue
            has_held = has_held and lost == 0 and different == 0 and median["overrun_percent"] <= MAX_OVERRUN_PERCENT
            final.append(f"{kind}: {median['rate']:.0f} datagrams/s, overruns {median['overrun_percent']:.2f} %, "
                         f"{lost} sessions lost")
            least = min(row["rate"] for row in rows)
            if least < LEAST_SHARE_OF_RATE * per_second:
                was_tried = False
                final.append(f"one round sent {least:.0f} a second, which is no flood of {per_second:.0f}")
    return "lost" if not has_held else "held" if was_tried else "untried", table, "; ".join(final)


def turn(arguments, folder, kind, number):
    server_report, bot_report, port_file = (folder / f"{number}.{name}" for name in ("server.json", "bots.json", "port"))
    server = subprocess.Popen(
        [arguments.bin / "shoal-server", "--port", "0", "--bind", "127.0.0.1", "--port-file", port_file, "--entities",
         str(arguments.entities), "--seconds", str(arguments.seconds), "--report", server_report, "--log-level", "warn",
         "--identity", folder / "identity.key"])
    port = wait_for_port(port_file, server)
    bots = subprocess.Popen(
        [arguments.bin / "shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", str(arguments.bots), "--joins-per-second",
         "200", "--until-server-ends", "--report", bot_report, "--log-level", "warn"], stdout=subprocess.DEVNULL)
    rate = 0.0
    if kind != "off":
        flood = subprocess.run(
            [arguments.bench_bin / "shoal-flood", "--server", f"127.0.0.1:{port}", "--kind", kind, "--per-second",
             str(arguments.per_second), "--seconds", str(arguments.seconds + 1)], stdout=subprocess.PIPE, text=True)
        try:
            rate = rate_of(flood.returncode, flood.stdout)
        except NoFlood as no_flood:
            for process in (bots, server):
                process.kill()
                process.wait()
            sys.exit(f"\nflood: {no_flood}")
    for process in (bots, server):
        process.wait(timeout=arguments.seconds + 60)
    ticks, clients = json.loads(server_report.read_text()), json.loads(bot_report.read_text())
    return {"kind": kind, "rate": rate, "overrun_percent": 100.0 * ticks["overruns"] / max(1, ticks["ticks"]),
            "tick_p99_ms": ticks["tick_ms"]["p99"], "lost": clients["lost"] + clients["refused"],
            "connected": clients["connected"], "different": clients.get("different_at_end", 0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="with shoal-server and shoal-bots")
    parser.add_argument("--bench-bin", type=pathlib.Path, required=True, help="with shoal-flood")
    parser.add_argument("--bots", type=int, default=100)
    parser.add_argument("--entities", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--per-second", type=float, default=100000)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()

    turns = []
    with tempfile.TemporaryDirectory() as folder:
        plan = [(kind, phase) for kind in ("hello", "forged") for _ in range(arguments.rounds) for phase in ("off", kind, "off")]
        for number, (kind, phase) in enumerate(plan):
            print(f"\r{number + 1} of {len(plan)}: {phase:<7}", end="", file=sys.stderr, flush=True)
            turns.append(dict(turn(arguments, pathlib.Path(folder), phase, number), against=kind))
        print(file=sys.stderr)

    verdict, table, final = judge(turns, arguments.bots, arguments.per_second)
    print("\n".join(table))
    if arguments.output:
        arguments.output.write_text(json.dumps(turns, indent=1) + "\n")
    print(f"{verdict}: {final}")
    return 0 if verdict == "held" else 1


if __name__ == "__main__":
    sys.exit(main())
