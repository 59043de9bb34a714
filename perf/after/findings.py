# SPDX-License-Identifier: BSD-2-Clause
"""What matters, in words: the findings at the top of the page.

A sentence says "worth it" only if the interval of the ratio lies on one side of 1 (the ratio's verdict); else "can't tell".
"""
from claims import percent, verdict
from model import figure_of, first_ratio, geometric_mean, interval, median_of, medians_of, select, spread

RULE = [("arc-cached-read", "cached", {"data": "fio", "record_size": 8192, "threads": 1}, "single-chunk", "openzfs's way"),
        ("arc-cached-read", "cached", {"record_size": 8192, "threads": 1}, "single-chunk", "openzfs's way"),
        ("arc-read", "hot", {"data": "fio", "record_size": 8192, "threads": 1}, "single, rule on", "single, rule off"),
        ("arc-read", "hot", {"threads": 1}, "single, rule on", "single, rule off")]
DECODER = [("codec", "ours, runs of 4k", "liblz4, borrow"), ("arc-read", "own decoder", "multi")]


def faster(ratio):
    """5.0 % faster for 1.05."""
    return f"{percent(ratio)[1:]} {'faster' if ratio >= 1 else 'slower'}"


# What nobody could use instead: a limit of the machine, the best choice in hindsight, the same on less, what another machine did.
LIMITS = {"limit", "ruler", "bare decode", "a line", "best", "best loop, compare", "best loop, copy", "best loop, zero", "one thread", "ordered",
          "shift 0", "to the start", "10 children", "of 10", "2 chunks", "OpenZFS"}
# What is not the library's: ways of the sources, and of the system.
THEIRS = {"word loop", "masked words", "clflushopt", "clwb by words", "statx", "memset, one copy", "initialiser, one copy", "lines first"}


def losses(document):
    """Two lists of [(ratio, its entry)] of what is surely below 1, the worst first: slower than what one would use instead, and below a limit."""
    found = [(ratio, entry) for entry in document["results"] for ratio in entry["ratios"] if ratio["verdict"] == "slower"]
    found = [pair for pair in found if pair[0]["of"] not in THEIRS]
    found.sort(key=lambda pair: pair[0]["median"])
    return [[pair for pair in found if (pair[0]["against"] in LIMITS) == limit] for limit in (False, True)]


def by_kernel(document):
    """What a byte loop, a word loop and the best kernel of ours compare of 128k in runs, GB/s; None if they were not measured."""
    for entry in select(document, "compare", "kernels", size=131072):
        loop, word = figure_of(entry, "scalar"), figure_of(entry, "word")
        best = max((figure for figure in entry["figures"] if figure["name"] not in ("memcmp", "libc")), default=None,
                   key=lambda figure: figure["median"])
        if median_of(loop) and median_of(word) and best:
            return loop, word, best
    return None


# ---- the findings at the top of the page -------------------------------------------------------------------------------------

def finding_rule(document):
    ratio, entry = first_ratio(document, RULE)
    if ratio is None:
        return None
    text = (f"The single-chunk rule: reading cached 8k records is {faster(ratio['median'])} with it "
            f"[{percent(ratio['low'])}, {percent(ratio['high'])}] ({entry['name']})")
    every = [value for scenario, of, against in (("arc-cached-read", "single-chunk", "openzfs's way"),
                                                 ("arc-read", "single, rule on", "single, rule off"))
             for value in medians_of(select(document, scenario), of, against)]
    return (text + "; " + verdict(ratio, "leave it on", "it does not pay here")
            + f". In all {len(every)} cells: {spread(every, '.3f')} times the speed, {sum(value < 1 for value in every)} of them below 1"
            + "".join(f"; large records of the same data, {group}: {interval(of)} ({cell['name']})" for group in ("hot", "cold")
                      for of, cell in [first_ratio(document, [("arc-read", group, {"data": "fio", "record_size": 131072, "threads": 1},
                                                               "single, rule on", "single, rule off")])] if of)
            + ("" if select(document, "arc-read", "cold") else "; cold sets were not measured") + ".")


def finding_decoder(document):
    for scenario, of, against in DECODER:
        values = medians_of(select(document, scenario), of, against)
        if values:
            mean = geometric_mean(values)
            return (f"The scatter decoder: lz4 decoded where it lies has {mean:.2f} times the speed of copying it together for liblz4 "
                    f"(geometric mean of {len(values)} sets, {spread(values)}); "
                    + ("decode in place." if mean > 1 else "borrow, and decode by liblz4."))
    return None


def finding_cached(document):
    ratio, entry = first_ratio(document, [("arc-cached-read", "cached", {"data": data, "threads": 1}, "cache", "openzfs's way")
                                          for data in ("fio", "files")])
    if ratio is None:
        return None
    return (f"The cache: abd_arc_read() has {interval(ratio)} times the speed of look-up, borrow, liblz4 and return "
            f"({entry['name']}).")


def finding_compare(document):
    found = by_kernel(document)
    if found is None:
        return None
    return (f"Comparing 128k of scattered bytes: {found[2]['name']} has {found[2]['median'] / found[0]['median']:.1f} times the speed of a "
            "byte loop; call abd_equal() and let it choose.")


def finding_flush(document):
    values = medians_of(select(document, "flush"), "AUTO", "best")
    if not values:
        return None
    return (f"Durable copies: the library's own choice (AUTO) reaches {geometric_mean(values):.2f} of the best fixed way "
            f"in the geometric mean of {len(values)} cases, at worst {min(values):.2f}; "
            + ("leave it." if min(values) > 0.9 else "where the worst matters, calibrate (abd_flush_calibrate())."))


FINDINGS = (finding_rule, finding_decoder, finding_cached, finding_flush, finding_compare)


def findings(document):
    """The first three findings that were measured; FINDINGS is in order of importance."""
    return [text for text in (finding(document) for finding in FINDINGS) if text][:3]
