#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mutation testing: universalmutator makes the mutants of lib/, this samples them and runs the tests against each.

usage: mutate.py MUTATE COUNT SEED [FILE...]     MUTATE: universalmutator's command; FILE: of lib/, default all that are built

A mutant counts when it compiles to something else than the original. It is killed when a test fails, crashes, sleeps for good, or
takes more of a processor than five times its seconds and five more (tests/bounded.py): the tests of its own layer first, those of the
layers above next, what is slow last, in a plain build; what survives and is not classified meets the same tests with deep checks and
AddressSanitizer.
A survivor must stand in survivors.txt with its class and reason; the others are printed as unclassified.

Each layer has a share of the sample as of all mutants; its seed fixes which. Under build/mutation:
  source, plain, checked   the originals, built once, never changed
  workerN                  a copy of the sources in which a mutant stands, and what had to be compiled and linked anew for it
  results                  a verdict per mutant, which holds while lib/ is what it was (a survivor's: also its tests), so that an
                           interrupted run goes on, and a run after a new test judges survivors only
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import subprocess
import sys
import threading
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import bounded  # noqa: E402

WORK = pathlib.Path("build/mutation").absolute()
SOURCE = WORK / "source"
ABOVE = {"base": ["base", "mem", "abd", "tuning", "uring", "arc"], "mem": ["mem", "jemalloc", "jemalloc_none", "abd", "tuning", "uring", "arc"],
         "compare": ["compare", "abd"], "copy": ["copy", "abd", "codec"], "flush": ["flush", "abd"],
         "abd": ["abd", "codec", "uring", "tuning", "arc"], "codec": ["codec", "tuning", "arc"], "uring": ["uring"],
         "arc": ["arc"], "tuning": ["tuning"]}
BUILDS = {"plain": ["-DCMAKE_C_FLAGS_DEBUG=-O1"],
          "checked": ["-DCMAKE_C_FLAGS_DEBUG=-O1", "-DABD_CHECKED=ON", "-DABD_WITH_JEMALLOC=OFF", "-DABD_SANITIZE=address,undefined"]}
CHECKED_ONLY = ("abd_checked.", "abd_quarantine.")
SLOW = 1 / 60  # of the time of all tests: slower tests run last, and only for mutants of their own layer
INTERNAL, SUPPORT = "lib/libabd_internal.a", "tests/libabd_test_support_forkless.a"


def call(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False, start_new_session=True, **options).returncode


def output(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def lacked(path):
    """What this CPU lacks to run a kernel. A test stands in for movdir64b (tests/flush/test_flush_around.c)."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    asked = set(re.findall(r"abd_cpu_runs_([a-z0-9]+)", path.read_text(encoding="utf-8"))) - {"any", "movdir64b"}
    called = {"pclmul": "pclmulqdq", "avx512": "avx512bw", "vpclmul": "vpclmulqdq", "neon": "asimd"}
    flags = [called.get(name, name) for name in asked]
    return [flag for flag in flags if flag not in cpu]


def code(text):
    """Without comments and spaces: what a mutant must differ in."""
    return re.sub(r"\s+", "", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S))


def used(process):
    """Seconds of a processor, with those of its children that have ended."""
    return sum(map(int, pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def digest(*folders):
    total = hashlib.sha256()
    for path in sorted(path for folder in folders for path in (SOURCE / folder).rglob("*.[ch]")):
        total.update(str(path.relative_to(SOURCE)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


def copy_sources(to):
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for name in ("CMakeLists.txt", "cmake", "include", "lib", "tests"):
        subprocess.run(["cp", "-Rp", name, to], check=True)


class Build:
    """The original, compiled one way; knows what depends on what, and how long each test takes."""

    def __init__(self, name):
        self.name = name
        self.folder = WORK / name
        options = re.findall(r"^option\((ABD_BUILD_[A-Z]*|ABD_INSTALL) ", (SOURCE / "CMakeLists.txt").read_text(), flags=re.M)
        subprocess.run(["cmake", "-S", SOURCE, "-B", self.folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DABD_TEST_RUNNERS=forkless",
                        *(f"-D{option}={'ON' if option == 'ABD_BUILD_TESTS' else 'OFF'}" for option in options),
                        f"-DCMAKE_C_FLAGS=-w -ffile-prefix-map={SOURCE}=.", *BUILDS[name]], check=True, stdout=subprocess.DEVNULL)
        targets = re.findall(r"^(tests/test_(\w+)_forkless): ", output(["ninja", "-C", self.folder, "-t", "targets", "all"]),
                             flags=re.M)
        layers = [layer for _, layer in targets]
        # Without ccache: it may write other paths into an object, which is then compared with a mutant's object.
        if call(["ninja", "-C", self.folder, *(program for program, _ in targets)], env=self.environment()) != 0:
            sys.exit(f"the original does not build: {self.folder}")
        self.link = {layer: shlex.split(output(["ninja", "-C", self.folder, "-t", "commands", "-s", program]).split(" && ")[1])
                     for program, layer in targets}
        self.compile = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            command = shlex.split(entry["command"])
            self.compile[command[command.index("-o") + 1]] = command
        self.objects = collections.defaultdict(list)  # by each file of lib/ that an object is compiled from
        for block in output(["ninja", "-C", self.folder, "-t", "deps"]).split("\n\n"):
            made = block.strip().split(":", 1)[0]
            for path in set(re.findall(r"source/(lib/\S+\.[ch])$", block, flags=re.M)):
                if made in self.compile and "/abd_jemalloc.dir/" not in made:
                    self.objects[path].append(made)
        self.seconds = {layer: self.time(layer) for layer in layers}
        self.slow = SLOW * sum(sum(seconds.values()) for seconds in self.seconds.values())

    def environment(self):
        # A program that is linked anew lies elsewhere than its libraries are looked for.
        return dict(os.environ, ABD_TEST_OPS="5000", ABD_TEST_STOP="1", CCACHE_DISABLE="1", LD_LIBRARY_PATH=str(self.folder / "lib"),
                    **({"ABD_CHUNK_PROVIDER": "malloc", "ASAN_OPTIONS": "hard_rss_limit_mb=3000:detect_leaks=1"}
                       if self.name == "checked" else {}))

    def time(self, layer):
        """Seconds of a processor by test, kept while the program is the same. The original must pass."""
        program = self.folder / f"tests/test_{layer}_forkless"
        kept = program.with_suffix("." + hashlib.sha256(program.read_bytes()).hexdigest()[:16])
        if kept.exists():
            return json.loads(kept.read_text())
        taken, last, began = {}, None, 0
        with subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=self.environment(), cwd=self.folder) as process:
            for line in process.stdout:
                if line.startswith("run ") or line.endswith(" failed\n"):
                    now = used(process.pid)
                    if last is not None:
                        taken[last] = now - began
                    last, began = line.split()[1], now
        if process.returncode != 0:
            sys.exit(f"the original fails {layer} in {self.folder}")
        kept.write_text(json.dumps(taken))
        return taken

    def steps(self, layers):
        """(layer, test or None for all that are quick, seconds), in the order in which they are run; slow ones of its own layer."""
        layers = [layer for layer in layers if layer in self.seconds]
        slow = [(layers[0], test, seconds) for test, seconds in self.seconds[layers[0]].items() if seconds >= self.slow]
        if "abd" in layers:
            slow.append(("abd", "abd_model/*", 20 * self.seconds["abd"]["abd_model/random_operations_do_what_flat_bytes_do"]))
        quick = [(layer, None, sum(seconds for seconds in self.seconds[layer].values() if seconds < self.slow)) for layer in layers
                 if min(self.seconds[layer].values()) < self.slow]
        return quick + sorted(slow, key=lambda step: step[2])


class Worker:
    """Judges one mutant at a time."""

    def __init__(self, number):
        self.source = WORK / f"worker{number}/source"
        self.made = WORK / f"worker{number}/made"
        copy_sources(self.source)

    def compile(self, build, made, into):
        """The object, with the mutant in place; None if it does not compile."""
        into.mkdir(parents=True, exist_ok=True)
        result = into / pathlib.Path(made).name
        command = [str(result) if word == made else word.replace(str(SOURCE), str(self.source)) for word in build.compile[made]]
        return result if call(command, cwd=build.folder, env=build.environment()) == 0 else None

    def archive(self, build, name, objects):
        result = self.made / pathlib.Path(name).name
        shutil.copy(build.folder / name, result)
        subprocess.run(["ar", "r", result, *objects], check=True, stderr=subprocess.DEVNULL)
        return str(result)

    def library(self, build, path):
        """Compile what is in the library: uncompilable, same or changed; and by what to replace what in a program."""
        replaced, changed = {}, []
        for made in build.objects[path]:
            if made.startswith("lib/"):
                result = self.compile(build, made, self.made / "lib")
                if result is None:
                    return "uncompilable", replaced
                if result.read_bytes() != (build.folder / made).read_bytes():
                    changed.append(result)
        if changed:
            replaced[INTERNAL] = self.archive(build, INTERNAL, changed)
        return "changed" if changed else "same", replaced

    def program(self, build, path, layer, replaced):
        """The layer's test program; None if it does not compile or link."""
        support = []
        for made in build.objects[path]:
            if f"/test_{layer}_forkless.dir/" in made or "/abd_test_cpu.dir/" in made:
                replaced[made] = self.compile(build, made, self.made / layer)
                if replaced[made] is None:
                    return None
            elif "/abd_test_support_forkless.dir/" in made and SUPPORT not in replaced:
                support.append(self.compile(build, made, self.made / "support"))
                if support[-1] is None:
                    return None
        if support:
            replaced[SUPPORT] = self.archive(build, SUPPORT, support)
        result = self.made / f"test_{layer}"
        command = [str(replaced.get(word, result if word == f"tests/test_{layer}_forkless" else word)) for word in build.link[layer]]
        return result if call(command, cwd=build.folder) == 0 else None

    def passes(self, build, program, step):
        """None, or how it failed."""
        layer, test, seconds = step
        environment = build.environment()
        if test is None:
            environment["ABD_TEST_SKIP"] = " ".join(name for name, taken in build.seconds[layer].items() if taken >= build.slow)
        elif test == "abd_model/*":
            environment["ABD_TEST_OPS"] = "100000"
        # A mutant may ask for any amount of memory, or write without end.
        limits = ["prlimit", "--core=0", "--fsize=268435456", *(["--as=16000000000"] if build.name == "plain" else [])]
        code, _ = bounded.run([*limits, program, *([test] if test is not None else [])], int(5 * seconds + 6), env=environment, cwd=self.made,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if code in (bounded.TIME_WAS_UP, bounded.SLEPT):
            return "hangs"
        return "fails" if code != 0 else None

    def check(self, build):
        """The original, linked and run as a mutant is, must pass: or every mutant would count as killed."""
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir()
        for step in build.steps(list(build.seconds)):
            if step[1] is None and self.passes(build, self.program(build, "", step[0], {}), step) is not None:
                sys.exit(f"the original fails {step[0]} where mutants are run: {self.made}")

    def judge(self, build, mutant):
        """uncompilable, same, killed by BUILD LAYER HOW, or survived."""
        path = mutant.path
        target = self.source / path
        original = target.read_text()
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir()
        target.write_text(mutant.file.read_text())
        try:
            verdict, replaced = self.library(build, str(path))
            if verdict != "changed":
                return verdict
            programs = {}
            for step in build.steps(ABOVE[path.parts[1]]):
                layer = step[0]
                if layer not in programs:
                    programs[layer] = self.program(build, str(path), layer, dict(replaced))
                    if programs[layer] is None:
                        return "uncompilable"
                how = self.passes(build, programs[layer], step)
                if how is not None:
                    return f"killed by {build.name} {layer} {step[1] or 'quick'} {how}"
            return "survived"
        finally:
            target.write_text(original)


class Mutant(typing.NamedTuple):
    path: pathlib.Path  # the file that it replaces
    file: pathlib.Path  # its text
    change: str

    def part(self):
        """The layer; the deep checks' own files, which are in one build only, count as one."""
        return "checked" if self.path.name.startswith(CHECKED_ONLY) else self.path.parts[1]


def change(path, original, text):
    """The lines that differ, as they are written in survivors.txt; with the line before, if lines are put in."""
    before, after = original.splitlines(), text.splitlines()
    last = ""
    while before and after and before[0] == after[0]:
        last = before.pop(0)
        after.pop(0)
    while before and after and before[-1] == after[-1]:
        before.pop(), after.pop()
    if not before:
        before, after = [last], [last, *after]
    return f"{path.name} | {' '.join(' '.join(before).split())} | {' '.join(' '.join(after).split())}"


def make_mutants(mutate, path, original, folder):
    """universalmutator's, but those that differ in spaces and comments; and what each changes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # A header gets a name that universalmutator accepts as C.
    copy = folder / (path.stem + "_.c")
    copy.write_text(original)
    call([mutate, copy.name, "c", "--noCheck"], cwd=folder)
    copy.unlink()
    seen, changes = {code(original)}, {}
    for file in sorted(folder.glob("*.mutant.*"), key=lambda file: int(file.name.split(".mutant.")[1].split(".")[0])):
        text = file.read_text()
        if code(text) in seen:
            file.unlink()
            continue
        seen.add(code(text))
        changes[file.name] = change(path, original, text)
    (folder / "changes").write_text(json.dumps(changes))


def mutants_of(mutate, path):
    original = (SOURCE / path).read_text()
    folder = WORK / "mutants" / hashlib.sha256(f"{path.name}\n{original}".encode()).hexdigest()[:16]
    if not (folder / "changes").exists():
        shutil.rmtree(folder, ignore_errors=True)
        make_mutants(mutate, path, original, folder.with_suffix(".part"))
        folder.with_suffix(".part").rename(folder)
    return [Mutant(path, folder / name, what) for name, what in json.loads((folder / "changes").read_text()).items()]


def classified():
    """change -> class, of survivors.txt: lines "class | file | before | after", the reason indented below."""
    known = {}
    for line in pathlib.Path("tests/plants/survivors.txt").read_text().splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            kind, rest = line.split(" | ", 1)
            known[rest] = kind
    return known


class Results:
    """Verdicts of earlier runs that still hold."""

    def __init__(self):
        (WORK / "results").mkdir(exist_ok=True)
        self.library = digest("lib", "include", "cmake")
        self.tests = {layer: digest("tests/support", "tests/forkless", *(f"tests/{name}" for name in names))
                      for layer, names in ABOVE.items()}

    @staticmethod
    def file(mutant, build):
        return WORK / "results" / hashlib.sha256(f"{build}\0{mutant.path}\0{mutant.file.read_text()}".encode()).hexdigest()[:32]

    def get(self, mutant, build):
        try:
            kept = json.loads(self.file(mutant, build).read_text())
        except (OSError, ValueError):
            return None
        if kept["library"] != self.library:
            return None
        return None if kept["verdict"] == "survived" and kept["tests"] != self.tests[mutant.path.parts[1]] else kept["verdict"]

    def put(self, mutant, build, verdict):
        self.file(mutant, build).write_text(json.dumps(
            {"library": self.library, "tests": self.tests[mutant.path.parts[1]], "verdict": verdict}))


class Judgement:
    """Of one run: the builds, the workers, and what is known."""

    def __init__(self):
        copy_sources(SOURCE)
        self.builds, self.lock = {}, threading.Lock()
        self.workers = queue.Queue()
        self.worker_count = int(os.environ.get("ABD_MUTATION_JOBS", len(os.sched_getaffinity(0))))
        for number in range(self.worker_count):
            self.workers.put(Worker(number))
        self.known, self.results = classified(), Results()

    def build(self, name):
        with self.lock:
            if name not in self.builds:
                self.builds[name] = Build(name)
                Worker("-check").check(self.builds[name])
            return self.builds[name]

    def files(self):
        """Sources and headers of lib/ that the builds are made of."""
        deep = {str(path.relative_to(SOURCE)) for name in CHECKED_ONLY for path in SOURCE.glob(f"lib/*/{name}[ch]")}
        found = [pathlib.Path(path) for path in sorted(deep | set(self.build("plain").objects))]
        for path in found:
            if lacked(path):
                print(f"not run here: {path} needs {' '.join(lacked(path))}", flush=True)
        return [path for path in found if not lacked(path)]

    def one(self, mutant, name):
        """The verdict in this build, from an earlier run or by the tests."""
        verdict = self.results.get(mutant, name)
        if verdict is None:
            build = self.build(name)
            worker = self.workers.get()
            try:
                verdict = worker.judge(build, mutant)
            finally:
                self.workers.put(worker)
            self.results.put(mutant, name, verdict)
        if verdict.startswith(("killed", "survived")):
            print(f"{verdict}{'' if verdict != 'survived' else ' in ' + name}: {mutant.change}", flush=True)
        return mutant, verdict


class Sample:
    """Of one layer: its mutants in the order of the seed, until so many have counted."""

    def __init__(self, pool, want):
        self.left, self.want = iter(pool), want
        self.running = self.killed = self.survived = self.same = self.uncompilable = 0

    def counted(self):
        return self.killed + self.survived

    def next(self):
        mutant = next(self.left, None) if self.counted() + self.running < self.want else None
        self.running += mutant is not None
        return mutant

    def add(self, verdict):
        self.running -= 1
        setattr(self, verdict.split()[0], getattr(self, verdict.split()[0]) + 1)


def samples_of(pool, count, seed):
    """A sample per part, in proportion to its mutants (largest remainders)."""
    layers = collections.defaultdict(list)
    for mutant in pool:
        layers[mutant.part()].append(mutant)
    exact = {layer: min(count, len(pool)) * len(members) / len(pool) for layer, members in layers.items()}
    share = {layer: int(part) for layer, part in exact.items()}
    for layer in sorted(exact, key=lambda name: share[name] - exact[name])[:min(count, len(pool)) - sum(share.values())]:
        share[layer] += 1
    for layer, members in layers.items():
        # Sorted by a hash of the change: a sample stays the same except where lines of lib/ have changed. The same change of
        # another line of the file counts as another, or all of them would follow each other.
        times = collections.Counter()
        order = []
        for mutant in members:
            times[mutant.change] += 1
            order.append((hashlib.sha256(f"{seed} {mutant.change} {times[mutant.change]}".encode()).digest(), mutant))
        members[:] = [mutant for _, mutant in sorted(order, key=lambda entry: entry[0])]
    return {layer: Sample(members, share[layer]) for layer, members in layers.items()}


def judge_samples(judgement, samples, name):
    """In one build, until so many have counted; survivors."""
    survivors, running = [], set()
    with concurrent.futures.ThreadPoolExecutor(judgement.worker_count) as executor:
        while True:
            while len(running) < judgement.worker_count:
                mutant = next((mutant for sample in samples.values() for mutant in [sample.next()] if mutant is not None), None)
                if mutant is None:
                    break
                running.add(executor.submit(judgement.one, mutant, name))
            if not running:
                return survivors
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for mutant, verdict in (future.result() for future in done):
                samples[mutant.part()].add(verdict)
                if verdict == "survived":
                    survivors.append(mutant)


def judge_again(judgement, samples, survivors):
    """Under the checkers, what the plain build let pass and is not classified; survivors."""
    unknown = [mutant for mutant in survivors if mutant.change not in judgement.known]
    with concurrent.futures.ThreadPoolExecutor(judgement.worker_count) as executor:
        for mutant, verdict in executor.map(lambda mutant: judgement.one(mutant, "checked"), unknown):
            if verdict.startswith("killed"):
                survivors.remove(mutant)
                samples[mutant.part()].survived -= 1
                samples[mutant.part()].killed += 1
    return survivors


def main():
    mutate, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    judgement = Judgement()
    files = [pathlib.Path(name) for name in sys.argv[4:]] or judgement.files()
    with concurrent.futures.ThreadPoolExecutor(judgement.worker_count) as executor:
        pool = [mutant for found in executor.map(lambda path: mutants_of(mutate, path), files) for mutant in found]
    samples = samples_of(pool, count, seed)
    print(f"{len(pool)} mutants of {len(files)} files; sampling until {count} count", flush=True)
    survivors = judge_samples(judgement, {part: sample for part, sample in samples.items() if part != "checked"}, "plain")
    survivors = judge_again(judgement, samples, survivors)
    survivors += judge_samples(judgement, {part: sample for part, sample in samples.items() if part == "checked"}, "checked")

    kinds = collections.Counter(judgement.known.get(survivor.change, "unclassified") for survivor in survivors)
    killed, total = sum(sample.killed for sample in samples.values()), sum(sample.counted() for sample in samples.values())
    for layer, sample in samples.items():
        print(f"{layer:8} {sample.killed:4} of {sample.counted():4} killed")
    print("survivors: " + ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())))
    print(f"saw: {total} mutants")
    print(f"figure: {100 * killed / max(total, 1):.1f} % of {total} compilable mutants killed, {kinds['unclassified']} survivors "
          f"unclassified ({sum(sample.same for sample in samples.values())} compiled to the same, "
          f"{sum(sample.uncompilable for sample in samples.values())} not at all; target 90 %, 0)")
    return 10 * killed < 9 * total or kinds["unclassified"] > 0


if __name__ == "__main__":
    sys.exit(main())
