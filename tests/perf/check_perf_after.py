#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What comes after a run: abd-perf compare, report and tables, over results whose conclusions are known, and over hostile ones.
# usage: check_perf_after.py ABD_PERF SOURCE_DIRECTORY [TEST...]
import contextlib
import copy
import csv
import html.parser
import io
import json
import math
import os
import random
import re
import stat
import statistics
import subprocess
import sys
import tempfile
import unittest

from perf_support import (SLOWER, SMALL, SOURCE, USAGE, Case, entry, figure, made_results, made_run, measured, python_with, ratio, run)

sys.path.insert(0, os.path.join(SOURCE, "perf", "after"))
import bmf  # noqa: E402
import columns  # noqa: E402
import compare  # noqa: E402
import counts  # noqa: E402
import model  # noqa: E402
import rows  # noqa: E402

UNREADABLE = ("", "{", "{}", "[]", "[" * 100000, "\\ud800", '{"format": "abd-perf-1"}', '{"format": "abd-perf-2", "results": []}')


def pair_of(before, after, unit="GB/s", **more):
    """Two runs with one figure each."""
    return [made_run([{**entry("buffer", "cost", "a case", {}), "figures": [figure("ours", value, unit, **more)]}])
            for value in (before, after)]


class Compare(Case):
    def compare(self, a, b, *arguments):
        return run("compare", self.write("a.json", a), self.write("b.json", b), *arguments)

    def said(self, a, b, *arguments):
        result = self.compare(a, b, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_run_against_itself_says_nothing_changed(self):
        for document in (json.loads(measured(*SMALL)[1]), made_run(made_results())):
            result = self.compare(document, document, "--fail-if-slower", "0%")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Nothing changed", result.stdout)

    def test_ten_percent_are_found_either_way_round(self):
        for unit, before, after, verdict in (("GB/s", 10, 9, "slower"), ("GB/s", 9, 10, "faster"), ("ns", 10, 9, "faster"),
                                             ("ns", 9, 10, "slower"), ("s", 9, 10, "slower"), ("bytes", 500, 600, "larger"),
                                             ("%", 90, 50, "smaller"),
                                             ("1/s", 9, 10, "faster")):
            with self.subTest(unit=unit, before=before):
                self.assertRegex(self.said(*pair_of(before, after, unit)), rf"a case +ours .*{unit} .*{verdict}\n")

    def test_what_intervals_or_rounds_do_not_support_is_not_told(self):
        for more, after in (({"spread": 0.3}, 9), ({"processes": 1}, 9), ({}, 9.95)):
            with self.subTest(more=more):
                self.assertIn("Nothing changed", self.said(*pair_of(10, after, **more)))

    def rows(self, chance, slower=1.0, processes=6, spread=None):
        """A run of 40 rows; each has a spread between its processes, of 0.3 to 6 %, and none within them: low = high = median."""
        results = []
        for row in range(40):
            middle = 10 * (slower if row == 7 else 1)
            each = [middle * math.exp(chance.gauss(0, spread or 0.003 * 20 ** (row / 39))) for _ in range(processes)]
            value = {**figure("ours", statistics.median(each), spread=0, relative=False), "processes": each}
            results.append({**entry("buffer", "cost", f"row {row}", {}), "figures": [value]})
        return model.load(self.write("rows.json", made_run(results)))

    def test_the_spread_between_processes_decides_not_that_within_one(self):
        chance, wrong, found = random.Random(24), 0, 0
        for _ in range(20):
            wrong += len(compare.changed(compare.compare(self.rows(chance), self.rows(chance))))
            sure = compare.changed(compare.compare(self.rows(chance), self.rows(chance, 0.95)))
            found += "row 7" in [pair["name"] for pair in sure]
        self.assertLessEqual(wrong, 20 * 40 * 0.02)
        self.assertGreaterEqual(found, 19)

    def test_more_processes_find_less(self):
        # Processes differ as those of a Zen 4 did in ratios of abd_equal() by memcmp(); so much slower it was with every 20th and 50th call twice.
        chance, spread = random.Random(24), 0.014
        for slower, processes, least in ((0.955, 12, 19), (0.979, 48, 10)):
            found = 0
            for _ in range(20):
                sure = compare.changed(compare.compare(*(self.rows(chance, of, processes, spread) for of in (1.0, slower))))
                found += "row 7" in [pair["name"] for pair in sure]
            self.assertGreaterEqual(found, least, (slower, processes))

    def test_tails_are_those_of_the_tables(self):
        for t, freedom, share in ((12.706, 1, 0.025), (4.303, 2, 0.025), (2.776, 4, 0.025), (3.365, 5, 0.01), (1.860, 8, 0.05), (0, 7, 0.5)):
            self.assertAlmostEqual(compare.tail(t, freedom), share, delta=0.0001)

    def test_another_clock_is_no_change_of_speed(self):
        before, after = pair_of(10, 12)
        same = before["results"][0]["figures"][0]["relative"]
        after["results"][0]["figures"][0]["relative"] = same
        self.assertIn("Nothing changed", self.said(before, after))

    def test_exit_status_is_for_what_surely_became_slower_than_allowed(self):
        slower, faster = pair_of(10, 9), pair_of(9, 10)
        self.assertEqual(self.compare(*slower, "--fail-if-slower", "5%").returncode, SLOWER)
        self.assertEqual(self.compare(*slower, "--fail-if-slower", "15%").returncode, 0)
        self.assertEqual(self.compare(*slower).returncode, 0)
        self.assertEqual(self.compare(*faster, "--fail-if-slower", "5%").returncode, 0)
        self.assertEqual(self.compare(*pair_of(10, 9, spread=0.3), "--fail-if-slower", "5%").returncode, 0)

    def test_the_surest_and_largest_change_comes_first(self):
        values = (("a little", 0.95), ("most", 0.5), ("better", 1.4), ("much", 0.8))
        before = made_run([entry("buffer", "cost", name, {}, [("ours", 10.0)]) for name, _ in values])
        after = made_run([entry("buffer", "cost", name, {}, [("ours", 10.0 * value)]) for name, value in values])
        shown = re.findall(r"buffer: (.*?)  ", self.said(before, after))
        self.assertEqual(shown, ["most", "better", "much", "a little"])

    def test_conditions_tell_results_of_one_name_apart(self):
        before, after = made_run(made_results()), made_run(list(reversed(made_results())))
        self.assertIn("Nothing changed", self.said(before, after))
        for result in after["results"]:
            if result["group"] == "size" and result["parameters"].get("size") == 1024:
                result["figures"] = [figure("clwb", 4.5)]
        said = self.said(before, after)
        self.assertRegex(said, r"one copy, one fence \(size 1024, .*\) +clwb .* slower")
        self.assertIn("Only in A: 4; only in B: 0", said)

    def test_ratios_of_two_measured_figures_take_part(self):
        def document(value, against):
            return made_run([{**entry("compare", "sizes", "4k", {}, [("abd_cmp", 1.0), ("memcmp", 1.0)]),
                              "ratios": [ratio("abd_cmp", against, value)]}])
        self.assertRegex(self.said(document(1.0, "memcmp"), document(0.8, "memcmp")), r"abd_cmp / memcmp .*slower")
        # Against what was published the figure itself says it.
        self.assertIn("Nothing changed", self.said(document(1.0, "OpenZFS"), document(0.8, "OpenZFS")))

    def test_a_filter_chooses(self):
        before, after = pair_of(10, 5)
        self.assertIn("no benchmark in common", self.said(before, after, "--filter", "nothing"))
        self.assertIn("slower", self.said(before, after, "--filter", "^buffer: A CASE, ours$"))

    def test_what_differs_between_machines_is_told(self):
        before, after = pair_of(10, 10)
        after["environment"]["compiler"] = "another"
        after["environment"]["time"] = "later"
        said = self.said(before, after)
        self.assertRegex(said, 'compiler .*then "another"')
        self.assertNotIn("later", said)

    def test_wrong_flags_and_unreadable_input_are_refused(self):
        file = self.write("good.json", made_run([]))
        for share in ("5", "x%", "-1%", "100%", "nan%", ""):
            with self.subTest(share=share):
                self.refused(run("compare", file, file, "--fail-if-slower", share), USAGE, "--fail-if-slower:")
        self.refused(run("compare", file, file, file), USAGE, "two")
        self.refused(run("compare", file, file, "--filter", "("), USAGE, "--filter")
        for text in UNREADABLE:
            with self.subTest(text=text):
                self.refused(run("compare", file, self.write("bad.json", text)), 1, "bad.json")
        self.refused(run("compare", file, self.path("missing.json")), 1, "missing.json")
        whole = json.dumps(made_run(made_results()))
        for words, part in ((["compare", file], 10), (["tables"], len(whole) // 2), (["report", "-o", self.path("page.html")], len(whole) - 1)):
            self.refused(run(*words, self.write("cut.json", whole[:part])), 1, "cut.json")
        self.refused(run("compare", file, file, "--json", "/dev/full"), 1, "No space left")
        self.refused(run("compare", file, file, "--json", ""), 1, "--json")
        self.refused(run("compare", file, file, "--json", self.path("no/such/file")), 1, "--json")

    def test_damaged_values_are_left_out_not_followed(self):
        before, after = pair_of(10, 10)
        for value in (None, "x", -1, 0):
            after["results"][0]["figures"][0].update(median=value, low=value)
            self.assertIn("no benchmark in common", self.said(before, after))
        after["results"] = [None, 1, {}, {"figures": 1}]
        self.assertIn("no benchmark in common", self.said(before, after))


class Baseline(Case):
    def baseline(self, action, document, *arguments, name="main"):
        return run("baseline", action, name, self.write("result.json", document), "--dir", self.path("kept"), *arguments)

    def test_a_change_is_a_line_and_an_exit_status(self):
        before, after = pair_of(10, 9)
        self.assertEqual(self.baseline("save", before).returncode, 0)
        self.assertEqual(len(os.listdir(self.path("kept"))), 1)
        same, slower, allowed = (self.baseline("check", *words) for words in ((before,), (after,), (after, "--fail-if-slower", "15%")))
        self.assertEqual([same.returncode, slower.returncode, allowed.returncode], [0, SLOWER, 0])
        self.assertEqual(len(same.stdout.splitlines()), 1)
        self.assertIn("Nothing changed", same.stdout)
        for result in (slower, allowed):
            self.assertEqual(len(result.stdout.splitlines()), 2)
            self.assertRegex(result.stdout, r"^slower: buffer: a case, ours: 10 to 9 GB/s, 0\.900 \[")
        self.assertEqual(self.baseline("check", pair_of(10, 11)[1]).returncode, 0)

    def test_another_machine_is_told_and_not_compared(self):
        here, there = pair_of(10, 9)
        there["environment"]["cpu"] = "another"
        self.assertEqual(self.baseline("save", here).returncode, 0)
        result = self.baseline("check", there)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertIn('"another" here', result.stdout)
        # Each has its own.
        self.assertEqual(self.baseline("save", there).returncode, 0)
        self.assertEqual([self.baseline("check", document).returncode for document in (here, there)], [0, 0])
        # What may change on one machine is compared and told.
        here["environment"]["compiler"] = "a later one"
        here["results"] = pair_of(10, 5)[1]["results"]
        result = self.baseline("check", here)
        self.assertEqual(result.returncode, SLOWER)
        self.assertIn('then "a later one"', result.stdout)

    def test_what_can_not_be_a_baseline_is_refused(self):
        good = pair_of(10, 10)[0]
        self.refused(self.baseline("check", good), 1, "no baseline main")
        for document, word in (({**good, "complete": False}, "ended early"), ({**good, "results": []}, "no results"), ("{", "result.json")):
            self.refused(self.baseline("save", document), 1, word)
        for name in ("../main", "", ".", "a/b"):
            self.refused(self.baseline("save", good, name=name), USAGE, "no name")
        self.refused(run("baseline", "save", "main", self.write("result.json", good), "--dir", "/dev/null/x"), 1, "--dir")
        self.assertFalse(os.path.exists(self.path("kept")))
        self.assertEqual(self.baseline("save", good).returncode, 0)
        kept = os.path.join(self.path("kept"), os.listdir(self.path("kept"))[0])
        with open(kept, "r+") as stream:
            stream.truncate(1000)
        self.refused(self.baseline("check", good), 1, kept)

    def test_a_trend_is_a_line_for_each_change_of_each_machine(self):
        folder = self.path("results")
        os.mkdir(folder)
        for day, value, cpu in ((1, 10, "a"), (2, 10.01, "a"), (3, 9, "a"), (4, 9.02, "a"), (5, 5, "b"), (6, 10, "a")):
            document = pair_of(value, value)[0]
            document["environment"].update(cpu=cpu, time=f"2026-01-0{day}")
            self.write(f"results/{9 - day}.json", document)
        self.write("results/bad.json", "{")
        lines = run("trend", folder).stdout.splitlines()
        self.assertEqual(len(lines), 5, lines)
        self.assertIn("left out: ", lines[0])
        self.assertRegex(lines[1], "^a, .*: 5 results$")
        self.assertRegex(lines[2], r"^2026-01-03 6\.json: slower: buffer: a case, ours: 10 to 9 ")
        self.assertRegex(lines[3], r"^2026-01-06 3\.json: faster: ")
        self.assertRegex(lines[4], "^b, .*: 1 result$")
        self.refused(run("trend", self.path("nothing")), 1, "no results")


class Finish(Case):
    """What several processes measured becomes one result (perf/after/finish.py)."""

    def finished(self, medians):
        def measured(median):
            return made_run([entry("new", "group", "case", {}, [("a", 2.0 * median, "ns", 0.01, 2)], [("a", "b", median)])])

        def tell(document):
            for value in document["results"][0]["figures"] + document["results"][0]["ratios"]:
                value.pop("processes")
            return document

        document, *others = [tell(measured(median)) for median in medians]
        document["more"] = [other["results"] for other in others]
        file = self.path("finished.json")
        done = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "perf", "after"), "finish", "--json", file], input=json.dumps(document),
                              stdout=subprocess.DEVNULL, text=True)
        self.assertEqual(done.returncode, 0)
        with open(file) as stream:
            made, = json.load(stream)["results"]
        return made["figures"][0], made["ratios"][0]

    def test_few_processes_have_an_interval_that_holds_all_of_theirs(self):
        figure, ratio = self.finished([1.2, 1.0, 1.1])
        self.assertEqual((figure["median"], figure["rounds"], figure["processes"]), (2.2, 6, [2.4, 2.0, 2.2]))
        self.assertAlmostEqual(figure["low"], 1.98)
        self.assertAlmostEqual(figure["high"], 2.424)
        self.assertAlmostEqual(figure["mad"], 0.2, msg="the spread between processes")
        self.assertEqual(ratio["verdict"], "can't tell")
        self.assertEqual(self.finished([1.2, 1.3, 1.1])[1]["verdict"], "faster")

    def test_of_nine_processes_the_second_and_the_eighth_enclose_the_median(self):
        figure, _ = self.finished([1 + i * 4 % 9 / 10 for i in range(9)])
        self.assertEqual((figure["low"], figure["median"], figure["high"]), (2.2, 2.8, 3.4))


