#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf over files that no run of it wrote, and flags that nobody means: each was a bug, found by a fuzzer or while
# one was written (tests/fuzz/fuzz_perf_*.c).
# usage: check_perf_fuzzed.py ABD_PERF SOURCE_DIRECTORY [TEST...]
import json
import subprocess
import sys
import unittest

from perf_support import PERF, USAGE, Case, entry, figure, ratio, run

LONG = "x" + "±" * 150  # cut within a sign by a limit that is even, and without the x by one that is odd


def bare(*results, **more):
    return {"format": "abd-perf-1", "results": list(results), **more}


def one(name="a case", value=10.0, **more):
    return {**entry("buffer", "cost", name, {}), "figures": [{**figure("ours", value), **more}]}


class Files(Case):
    def compare(self, a, b, *arguments):
        """What is printed, which must be UTF-8; and the tree."""
        tree = self.path("tree.json")
        result = subprocess.run([PERF, "compare", self.write("a.json", a), self.write("b.json", b), "--all", "--json", tree,
                                 *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(tree, encoding="utf-8") as stream:
            return result.stdout.decode("utf-8"), json.load(stream)

    def test_what_only_one_run_has_is_counted_alike_on_both_sides(self):
        both = [figure("ours", 10.0), figure("libc", 5.0)]
        more = {**entry("buffer", "cost", "a case", {}), "figures": both, "ratios": [ratio("ours", "libc", 2.0)]}
        for filters, count in (((), 2), (("--filter", "libc$"), 2), (("--filter", "a case, libc$"), 1), (("--filter", "no"), 0)):
            with self.subTest(filters=filters):
                tree = self.compare(bare(one()), bare(more), *filters)[1]
                self.assertEqual((tree["only_a"], tree["only_b"]), (0, count))
                tree = self.compare(bare(more), bare(one()), *filters)[1]
                self.assertEqual((tree["only_a"], tree["only_b"]), (count, 0))

    def test_text_that_is_too_long_is_cut_between_signs(self):
        for name in (LONG, LONG[1:]):
            strange = bare({**one(name), "figures": [figure(name, 10.0)]}, one(name), environment={name: "a"})
            strange["results"][1]["parameters"] = {"data": name}
            other = json.loads(json.dumps(strange))
            other["environment"][name] = "b"
            self.assertEqual(len(self.compare(strange, other)[1]["pairs"]), 2)

    def test_control_signs_do_not_reach_the_terminal(self):
        name = "a\tb\x1b[2Jc\x7f"
        output = self.compare(bare(one(name), environment={name: "a"}), bare(one(name), environment={name: "b"}))[0]
        self.assertEqual({sign for sign in output if ord(sign) < 32 or ord(sign) == 127}, {"\n"})
        self.assertIn("a?b?[2Jc?", output)

    def test_figures_whose_ratio_is_no_number_are_not_compared(self):
        large, small = bare(one(value=1e300), one("sound")), bare(one(value=1e-300), one("sound"))
        for runs in ((large, small), (small, large)):
            output, tree = self.compare(*runs)
            self.assertEqual([pair["name"] for pair in tree["pairs"]], ["sound"])
            self.assertNotIn("inf", output)

    def test_an_interval_the_wrong_way_round_is_none(self):
        strange = bare(one(relative={"median": 1.0, "low": 1.0, "high": -1.0}))
        for a, b in ((strange, bare(one())), (bare(one()), strange)):
            pair = self.compare(a, b)[1]["pairs"][0]
            self.assertTrue(0 < pair["low"] <= pair["median"] <= pair["high"], pair)

    def test_a_benchmark_that_stands_there_twice_is_compared_with_its_like(self):
        twice = bare(one(value=10.0), one(value=20.0))
        output, tree = self.compare(twice, twice)
        self.assertIn("Nothing changed", output)
        self.assertEqual([(pair["a"], pair["b"]) for pair in tree["pairs"]], [(10.0, 10.0), (20.0, 20.0)])
        self.assertEqual(self.compare(twice, bare(one()))[1]["only_a"], 1)


class Flags(Case):
    def test_a_cpu_is_digits_that_do_not_wrap(self):
        for cpus in ("4294967296", "0-4294967296", "18446744073709551616", "+0", " 0", "0-+0"):
            with self.subTest(cpus=cpus):
                self.refused(run("env", "--cpus", cpus), USAGE, "no list of CPUs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
