# SPDX-License-Identifier: BSD-2-Clause
"""The five sources' claims, and this machine: a row each, and a section with a picture where one says more than the row.

A ratio of a result that a source published something of has the claim's id and the source's ratio ("claim", "published"). Invariant: a
sentence calls something faster, slower, or as published only if the ratio's interval does.
"""
import html

from chart import bars, picture
from model import figure_of, interval, median_of, names_of, number, ratio_of, select, size_text, spread
from sections import by_number, conclude, curve_chart, line_chart, line_style, points, rows_table, section, size_label, threads_text
from table import figure_text

UNSURE = "can't tell: there is no difference, or more rounds are needed to see it"


def percent(ratio):
    """+5.0 % for 1.05."""
    return f"{(ratio - 1) * 100:+.0f} %" if abs(ratio - 1) >= 0.1 else f"{(ratio - 1) * 100:+.1f} %"


def verdict(ratio, yes, no):
    return {"faster": yes, "slower": no}.get(ratio.get("verdict"), UNSURE)


def beside(ratio):
    """Whether the published ratio lies in the interval; one that holds 1 and the published ratio says nothing."""
    low, high, published = ratio["low"], ratio["high"], ratio["published"]
    if low <= published <= high:
        return "as published" if ratio["verdict"] != "can't tell" else "can't tell"
    return "less than published" if high < published else "more than published"


def measured(document, claim):
    """[(ratio, its entry)] of a claim, in the order in which they were measured."""
    return [(ratio, entry) for entry in document["results"] for ratio in entry["ratios"]
            if ratio["claim"] == claim and ratio["published"] and median_of(ratio)]


def first(document, scenario, group, name, of, against):
    """The ratio of the result of this name; None if there is none."""
    return next((ratio for entry in select(document, scenario, group) if entry["name"] == name
                 for ratio in [ratio_of(entry, of, against)] if median_of(ratio)), None)


# ---- rows: what was measured, and what to do ---------------------------------------------------------------------------------

def counted(document, data="fio"):
    """{mode: what a record takes in it}"""
    return {entry["parameters"].get("mode"): {figure["name"]: figure["median"] for figure in entry["figures"]}
            for entry in select(document, "arc-cached-read", "work", data=data)}


def rule_saves(document):
    """What a borrow by a copy takes besides, of what a read takes; "" if it was not counted."""
    modes = counted(document)
    copies, rule = modes.get("openzfs's way", {}), modes.get("single-chunk", {})
    if not copies.get("moved") or not rule.get("moved"):
        return ""
    if not copies.get("copied"):
        return "without it nothing was copied either"
    steps = [mode["instructions"] for mode in (copies, rule) if mode.get("instructions")]
    steps = f"{steps[0] - steps[1]:,.0f} of {steps[0]:,.0f} instructions and " if len(steps) == 2 else ""
    return (f"it saves {steps}{copies['moved'] - rule['moved']:,.0f} of {copies['moved']:,.0f} bytes read and written for a record")


def warmed(document):
    """Whether a copy pays for itself by warming the cache: reading the block's lines first does that without a copy."""
    ratio = first(document, "arc-cached-read", "cached", "fio 8k, 1 thread", "lines first", "single-chunk")
    if ratio is None:
        return ""
    return (f"reading the block's lines before it is decoded, without a copy, has {interval(ratio)} times the speed: a warm block is "
            + {"faster": "worth something here, and a copy makes it warm", "slower": "not what a copy could be worth"}.get(
                ratio["verdict"], "no gain that could be seen"))


def claim_rule(document):
    found = measured(document, "pr8580")
    if not found:
        return None
    parts = [f"{entry['name']}: {percent(ratio['median'])} [{percent(ratio['low'])}, {percent(ratio['high'])}], {beside(ratio)}"
             for ratio, entry in found]
    why = "; ".join(filter(None, (rule_saves(document), warmed(document) if found[0][0]["verdict"] != "faster" else "")))
    return ("; ".join(parts) + f"; the set is {found[0][1]['parameters'].get('state', '')}",
            verdict(found[0][0], "treat single-run buffers as linear (the default)", "the rule does not pay here")
            + (f": {why}" if why else ""))


def less_time(ratio):
    """-25 % for a ratio of speeds of 1.333."""
    return percent(1 / ratio)