class Tables(Case):
    """`abd-perf tables`, and the rows that it keeps (docs/figures has some)."""

    def test_rows_have_the_tables_of_the_result_and_say_where_they_are_from(self):
        document, kept = made_run(made_results()), self.path("kept.csv")
        document["options"].update(mode="full", filter="a b", rounds=15, seed=1234)
        document["environment"].update(cpu="a CPU", cpus_used="2 of 2: 0,1", compare_kernel="avx2 (zen4, measured)", time="2026-11-25T19:51:24Z",
                                       git_revision="07a8fdfa0cdd", busy_during="3 % of the CPUs used by other processes")
        document["results"][0]["ratios"][0].update(target=0.95, target_verdict="missed")
        document["results"][1]["parameters"].update(origin="16 MiB; of a=b files", record_size=1234567890123)
        said = run("tables", self.write("result.json", document), "--csv", kept)
        again = run("tables", kept, "--csv", self.path("again.csv"))
        self.assertEqual((said.returncode, again.returncode), (0, 0), said.stderr + again.stderr)
        self.assertIn("0.95: missed", said.stdout)
        self.assertEqual(said.stdout, again.stdout)
        with open(kept) as first, open(self.path("again.csv")) as second:
            self.assertEqual(first.read(), second.read())
        with open(kept, newline="") as file:
            row = next(csv.DictReader(file))
        self.assertEqual([row[name] for name in ("machine", "date", "commit", "busy")], [
            "a CPU (zen4), CPUs 2 of 2: 0,1", "2026-11-25", "07a8fdfa0cdd", "3 % of the CPUs used by other processes"])
        self.assertRegex(row["command"], "^abd-perf run flush codec .* --full --repeat 15 --seed 1234 --filter 'a b' --processes 3$")

    def test_bencher_gets_every_figure_with_its_interval_in_its_units(self):
        document, file = made_run(made_results()), self.path("result.bmf")
        document["results"].append(document["results"][0])  # measured twice
        result = run("tables", self.write("result.json", document), "--bmf", file)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            found = json.load(stream)
        self.assertEqual(sum(map(len, found.values())), sum(len(each["figures"]) + len(each["ratios"]) for each in document["results"]))
        row = "flush: one copy, one fence (size 64, destination linear, state fresh, batch 1, threads 1)"
        for name, measure, median in ((f"{row}, AUTO", "throughput", 4e9), (f"{row}, AUTO, 2", "throughput", 4e9), (f"{row}, AUTO / libpmem", "ratio", 1.5),
                                      ("arc-cached-read: fio, 1 thread, cache (data fio, threads 1, mode cache), p50", "latency", 5000),
                                      ("memory: burst, step 0, in use", "memory", 64 << 20), ("arc-life: 0.50, capacity", "percent", 100)):
            with self.subTest(name=name):
                for bound, factor in (("value", 1), ("lower_value", 0.99), ("upper_value", 1.01)):
                    self.assertAlmostEqual(found[name][measure][bound], median * factor, delta=1e-9 * median)

    def test_rows_that_are_none_are_refused(self):
        text = rows.csv_text(model.sound(made_run(made_results())))
        lines = text.splitlines()
        for damaged in (lines[0] + ",more\n" + lines[1], lines[0] + "\n" + lines[1].rpartition(",")[0], text + '"', text + "\na,b"):
            self.refused(run("tables", self.write("rows.csv", damaged)), 1, "rows.csv", "line ")


