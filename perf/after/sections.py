# SPDX-License-Identifier: BSD-2-Clause
"""A section per question: a chart, a conclusion, the source's figure beside ours. Questions that were not measured get no section."""
import html

from chart import (COLOURS, bars, curves, dots, legend, line_style, lines, picture, powers_of_ten, powers_of_two)
from columns import TABLES
from model import (figure_of, geometric_mean, median_of, medians_of, names_of, number, of_sizes, ratio_of, select, size_text,
                   spread)
from table import time_text


def cell(value):
    return f"<td class=n>{value}"


def rows_table(head, rows):
    """A small table of text; all columns but the first are numbers, aligned right."""
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}" if i == 0 else cell(html.escape(text)) for i, text in enumerate(row))
                   for row in rows)
    return (f"<div class=scroll><table><tr>{''.join(f'<th>{html.escape(text)}' for text in head)}</tr>{body}</table></div>")


def section(title, *parts):
    return f"<section><h2>{title}</h2>\n" + "\n".join(part for part in parts if part) + "</section>"


def conclude(text):
    return f"<p class=conclude>{text}</p>"


def points(entries, label_of, measured):
    """{place: median} of what measured(entry) is, a figure or a ratio."""
    found = [(label_of(entry), median_of(measured(entry))) for entry in entries]
    return {label: value for label, value in found if value}


def by_figure(entries, label_of, names=None):
    """A series per figure, over the entries in their order."""
    series = [(name, points(entries, label_of, lambda entry: figure_of(entry, name))) for name in names or names_of(entries)]
    return [(name, found, line_style(i)) for i, (name, found) in enumerate(series) if found]


def line_chart(title, labels, series, xlabel, ylabel, height=3, log=None):
    """Lines over named places, from 0; or on a logarithmic axis, of powers of 2 or 10."""
    def draw(axes, narrow):
        if log == 2:
            powers_of_two(axes, [value for _, found, _ in series for value in found.values()])
        lines(axes, narrow, labels, series)
        if log == 10:
            powers_of_ten(axes.yaxis)
        if not log:
            axes.set_ylim(bottom=0)
        finish(axes, narrow, xlabel, ylabel)
    return picture(draw, title, height)


def curve_chart(title, entries, of_x, names, xlabel, ylabel, height=3.6):
    """A line per figure over a number."""
    def draw(axes, narrow):
        curves(axes, narrow, entries, of_x, names)
        axes.set_ylim(bottom=0)
        finish(axes, narrow, xlabel, ylabel)
    return picture(draw, title, height)


def finish(axes, narrow, xlabel, ylabel, columns=6):
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    legend(axes, narrow, columns)


def by_number(entries, name):
    """Those that have the number, in its order."""
    return sorted((entry for entry in entries if number(entry, name) is not None), key=lambda entry: number(entry, name))


def size_label(entry):
    return size_text(number(entry, "size"))


def threads_text(count):
    return f"{count:g} thread{'s' if count != 1 else ''}"


def arc_places(entries):
    def key(entry):
        return entry["parameters"]["record_size"], entry["parameters"]["pages"] != "1"
    places = sorted({key(entry) for entry in entries})
    return places, [f"{size_text(size)}\n{'> 1 page' if several else '1 page'}" for size, several in places], key


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
    return picture(lambda axes, narrow: dots(axes, narrow, labels, series, published), title), values


def section_arc(document):
    parts = []
    only = " One thread." if arc_entries(document, "cold") else " One thread, and hot sets only: cold ones were not measured."
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
            text = conclusion.format(mean=geometric_mean(values), low=min(values), high=max(values)) + only
            parts.append(section(title, image, conclude(text)))
    return "\n".join(parts)


