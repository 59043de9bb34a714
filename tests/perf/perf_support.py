# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of abd-perf share: running it, a run that several look at, results whose conclusions are known."""
import csv
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PERF = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
FEW = ["--quick", "--repeat", "1", "--runtime", "0.02", "--warmup", "0", "--processes", "1"]  # as little as can be measured
SMALL = ["compare", "--record-size", "512", "--filter", "compare: 512$"]  # the smallest thing that can be measured
USAGE = 64
SLOWER = 2


def run(*arguments, **more):
    return subprocess.run([PERF, *arguments], stderr=subprocess.PIPE, text=True, **{"stdout": subprocess.PIPE, **more})


def write_input(path):
    with open(path, "w") as file:
        for number in range(60000):
            file.write(f"line {number} of a text that lz4 makes smaller, {number * number}\n")


def scenarios():
    return re.findall(r"^(\S+)", run("list").stdout, re.MULTILINE)


@functools.cache
def measured(*names):
    """One run of these scenarios over a small tree: (how it ended, its JSON, the rows of its CSV)."""
    with tempfile.TemporaryDirectory() as directory:
        tree, file, rows = (os.path.join(directory, name) for name in ("tree", "result.json", "result.csv"))
        for folder in ("a", "b", "a/c"):
            os.makedirs(os.path.join(tree, folder))
            write_input(os.path.join(tree, folder, "text"))
        for number in range(3600 if "names" in names else 0):  # of 1 to 24 bytes
            open(os.path.join(tree, f"{'x' * (number // 1200 * 8)}{number}"), "w").close()
        result = run("run", *names, *FEW, *(["--input", tree] if "arc-read" in names else []), "--json", file, "--csv", rows)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with open(file) as stream, open(rows, newline="") as table:
            return result, stream.read(), list(csv.DictReader(table))


# What takes longest: all scenarios in one run, for instance.
at_length = unittest.skipIf(os.environ.get("ABD_GATE_TIER") in ("change", "ci"), "left to tests/run --full")


@at_length
def whole_run():
    """All scenarios, last to first: no order of them is the right one."""
    made = measured(*reversed(scenarios()))
    with open(os.path.join(os.path.dirname(PERF), "whole-run.json"), "w") as file:  # the gate site makes its page of it
        file.write(made[1])
    return made


