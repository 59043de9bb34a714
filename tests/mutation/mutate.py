#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mutation testing: universalmutator makes the mutants of lib/, this samples them evenly and runs the tests against each.

usage: mutate.py MUTATE COUNT SEED [FILE...]     MUTATE: universalmutator's command; FILE: of lib/, default all that are built

A mutant counts when it compiles to something else than the original. It is killed when a test fails, crashes or hangs: first the
tests of its own layer, then the others, in a plain build; what survives meets the same tests with deep checks and AddressSanitizer.
A survivor must stand in survivors.txt with its class and reason; the others are printed as unclassified.
Work is done in copies of the tree under build/mutation, one per processor. The seed fixes the sample.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import subprocess
import sys

WORK = pathlib.Path("build/mutation")
LAYERS = ["base", "chunk", "compare", "copy", "flush", "abd", "codec", "arc", "tuning"]
ABOVE = {"base": ["base", "abd", "chunk", "tuning", "arc"], "chunk": ["chunk", "abd", "arc"], "compare": ["compare", "abd"],
         "copy": ["copy", "abd"], "flush": ["flush", "abd"], "abd": ["abd", "codec", "arc"], "codec": ["codec", "abd", "arc"],
         "arc": ["arc"], "tuning": ["tuning"]}
BUILDS = {
    "plain": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1"],
    "checked": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DABD_CHECKED=ON", "-DABD_SANITIZE=address,undefined"],
}
CHECKED_ONLY = ("abd_checked.", "abd_quarantine.")
TIMEOUT = 90


def limits():
    """A mutant may ask for any amount of memory, or write without end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False, **options).returncode


def code(text):
    """Without comments and spaces: what a mutant must differ in."""
    return re.sub(r"\s+", "", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S))


class Tree:
    """A copy of the sources with its builds."""

    def __init__(self, number):
        self.top = WORK / f"tree{number}"
        self.source = self.top / "source"
        shutil.rmtree(self.source, ignore_errors=True)
        self.source.mkdir(parents=True)
        for name in ("CMakeLists.txt", "cmake", "include", "lib", "tests"):
            subprocess.run(["cp", "-R", name, self.source], check=True)
        self.pristine = {}

    def prepare(self, build):
        """Configure and build, once; the original must pass."""
        if build in self.pristine:
            return
        parts = re.findall(r"^option\((ABD_BUILD_[A-Z]*|ABD_INSTALL) ", pathlib.Path("CMakeLists.txt").read_text(), flags=re.M)
        subprocess.run(["cmake", "-S", self.source, "-B", self.top / build, "-G", "Ninja",
                        *(f"-D{part}={'ON' if part == 'ABD_BUILD_TESTS' else 'OFF'}" for part in parts),
                        "-DABD_TEST_RUNNERS=forkless", "-DABD_WITH_JEMALLOC=OFF", "-DCMAKE_C_FLAGS=-w", *BUILDS[build]], check=True,
                       stdout=subprocess.DEVNULL)
        if not self.make(build, LAYERS):
            sys.exit(f"the original does not build: {self.top / build}")
        self.pristine[build] = self.digest(build)
        for layer in LAYERS:
            if not self.passes(build, layer):
                sys.exit(f"the original fails {layer} in {self.top / build}")

    def make(self, build, layers):
        return run(["cmake", "--build", self.top / build, "-j", "1", "--target",
                    *(f"test_{layer}_forkless" for layer in layers)]) == 0

    def digest(self, build):
        return hashlib.sha256((self.top / build / "lib/libabd_internal.a").read_bytes()).hexdigest()

    def passes(self, build, layer):
        environment = dict(os.environ, ABD_CHUNK_PROVIDER="malloc", ABD_TEST_OPS="20000",
                           ASAN_OPTIONS="hard_rss_limit_mb=3000:detect_leaks=1")
        program = (self.top / build / "tests" / f"test_{layer}_forkless").resolve()
        if build == "plain":
            program = ["prlimit", "--as=16000000000", program]
        else:
            program = [program]
        try:
            return run(program, env=environment, preexec_fn=limits, timeout=TIMEOUT, cwd=self.top) == 0
        except subprocess.TimeoutExpired:
            return False

    def judge(self, mutant, build):
        """uncompilable, same, killed BUILD LAYER, or survived."""
        path, text = mutant
        self.prepare(build)
        target = self.source / path
        original = target.read_text()
        layers = ABOVE[path.parts[1]]
        target.write_text(text)
        try:
            if not self.make(build, layers[:1]):
                return "uncompilable"
            if self.digest(build) == self.pristine[build]:
                return "same"
            for tests in layers:
                if not self.make(build, [tests]) or not self.passes(build, tests):
                    return f"killed {build} {tests}"
            return "survived"
        finally:
            target.write_text(original)


def mutants(mutate, files):
    """Every mutant of the files that differs in code, as (path, text)."""
    found = []
    for path in files:
        original = path.read_text()
        folder = WORK / "mutants" / hashlib.sha256(original.encode()).hexdigest()[:16]
        if not folder.exists():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            # A header goes under a name that universalmutator takes for C.
            copy = part / (path.stem + "_.c")
            copy.write_text(original)
            run([mutate, copy.name, "c", "--noCheck"], cwd=part)
            copy.unlink()
            part.rename(folder)
        seen = {code(original)}
        for file in sorted(folder.glob("*.mutant.*"), key=lambda name: int(name.name.split(".mutant.")[1].split(".")[0])):
            text = file.read_text()
            if code(text) not in seen:
                seen.add(code(text))
                found.append((path, text))
    return found


def change(mutant):
    """The lines that differ, as they are written in survivors.txt."""
    path, text = mutant
    before, after = path.read_text().splitlines(), text.splitlines()
    while before and after and before[0] == after[0]:
        before.pop(0), after.pop(0)
    while before and after and before[-1] == after[-1]:
        before.pop(), after.pop()
    return f"{path} | {' '.join(' '.join(before).split())} | {' '.join(' '.join(after).split())}"


def classified():
    """change -> class, of survivors.txt: lines "class | path | before | after", the reason indented below."""
    known = {}
    for line in pathlib.Path("tests/mutation/survivors.txt").read_text().splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            kind, rest = line.split(" | ", 1)
            known[rest] = kind
    return known


def first_build(mutant):
    """The deep checks' own files are in the checked build only."""
    return "checked" if mutant[0].name.startswith(CHECKED_ONLY) else "plain"


