#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command until it ends, has used its seconds of a processor, or sleeps for good.

No verdict depends on what else the machine does. A command sleeps for good when its threads together have neither run nor waited
for a processor for half of each second, ASLEEP seconds in a row: what a busy machine keeps waiting waits for a processor, what hangs
in a lock does not. Only where the system does not say so (/proc/PID/task/TID/schedstat), the clock ends it after two hours.

usage: tests/bounded.py     tests itself
"""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

ASLEEP = 60
BY_THE_CLOCK = 7200
TIME_WAS_UP, SLEPT = 128 + signal.SIGXCPU, 124  # exit codes


def wished_for_a_processor(session):
    """Nanoseconds by thread of this session: how long it has run, or waited in order to run."""
    wished = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text(errors="replace").rpartition(")")[2].split()[3]) == session:
                for thread in (stat.parent / "task").iterdir():
                    ran, waited, _ = (thread / "schedstat").read_text().split()
                    wished[thread.name] = int(ran) + int(waited)
        except (OSError, ValueError):  # it has ended
            pass
    return wished


def run(command, cpu=None, asleep=ASLEEP, **options):
    """Exit code, as a shell says it, and output. cpu: seconds of a processor that each process may use; options: of Popen."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if cpu is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    with subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **options},
                          start_new_session=True, preexec_fn=limit) as process:
        began = looked = time.monotonic()
        before, slept, code = {}, 0, None
        while code is None:
            try:
                said, _ = process.communicate(timeout=1)
                code = process.returncode
            except subprocess.TimeoutExpired:
                now, wished = time.monotonic(), wished_for_a_processor(process.pid)
                used = sum(end - before.get(thread, 0) for thread, end in wished.items())
                slept = slept + 1 if wished and used < 5e8 * (now - looked) else 0
                before, looked = wished, now
                if slept >= asleep or now - began > BY_THE_CLOCK:
                    os.killpg(process.pid, signal.SIGKILL)
                    said, code = process.communicate()[0], SLEPT
    return (128 - code if code < 0 else code), (said or b"").decode(errors="replace")


class Bounded(unittest.TestCase):
    def test_what_ends_is_let_end(self):
        self.assertEqual(run(["sh", "-c", "sleep 2.5; echo said; exit 3"], cpu=1, asleep=4), (3, "said\n"))

    def test_what_runs_for_ever_ends_by_its_seconds_of_a_processor(self):
        self.assertEqual(run(["sh", "-c", "while :; do :; done"], cpu=1, asleep=1)[0], TIME_WAS_UP)

    def test_what_sleeps_for_good_is_ended(self):
        for command in ("echo said; sleep 1000", "echo said; while sleep 0.1; do :; done", "echo said; kill -STOP $$"):
            self.assertEqual(run(["sh", "-c", command], asleep=2), (SLEPT, "said\n"), command)

    def test_what_waits_for_a_busy_processor_is_let_wait(self):
        here = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c"]
        busy = [subprocess.Popen([*here, "while :; do :; done"], start_new_session=True) for _ in range(2)]
        began = time.monotonic()
        try:
            self.assertEqual(run([*here, "i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done; echo said"], cpu=10, asleep=1), (0, "said\n"))
        finally:
            for process in busy:
                process.kill()
                process.wait()
        self.assertGreater(time.monotonic() - began, 1.2, "it did not wait")


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