class Count(Case):
    """`abd-perf count` beside kept counts; the gate count does the counting."""

    KEPT = {("sse2", "miss"): [100.0, 0.0, 64.0], ("avx2", "equal, 64"): [200.0, 1.0, 0.0]}

    def compared(self, **other):
        now = {key: [*row] for key, row in self.KEPT.items()}
        now.update({("avx2", "equal, 64"): [*other["row"]]} if "row" in other else {})
        now.update(other.get("more", {}))
        return run("count", self.write("kept.csv", counts.text_of(self.KEPT)), self.write("now.csv", counts.text_of(now)))

    def test_more_than_one_percent_more_is_red_and_named(self):
        for row, status, words in (([202.0, 1.0, 0.0], 0, ""), ([202.1, 1.0, 0.0], 2, "avx2 equal, 64: instructions 200, now 202.1: RED"),
                                   ([150.0, 1.0, 0.0], 0, "avx2 equal, 64: instructions 200, now 150"),
                                   ([200.0, 2.0, 0.0], 2, "avx2 equal, 64: allocations 1, now 2: RED"),
                                   ([200.0, 1.0, 8.0], 2, "avx2 equal, 64: moved 0, now 8: RED")):
            with self.subTest(row=row):
                result = self.compared(row=row)
                self.assertEqual(result.returncode, status, result.stdout)
                self.assertEqual(result.stdout.splitlines()[:-1], [words] if words else [])

    def test_an_operation_that_only_one_has_is_red(self):
        result = self.compared(more={("sse2", "new"): [1.0, 0.0, 0.0]})
        self.assertEqual((result.returncode, result.stdout.splitlines()[0]), (2, "sse2 new: not kept: RED"))
        result = run("count", self.path("now.csv"), self.path("kept.csv"))
        self.assertEqual((result.returncode, result.stdout.splitlines()[0]), (2, "sse2 new: not counted: RED"))

    def test_what_is_no_file_of_counts_is_refused(self):
        for text in ("", "a,b\n", counts.text_of(self.KEPT) + "sse2,x,1,2\n", counts.text_of(self.KEPT) + "sse2,x,1,2,y\n"):
            self.refused(run("count", self.write("kept.csv", text)), 1, "kept.csv", "its lines are not")
        self.refused(run("count", self.path("missing")), 1, "missing", "No such file")
        self.refused(run("count", "--record"), USAGE, "--record")