def section_compare(document):
    entries = of_sizes(select(document, "compare", "sizes"))
    pairs = (("abd_cmp", "memcmp"), ("abd_equal", "memcmp"), ("abd_cmp_zero", "memcmp"), ("abd_copy", "memcpy"))
    series = [(f"{of} / {against}", points(entries, size_label, lambda entry: ratio_of(entry, of, against)), line_style(i))
              for i, (of, against) in enumerate(pairs)]
    if not any(found for _, found, _ in series):
        return ""
    labels = list(dict.fromkeys(map(size_label, entries)))
    as_fast = ("linear memory", dict.fromkeys(labels, 1), {"color": "#888888", "linewidth": 1})
    level = [label for label, value in series[1][1].items() if value >= 0.9]
    sizes = "; ".join(f"{of}: " + ", ".join(
        f"{size_label(entry)} {ratio['median']:.2f}{'?' * (ratio['verdict'] not in ('faster', 'slower'))}"
        for entry in entries for ratio in [ratio_of(entry, of, against)] if median_of(ratio)) for of, against in pairs[1::2])
    beyond = " beyond the caches"
    memory = next(("Linear memory" + beyond * (entry["parameters"].get("state", "cold") == "cold") + " gives "
                   + ", ".join(f"{figure['name']} {figure['median']:.3g}" for figure in entry["figures"]) + " GB/s of one side."
                   for entry in select(document, "compare", "memory")), "")
    plan = document["environment"].get("compare_kernel", "").partition(", of ")[0]
    title = "What do scattered bytes cost to compare and copy?"
    return section(title, line_chart(title, labels, [as_fast, *(line for line in series if line[1])], "size", "times as fast", 3.6, log=2), conclude(
        "Scattered buffers (4 KiB runs at random addresses) against memcmp "
        f"and memcpy on linear memory. abd_equal reaches 0.9 of memcmp or more at: {', '.join(level) or 'no size'}. "
        f"By size, {sizes} (?: this is not surely another speed). At the smallest sizes the call itself is what counts. {memory} Kernels by size in bytes: {html.escape(plan)}."))


def section_buffer(document):
    entries = [entry for entry in select(document, "buffer", "cost")
               if number(entry, "published_ns") and entry["figures"] and median_of(entry["figures"][0])]
    if not entries:
        return ""

    def draw(axes, narrow):
        for i, entry in enumerate(entries):
            ours, theirs = entry["figures"][0]["median"], entry["parameters"]["published_ns"]
            axes.plot([ours, theirs], [i, i], color="#888888", linewidth=1)
            axes.plot([ours], [i], "o", color=COLOURS[0], label="here" if i == 0 else None)
            axes.plot([theirs], [i], "s", color=COLOURS[1], label="OpenZFS" if i == 0 else None)
        names = [entry["name"] for entry in entries]
        axes.set_yticks(range(len(entries)), [name.replace(", ", ",\n") for name in names] if narrow else names)
        axes.invert_yaxis()
        powers_of_ten(axes.xaxis)
        finish(axes, narrow, "ns (logarithmic)", "")

    title = "What do buffers cost?"
    faster = sum(entry["figures"][0]["median"] < entry["parameters"]["published_ns"] for entry in entries)
    each = ", ".join(f"{html.escape(entry['name'])} {entry['figures'][0]['median']:.3g}" for entry in entries if "free, " in entry["name"])
    height = 1.4 + 0.3 * len(entries)
    return section(title, picture(draw, title, height, height * 1.4), conclude(
        f"Less is better. In ns: {each}. With max_order 0 all runs are of 4 KiB. {faster} of {len(entries)} cost less here than OpenZFS's "
        "userspace buffers did on the machine they were measured on, which is another one: read this as an order of magnitude."))


