# SPDX-License-Identifier: BSD-2-Clause
"""Compares two result files, A and B, benchmark by benchmark.

A benchmark is a figure or a ratio under its conditions. Its comparison is the ratio of B's speed to A's, so more than 1 is better.
The unit is the process: where memory came to lie moves a figure by more than its rounds show, and another process has it elsewhere. Each
side is the mean of its processes' medians, as logarithms; the spread is that between processes. With three processes a row's own spread
says little, so it is joined with that of all rows, as limma does (Smyth, "Linear models and empirical Bayes methods", 2004). A row is
changed if it surely differs by more than SMALLEST, after Benjamini and Hochberg's correction over all rows: of the rows called changed,
at most SHARE are not. A row measured in one process gets no verdict.
A figure is compared twice: as it is, and in units of the reference loop. A change of the CPU's clock moves the first for arithmetic and
the second for memory; a change of code moves both, so the less sure of the two counts. A ratio was taken within rounds, where the clock
matters little, so it is compared only once.
Invariant: a result compared with itself gets only the verdict "can't tell", because every difference is 0.
"""
import math
import re
import statistics

from model import CONDITIONS, geometric_mean, number, parameter_text
from table import print_table, ratio_text

SMALLEST = math.log(1.01)  # a smaller difference is of no interest
SHARE = 0.05
PRIOR = 4  # degrees of freedom that the spread of all rows counts for
LEAST = 0.005  # the least spread between processes that is believed: rows whose processes agree exactly are no exception
CHANGES = {"faster", "slower", "smaller", "larger"}
COUNTED = {"bytes", "MiB", "x", "%"}  # counted, not measured
# Facts that differ each time on the same machine, and so don't explain a change.
FLEETING = {"time", "memory", "load", "load_after", "busy", "busy_before", "busy_during", "interrupted"}


def benchmarks(result):
    """{key: [(entry, item)]} of all figures and ratios; a key has several if a benchmark was measured twice."""
    found = {}
    for entry in result["results"]:
        name = entry["scenario"], entry["group"], entry["name"]
        conditions = tuple((key, entry["parameters"][key]) for key in CONDITIONS if key in entry["parameters"])
        measured = {figure["name"] for figure in entry["figures"]}
        for ratio in entry["ratios"]:
            # Only a ratio of two measured figures is a benchmark: one against a published figure says no more than our figure.
            if {ratio["of"], ratio["against"]} <= measured:
                found.setdefault((name, conditions, ratio["of"], ratio["against"], "ratio"), []).append((entry, ratio))
        for figure in entry["figures"]:
            found.setdefault((name, conditions, figure["name"], None, figure["unit"]), []).append((entry, figure))
    return found


def full_name(entry, times):
    """The name, with its conditions if several results share it: "one copy, one fence (size 64, linear, fresh)"."""
    parts = [parameter_text(entry, name) if number(entry, name) is None else f"{name} {number(entry, name):.6g}"
             for name in CONDITIONS if name in entry["parameters"]]
    ambiguous = times[entry["scenario"], entry["group"], entry["name"]] > 1
    return f"{entry['name']} ({', '.join(parts)})" if ambiguous and parts else entry["name"]


def pair_of(a, b, unit, name):
    """The medians of figures a and b with what their verdict is computed from; None if they can't be compared."""
    if not (a["low"] > 0 and b["low"] > 0):
        return None
    more = unit in ("ratio", "%") or (unit.endswith("/s") and len(unit) > 2)
    over, under = (b, a) if more else (a, b)
    median = over["median"] / under["median"]
    if not (median > 0 and math.isfinite(median)):
        return None
    views = [(over["processes"], under["processes"])]
    if a.get("relative") and b.get("relative"):  # a time, whatever the figure's unit
        views.append((a["relative"]["processes"], b["relative"]["processes"]))
    return {**name, "unit": unit, "a": a["median"], "b": b["median"], "median": median, "processes": min(len(side) for side in views[0]),
            "views": [[[math.log(value) for value in side] for side in view] for view in views if min(map(len, view)) > 1]}


def variance_of(view):
    """(variance between processes, degrees of freedom) of both sides together."""
    freedom = sum(len(side) - 1 for side in view)
    return sum(statistics.variance(side) * (len(side) - 1) for side in view) / freedom, freedom


