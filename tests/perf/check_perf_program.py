#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# abd-perf run, list and env from outside: what they refuse, what they write, what they keep, what they find.
# usage: check_perf_program.py ABD_PERF SOURCE_DIRECTORY [TEST...]
import json
import os
import pty
import re
import resource
import signal
import stat
import subprocess
import sys
import time
import unittest

from perf_support import FEW, PERF, SMALL, SOURCE, USAGE, Case, at_length, measured, python_with, run, scenarios, whole_run, write_input


class Refusals(Case):
    def test_flags_are_taken_and_refused_at_the_edges_of_their_rules(self):
        # The flags of a command line are read before its names, so what is refused of these is the scenario.
        for flag in ("--threads=1", "--threads=1024", "--repeat=500", "--seed=0", "--seed=4294967295", "--record-size=512", "--record-size=16m",
                     "--record-size=16K", "--io-size=1m", "--runtime=0.5", "--warmup=0", "--warmup=86400", f"--cpus={min(os.sched_getaffinity(0))}"):
            with self.subTest(taken=flag):
                self.refused(run("run", "nothing", flag), USAGE, "no scenario is named 'nothing'")
        for flag in ("--threads=0", "--threads=1025", "--threads=2x", "--threads=-1", "--threads=+1", "--repeat=501", "--repeat=-1", "--seed=",
                     "--seed=4294967296", "--record-size=511", "--io-size=16385k", "--runtime=0", "--runtime=nan", "--warmup=-1", "--warmup=86401",
                     "--cpus=", "--cpus=0-", "--cpus=-0", "--cpus=0,", "--cpus=0x", "--cpus=1-0", "--cpus=1000", "--cpus=1024", "--cpus=4294967296",
                     *(f"--record-size={size}" for size in ("", "0", "0k", "k", "-1", "+512", " 512", "512 ", "8q", "8kk", "18014398509481985k",
                                                            "17592186044417m", "99999999999999999999"))):
            with self.subTest(refused=flag):
                self.refused(run("run", "nothing", flag), USAGE, flag.partition("=")[0] + ":")
        self.refused(run("run", "buffer", "--filter", "("), USAGE, "--filter:")

    def test_a_cache_that_no_library_has_is_named(self):
        for file, text in (("/nonexistent.so", "cannot open"), (PERF, "abd-perf"), ("libm.so.6", "abd_perf_life_cache")):
            with self.subTest(file=file):
                result = run("run", "arc-life", "--processes", "1", "--cache", file)
                self.assertEqual(result.returncode, 66)
                self.assertRegex(result.stderr.splitlines()[-1], f"^abd-perf: --cache: .*{text}")
        self.refused(run("run", "buffer", "--cache", "libm.so.6"), USAGE, "--cache")

    def test_unknown_flags_and_no_command_exit_64(self):
        for arguments in (["run", "buffer", "--nonsense"], [], ["list", "name"], ["env", "name"], ["run", "--quick", "--full"], ["run", "--long", "--full"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(run(*arguments).returncode, USAGE)

    def test_unknown_names_are_refused(self):
        self.refused(run("nothing"), USAGE, "nothing")
        self.refused(run("run", "buffer", "nothing"), USAGE, "nothing")

    def test_a_scenario_for_a_command_is_told_how_it_is_run(self):
        self.refused(run("buffer"), USAGE, "abd-perf run buffer")
        self.refused(run("compare", "--all"), USAGE, "abd-perf run compare")

    def test_a_flag_the_scenario_cannot_use_is_refused(self):
        self.refused(run("run", "buffer", "--input", self.input), USAGE, "--input", "buffer")
        self.refused(run("run", "compare", "--threads", "2"), USAGE, "--threads", "compare")

    def test_input_that_is_missing_empty_or_special_is_refused(self):
        empty, tree = self.path("empty"), self.path("tree")
        open(empty, "w").close()
        os.mkdir(tree)
        for path, word in ((self.path("missing"), "No such file"), (empty, "empty"),
                           ("/dev/null", "neither a file nor a directory")):
            with self.subTest(path=path):
                self.refused(run("run", "arc-read", "--quick", "--input", path), 1, path, word)
        result = run("run", "arc-read", *FEW, "--input", tree)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no data", result.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_input_that_may_not_be_read_is_refused(self):
        os.chmod(self.input, 0)
        self.refused(run("run", "arc-read", "--quick", "--input", self.input), 1, self.input, "denied")

    def test_input_smaller_than_a_record_is_refused(self):
        small = self.path("small")
        with open(small, "w") as file:
            file.write("x" * 100)
        result = run("run", "arc-read", *FEW, "--input", small)
        self.assertEqual(result.returncode, 1)
        self.assertIn("less than one record", result.stderr)

    def test_files_that_can_not_be_written_are_refused_before_measuring(self):
        for flag in ("--json", "--csv", "--bmf"):
            for path in (self.path("no/such/directory/file"), self.directory.name, ""):
                with self.subTest(flag=flag, path=path):
                    result = run("run", *FEW, *SMALL, flag, path)
                    self.refused(result, 1, flag)
                    self.assertNotIn("[1/", result.stderr)


def commands():
    """Those that --help lists."""
    return re.findall(r"^  ([a-z][a-z-]*) ", run("--help").stdout.split("Commands:")[1].split("explains")[0], re.MULTILINE)


class Help(Case):
    def test_every_command_is_listed_and_shows_an_example(self):
        self.assertTrue({"run", "report", "tune", "env"} < set(commands()))
        for command in ["", *commands()]:
            with self.subTest(command=command):
                result = run(*([command] if command else []), "--help")
                self.assertEqual(result.returncode, 0)
                self.assertRegex(result.stdout, rf"Examples?:\n +abd-perf {command}")
        self.assertNotIn("memory-child", run("--help").stdout)

    def test_every_flag_is_in_the_reference_and_every_flag_there_is_one(self):
        with open(os.path.join(SOURCE, "docs", "use", "abd-perf.md")) as stream:
            told = set(re.findall(r"`(--[a-z-]+)", stream.read()))
        known = set()
        for command in commands():
            known |= set(re.findall(r"^ .*?(--[a-z-]+)", run(command, "--help").stdout, re.MULTILINE))
        known -= {"--help", "--usage", "--version"}
        self.assertEqual(told - {"--benchmark"}, known)

    def test_list_names_every_scenario(self):
        listed = set(scenarios())
        folder = os.path.join(SOURCE, "perf", "scenario")
        written = set()
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as stream:
                written |= set(re.findall(r'^\t\.name = "([^"]+)"', stream.read(), re.MULTILINE))
        self.assertGreater(len(written), 0)
        self.assertEqual(listed, written)

    def test_what_is_resident_is_the_cache_s_whatever_was_measured_before(self):
        moments = [{figure["name"]: figure["median"] for figure in entry["figures"]} for entry in json.loads(whole_run()[1])["results"]
                   if (entry["scenario"], entry["group"]) == ("arc-life", "moment")]
        self.assertGreaterEqual(len(moments), 8)
        for moment in moments:
            with self.subTest(**moment):
                self.assertGreater(moment["resident"], 0.75 * moment["used"] - 5)
                self.assertLess(moment["resident"], 140)

    def test_what_stands_at_the_top_of_the_page_is_measured(self):
        measured_steps = re.findall(r"^(.*) \[\d+/\d+\]", whole_run()[0].stderr, re.MULTILINE)
        top = re.findall(r"^ +in several processes: (.*)$", run("list").stdout, re.MULTILINE)
        self.assertEqual({steps.split(":")[0] for steps in top}, {"arc-cached-read", "codec", "dedupe", "names", "flush", "statx"})
        for steps in top:
            self.assertTrue(any(re.fullmatch(steps, step) for step in measured_steps), steps)

    def test_env_needs_no_measuring(self):
        result = run("env")
        self.assertEqual(result.returncode, 0)
        self.assertIn("git_revision", result.stdout)


class Json(Case):
    @unittest.skipIf(python_with("jsonschema") is None, "python3-jsonschema is not there")
    def test_is_valid_by_its_schema(self):
        file = self.write("result.json", whole_run()[1])
        check = ("import json, jsonschema, sys\n"
                 "schema, document = (json.load(open(path)) for path in sys.argv[1:])\n"
                 "jsonschema.Draft202012Validator.check_schema(schema)\n"
                 "jsonschema.validate(document, schema, jsonschema.Draft202012Validator)\n")
        schema = os.path.join(SOURCE, "docs", "use", "abd-perf-1.schema.json")
        python = [python_with("jsonschema"), "-c", check, schema]
        result = subprocess.run([*python, file], stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        # And the schema tells what is wrong.
        for damage in (lambda it: it["results"][0]["figures"][0].update(unit="furlongs"), lambda it: it.pop("noise"),
                       lambda it: it["environment"].pop("turbo"), lambda it: it["results"][0].update(more=1)):
            document = json.loads(whole_run()[1])
            damage(document)
            result = subprocess.run([*python, self.write("damaged.json", document)], stderr=subprocess.PIPE, text=True)
            self.assertIn("ValidationError", result.stderr)

    def test_values_are_in_order(self):
        document = json.loads(whole_run()[1])
        self.assertIs(document["complete"], True)
        self.assertEqual([document["options"][name] for name in ("mode", "rounds", "seed")], ["quick", 1, 1234])
        self.assertGreater(len(document["results"]), 0)
        for entry in document["results"]:
            for value in entry["figures"] + entry["ratios"]:
                self.assertLessEqual(value["low"], value["median"])
                self.assertLessEqual(value["median"], value["high"])
                # A share, what is copied or what is resident may be 0; what one loop takes more than another is a difference, below 0 in one round that was disturbed.
                if value.get("unit") not in ("%", "MiB") and value.get("name") not in ("on top", "copied"):
                    self.assertGreater(value["low"], 0, entry)

    def test_the_data_measured_with_is_named(self):
        sources = " ".join(json.loads(whole_run()[1])["sources"])
        self.assertIn("/tree", sources)
        self.assertIn("fio's generator", sources)

    def test_sizes_are_exact(self):
        file = self.path("result.json")
        self.assertEqual(run("run", "compare", *FEW, "--record-size", "1m", "--json", file).returncode, 0)
        with open(file) as stream:
            self.assertEqual(json.load(stream)["results"][0]["parameters"]["size"], 1048576)

    def test_records_are_too_many_to_be_learnt(self):
        found = [entry["parameters"]["distinct_bytes"] for entry in json.loads(whole_run()[1])["results"]
                 if (entry["scenario"], entry["group"]) == ("codec", "hot") and entry["parameters"]["data"] != "files"]
        self.assertGreater(len(found), 0)
        self.assertGreaterEqual(min(found), 12 << 20)

    def test_every_process_has_its_part_in_a_figure(self):
        file = self.path("result.json")
        result = run("run", *FEW, *SMALL, "--processes", "3", "--json", file)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            entry = json.load(stream)["results"][0]
        for value in entry["figures"] + entry["ratios"]:
            self.assertEqual(len(value["processes"]), 3)
            self.assertEqual(value["median"], sorted(value["processes"])[1])
            self.assertTrue(value["low"] <= min(value["processes"]) and max(value["processes"]) <= value["high"])
            self.assertEqual(value["rounds"], 3)

    def test_what_was_counted_stands_with_the_figure(self):
        document = json.loads(whole_run()[1])
        here = set(filter(None, re.split("[;,] ?", document["environment"]["counters"].partition("not available")[0].strip("; "))))
        counted = {name for entry in document["results"] for figure in entry["figures"] for name in figure.get("counters", {})}
        self.assertLessEqual(counted, here)
        self.assertLessEqual(here - counted, {"page faults"})  # warm memory may have none

    def test_one_round_tells_nothing(self):
        verdicts = {ratio["verdict"] for entry in json.loads(whole_run()[1])["results"] for ratio in entry["ratios"]}
        self.assertEqual(verdicts, {"can't tell"})

    def test_fio_data_compresses_as_in_the_source(self):
        # Measured with OpenZFS's generator: 8k to 2866 bytes, of which 4 are ZFS's length.
        sizes = {entry["parameters"]["compressed_bytes"] for entry in json.loads(whole_run()[1])["results"]
                 if entry["scenario"] == "arc-read" and entry["parameters"]["data"] == "fio"
                 and entry["parameters"]["record_size"] == 8192}
        self.assertGreater(len(sizes), 0)
        for size in sizes:
            self.assertAlmostEqual(size, 2862, delta=3)

    def test_rows_say_what_the_json_says(self):
        entries = json.loads(whole_run()[1])["results"]
        rows = whole_run()[2]
        self.assertEqual(len(rows), sum(len(entry["figures"]) + len(entry["ratios"]) for entry in entries))
        at = 0
        for entry in entries:
            for value in entry["figures"] + entry["ratios"]:
                self.assertEqual(rows[at]["scenario"], entry["scenario"])
                self.assertEqual(rows[at]["name"], entry["name"])
                self.assertEqual(rows[at]["of"], value.get("name", value.get("of")))
                self.assertAlmostEqual(float(rows[at]["median"]), value["median"], delta=1e-4 * value["median"])
                at += 1


class Sources(Case):
    """The five sources' measurements, and trees that can't be measured with: a line for each, and the others go on."""

    def results(self, *arguments, status=0, **more):
        file = self.path("result.json")
        result = run("run", *arguments, *FEW, "--json", file, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        with open(file) as stream:
            return result, json.load(stream)["results"]

    def tree(self, *names):
        tree = self.path("tree")
        os.mkdir(tree)
        for name in names:
            write_input(os.path.join(tree, name))
        return tree

    def test_every_source_has_its_claim_with_what_was_published(self):
        ratios = [ratio for entry in json.loads(whole_run()[1])["results"] for ratio in entry["ratios"]]
        self.assertEqual({ratio["claim"] for ratio in ratios}, {"pr8580", "dedupe", "names", "flush", "statx", None})
        for ratio in ratios:
            self.assertEqual(ratio["claim"] is None, ratio["published"] is None, ratio)
            self.assertTrue(ratio["claim"] is None or ratio["source"], ratio)

    def test_the_table_has_the_published_figure_beside_the_measured_one(self):
        lines = [line for line in whole_run()[0].stdout.splitlines() if " single-chunk " in line and "[" in line]
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertRegex(line, r"\d\.\d{3} \[.*\]  about 5 % \(OpenZFS PR 8580\)")

    def test_times_of_reads_are_of_every_mode_and_in_order(self):
        found = [entry for entry in json.loads(whole_run()[1])["results"] if (entry["scenario"], entry["group"]) == ("arc-cached-read", "latency")]
        self.assertEqual(len({tuple(entry["parameters"][name] for name in ("data", "threads", "mode")) for entry in found}), 2 * 2 * 6)
        for entry in found:
            self.assertEqual([figure["name"] for figure in entry["figures"]], ["p50", "p90", "p99", "p99.9"])
            values = [figure["median"] for figure in entry["figures"]]
            self.assertEqual(values, sorted(values))
            self.assertGreater(entry["parameters"]["reads"], 0)

    def test_sources_are_measured_by_one_name(self):
        _, results = self.results("sources", "--filter", "statx: |dedupe: aligned", "--input", self.tree("text"))
        self.assertEqual([entry["scenario"] for entry in results], ["dedupe", "statx"])
        self.refused(run("run", "sources", "buffer"), USAGE, "sources takes no other name")

    def test_the_rule_makes_the_difference_that_is_measured(self):
        work = {(entry["parameters"]["data"], entry["parameters"]["mode"]): {figure["name"]: figure["median"] for figure in entry["figures"]}
                for entry in json.loads(whole_run()[1])["results"] if entry["group"] == "work"}
        copied = {mode: of["copied"] for (data, mode), of in work.items() if data == "fio"}
        self.assertAlmostEqual(copied.pop("openzfs's way"), 2862, delta=3)
        self.assertEqual(set(copied.values()), {0})
        copies, rule = work["fio", "openzfs's way"], work["fio", "single-chunk"]
        self.assertEqual(copies["moved"] - rule["moved"], 2 * copies["copied"])
        if "instructions" in rule:  # where processes can be stepped through
            self.assertGreater(copies["instructions"], rule["instructions"] + 100)
            self.assertLess(work["fio", "cache"]["instructions"], rule["instructions"])

    def test_a_tree_without_files_costs_what_needs_files(self):
        result, results = self.results("dedupe", "names", "codec", "statx", "--input", self.tree(), status=1)
        self.assertEqual([entry["scenario"] for entry in results], ["statx"])
        for words in ("dedupe is left out: ", "names is left out: ", "holds no data that can be read; what needs files is left out"):
            self.assertEqual(len([line for line in result.stderr.splitlines() if words in line]), 1, result.stderr)

    def test_several_processes_say_once_what_is_left_out(self):
        file = self.path("result.json")
        result = run("run", "dedupe", "statx", *FEW[:-2], "--processes", "2", "--input", self.tree(), "--json", file)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("dedupe is left out"), 1)
        with open(file) as stream:
            entry, = json.load(stream)["results"]
        self.assertEqual({len(figure["processes"]) for figure in entry["figures"]}, {2})

    def test_names_are_bytes_and_a_message_is_a_line(self):
        tree = self.tree(*(f"a\nname {'x' * (i % 60)}{i}" for i in range(20)), "\t")
        for i in range(12000):
            open(os.path.join(tree, f"{'y' * (i % 50)}\n{i}"), "w").close()
        os.mkdir(os.path.join(tree, "\n"))
        result, results = self.results("names", "--input", tree)
        self.assertEqual(results[0]["parameters"]["names"], 12022)
        self.assertGreater(len([entry for entry in results if entry["group"] == "lookup"]), 3)
        result, _ = self.results("names", "statx", "--input", os.path.join(tree, "\n"), status=1)
        for line in result.stderr.splitlines():
            self.assertRegex(line, "^(abd-perf|names|statx): ")

    def test_files_that_may_not_be_read_are_counted(self):
        tree = self.tree("good", "secret")
        os.mkdir(os.path.join(tree, "closed"), 0)
        os.chmod(os.path.join(tree, "secret"), 0)
        os.chmod(self.directory.name, 0o777)
        as_nobody = {"preexec_fn": lambda: os.setuid(65534)} if os.geteuid() == 0 else {}
        try:
            may_run = run("env", **as_nobody).returncode == 0
        except PermissionError:  # a checkout in a folder of root's own
            may_run = False
        if not may_run:
            self.skipTest("nobody may run the program")
        file = self.path("result.json")
        result = run("run", "dedupe", "names", *FEW, "--input", tree, "--json", file, **as_nobody)
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("1 file under .* can't be read: Permission denied", "1 folder under .* can't be read: Permission denied"):
            self.assertRegex(result.stderr, words)
        with open(file) as stream:
            self.assertEqual({entry["scenario"] for entry in json.load(stream)["results"]}, {"dedupe", "names"})


class Outputs(Case):
    """What is written, and where; one output's failure leaves the others as they are."""

    def test_a_device_is_written_to_and_never_replaced(self):
        device = self.path("full")
        os.symlink("/dev/full", device)
        for flag, other in (("--json", "--csv"), ("--csv", "--json"), ("--bmf", "--json")):
            for path in ("/dev/full", device):
                with self.subTest(flag=flag, path=path):
                    kept = self.path("kept")
                    result = run("run", *FEW, *SMALL, flag, path, other, kept)
                    self.assertEqual(result.returncode, 1)
                    self.assertIn("No space left", result.stderr)
                    self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
                    self.assertTrue(os.path.islink(device))
                    self.assertGreater(os.path.getsize(kept), 0)  # the other output was written all the same
                    self.assertIn("compare: scattered buffers", result.stdout)  # and so were the tables
                    os.unlink(kept)

    def test_what_can_not_be_printed_is_an_error(self):
        result = self.path("result.json")
        self.assertEqual(run("run", *FEW, *SMALL, "--json", result).returncode, 0)
        for words in (["list"], ["env"], ["tables", result]):
            with self.subTest(words=words):
                with open("/dev/full", "w") as full:
                    self.refused(run(*words, stdout=full), 1, "No space left")
                self.refused(run(*words, preexec_fn=lambda: os.close(1)), 1, "Bad file descriptor")

    def test_a_link_to_a_file_stays_a_link(self):
        file, link = self.write("result.json", "old"), self.path("latest.json")
        os.symlink(file, link)
        self.assertEqual(run("run", *FEW, *SMALL, "--json", link).returncode, 0)
        self.assertTrue(os.path.islink(link))
        with open(file) as stream:
            self.assertEqual(json.load(stream)["format"], "abd-perf-1")

    def test_a_file_that_can_not_grow_leaves_nothing_and_spares_the_old_one(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

        for flag in ("--json", "--csv", "--bmf"):
            with self.subTest(flag=flag):
                file = self.write("result", "old")
                before = sorted(os.listdir(self.directory.name))
                result = run("run", *FEW, *SMALL, flag, file, preexec_fn=limit)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(sorted(os.listdir(self.directory.name)), before)
                with open(file) as stream:
                    self.assertEqual(stream.read(), "old")

    def test_names_that_are_no_utf_8_are_escaped(self):
        strange = os.fsencode(self.directory.name) + b"/n\xff\xc3\xa9"
        os.rename(self.input, strange)
        file, rows = self.path("result.json"), self.path("result.csv")
        result = run("run", "arc-read", *FEW, "--record-size", "8k", "--input", strange, "--filter", b"arc-read|\xfe", "--json", file,
                     "--csv", rows)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file, encoding="utf-8") as stream:
            document = json.load(stream)
        self.assertTrue(document["options"]["input"].endswith("/n\\xffé"), document["options"])
        self.assertEqual(document["options"]["filter"], "arc-read|\\xfe")
        self.assertTrue(any("/n\\xffé" in source for source in document["sources"]))
        self.assertGreater(os.path.getsize(rows), 0)
        self.assertEqual(run("report", file, "-o", self.path("page.html")).returncode, 0)

    def test_without_python_nothing_is_measured_and_one_line_says_so(self):
        if not may_hide():
            self.skipTest("no namespace in which python3 could be hidden")
        for command in (["compare", "a.json", "b.json"], ["report", "a.json"], ["run", *FEW, *SMALL]):
            result = hidden(*command)
            self.assertEqual(result.returncode, 1)
            self.assertEqual([line for line in result.stderr.splitlines() if "needs python3 (Debian: python3)" in line],
                             result.stderr.splitlines())


# In a namespace of its own, where PATH leads nowhere and /usr/bin/python3 can't be started.
HIDE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        'mount --bind /dev/null "$(readlink -f /usr/bin/python3)" && PATH=/nowhere exec "$@"', "hide"]


def may_hide():
    return not os.path.exists("/usr/bin/python3") or subprocess.run([*HIDE, "/bin/true"], stderr=subprocess.DEVNULL).returncode == 0


def hidden(*arguments):
    return subprocess.run([*HIDE, PERF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Runs(Case):
    def results(self, *arguments, **more):
        file = self.path("result.json")
        result = run("run", *FEW, *arguments, "--json", file, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file) as stream:
            return json.load(stream)

    def test_every_scenario_ends_well_in_any_order(self):
        # A scenario's tables read its own results only; "compare", then "arc-read" once ended in a segmentation fault.
        for name in scenarios():
            with self.subTest(name=name):
                self.assertRegex(whole_run()[0].stdout, rf"\n{name}: ")

    def test_memory_comes_back_whatever_the_pattern(self):
        # Regions are there in every build, and so is the C library's malloc; 64 MiB are in use at most.
        for result in json.loads(whole_run()[1])["results"]:
            if result["scenario"] != "memory":
                continue
            mib = {figure["name"]: figure["median"] for figure in result["figures"]}
            with self.subTest(name=result["name"], mib=mib):
                self.assertLessEqual(mib["in use"], 64)
                for source in mib:
                    self.assertGreaterEqual(mib[source] + 1, mib["in use"])  # Linux counts in lumps of 256 KiB
                self.assertLessEqual(mib["regions"], 1.25 * 64 + 16)
                if result["name"].endswith("after a reap"):
                    self.assertLessEqual(mib["regions"], 1.25 * mib["in use"] + 16)

    def test_memory_has_every_pattern_and_those_asked_for(self):
        results = self.results("memory", "--filter", "sparse")["results"]
        self.assertEqual([result["group"] for result in results], ["sparse"] * 21)
        groups = {result["group"] for result in json.loads(whole_run()[1])["results"] if result["scenario"] == "memory"}
        self.assertEqual(groups, {"burst", "churn", "shift", "sparse"})

    def test_a_source_of_memory_that_is_not_there_is_told_from_one_that_failed(self):
        # "plain jemalloc" without jemalloc as the process's malloc, and a provider that no build has.
        for source in ("plain jemalloc", "nothing"):
            self.assertEqual(run("memory-child", source, "burst", "1048576").returncode, 3)
        self.assertEqual(len(run("memory-child", "regions", "shift", "1048576").stdout.splitlines()), 21)
        for wrong in ([], ["regions", "nonsense", "1048576"]):
            self.assertEqual(run("memory-child", *wrong).returncode, USAGE)

    def test_tables_are_those_of_the_run_whatever_stands_before_them(self):
        def tables(document):
            return run("tables", self.write("part.json", document)).stdout

        whole = json.loads(whole_run()[1])
        parts = [{**whole, "results": [entry for entry in whole["results"] if entry["scenario"] == name]} for name in scenarios()]
        self.assertEqual(tables({**whole, "results": [entry for part in parts for entry in part["results"]]}),
                         "".join(tables(part) for part in parts))

    def test_a_scenario_without_columns_of_its_own_has_tables(self):
        document = json.loads(measured(*SMALL)[1])
        for entry in document["results"]:
            entry["scenario"] = "new"
        said = run("tables", self.write("new.json", document)).stdout
        self.assertIn("new: sizes", said)
        self.assertIn("abd_cmp", said)

    @at_length
    def test_a_planted_wrong_byte_fails_the_run_and_has_no_figures(self):
        file = self.path("result.json")
        for arguments, words in ((["arc-read", "--record-size", "8k", "--input", self.input], "was not read back as it was written"),
                                 (["lz4", "--record-size", "128k", "--input", self.input], "was not what it should be"),
                                 (["flush", "--record-size", "512"], "copied 512 bytes wrong"),
                                 (["arc-cached-read", "--filter", "fio, 1 thread|buffer: view"], "was not what it should be"),
                                 (["dedupe", "--input", self.input], "answers were wrong"), (["statx"], "what it should hold"),
                                 (["names", "--input", self.directory.name], "did not find what is there"),
                                 (["sums"], "fletcher of 512: scattered and linear memory differ")):
            with self.subTest(arguments=arguments):
                # What other scenarios measured is kept.
                result = run("run", *FEW, *arguments, "buffer", "--plant-wrong-byte", "--json", file)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                with open(file) as stream:
                    entries = json.load(stream)["results"]
                of = [entry for entry in entries if entry["scenario"] == arguments[0]]
                self.assertEqual([(entry["wrong"], entry["figures"], entry["ratios"]) for entry in of], [(True, [], [])])
                self.assertIn(f"WRONG {arguments[0]}: {of[0]['name']}", result.stdout)
                self.assertTrue(any(entry["figures"] for entry in entries))

    def test_the_lines_that_set_flush_s_crossovers_are_for_a_shell(self):
        result = run("run", "flush", *FEW, "--filter", "plans")
        lines = re.findall("^export ABD_(FLUSH_[A-Z]+)='([^' ]+)'$", result.stdout, re.MULTILINE)
        self.assertEqual([name for name, _ in lines], ["FLUSH_AUTO", "FLUSH_SHARED", "FLUSH_EXCLUSIVE"], result.stderr)

    def test_a_filter_leaves_only_what_matches(self):
        names = {entry["name"] for entry in self.results("buffer", "--filter", "^buffer: VIEW")["results"]
                 if entry["group"] == "cost"}
        self.assertGreater(len(names), 1)
        self.assertEqual({name for name in names if not name.startswith("view")}, set())

    def test_a_filter_that_matches_nothing_says_so(self):
        file = self.write("result.json", "old")
        result = run("run", *FEW, "compare", "--record-size", "512", "--filter", "no such step", "--json", file)
        self.assertEqual(result.returncode, 1)
        self.assertIn("left nothing", result.stderr.splitlines()[-1])
        with open(file) as stream:
            self.assertEqual(stream.read(), "old")

    @at_length
    def test_one_cpu_is_enough(self):
        one = {min(os.sched_getaffinity(0))}
        document = self.results("flush", "arc-read", "arc-cached-read", "--record-size", "16k", "--input", self.input,
                                preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual({entry["scenario"] for entry in document["results"]}, {"flush", "arc-read", "arc-cached-read"})
        self.assertEqual({entry["parameters"].get("threads", 1) for entry in document["results"]}, {1, 64})  # 64 are the source's

    def test_a_lack_of_memory_costs_no_figures_of_before(self):
        file = self.path("result.json")
        limit = 400 << 20
        result = run("run", *FEW, "compare", "flush", "--record-size", "512", "--json", file, env={**os.environ, "ABD_CHUNK_PROVIDER": "malloc"},
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no memory for 1 scattered buffers", result.stderr.splitlines()[-1])
        with open(file) as stream:
            document = json.load(stream)
        self.assertEqual({entry["scenario"] for entry in document["results"]}, {"compare"})
        self.assertIs(document["complete"], False)
        self.assertIn("compare: scattered buffers", result.stdout)

    def test_warming_up_takes_its_time(self):
        def cpu():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        start, before = time.monotonic(), cpu()
        self.results(*SMALL, "--warmup", "0.5")
        self.assertGreater(time.monotonic() - start, 0.5)
        self.assertGreater(cpu() - before, 0.02)

    def test_the_environment_chooses_the_kernel_and_holds(self):
        # Kernels are raced at 4k, in between: what follows must be measured with what was asked for.
        document = self.results("compare", "--filter", "compare: (4k|8k|kernels, 4k)$",
                                env={**os.environ, "ABD_COMPARE": "word"})
        self.assertTrue(document["environment"]["compare_kernel"].startswith("word"))
        kernels = {entry["name"]: entry["parameters"]["kernel"] for entry in document["results"] if entry["group"] == "sizes"}
        self.assertEqual(kernels, {"4k": "word (set)", "8k": "word (set)"})

    def test_how_long_it_takes_is_said_first(self):
        result = run("run", "compare", "--record-size", "512", *FEW)
        self.assertEqual(result.returncode, 0)
        lines = [line for line in result.stderr.splitlines() if "warning" not in line]
        self.assertRegex(lines[0], r"^abd-perf: this will take about \d+ s")
        self.assertRegex(lines[1], r"^compare: 512 \[1/\d+\], about \d.* left")

    def test_what_has_phases_takes_as_long_as_they_do(self):
        # 8 phases and the noise, of 75 s each
        process = subprocess.Popen([PERF, "run", "arc-life", "--full", "--processes", "1", "--runtime", "75"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "take about" in line:
                break
        process.kill()
        process.communicate()
        self.assertIn("about 11 min 15 s;", line)

    def test_interrupt_keeps_what_was_measured(self):
        file = self.path("result.json")
        process = subprocess.Popen([PERF, "run", "buffer", *FEW, "--repeat", "10", "--json", file], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "[6/" in line:
                break
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertIn("ended early", output)
        with open(file) as stream:
            document = json.load(stream)
        self.assertIs(document["complete"], False)
        self.assertGreater(len(document["results"]), 0)

    def test_interrupt_in_a_later_process_keeps_the_whole_one_before_it(self):
        file = self.path("result.json")
        process = subprocess.Popen([PERF, "run", *FEW, *SMALL, "--processes", "9", "--repeat", "10", "--runtime", "1", "--json", file],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        later = False
        for line in process.stderr:
            later = later or "abd-perf: process 2" in line
            if later and "compare: 512 [" in line:
                break
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        output, _ = process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertIn("ended early", output)
        with open(file) as stream:
            document = json.load(stream)
        self.assertIs(document["complete"], False)
        rounds = {value["rounds"] for entry in document["results"] for value in entry["figures"] + entry["ratios"]}
        self.assertGreaterEqual(min(rounds), 10)  # those of the first process
        self.assertLess(max(rounds), 20)

    def test_progress_is_one_line_on_a_terminal(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([PERF, "run", "compare", "--record-size", "512", *FEW], stdout=subprocess.DEVNULL, stderr=slave)
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
        steps = [line for line in seen.split(b"\n") if b"compare: " in line]
        self.assertLessEqual(len(steps), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