def section_keys(document):
    entries = [entry for entry in of_sizes(select(document, "compare", "keys"))
               if median_of(ratio_of(entry, "abd_key_equal", "memcmp")) and median_of(figure_of(entry, "abd_key_equal"))
               and median_of(figure_of(entry, "memcmp"))]
    if len(entries) < 2:
        return ""
    mean = geometric_mean(medians_of(entries, "abd_key_equal", "memcmp"))
    title = "Are short keys worth a function of their own?"
    return section(title, curve_chart(title, entries, lambda entry: entry["parameters"]["size"], ("abd_key_equal", "memcmp"), "bytes",
                                      "ns per comparison", 3), conclude(
        f"abd_key_equal against a call of memcmp: {mean:.2f} times the speed in the geometric mean over these lengths, equal keys at "
        "unaligned addresses."))


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
    return picture(lambda axes, narrow: dots(axes, narrow, labels, list(series.items())), title) if entries else ""


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
            parts.append(section(title, image, conclude(f"{words}. {codec_sentence(document, against)}.")))
    return "\n".join(parts)


FLUSH_THROUGH = {"clwb", "clflushopt", "clflush", "cvap", "cvac"}
FLUSH_NO_POLICY = {"AUTO", "libpmem", "libpmem, own loop"}


def flush_best(entry, through):
    """The median speed of the fastest policy that writes through the cache, or around it; None if none was measured."""
    return max((figure["median"] for figure in entry["figures"] if figure["name"] not in FLUSH_NO_POLICY
                and (figure["name"] in FLUSH_THROUGH) == through), default=None)


def flush_chart(entries, title):
    series, policies = [], 0
    for name in names_of(entries):
        if name == "AUTO":  # AUTO is broad and pale, under the line of the policy that it chose
            style = {"color": COLOURS[0], "linewidth": 8, "alpha": 0.3, "solid_capstyle": "round"}
        elif name in FLUSH_NO_POLICY:
            style = {"color": "#888888", "marker": "x", "linestyle": "--" if name == "libpmem" else ":"}
        else:
            style = line_style(policies)
            policies += 1
        series.append((name, points(entries, size_label, lambda entry: figure_of(entry, name)), style))
    return line_chart(title, list(map(size_label, entries)), series, "size of a copy, with a fence after each", "GB/s (logarithmic)", 4, log=2)


def flush_sentences(document, entries):
    every, said = select(document, "flush"), []
    best = medians_of(every, "AUTO", "best")
    if best:
        said.append(f"AUTO reaches {geometric_mean(best):.3f} of the best fixed policy's speed in the geometric mean of "
                    f"{len(best)} cases, and at least {min(best):.3f}.")
    both = [entry for entry in entries if flush_best(entry, True) and flush_best(entry, False)]
    won = [size_label(entry) for entry in both if flush_best(entry, True) > flush_best(entry, False)]
    if both:
        said.append(f"Copies through the cache, then written back, are the fastest at {', '.join(won) or 'no size'} "
                    f"(one thread, linear, {len(both)} sizes).")
    for name, words in (("libpmem", "libpmem with a drain per run"), ("libpmem, own loop", "libpmem with one drain")):
        values = medians_of(every, "AUTO", name)
        if values:
            said.append(f"AUTO against {words}: {geometric_mean(values):.3f} ({spread(values)}).")
    drains = points(of_sizes(select(document, "flush", "drain")), size_label, lambda entry: ratio_of(entry, "NODRAIN, one drain", "ordered"))
    drains = [f"{value:.3g} times the speed at {size}" for size, value in drains.items()]
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
    return section(title, *parts, conclude(said)) if parts or said else ""


# ---- the cache -----------------------------------------------------------------------------------------------------------

CACHED_MODES = ("bare decode", "cache", "scatter", "single-chunk", "openzfs's way", "lines first")


def threads_label(entry):
    return threads_text(number(entry, "threads"))


