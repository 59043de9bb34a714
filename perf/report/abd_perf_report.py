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
h3 {{ font-size: 1rem }}
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


def median_of(measured):
    """Of a ratio or a figure; None where there is none, or nothing that a logarithm can take."""
    return measured["median"] if measured and measured["median"] > 0 else None


def medians_of(entries, of, against):
    """Of all entries that have this ratio."""
    return [value for value in (median_of(ratio_of(entry, of, against)) for entry in entries) if value]


def number(entry, name):
    value = entry["parameters"].get(name)
    return value if isinstance(value, (int, float)) else None


def of_sizes(entries, name="size"):
    return sorted((entry for entry in entries if number(entry, name)), key=lambda entry: number(entry, name))


def names_of(entries):
    """The names of all figures, in the order in which they first come."""
    return list(dict.fromkeys(figure["name"] for entry in entries for figure in entry["figures"]))


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


def lines(axes, labels, series):
    """Over named places; series: (name, {place: value}, what else plot() is to be told)."""
    for name, points, style in series:
        axes.plot([labels.index(place) for place in points], list(points.values()), label=name, **style)
    axes.set_xticks(range(len(labels)), labels)
    axes.legend(fontsize=8, frameon=False)


def line_style(i):
    return {"marker": MARKERS[i % len(MARKERS)], "markersize": 4, "color": COLOURS[i % len(COLOURS)],
            "linestyle": ("-", "--")[i // len(COLOURS) % 2]}


def bars(axes, places, series, unit):
    """Groups of bars from the left, one group per place; series: (name, {place: value})."""
    height = 0.8 / len(series)
    for i, (name, points) in enumerate(series):
        y = [places.index(place) + (i - (len(series) - 1) / 2) * height for place in points]
        drawn = axes.barh(y, list(points.values()), 0.85 * height, color=COLOURS[i % len(COLOURS)],
                          alpha=(1, 0.5)[i // len(COLOURS) % 2], label=name)
        axes.bar_label(drawn, fmt="%.3g", padding=3, fontsize=8)
    axes.set_yticks(range(len(places)), places)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.1)
    axes.set_xlabel(unit)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def powers_of_two(axes, values):
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    ticks = [2.0 ** power for power in range(low, high + 1)]
    axes.set_yscale("log")
    axes.set_yticks(ticks, [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in ticks])
    axes.minorticks_off()


def rows_table(head, rows):
    """A small table; head and cells are text, cells of numbers to the right."""
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" if i == 0 else cell(html.escape(text))
                                    for i, text in enumerate(row)) + "</tr>" for row in rows)
    return (f"<div class=scroll><table><tr>{''.join(f'<th>{html.escape(text)}' for text in head)}</tr>{body}</table></div>")


def spread(values, form=".2f"):
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def arc_places(entries):
    def key(entry):
        return entry["parameters"]["record_size"], entry["parameters"]["pages"] != "1"
    places = sorted({key(entry) for entry in entries})
    return places, [f"{size_text(size)}\n{'several pages' if several else 'one page'}" for size, several in places], key


def arc_entries(document, temperature=None, **parameters):
    return [entry for entry in select(document, "arc-read", temperature, threads=1.0, **parameters)
            if number(entry, "record_size") and "pages" in entry["parameters"]]


def arc_chart(document, pairs, title, published=None):
    entries = arc_entries(document)
    places, labels, key = arc_places([entry for entry in entries if any(median_of(ratio_of(entry, *pair)) for pair in pairs)])
    series = []
    for data in ("files", "fio"):
        for temperature in ("hot", "cold"):
            for of, against in pairs:
                points = {labels[places.index(key(entry))]: ratio_of(entry, of, against)
                          for entry in arc_entries(document, temperature, data=data)
                          if median_of(ratio_of(entry, of, against))}
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
    entries = of_sizes(select(document, "compare", "sizes"))
    labels = [size_text(number(entry, "size")) for entry in entries]
    series = []
    for i, (of, against) in enumerate((("abd_cmp", "memcmp"), ("abd_equal", "memcmp"), ("abd_cmp_zero", "memcmp"),
                                       ("abd_copy", "memcpy"))):
        points = {label: median_of(ratio_of(entry, of, against)) for label, entry in zip(labels, entries)
                  if median_of(ratio_of(entry, of, against))}
        if points:
            series.append((f"{of} / {against}", points, line_style(i)))
    if not series:
        return ""

    def draw(axes):
        powers_of_two(axes, [1] + [value for _, points, _ in series for value in points.values()])
        axes.axhline(1, color="#888", linewidth=1)
        lines(axes, labels, series)
        axes.set_xlabel("size")
        axes.set_ylabel("ratio of speeds")

    level = [label for label, entry in zip(labels, entries) if (median_of(ratio_of(entry, "abd_equal", "memcmp")) or 0) >= 0.9]
    title = "What do scattered bytes cost to compare and copy?"
    return (f"<h2>{title}</h2>\n{picture(draw, title)}\n<p>Scattered buffers (4 KiB runs at random addresses) against memcmp "
            f"and memcpy on linear memory. abd_equal reaches 0.9 of memcmp or more at: {', '.join(level) or 'no size'}. "
            "At the smallest sizes the call itself is what counts.</p>")


def section_buffer(document):
    entries = [entry for entry in select(document, "buffer", "cost")
               if number(entry, "published_ns") and entry["figures"] and median_of(entry["figures"][0])]
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
    entries = [entry for entry in of_sizes(select(document, "compare", "keys"))
               if median_of(ratio_of(entry, "abd_key_equal", "memcmp")) and median_of(figure_of(entry, "abd_key_equal"))
               and median_of(figure_of(entry, "memcmp"))]
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

    mean = geometric_mean(medians_of(entries, "abd_key_equal", "memcmp"))
    title = "Are short keys worth a function of their own?"
    return (f"<h2>{title}</h2>\n{picture(draw, title, 3)}\n<p>abd_key_equal against a call of memcmp: {mean:.2f} times the speed "
            "in the geometric mean over these lengths, equal keys at unaligned addresses.</p>")


CODEC_OURS = "ours, runs of 4k"


def codec_chart(entries, against, title):
    """A place per record size and temperature, a series per kind of data."""
    def key(entry):
        return number(entry, "record_size"), entry["group"] == "cold"
    entries = [entry for entry in entries if number(entry, "record_size") and median_of(ratio_of(entry, CODEC_OURS, against))]
    places = sorted({key(entry) for entry in entries})
    labels = [f"{size_text(size)}\n{'cold' if cold else 'hot'}" for size, cold in places]
    series = {}
    for entry in entries:
        points = series.setdefault(entry["parameters"].get("data", ""), {})
        points[labels[places.index(key(entry))]] = ratio_of(entry, CODEC_OURS, against)
    return picture(lambda axes: dots(axes, labels, list(series.items())), title) if entries else ""


def codec_sentence(document, against):
    parts = []
    for group in ("hot", "cold"):
        entries = select(document, "codec", group)
        values = medians_of(entries, CODEC_OURS, against)
        if values:
            worst = next(entry for entry in entries if median_of(ratio_of(entry, CODEC_OURS, against)) == min(values))
            slower = sum(value < 1 for value in values)
            parts.append(f"{group}, {geometric_mean(values):.3f} times the speed in the geometric mean of {len(values)} sets; "
                         f"the worst {min(values):.3f} ({html.escape(worst['name'])}), {slower or 'none'} below 1")
    return ". ".join(part[0].upper() + part[1:] for part in parts)


def codec_ranges(document):
    entries = select(document, "codec", "range")
    first, anywhere = medians_of(entries, "first 4k", "all"), medians_of(entries, "any 4k", "all")
    if not first or not anywhere:
        return ""
    return (f"<p>4 KiB out of a record of 128 KiB: the first are there {spread(first, '.0f')} times as fast as all of it, "
            f"those at a place at random {spread(anywhere)} times, since what lies before them has to be decoded.</p>")


def section_codec(document):
    entries = select(document, "codec", "hot") + select(document, "codec", "cold")
    parts = []
    for title, against, words in (
            ("Does a decoder of scattered runs keep up with liblz4 on linear memory?", "liblz4, linear",
             "The library's decoder on 4 KiB runs at random addresses against LZ4_decompress_safe on linear memory"),
            ("Is it worth having, against borrowing?", "liblz4, borrow",
             "The same against copying the runs together for LZ4_decompress_safe, as OpenZFS does")):
        image = codec_chart(entries, against, title)
        if image:
            parts.append(f"<h2>{title}</h2>\n{image}\n<p>{words}. {codec_sentence(document, against)}.</p>")
    if parts:
        parts.append(codec_ranges(document))
    return "\n".join(parts)


# linux-kernel and dm-devel, "x86: introduce memcpy_flushcache_clflushopt", April 2020: Optane.
FLUSH_SOURCE_SIZES = [(512, 0.496, 0.373), (1024, 0.642, 0.688), (2048, 0.725, 1.1), (4096, 0.744, 1.2)]  # GB/s: around, through
FLUSH_SOURCE_THREADS = [(1, 1.3, 1.6), (2, 2.5, 2.4), (3, 2.8, 1.7), (4, 2.8, 1.2), (5, 2.5, 0.8)]
FLUSH_THROUGH = {"clwb", "clflushopt", "clflush", "cvap", "cvac"}
FLUSH_NO_POLICY = {"AUTO", "libpmem", "libpmem, own loop"}


def flush_best(entry, through):
    """The fastest of the policies through the cache, or around it; None if none was measured."""
    return max((figure["median"] for figure in entry["figures"] if figure["name"] not in FLUSH_NO_POLICY
                and (figure["name"] in FLUSH_THROUGH) == through), default=None)


def flush_chart(entries, title):
    labels = [size_text(number(entry, "size")) for entry in entries]
    series, policies = [], 0
    for name in names_of(entries):
        points = {label: median_of(figure_of(entry, name)) for label, entry in zip(labels, entries)
                  if median_of(figure_of(entry, name))}
        if name == "AUTO":  # broad and pale, behind the policy that it chose
            style = {"color": COLOURS[0], "linewidth": 8, "alpha": 0.3, "solid_capstyle": "round"}
        elif name in FLUSH_NO_POLICY:
            style = {"color": "#888", "marker": "x", "linestyle": "--" if name == "libpmem" else ":"}
        else:
            style = line_style(policies)
            policies += 1
        series.append((name, points, style))

    def draw(axes):
        powers_of_two(axes, [value for _, points, _ in series for value in points.values()])
        lines(axes, labels, series)
        axes.set_xlabel("size of a copy, with a fence after each")
        axes.set_ylabel("GB/s (logarithmic)")

    return picture(draw, title, 4)


def flush_pair(here):
    """Two speeds and their ratio, as cells."""
    around, through = here
    return [f"{value:.3g}" if value else "" for value in here] + [f"{through / around:.2f}" if around and through else ""]


def flush_against_source(entries, threads):
    """The source's tables, with what was measured here at the same size or number of threads beside them."""
    by_size = {number(entry, "size"): entry for entry in entries}
    by_threads = {number(entry, "threads"): entry for entry in threads}
    parts = []
    for what, source, here in (("size", FLUSH_SOURCE_SIZES, by_size), ("threads", FLUSH_SOURCE_THREADS, by_threads)):
        rows = [[f"{key:g}", *flush_pair(published), *flush_pair([flush_best(here[key], through) if key in here else None
                                                                  for through in (False, True)])]
                for key, *published in source if what == "size" or here]
        if rows:
            parts.append(rows_table([what, "Optane, GB/s: around the cache", "through it", "ratio", "here, GB/s: around",
                                     "through", "ratio"], rows))
    return "<br>".join(parts)


def flush_sentences(document, entries):
    every, said = select(document, "flush"), []
    best = medians_of(every, "AUTO", "best")
    if best:
        said.append(f"AUTO reaches {geometric_mean(best):.3f} of the best fixed policy's speed in the geometric mean of "
                    f"{len(best)} cases, and at least {min(best):.3f}.")
    both = [entry for entry in entries if flush_best(entry, True) and flush_best(entry, False)]
    won = [size_text(number(entry, "size")) for entry in both if flush_best(entry, True) > flush_best(entry, False)]
    if both:
        said.append(f"Copies through the cache, then written back, are the fastest at {', '.join(won) or 'no size'} "
                    f"(one thread, linear, {len(both)} sizes); on the source's Optane they were from 1k up.")
    for name, words in (("libpmem", "libpmem with a drain per run"), ("libpmem, own loop", "libpmem with one drain")):
        values = medians_of(every, "AUTO", name)
        if values:
            said.append(f"AUTO against {words}: {geometric_mean(values):.3f} ({spread(values)}).")
    drains = [(size_text(number(entry, "size")), median_of(ratio_of(entry, "NODRAIN, one drain", "ordered")))
              for entry in of_sizes(select(document, "flush", "drain"))]
    drains = [f"{value:.3g} times the speed at {size}" for size, value in drains if value]
    if drains:
        said.append(f"One drain for 16 copies, for a fence after each: {', '.join(drains)}.")
    return " ".join(said)


def section_flush(document):
    parts, title = [], "Which way is fastest to make a copy durable?"
    sets = {place: of_sizes(select(document, "flush", "size", destination=place, state="fresh", threads=1, batch=1))
            for place in ("linear", "scattered")}
    for place, entries in sets.items():
        if any(median_of(figure) for entry in entries for figure in entry["figures"]):
            parts.append(f"<h3>To {place} memory</h3>\n{flush_chart(entries, f'{title} To {place} memory')}")
    said = flush_sentences(document, sets["linear"])
    threads = select(document, "flush", "threads", size=64)
    if not parts and not said:
        return ""
    return (f"<h2>{title}</h2>\n" + "\n".join(parts) + f"<p>{said}</p>\n"
            "<p>The source's figures are of persistent memory, those here of ordinary memory: compare the ratios "
            "(through the cache / around it), not the speeds. Its threads write 8 bytes at a time, those here 64.</p>\n" +
            flush_against_source(sets["linear"], threads))


def section_dedupe(document):
    entries = [entry for entry in select(document, "dedupe", "proof") if number(entry, "bytes")]
    places = [entry["name"] for entry in entries]
    kernels = {"auto": "ours", "scalar": "byte loop", "word": "word loop", "libc": "memcmp"}
    series = []
    for name in names_of(entries):
        points = {entry["name"]: number(entry, "bytes") / 1e6 / median_of(figure_of(entry, name)) for entry in entries
                  if median_of(figure_of(entry, name))}
        if points and not name.endswith(", reading"):
            series.append((kernels.get(name, name), points))
    if not series:
        return ""
    title, said = "What is a fast comparison worth to deduplication?", []
    for of, against, words in (("auto", "scalar", "ours for a byte loop"), ("auto", "libc", "ours for memcmp")):
        values = medians_of(entries, of, against)
        if values:
            said.append(f"{words}: {spread(values)} times the speed")
    saved = [100 - 100 / value for value in medians_of(entries, "word, reading", "scalar, reading")]
    ours = [100 - 100 / value for value in medians_of(entries, "auto, reading", "scalar, reading")]
    tail = ""
    if saved and ours:
        tail = (f" With the time to read the extents, a word loop saves {spread(saved, '.0f')} % of a byte loop's time, ours "
                f"{spread(ours, '.0f')} %. The source's word loop saved 25 % of duperemove's system time, in which there is more "
                "than reading and comparing.")
    image = picture(lambda axes: bars(axes, places, series, "GB/s of proven duplicates"), title,
                    1 + 0.28 * len(series) * len(places))
    return (f"<h2>{title}</h2>\n{image}\n<p>Extents of the same hash, proven equal byte for byte; "
            f"{html.escape('; '.join(said)) or 'no ratios were measured'}.{tail}</p>")


def names_length(document, methods):
    entries = [entry for entry in of_sizes(select(document, "names", "length"), "length")]
    found = [name for name in names_of(entries) if name in methods]
    if len(entries) < 2 or not found:
        return ""

    def draw(axes):
        for i, name in enumerate(found):
            points = [(number(entry, "length"), median_of(figure_of(entry, name))) for entry in entries
                      if median_of(figure_of(entry, name))]
            axes.plot([x for x, _ in points], [y for _, y in points], label=name, **line_style(i))
        powers_of_two(axes, [median_of(figure) for entry in entries for figure in entry["figures"]
                             if figure["name"] in found and median_of(figure)])
        axes.set_xlabel("bytes of a name, all of one length")
        axes.set_ylabel("ns (logarithmic; less is better)")
        axes.legend(fontsize=8, frameon=False)

    best = {}
    for entry in entries:
        speeds = [(median_of(figure_of(entry, name)), name) for name in found if median_of(figure_of(entry, name))]
        if speeds:
            best.setdefault(min(speeds)[1], []).append(f"{number(entry, 'length'):g}")
    said = "; ".join(f"{name} at {', '.join(lengths)}" for name, lengths in best.items())
    title = "Comparing names, by length"
    return f"<h3>{title}</h3>\n{picture(draw, title)}\n<p>The fastest: {html.escape(said)} bytes.</p>"


def section_names(document):
    entries = [entry for entry in select(document, "names", "lookup") if any(median_of(figure) for figure in entry["figures"])]
    if not entries:
        return ""
    methods = names_of(entries)
    places = [entry["name"] for entry in entries]
    series = [(name, {entry["name"]: median_of(figure_of(entry, name)) for entry in entries if median_of(figure_of(entry, name))})
              for name in methods]
    title, said = "What is comparing names by words worth to looking up paths?", []
    for of, against in (("masked words", "rep cmpsb"), ("ours", "rep cmpsb"), ("ours", "memcmp"), ("one pass", "ours")):
        values = medians_of(entries, of, against)
        if values:
            said.append(f"{of} / {against}: {spread(values)}")
    image = picture(lambda axes: bars(axes, places, series, "ns per component of a path (less is better)"), title,
                    1 + 0.24 * len(series) * len(places))
    return (f"<h2>{title}</h2>\n{image}\n<p>Whole look-ups, of which comparing is a part; ratios of speeds: "
            f"{html.escape('; '.join(said)) or 'not measured'}. The source said that rep cmpsb is slow to start.</p>\n" +
            names_length(document, set(methods)))


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
                        f"{cell(format(ratio['median'], '.3f'))}{cell(format(ratio['low'], '.3f'))}"
                        f"{cell(format(ratio['high'], '.3f'))}"
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
    return PAGE.format(body="\n".join((head, section_arc(document), section_codec(document), section_flush(document),
                                       section_compare(document), section_keys(document), section_dedupe(document),
                                       section_names(document), section_buffer(document), environment(document),
                                       table_ratios(document), table(document))))


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
        missing = {"environment", "options", "noise", "warnings", "complete", "results"} - document.keys()
        if missing:
            raise ValueError(f"it lacks {', '.join(sorted(missing))}")
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
