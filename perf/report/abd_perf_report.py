#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One HTML file from the JSON of abd-perf: a picture per question, a sentence that says what to conclude, every figure in tables.

The file needs nothing else: pictures are inside it, in a light and a dark set.
usage: abd_perf_report.py RESULT.json [-o REPORT.html]
"""
import argparse
import base64
import html
import io
import json
import math
import os
import statistics
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("abd-perf report: needs matplotlib (Debian: python3-matplotlib)")
matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # Okabe and Ito: for all kinds of sight
MARKERS = ["o", "s", "^", "D", "v", "P"]
STYLES = {
    "light": {"figure.facecolor": "none", "axes.facecolor": "none", "text.color": "#222", "axes.labelcolor": "#222",
              "axes.edgecolor": "#888", "xtick.color": "#222", "ytick.color": "#222", "grid.color": "#ccc"},
    "dark": {"figure.facecolor": "none", "axes.facecolor": "none", "text.color": "#ddd", "axes.labelcolor": "#ddd",
             "axes.edgecolor": "#888", "xtick.color": "#ddd", "ytick.color": "#ddd", "grid.color": "#444"},
}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>abd-perf</title><style>
:root {{ color-scheme: light dark; --text: #222; --page: #fff; --line: #ddd; --good: #08602f; --bad: #a32a00 }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #ddd; --page: #181818; --line: #3a3a3a; --good: #6fce96; --bad: #ff9d76 }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 60rem;
  margin: auto; padding: 1rem }}
h1 {{ font-size: 1.5rem }} h2 {{ font-size: 1.2rem; margin-top: 2.2rem }}
img {{ width: 100%; height: auto }} img.dark {{ display: none }}
@media (prefers-color-scheme: dark) {{ img.light {{ display: none }} img.dark {{ display: block }} }}
.scroll {{ overflow-x: auto }} table {{ border-collapse: collapse; font-size: .85rem }}
th, td {{ border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; white-space: nowrap }}
td.n {{ text-align: right; font-variant-numeric: tabular-nums }}
.faster, .met {{ color: var(--good) }} .slower, .missed {{ color: var(--bad) }}
</style></head><body>
{body}
</body></html>
"""