@unittest.skipIf(python_with("matplotlib") is None, "matplotlib is not there")
class Report(Case):
    drawn = None

    def pages(self, *results, kinds=("wide",)):
        """The pages of these results, made in this process, and each drawing in one kind alone: both kinds come from the same function."""
        import chart
        import page
        drawn, chart.svg = chart.svg, lambda draw, title, kind, height: drawn(draw, title, kind, height) if kind in kinds else ""
        try:
            runs = [model.load(self.write("run.json", part if isinstance(part, dict) else made_run(part))) for part in results]
            return [page.report(run, compare.compare(run, {**run, "results": run["results"][::-1]})) for run in runs]
        finally:
            chart.svg = drawn

    def page(self, *runs):
        """The page of a run or two by the command, and what it prints."""
        files = [self.write(f"run{i}.json", document) for i, document in enumerate(runs)]
        result = run("report", *files, "-o", self.path("report.html"), env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("report.html")) as stream:
            return stream.read(), result.stdout

    def made(self):
        """The page of the made results, drawn once."""
        if not Report.drawn:
            Report.drawn = self.page(made_run(made_results()))
        return Report.drawn

    def test_conclusions_follow_from_the_data(self):
        text, _ = self.made()
        for words in ("AUTO reaches 1.000 of the best fixed policy's speed in the geometric mean of 3 cases, and at least 0.800",
                      "are the fastest at 1k (one thread, linear, 3 sizes)", "libpmem with a drain per run: 1.500",
                      "11.5 times the speed at 64",
                      "Hot, 1.000 times the speed in the geometric mean of 2 sets; the worst 0.500 (fio 8k, hot), 1 below 1",
                      "Cold, 1.500 times the speed in the geometric mean of 2 sets; the worst 1.500 (files 8k, cold), none",
                      "At a place at random 4 KiB come 6.4 times as fast as all", "the sizes of groups",
                      "abd_key_equal against a call of memcmp: 1.01 times the speed",
                      "2 threads read 2.00 times what one does (fio)",
                      "half take 5 us or less, one in a thousand more than 90",
                      "At most 1.12 times the capacity is resident",
                      "MiB after a reap: in use 0, regions 2, plain glibc 0",
                      "Linear memory beyond the caches gives memcpy 12, triad 10 GB/s of one side", "By size, abd_equal: 128k 0.95; abd_copy"):
            with self.subTest(words=words):
                self.assertIn(words, text)
        # Dedupe, names, two of flush's source, statx, the cache, latency, two of codec, two of lz4, flush, keys, two of a cache's life, memory; each for wide and
        # narrow.
        self.assertEqual([text.count(f'<svg class="{kind}"') for kind in ("wide", "narrow")], [17, 17])

    def test_the_headline_is_what_matters(self):
        text, said = self.made()
        for words in ("reading cached 8k records is 10 % faster with it", "has 3.00 times the speed of copying it together",
                      "abd_arc_read() has 1.50 [1.4"):
            with self.subTest(words=words):
                self.assertIn(words, text[text.index("<h1>"):text.index("<h2>")])
                self.assertIn(words, said)
        last = said.splitlines()[-4:]
        self.assertRegex(last[0], "^The report is /.*/report.html$")
        self.assertEqual([line[:3] for line in last[1:]], ["1. ", "2. ", "3. "])

    def test_every_loss_stands_before_the_praise(self):
        results = made_results()
        results.append(entry("arc-read", "cold", "fio 128k, cold", {"data": "fio", "record_size": 131072, "threads": 1}, [],
                             [("single, rule on", "single, rule off", 0.77, "slower")]))
        results += [entry("buffer", group, "one name", {}, [], [("ours", "limit", 0.55, "slower")]) for group in ("cost", "grown")]
        text = self.pages(results)[0]
        losses = text[text.index("<h2>What is slower with it"):text.index("<h2>Claims of others")]
        losses, _, limits = losses.partition("<details>")
        self.assertIn("1 of ", losses)
        self.assertIn("2 below a limit", limits)
        self.assertIn("buffer: one name (grown)", limits)
        self.assertNotIn("0.550", losses)
        self.assertIn("arc-read: fio 128k, cold", losses)
        self.assertIn(">0.770<", losses)
        # The headline says how the cell it stands for compares with the others.
        self.assertRegex(text, "In all 3 cells: 0.770 to 1.100 times the speed, 1 of them below 1")
        self.assertIn(r"; large records of the same data, cold: 0.77 [0.76, 0.78] (fio 128k, cold).", text)

    def test_what_was_wrong_is_red_and_has_no_figures_anywhere(self):
        results = made_results()
        results[0].update(wrong=True)
        text = self.pages(results)[0]
        self.assertIn("<section class=slower><h2>What is wrong</h2>", text)
        self.assertIn("<li>flush: one copy, one fence</li>", text[:text.index("class=headline")])
        self.assertEqual(len(self.pages(made_results())[0].split("What is wrong")), 1)

    def test_a_loss_is_drawn_apart_from_a_tie_and_axes_start_at_zero(self):
        def page(verdict):
            return self.pages([entry("codec", "hot", "fio 8k, hot", {"data": "fio", "record_size": 8192}, [("ours, runs of 4k", 2.0)],
                                     [("ours, runs of 4k", "liblz4, linear", 0.9, verdict)])])[0]

        def styled(text):
            rules = dict(re.findall(r"^\.(s\d+) \{(.*)\}$", text, re.MULTILINE))
            return re.sub(r"class=(s\d+)", lambda found: rules[found[1]], text)

        kinds = [styled(page(verdict)) for verdict in ("slower", "can't tell", "faster")]
        drawn = [re.findall(r"<svg.*?</svg>", text, re.DOTALL)[0] for text in kinds]
        self.assertEqual([drawing.count("var(--bad)") > 0 for drawing in drawn], [True, False, False])
        self.assertEqual([drawing.count("fill: var(--page)") > 0 for drawing in drawn], [True, True, False])
        for drawing in drawn:
            self.assertIn(">0.0</text>", drawing)

    def test_a_drawing_is_short(self):
        for drawing in re.findall(r"<svg.*?</svg>", self.made()[0], re.DOTALL):
            self.assertLess(len(drawing), 12000)

    def test_figures_in_drawings_are_not_cut(self):
        text = self.pages([entry("arc-cached-read", "cached", "fio 8k, 1 thread", {"data": "fio", "record_size": 8192, "threads": 1},
                                 [("cache", 1.239), ("scatter", 0.456)], [("cache", "scatter", 2.717)]),
                           entry("arc-cached-read", "latency", "fio, 1 thread, cache", {"data": "fio", "threads": 1, "mode": "cache"},
                                 [("p50", 5000.0, "ns"), ("p99.9", 9000000.0, "ns")])])[0]
        for words in (">1.24<", ">0.456<", ">10<", ">1000<", "more than 9,000"):
            self.assertIn(words, text)
        self.assertNotIn("mathdefault", text)

    def test_all_claims_stand_beside_what_was_measured(self):
        text, said = self.made()
        for words in ("+5 % of ARC-cached 8k reads", "-25 % sys time", "rep cmpsb is slow to start", "on Optane: 512 0.75, 1k 1.07", "fstat 1.46 s",
                      "fio 8k, 1 threads: +10 % [+8.9 %, +11 %], more than published",
                      "it saves 500 of 5,000 instructions and 5,724 of 16,778 bytes read and written for a record",
                      "-50 % time by words [-50 %, -49 %], more than published; -90 % by abd_equal_off", "that are not aligned +0.0 %; the set is cold",
                      "1.12 [1.11, 1.14] times the speed of repe cmpsb, less than published; a look-up of 4 bytes 2.00 [1.98, 2.02] times",
                      "512 0.25 [0.25, 0.25], 1k 2.25 [2.23, 2.27]; 8 bytes after 8 bytes: 1 thread 0.50 [0.49, 0.51], 2 threads 0.96",
                      "it depends on size and writers",
                      "fstat 1.46 s, statx 1.57 s; guarded stores in place of the copy would take 1.19 [1.18, 1.20] times as long, less than published"):
            with self.subTest(words=words):
                self.assertIn(words, text)
                self.assertIn(words, said)
        self.assertEqual(text.count("<div class=claim>"), 5)
        self.assertNotIn("Claims of others", self.pages([])[0])

    def test_a_claim_is_as_published_only_by_its_interval(self):
        for median, verdict, words in ((1.05, "faster", "as published"), (1.2, "faster", "more than published"), (1.01, "can't tell", "less than"),
                                       (1.05, "can't tell", "can&#x27;t tell")):
            with self.subTest(median=median, verdict=verdict):
                page = self.pages([entry("arc-cached-read", "cached", "fio 8k, 1 thread", {"data": "fio", "record_size": 8192, "threads": 1},
                                         [("single-chunk", 2.2)], [("single-chunk", "openzfs's way", median, verdict, "pr8580", 1.05)])])[0]
                self.assertRegex(page, rf"fio 8k, 1 thread: [^<;]*\], {words}")

    def test_what_is_a_source_s_is_no_loss_of_the_library(self):
        text = self.made()[0]
        self.assertNotIn("clwb by words / movnti by words", text.partition("Claims of others")[0])

    def test_what_the_interval_does_not_support_is_not_recommended(self):
        results = made_results()
        for result in results:
            for value in result["ratios"]:
                value["verdict"] = "can't tell"
        text = self.pages([part for part in results if part["scenario"] == "arc-cached-read"])[0]
        self.assertIn("can&#x27;t tell", text)
        self.assertNotIn("leave it on", text)
        self.assertNotIn("treat single-run buffers as linear", text)

    def test_renders_with_any_result_missing(self):
        results = made_results()
        parts = [[part for part in results if part["scenario"] == name]
                 for name in ("compare", "codec", "flush", "arc-cached-read", "arc-life", "memory", "dedupe", "names", "statx")]
        for damage in ("ratios", "figures", "parameters"):
            results = copy.deepcopy(results)
            for part in results:
                part[damage] = {} if damage == "parameters" else []
            parts.append(results)
        pages = self.pages([], *parts)
        self.assertNotIn("to make a copy durable?</h2>", pages[1])
        self.assertIn("to make a copy durable?</h2>", pages[3])

    def test_is_one_file_that_needs_no_other(self):
        text, _ = self.made()
        self.assertIn("single-chunk rule", text)
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)[^"]*', text), [])
        self.assertEqual(re.findall(r"url\((?!#)", text), [])
        self.assertGreater(text.count('<svg class="wide"'), 3)
        self.assertEqual(text.count('<svg class="wide"'), text.count('<svg class="narrow"'))

    def test_two_runs_say_what_changed(self):
        before, after = made_run(made_results()[:3]), made_run(made_results()[:3])
        after["results"][0]["figures"] = [figure("AUTO", 2.0)]
        text, _ = self.page(before, after)
        self.assertIn("Of 11 benchmarks 0 are better and 1 are worse", text)
        self.assertRegex(text, r"one copy, one fence \(size 64.*?<td>AUTO<td>.*?slower")
        self.assertIn("4 figures are in one of the results only", text)
        after["results"] = []
        self.assertIn("no benchmark in common", self.page(before, after)[0])

    def test_every_text_of_a_result_is_escaped(self):
        # Markup in every text, and text in place of every number; one field after another would take too many pages.
        marked = json.loads(json.dumps(made_run(made_results())), object_hook=lambda item: {
            name: value + MARKUP if isinstance(value, str) and name not in ("format", *KEPT) else value for name, value in item.items()})
        marked["environment"][MARKUP] = MARKUP
        marked["warnings"] = marked["sources"] = [MARKUP]
        numbers = json.loads(json.dumps(marked), object_hook=lambda item: {
            name: MARKUP if name in ("rounds", "mad", "target") and isinstance(value, (int, float)) else value for name, value in item.items()})
        verdicts = made_run(made_results())
        for item in (item for result in verdicts["results"] for item in result["ratios"] + result["figures"]):
            item.update({name: MARKUP for name in ("verdict", "target_verdict", "source", "unit") if name in item}, target=1.0)
        plain = made_run(made_results())
        plain["warnings"] = plain["sources"] = ["a text"]
        plain = Markup(self.pages(plain)[0])
        for page in self.pages(marked, numbers, verdicts):
            self.assertIn("&lt;script&gt;", page)
            found = Markup(page)
            self.assertEqual(found.tags - plain.tags, set())
            self.assertEqual(found.attributes - plain.attributes, set())
            self.assertEqual({name for name in found.classes - plain.classes if not re.fullmatch(r"s\d+", name)}, set())

    def test_refuses_what_is_no_result_and_leaves_nothing(self):
        page = self.path("report.html")
        for text in UNREADABLE:
            with self.subTest(text=text[:20]):
                result = run("report", self.write("bad.json", text), "-o", page)
                self.assertEqual(result.returncode, 1)
                self.assertNotIn("Traceback", result.stderr)
                self.assertFalse(os.path.exists(page))
        self.refused(run("report"), USAGE, "no result")
        good = self.write("good.json", made_run([]))
        before = sorted(os.listdir(self.directory.name))
        for output in (self.path("no/such/directory"), self.directory.name, ""):
            self.refused(run("report", good, "-o", output), 1, "-o")
        self.assertEqual(sorted(os.listdir(self.directory.name)), before)

    def test_a_device_is_written_to_and_never_replaced(self):
        result = run("report", self.write("good.json", made_run([])), "-o", "/dev/full")
        self.refused(result, 1, "/dev/full", "No space left")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))


