# SPDX-License-Identifier: BSD-2-Clause
"""`abd-perf count`: instructions, allocations and bytes moved of small operations, counted by valgrind's callgrind, so no other load, clock
or counter of the machine changes them.

abd-perf-count (perf/count) does the operations. Its own memcpy(), malloc(), clock and random bytes take the place of the C library's.
Invariant: only instructions of libabd.so and of the operation's caller count, by kernels that are named, in a fixed environment; so any
machine that has the kernels has the same counts.
"""
import concurrent.futures
import csv
import io
import os
import shutil
import subprocess
import tempfile

HEADINGS = ("kernels", "operation", "instructions", "allocations", "moved")
KERNELS = {
    "sse2": {"compare": "sse2", "lz4": "portable", "fletcher": "scalar", "crc32c": "portable", "xxh3": "portable"},
    "avx2": {"compare": "avx2", "lz4": "avx2", "fletcher": "avx2", "crc32c": "pclmul", "xxh3": "avx2"},
}
# max_order 0: runs of 4 KiB. reserve_ms: nothing goes back to the system meanwhile.
ALL = {"copy": "libc", "zero": "libc", "chunk_provider": "regions", "max_order": "0", "reserve_ms": "86400000"}
ALLOWED = 0.01
# What abd_perf_count.c has in the place of the C library: how it does that is no cost of the library's.
NOT_OURS = {"malloc", "calloc", "aligned_alloc", "memcpy", "memmove", "memset", "getrandom", "clock_gettime"}


def instructions(path):
    """Instructions in a callgrind file, of libabd and of the program."""
    total, counts, skip, names = 0, False, False, {}
    inside, function = False, True

    def name(text):
        number, _, known = text.partition(" ")
        return names.setdefault(number, known)

    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            key, is_name, text = line.rstrip("\n").partition("=")
            if line[0] in "0123456789+-*":
                if not skip and counts:
                    total += int(line.split()[1])
                skip = False
            elif is_name and key == "calls":
                skip = True  # the next line says what the callee cost
            elif is_name and key in ("ob", "cob"):
                text = os.path.basename(name("ob" + text))
                if key == "ob":
                    inside = text.startswith(("libabd.so", "abd-perf-count"))
            elif is_name and key in ("fn", "cfn"):
                text = name("fn" + text)
                if key == "fn":
                    function = text.split("'")[0] not in NOT_OURS
            counts = inside and function
    return total


def count(program, kernels):
    """{(kernels, operation): [instructions, allocations, moved]} for one set of kernels. RuntimeError if they can't be counted."""
    with tempfile.TemporaryDirectory(prefix="abd-perf-count.") as folder:
        environment = {f"ABD_{name.upper()}": value for name, value in {**ALL, **KERNELS[kernels]}.items()}
        ended = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--zero-before=abd_perf_count_begin", "--dump-before=abd_perf_count_end",
             f"--callgrind-out-file={folder}/out", program], capture_output=True, text=True, check=False,
            env={"PATH": os.environ["PATH"], "LD_BIND_NOW": "1", **environment})
        lines = ended.stdout.splitlines()
        dumps = [f"{folder}/out.{number}" for number in range(1, len(lines) + 1)]
        if ended.returncode != 0 or not lines:
            raise RuntimeError((ended.stderr.strip().splitlines() or [f"{program}: exit status {ended.returncode}"])[-1])
        if not os.path.exists(dumps[-1]):
            raise RuntimeError(f"{program} has no symbols, by which valgrind knows where an operation begins")
        rows, loop = {}, instructions(dumps[0])
        for line, dump in zip(lines[1:], dumps[1:]):
            times, allocations, moved, operation = line.split(";", 3)
            rows[kernels, operation] = [round(value / int(times), 1) for value in (instructions(dump) - loop, int(allocations), int(moved))]
        return rows


def count_all():
    """The same for all sets of kernels, which are counted side by side."""
    path = os.path.join(os.path.dirname(os.environ["ABD_PERF_PROGRAM"]), "abd-perf-count")
    if not os.path.exists(path):
        raise RuntimeError("abd-perf-count is not beside abd-perf: only a build folder has it, for x86-64 with the shared library and the cache")
    if shutil.which("valgrind") is None:
        raise RuntimeError("valgrind is not there (Debian: valgrind)")
    with concurrent.futures.ThreadPoolExecutor(len(KERNELS)) as pool:
        return {key: row for rows in pool.map(lambda kernels: count(path, kernels), KERNELS) for key, row in rows.items()}


def text_of(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([HEADINGS, *([*key, *(f"{value:.10g}" for value in row)] for key, row in rows.items())])
    return text.getvalue()


def kept(path):
    """The rows of a kept file. ValueError if it is none."""
    with open(path, encoding="utf-8", newline="") as file:
        try:
            heading, *rows = csv.reader(file, strict=True)
            if tuple(heading) != HEADINGS:
                raise ValueError
            return {(kernels, operation): [float(value) for value in counts] for kernels, operation, *counts in rows if len(counts) == 3 or int("")}
        except (ValueError, csv.Error):
            raise ValueError(f"{path}: its lines are not {','.join(HEADINGS)}") from None


def compare(before, now):
    """Lines that say what changed by more than ALLOWED, and how many of them are red."""
    lines, red = [], 0
    for key in [*before, *(key for key in now if key not in before)]:
        if key not in now or key not in before:
            lines.append(f"{' '.join(key)}: {'not kept' if key in now else 'not counted'}: RED")
            red += 1
            continue
        for what, old, new in zip(HEADINGS[2:], before[key], now[key]):
            if abs(new - old) > old * ALLOWED:
                lines.append(f"{' '.join(key)}: {what} {old:.10g}, now {new:.10g}{': RED' if new > old else ''}")
                red += new > old
    return lines, red
