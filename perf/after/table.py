# SPDX-License-Identifier: BSD-2-Clause
"""Tables for people, made from columns that are data (columns.py lists each table's columns).

A column is (heading, cell); cell(entry) returns its text. If the heading starts with <, the column is aligned left. If an entry lacks a
column's figure, ratio or parameter, the cell is "-" or empty.
"""
from model import figure_of, number, parameter_text, ratio_of


# ---- cells ---------------------------------------------------------------------------------------------------------------

def figure_text(figure):
    """3.21 ±0.4%: median and median absolute deviation; after one round only the median."""
    if figure is None:
        return "-"
    median = figure["median"]
    if abs(median) >= 1e5:
        return f"{median:.3g}"
    text = format(median, ".2f" if abs(median) < 10 else ".1f" if abs(median) < 100 else ".0f")
    return text + (f" ±{figure['mad'] / median * 100:.1f}%" if figure["rounds"] > 1 and median > 0 else "")


def ratio_text(ratio):
    """1.058 [1.055, 1.061]"""
    if ratio is None:
        return "-"
    form = ".3f" if ratio["median"] < 10 else ".1f"
    return f"{ratio['median']:{form}} [{ratio['low']:{form}}, {ratio['high']:{form}}]"


def time_text(ns):
    """16.1 us, 4.20 ms"""
    for unit in ("ns", "us", "ms", "s"):
        if ns < 1000 or unit == "s":
            return f"{ns:.{2 if ns < 10 else 1 if ns < 100 else 0}f} {unit}"
        ns /= 1000


def target_text(ratio):
    return f"{ratio['target']:g}: {ratio['target_verdict']}" if ratio and ratio["target"] is not None else ""


# ---- columns -------------------------------------------------------------------------------------------------------------

def name(heading):
    return "<" + heading, lambda entry: entry["name"]


def parameter(heading, key=None):
    key = key or heading.lstrip("<")
    return heading, lambda entry: parameter_text(entry, key)


def scaled(heading, key, factor, form):
    """A number, in another unit: mebibytes, per cent."""
    return heading, lambda entry: "" if number(entry, key) is None else format(number(entry, key) * factor, form)


def mib(heading, key):
    return scaled(heading, key, 1 / (1 << 20), ".1f")


def figure(key, heading=None):
    return heading or key, lambda entry: figure_text(figure_of(entry, key))


def figures(*keys):
    return [figure(key) for key in keys]


def ratio(heading, of, against):
    return heading, lambda entry: ratio_text(ratio_of(entry, of, against))


def verdict(of, against):
    return "<", lambda entry: (ratio_of(entry, of, against) or {"verdict": ""})["verdict"]


def target(of, against, heading="<target"):
    return heading, lambda entry: target_text(ratio_of(entry, of, against))


def judged(heading, of, against):
    """A ratio and its verdict."""
    return [ratio(heading, of, against), verdict(of, against)]


def cell(heading, text):
    return heading, text


def every_figure(entries):
    """A column for each figure, followed by one for each ratio of it."""
    ratios = dict.fromkeys((item["of"], item["against"]) for entry in entries for item in entry["ratios"])
    columns = []
    for key in dict.fromkeys(item["name"] for entry in entries for item in entry["figures"]):
        unit = next(figure_of(entry, key)["unit"] for entry in entries if figure_of(entry, key))
        columns.append(figure(key, f"{key}, {unit}"))
        columns += [ratio(f"/ {against}", of, against) for of, against in ratios if of == key]
    return columns


# ---- printing ------------------------------------------------------------------------------------------------------------

def print_table(headings, rows):
    """Prints a table; each column is as wide as its longest cell. Without rows, prints nothing."""
    if not rows:
        return
    left = [heading.startswith("<") for heading in headings]
    lines = [[heading.removeprefix("<") for heading in headings], *rows]
    width = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    for line in lines:
        print("  ".join(text.ljust(width[i]) if left[i] else text.rjust(width[i]) for i, text in enumerate(line)).rstrip())


def print_columns(entries, columns):
    print_table([heading for heading, _ in columns], [[text(entry) for _, text in columns] for entry in entries])
