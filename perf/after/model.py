# SPDX-License-Identifier: BSD-2-Clause
"""The result in a file of `abd-perf run --json` or `--csv`, and functions that look things up in it for tables, comparisons and pages.

Invariant: after load(), strings contain no control characters and can be encoded, every figure and ratio has finite numbers, and damaged
parts are left out. So no other module has to check a file's content; text must still be escaped when it becomes markup.
"""
import json
import math
import re
import statistics

from rows import HEADINGS, document_of

FORMAT = "abd-perf-1"
NUMBERS = ("median", "low", "high", "mad")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
# Parameters that say how something was measured. Others (compressed_bytes, best) say what was found.
CONDITIONS = ("data", "set", "pages", "record_size", "io_size", "size", "length", "destination", "state",
              "batch", "threads", "max_order", "count", "mode")
SIZES = {"record_size", "io_size", "size", "file_size"}  # shown as 8k, 1m


# ---- reading -------------------------------------------------------------------------------------------------------------

def clean(text):
    """The text without control characters, which could steer a terminal or break a table or the page."""
    return CONTROL.sub("?", str(text)).encode("utf-8", "replace").decode("utf-8")


def text_in(item, name):
    value = item.get(name)
    return clean(value) if isinstance(value, str) else ""


def is_number(value):
    """Whether value is a finite number; whole numbers too large for a float are not."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def dictionary(value):
    return value if isinstance(value, dict) else {}


def dictionaries(value):
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value):
    return [clean(item) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def summary(item):
    """Median, interval and rounds; None if they are damaged."""
    value = {name: item.get(name) for name in NUMBERS}
    value["mad"] = value["mad"] if is_number(value["mad"]) else 0
    if not all(is_number(number) for number in value.values()) or not value["low"] <= value["median"] <= value["high"]:
        return None
    return {**value, "rounds": int(item["rounds"]) if is_number(item.get("rounds")) else 0, "processes": processes(item)}


def processes(item):
    """The median of each process; none if one is damaged."""
    value = item.get("processes")
    return value if isinstance(value, list) and all(is_number(number) and number > 0 for number in value) else []


def relative(item):
    """The figure in units of the reference loop; None if its interval is missing or damaged."""
    value = {name: dictionary(item.get("relative")).get(name) for name in NUMBERS[:3]}
    sound = all(is_number(number) for number in value.values()) and 0 < value["low"] <= value["high"]
    return {**value, "processes": processes(item["relative"])} if sound else None


def figures(result):
    found = []
    for item in dictionaries(result.get("figures")):
        value = summary(item)
        if value:
            found.append({"name": text_in(item, "name"), "unit": text_in(item, "unit"), **value, "relative": relative(item),
                          "counters": {clean(key): count for key, count in dictionary(item.get("counters")).items() if is_number(count)}})
    return found


def published(item):
    """The ratio as a source had it; None if there is none."""
    return item["published"] if is_number(item.get("published")) and item["published"] > 0 else None


def ratios(result):
    found = []
    for item in dictionaries(result.get("ratios")):
        value, target = summary(item), item.get("target")
        if value:
            found.append({name: text_in(item, name) for name in ("of", "against", "verdict", "target_verdict", "source", "claim")}
                         | value | {"target": target if is_number(target) else None, "published": published(item)})
    return found


def entry_of(result):
    parameters = {clean(name): clean(value) if isinstance(value, str) else value
                  for name, value in dictionary(result.get("parameters")).items() if isinstance(value, str) or is_number(value)}
    return {**{name: text_in(result, name) for name in ("scenario", "group", "name")}, "parameters": parameters,
            "figures": figures(result), "ratios": ratios(result)}


def facts(document, name):
    """Names and values of the environment or the options, as text."""
    return {clean(key): clean(value if isinstance(value, str) else json.dumps(value))
            for key, value in dictionary(document.get(name)).items()}


def refuse_constant(name):
    raise ValueError(f"{name} is not a number that JSON has")


def load(path):
    """The result in a file. ValueError or OSError says why it can't be read."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
        try:
            return sound(document_of(text) if text.startswith(",".join(HEADINGS)) else json.loads(text, parse_constant=refuse_constant))
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def sound(document):
    """What of a JSON document is a result."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    if not isinstance(document.get("results"), list):
        raise ValueError("it holds no results")
    return {"environment": facts(document, "environment"), "options": facts(document, "options"),
            "complete": document.get("complete") is not False, "noise": summary(dictionary(document.get("noise"))),
            "warnings": texts(document.get("warnings")), "sources": texts(document.get("sources")),
            "results": [entry_of(result) for result in dictionaries(document["results"]) if "wrong" not in result],
            "wrong": [f"{text_in(result, 'scenario')}: {text_in(result, 'name')}" for result in dictionaries(document["results"]) if "wrong" in result]}


# ---- asking --------------------------------------------------------------------------------------------------------------

def size_text(size):
    for shift, unit in ((20, "m"), (10, "k")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{int(size) >> shift}{unit}"
    return f"{size:.0f}"


def parameter_text(entry, name):
    value = entry["parameters"].get(name, "")
    return value if isinstance(value, str) else size_text(value) if name in SIZES else f"{value:.6g}"


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
    """The median of a ratio or a figure; None if there is none, or it is not positive (it has no logarithm)."""
    return measured["median"] if measured and measured["median"] > 0 else None


def medians_of(entries, of, against):
    """The medians of a ratio, of all entries that have it."""
    return [value for value in (median_of(ratio_of(entry, of, against)) for entry in entries) if value]


def number(entry, name):
    value = entry["parameters"].get(name)
    return value if isinstance(value, (int, float)) else None


def of_sizes(entries, name="size"):
    return sorted((entry for entry in entries if number(entry, name)), key=lambda entry: number(entry, name))


def names_of(entries):
    """The names of all figures, in the order in which they first appear."""
    return list(dict.fromkeys(figure["name"] for entry in entries for figure in entry["figures"]))


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def spread(values, form=".2f"):
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def first_ratio(document, wanted):
    """wanted: [(scenario, group, parameters, of, against)]. Returns (ratio, its entry) of the first one found, or (None, None)."""
    for scenario, group, parameters, of, against in wanted:
        for entry in select(document, scenario, group, **parameters):
            ratio = ratio_of(entry, of, against)
            if median_of(ratio):
                return ratio, entry
    return None, None


def interval(ratio, form=".2f"):
    return f"{ratio['median']:{form}} [{ratio['low']:{form}}, {ratio['high']:{form}}]"