def tail(t, freedom):
    """P(T > t) of Student's distribution, for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, odd = math.cos(angle) ** 2, freedom % 2
    total = term = math.cos(angle) if odd and freedom > 1 else 0 if odd else 1
    for i in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine * (i - 1) / i
        total += term
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return max((1 - inside) / 2, 0)


def quantile(freedom):
    """The t that 2.5 % lie beyond."""
    low, high = 0, 1000
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > 0.025 else (low, middle)
    return low


def judge(pairs, smallest):
    """Gives every pair its interval, and p: how likely so large a difference is if the true one is no larger than the smallest of interest."""
    typical = [variance_of(view)[0] for pair in pairs for view in pair["views"]]
    # The median of a row's variances is below their mean, by the ratio of a chi-square's with 4 degrees of freedom.
    prior = max(statistics.median(typical) * 4 / 3.36 if typical else 0, LEAST ** 2)
    for pair in pairs:
        pair.update(low=pair["median"], high=pair["median"], p=1)
        for i, view in enumerate(pair.pop("views")):
            variance, freedom = variance_of(view)
            freedom += PRIOR
            error = math.sqrt((PRIOR * prior + (freedom - PRIOR) * variance) / freedom * sum(1 / len(side) for side in view))
            difference = statistics.fmean(view[0]) - statistics.fmean(view[1])
            reach = quantile(freedom) * error
            low, high = (math.exp(min(max(value, -700), 700)) for value in (difference - reach, difference + reach))
            p = tail((abs(difference) - smallest) / error, freedom)
            if i > 0:  # the less sure of the two, and neither if they contradict each other
                p = max(p, pair["p"]) if difference * (pair["low"] + pair["high"] - 2) > 0 else 1
                low, high = min(low, pair["low"]), max(high, pair["high"])
            pair.update(low=min(low, pair["median"]), high=max(high, pair["median"]), p=p)
    return correct(pairs)


def correct(pairs):
    """Benjamini and Hochberg: the k surest rows are changed, for the largest k whose k-th p is at most k * SHARE of all."""
    order = sorted((pair for pair in pairs if pair["processes"] > 1), key=lambda pair: pair["p"])
    sure = max((k for k, pair in enumerate(order, 1) if pair["p"] <= k * SHARE / len(order)), default=0)
    changed_rows = {id(pair) for pair in order[:sure]}
    for pair in pairs:
        pair["verdict"] = verdict_of(pair) if id(pair) in changed_rows else "can't tell" if pair["processes"] > 1 else "one process"
    return pairs


def verdict_of(pair):
    if pair["unit"] not in COUNTED:
        return "faster" if pair["median"] > 1 else "slower"
    return ("smaller" if pair["median"] > 1 else "larger") if pair["unit"] != "%" else "larger" if pair["median"] > 1 else "smaller"


def differences(a, b):
    """Facts of machine, build and flags that differ: {name: [of a, of b]}."""
    return {name: [value, b[part][name]] for part in ("environment", "options") for name, value in a[part].items()
            if name not in FLEETING and b[part].get(name, value) != value}


def compare(a, b, wanted="", smallest=SMALLEST):
    """The comparison as `abd-perf compare --json` writes it; wanted: a regular expression on "SCENARIO: NAME, FIGURE"."""
    expression = re.compile(wanted, re.IGNORECASE)
    sides, times = [benchmarks(result) for result in (a, b)], {}
    for result in (a, b):
        count = {}
        for entry in result["results"]:
            key = entry["scenario"], entry["group"], entry["name"]
            count[key] = count.get(key, 0) + 1
            times[key] = max(times.get(key, 0), count[key])
    pairs, only = [], [0, 0]
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        of_a, of_b = (side.get(key, []) for side in sides)
        entry = (of_a or of_b)[0][0]
        (scenario, group, _), _, of, against, unit = key
        name = {"scenario": scenario, "group": group, "name": full_name(entry, times),
                "figure": of if against is None else f"{of} / {against}"}
        if not expression.search(f"{scenario}: {name['name']}, {name['figure']}"):
            continue
        both = min(len(of_a), len(of_b))
        only = [only[0] + len(of_a) - both, only[1] + len(of_b) - both]
        pairs += [pair_of(x, y, unit, name) for (_, x), (_, y) in zip(of_a, of_b)]
    pairs = judge([pair for pair in pairs if pair], smallest)
    # First what surely changed, the largest changes first; then the rest, by their medians.
    pairs.sort(key=lambda pair: (pair["verdict"] not in CHANGES, -abs(math.log(pair["median"]))))
    return {"format": "abd-perf-compare-1", "only_a": only[0], "only_b": only[1], "differences": differences(a, b), "pairs": pairs}


def changed(comparison):
    return [pair for pair in comparison["pairs"] if pair["verdict"] in CHANGES]


def became_worse(comparison, allowed):
    """The benchmarks that surely became slower or larger by more than the allowed share."""
    return [pair for pair in changed(comparison) if pair["median"] < 1 - allowed]


def conclusion(comparison):
    """The comparison in a sentence, for the terminal and the page."""
    count, sure = len(comparison["pairs"]), changed(comparison)
    alone = sum(pair["processes"] < 2 for pair in comparison["pairs"])
    better, one = sum(pair["median"] > 1 for pair in sure), f" {alone} were measured in one process, which supports no verdict." if alone else ""
    if not count:
        return "The results have no benchmark in common."
    if not sure:
        return f"Nothing changed: no benchmark of {count} surely differs by more than 1 %, by its spread between processes.{one}"
    return (f"Of {count} benchmarks {better} are better and {len(sure) - better} are worse. The other {count - len(sure)} did not surely "
            f"change by more than 1 %, by their spread between processes.{one}")


def print_comparison(comparison, everything):
    for name, (before, after) in comparison["differences"].items():
        print(f"{name:<16} \"{before}\", then \"{after}\"")
    if comparison["differences"]:
        print()
    shown = comparison["pairs"] if everything else changed(comparison)
    print_table(["<benchmark", "<path", "A", "B", "<", "B over A [95 %]", "<"],
                [[f"{pair['scenario']}: {pair['name']}", pair["figure"], f"{pair['a']:.4g}", f"{pair['b']:.4g}", pair["unit"],
                  ratio_text(pair), pair["verdict"]] for pair in shown])
    print(("\n" if shown else "") + conclusion(comparison))
    if comparison["pairs"]:
        print(f"Geometric mean of all ratios: {geometric_mean([pair['median'] for pair in comparison['pairs']]):.3f}.")
    if comparison["only_a"] + comparison["only_b"]:
        print(f"Only in A: {comparison['only_a']}; only in B: {comparison['only_b']}.")