def section_cached(document):
    """Throughput by threads, a chart per kind of data."""
    parts, more, title = [], [], "How fast are sequential reads out of the cache?"
    for data, words in (("fio", "Data as fio makes it for the source's test"), ("files", "Files of this machine")):
        entries = [entry for entry in by_number(select(document, "arc-cached-read", "cached", data=data), "threads") if number(entry, "threads")]
        labels, series = list(map(threads_label, entries)), by_figure(entries, threads_label, CACHED_MODES)
        if not series:
            continue
        drawn = [line[:2] for line in series]
        parts.append(f"<h3>{words}</h3>" + picture(lambda axes, narrow: bars(axes, narrow, labels, drawn, "GB/s, all threads"),
                                                   f"{title} {words}", 1.2 + 0.26 * len(series) * len(labels)))
        cache = dict(drawn).get("cache", {})
        if len(labels) > 1 and labels[0] in cache and labels[-1] in cache:
            more.append(f"{labels[-1]} read {cache[labels[-1]] / cache[labels[0]]:.2f} times what one does ({data})")
    if not parts:
        return ""
    every = select(document, "arc-cached-read", "cached")
    said = []
    for of, against, words in (("single-chunk", "openzfs's way", "the same calls with the single-chunk rule on, against off"),
                               ("cache", "openzfs's way", "abd_arc_read() against OpenZFS's way"),
                               ("cache", "bare decode", "abd_arc_read() against decoding alone, the limit")):
        values = medians_of(every, of, against)
        if values:
            said.append(f"{words}: {spread(values, '.3f')} times the speed")
    said += more
    return section(title, *parts, conclude(
        "Records of 8 KiB in the cache, read 128 KiB at a time: " + html.escape("; ".join(said) or "no ratios were measured")
        + ". OpenZFS found about 5 % between its way with the rule off and on. A read here is a look-up, a decode and a copy. In an engine there is more: "
          "under OpenZFS's own userspace library the decode was a fifth of a cached read of 8 KiB, so what makes decoding 5 % faster makes "
          "such a read 1 % faster (docs/notes/under-openzfs.md)."))


def section_latency(document):
    """Percentiles of single reads, if they were measured."""
    entries = [entry for entry in select(document, "arc-cached-read", "latency") if entry["figures"]]
    parts, title = [], "How long does a single read take?"
    for data in dict.fromkeys(entry["parameters"].get("data") for entry in entries):
        most = max(number(entry, "threads") or 1 for entry in entries if entry["parameters"].get("data") == data)
        for threads in sorted({1, most}):
            of = [entry for entry in entries if entry["parameters"].get("data") == data and number(entry, "threads") == threads]
            labels = names_of(of)
            series = [(entry["parameters"].get("mode", entry["name"]),
                       {label: median_of(figure_of(entry, label)) / 1000 for label in labels
                        if median_of(figure_of(entry, label))}, line_style(i)) for i, entry in enumerate(of)]
            words = f"{data}, {threads_text(threads)}"
            if any(found for _, found, _ in series):
                parts.append(f"<h3>{html.escape(words)}</h3>"
                             + line_chart(f"{title} {words}", labels, series, "percentile of reads", "us (logarithmic)", log=10))
    if not parts:
        return ""
    said = []
    for entry in entries:
        half, rare = median_of(figure_of(entry, "p50")), median_of(figure_of(entry, "p99.9"))
        if entry["parameters"].get("mode") == "cache" and half and rare:
            said.append(f"{entry['name']}: half take {half / 1000:.3g} us or less, one in a thousand more than {rare / 1000:,.0f} us")
    return section(title, *parts, conclude("Reads of 128 KiB, less is better. " + html.escape("; ".join(said)) + "."))


# ---- growth: hits among many records ---------------------------------------------------------------------------------

