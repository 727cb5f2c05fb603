"""A line chart as SVG text: axes with units, lines with markers, a legend, a note. The same chart gives the same text.

Colours come in two sets, by what the reader prefers, and the background belongs to them: so the chart can be read on
any page. Lines also differ by their markers, for those who see no colours and for print.
"""
import dataclasses
import html
import math

WIDTH, HEIGHT = 840, 460
LEFT, RIGHT, TOP, BOTTOM = 76, 216, 44, 92  # what stands around the plot: axes, legend, title, note
FONT = "system-ui, 'DejaVu Sans', Verdana, sans-serif"
# Wong's palette, which the colour-blind can tell apart; for dark pages somewhat lighter.
LIGHT = ["#0072b2", "#d55e00", "#00805f", "#a6478b", "#7a6a00", "#444444"]
DARK = ["#56b4e9", "#ff8c42", "#2fc99b", "#e59fc9", "#d9cb45", "#cccccc"]


@dataclasses.dataclass
class Axis:
    label: str  # with its unit
    ticks: list  # (value, text); the first and the last value are the ends of the axis
    is_log: bool = False

    def share(self, value):
        """0 at the beginning of the axis, 1 at its end."""
        scale = math.log if self.is_log else float
        first, last = self.ticks[0][0], self.ticks[-1][0]
        return (scale(value) - scale(first)) / (scale(last) - scale(first))


@dataclasses.dataclass
class Line:
    name: str
    points: list  # (x, y), by x; None where the line is broken, not at its ends
    is_main: bool = False


@dataclasses.dataclass
class Chart:
    title: str
    description: str  # for those who do not see it
    x: Axis
    y: Axis
    lines: list
    note: list  # lines of text below
    limit: tuple = None  # (y, text): a dashed line across


def linear_axis(label, largest):
    """From 0 to a round number not below the largest value."""
    rough = largest / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return Axis(label, [(i * step, f"{i * step:g}") for i in range(math.ceil(largest / step - 1e-9) + 1)])


def log_axis(label, smallest, largest):
    """Ticks at 1, 2 and 5 times the powers of ten, from the last not above the smallest value."""
    steps = [factor * 10.0**power for power in range(-6, 9) for factor in (1, 2, 5)]
    first = max(step for step in steps if step <= smallest * (1 + 1e-9))
    last = min(step for step in steps if step >= largest * (1 - 1e-9) and step > first)
    return Axis(label, [(step, f"{step:g}") for step in steps if first <= step <= last], is_log=True)


def axis_at(label, values, texts=None, is_log=False):
    """Ticks where the values are."""
    return Axis(label, list(zip(values, texts or [f"{value:g}" for value in values])), is_log)


