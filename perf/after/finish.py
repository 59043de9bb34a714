# SPDX-License-Identifier: BSD-2-Clause
"""Makes a result of what abd-perf's processes measured, which is the result of the first of them and, as "more", the results of the others.

Several processes measure the same rows. Where memory came to lie differs from process to process and moves figures by more than any round
shows, so a figure's spread is that between processes: the median of their medians, its median absolute deviation, and an interval that holds all of
their intervals; with SURE and more processes the 95 % interval of their medians. A ratio's verdict follows from that.
"""
import math
import statistics

SURE = 6  # with 5 values, no pair of them encloses the median with 95 %


def rounded(value):
    return float(f"{value:.6g}")


def enclosing(values):
    """The 95 % interval of the median: the k-th and the last but k-th, for the largest k with P(B < k) <= 2.5 %, B binomial (n, 1/2)."""
    n, k, below = len(values), 0, 0.5 ** len(values)
    while below <= 0.025:
        k += 1
        below += math.comb(n, k) * 0.5 ** n
    return sorted(values)[k - 1], sorted(values)[n - k]


def matched(items, others, names):
    """Pairs of an item and another's of the same names; items of one name are matched in their order."""
    at = 0
    for other in others:
        found = next((i for i in range(at, len(items)) if all(items[i][name] == other[name] for name in names)), None)
        if found is not None:
            at = found + 1
            yield items[found], other


def summarise(of, parts):
    every = [of, *parts]
    medians = [part["median"] for part in every]
    low, high = min(part["low"] for part in every), max(part["high"] for part in every)
    if len(medians) >= SURE:
        low, high = enclosing(medians)
    middle = statistics.median(medians)
    of.update(median=rounded(middle), low=low, high=high, processes=medians)
    if parts:
        of["mad"] = rounded(statistics.median(abs(median - middle) for median in medians))


def judge(ratio, margin):
    """To be sure, the interval must lie on one side of 1, farther away than the same code differed from itself."""
    sure, target = ratio["rounds"] >= SURE, ratio["target"]
    ratio["verdict"] = ("faster" if sure and ratio["low"] > 1 + margin else "slower" if sure and ratio["high"] < 1 - margin else "can't tell")
    if target is not None:
        ratio["target_verdict"] = "met" if ratio["low"] >= target else "missed" if ratio["high"] < target else "can't tell"


def finish_item(item, margin):
    parts = item.pop("parts", [])
    item["rounds"] += sum(part["rounds"] for part in parts)
    if item.get("relative"):
        summarise(item["relative"], [part["relative"] for part in parts if part["relative"]])
    summarise(item, parts)
    if "verdict" in item:
        judge(item, margin)


def finish(document):
    """Makes the result, in place."""
    noise = document["noise"]
    margin = abs(noise["median"] - 1) if noise["rounds"] else 0
    for results in document.pop("more", []):
        for entry, other in matched(document["results"], results, ("scenario", "group", "name")):
            for key, names in (("figures", ("name", "unit")), ("ratios", ("of", "against"))):
                for item, part in matched(entry[key], other[key], names):
                    item.setdefault("parts", []).append(part)
    for entry in document["results"]:
        for item in entry["figures"] + entry["ratios"]:
            finish_item(item, margin)