def section_hits(document):
    entries = [entry for entry in by_number(select(document, "arc-scale", "hit"), "records") if number(entry, "records")]
    if len(entries) < 2:
        return ""

    def label(entry):
        return f"{number(entry, 'records'):.0e}".replace("e+0", "e")

    title = "What does a hit cost in a large cache?"
    image = line_chart(title, list(map(label, entries)), by_figure(entries, label), "records, keys at random", "ns")
    few, many = entries[0], entries[-1]
    said = (f"{number(many, 'records'):,.0f} records: a hold and its release take {median_of(figure_of(many, 'hold')):.0f} ns, "
            f"fetching one line of that much memory takes {median_of(figure_of(many, 'a line')):.0f} ns; "
            f"{number(few, 'records'):,.0f} records: {median_of(figure_of(few, 'hold')):.0f} and "
            f"{median_of(figure_of(few, 'a line')):.0f} ns")
    return section(title, image, conclude(
        "Less is better. What grows is the way to memory, not the way through the index: " + html.escape(said) + "."))


# ---- memory: what is resident beside what is in use ------------------------------------------------------------------

def mib_of(entry, name):
    """Unlike a speed, a figure of memory may be 0."""
    found = figure_of(entry, name)
    return found and found["median"]


def memory_chart(entries, pattern):
    """What is in use as an area, and a line per source over the steps."""
    labels = [f"{number(entry, 'step'):g}" for entry in entries[:-1]] + ["reap"]
    values = {name: {label: mib_of(entry, name) for label, entry in zip(labels, entries) if mib_of(entry, name) is not None}
              for name in names_of(entries)}
    used = values.pop("in use", {})

    def draw(axes, narrow):
        axes.fill_between([labels.index(place) for place in used], list(used.values()), color="#888888", alpha=0.25, linewidth=0,
                          label="in use")
        lines(axes, narrow, labels, [(name, points, line_style(i)) for i, (name, points) in enumerate(values.items())])
        axes.set_ylim(bottom=0)
        finish(axes, narrow, "step", "MiB resident")

    return picture(draw, f"{pattern}: memory in use and resident", 3)


def section_memory(document):
    title = "What stays resident while buffers come and go?"
    parts = []
    for pattern, words in (("burst", "All is freed at step 4; then small buffers come and go, for what stands for 15 s"),
                           ("churn", "Sizes from 4 to 128 KiB, replaced at random; from step 15 on all but a twentieth are freed"),
                           ("shift", "4 KiB buffers give way to those of 1 MiB; as much is in use all the time"),
                           ("sparse", "Of 4 KiB buffers one in 64 stays")):
        entries = by_number(select(document, "memory", pattern), "step")
        if len(entries) < 2:
            continue
        last = entries[-1]
        left = [f"{name} {mib_of(last, name):.0f}" for name in names_of([last])]
        parts += [memory_chart(entries, pattern),
                  conclude(f"{pattern}: {words}. MiB after a reap: {html.escape(', '.join(left))}.")]
    return section(title, *parts) if parts else ""


LZ4_PATHS = ("no index", "indexed", "indexed at 3")


def section_lz4_place(document):
    """A line per way over the place in the record; the data measured first, records of 128k if there are."""
    entries = by_number(select(document, "lz4", "place", data="files"), "place")
    size = 131072 if any(number(entry, "record_size") == 131072 for entry in entries) else None
    entries = [entry for entry in entries if size in (None, number(entry, "record_size"))]
    if len(entries) < 2:
        return ""
    title = "What do 4 KiB of a compressed record cost, by where they lie?"
    curve = medians_of(select(document, "lz4", "curve", group_size=16384), "indexed", "all")
    image = curve_chart(title, entries, lambda entry: number(entry, "place") / 1024, LZ4_PATHS, "KiB into the record", "ns for 4 KiB")
    return section(title, image, conclude(
        "Without an index everything before the place is decoded. A block with an index consists of groups, whose matches reach back into the "
        "group itself or into the first piece of its 64 KiB, the hub: only these two are decoded. " +
        (f"At a place at random 4 KiB come {spread(curve, '.1f')} times as fast as all of the record." if curve else "")))


