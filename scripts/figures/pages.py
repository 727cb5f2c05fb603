"""From the data of the figures to what is shown: drawings and the text of docs/benchmarks.md.

Everything shown is computed from the data, so the same data give the same files, and a test compares them.
"""
import json
import pathlib
import re

import line_chart

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"
PAGE = ROOT / "docs" / "benchmarks.md"
NAMES = ("tick-time", "bytes-per-update")
BEGIN, END = "<!-- figures:begin, written by scripts/bench figures -->", "<!-- figures:end -->"
# An age with fewer updates than this says more about the few chunks that had it than about the age.
LEAST_UPDATES = 10_000


class BadData(Exception):
    """With the words for the user."""


# --- files ---------------------------------------------------------------------------------------------------


def to_json(data):
    """Indented, but arrays of numbers on one line."""
    return re.sub(r"\[\s+([-\d.,\s]+?)\s+\]", lambda match: "[" + " ".join(match[1].split()) + "]",
                  json.dumps(data, indent=1, ensure_ascii=False)) + "\n"


def data_files(measured, folder):
    return {folder / f"{name}.json": to_json(measured[name]) for name in NAMES}


def load(folder):
    measured = {}
    for name in NAMES:
        path = folder / f"{name}.json"
        try:
            measured[name] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadData(f"{path.name} cannot be read: {error}. scripts/bench figures measures anew") from error
    return measured


def drawings(measured, folder):
    charts = {"tick-time": tick_chart, "bytes-per-update": age_chart}
    return {folder / f"{name}.svg": line_chart.svg(charts[name](measured[name])) for name in NAMES}


