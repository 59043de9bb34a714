# SPDX-License-Identifier: BSD-2-Clause
"""Charts by matplotlib, as SVG inside the page: each once for wide windows and once for phones. The page sets the colours, light or dark.

Text stays text, in the page's font, so it can be read aloud, searched and enlarged.
"""
import html
import io
import math
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("abd-perf report: needs python3 with matplotlib (Debian: python3-matplotlib)")
matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402

from model import median_of  # noqa: E402

# Placeholders that the page's style replaces: text, grid, and a colour per series (Okabe and Ito's, which colour-blind readers can tell apart).
TEXT, GRID, PAGE, LOSS = "#010101", "#020202", "#030303", "#040404"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
VARIABLES = {TEXT: "var(--text)", GRID: "var(--line)", PAGE: "var(--page)", LOSS: "var(--bad)",
             **{colour: f"var(--c{i})" for i, colour in enumerate(COLOURS)}}
MARKERS = ["o", "s", "^", "D", "v", "P"]
STYLE = {"figure.facecolor": "none", "axes.facecolor": "none", "text.color": TEXT, "axes.labelcolor": TEXT,
         "axes.edgecolor": "#888888", "xtick.color": TEXT, "ytick.color": TEXT, "grid.color": GRID, "axes.grid": True, "axes.axisbelow": True,
         "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none", "font.size": 10,
         "text.parse_math": False, "legend.labelcolor": TEXT, "legend.frameon": False, "legend.fontsize": 9}
WIDTHS = {"wide": 8.0, "narrow": 3.9}  # inches of 72 points; shown on about 930 and 360 pixels


def shorter(tag):
    for long, short in ((r"font: ([0-9.]+px) '[^;\"]*", r"font: \1 sans-serif"), (r'<g id="[a-z0-9_.]*">', "<g>"), (r"(\.\d)\d+", r"\1"),
                        (r"(\d)\.0\b", r"\1"), (r" ([MLQCz]) ", r"\1"), (r'"M ', '"M'), (r"; stroke-linecap: square", ""),
                        (r' transform="rotate\(-0 [^)]*\)"', ""), ("xlink:href", "href")):
        tag = re.sub(long, short, tag)
    return tag


def without_groups(text):
    """The drawing without the groups that say nothing."""
    said, parts = [], []
    for part in re.split("(<g[^>]*>|</g>)", text):
        if part.startswith("<g"):
            said.append(part != "<g>")
        if not (part == "<g>" or part == "</g>" and not said.pop()):
            parts.append(part)
    return "".join(parts)


def shared(page):
    """(the page with a class in place of each style that its drawings have, the rules of these classes); names of parts are short."""
    names, rules = {}, {}

    def tag(found):
        text = re.sub(r'(?<=[#"])[mp][0-9a-f]{10}\b', lambda name: names.setdefault(name[0], f"i{len(names)}"), found[0])
        text = re.sub(r' style="([^"]*)"', lambda style: f" class={rules.setdefault(style[1], f's{len(rules)}')}", text)
        return text.replace("/>", " />")

    page = re.sub("<svg.*?</svg>", lambda drawing: re.sub("<[^<>]*>", tag, drawing[0]), page, flags=re.DOTALL)
    return page, "\n".join(f".{name} {{{style}}}" for style, name in rules.items())


def apart(figure, axes):
    """Moves the names at the ends of lines up, where one would lie on another."""
    names = [text for text in axes.texts if text.get_gid() == "end"]
    figure.draw_without_rendering()
    points, least = {text: axes.transData.transform(text.xy)[1] * 72 / figure.dpi for text in names}, -math.inf
    for text in sorted(names, key=points.get):
        least = max(points[text], least + 8.5)
        text.set_position((6, least - points[text]))


