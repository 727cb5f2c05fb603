#!/usr/bin/env python3
"""Installs a build of shoal into an empty prefix and builds, runs and breaks an outside project on it.

The project (tests/install/outside) has a schema of its own and sees nothing of the source tree. So does examples/seed.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPECTED_OUTPUT = "20 sheep, 15 full of wool, 5 asleep, 20 mine, 40 bleats, mirror exact\n"
EXPECTED_FAULT = 'bad_farm.fbs: farm.Sheep.wool: attribute "max": 1000 does not fit ubyte (0 … 255)'


def run(*command, may_fail=False):
    """The command's output; ends the test when the command fails, unless it may."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 and not may_fail:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}")
    return done


def check_headers(root):
    """Every header that an installed header includes is installed too, and none is the demo's."""
    for header in root.rglob("*.hpp"):
        for name in re.findall(r'#include "([^"]+)"', header.read_text(encoding="utf-8")):
            if not (root / name).is_file():
                sys.exit(f"{header.relative_to(root)} includes {name}, which is not installed")
    demo = [path for path in root.rglob("*") if path.name in ("game", "demo", "bots")]
    if demo:
        sys.exit(f"the demo is installed: {demo}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a finished build of shoal")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--generator", default="Ninja")
    parser.add_argument("--flags", default="")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="shoal_install_") as folder:
        folder = pathlib.Path(folder)
        prefix, source, build = folder / "prefix", folder / "outside", folder / "build"
        # The copy proves that the project needs nothing from beside it.
        shutil.copytree(pathlib.Path(__file__).parent / "outside", source)
        run(options.cmake, "--install", options.build, "--prefix", prefix)
        check_headers(prefix / "include" / "shoal")

        def build_outside(source, build):
            run(options.cmake, "-S", source, "-B", build, "-G", options.generator, f"-DCMAKE_PREFIX_PATH={prefix}",
                f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DCMAKE_CXX_FLAGS={options.flags}")
            run(options.cmake, "--build", build)

        build_outside(source, build)
        output = run(build / "farm_server").stdout
        if output != EXPECTED_OUTPUT:
            sys.exit(f"expected: {EXPECTED_OUTPUT}got:      {output}")

        options_of_service = run(build / "farm_service", "--help").stdout
        if "--admin-token-file" not in options_of_service:
            sys.exit(f"the program around a game has no admin port: {options_of_service}")

        # Adding a component is one struct in the schema and nothing else.
        with open(source / "schemas" / "farm.fbs", "a", encoding="utf-8") as schema:
            schema.write("\nstruct Dog { barks: ushort; }\n")
        run(options.cmake, "--build", build)
        header = (build / "generated" / "schemas" / "farm.hpp").read_text(encoding="utf-8")
        if "struct Dog" not in header:
            sys.exit("the schema changed, the generated header did not")

        broken = run(options.cmake, "--build", build, "--target", "bad_farm", may_fail=True)
        if broken.returncode == 0 or EXPECTED_FAULT not in broken.stdout:
            sys.exit(f"expected the build to stop with: {EXPECTED_FAULT}\ngot: {broken.stdout}")

        # The seed of a game is for copying.
        seed, build = folder / "seed", folder / "build_seed"
        shutil.copytree(ROOT / "examples" / "seed", seed)
        build_outside(seed, build)
        output = run(build / "seed").stdout
        if "2 of 2 mirrors exact" not in output:
            sys.exit(f"the seed by itself: {output}")
    print("installed, built and run outside")


main()