def with_text(page, words):
    pattern = re.compile(rf"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise BadData(f"{PAGE.name} must have the lines {BEGIN} and {END}, once each")
    return pattern.sub(lambda _: f"{BEGIN}\n{words}{END}", page)


# --- words ---------------------------------------------------------------------------------------------------


def digits(value):
    """Three significant digits, with commas: 0.123, 12.3, 12,300."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.{1 if abs(rounded) >= 10 else 2}f}"


def share(part, whole):
    percent = 100 * part / whole if whole else 0
    return f"{percent:.0f} %" if percent == 0 or percent >= 10 else f"{percent:.2g} %"


def of_all(runs, name):
    """The options' values that the runs have, in order, as words."""
    return listed(sorted({run["options"][name] for run in runs}))


def listed(values):
    words = [f"{value:,}" for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def machine_words(data):
    machine = data["machine"]
    what = "virtual machine" if machine["is_virtual"] else "machine"
    return f"{machine['cores']} cores of a {what} ({machine['processor']}, {machine['system']}, {machine['compiler']})"


def note(data):
    changed = " with changes" if data["sources_differ_from_commit"] else ""
    return [f"Made by {data['command']} on {data['date']}, commit {data['commit']}{changed}; "
            f"{len(data['runs'])} runs of ./run.",
            machine_words(data)]


def others_share(data):
    """Of the machine's time, how much went to neither server nor bots."""
    seconds = sum(run["wall_seconds"] for run in data["runs"]) * data["machine"]["cores"]
    return share(sum(run["cpu_seconds_of_others"] for run in data["runs"]), seconds)


# --- tick time -----------------------------------------------------------------------------------------------


def tick_rows(data):
    rows = []
    for run in data["runs"]:
        server, bots = run["report"]["server"], run["report"]["bots"]
        rows.append({
            "bots": run["options"]["bots"],
            "p50": server["tick_ms"]["p50"], "p99": server["tick_ms"]["p99"], "max": server["tick_ms"]["max"],
            "cpu": server["cpu_seconds"] * 1000 / server["ticks"],
            "ticks": server["ticks"], "overruns": server["overruns"],
            "sharing": server["blocks_sent"] / max(1, server["blocks_encoded"]),
            "kbit": bots["kbit_per_second"]["p50"],
            "age_p50": bots["update_age_ms"]["p50"], "age_p99": bots["update_age_ms"]["p99"],
        })
    if len(rows) < 2:
        raise BadData("tick-time.json has fewer than two runs: no line can be drawn")
    return sorted(rows, key=lambda row: row["bots"])


def period_ms(data):
    return 1000 / data["runs"][0]["report"]["server"]["tick_rate"]


def tick_chart(data):
    rows = tick_rows(data)
    kinds = [("max", "longest tick"), ("p99", "tick, p99"), ("p50", "tick, median"), ("cpu", "processor time per tick")]
    lines = [line_chart.Line(name, [(row["bots"], row[key]) for row in rows], key == "p50") for key, name in kinds]
    values = [y for line in lines for _, y in line.points] + [period_ms(data)]
    return line_chart.Chart(
        title=f"Tick time against bots, {of_all(data['runs'], 'entities')} entities",
        description="Duration of the server's tick, median, 99th percentile and longest, and its processor time per "
                    "tick, against the number of bots. The table in docs/benchmarks.md has the numbers.",
        x=bots_axis(rows),
        y=line_chart.log_axis("milliseconds (logarithmic)", min(value for value in values if value > 0), max(values)),
        lines=lines,
        note=note(data),
        limit=(period_ms(data), f"{period_ms(data):.1f} ms: time for a tick"))


def bots_axis(rows):
    counts = [row["bots"] for row in rows]
    return line_chart.axis_at("bots", [0] + counts if counts[0] > 0 else counts)


def tick_text(data):
    rows = tick_rows(data)
    first, last = rows[0], rows[-1]
    within = [row["bots"] for row in rows if row["p99"] <= period_ms(data)]
    late = [row for row in rows if row["overruns"] > 0]
    if within == [row["bots"] for row in rows]:
        verdict = "99 % of the ticks keep their time at each number of bots"
    elif within:
        verdict = f"99 % of the ticks keep their time with {listed(within)} bots"
    else:
        verdict = "At no number of bots do 99 % of the ticks keep their time"
    verdict += (f"; {sum(row['overruns'] for row in late):,} were late or skipped, with {listed([row['bots'] for row in late])} bots"
                if late else ", and none was late or skipped")
    lines = [
        f"With {first['bots']} bots the median tick takes {digits(first['p50'])} ms, with {last['bots']} bots "
        f"{digits(last['p50'])} ms, of the {period_ms(data):.1f} ms that it has. {verdict}. Each encoded block is sent "
        f"{digits(first['sharing'])} times with {first['bots']} bots, {digits(last['sharing'])} times with {last['bots']}.",
        "",
        "| bots | tick p50 | p99 | longest, ms | processor time per tick, ms | ticks that ran; late or skipped | blocks sent ÷ "
        "encoded | kbit/s per bot, p50 | update age p50, p99, ms |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['bots']} | {digits(row['p50'])} | {digits(row['p99'])} | {digits(row['max'])} | {digits(row['cpu'])} | "
            f"{row['ticks']:,}; {row['overruns']:,} | {digits(row['sharing'])} | {digits(row['kbit'])} | "
            f"{digits(row['age_p50'])}, {digits(row['age_p99'])} |")
    return lines


# --- bytes per update ----------------------------------------------------------------------------------------


def merged(runs, key):
    """Sums by age; index 0 is an age of one tick."""
    return [sum(values) for values in zip(*(run["report"]["bots"]["by_baseline_age"][key] for run in runs))]


def bytes_by_age(runs):
    """[(age in ticks, bytes per update)] where there are enough updates."""
    updates = merged(runs, "updates")
    return [(age, size / count) for age, (size, count) in enumerate(zip(merged(runs, "bytes"), updates), 1)
            if count >= LEAST_UPDATES]


def median_age(runs):
    updates = merged(runs, "updates")
    seen = 0
    for age, count in enumerate(updates, 1):
        seen += count
        if 2 * seen >= sum(updates):
            return age
    return len(updates)


def by_latency(data):
    groups = {}
    for run in sorted(data["runs"], key=lambda run: run["options"]["latency"]):
        groups.setdefault(run["options"]["latency"], []).append(run)
    return groups


def all_ages(data):
    points = bytes_by_age(data["runs"])
    if len(points) < 2:
        raise BadData(f"bytes-per-update.json has fewer than two ages with {LEAST_UPDATES} updates: no line can be drawn")
    return points


def open_age(data):
    """The last one: so many ticks or more."""
    return len(merged(data["runs"], "updates"))


def with_breaks(points, data):
    """No line leads over ages that are left out, nor to all the ages at the end of the axis."""
    result = []
    for age, value in points:
        if result and (result[-1][0] != age - 1 or age == open_age(data)):
            result.append(None)
        result.append((age, value))
    return result


def age_chart(data):
    groups = [("all runs", all_ages(data))]
    groups += [(f"{latency} ms each way", bytes_by_age(runs)) for latency, runs in by_latency(data).items()]
    groups = [(name, points) for name, points in groups if points]
    lines = [line_chart.Line(name, with_breaks(points, data), name == "all runs") for name, points in groups]
    values = [value for _, points in groups for _, value in points]
    oldest = max(age for _, points in groups for age, _ in points)
    powers = [2**power for power in range((oldest - 1).bit_length() + 1)]
    return line_chart.Chart(
        title="Bytes per entity update against the age of the baseline",
        description="Bytes of block bodies and directory entries per entity update, against how many ticks the baseline "
                    "is older than the state, over all runs and for each latency.",
        x=line_chart.axis_at(f"age of the baseline, ticks of {period_ms(data):.1f} ms (logarithmic)", powers,
                             [f"{power}+" if power == open_age(data) else f"{power}" for power in powers], is_log=True),
        y=line_chart.linear_axis("bytes per entity update", max(values)),
        lines=lines,
        note=note(data))


def age_text(data):
    points = all_ages(data)
    updates = merged(data["runs"], "updates")
    (youngest, first), (oldest, last) = points[0], points[-1]
    cheapest, dearest = min(points, key=lambda point: point[1]), max(points, key=lambda point: point[1])
    shown = sum(updates[age - 1] for age, _ in points)
    ages = ", ".join(f"{median_age(runs)} at {latency} ms" for latency, runs in by_latency(data).items())
    left_out = sum(1 for count in updates if count < LEAST_UPDATES)
    leaving = (f"Ages with fewer than {LEAST_UPDATES:,} updates are left out: {left_out} of {len(updates)}, with "
               f"{share(sum(updates) - shown, sum(updates))} of the updates." if left_out else
               f"Each age has at least {LEAST_UPDATES:,} updates.")
    cost = (f"An entity update costs {digits(first)} bytes from a baseline {ticks(youngest, data)} old and {digits(last)} "
            f"from one {ticks(oldest, data)} old")
    extremes = [f"{word}, {digits(value)}, at {ticks(age, data)}" for word, (age, value) in
                (("least", cheapest), ("most", dearest)) if age not in (youngest, oldest)]
    if extremes:
        cost += "; " + ", and ".join(extremes)
    return [f"{cost}. Half of the updates came from baselines up to so many ticks old, by latency each way: {ages}. {leaving}"]


def ticks(age, data):
    return f"{age} tick{'' if age == 1 else 's'}{' or more' if age == open_age(data) else ''}"


# --- the part of the page ------------------------------------------------------------------------------------


def text(measured):
    tick, ages = measured["tick-time"], measured["bytes-per-update"]
    seconds = of_all(tick["runs"] + ages["runs"], "seconds")
    lines = [
        "### Tick time against bots", "",
        "![Tick time against bots](figures/tick-time.svg)", "", *tick_text(tick), "",
        f"Measured on {tick['date']}: {len(tick['runs'])} runs of {seconds} s on {machine_words(tick)}; bots and server "
        f"share the cores, and {others_share(tick)} of their time went to other work. "
        "[The numbers](figures/tick-time.json).", "",
        "### Bytes per update against the age of the baseline", "",
        "![Bytes per update against the age of the baseline](figures/bytes-per-update.svg)", "", *age_text(ages), "",
        f"Measured on {ages['date']}: {len(ages['runs'])} runs of {seconds} s with {of_all(ages['runs'], 'bots')} bots and "
        f"{of_all(ages['runs'], 'entities')} entities, at latencies of {of_all(ages['runs'], 'latency')} ms and losses of "
        f"{of_all(ages['runs'], 'loss')} %, each way. [The numbers](figures/bytes-per-update.json).",
    ]
    return "\n".join(lines) + "\n"