def size_text(size):
    for shift, unit in ((20, "m"), (10, "k")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{int(size) >> shift}{unit}"
    return f"{size:.0f}"


def picture(draw, title, height=3.6):
    """The same drawing in both styles, as two images of which CSS shows one."""
    images = []
    for style, settings in STYLES.items():
        with plot.rc_context({**settings, "font.size": 10, "svg.fonttype": "path", "axes.grid": True,
                              "axes.spines.top": False, "axes.spines.right": False}):
            figure, axes = plot.subplots(figsize=(8, height), layout="constrained")
            draw(axes)
            data = io.BytesIO()
            figure.savefig(data, format="svg", metadata={"Date": None})
            plot.close(figure)
        text = base64.b64encode(data.getvalue()).decode()
        images.append(f'<img class="{style}" alt="{html.escape(title)}" src="data:image/svg+xml;base64,{text}">')
    return "\n".join(images)


def ratio_of(entry, of, against):
    for ratio in entry["ratios"]:
        if ratio["of"] == of and ratio["against"] == against:
            return ratio
    return None


def figure_of(entry, name):
    for figure in entry["figures"]:
        if figure["name"] == name:
            return figure
    return None


def select(document, scenario, group=None, **parameters):
    return [entry for entry in document["results"] if entry["scenario"] == scenario and group in (None, entry["group"])
            and all(entry["parameters"].get(name) == value for name, value in parameters.items())]


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def dots(axes, labels, series, published=None):
    """Ratios with their intervals over named places; series: (name, {place: ratio})."""
    for i, (name, points) in enumerate(series):
        shift = (i - (len(series) - 1) / 2) * 0.12
        x = [labels.index(place) + shift for place in points]
        y = [ratio["median"] for ratio in points.values()]
        low = [ratio["median"] - ratio["low"] for ratio in points.values()]
        high = [ratio["high"] - ratio["median"] for ratio in points.values()]
        axes.errorbar(x, y, yerr=[low, high], fmt=MARKERS[i], color=COLOURS[i], capsize=3, label=name)
    axes.axhline(1, color="#888", linewidth=1)
    if published:
        axes.axhline(published, color="#888", linewidth=1, linestyle="--", label=f"published: {published}")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel("ratio of speeds, 95 % interval")
    axes.legend(fontsize=8, frameon=False)


def arc_places(entries):
    def key(entry):
        return entry["parameters"]["record_size"], entry["parameters"]["pages"] != "1"
    places = sorted({key(entry) for entry in entries})
    return places, [f"{size_text(size)}\n{'several pages' if several else 'one page'}" for size, several in places], key


def arc_chart(document, pairs, title, published=None):
    entries = select(document, "arc-read", threads=1.0)
    places, labels, key = arc_places([entry for entry in entries if any(ratio_of(entry, *pair) for pair in pairs)])
    series = []
    for data in ("files", "fio"):
        for temperature in ("hot", "cold"):
            for of, against in pairs:
                points = {labels[places.index(key(entry))]: ratio_of(entry, of, against)
                          for entry in select(document, "arc-read", temperature, data=data, threads=1.0)
                          if ratio_of(entry, of, against)}
                if points:
                    series.append((f"{data}, {temperature}", points))
    if not series:
        return "", []
    values = [ratio["median"] for _, points in series for ratio in points.values()]
    return picture(lambda axes: dots(axes, labels, series, published), title), values


def section_arc(document):
    parts = []
    questions = [
        ("What is the single-chunk rule worth?", [("single, rule on", "single, rule off")], 1.05,
         "Reading a cached, compressed record from a buffer of one run, treated as linear, against the same run treated as "
         "scattered: {mean:.3f} times the speed in the geometric mean ({low:.2f} to {high:.2f}). "
         "OpenZFS's PR 8580 found about 5 % of a whole 8k read."),
        ("What does it cost to be in many runs?", [("single, rule on", "multi")], None,
         "One run against 4 KiB runs at random addresses: {mean:.3f} times the speed in the geometric mean "
         "({low:.2f} to {high:.2f})."),
        ("What is decoding without a copy worth?", [("own decoder", "multi")], None,
         "The library's decoder, on many runs where they lie, against borrow-copy and liblz4: {mean:.3f} times the speed in the "
         "geometric mean ({low:.2f} to {high:.2f})."),
    ]
    for title, pairs, published, conclusion in questions:
        image, values = arc_chart(document, pairs, title, published)
        if values:
            text = conclusion.format(mean=geometric_mean(values), low=min(values), high=max(values))
            parts.append(f"<h2>{title}</h2>\n{image}\n<p>{text}</p>")
    return "\n".join(parts)


def section_compare(document):
    entries = sorted(select(document, "compare", "sizes"), key=lambda entry: entry["parameters"]["size"])
    if not entries:
        return ""
    labels = [size_text(entry["parameters"]["size"]) for entry in entries]

    def draw(axes):
        for i, (of, against) in enumerate((("abd_cmp", "memcmp"), ("abd_equal", "memcmp"), ("abd_cmp_zero", "memcmp"),
                                           ("abd_copy", "memcpy"))):
            y = [ratio_of(entry, of, against)["median"] for entry in entries]
            axes.plot(range(len(labels)), y, marker=MARKERS[i], color=COLOURS[i], label=f"{of} / {against}")
        axes.axhline(1, color="#888", linewidth=1)
        axes.set_yscale("log")
        axes.set_yticks([0.125, 0.25, 0.5, 1, 2, 4], ["1/8", "1/4", "1/2", "1", "2", "4"])
        axes.minorticks_off()
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlabel("size")
        axes.set_ylabel("ratio of speeds")
        axes.legend(fontsize=8, frameon=False)

    level = [size_text(entry["parameters"]["size"]) for entry in entries
             if ratio_of(entry, "abd_equal", "memcmp")["median"] >= 0.9]
    title = "What do scattered bytes cost to compare and copy?"
    return (f"<h2>{title}</h2>\n{picture(draw, title)}\n<p>Scattered buffers (4 KiB runs at random addresses) against memcmp "
            f"and memcpy on linear memory. abd_equal reaches 0.9 of memcmp or more at: {', '.join(level) or 'no size'}. "
            "At the smallest sizes the call itself is what counts.</p>")


def section_buffer(document):
    entries = [entry for entry in select(document, "buffer", "cost") if "published_ns" in entry["parameters"]]
    if not entries:
        return ""

    def draw(axes):
        for i, entry in enumerate(entries):
            ours, theirs = entry["figures"][0]["median"], entry["parameters"]["published_ns"]
            axes.plot([ours, theirs], [i, i], color="#888", linewidth=1)
            axes.plot([ours], [i], "o", color=COLOURS[0], label="here" if i == 0 else None)
            axes.plot([theirs], [i], "s", color=COLOURS[1], label="OpenZFS, published" if i == 0 else None)
        axes.set_yticks(range(len(entries)), [entry["name"] for entry in entries])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("ns (logarithmic; less is better)")
        axes.legend(fontsize=8, frameon=False)

    title = "What do buffers cost?"
    faster = sum(entry["figures"][0]["median"] < entry["parameters"]["published_ns"] for entry in entries)
    return (f"<h2>{title}</h2>\n{picture(draw, title, 1.2 + 0.3 * len(entries))}\n<p>{faster} of {len(entries)} cost less here "
            "than OpenZFS's userspace buffers did on the machine they were measured on, which is another one: "
            "read this as an order of magnitude.</p>")


def section_keys(document):
    entries = sorted((entry for entry in select(document, "compare", "keys") if entry["parameters"]["size"] > 0),
                     key=lambda entry: entry["parameters"]["size"])
    if len(entries) < 2:
        return ""

    def draw(axes):
        x = [entry["parameters"]["size"] for entry in entries]
        for i, name in enumerate(("abd_key_equal", "memcmp")):
            axes.plot(x, [figure_of(entry, name)["median"] for entry in entries], marker=MARKERS[i], color=COLOURS[i], label=name)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("bytes")
        axes.set_ylabel("ns per comparison")
        axes.legend(fontsize=8, frameon=False)

    mean = geometric_mean([entry["ratios"][0]["median"] for entry in entries])
    title = "Are short keys worth a function of their own?"
    return (f"<h2>{title}</h2>\n{picture(draw, title, 3)}\n<p>abd_key_equal against a call of memcmp: {mean:.2f} times the speed "
            "in the geometric mean over these lengths, equal keys at unaligned addresses.</p>")


def cell(value):
    return f'<td class="n">{value}</td>'


def table(document):
    rows = []
    for entry in document["results"]:
        for figure in entry["figures"]:
            rows.append(f"<tr><td>{entry['scenario']}</td><td>{html.escape(entry['name'])}</td>"
                        f"<td>{html.escape(figure['name'])}</td>{cell(format(figure['median'], '.4g'))}"
                        f"<td>{figure['unit']}</td>{cell(format(figure['low'], '.4g'))}{cell(format(figure['high'], '.4g'))}"
                        f"{cell(figure['rounds'])}</tr>")
    return ("<h2>All figures</h2><div class=scroll><table><tr><th>scenario<th>case<th>path<th>median<th>unit<th>low<th>high"
            f"<th>rounds</tr>{''.join(rows)}</table></div>")


def table_ratios(document):
    rows = []
    for entry in document["results"]:
        for ratio in entry["ratios"]:
            target = "" if ratio["target"] is None else f"{ratio['target']:g}: {ratio['target_verdict']}"
            kind = (ratio["target_verdict"] or "").replace("can't tell", "")
            rows.append(f"<tr><td>{entry['scenario']}</td><td>{html.escape(entry['name'])}</td>"
                        f"<td>{html.escape(ratio['of'])} / {html.escape(ratio['against'])}</td>"
                        f"{cell(format(ratio['median'], '.3f'))}{cell(format(ratio['low'], '.3f'))}{cell(format(ratio['high'], '.3f'))}"
                        f'<td class="{ratio["verdict"].replace(" ", "-")}">{html.escape(ratio["verdict"])}</td>'
                        f'<td class="{kind}">{html.escape(target)}</td></tr>')
    return ("<h2>All ratios</h2><div class=scroll><table><tr><th>scenario<th>case<th>ratio of speeds<th>median<th>low<th>high"
            f"<th>verdict<th>target</tr>{''.join(rows)}</table></div>")


def environment(document):
    rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
                   for name, text in document["environment"].items())
    warnings = "".join(f"<li>{html.escape(text)}</li>" for text in document["warnings"])
    noise = document["noise"]
    return (f"<h2>The machine, and how far to trust it</h2><p>The same code against itself: {noise['median']:.3f} "
            f"[{noise['low']:.3f}, {noise['high']:.3f}].</p>" + (f"<ul class=slower>{warnings}</ul>" if warnings else "") +
            f"<div class=scroll><table>{rows}</table></div>")


