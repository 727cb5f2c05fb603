#!/usr/bin/env python3
"""How long a compiler takes for code on the registry: processor seconds, the median of five.

Generates one file with 20 component types and 20 views: emplace, patch, get and remove of each type, `each` and
range-for of each view. Compiles it at -O0 and at -O2, and the include of the registry alone, and an empty file. Run by
scripts/bench compile; processor time is little disturbed by what else runs, unlike the time on the wall.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = 20
VIEWS = 20
RUNS = 5
LEVELS = ("-O0", "-O2")


def types_of_view(view):
    """One to four types, each view another choice; what is read only is const."""
    count = 1 + view % 4
    chosen = [(view + 3 * i) % TYPES for i in range(count)]
    return [(number, i % 2 == 1) for i, number in enumerate(chosen)]


def generated_file():
    lines = ['#include "shared/ecs/registry.hpp"', "", "using shoal::Entity, shoal::Registry;", ""]
    lines += [f"struct C{i} {{\n  float x = 0;\n  int y = {i};\n}};" for i in range(TYPES)]
    lines += ["", "void register_all(Registry& world) {"]
    lines += [f'  world.register_component<C{i}>("bench.C{i}");' for i in range(TYPES)]
    lines += ["  world.freeze();", "}"]
    for i in range(TYPES):
        lines += [f"float touch_{i}(Registry& world, Entity entity) {{",
                  f"  world.emplace<C{i}>(entity, 1.0f, {i});",
                  f"  world.patch<C{i}>(entity, [](C{i}& value) {{ value.x += 1; }});",
                  f"  const float x = world.get<const C{i}>(entity).x;",
                  f"  world.remove<C{i}>(entity);",
                  "  return x;", "}"]
    for i in range(VIEWS):
        types = types_of_view(i)
        names = ", ".join(f"{'const ' if constant else ''}C{number}" for number, constant in types)
        parameters = ", ".join(f"{'const ' if constant else ''}C{number}& c{place}"
                               for place, (number, constant) in enumerate(types))
        bound = ", ".join(f"c{place}" for place in range(len(types)))
        total = " + ".join(f"c{place}.x" for place in range(len(types)))
        lines += [f"void loop_{i}(Registry& world) {{",
                  f"  world.view<{names}>().each([]({parameters}) {{ c0.x = {total}; }});",
                  f"  for (auto [entity, {bound}] : world.view<{names}>()) c0.x = {total};", "}"]
    return "\n".join(lines) + "\n"


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"CCACHE_DISABLE": "1"})
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(compiler, source, level):
    command = [compiler, "-std=c++20", level, "-I", str(ROOT), "-c", str(source), "-o", "/dev/null"]
    processor_seconds(command)  # once before: the files are in memory then
    return statistics.median(processor_seconds(command) for _ in range(RUNS))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--output", type=pathlib.Path, help="writes the numbers there, as JSON")
    parser.add_argument("--print-source", action="store_true", help="shows the generated file and ends")
    options = parser.parse_args()
    if options.print_source:
        print(generated_file(), end="")
        return
    version = subprocess.run([options.compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    sources = {
        "empty file": "",
        "include of shared/ecs/registry.hpp": '#include "shared/ecs/registry.hpp"\n',
        f"{TYPES} types, {VIEWS} views": generated_file(),
    }
    print(f"{version}; processor seconds, median of {RUNS}")
    print(f"{'':<40}" + "".join(f"{level:>8}" for level in LEVELS))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source.cpp"
        for name, text in sources.items():
            source.write_text(text, encoding="utf-8")
            seconds = {level: round(measure(options.compiler, source, level), 3) for level in LEVELS}
            rows.append({"name": name, "seconds": seconds})
            print(f"{name:<40}" + "".join(f"{seconds[level]:>8.2f}" for level in LEVELS), flush=True)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps({"compiler": version, "runs": RUNS, "rows": rows}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
