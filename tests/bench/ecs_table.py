#!/usr/bin/env python3
"""The registry's table in docs/benchmarks.md, made of build/bench/ecs.json.

    scripts/bench ecs --record     measures (nine repetitions, in random order) and writes the table between its marks
    ecs_table.py JSON PAGE         writes it
    ecs_table.py --check PAGE      is the table that of tests/bench/measured/ecs.json, which --record keeps?

Each cell is the median of the repetitions. `x raw` and the like are ratios within that one run. What EnTT and flecs take
for the same work is in tests/bench/measured/ecs_peers.json: their programs are not part of this project.
"""
import argparse
import json
import pathlib
import statistics
import sys

SIZES = (10_000, 100_000, 1_000_000)
# work, how, row of the benchmark, row that it is measured against
ROWS = [
    ("one type, written to", "`view.each`", "one_type/each", "one_type/raw"),
    ("", "`Storage::values()`", "one_type/values", "one_type/raw"),
    ("", "raw", "one_type/raw", None),
    ("position += velocity × step", "`group.each`", "move/group", "move/raw"),
    ("", "`view.each_span`", "move/spans", "move/raw"),
    ("", "`view.each`", "move/each", "move/gather"),
    ("", "view, range-for", "move/range_for", "move/gather"),
    ("", "gather", "move/gather", None),
    ("", "raw", "move/raw", None),
    ("the same, pools in different order", "`view.each`", "move_other_order/each", "move_other_order/gather"),
    ("", "gather", "move_other_order/gather", None),
    ("the same, half match; per match", "`view.each`", "move_half/each", "move_half/gather"),
    ("", "gather", "move_half/gather", None),
    ("three types, one rare (1/16); per match", "`view.each`", "one_rare_of_three/each", "one_rare_of_three/gather"),
    ("", "gather", "one_rare_of_three/gather", None),
    ("random get, handle checked", "`Registry::get`", "random_get/registry", "random_get/raw"),
    ("random get, pool handle", "`Storage::get`", "random_get/pool", "random_get/raw"),
    ("", "raw, two arrays", "random_get/raw", None),
    ("create with three components", "fresh world", "create_with_three/registry", "create_with_three/raw"),
    ("", "world that had as many", "create_with_three/registry_again", "create_with_three/raw"),
    ("", "`create(range)`, `insert(range)`", "create_with_three/registry_bulk", "create_with_three/raw"),
    ("", "raw, `push_back`", "create_with_three/raw", None),
    ("tag added and removed", "registry", "tag_add_remove/registry", "tag_add_remove/raw"),
    ("", "raw, list and places", "tag_add_remove/raw", None),
    ("destroy, three components, 33 types", "in the order of creation", "destroy/registry", "destroy/raw"),
    ("", "in random order", "destroy/registry_other_order", "destroy/raw"),
    ("", "raw, swap and pop", "destroy/raw", None),
    ("patch with one `on_update` listener", "registry", "patch_with_listener/registry", "patch_with_listener/raw"),
    ("", "raw, `std::function`", "patch_with_listener/raw", None),
    ("patch 1 % and collect them; per changed", "registry", "collect_changed/registry", "collect_changed/raw"),
    ("", "raw, list and marks", "collect_changed/raw", None),
]
MEMORY = [
    ("bytes per entity with three components, 32 of them values", "heap/three_components", "bytes/entity"),
    ("bytes per component that every 4096th entity has", "heap/every_4096th", "bytes/component"),
]
BEGIN = "<!-- ecs:begin, written by scripts/bench ecs --record -->"
END = "<!-- ecs:end -->"


def medians(benchmark_json):
    """{row: {counter: median over the repetitions}} of Google Benchmark's JSON."""
    runs = {}
    for run in benchmark_json["benchmarks"]:
        if run.get("run_type") != "iteration":
            continue
        for counter in ("cpu/entity", "bytes/entity", "bytes/component"):
            if counter in run:
                runs.setdefault(run["run_name"], {}).setdefault(counter, []).append(run[counter])
    return {name: {counter: statistics.median(values) for counter, values in counters.items()}
            for name, counters in runs.items()}


def figure(seconds):
    """Nanoseconds with as many digits as they deserve."""
    nanoseconds = seconds * 1e9
    return f"{nanoseconds:.2f}" if nanoseconds < 10 else f"{nanoseconds:.1f}"


def table(measured, peers):
    out = ["Nanoseconds of processor time per entity; in brackets the ratio to the row that the work is measured against: "
           "`gather` for views, `raw` for the others.", "",
           "| work | how | 10,000 | 100,000 | 1,000,000 | EnTT, 100,000 | flecs, 100,000 |", "|---|---|---|---|---|---|---|"]
    for work, how, row, base in ROWS:
        cells = []
        for size in SIZES:
            time = measured[f"{row}/{size}"]["cpu/entity"]
            ratio = f" ({time / measured[f'{base}/{size}']['cpu/entity']:.2f})" if base else ""
            cells.append(figure(time) + ratio)
        peer = peers["nanoseconds"].get(row, {})
        cells += [f"{peer[name]:.3g}" if name in peer else "" for name in ("entt", "flecs")]
        out.append(f"| {work} | {how} | " + " | ".join(cells) + " |")
    out += ["", "| memory | 10,000 | 100,000 | 1,000,000 |", "|---|---|---|---|"]
    for what, row, counter in MEMORY:
        values = [measured[f"{row}/{size}"][counter] for size in SIZES]
        out.append(f"| {what} | " + " | ".join(f"{value:,.1f}" for value in values) + " |")
    out += ["", peers["note"]]
    return "\n".join(out)


def with_table(page, text):
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("arguments", nargs="+", help="[JSON] PAGE")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    kept = root / "tests/bench/measured/ecs.json"
    peers = json.loads((root / "tests/bench/measured/ecs_peers.json").read_text())
    page = pathlib.Path(options.arguments[-1])
    if options.check:
        measured = json.loads(kept.read_text())["medians"]
        if with_table(page.read_text(), table(measured, peers)) != page.read_text():
            sys.exit(f"{page}: the table between the marks is not that of {kept}; run scripts/bench ecs --record")
        return
    benchmark_json = json.loads(pathlib.Path(options.arguments[0]).read_text())
    measured = medians(benchmark_json)
    kept.write_text(json.dumps({"date": benchmark_json["context"]["date"], "medians": measured}, indent=1, sort_keys=True) + "\n")
    page.write_text(with_table(page.read_text(), table(measured, peers)))
    print(f"{page}: the table is written, its numbers are in {kept}")


if __name__ == "__main__":
    main()
