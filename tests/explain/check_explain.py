#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""abd-explain: draws what it drew, says which line is wrong, leaves no half file, and survives garbage.

drawn.txt holds all that is drawn of drawn.script, words.txt only the words and marks of words.script: boxes are alike, and the book's
pictures, which tests/docs compares, show more of them.

usage: check_explain.py PROGRAM [--update]     --update writes what is drawn now; read the difference before it is committed
"""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

HERE = pathlib.Path(__file__).parent
PROGRAM = sys.argv[1]
DRAWN = HERE / "drawn.script"
WORDS = HERE / "words.script"
PICTURES = HERE.parent.parent / "docs/pictures"
CACHE = subprocess.run([PROGRAM, "arc 64k"], capture_output=True).returncode == 0  # or the library was built without
SCRIPTS = [DRAWN, WORDS, *(path for path in sorted(PICTURES.glob("*.script")) if CACHE or "\narc " not in path.read_text())]


def explain(*arguments, script=None, **more):
    """Run the program; a signal (a crash, a checker's report) is never an answer."""
    result = subprocess.run([PROGRAM, *arguments], input=script, capture_output=True, text=script is None or isinstance(script, str),
                            **more)
    # Checkers exit with 1 too, so what is said counts.
    said = result.stderr if isinstance(result.stderr, str) else result.stderr.decode()
    lines = said.splitlines()
    if result.returncode not in (0, 1, 64) or any("Sanitizer" in line or "runtime error" in line for line in lines) or (
            result.returncode == 1 and not (len(lines) == 1 and lines[0].startswith("abd-explain: "))):
        raise AssertionError(f"exit {result.returncode} for {arguments} {script!r}\n{said}")
    return result


def shown(script):
    """What the file of this name with .txt must hold."""
    text = explain("-f", str(script)).stdout
    return text if script == DRAWN else re.sub(r"^(   [+|].*| +[0-9][0-9 ]*|)\n", "", text, flags=re.M)


class Drawings(unittest.TestCase):
    def test_every_script_draws_what_it_drew(self):
        for script in (DRAWN, WORDS):
            self.assertEqual(shown(script), script.with_suffix(".txt").read_text(), script.stem)

    def test_every_script_is_right(self):
        self.assertGreater(len(SCRIPTS), 9)
        for script in SCRIPTS:
            drawn = explain("-f", str(script))
            self.assertEqual((drawn.returncode, drawn.stderr), (0, ""), script.stem)

    def test_a_script_may_be_named_without_an_option(self):
        self.assertEqual(explain(str(DRAWN)).stdout, DRAWN.with_suffix(".txt").read_text())

    def test_text_is_plain_and_at_most_100_columns(self):
        for script in SCRIPTS:
            for line in explain("-f", str(script)).stdout.splitlines():
                self.assertLessEqual(len(line), 100, f"{script.stem}: {line}")
                self.assertTrue(line.isascii() and line == line.rstrip(), f"{script.stem}: {line!r}")

    def test_no_address_is_ever_printed(self):
        for script, form in itertools.product(SCRIPTS, ("text", "svg", "json")):
            self.assertNotRegex(explain("-f", str(script), f"--{form}=-").stdout, r"0x[0-9a-f]{6}|7f[0-9a-f]{10}")

    def test_the_environment_has_no_say(self):
        environment = dict(os.environ, ABD_MAX_ORDER="0", ABD_SCATTER_ENABLED="0", ABD_LINEAR_PAGE="0", ABD_POOL_SIZE="4194304",
                           ABD_SCATTER_MIN_SIZE="100000", ABD_CHUNK_PROVIDER="malloc", ABD_THREAD_CACHE_BYTES="100000000",
                           ABD_COMPARE="scalar", ABD_NONSENSE="x")
        self.assertEqual(explain("-f", str(DRAWN), env=environment).stdout, DRAWN.with_suffix(".txt").read_text())

    def test_svg_is_xml_that_needs_nothing_else(self):
        for script in SCRIPTS:
            svg = explain("-f", str(script), "--svg=-").stdout
            root = xml.dom.minidom.parseString(svg).documentElement
            self.assertEqual(root.tagName, "svg")
            self.assertIn("prefers-color-scheme:dark", svg)
            self.assertNotRegex(svg.replace("http://www.w3.org/2000/svg", ""), r"https?:|href|url\(")

    def test_svg_escapes_what_a_script_says(self):
        svg = explain("--svg=-", "say a < b & c > d").stdout
        text = xml.dom.minidom.parseString(svg).documentElement.getElementsByTagName("text")
        self.assertEqual(text[0].firstChild.data, "a < b & c > d")

    def test_what_svg_draws_lies_inside_the_picture(self):
        for script in SCRIPTS:
            root = xml.dom.minidom.parseString(explain("-f", str(script), "--svg=-").stdout).documentElement
            width, height = int(root.getAttribute("width")), int(root.getAttribute("height"))
            for box in root.getElementsByTagName("rect"):
                self.assertLessEqual(int(box.getAttribute("x") or 0) + int(box.getAttribute("width")), width)
                self.assertLessEqual(int(box.getAttribute("y") or 0) + int(box.getAttribute("height")), height)
            for text in root.getElementsByTagName("text"):
                self.assertLess(int(text.getAttribute("y")), height)

    def test_json_holds_every_step(self):
        for script in SCRIPTS:
            for line in explain("-f", str(script), "--json=-").stdout.splitlines():
                step = json.loads(line)
                self.assertIn(step["outcome"], ("done", "refused", "broken"))
                for shot in step["shots"]:
                    self.assertEqual(sum(part["size"] for part in shot["parts"]), shot["size"], f"{script.stem}: {line}")
                    at = 0
                    for part in shot["parts"]:
                        self.assertEqual(part["off"], at)
                        at += part["size"]


class Truth(unittest.TestCase):
    """What is drawn follows from the rules of the library, computed here anew."""

    @staticmethod
    def orders(pages, largest):
        while pages:
            order = min(pages.bit_length() - 1, largest)
            yield order
            pages -= 1 << order

    def test_runs_are_those_of_openzfs_algorithm(self):
        for size, largest in itertools.product((1536, 4096, 5000, 8192, 12288, 40000, 131072, 600000), (0, 1, 3, 10)):
            step = json.loads(explain("-j-", f"hide; max_order {largest}; show; alloc {size}").stdout)
            parts = step["shots"][0]["parts"]
            self.assertEqual([part["order"] for part in parts], list(self.orders(-(-size // 4096), largest)), (size, largest))
            self.assertEqual(step["shots"][0]["linear"], len(parts) == 1)

    def test_a_view_shows_its_range_of_the_parents_runs(self):
        random.seed(2)
        for _ in range(40):
            size = random.randrange(5000, 100000)
            off = random.randrange(size - 1)
            length = random.randrange(1, size - off)
            steps = [json.loads(line) for line in explain("-j-", f"max_order 0; alloc {size}; view {off} {length}").stdout.splitlines()]
            view = steps[2]["shots"][1]
            at = off
            for part in view["parts"]:
                self.assertEqual((part["run"], part["in"]), (at // 4096, at % 4096))
                at += part["size"]
            self.assertEqual(at, off + length)

    def test_a_borrow_copies_exactly_what_is_not_linear(self):
        for script, copies in (("alloc 8k", 0), ("linear 12k", 0), ("alloc 12k", 1), ("linear_page 0; alloc 8k", 1), ("alloc 12k; gang a", 1)):
            step = json.loads(explain("-j-", f"{script}; borrow 5000").stdout.splitlines()[-1])
            counters = {each["name"]: each["by"] for each in step["counters"]}
            self.assertEqual(counters.get("borrow_copy_bytes", 0), 5000 * copies, script)
            self.assertEqual(sum(shot["kind"] == "memory" for shot in step["shots"]), copies, script)

    def test_what_is_loaded_is_what_the_file_begins_with(self):
        text = (PICTURES / "alice.txt").read_text()
        for script, start in ((f"alloc 8k; load {PICTURES}/alice.txt; read 5000 40", 5000), (f"alloc 1m; load a {PICTURES}/alice.txt; read 131052 20", 131052)):
            note = json.loads(explain("-j-", script).stdout.splitlines()[-1])["notes"][-1]
            self.assertEqual(note, "They are " + re.sub(r"[^!-~]", ".", text[start:start + (40 if start == 5000 else 20)]))

    @unittest.skipUnless(CACHE, "the library was built without the cache")
    def test_a_caches_lists_hold_what_was_put_and_used(self):
        def lists(script):
            shot = json.loads(explain("-j-", script).stdout.splitlines()[-1])["shots"][0]
            return {part["place"]: part["size"] for part in shot["parts"]}
        page = f"alloc 8k; load {PICTURES}/alice.txt; arc 1m; arc_put 1 20; "
        self.assertNotIn("T2", lists(page + "arc_read 99 0 1"))
        once, twice = lists(page + "arc_put 21"), lists(page + "arc_read 3 0 1")
        self.assertEqual(sum(once.values()), sum(twice.values()))
        self.assertTrue(0 < twice["T2"] < twice["T1"] < once["T1"])
        refused = json.loads(explain("-j-", page + "arc_remove 3; arc_read 3 0 1").stdout.splitlines()[-1])
        self.assertEqual((refused["outcome"], refused["notes"]), ("refused", ["-ENOENT: the cache has no such record."]))

    def test_fragmentation_is_real(self):
        for size in (4096, 8192, 65536):
            steps = [json.loads(line) for line in explain("-j-", f"fragment {size}; alloc 256k; pool").stdout.splitlines()]
            self.assertTrue(all(4096 << part["order"] == size for part in steps[1]["shots"][0]["parts"]))
            self.assertEqual(steps[2]["pool"].count("a"), 64)

    def test_nothing_is_left_after_a_reset(self):
        steps = explain("-j-", "fragment 4k; alloc 40k; linear 3k; gang a b; borrow 100; reset; stats; alloc 1m").stdout.splitlines()
        self.assertEqual(json.loads(steps[-2])["notes"], ["All counters are 0."])
        self.assertEqual(json.loads(steps[-1])["shots"][0]["linear_page"], True)


class Mistakes(unittest.TestCase):
    WRONG = (
        ("vew 3", 1, "'vew' is no statement"),
        ("alloc 4k\n\n# fine\nalloc", 4, "expected SIZE after 'alloc'"),
        ("alloc 12q", 1, "such as 3000, 12k or 1m"),
        ("alloc 4k 3", 1, "one word too many: expected alloc SIZE"),
        ("alloc 4k; view b 1", 1, "no buffer 'b': expected one of: a"),
        ("cmp a b", 1, "expected an alloc first"),
        ("alloc 4k\nfree\ncmp a a", 3, "'a' ended in line 2"),
        ("max_order 11", 1, "expected 0 to 10"),
        ("alloc 99999999999999999999", 1, "is not SIZE"),
        ("alloc 99999999999999999g", 1, "is not SIZE"),
        ("alloc -1", 1, "is not SIZE"),
        ("return", 1, "expected a borrow before"),
        ("A = alloc 3", 1, "can't be a name"),
        ("view = alloc 3", 1, "can't be a name"),
        ("x = alloc 3; x = alloc 3", 1, "'x' is taken"),
        ("x =", 1, "expected a statement after '='"),
        ("fragment 5000", 1, "expected 4k, 8k"),
        ("alloc 4k; pool_size 4m", 1, "before the first allocation"),
        ("zeros 100g", 1, "too large"),
        ("zeros 1g; read 0 1g", 1, "too many"),
        ("say", 1, "expected TEXT"),
        ("alloc 4k; write 0", 1, "expected SIZE after '0'"),
        ("alloc \x01", 1, "byte 0x01"),
        ("\n\nsay gr\u00fc\u00df dich", 3, "expected ASCII"),
        ("load x", 1, "'load' needs a buffer"),
        ("alloc 4k; enter 0 5k 1k", 1, "expected a range of a"),
        ("alloc 4k; enter 0 0 1k", 1, "expected a range of a"),
        ("alloc 4k; enter 0 1 3k", 1, "expected a power of two, 1k to 64k"),
        ("alloc 256k; enter 0 1 16k", 1, "expected at most 128k"),
        ("alloc 4k; load", 1, "expected FILE after 'load'"),
        ("alloc 4k; load /nonexistent", 1, "can't be read: expected a file"),
        ("alloc 4k; load /", 1, "can't be read: expected a file"),
        *([("arc 2m", 1, "too large"), ("arc 1", 1, "expected 64k to 1m"), ("arc 1m; arc 1m", 1, "one in a script"),
           ("arc_put 1", 1, "expected arc SIZE first"), ("arc_release", 1, "expected arc_hold first"),
           ("linear 1k; arc 1m; arc_put 1; arc_hold 1; arc_hold 1", 1, "expected arc_release first")] if CACHE else
          [("arc 1m", 1, "built without the cache")]),
        ("gang " + "a " * 300, 1, "at most 256 words"),
    )

    def test_a_wrong_line_is_answered_with_its_number_and_what_was_expected(self):
        for script, line, message in self.WRONG:
            with self.subTest(script[:40]):
                result = explain("-f", "-", script=script)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, "")
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertTrue(result.stderr.startswith(f"abd-explain: line {line}: "), result.stderr)
                self.assertIn(message, result.stderr)

    def test_a_wrong_script_leaves_no_picture_and_no_scrap(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "picture.svg"
            explain("--svg", str(path), "alloc 12k")
            before = path.read_text()
            self.assertEqual(explain("--svg", str(path), "alloc 12k; nonsense").returncode, 1)
            self.assertEqual(path.read_text(), before)
            self.assertEqual(os.listdir(folder), ["picture.svg"])

    def test_a_file_that_cant_be_written_is_an_error_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/taken")
            for path in (f"{folder}/none/picture.svg", f"{folder}/taken"):
                result = explain("--svg", path, "alloc 12k")
                self.assertEqual(result.returncode, 1)
                self.assertIn(path, result.stderr)
            self.assertEqual(os.listdir(folder), ["taken"])
        if os.path.exists("/dev/full"):
            with open("/dev/full", "w") as full:
                for words in (["alloc 12k"], ["--list"]):
                    result = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
                    self.assertEqual(result.returncode, 1)
                    self.assertIn("No space left", result.stderr)

    def test_a_device_is_written_to_and_never_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder) / "picture.svg"
            link.symlink_to("/dev/full")
            result = explain("--svg", str(link), "alloc 12k")
            self.assertEqual(result.returncode, 1)
            self.assertIn("No space left", result.stderr)
            self.assertTrue(link.is_char_device())
            self.assertEqual(explain("--svg", "/dev/null", "alloc 12k").returncode, 0)
            self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_files_have_the_mode_that_the_umask_leaves(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "picture.svg"
            explain("--svg", str(path), "alloc 12k", preexec_fn=lambda: os.umask(0o027))
            self.assertEqual(path.stat().st_mode & 0o777, 0o640)

    def test_wrong_options_are_told(self):
        for arguments in ((), ("-f", "x", "alloc 1"), ("-f", "x", str(SCRIPTS[0]), "alloc"), ("--nonsense",)):
            self.assertEqual(explain(*arguments).returncode, 64, arguments)
        self.assertEqual(explain("-f", "/nonexistent").returncode, 1)
        self.assertEqual(explain("-f", "-", script=b"alloc 4k\0view 3").returncode, 1)

    def test_the_list_names_every_statement_that_the_scripts_use(self):
        listed = {line.split()[0] for line in explain("--list").stdout.splitlines()}
        self.assertGreaterEqual(len(listed), 40)
        for line in explain("--list").stdout.splitlines():
            self.assertLessEqual(len(line), 132)


class Garbage(unittest.TestCase):
    """No script crashes: this is run under AddressSanitizer too."""

    SIZES = ("0", "1", "100", "511", "1535", "1536", "4095", "4k", "4097", "8k", "12k", "100k", "1m", "3m", "1g",
             "18446744073709551615", "9223372036854775808", "4294967296", "x", "")
    COUNT = int(os.environ.get("ABD_TEST_SCRIPTS", "40"))

    def statement(self, words):
        kinds = (words, ("a", "b", "c", "d", "e", "g", "hello"), self.SIZES)
        count = random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))
        rest = [random.choice(random.choice(kinds[1:])) for _ in range(count)]
        return " ".join([random.choice(words), *rest])

    def test_statements_at_random(self):
        random.seed(int(os.environ.get("ABD_TEST_SEED", "1")))
        words = [line.split()[0] for line in explain("--list").stdout.splitlines()]
        for _ in range(self.COUNT):
            good = []
            # Only lines that are right stay, so that later ones meet something.
            for _ in range(12):
                line = self.statement(words)
                if explain("-f", "-", script="\n".join([*good, line])).returncode == 0:
                    good.append(line)
            for form in ("text", "svg", "json"):
                self.assertEqual(explain("-f", "-", f"--{form}=-", script="\n".join(good)).returncode, 0)

    def test_bytes_at_random(self):
        random.seed(int(os.environ.get("ABD_TEST_SEED", "1")))
        letters = b"alloc view gang free 0123456789 km;;##\n\n==\t\r\x00\xff\x7f-%s"
        for _ in range(self.COUNT):
            explain("-f", "-", script=bytes(random.choice(letters) for _ in range(random.randrange(200))))


if __name__ == "__main__":
    if sys.argv[2:] == ["--update"]:
        for each in (DRAWN, WORDS):
            each.with_suffix(".txt").write_text(shown(each))
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[2:])