def built_files(trees):
    """Sources and headers of lib/ that the builds are made of."""
    tree = trees.get()
    tree.prepare("plain")
    found = set(tree.source.glob("lib/*/abd_quarantine.[ch]")) | set(tree.source.glob("lib/*/abd_checked.[ch]"))
    output = subprocess.run(["ninja", "-C", tree.top / "plain", "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found |= {tree.source / name for name in re.findall(r"source/(lib/\S+\.[ch])$", output, flags=re.M)}
    trees.put(tree)
    return sorted(path.relative_to(tree.source) for path in found)


def main():
    mutate, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    workers = int(os.environ.get("ABD_MUTATION_JOBS", os.cpu_count()))
    trees = queue.Queue()
    for number in range(workers):
        trees.put(Tree(number))
    files = [pathlib.Path(name) for name in sys.argv[4:]] or built_files(trees)
    pool = mutants(mutate, files)
    random.Random(seed).shuffle(pool)
    print(f"{len(pool)} mutants of {len(files)} files; sampling until {count} count", flush=True)

    def one(mutant, build):
        tree = trees.get()
        try:
            verdict = tree.judge(mutant, build)
        finally:
            trees.put(tree)
        if verdict.startswith(("killed", "survived")):
            print(f"{verdict} {build}: {change(mutant)}", flush=True)
        return mutant, verdict

    tally = {"uncompilable": 0, "same": 0, "killed": 0, "survived": 0}
    known, survivors = classified(), []
    with concurrent.futures.ThreadPoolExecutor(workers) as executor:
        rest = iter(pool)
        running = {executor.submit(one, mutant, first_build(mutant)) for _, mutant in zip(range(workers), rest)}
        while running:
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                mutant, verdict = future.result()
                tally[verdict.split()[0]] += 1
                if verdict == "survived":
                    survivors.append(mutant)
                if tally["killed"] + tally["survived"] + len(running) < count:
                    mutant = next(rest, None)
                    if mutant is not None:
                        running.add(executor.submit(one, mutant, first_build(mutant)))
        # Once more under the checkers, for what the plain build let pass.
        again = [mutant for mutant in survivors if first_build(mutant) == "plain"]
        for mutant, verdict in executor.map(lambda mutant: one(mutant, "checked"), again):
            if verdict != "survived":
                survivors.remove(mutant)
                tally["survived"] -= 1
                tally["killed"] += 1

    total = tally["killed"] + tally["survived"]
    kinds = {}
    for survivor in map(change, survivors):
        kind = known.get(survivor, "unclassified")
        kinds[kind] = kinds.get(kind, 0) + 1
    share = 100 * tally["killed"] / max(total, 1)
    print("survivors: " + ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())))
    print(f"figure: {share:.1f} % of {total} compilable mutants killed, {kinds.get('unclassified', 0)} survivors unclassified "
          f"({tally['same']} compiled to the same, {tally['uncompilable']} not at all; target 90 %, 0)")
    return share < 90 or "unclassified" in kinds


if __name__ == "__main__":
    sys.exit(main())