def section_lz4_groups(document):
    """A point per size of groups: time for 4 KiB against bytes."""
    series = {}
    for entry in of_sizes(select(document, "lz4", "curve"), "group_size"):
        for name, key in (("indexed", "indexed_bytes"), ("indexed at 3", "deep_bytes")):
            made, plain, figure = number(entry, key), number(entry, "plain_bytes"), median_of(figure_of(entry, name))
            if made and plain and figure and entry["parameters"].get("record_size") == 131072:
                series.setdefault(f"{entry['parameters'].get('data', '')}, {name}", []).append(
                    (made / plain, figure, size_text(entry["parameters"]["group_size"])))
    if not series:
        return ""

    def draw(axes, narrow):
        for i, (name, points) in enumerate(series.items()):
            axes.plot([x for x, _, _ in points], [y for _, y, _ in points], label=name, **line_style(i))
            for x, y, text in points if not narrow else ():
                axes.annotate(text, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
        axes.set_ylim(bottom=0)
        finish(axes, narrow, f"bytes{'' if narrow else ' of block and index'}, against liblz4's block", "ns for 4 KiB anywhere", 3)

    title = "How large should a group be?"
    return section(title, picture(draw, title, 4), conclude(
        "Records of 128 KiB. Small groups are quick to enter and cost bytes, since matches stay within them; a harder search (effort 3) "
        "takes bytes back. The names at the points are the sizes of groups."))


def section_life(document):
    entries = by_number(select(document, "arc-life", "moment"), "time")
    if not entries:
        return ""
    phases = "phase"
    # While a resize goes on, what was resident since the moment before belongs to the larger capacity.
    most = max((mib_of(entry, "resident") / max(mib_of(entry, "capacity"), mib_of(before, "capacity") or 0)
                for before, entry in zip([entries[0], *entries], entries)
                if mib_of(entry, "resident") is not None and mib_of(entry, "capacity")), default=0)
    puts = {name: [median_of(figure_of(entry, name)) for entry in select(document, "arc-life", "phase")
                   if median_of(figure_of(entry, name))] for name in ("p50", "longest")}
    said = (f" By phase, half of the puts take {time_text(min(puts['p50']))} to {time_text(max(puts['p50']))} or less; "
            f"the longest of all took {time_text(max(puts['longest']))}.") if all(puts.values()) else ""
    return section(
        "What does a cache keep from the system while its life changes?",
        conclude("Phases, one a step of the axis: small records, large, mixed, a scan, shrunk to a quarter, grown, 4,096 held, released. "
                 f"At most {most:.2f} times the capacity is resident. It is to stay within 1.10 times and 8 MiB; held records come on top."
                 + said),
        curve_chart("memory over time", entries, lambda entry: number(entry, "time"), ("capacity", "resident", "used", "records' bytes"), phases,
                    "% of the largest capacity"),
        curve_chart("hits over time", entries, lambda entry: number(entry, "time"), ("hits",), phases, "% of reads"))


def section_own(document):
    """Bars for each scenario that abd-perf itself does not have: a user's own (abd_perf.h)."""
    parts = []
    for scenario in dict.fromkeys(entry["scenario"] for entry in document["results"]):
        entries = [entry for entry in select(document, scenario) if any(median_of(figure) for figure in entry["figures"])]
        if scenario in TABLES or not entries:
            continue
        places = list(dict.fromkeys(entry["name"] for entry in entries))
        series = [line[:2] for line in by_figure(entries, lambda entry: entry["name"])]
        unit = entries[0]["figures"][0]["unit"]
        parts.append(section(html.escape(scenario), picture(lambda axes, narrow: bars(axes, narrow, places, series, unit), scenario,
                                                            1.2 + 0.28 * len(series) * len(places))))
    return "\n".join(parts)


SECTIONS = (section_cached, section_latency, section_arc, section_codec, section_lz4_place, section_lz4_groups,
            section_flush, section_compare,
            section_keys, section_buffer, section_hits, section_life, section_memory, section_own)