def marker(kind, x, y, classes):
    """One of six shapes, about eight units wide."""
    shapes = [
        None,  # the circle
        [(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
        [(0, -4.8), (4.4, 3.4), (-4.4, 3.4)],
        [(0, -5), (5, 0), (0, 5), (-5, 0)],
        [(0, 4.8), (4.4, -3.4), (-4.4, -3.4)],
        [(-4.6, -1.6), (4.6, -1.6), (4.6, 1.6), (-4.6, 1.6)],
    ]
    shape = shapes[kind % len(shapes)]
    if shape is None:
        return f'<circle class="{classes}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in shape)
    return f'<polygon class="{classes}" points="{corners}"/>'


def text(x, y, words, anchor="start", classes="", extra=""):
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}{extra}>{html.escape(words)}</text>'


def style():
    def colours(background, ink, faint, palette):
        rules = [f".paper {{ fill: {background}; }}", f"text {{ fill: {ink}; }}", f".grid {{ stroke: {faint}; }}",
                 f".axis, .limit {{ stroke: {ink}; }}"]
        for number, colour in enumerate(palette):
            rules.append(f".l{number} {{ stroke: {colour}; }} .m{number} {{ fill: {colour}; }}")
        return rules

    rules = [f"text {{ font-family: {FONT}; font-size: 13px; }}", ".title { font-size: 16px; font-weight: 600; }",
             ".note { font-size: 11px; opacity: 0.8; }", ".line { fill: none; stroke-width: 1.6; }",
             ".main { stroke-width: 3; }", ".grid { stroke-width: 1; }", ".limit { stroke-dasharray: 6 4; }"]
    rules += colours("#ffffff", "#1f2328", "#d8dee4", LIGHT)
    dark = colours("#0d1117", "#e6edf3", "#30363d", DARK)
    return ["<style>"] + rules + ["@media (prefers-color-scheme: dark) {"] + [f"  {rule}" for rule in dark] + ["}", "</style>"]


def svg(chart):
    plot_right, plot_bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(value):
        return LEFT + chart.x.share(value) * (plot_right - LEFT)

    def y_of(value):
        return plot_bottom - chart.y.share(value) * (plot_bottom - TOP)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title description">',
             f'<title id="title">{html.escape(chart.title)}</title>',
             f'<desc id="description">{html.escape(chart.description)}</desc>', *style(),
             f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
             text(LEFT, 26, chart.title, classes="title")]
    for value, words in chart.y.ticks:
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y_of(value):.1f}" x2="{plot_right}" y2="{y_of(value):.1f}"/>')
        parts.append(text(LEFT - 8, y_of(value) + 4.5, words, "end"))
    for value, words in chart.x.ticks:
        parts.append(f'<line class="axis" x1="{x_of(value):.1f}" y1="{plot_bottom}" x2="{x_of(value):.1f}" y2="{plot_bottom + 5}"/>')
        parts.append(text(x_of(value), plot_bottom + 19, words, "middle"))
    parts.append(f'<path class="line axis" d="M{LEFT} {TOP} V{plot_bottom} H{plot_right}"/>')
    parts.append(text((LEFT + plot_right) / 2, plot_bottom + 39, chart.x.label, "middle"))
    middle = (TOP + plot_bottom) / 2
    parts.append(text(20, middle, chart.y.label, "middle", extra=f' transform="rotate(-90 20 {middle:.1f})"'))
    if chart.limit:
        value, words = chart.limit
        parts.append(f'<line class="limit" x1="{LEFT}" y1="{y_of(value):.1f}" x2="{plot_right}" y2="{y_of(value):.1f}"/>')
        parts.append(text(plot_right + 10, y_of(value) + 4.5, words))
    # The main line last, above the others.
    for number, line in sorted(enumerate(chart.lines), key=lambda entry: entry[1].is_main):
        places = [(x_of(point[0]), y_of(point[1])) if point else None for point in line.points]
        way = ""
        for before, place in zip([None] + places, places):
            way += f"{'L' if before else 'M'}{place[0]:.1f} {place[1]:.1f} " if place else ""
        parts.append(f'<path class="line l{number}{" main" if line.is_main else ""}" d="{way.strip()}"/>')
        parts += [marker(number, *place, f"m{number}") for place in places if place]
    parts += legend(chart, plot_right + 10, y_of)
    for row, words in enumerate(chart.note):
        parts.append(text(LEFT, HEIGHT - 30 + 15 * row, words, classes="note"))
    return "\n".join(parts) + "\n</svg>\n"


def legend(chart, left, y_of):
    """Beside the ends of the lines where there is room: in their order from the top, none over another or the limit's."""
    row_height = 20
    by_end = sorted(enumerate(chart.lines), key=lambda entry: y_of(entry[1].points[-1][1]))
    taken = [y_of(chart.limit[0])] if chart.limit else []
    parts, previous = [], TOP - row_height
    for rows_left, (number, line) in zip(range(len(by_end), 0, -1), by_end):
        # Not so low that those below do not fit any more.
        y = min(y_of(line.points[-1][1]), HEIGHT - BOTTOM - row_height * (rows_left - 1))
        y = max(y, previous + row_height)
        while any(abs(y - other) < row_height for other in taken):
            y += 1
        previous = y
        main = " main" if line.is_main else ""
        parts.append(f'<line class="line l{number}{main}" x1="{left}" y1="{y:.1f}" x2="{left + 22}" y2="{y:.1f}"/>')
        parts.append(marker(number, left + 11, y, f"m{number}"))
        parts.append(text(left + 28, y + 4.5, line.name))
    return parts
