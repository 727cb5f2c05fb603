"""Measures, draws and writes down the figures of docs/benchmarks.md.

  scripts/bench figures           runs all, writes docs/figures and the marked part of docs/benchmarks.md
  scripts/bench figures --quick   a few short runs, written to build/figures: does it all work?
  scripts/bench figures --draw    runs nothing; draws docs/figures/*.json again
"""
import argparse
import pathlib
import signal
import sys

import measure
import pages

QUICK_FOLDER = measure.ROOT / "build" / "figures"


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_stops(handler):
    for number in STOPS:
        signal.signal(number, handler)


def stop(*_):
    # The first one ends the run in an orderly way, which a second one must not cut short.
    on_stops(signal.SIG_IGN)
    raise KeyboardInterrupt


def write(files, folder):
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(folder)}", file=sys.stderr)


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench figures", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--quick", action="store_true", help="a few short runs, written to build/figures")
    kind.add_argument("--draw", action="store_true", help="runs nothing; draws docs/figures/*.json again")
    options = parser.parse_args(arguments)
    on_stops(stop)
    try:
        if options.draw:
            measured = pages.load(pages.FOLDER)
        else:
            command = "scripts/bench figures" + (" --quick" if options.quick else "")
            measured = measure.measure(command, options.quick)
        on_stops(signal.SIG_IGN)  # numbers, drawings and words change together
        folder = QUICK_FOLDER if options.quick else pages.FOLDER
        if not options.draw:
            write(pages.data_files(measured, folder), measure.ROOT)
        write(pages.drawings(measured, folder), measure.ROOT)
        if options.quick:
            print(pages.text(measured))
        else:
            write({pages.PAGE: pages.with_text(pages.PAGE.read_text(encoding="utf-8"), pages.text(measured))}, measure.ROOT)
    except KeyboardInterrupt:
        print("\nInterrupted: server and bots have ended, nothing was written", file=sys.stderr)
        return 130
    except (measure.MeasuringFailed, pages.BadData) as error:
        print(f"\nscripts/bench figures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
