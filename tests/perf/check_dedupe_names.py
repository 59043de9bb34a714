#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf run dedupe and names from outside: what is found in a tree is what a plain search finds, which knows no hash.
# usage: check_dedupe_names.py ABD_PERF [TEST...]
import filecmp
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest

PERF = os.path.abspath(sys.argv[1])
FEW = ["--quick", "--repeat", "1"]
NOBODY = 65534


def run(*arguments, **more):
    return subprocess.run([PERF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=240, **more)


def readable(path):
    """Regular files in the order of the walk: directory by directory, by name."""
    for name in sorted(os.listdir(path), key=os.fsencode):
        entry = os.path.join(path, name)
        if os.path.islink(entry):
            continue
        if os.path.isdir(entry):
            yield from readable(entry)
        elif os.path.isfile(entry):
            yield entry


def search(path, size):
    """The same rules, with bytes for keys. Returns [count, bytes] of aligned and of shifted duplicates."""
    contents = []
    for name in readable(path):
        with open(name, "rb") as stream:
            contents.append(stream.read())
    first, found, taken = {}, [[0, 0], [0, 0]], set()
    for number, data in enumerate(contents):
        for at in range(0, len(data), size):
            extent = data[at:at + size]
            if extent in first:
                taken.add((number, at))
                found[0][0] += 1
                found[0][1] += len(extent)
            else:
                first[extent] = (number, at)
    for number, data in enumerate(contents):
        at = 0
        while at + size <= len(data):
            ends = [begin for begin in range(at // size * size, at + size, size) if (number, begin) in taken]
            if ends:
                at = ends[0] + size
                continue
            source = first.get(data[at:at + size])
            if source and (source[0] < number or (source[0] == number and source[1] + size <= at)):
                found[1][0] += 1
                found[1][1] += size
                at += size
            else:
                at += 1
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.tree = self.path("tree")
        os.mkdir(self.tree)
        self.random = random.Random(1234)

    def tearDown(self):
        self.directory.cleanup()

    def path(self, *names):
        return os.path.join(self.directory.name, *names)

    def write(self, name, data):
        with open(self.path("tree", name), "wb") as stream:
            stream.write(data)
        return self.path("tree", name)

    def bytes(self, size):
        return self.random.getrandbits(8 * size).to_bytes(size, "little") if size else b""

    def results(self, *arguments, **more):
        file = self.path("result.json")
        result = run(*arguments, "--json", file, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            return json.load(stream)["results"], result

    def found(self, size, *more, **kinds):
        # Only what is found is looked at here: the proofs need not be timed.
        results, process = self.results("run", "dedupe", *FEW, "--filter", "walking|hash|offsets", "--record-size", str(size),
                                        "--input", self.tree, *more, **kinds)
        return [entry["parameters"] for entry in results if entry["group"] == "found"][0], process

    def same(self, found, size):
        aligned, shifted = search(self.tree, size)
        self.assertEqual([found["duplicates"], found["duplicate_bytes"]], aligned)
        self.assertEqual([found["shifted"], found["shifted_bytes"]], shifted)


class Dedupe(Case):
    def test_known_duplicates_are_found(self):
        data = self.bytes(40960 + 100)
        original, copy = self.write("a", data), self.write("b", data)
        self.write("c", b"odd" + data)
        self.write("d", self.bytes(20000))
        self.assertTrue(filecmp.cmp(original, copy, shallow=False))
        found, _ = self.found(4096)
        # b: ten extents and a tail of 100 bytes; c: the ten extents, three bytes further on.
        self.assertEqual([found["duplicates"], found["duplicate_bytes"]], [11, 41060])
        self.assertEqual([found["shifted"], found["shifted_bytes"]], [10, 40960])
        self.assertEqual([found["files"], found["bytes"]], [4, 3 * 41060 + 3 + 20000])
        self.assertEqual([found["hash_collisions"], found["changed"], found["unreadable"]], [0, 0, 0])
        self.same(found, 4096)

    def test_one_changed_byte_is_one_duplicate_less(self):
        data = bytearray(self.bytes(40960))
        original = self.write("a", data)
        for at in (0, 5000, 40959):
            with self.subTest(at=at):
                other = bytearray(data)
                other[at] ^= 1
                self.assertFalse(filecmp.cmp(original, self.write("b", other), shallow=False))
                found, _ = self.found(4096)
                self.assertEqual([found["duplicates"], found["shifted"]], [9, 0])
                self.same(found, 4096)

    def test_offsets_that_differ_within_their_pages_are_told_apart(self):
        # Extents of 1536 bytes begin at any third of a page; their copies at odd places. A destination read at the source's
        # offset in a page, the bug of the patch of 2021, finds none of them.
        data = self.bytes(1536 * 9)
        self.write("a", data)
        self.write("b", self.bytes(777) + data)
        self.write("c", self.bytes(4095) + data[1536:])
        found, _ = self.found(1536)
        self.assertEqual([found["duplicates"], found["shifted"]], [0, 17])
        self.same(found, 1536)

    def test_windows_across_what_is_read_at_once_are_found(self):
        # Files are scanned a MiB at a time: copies across that border, and one that ends a byte behind it, with the file.
        data, mib = self.bytes(4096 * 2), 1 << 20
        self.write("a", data)
        self.write("b", self.bytes(mib - 1000) + data + self.bytes(100))
        self.write("c", self.bytes(mib + 1 - 4096) + data[:4096])
        found, _ = self.found(4096)
        self.assertEqual([found["duplicates"], found["shifted"]], [0, 3])

    def test_the_same_bytes_around_an_offset_are_no_trap(self):
        # Zeros, so that windows equal extents which they overlap, and themselves.
        self.write("a", b"x" + bytes(5000) + b"y" + bytes(700))
        self.write("b", bytes(3000))
        self.write("c", b"ab" * 2000)
        self.write("d", b"b" + b"ab" * 2000)
        for size in (512, 600, 1024):
            with self.subTest(size=size):
                self.same(self.found(size)[0], size)

    def test_random_trees(self):
        for turn in range(12):
            size = self.random.choice((512, 513, 1000, 4096))
            pieces = [self.bytes(size) for _ in range(4)] + [bytes(size)]
            folder = self.path("tree", str(turn))
            os.mkdir(folder)
            for name in range(self.random.randrange(2, 9)):
                data = b"".join(self.random.choice(pieces)[:self.random.choice((size, size, size // 3))]
                                for _ in range(self.random.randrange(0, 12)))
                cut = self.random.choice((0, 0, 1, 17))
                self.write(os.path.join(str(turn), str(name)), data[cut:])
            with self.subTest(turn=turn, size=size):
                found, _ = self.found(size)
                self.same(found, size)
                self.assertEqual(found["hash_collisions"], 0)

    def test_a_poor_hash_is_found_out_by_the_proofs(self):
        for name in range(20):
            self.write(str(name), self.bytes(512 * 4) + bytes(512) + bytes([name // 2]) * 512)
        found, _ = self.found(512, "--plant-wrong-byte")
        self.assertGreater(found["hash_collisions"], 0)
        self.same(found, 512)

    def test_what_is_no_file_is_counted_and_not_waited_for(self):
        self.write("a", self.bytes(1000))
        self.write("empty", b"")
        self.write("empty too", b"")
        os.mkfifo(self.path("tree", "fifo"))
        os.symlink("nowhere", self.path("tree", "dangling"))
        os.symlink(".", self.path("tree", "loop"))
        os.link(self.path("tree", "a"), self.path("tree", "another name"))
        found, _ = self.found(512)
        self.assertEqual([found["files"], found["bytes"], found["extents"]], [3, 1000, 2])
        self.assertEqual([found["not_regular_or_linked"], found["unreadable"], found["duplicates"]], [4, 0, 0])

    def test_what_may_not_be_read_is_named_and_counted(self):
        data = self.bytes(2048)
        for name in ("a", "b", "c"):
            self.write(name, data)
        os.chmod(self.path("tree", "b"), 0)
        os.mkdir(self.path("tree", "closed"), 0)
        more = {}
        if os.geteuid() == 0:
            # root may read everything: somebody else has to try.
            os.chmod(self.directory.name, 0o777)
            more = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            try:
                if run("list", **more).returncode != 0:
                    self.skipTest("nobody may not run abd-perf")
            except OSError as error:
                self.skipTest(f"nobody may not run abd-perf: {error}")
        try:
            found, process = self.found(512, **more)
        finally:
            os.chmod(self.path("tree", "closed"), 0o700)
        self.assertEqual([found["files"], found["unreadable"], found["duplicates"]], [2, 2, 4])
        for name in ("tree/b", "tree/closed"):
            self.assertIn(f"{name}: Permission denied", process.stderr)

    def test_a_tree_without_files_has_no_duplicates(self):
        found, _ = self.found(4096)
        self.assertEqual([found["files"], found["extents"], found["duplicates"]], [0, 0, 0])

    def test_a_missing_tree_is_refused(self):
        result = run("run", "dedupe", *FEW, "--input", self.path("missing"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file", result.stderr)

    def test_the_made_set_holds_what_it_must_and_every_kernel_is_timed(self):
        results, _ = self.results("run", "dedupe", *FEW)
        made = [entry["parameters"] for entry in results if entry["group"] == "made"][0]
        extents = made["files"] / 2 * 32  # of 128 KiB in 4 MiB
        found = [entry["parameters"] for entry in results if entry["group"] == "found"]
        self.assertEqual([(entry["duplicates"], entry["shifted"]) for entry in found], [(extents, 0), (0, extents)])
        proofs = [entry for entry in results if entry["group"] == "proof"]
        self.assertEqual([entry["name"] for entry in proofs], ["aligned", "shifted"])
        for entry in proofs:
            figures = {figure["name"]: figure["median"] for figure in entry["figures"]}
            for kernel in ("scalar", "word", "libc", "auto"):
                self.assertGreater(figures[kernel], 0)
            self.assertIn("1m30.7s", [ratio["source"] for ratio in entry["ratios"] if ratio["source"]][0])

    def test_a_planted_wrong_byte_fails_the_made_set(self):
        result = run("run", "dedupe", *FEW, "--plant-wrong-byte")
        self.assertEqual(result.returncode, 1)
        self.assertIn("duplicates were found where there are", result.stderr)

    def test_interrupt_keeps_what_was_measured(self):
        file = self.path("result.json")
        process = subprocess.Popen([PERF, "run", "dedupe", "--quick", "--repeat", "500", "--json", file],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "proofs, aligned" in line:
                break
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("ended early", output)
        with open(file) as stream:
            document = json.load(stream)
        self.assertIs(document["complete"], False)
        self.assertGreater(len(document["results"]), 0)


class Names(Case):
    def names(self):
        for folder in ("", "a", "a/b", "a/b/longer-than-eight", "c"):
            os.makedirs(self.path("tree", folder), exist_ok=True)
            for length in (1, 7, 8, 9, 16, 17, 63, 64, 65, 200, 255):
                self.write(os.path.join(folder, "n" * length), b"")

    def test_counts_are_those_of_the_tree(self):
        self.names()
        os.symlink("nowhere", self.path("tree", "link"))
        results, _ = self.results("run", "names", *FEW, "--input", self.tree)
        paths = [os.path.relpath(os.path.join(root, name), self.tree)
                 for root, _, files in os.walk(self.tree) for name in files]
        entries = {"/".join(path.split("/")[:depth]) for path in paths for depth in range(1, path.count("/") + 2)}
        lookups = [entry["parameters"] for entry in results if entry["group"] == "lookup"]
        self.assertEqual(len(lookups), 2)
        for entry in lookups:
            self.assertEqual(entry["paths"], len(paths))
            self.assertEqual(entry["components"], sum(path.count("/") + 1 for path in paths))
            self.assertEqual(entry["entries"], len(entries))

    def test_every_method_is_timed(self):
        self.names()
        results, _ = self.results("run", "names", *FEW, "--input", self.tree)
        methods = {"no compare", "byte loop", "memcmp", "masked words", "ours", "words, then ours", "one pass"}
        for entry in results:
            if entry["group"] == "lookup":
                self.assertLessEqual(methods, {figure["name"] for figure in entry["figures"]})

    def test_a_planted_wrong_byte_in_a_name_is_found(self):
        self.names()
        result = run("run", "names", *FEW, "--input", self.tree, "--plant-wrong-byte")
        self.assertEqual(result.returncode, 1)
        self.assertIn("is wrong", result.stderr)

    def test_a_tree_without_names_and_a_file_are_refused(self):
        for path, words in ((self.tree, "no names"), (self.write("../file", b"x"), "not a directory"),
                            (self.path("missing"), "No such file")):
            with self.subTest(path=path):
                result = run("run", "names", *FEW, "--input", path)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