def claim_dedupe(document):
    found, ours = measured(document, "dedupe"), first(document, "dedupe", "proof", "aligned", "abd_equal_off", "byte loop")
    if not found:
        return None
    ratio, entry = found[0]
    apart = first(document, "dedupe", "proof", "unaligned", "word loop", "byte loop")
    return (f"comparing alone: {less_time(ratio['median'])} time by words [{less_time(ratio['high'])}, {less_time(ratio['low'])}], "
            + beside(ratio) + (f"; {less_time(ours['median'])} by abd_equal_off" if ours else "")
            + (f"; words at offsets that are not aligned {less_time(apart['median'])}" if apart else "")
            + f"; the set is {entry['parameters'].get('state', '')}",
            verdict(ours or ratio, "never compare byte by byte: abd_equal_off() takes any offsets", "bytes are as good here"))


def claim_names(document):
    found = measured(document, "names")
    if not found:
        return None
    ratio, _ = found[0]
    start, ours = (first(document, "names", *where) for where in (("line", "a look-up of 4 bytes", "masked words", "repe cmpsb"),
                                                                  ("lookup", "any length", "abd_key_equal", "repe cmpsb")))
    return (f"a byte by masked words has {interval(ratio)} times the speed of repe cmpsb, {beside(ratio)}"
            + (f"; a look-up of 4 bytes {interval(start)} times" if start else "")
            + (f"; abd_key_equal over all names {interval(ours)} times" if ours else "") + "; the set is warm",
            verdict(ours or ratio, "compare short names by abd_key_equal()", "a string instruction is as good here"))


def claim_flush(document):
    found = measured(document, "flush")
    if not found:
        return None
    parts = {}
    for ratio, entry in found:
        key = size_text(number(entry, "size")) if entry["group"] == "log" else threads_text(number(entry, "threads"))
        parts.setdefault(entry["group"], []).append(f"{key} {interval(ratio)}")
    words = {"log": "one writer under a lock", "writers": "8 bytes after 8 bytes"}
    won = [verdicts[ratio["verdict"]] for verdicts in [{"faster": "through", "slower": "around"}] for ratio, _ in found
           if ratio["verdict"] in verdicts]
    advice = {frozenset({"around"}): "go around the cache", frozenset({"through"}): "write back", frozenset(): UNSURE}.get(
        frozenset(won), "it depends on size and writers")
    here = "; ".join(f"{words[group]}: {', '.join(values)}" for group, values in parts.items() if group in words)
    return f"through the cache / around it: {here} (ordinary memory)", advice + "; AUTO knows"


def claim_statx(document):
    entry = next(iter(select(document, "statx", "call")), None)
    call = entry and ratio_of(entry, "one copy, of the whole call", "guarded stores")
    if not median_of(call) or not call["published"]:
        return None
    calls = [f"{name} {figure_of(entry, name)['median'] / 100:.2f} s" for name in ("fstat", "statx") if median_of(figure_of(entry, name))]
    fill = ratio_of(entry, "memset, one copy", "guarded stores")
    return (f"10,000,000 calls: {', '.join(calls)}; guarded stores in place of the copy would take {interval(call)} times as long, "
            + beside(call) + " (there is no guard here as expensive as a kernel's)"
            + (f"; filling alone {interval(fill)} times" if median_of(fill) else ""),
            verdict(fill or call, "fill a record on the stack, copy it once", "store by store is as good here"))


CLAIMS = [
    ("Is a scatter buffer of one run worth treating as linear?", "OpenZFS PR 8580, 2019", "+5 % of ARC-cached 8k reads", claim_rule),
    ("What does comparing by words save a dedupe?", "linux-fsdevel, 2021", "-25 % sys time for a byte loop (duperemove, 80 GB)", claim_dedupe),
    ("How should short names be compared?", "linux-kernel, 2010",
     "rep cmpsb is slow to start; words with a masked tail: 10 cycles a byte of a looked-up name to 8, 1.25 times the speed", claim_names),
    ("Which way is a copy made durable fastest?", "dm-devel, 2020",
     "through the cache / around it on Optane: 512 0.75, 1k 1.07, 2k 1.52, 4k 1.61; 1 to 5 writers 1.23, 0.96, 0.61, 0.43, 0.32", claim_flush),
    ("Should a caller's record be stored to field by field?", "linux-kernel, 2017",
     "10,000,000 calls: fstat 1.46 s, statx 5.53 s field by field, 1.57 s with one copy: 3.52 times as long", claim_statx),
]


def questions(document):
    """[(question, source, claim, measured here, what to do)] of those that were measured."""
    asked = [((question, source, claim), ask(document)) for question, source, claim, ask in CLAIMS]
    return [(*claim, *found) for claim, found in asked if found]


# ---- sections ----------------------------------------------------------------------------------------------------------------

