#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf tune from outside: what it writes loads, a slow choice is replaced, and noise changes nothing.
# usage: check_perf_tune.py ABD_PERF SOURCE_DIRECTORY [TEST...]
import os
import re
import sys
import unittest

from perf_support import SOURCE, USAGE, Case, at_great_length, run

CANT_TELL = 2
PLANS = ["compare", "copy", "zero", "flush_auto", "flush_shared", "flush_exclusive", "lz4", "fletcher", "crc32c", "xxh3"]


def tune(*arguments, times="same", **environment):
    """A quick tune; times are made up, so that its conclusions are known."""
    planted = [f"--plant-times={times}"] if times else []
    return run("tune", "--quick", *planted, *arguments, env={**os.environ, **environment})


def plan(profile, name):
    return re.search(rf"^{name}=(.*)$", profile, re.MULTILINE).group(1)


class Tune(Case):
    def profile(self, **more):
        file = self.path("profile")
        result = tune("-o", file, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            return result.stdout, stream.read()

    def test_a_profile_names_the_machine_and_loads(self):
        text, profile = self.profile()
        for word in ("libabd", "caches: ", "cpu="):
            self.assertIn(word, profile)
        for name in PLANS:
            self.assertTrue(plan(profile, name))
        result = run("env", env={**os.environ, "ABD_PROFILE": self.path("profile")})
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"compare_kernel .*\(profile\)")
        self.assertNotIn("profile", result.stderr)

    def test_what_is_as_fast_as_others_stays(self):
        text, profile = self.profile(ABD_COMPARE="word<=5000,scalar<=9000,libc")
        self.assertEqual(len(re.findall("stays as it is", text)), len(PLANS))
        self.assertEqual(plan(profile, "compare"), "word<=5000,scalar<=9000,libc")

    def test_a_slow_choice_is_replaced_and_by_how_much_is_said(self):
        text, profile = self.profile(times="slow", ABD_COMPARE="scalar")
        self.assertRegex(text, r"compare +4k +\S+ instead of scalar: 1\.50 \[")
        self.assertRegex(profile, r"# 4k: \S+; 1\.\d+ \[.*\] of scalar, which it replaces")
        self.assertRegex(plan(profile, "compare"), r"^scalar<=2048,")
        self.assertNotIn("scalar", plan(profile, "compare").replace("scalar<=2048,", ""))

    def test_noise_changes_nothing(self):
        file = self.write("profile", "as it was")
        result = tune("-o", file, times="noise", ABD_COMPARE="scalar")
        self.assertEqual(result.returncode, CANT_TELL, result.stderr)
        self.assertIn("can't tell", result.stdout)
        self.assertNotIn("instead of", result.stdout)
        with open(file) as stream:
            self.assertEqual(stream.read(), "as it was")

    @at_great_length
    def test_a_slow_choice_is_found_by_measuring(self):
        """Loads of others may keep it from being told, but never make the slow one stay."""
        file = self.path("profile")
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