MARKUP = "<script>alert(1)</script>\"' onload='x' &amp; $\\frac{1}{$"
KEPT = ("scenario", "group", "name", "of", "against", "unit", "data", "mode", "destination", "state", "set")  # what results are found by


class Markup(html.parser.HTMLParser):
    """Which tags, attributes and classes a page has."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.classes = set(), set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {(tag, name) for name, _ in attributes}
        self.classes |= {value for name, value in attributes if name == "class"}


LONG = "x" + "±" * 300
STRANGE = ("", "a\tb\x1b[2Jc\x7f\x9b", LONG, "\ud800", MARKUP, "%s%n", None, True, -1, 0, 1e-300, 1e300, 10 ** 400, [], {}, [[]], "ours",
           "GB/s", "/s", "%", "bytes")


class Hostile(unittest.TestCase):
    """Result files that no run wrote: refused with a reason, or compared and printed; never followed."""

    def setUp(self):
        self.random = random.Random(1234)

    def damage(self, value):
        """The document with some of its values exchanged, left out or doubled."""
        if self.random.random() < 0.03:
            return self.random.choice(STRANGE)
        if isinstance(value, dict):
            return {self.random.choice(STRANGE[:6]) if self.random.random() < 0.01 else name: self.damage(item)
                    for name, item in value.items() if self.random.random() > 0.01}
        if isinstance(value, list):
            items = [self.damage(item) for item in value if self.random.random() > 0.02]
            return items + items[:1] if self.random.random() < 0.05 else items
        return value

    def load(self, document):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document, file)
            file.flush()
            return model.load(file.name)

    def said(self, action, *arguments):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            action(*arguments)
        text = text.getvalue()
        text.encode("utf-8")
        self.assertEqual({sign for sign in text if ord(sign) < 32 or 127 <= ord(sign) < 160} - {"\n"}, set())
        return text

    def check(self, a, b):
        comparison = compare.compare(a, b)
        self.said(compare.print_comparison, comparison, True)
        for pair in comparison["pairs"]:
            self.assertTrue(0 < pair["low"] <= pair["median"] <= pair["high"] < float("inf"), pair)
        back = compare.compare(b, a)
        self.assertEqual((comparison["only_a"], comparison["only_b"]), (back["only_b"], back["only_a"]))
        json.dumps(comparison, allow_nan=False).encode("utf-8")

    def test_damaged_runs_are_compared_and_printed(self):
        sound, seen = {"format": "abd-perf-1", "environment": {"cpu": "x"}, "options": {}, "results": made_results()}, 0
        for _ in range(100):
            document = self.damage(sound)
            if not isinstance(document, dict) or not isinstance(document.get("results"), list):
                continue
            document["format"] = "abd-perf-1"
            other = self.damage(document["results"])
            a, b = self.load(document), self.load({**document, "results": other if isinstance(other, list) else []})
            seen += len(a["results"])
            self.check(a, b)
            self.assertEqual(compare.changed(compare.compare(a, a)), [])
            self.said(columns.print_result, a)
            json.loads(bmf.bmf_text(a))
            self.said(columns.print_result, model.sound(rows.document_of(rows.csv_text(a))))
        self.assertGreater(seen, 1000)

    def test_what_only_one_run_has_is_counted_alike_on_both_sides(self):
        one = entry("buffer", "cost", "a case", {}, [("ours", 10.0)])
        more = entry("buffer", "cost", "a case", {}, [("ours", 10.0), ("libc", 5.0)], [("ours", "libc", 2.0)])
        for wanted, count in (("", 2), ("libc$", 2), ("a case, libc$", 1), ("no", 0)):
            a, b = (self.load({"format": "abd-perf-1", "results": [item]}) for item in (one, more))
            self.assertEqual([compare.compare(a, b, wanted)[name] for name in ("only_a", "only_b")], [0, count])
            self.assertEqual([compare.compare(b, a, wanted)[name] for name in ("only_a", "only_b")], [count, 0])

    def test_figures_whose_ratio_is_no_number_are_not_compared(self):
        large, small = (self.load({"format": "abd-perf-1", "results": [entry("buffer", "cost", "a", {}, [("ours", value)]),
                                                                       entry("buffer", "cost", "sound", {}, [("ours", 1.0)])]})
                        for value in (1e300, 1e-300))
        for runs in ((large, small), (small, large)):
            self.assertEqual([pair["name"] for pair in compare.compare(*runs)["pairs"]], ["sound"])

    def test_an_interval_the_wrong_way_round_is_none(self):
        for damaged in ({"low": 11.0}, {"high": 9.0}, {"median": float("1e999")}):
            item = {**figure("ours", 10.0), **damaged}
            document = {"format": "abd-perf-1", "results": [{**entry("buffer", "cost", "a", {}), "figures": [item]}]}
            try:
                self.assertEqual(self.load(document)["results"][0]["figures"], [])
            except ValueError as error:
                self.assertIn("Infinity", str(error))
        item = {**figure("ours", 10.0), "relative": {"median": 1.0, "low": 1.0, "high": -1.0}}
        self.assertIsNone(model.relative(item))

    def test_a_benchmark_that_stands_there_twice_is_compared_with_its_like(self):
        twice = self.load({"format": "abd-perf-1", "results": [entry("buffer", "cost", "a", {}, [("ours", value)]) for value in (10.0, 20.0)]})
        comparison = compare.compare(twice, twice)
        self.assertEqual([(pair["a"], pair["b"]) for pair in comparison["pairs"]], [(10.0, 10.0), (20.0, 20.0)])
        self.assertEqual(compare.changed(comparison), [])


if __name__ == "__main__":
    drawing = python_with("matplotlib")
    if drawing not in (None, sys.executable):
        os.execv(drawing, [drawing, "-B", *sys.argv])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