def section_rule(document):
    """What each mode takes, counted, beside how fast it is."""
    parts = []
    for data in ("fio", "files"):
        modes = counted(document, data)
        speeds = next(iter(select(document, "arc-cached-read", "cached", data=data, threads=1)), {"figures": []})
        rows = [[mode, *(f"{of[name]:,.0f}" if name in of and (of[name] or name != "instructions") else "" for name in
                         ("instructions", "copied", "moved")), figure_text(figure_of(speeds, mode))] for mode, of in modes.items() if mode]
        if rows:
            parts.append(f"<h3>A record of 8 KiB, {data}</h3>" + rows_table(
                ["mode", "instructions", "bytes copied", "bytes read and written", "GB/s, 1 thread"], rows))
    said = [text for text in (rule_saves(document), warmed(document)) if text]
    return section("What does the single-chunk rule save?", *parts, conclude(
        "Counted step by step, not timed. " + html.escape(". ".join(text[0].upper() + text[1:] for text in said)) + ".")) if parts else ""


def section_dedupe(document):
    entries = [entry for entry in select(document, "dedupe", "proof") if entry["name"] != "one byte off"]
    places = [entry["name"] for entry in entries]
    series = [(name, found) for name in names_of(entries)
              for found in [points(entries, lambda entry: entry["name"], lambda entry: figure_of(entry, name))] if found]
    if not series:
        return ""
    title = "What is a fast comparison worth to deduplication?"
    image = picture(lambda axes, narrow: bars(axes, narrow, places, series, "GB/s of one side"), title, 1.2 + 0.28 * len(series) * len(places))
    bug = "words are compared only where both sides are aligned, as the source's patch did; then there are bytes again"
    return section(title, image, conclude(
        f"A tree's files against their copies, 128 KiB at a time, page by page: {bug}. In duperemove's system time, of which words saved a "
        "quarter, there is more than comparing."))


def section_names(document):
    entries = by_number((entry for entry in select(document, "names", "lookup") if entry["name"] != "any length"), "bytes")
    if len(entries) < 2:
        return ""
    title = "What does looking up a name take, by its length?"
    ours = [value for value in (median_of(ratio_of(entry, "abd_key_equal", "memcmp")) for entry in entries) if value]
    return section(title, curve_chart(title, entries, lambda entry: number(entry, "bytes"), names_of(entries), "bytes of a name", "ns for a look-up"),
                   conclude("Names of a tree, hashed byte by byte and found in a table that has them. " + (
                       f"abd_key_equal has {spread(ours)} times the speed of memcmp, by length. " if ours else "")
                       + "What rises is a byte; where a line begins is what starting takes."))


def against_source(entries, place):
    """A source's ratios beside those measured here: through the cache over around it, as lines."""
    found = [(place(entry), ratio) for entry in entries for ratio in entry["ratios"] if ratio["published"] and median_of(ratio)]
    labels = [label for label, _ in found]
    return labels, [("here", {label: ratio["median"] for label, ratio in found}, line_style(0)),
                    ("Optane, 2020", {label: ratio["published"] for label, ratio in found}, line_style(1))]


def section_flush_source(document):
    parts, title = [], "Through the cache or around it?"
    for group, of, place, xlabel in (("log", "size", size_label, "size of a copy: one writer, a lock, a fence"),
                                     ("writers", "threads", lambda entry: f"{number(entry, 'threads'):g}", "writers, each 8 bytes after 8 bytes")):
        labels, series = against_source(by_number(select(document, "flush", group), of), place)
        if len(labels) > 1:
            parts.append(line_chart(f"{title} {xlabel}", labels, series, xlabel, "times as fast through it"))
    return section(title, *parts, conclude(
        "Above 1, copies through the cache, then written back, are faster than those around it. The source's figures are of persistent memory, "
        "those here of ordinary memory: compare the ratios.")) if parts else ""


def section_statx(document):
    entry = next(iter(select(document, "statx", "call")), None)
    found = entry and {figure["name"]: median_of(figure) for figure in entry["figures"] if median_of(figure)}
    if not found:
        return ""
    title = "Should a record be filled where the caller wants it?"
    image = picture(lambda axes, narrow: bars(axes, narrow, list(found), [("ns", found)], "ns"), title, 1 + 0.35 * len(found))
    same = ratio_of(entry, "initialiser, one copy", "memset, one copy")
    return section(title, image, conclude(
        "The calls are the system's, for a file on tmpfs; the record has 23 fields in 256 bytes. "
        + (f"An initialiser has {interval(same)} times the speed of memset; the review found no difference. " if median_of(same) else "")
        + "A kernel's guard costs more than the check and the call that stand for it here."))


SECTIONS = (section_rule, section_dedupe, section_names, section_flush_source, section_statx)