def svg(draw, title, kind, height):
    with plot.rc_context({**STYLE, "svg.hashsalt": title + kind}):
        figure, axes = plot.subplots(figsize=(WIDTHS[kind], height), layout="constrained")
        draw(axes, kind == "narrow")
        apart(figure, axes)
        plot.setp(axes.get_xgridlines() + axes.get_ygridlines(), clip_on=False)  # they end with the axes anyway
        data = io.StringIO()
        figure.savefig(data, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        plot.close(figure)
    text = data.getvalue()
    text = re.sub("<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.DOTALL)
    unused = ' (?:width|height)="[0-9.]+pt"| xmlns(?::xlink)?="[^"]*"| version="1.1"|<style.*?</style>|<path [^>]*"fill: none"/>'
    text = re.sub(unused, "", text, flags=re.DOTALL)
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    # What matplotlib writes for every tick and letter, made short; within tags only, what people read stays as it is.
    text = re.sub("<[^<>]*>", lambda tag: shorter(tag[0]), re.sub(r"\s*\n\s*", " ", text)).replace("> <", "><")
    return without_groups(text).replace("<svg ", f'<svg class="{kind}" role="img" aria-label="{html.escape(title)}" ', 1)


def picture(draw, title, height=3.6, narrow_height=None):
    """A figure with two drawings by draw(axes, narrow): the page shows the one that fits."""
    return (f'<figure>{svg(draw, title, "wide", height)}'
            f'{svg(draw, title, "narrow", narrow_height or height)}</figure>')


def legend(axes, narrow, columns=6):
    """A legend above the axes, where it hides nothing; a single line or bar gets none."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    longest = max(len(label) for label in labels)
    fit = max(1, min(columns, len(labels), (48 if narrow else 100) // (longest + 6)))
    axes.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.01), ncol=fit, borderaxespad=0)


def places(axes, labels, narrow):
    """Named places on the x axis; the names stand upright on phones if they would not fit."""
    crowded = narrow and sum(max(len(part) for part in label.split("\n")) + 1 for label in labels) > 38
    shown = [label.replace("\n", " ") for label in labels] if crowded else labels
    axes.set_xticks(range(len(labels)), shown, rotation=90 if crowded else 0)


def dots(axes, narrow, labels, series, published=None):
    """Ratios with their intervals over named places; series: (name, {place: ratio})."""
    for i, (name, points) in enumerate(series):
        shift = (i - (len(series) - 1) / 2) * 0.12
        x = [labels.index(place) + shift for place in points]
        y = [ratio["median"] for ratio in points.values()]
        low = [ratio["median"] - ratio["low"] for ratio in points.values()]
        high = [ratio["high"] - ratio["median"] for ratio in points.values()]
        colour = COLOURS[i % len(COLOURS)]
        axes.errorbar(x, y, yerr=[low, high], fmt=MARKERS[i % len(MARKERS)], color=colour, capsize=3, markersize=5, label=name)
        for place, ratio in zip(x, points.values()):  # a tie is hollow; a loss is crossed out, in the colour of losses
            if ratio["verdict"] != "faster":
                axes.plot([place], [ratio["median"]], MARKERS[i % len(MARKERS)], color=colour, markerfacecolor=PAGE, markersize=5)
            if ratio["verdict"] == "slower":
                axes.plot([place], [ratio["median"]], "x", color=LOSS, markersize=10, markeredgewidth=2)
    axes.axhline(1, color="#888888", linewidth=1)
    if published:
        axes.axhline(published, color="#888888", linewidth=1, linestyle="--", label=f"the source: {published}")
    places(axes, labels, narrow)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("times as fast")
    axes.set_xlabel("with 95 % intervals; x: slower, hollow: can't tell")
    legend(axes, narrow)


def line_style(i):
    return {"marker": MARKERS[i % len(MARKERS)], "markersize": 4, "color": COLOURS[i % len(COLOURS)],
            "linestyle": ("-", "--")[i // len(COLOURS) % 2]}


def some_of(points):
    """Which of them get a marker, so that a long line takes little of the page."""
    return max(1, len(points) // 5)


def lines(axes, narrow, labels, series):
    """Lines over named places; series: (name, {place: value}, more arguments for plot())."""
    for name, points, style in series:
        axes.plot([labels.index(place) for place in points], list(points.values()), label=name, markevery=some_of(points), **style)
        if points and not narrow:  # a series is named at its end, too
            axes.annotate(name, (labels.index(list(points)[-1]), list(points.values())[-1]), xytext=(6, 0), textcoords="offset points",
                          fontsize=8, va="center", annotation_clip=False, gid="end")
    places(axes, labels, narrow)


def bars(axes, narrow, names, series, unit):
    """Groups of bars from the left, one group per place; series: (name, {place: value})."""
    height = 0.8 / len(series)
    for i, (name, points) in enumerate(series):
        y = [names.index(place) + (i - (len(series) - 1) / 2) * height for place in points]
        drawn = axes.barh(y, list(points.values()), 0.85 * height, color=COLOURS[i % len(COLOURS)],
                          alpha=(1, 0.5)[i // len(COLOURS) % 2], label=name)
        axes.bar_label(drawn, fmt="%.3g", padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), [name.replace(", ", ",\n").replace(" (", "\n(") for name in names] if narrow else names)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.12)
    axes.set_xlabel(unit)
    legend(axes, narrow)


def powers_of_ten(axis):
    """A logarithmic axis whose numbers are plain ones."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(lambda value, _: "")


def powers_of_two(axes, values):
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    step = 1 + (high - low) // 9
    ticks = [2.0 ** power for power in range(low, high + 1, step)]
    axes.set_yscale("log")
    axes.set_yticks(ticks, [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in ticks])
    axes.minorticks_off()


def curves(axes, narrow, entries, of_x, methods):
    """A line per figure, over a number; entries are sorted by that number."""
    for i, name in enumerate(methods):
        points = [(of_x(entry), median_of(next((figure for figure in entry["figures"] if figure["name"] == name), None)))
                  for entry in entries]
        points = [(x, y) for x, y in points if y]
        axes.plot([x for x, _ in points], [y for _, y in points], label=name, markevery=some_of(points), **line_style(i))
