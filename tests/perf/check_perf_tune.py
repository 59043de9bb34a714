#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf tune from outside: what it prints can be set, a slow choice is replaced, and noise changes nothing.
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
        result = tune(**more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_what_is_as_fast_as_others_stays(self):
        lines = self.lines(ABD_COMPARE="word<=5000,scalar<=9000,libc")
        self.assertIn("# compare was word<=5000,scalar<=9000,libc (", lines)
        self.assertEqual(len(re.findall("stays as it is", lines)), len(PLANS))
        self.assertNotIn("export", lines)

    def test_a_slow_choice_is_replaced_and_the_line_that_sets_it_is_for_a_shell(self):
        lines = self.lines(times="slow", ABD_COMPARE="word<=64,scalar")
        self.assertRegex(lines, r"# 4k: scalar; \S+: 1\.[45]\d+ \[.*\] times as fast, replaces it")
        kernels = re.sub("<=[0-9]+", "", plan(lines, "compare")).split(",")
        self.assertRegex(plan(lines, "compare"), "^word<=64,scalar<=2048,")
        self.assertNotIn("scalar", kernels[2:])
        shell = subprocess.run(["sh", "-c", '. "$0"; exec "$@"', self.write("lines", lines), *sys.argv[1:2], "env"], capture_output=True, text=True)
        self.assertEqual(shell.returncode, 0, shell.stderr)
        self.assertIn(plan(lines, "compare"), shell.stdout)

    def test_noise_changes_nothing(self):
        result = tune(times="noise", ABD_COMPARE="scalar")
        self.assertEqual(result.returncode, CANT_TELL, result.stderr)
        self.assertRegex(result.stdout, "^# can't tell")
        self.assertNotIn("export", result.stdout)

    @at_length
    def test_a_slow_choice_is_found_by_measuring(self):
        """Loads of others may keep it from being told, but never make the slow one stay."""
        result = tune("--cpus", str(min(os.sched_getaffinity(0))), times=None, ABD_COMPARE="scalar")
        self.assertIn(result.returncode, (0, CANT_TELL), result.stderr)
        if result.returncode == 0:
            self.assertRegex(result.stdout, "scalar; .*replaces it")

    def test_wrong_flags_are_refused(self):
        self.assertEqual(run("tune", "name").returncode, USAGE)

    def test_every_kernel_of_the_library_is_measured(self):
        """A kernel that tune did not know would never be chosen."""
        with open(os.path.join(SOURCE, "perf", "tune", "abd_perf_tune.c")) as stream:
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
