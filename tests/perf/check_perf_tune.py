#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf tune from outside: what it writes can be set, a slow choice is replaced, and noise changes nothing.
# usage: check_perf_tune.py ABD_PERF SOURCE_DIRECTORY [TEST...]
import os
import re
import subprocess
import sys
import unittest

from perf_support import SOURCE, USAGE, Case, at_length, run

CANT_TELL = 2
PLANS = ["compare", "copy", "zero", "flush_auto", "flush_shared", "flush_exclusive", "lz4", "fletcher", "crc32c", "xxh3"]


def tune(*arguments, times="same", **environment):
    """A quick tune; times are made up, so that its conclusions are known."""
    planted = [f"--plant-times={times}"] if times else []
    return run("tune", "--quick", *planted, *arguments, env={**os.environ, **environment})


def plan(lines, name):
    return re.search(rf"^export ABD_{name.upper()}='(.*)'$", lines, re.MULTILINE).group(1)


class Tune(Case):
    def lines(self, **more):
        file = self.path("lines")
        result = tune("-o", file, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            return result.stdout, stream.read()

    def test_a_shell_can_read_the_lines_and_the_library_takes_them(self):
        text, lines = self.lines()
        for word in ("libabd", "caches: "):
            self.assertIn(word, lines)
        for name in PLANS:
            self.assertTrue(plan(lines, name))
        shell = subprocess.run(["sh", "-c", '. "$0"; exec "$@"', self.path("lines"), *sys.argv[1:2], "env"], capture_output=True, text=True)
        self.assertEqual(shell.returncode, 0, shell.stderr)
        self.assertRegex(shell.stdout, r"compare_kernel .*\(environment\)")

    def test_what_is_as_fast_as_others_stays(self):
        text, lines = self.lines(ABD_COMPARE="word<=5000,scalar<=9000,libc")
        self.assertEqual(len(re.findall("stays as it is", text)), len(PLANS))
        self.assertEqual(plan(lines, "compare"), "word<=5000,scalar<=9000,libc")

    def test_a_slow_choice_is_replaced_and_by_how_much_is_said(self):
        text, lines = self.lines(times="slow", ABD_COMPARE="scalar")
        self.assertRegex(text, r"compare +4k +\S+ instead of scalar: 1\.50 \[")
        self.assertRegex(lines, r"# 4k: \S+; 1\.\d+ \[.*\] of scalar, which it replaces")
        self.assertRegex(plan(lines, "compare"), r"^scalar<=2048,")
        self.assertNotIn("scalar", plan(lines, "compare").replace("scalar<=2048,", ""))

    def test_noise_changes_nothing(self):
        file = self.write("lines", "as it was")
        result = tune("-o", file, times="noise", ABD_COMPARE="scalar")
        self.assertEqual(result.returncode, CANT_TELL, result.stderr)
        self.assertIn("can't tell", result.stdout)
        self.assertNotIn("instead of", result.stdout)
        with open(file) as stream:
            self.assertEqual(stream.read(), "as it was")

    @at_length
    def test_a_slow_choice_is_found_by_measuring(self):
        """Loads of others may keep it from being told, but never make the slow one stay."""
        file = self.path("lines")
        result = tune("-o", file, "--cpus", str(min(os.sched_getaffinity(0))), times=None, ABD_COMPARE="scalar")
        self.assertIn(result.returncode, (0, CANT_TELL), result.stderr)
        if result.returncode == 0:
            self.assertRegex(result.stdout, "instead of scalar")

    def test_wrong_flags_are_refused(self):
        self.assertEqual(run("tune", "name").returncode, USAGE)
        self.refused(run("tune", "--quick", "-o", self.path("no/such/file")), 1, "--output")

    def test_every_kernel_of_the_library_is_measured(self):
        """A kernel that tune did not know would never be chosen."""
        with open(os.path.join(SOURCE, "perf", "tune", "abd_perf_tune_work.c")) as stream:
            known = set(re.findall(r'"([a-z0-9-]+)"', stream.read()))
        # far slower than the others on every machine, or unfit for what the tunable promises
        left_out = {"word", "scalar", "portable", "clflush", "cvap", "cvac"}
        for layer in ("compare", "copy", "flush", "codec"):
            for folder, _, files in os.walk(os.path.join(SOURCE, "lib", layer)):
                for name in files:
                    with open(os.path.join(folder, name)) as stream:
                        kernels = set(re.findall(r'^\t\.name = "([^"]+)",\n\t\.supported', stream.read(), re.MULTILINE))
                    self.assertEqual(kernels - known - left_out, set(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