@functools.cache
def python_with(module):
    """The package's modules belong to the system's python3, which need not be the first in PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.input = self.path("input")
        write_input(self.input)

    def tearDown(self):
        self.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, document):
        """A result to read: as it is when text, else as JSON."""
        with open(self.path(name), "w") as stream:
            stream.write(document if isinstance(document, str) else json.dumps(document))
        return self.path(name)

    def refused(self, result, status, *words):
        self.assertEqual(result.returncode, status, result.stderr)
        said = [line for line in result.stderr.splitlines() if line.startswith("abd-perf") and " warning: " not in line]
        self.assertEqual(len(said), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


def around(median, spread, processes=3):
    """The medians of processes, as far apart as spread says."""
    return [median * (1 + spread * (i - (processes - 1) / 2) / processes) for i in range(processes)]


def figure(name, median, unit="GB/s", spread=0.01, rounds=9, relative=True, processes=3):
    value = {"name": name, "unit": unit, "median": median, "low": median * (1 - spread), "high": median * (1 + spread), "mad": 0,
             "rounds": rounds, "relative": None, "idle": None, "processes": around(median, spread, processes)}
    if relative and unit in ("GB/s", "1/s", "ns", "ms", "s"):  # a time, whatever the unit
        time = median if unit not in ("GB/s", "1/s") else 1 / median
        value["relative"] = {"median": time, "low": time * (1 - spread), "high": time * (1 + spread),
                             "processes": around(time, spread, processes)}
    return value


def ratio(of, against, median, verdict="faster", claim=None, published=None):
    return {"of": of, "against": against, "median": median, "low": median * 0.99, "high": median * 1.01, "mad": 0, "rounds": 9,
            "processes": around(median, 0.01), "verdict": verdict, "target": None, "target_verdict": None, "source": None,
            "claim": claim, "published": published}


def entry(scenario, group, name, parameters, figures=(), ratios=()):
    return {"scenario": scenario, "group": group, "name": name, "parameters": parameters,
            "figures": [figure(*values) for values in figures], "ratios": [ratio(*values) for values in ratios]}


def made_run(results):
    """A run that has these results, in the frame of a real one."""
    document = json.loads(measured(*SMALL)[1])
    document.update(results=results, warnings=[])
    document["noise"].update(median=1.001, low=0.99, high=1.01, rounds=9)
    return document


def made_results():
    """Results whose conclusions are known: no scenario is run for them."""
    results = []
    for size, clwb, best in ((64, 0.3, 0.8), (1024, 9.0, 1.0), (4096, 2.0, 1.25)):
        results.append(entry("flush", "size", "one copy, one fence",
                             {"destination": "linear", "state": "fresh", "size": size, "threads": 1, "batch": 1},
                             [("AUTO", 4.0), ("nt-avx2", 4.0), ("clwb", clwb), ("libpmem", 3.0)],
                             [("AUTO", "best", best), ("AUTO", "libpmem", 1.5)]))
    for size, value, there in ((512, 0.25, 0.75), (1024, 2.25, 1.07)):
        results.append(entry("flush", "log", "a log", {"destination": "linear", "state": "fresh", "size": size, "threads": 1, "batch": 1},
                             [("movnti", 4.0), ("clflushopt", 4.0 * value)],
                             [("clflushopt", "movnti", value, "faster" if value > 1 else "slower", "flush", there)]))
    for threads, value, there in ((1, 0.5, 1.23), (2, 0.96, 0.96)):
        results.append(entry("flush", "writers", "8 bytes after 8 bytes",
                             {"destination": "linear", "state": "fresh", "size": 8, "threads": threads, "batch": 512},
                             [("movnti by words", 2.0), ("clwb by words", 2.0 * value)],
                             [("clwb by words", "movnti by words", value, "slower", "flush", there)]))
    results.append(entry("flush", "drain", "16 copies", {"size": 64}, ratios=[("NODRAIN, one drain", "ordered", 11.5)]))
    for data, group, value in (("files", "hot", 2.0), ("fio", "hot", 0.5), ("files", "cold", 1.5), ("fio", "cold", 1.5)):
        results.append(entry("codec", group, f"{data} 8k, {group}", {"data": data, "record_size": 8192},
                             [("ours, runs of 4k", 2.0)],
                             [("ours, runs of 4k", "liblz4, linear", value), ("ours, runs of 4k", "liblz4, borrow", 3.0)]))
    results.append(entry("compare", "kernels", "abd_equal by kernel, 128k", {"size": 131072},
                         [("memcmp", 60.0), ("scalar", 4.0), ("word", 8.0), ("avx2", 40.0)]))
    results.append(entry("compare", "sizes", "128k", {"size": 131072}, [("abd_equal", 50.0)],
                         [("abd_equal", "memcmp", 0.95), ("abd_copy", "memcpy", 0.9)]))
    results.append(entry("compare", "memory", "linear memory", {}, [("memcpy", 12.0), ("triad", 10.0)]))
    for size, value in ((0, 1.5), (8, 0.9), (16, 1.125)):
        results.append(entry("compare", "keys", f"abd_key_equal, {size or '1 to 64'} bytes", {"size": size, "length": str(size)},
                             [("abd_key_equal", 8.0, "ns"), ("memcmp", 9.0, "ns")], [("abd_key_equal", "memcmp", value)]))
    for threads in (1, 2):
        results.append(entry("arc-cached-read", "cached", f"fio 8k, {threads} threads",
                             {"data": "fio", "record_size": 8192, "threads": threads},
                             [("cache", 3.0 * threads), ("single-chunk", 2.2 * threads), ("openzfs's way", 2.0 * threads)],
                             [("single-chunk", "openzfs's way", 1.1, "faster", "pr8580", 1.05), ("cache", "openzfs's way", 1.5),
                              ("lines first", "single-chunk", 1.02)]))
    for mode, instructions, copied, moved in (("openzfs's way", 5000.0, 2862.0, 16778.0), ("single-chunk", 4500.0, 0.0, 11054.0)):
        results.append(entry("arc-cached-read", "work", f"fio, {mode}, of a record", {"data": "fio", "mode": mode},
                             [("instructions", instructions, "instructions"), ("copied", copied, "bytes"), ("moved", moved, "bytes")]))
    for name, words, ours in (("aligned", 2.0, 10.0), ("unaligned", 1.0, 8.0)):
        results.append(entry("dedupe", "proof", name, {"data": "tree", "state": "cold", "set_bytes": 1 << 29},
                             [("byte loop", 2.0), ("word loop", 2.0 * words), ("abd_equal_off", 2.0 * ours)],
                             [("word loop", "byte loop", words, "faster", "dedupe", 1.316 if name == "aligned" else None),
                              ("abd_equal_off", "byte loop", ours)]))
    for name, size, value in (("any length", 15, 1.25), ("1 to 8 bytes", 6, 1.5), ("9 to 16 bytes", 12, 1.25)):
        results.append(entry("names", "lookup", name, {"bytes": size, "names": 100000},
                             [("abd_key_equal", 10.0 + size, "ns"), ("repe cmpsb", 20.0 + size, "ns")], [("abd_key_equal", "repe cmpsb", value)]))
    for name, value, there in (("a byte", 1.125, 1.25), ("a look-up of 4 bytes", 2.0, None)):
        results.append(entry("names", "line", name, {}, [("masked words", 8.0, "ns"), ("repe cmpsb", 8.0 * value, "ns")],
                             [("masked words", "repe cmpsb", value, "faster", there and "names", there)]))
    results.append(entry("statx", "call", "a file on tmpfs", {"state": "warm"},
                         [("fstat", 146.0, "ns"), ("statx", 157.0, "ns"), ("guarded stores", 40.0, "ns"), ("memset, one copy", 10.0, "ns")],
                         [("one copy, of the whole call", "guarded stores", 1.19, "faster", "statx", 3.52),
                          ("memset, one copy", "guarded stores", 4.0)]))
    results.append(entry("arc-cached-read", "latency", "fio, 1 thread, cache", {"data": "fio", "threads": 1, "mode": "cache"},
                         [("p50", 5000.0, "ns"), ("p90", 6000.0, "ns"), ("p99", 7000.0, "ns"), ("p99.9", 90000.0, "ns")]))
    for place in (0, 65536):
        results.append(entry("lz4", "place", f"128k of files, at {place >> 10}k",
                             {"data": "files", "record_size": 131072, "group_size": 16384, "place": place},
                             [("no index", 1000.0 + place, "ns"), ("indexed", 900.0, "ns"), ("indexed at 3", 800.0, "ns")]))
    for group in (4096, 16384):
        results.append(entry("lz4", "curve", f"128k of files, groups of {group >> 10}k",
                             {"data": "files", "record_size": 131072, "group_size": group, "plain_bytes": 50000.0, "indexed_bytes": 55000.0,
                              "deep_bytes": 49000.0}, [("indexed", 900.0, "ns"), ("indexed at 3", 800.0, "ns")],
                             [("indexed", "all", group / 2560)]))
    for time, capacity, resident in ((0.5, 100.0, 90.0), (1.0, 100.0, 104.0), (1.5, 25.0, 60.0), (2.0, 25.0, 28.0)):
        results.append(entry("arc-life", "moment", f"{time:.2f}", {"time": time},
                             [("capacity", capacity, "%"), ("resident", resident, "%")] + [("hits", 60.0, "%")] * (time > 1)))
    for step, used, resident in ((0, 64.0, 66.0), (1, 0.0, 33.0), (2, 0.0, 2.0)):
        results.append(entry("memory", "burst", f"burst, step {step}", {"step": step},
                             [("in use", used, "MiB"), ("regions", resident, "MiB"), ("plain glibc", used, "MiB")]))
    return results
