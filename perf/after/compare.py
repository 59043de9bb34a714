# SPDX-License-Identifier: BSD-2-Clause
"""Compares two result files, A and B, benchmark by benchmark.

A benchmark is a figure or a ratio under its conditions. Its comparison is the ratio of B's speed to A's, so more than 1 is better. A and B
were measured separately, so the interval is the widest that both intervals allow: [low B / high A, high B / low A].
A figure's interval covers two comparisons: of the figures themselves, and of the figures in units of the reference loop. A change of the
CPU's clock moves the first for arithmetic and the second for memory; a change of code moves both. A ratio was taken within rounds, where
the clock matters little, so it is compared only once.
Invariant: a result compared with itself gets only the verdict "can't tell", because every such interval contains 1.
"""
import math
import re

from model import CONDITIONS, geometric_mean, number, parameter_text
from table import print_table, ratio_text

# Each time a program is started its data lies elsewhere in memory, which alone moves figures. A smaller difference than this is no change,
# even if the intervals exclude 1: they only cover what varies within one process.
MARGIN = 0.02
ROUNDS = 6  # the fewest that a verdict can stand on; abd_perf_stat.c says why
COUNTED = {"bytes", "MiB", "x", "%"}  # counted, not measured: one round is enough
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


def ratio_of_speeds(a, b, unit):
    """B's speed over A's; None if the ratio is too large or too small for a float."""
    more = unit in ("ratio", "%") or (unit.endswith("/s") and len(unit) > 2)
    over, under = (b, a) if more else (a, b)
    low, high = over["low"] / under["high"], over["high"] / under["low"]
    x, y = a.get("relative"), b.get("relative")
    if x and y:
        low, high = min(low, x["low"] / y["high"]), max(high, x["high"] / y["low"])
    if not (low > 0 and math.isfinite(high)):
        return None
    return {"median": over["median"] / under["median"], "low": low, "high": high}


def verdict_of(ratio, rounds, unit, margin):
    """(verdict, weight). The weight is how far from 1 the ratio surely is, as a logarithm; 0 if that is not sure."""
    if rounds < ROUNDS and unit not in COUNTED:
        return "can't tell", 0
    if ratio["low"] > 1 + margin:
        better = {"%": "larger"}.get(unit, "smaller") if unit in COUNTED else "faster"
        return better, math.log(ratio["low"])
    if ratio["high"] < 1 - margin:
        worse = {"%": "smaller"}.get(unit, "larger") if unit in COUNTED else "slower"
        return worse, -math.log(ratio["high"])
    return "can't tell", 0


def pair_of(a, b, unit, name, margin):
    """The comparison of figures a and b; None if they can't be compared."""
    if not (a["low"] > 0 and b["low"] > 0):
        return None
    ratio = ratio_of_speeds(a, b, unit)
    if ratio is None:
        return None
    verdict, weight = verdict_of(ratio, min(a["rounds"], b["rounds"]), unit, margin)
    return {**name, "unit": unit, "a": a["median"], "b": b["median"], **ratio, "verdict": verdict, "weight": weight}


def noise_of(result):
    return abs(result["noise"]["median"] - 1) if result["noise"] and result["noise"]["low"] > 0 else 0


def differences(a, b):
    """Facts of machine, build and flags that differ: {name: [of a, of b]}."""
    return {name: [value, b[part][name]] for part in ("environment", "options") for name, value in a[part].items()
            if name not in FLEETING and b[part].get(name, value) != value}


def compare(a, b, wanted=""):
    """The comparison as `abd-perf compare --json` writes it; wanted: a regular expression on "SCENARIO: NAME, FIGURE"."""
    margin = max(MARGIN, noise_of(a), noise_of(b))
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
        pairs += [pair_of(x, y, unit, name, margin) for (_, x), (_, y) in zip(of_a, of_b)]
    pairs = [pair for pair in pairs if pair]
    # First what surely changed, the largest changes first; then the rest, by their medians.
    pairs.sort(key=lambda pair: (-pair["weight"], -abs(math.log(pair["median"]))))
    for pair in pairs:
        del pair["weight"]
    return {"format": "abd-perf-compare-1", "margin": margin, "only_a": only[0], "only_b": only[1],
            "differences": differences(a, b), "pairs": pairs}


def changed(comparison):
    return [pair for pair in comparison["pairs"] if pair["verdict"] != "can't tell"]


def became_worse(comparison, allowed):
    """The benchmarks that surely became slower or larger by more than the allowed share."""
    return [pair for pair in changed(comparison) if pair["median"] < 1 - allowed]


def conclusion(comparison):
    """The comparison in a sentence, for the terminal and the page."""
    count, sure = len(comparison["pairs"]), changed(comparison)
    better, margin = sum(pair["median"] > 1 for pair in sure), f"{comparison['margin'] * 100:.1f} %"
    if not count:
        return "The results have no benchmark in common."
    if not sure:
        return f"Nothing changed: no benchmark of {count} differs by more than its intervals allow for, or by more than {margin}."
    return (f"Of {count} benchmarks {better} are better and {len(sure) - better} are worse. The other {count - len(sure)} did not surely "
            f"change: their intervals allow for the difference, or it is below {margin}.")


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
