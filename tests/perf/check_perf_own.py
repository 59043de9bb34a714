#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A program of a user's own (abd_perf.h, examples/own_benchmark.c) has abd-perf's commands, and what it measures is judged alike.
# usage: check_perf_own.py PROGRAM SOURCE_DIRECTORY [TEST...]
import json
import os
import re
import sys
import unittest

from perf_support import FEW, USAGE, Case, python_with, run


class Own(Case):
    def measured(self, *flags):
        file = self.path("own.json")
        result = run("run", *FEW, *flags, "--json", file)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            return result, file, json.load(stream)

    def test_its_cases_are_measured_in_processes_and_judged(self):
        result, _, document = self.measured("--processes", "2")
        entry, = document["results"]
        self.assertEqual((entry["scenario"], entry["group"]), ("own-copies", "cases"))
        self.assertEqual([(figure["name"], figure["unit"]) for figure in entry["figures"]], [("one run", "GB/s"), ("16 runs", "GB/s")])
        self.assertEqual([(ratio["of"], ratio["against"]) for ratio in entry["ratios"]], [("16 runs", "one run")])
        for value in entry["figures"] + entry["ratios"]:
            self.assertEqual(len(value["processes"]), 2)
        self.assertIn("own-copies: cases", result.stdout)

    def test_without_a_flag_the_rows_on_top_of_the_page_are_measured_in_several_processes(self):
        file = self.path("own.json")
        result = run("run", *FEW[:-2], "--json", file)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            for value in json.load(stream)["results"][0]["figures"]:
                self.assertEqual(len(value["processes"]), 3)
        # Each process shows its progress, with the time that is left of all: more than 1 s where others use the machine.
        self.assertEqual(len(re.findall(r"own-copies: 2 cases \[1/1\], about \d.* left", result.stderr)), 3, result.stderr)

    def test_it_has_the_commands_that_follow_a_run(self):
        _, file, _ = self.measured("--processes", "2")
        self.assertIn("own-copies", run("list").stdout)
        self.assertNotIn("tune", run("--help").stdout)
        self.assertIn("own-copies: cases", run("tables", file).stdout)
        self.assertIn("Nothing changed", run("compare", file, file).stdout)
        folder = self.path("kept")
        self.assertEqual([run("baseline", word, "main", file, "--dir", folder).returncode for word in ("save", "check")], [0, 0])
        self.refused(run("tune"), USAGE, "tune")

    @unittest.skipIf(python_with("matplotlib") is None, "matplotlib is not there")
    def test_its_page_has_a_picture(self):
        _, file, _ = self.measured()
        page = self.path("own.html")
        self.assertEqual(run("report", file, "-o", page, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}).returncode, 0)
        with open(page) as stream:
            text = stream.read()
        self.assertIn("<h2>own-copies</h2>", text)
        self.assertEqual(text.count('<svg class="wide"'), 1)

    def test_a_case_that_is_wrong_gets_no_figure(self):
        file = self.path("own.json")
        result = run("run", *FEW, "--plant-wrong-byte", "--json", file)
        self.assertEqual(result.returncode, 1)
        self.assertIn("one run does not do what it should", result.stderr)
        with open(file) as stream:
            entry, = json.load(stream)["results"]
        self.assertEqual((entry["name"], entry["wrong"], entry["figures"], entry["ratios"]), ("2 cases", True, [], []))
        self.assertIn("WRONG own-copies: 2 cases", result.stdout)
        self.assertEqual(run("baseline", "save", "main", file, "--dir", self.path("kept")).returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