def report(document):
    complete = "" if document["complete"] else "<p class=slower>This run was ended early.</p>"
    head = (f"<h1>abd-perf: what libabd's buffers are worth on this machine</h1>{complete}"
            f"<p>{html.escape(document['environment'].get('cpu', ''))}, {html.escape(document['environment'].get('time', ''))}, "
            f"revision {html.escape(document['environment'].get('git_revision', ''))}. Every ratio is the median of interleaved "
            f"rounds ({document['options']['rounds']}); bars are 95 % intervals. Above 1 is faster.</p>")
    return PAGE.format(body="\n".join((head, section_arc(document), section_compare(document), section_keys(document),
                                       section_buffer(document), environment(document), table_ratios(document),
                                       table(document))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result")
    parser.add_argument("-o", "--output", default="report.html")
    arguments = parser.parse_args()
    try:
        with open(arguments.result, encoding="utf-8") as file:
            document = json.load(file)
        if not isinstance(document, dict) or document.get("format") != "abd-perf-1":
            raise ValueError("its format is not abd-perf-1")
    except (OSError, ValueError) as error:
        sys.exit(f"abd-perf report: {arguments.result}: {error}")
    temporary = f"{arguments.output}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(report(document))
        os.replace(temporary, arguments.output)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        sys.exit(f"abd-perf report: {arguments.output}: {error}")


if __name__ == "__main__":
    main()
