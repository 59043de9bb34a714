# SPDX-License-Identifier: BSD-2-Clause
"""What a run's JSON holds, asked for by what it is; None or nothing where it holds none: runs may lack any scenario."""
import math
import statistics


def size_text(size):
    for shift, unit in ((20, "m"), (10, "k")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{int(size) >> shift}{unit}"
    return f"{size:.0f}"


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


def spread(values, form=".2f"):
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def first_ratio(document, wanted):
    """The first that the run has of (scenario, group, parameters, of, against): (ratio, its entry), or (None, None)."""
    for scenario, group, parameters, of, against in wanted:
        for entry in select(document, scenario, group, **parameters):
            ratio = ratio_of(entry, of, against)
            if median_of(ratio):
                return ratio, entry
    return None, None


def interval(ratio, form=".2f"):
    return f"{ratio['median']:{form}} [{ratio['low']:{form}}, {ratio['high']:{form}}]"
