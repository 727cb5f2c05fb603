"""Joins the reports of server and bots into one file and prints the lines that people look for.

Usage: combine_report.py SERVER.json BOTS.json [REPORT.json]
"""

import json
import sys


def verdict(bots):
    """What the bots found, on one line, and each broken limit."""
    checks = [f"{check['what']} "
              f"{'not measured' if check['value'] is None else format(check['value'], 'g')}{' ' + check['unit'] if check['unit'] else ''}"
              f" {'within' if check['finding'] == 'within' else 'BROKEN:'} --{option} {check['limit']:g}"
              for option, check in bots["limits"].items()]
    return [f"verdict  {'passed' if bots['passed'] else 'FAILED'}{''.join('; ' + check for check in checks)}"]


def summary(report):
    server, bots = report["server"], report["bots"]
    seconds = server["ticks"] / server["tick_rate"]
    encoded = max(1, server["blocks_encoded"])
    return "\n".join([
        f"server   {server['entities']} entities, {server['ticks']} ticks in {seconds:.0f} s; "
        f"tick p50 {server['tick_ms']['p50']:.2f}, p99 {server['tick_ms']['p99']:.2f}, "
        f"max {server['tick_ms']['max']:.2f} ms; {server['overruns']} overruns; "
        f"{server['cpu_seconds']:.1f} CPU seconds",
        f"wire     {bots['kbit_per_second']['p50']:.0f} kbit/s per bot, "
        f"{bots['bytes_per_entity_update']:.2f} bytes per entity update; "
        f"each encoded block sent {server['blocks_sent'] / encoded:.1f} times; "
        f"update age p50 {bots['update_age_ms']['p50']:.0f}, p99 {bots['update_age_ms']['p99']:.0f} ms",
        f"mirrors  {bots['connected']} of {bots['requested']} connected in {bots['sessions']} sessions, "
        f"{bots['refused']} refused, "
        f"{bots['lost']} lost; {bots['blocks_verified']} blocks verified, {bots['mismatches']} mismatches; "
        f"{bots['exact_at_end']} of {bots['in_session_at_end']} exact at the end",
    ] + verdict(bots))


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as server, open(arguments[1], encoding="utf-8") as bots:
        report = {"server": json.load(server), "bots": json.load(bots)}
    if len(arguments) == 3 and arguments[2]:
        with open(arguments[2], "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    print(summary(report))


if __name__ == "__main__":
    main(sys.argv[1:])
