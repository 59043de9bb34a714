#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf from outside: what it refuses, what it writes, what it keeps, what it finds.
# usage: check_abd_perf.py ABD_PERF SOURCE_DIRECTORY [TEST...]
import functools
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

PERF = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
FEW = ["--quick", "--repeat", "1"]
USAGE = 64


def run(*arguments, **more):
    return subprocess.run([PERF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=240, **more)


def write_input(path):
    with open(path, "w") as file:
        for number in range(60000):
            file.write(f"line {number} of a text that lz4 makes smaller, {number * number}\n")


@functools.cache
def arc_read():
    """One run of arc-read that several tests look at: (how it ended, its JSON)."""
    with tempfile.TemporaryDirectory() as directory:
        text, file = os.path.join(directory, "input"), os.path.join(directory, "result.json")
        write_input(text)
        result = run("arc-read", *FEW, "--record-size", "8k", "--input", text, "--json", file)
        with open(file) as stream:
            return result, stream.read()


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.input = self.path("input")
        write_input(self.input)

    def tearDown(self):
        self.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def arc(self, *more, **kinds):
        return run("arc-read", *FEW, "--record-size", "8k", "--input", self.input, *more, **kinds)

    def refused(self, result, status, *words):
        self.assertEqual(result.returncode, status, result.stderr)
        said = [line for line in result.stderr.splitlines() if line.startswith("abd-perf:") and " warning: " not in line]
        self.assertEqual(len(said), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class Refusals(Case):
    def test_wrong_flags_name_the_flag_and_exit_64(self):
        for arguments in (["arc-read", "--record-size", "8q"], ["arc-read", "--record-size", "0"],
                          ["arc-read", "--record-size", "99999999999999999999k"], ["arc-read", "--threads", "0"],
                          ["arc-read", "--threads", "x"], ["arc-read", "--repeat", "-1"], ["buffer", "--runtime", "nan"],
                          ["arc-cached-read", "--warmup", "-1"], ["buffer", "--seed", ""], ["buffer", "--cpus", "0-"], ["buffer", "--cpus", "1000"]):
            with self.subTest(arguments=arguments):
                self.refused(run(*arguments), USAGE, arguments[1] + ":")

    def test_unknown_flags_and_no_command_exit_64(self):
        for arguments in (["buffer", "--nonsense"], []):
            with self.subTest(arguments=arguments):
                self.assertEqual(run(*arguments).returncode, USAGE)

    def test_unknown_names_are_refused(self):
        self.refused(run("nothing"), USAGE, "nothing")
        self.refused(run("run", "buffer", "nothing"), USAGE, "nothing")

    def test_a_flag_the_scenario_cannot_use_is_refused(self):
        self.refused(run("buffer", "--input", self.input), USAGE, "--input", "buffer")
        self.refused(run("compare", "--threads", "2"), USAGE, "--threads", "compare")
        self.refused(run("compare", "--warmup", "2"), USAGE, "--warmup", "compare")

    def test_input_that_is_missing_empty_or_special_is_refused(self):
        empty, tree = self.path("empty"), self.path("tree")
        open(empty, "w").close()
        os.mkdir(tree)
        for path, word in ((self.path("missing"), "No such file"), (empty, "empty"), (tree, "no data"),
                           ("/dev/null", "neither a file nor a directory")):
            with self.subTest(path=path):
                self.refused(run("arc-read", "--quick", "--input", path), 1, path, word)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_input_that_may_not_be_read_is_refused(self):
        os.chmod(self.input, 0)
        self.refused(run("arc-read", "--quick", "--input", self.input), 1, self.input, "denied")

    def test_input_smaller_than_a_record_is_refused(self):
        small = self.path("small")
        with open(small, "w") as file:
            file.write("x" * 100)
        result = run("arc-read", *FEW, "--input", small)
        self.assertEqual(result.returncode, 1)
        self.assertIn("less than one record", result.stderr)

    def test_json_where_nothing_can_be_written_is_refused_before_measuring(self):
        result = self.arc("--json", self.path("no/such/directory/file.json"))
        self.refused(result, 1, "--json")
        self.assertNotIn("[1/", result.stderr)


class Json(Case):
    def test_has_the_documented_fields(self):
        result, text = arc_read()
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(text)
        self.assertEqual(document["format"], "abd-perf-1")
        self.assertIs(document["complete"], True)
        self.assertEqual(document["options"]["rounds"], 1)
        self.assertEqual(document["options"]["seed"], 1234)
        for name in ("cpu", "cache_l2", "governor", "thp", "load", "compiler", "flags", "abd_version", "git_revision",
                     "chunk_provider", "compare_kernel", "virtual_machine", "aslr"):
            self.assertIsInstance(document["environment"][name], str)
        self.assertGreater(len(document["results"]), 0)
        for entry in document["results"]:
            self.check_entry(entry)

    def check_entry(self, entry):
        self.assertEqual(set(entry), {"scenario", "group", "name", "parameters", "figures", "ratios"})
        for value in entry["figures"] + entry["ratios"]:
            self.assertLessEqual(value["low"], value["median"])
            self.assertLessEqual(value["median"], value["high"])
            self.assertGreaterEqual(value["mad"], 0)
            self.assertGreaterEqual(value["rounds"], 1)
        for figure in entry["figures"]:
            self.assertGreater(figure["median"], 0)
            self.assertIn(figure["unit"], ("GB/s", "ns", "bytes", "x"))
        for ratio in entry["ratios"]:
            self.assertIn(ratio["verdict"], ("faster", "slower", "can't tell"))
            self.assertEqual(ratio["target"] is None, ratio["target_verdict"] is None)

    def test_sizes_are_exact(self):
        file = self.path("result.json")
        self.assertEqual(run("compare", *FEW, "--record-size", "1m", "--json", file).returncode, 0)
        with open(file) as stream:
            self.assertEqual(json.load(stream)["results"][0]["parameters"]["size"], 1048576)

    def test_one_round_tells_nothing(self):
        verdicts = {ratio["verdict"] for entry in json.loads(arc_read()[1])["results"] for ratio in entry["ratios"]}
        self.assertEqual(verdicts, {"can't tell"})

    def test_fio_data_compresses_as_in_the_source(self):
        # Measured with OpenZFS's generator: 8k to 2866 bytes, of which 4 are ZFS's length.
        sizes = {entry["parameters"]["compressed_bytes"] for entry in json.loads(arc_read()[1])["results"]
                 if entry["parameters"]["data"] == "fio"}
        self.assertGreater(len(sizes), 0)
        for size in sizes:
            self.assertAlmostEqual(size, 2862, delta=3)

    def test_a_full_device_is_an_error(self):
        result = run("buffer", *FEW, "--json", "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)
        self.assertTrue(os.path.exists("/dev/full"))

    def test_a_file_that_can_not_grow_leaves_nothing_and_spares_the_old_one(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        file = self.path("result.json")
        with open(file, "w") as stream:
            stream.write("old")
        before = sorted(os.listdir(self.directory.name))
        result = run("buffer", *FEW, "--json", file, preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("nothing is left", result.stderr)
        self.assertEqual(sorted(os.listdir(self.directory.name)), before)
        with open(file) as stream:
            self.assertEqual(stream.read(), "old")


class Jobs(Case):
    """arc-cached-read's jobs, read as a tool for fio's JSON reads them: by fio's names and units."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            text, file = os.path.join(directory, "input"), os.path.join(directory, "result.json")
            write_input(text)
            cls.result = run("arc-cached-read", "--quick", "--repeat", "2", "--runtime", "0.2", "--warmup", "0.02",
                             "--threads", "3", "--input", text, "--json", file)
            if cls.result.returncode == 0:
                with open(file) as stream:
                    cls.document = json.load(stream)

    def setUp(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)

    def tearDown(self):
        pass

    def test_every_mode_over_both_kinds_of_data_is_a_job(self):
        jobs = {(job["job options"]["abd_data"], job["job options"]["abd_mode"]) for job in self.document["jobs"]}
        self.assertEqual(len(jobs), 10)
        self.assertEqual(len(self.document["jobs"]), 10)
        self.assertEqual({job["job options"]["numjobs"] for job in self.document["jobs"]}, {"3"})

    def test_counts_and_rates_fit_each_other(self):
        for job in self.document["jobs"]:
            read = job["read"]
            seconds = read["runtime"] / 1000
            self.assertEqual(read["io_bytes"], read["total_ios"] * 131072)
            self.assertGreaterEqual(seconds, 0.2)  # and more on a busy machine
            self.assertLess(seconds, 10)
            self.assertAlmostEqual(read["bw_bytes"] * seconds / read["io_bytes"], 1, delta=0.02)
            self.assertAlmostEqual(read["bw"] * 1024 / read["bw_bytes"], 1, delta=0.001)
            self.assertAlmostEqual(read["iops"] * 131072 / read["bw_bytes"], 1, delta=0.001)
            self.assertEqual(read["bw_samples"], 2)
            self.assertLessEqual(read["bw_min"], read["bw_mean"] + 1)
            self.assertLessEqual(read["bw_mean"], read["bw_max"] + 1)
            for direction in ("write", "trim"):
                self.assertEqual(job[direction]["io_bytes"], 0)

    def test_latencies_are_of_every_read_and_in_order(self):
        for job in self.document["jobs"]:
            clat = job["read"]["clat_ns"]
            self.assertEqual(clat["N"], job["read"]["total_ios"])
            names = list(clat["percentile"])
            self.assertEqual(names, sorted(names, key=float))
            for name in ("50.000000", "90.000000", "99.000000", "99.900000"):
                self.assertIn(name, names)
            values = [clat["min"], *clat["percentile"].values(), clat["max"]]
            self.assertEqual(values, sorted(values))
            self.assertLessEqual(clat["min"], clat["mean"])
            self.assertLessEqual(clat["mean"], clat["max"])

    def test_the_table_has_the_published_figure_beside_the_measured_one(self):
        for line in self.result.stdout.splitlines():
            if " single-chunk " in line:
                self.assertRegex(line, r"\d\.\d{3} \[.*\]  about 5 % \(OpenZFS PR 8580\)")


class Runs(Case):
    def test_a_planted_wrong_byte_fails_the_run_and_writes_no_figures(self):
        file = self.path("result.json")
        result = self.arc("--plant-wrong-byte", "--json", file)
        self.assertEqual(result.returncode, 1)
        self.assertIn("was not read back as it was written", result.stderr)
        self.assertFalse(os.path.exists(file))

    def test_list_names_every_scenario(self):
        listed = set(re.findall(r"^(\S+)", run("list").stdout, re.MULTILINE))
        folder = os.path.join(SOURCE, "perf", "scenario")
        written = set()
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as stream:
                written |= set(re.findall(r'^\t\.name = "([^"]+)"', stream.read(), re.MULTILINE))
        self.assertGreater(len(written), 0)
        self.assertEqual(listed, written)

    def test_every_scenario_ends_well(self):
        for name in re.findall(r"^(\S+)", run("list").stdout, re.MULTILINE):
            with self.subTest(name=name):
                result = arc_read()[0] if name == "arc-read" else run(name, *FEW)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"\n{name}", result.stdout)

    def test_env_needs_no_measuring(self):
        result = run("env")
        self.assertEqual(result.returncode, 0)
        self.assertIn("git_revision", result.stdout)

    def test_interrupt_keeps_what_was_measured(self):
        file = self.path("result.json")
        process = subprocess.Popen([PERF, "buffer", "--repeat", "100", "--json", file], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "[6/" in line:
                break
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("ended early", output)
        with open(file) as stream:
            document = json.load(stream)
        self.assertIs(document["complete"], False)
        self.assertGreater(len(document["results"]), 0)

    def test_progress_is_one_line_on_a_terminal(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([PERF, "buffer", *FEW], stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(master)
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"\r\x1b[K", seen)
        self.assertIn(b"s left", seen)
        steps = [line for line in seen.split(b"\n") if b"buffer [" in line]
        self.assertLessEqual(len(steps), 2)


def python_with_matplotlib():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import matplotlib"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def figure(name, median, unit="GB/s"):
    return {"name": name, "unit": unit, "median": median, "low": median * 0.99, "high": median * 1.01, "rounds": 9}


def ratio(of, against, median):
    return {"of": of, "against": against, "median": median, "low": median * 0.99, "high": median * 1.01, "rounds": 9,
            "verdict": "faster", "target": None, "target_verdict": None}


def entry(scenario, group, name, parameters, figures=(), ratios=()):
    return {"scenario": scenario, "group": group, "name": name, "parameters": parameters,
            "figures": [figure(*values) for values in figures], "ratios": [ratio(*values) for values in ratios]}


def made_results():
    """Results whose conclusions are known: no scenario is run for them."""
    results = []
    for size, clwb, best in ((64, 0.3, 0.8), (1024, 9.0, 1.0), (4096, 2.0, 1.25)):
        results.append(entry("flush", "size", "one copy, one fence",
                             {"destination": "linear", "state": "fresh", "size": size, "threads": 1, "batch": 1},
                             [("AUTO", 4.0), ("nt-avx2", 4.0), ("clwb", clwb), ("libpmem", 3.0)],
                             [("AUTO", "best", best), ("AUTO", "libpmem", 1.5)]))
    results.append(entry("flush", "drain", "16 copies", {"size": 64}, ratios=[("NODRAIN, one drain", "ordered", 11.5)]))
    for data, group, value in (("files", "hot", 2.0), ("fio", "hot", 0.5), ("files", "cold", 1.5), ("fio", "cold", 1.5)):
        results.append(entry("codec", group, f"{data} 8k, {group}", {"data": data, "record_size": 8192},
                             [("ours, runs of 4k", 2.0)],
                             [("ours, runs of 4k", "liblz4, linear", value), ("ours, runs of 4k", "liblz4, borrow", 3.0)]))
    results.append(entry("codec", "range", "4k out of 128k, files", {"data": "files"}, [],
                         [("first 4k", "all", 30.0), ("any 4k", "all", 1.75)]))
    results.append(entry("dedupe", "proof", "aligned", {"bytes": 1e9}, [("scalar", 100.0, "ms"), ("auto", 10.0, "ms")],
                         [("auto", "scalar", 10.0), ("word, reading", "scalar, reading", 2.0),
                          ("auto, reading", "scalar, reading", 4.0)]))
    results.append(entry("names", "lookup", "in order", {"paths": 9}, [("memcmp", 9.0, "ns"), ("ours", 8.0, "ns")],
                         [("ours", "memcmp", 1.125)]))
    for length, ours in ((4, 1.0), (64, 3.0)):
        results.append(entry("names", "length", f"names of {length} bytes", {"length": length},
                             [("memcmp", 2.0, "ns"), ("ours", ours, "ns"), ("split + hash", 0.5, "ns")]))
    return results


@unittest.skipIf(python_with_matplotlib() is None, "matplotlib is not there")
class Report(Case):
    def page(self, results):
        """The page of these results in the frame of a run: its text, without pictures."""
        document = json.loads(arc_read()[1])
        document["results"] = results
        file, page = self.path("result.json"), self.path("report.html")
        with open(file, "w") as stream:
            json.dump(document, stream)
        result = self.report(file, "-o", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(page) as stream:
            return stream.read()

    def test_conclusions_follow_from_the_data(self):
        text = self.page(made_results())
        for words in ("AUTO reaches 1.000 of the best fixed policy's speed in the geometric mean of 3 cases, and at least 0.800",
                      "are the fastest at 1k (one thread, linear, 3 sizes)", "libpmem with a drain per run: 1.500",
                      "11.5 times the speed at 64",
                      "Hot, 1.000 times the speed in the geometric mean of 2 sets; the worst 0.500 (fio 8k, hot), 1 below 1",
                      "Cold, 1.500 times the speed in the geometric mean of 2 sets; the worst 1.500 (files 8k, cold), none",
                      "the first are there 30 times as fast as all of it, those at a place at random 1.75 times",
                      "ours for a byte loop: 10.00 times the speed", "a word loop saves 50 % of a byte loop's time, ours 75 %",
                      "ours / memcmp: 1.12", "The fastest: ours at 4; memcmp at 64 bytes"):
            with self.subTest(words=words):
                self.assertIn(words, text)
        # Two of codec, one of flush, one of dedupe, two of names.
        self.assertEqual(text.count('<img class="light"'), 6)

    def test_the_source_stands_beside_what_was_measured(self):
        text = re.sub("</t[dr]>", "", self.page(made_results())).replace('<td class="n">', "|").replace("<td>", "|")
        self.assertIn("|512|0.496|0.373|0.75|||", text)
        self.assertIn("|1024|0.642|0.688|1.07|4|9|2.25", text)

    def test_renders_with_any_result_missing(self):
        results = made_results()
        self.assertNotIn("durable", self.page([part for part in results if part["scenario"] == "names"]))
        for name in ("codec", "flush", "dedupe"):
            self.page([part for part in results if part["scenario"] == name])
        for part in results:
            part["ratios"] = []
        self.page(results)
        for part in results:
            part["figures"] = []
        self.page(results)
        for part in results:
            part["parameters"] = {}
        self.page(results)

    def report(self, *arguments):
        script = os.path.join(SOURCE, "perf", "report", "abd_perf_report.py")
        return subprocess.run([python_with_matplotlib(), script, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)

    def test_is_one_file_that_needs_no_other(self):
        file, page = self.path("result.json"), self.path("report.html")
        with open(file, "w") as stream:
            stream.write(arc_read()[1])
        result = self.report(file, "-o", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(page) as stream:
            text = stream.read()
        self.assertIn("single-chunk rule", text)
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:)', text), [])
        # A light and a dark picture each.
        self.assertEqual(text.count('<img class="light"'), text.count('<img class="dark"'))
        self.assertGreater(text.count("<img"), 0)

    def test_renders_with_scenarios_missing(self):
        file, page = self.path("result.json"), self.path("report.html")
        document = json.loads(arc_read()[1])
        document["results"] = []
        with open(file, "w") as stream:
            json.dump(document, stream)
        self.assertEqual(self.report(file, "-o", page).returncode, 0)

    def test_refuses_what_is_no_result(self):
        file, page = self.path("result.json"), self.path("report.html")
        for text in ("", "{", "{}", "[]", '{"format": "abd-perf-1"}'):
            with self.subTest(text=text):
                with open(file, "w") as stream:
                    stream.write(text)
                result = self.report(file, "-o", page)
                self.assertEqual(result.returncode, 1)
                self.assertNotIn("Traceback", result.stderr)
                self.assertFalse(os.path.exists(page))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
