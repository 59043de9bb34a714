# SPDX-License-Identifier: BSD-2-Clause
"""Shows what abd-perf measured: tables for people, a comparison of two results or of many, rows for a spreadsheet, the page.

abd-perf starts it as `python3 FOLDER COMMAND ...`. It reads results (model.py) and writes what was asked for (output.py).
"""
import argparse
import errno
import json
import os
import re
import sys

import baseline
import counts
import output
from bmf import bmf_text
from columns import print_result
from compare import became_worse, compare, print_comparison
from finish import finish
from model import load, sound
from rows import csv_text

USAGE = 64  # wrong flags: abd-perf exits with the same status
WORSE = 2  # something became slower than allowed


class Parser(argparse.ArgumentParser):
    def __init__(self, command, about, example):
        super().__init__(f"abd-perf {command}", description=about, epilog=example, formatter_class=argparse.RawDescriptionHelpFormatter,
                         allow_abbrev=False)

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def fail(command, words):
    sys.exit(f"abd-perf {command}: {words}")


def read(command, path):
    try:
        return load(path)
    except OSError as error:
        fail(command, f"{path}: {error.strerror}")
    except ValueError as error:
        fail(command, f"{path}: {error}")


def may_write(command, flag, path):
    """Ends the program if the path can't be written to, before work is spent on it."""
    try:
        output.check(path)
    except OSError as error:
        fail(command, f"{flag} {path}: {error.strerror}")


def wrote(command, flag, path, text):
    """Writes text to a file. Returns whether it was written; prints why not."""
    try:
        output.write(path, text)
    except OSError as error:
        print(f"abd-perf {command}: {flag} {path}: {error.strerror}; nothing was written", file=sys.stderr)
        return False
    return True


# ---- commands ------------------------------------------------------------------------------------------------------------

def command_tables(arguments):
    parser = Parser("tables", "The tables of a result, from its file, as `abd-perf run` prints them.",
                    "Example:\n  abd-perf tables result.json --csv result.csv")
    parser.add_argument("result", metavar="RESULT", help="what run wrote by --json or --csv")
    parser.add_argument("--csv", metavar="FILE", help="also write all figures and ratios as rows, for a spreadsheet or to be kept")
    parser.add_argument("--bmf", metavar="FILE", help="also write all figures and ratios in Bencher's metric format")
    options = parser.parse_args(arguments)
    for flag, path in (("--csv", options.csv), ("--bmf", options.bmf)):
        if path is not None:
            may_write("tables", flag, path)
    result = read("tables", options.result)
    print_result(result)
    return write_forms("tables", options, result)


def write_forms(command, options, result):
    """Writes --csv and --bmf; each is tried. Returns an exit status."""
    status = 0
    for flag, path, text in (("--csv", options.csv, csv_text), ("--bmf", options.bmf, bmf_text)):
        if path is not None and not wrote(command, flag, path, text(result)):
            status = 1
    return status


def command_finish(arguments):
    """What `abd-perf run` calls: makes the result of what it reads (finish.py), writes and prints it. Every output is tried. With --check it
    only looks whether they can be written."""
    parser = Parser("run", "", "")
    parser.add_argument("--json")
    parser.add_argument("--csv")
    parser.add_argument("--bmf")
    parser.add_argument("--check", action="store_true")
    options, status = parser.parse_args(arguments), 0
    if options.check:
        for flag, path in (("--json", options.json), ("--csv", options.csv), ("--bmf", options.bmf)):
            if path is not None:
                may_write("run", flag, path)
        return 0
    document = json.load(sys.stdin)
    finish(document)
    result = sound(document)
    if options.json is not None and not wrote("run", "--json", options.json, json.dumps(document, indent=1, ensure_ascii=False) + "\n"):
        status = 1
    status = write_forms("run", options, result) or status
    print_result(result)
    return status


def share(text):
    match = re.fullmatch(r"(\d+(?:\.\d*)?)%", text)
    if not match or float(match[1]) >= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is no share from 0%% to 100%%, such as 5%%".replace("%%", "%"))
    return float(match[1]) / 100


def expression(text):
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None
    return text


def command_compare(arguments):
    parser = Parser("compare", "What changed from result A to result B: for each benchmark the ratio of speeds, B over A, with its interval. What\n"
                    "surely changed, and by most, comes first.",
                    "Examples:\n  abd-perf compare before.json after.json\n"
                    "  abd-perf compare main.json change.json --fail-if-slower 5%\n\n"
                    "Exit status: 0; 1 unreadable input; 2 slower than allowed; 64 wrong flags.")
    parser.add_argument("results", nargs="*", metavar="RESULT.json", help="two of them: A.json B.json")
    parser.add_argument("--fail-if-slower", type=share, metavar="PERCENT",
                        help="exit with 2 when anything surely became slower or larger by more than this, such as 5%%")
    parser.add_argument("--filter", type=expression, default="", metavar="REGEX",
                        help='only benchmarks whose "SCENARIO: NAME, FIGURE" matches')
    parser.add_argument("--all", action="store_true", help="show those that did not surely change, too")
    parser.add_argument("--json", metavar="FILE", help="also write all of it to FILE")
    options = parser.parse_args(arguments)
    if len(options.results) != 2:
        parser.error("two results are compared: A.json B.json (the scenario of this name: abd-perf run compare)")
    if options.json is not None:
        may_write("compare", "--json", options.json)
    comparison = compare(*(read("compare", path) for path in options.results), options.filter)
    print_comparison(comparison, options.all)
    worse = [] if options.fail_if_slower is None else became_worse(comparison, options.fail_if_slower)
    if worse:
        print(f"{len(worse)} are worse by more than {options.fail_if_slower * 100:g} %.")
    if options.json is not None:
        if not wrote("compare", "--json", options.json, json.dumps(comparison, indent=1, ensure_ascii=False) + "\n"):
            return 1
    return WORSE if worse else 0


def system_python():
    """Starts again with /usr/bin/python3 if only that has matplotlib, as when the distribution installed it."""
    import importlib.util
    other = "/usr/bin/python3"
    if importlib.util.find_spec("matplotlib") is None and os.path.exists(other) and os.environ.get("ABD_PERF_PYTHON") != other:
        os.execve(other, [other, "-B", os.path.dirname(os.path.abspath(__file__)), *sys.argv[1:]], {**os.environ, "ABD_PERF_PYTHON": other})


def command_report(arguments):
    parser = Parser("report", "One HTML file that needs no other: what was found, in pictures, sentences and tables; of two results, also\n"
                    "what changed.",
                    "Examples:\n  abd-perf report result.json -o report.html\n"
                    "  abd-perf report before.json after.json -o change.html\n\n"
                    "Needs python3 with matplotlib (Debian: python3-matplotlib).")
    parser.add_argument("results", nargs="*", metavar="RESULT.json", help="one result, or two: A.json B.json")
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE", help="the page (default: report.html)")
    options = parser.parse_args(arguments)
    if not 1 <= len(options.results) <= 2:
        parser.error("no result is named: A.json, or A.json B.json" if not options.results else "a report is of one result or of two")
    may_write("report", "-o", options.output)
    results = [read("report", path) for path in options.results]
    system_python()
    from page import report, summary
    # The charts show the last result given.
    if not wrote("report", "-o", options.output, report(results[-1], compare(*results) if len(results) == 2 else None)):
        return 1
    print(summary(results[-1], options.output))
    return 0


def command_baseline(arguments):
    parser = Parser("baseline", "A result that later ones are checked against, one for each machine.",
                    "Examples:\n  abd-perf baseline save main result.json\n"
                    "  abd-perf baseline check main now.json --fail-if-slower 5%\n\n"
                    "check prints a line for each change. Exit status: 0; 1 unreadable input, or no such baseline; 2 slower than allowed;\n"
                    "3 the baseline is of another machine, nothing is compared; 64 wrong flags.")
    parser.add_argument("action", choices=("save", "check"))
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("result", metavar="RESULT.json")
    parser.add_argument("--dir", default="abd-perf-baselines", metavar="DIR", help="where baselines are kept (default: abd-perf-baselines)")
    parser.add_argument("--fail-if-slower", type=share, default=0, metavar="PERCENT",
                        help="exit with 2 only when something became slower or larger by more than this, such as 5%%")
    options = parser.parse_args(arguments)
    if not baseline.NAME.fullmatch(options.name):
        parser.error(f"'{options.name}' is no name: letters, digits and . _ -")
    status = 0
    try:
        if options.action == "save":
            lines = baseline.save(options.dir, options.name, options.result)
        else:
            status, lines = baseline.check(options.dir, options.name, options.result, options.fail_if_slower)
    except OSError as error:
        fail("baseline", f"--dir {options.dir}: {error.strerror}")
    except ValueError as error:
        fail("baseline", error)
    print("\n".join(lines))
    return status


def command_trend(arguments):
    parser = Parser("trend", "What changed from result to result in a folder, machine by machine, in order of time: a line for each change.",
                    "Example:\n  abd-perf trend results")
    parser.add_argument("folder", metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        print("\n".join(baseline.trend(options.folder)))
    except ValueError as error:
        fail("trend", error)
    return 0


def command_count(arguments):
    parser = Parser("count", "Instructions, allocations and bytes moved of about fifty small operations, as valgrind's callgrind counts them:\n"
                    "the same on any machine, whatever else it does. With FILE, compare them with those kept there.",
                    "Examples:\n  abd-perf count perf/count/counts.csv\n  abd-perf count --record perf/count/counts.csv\n\n"
                    "Exit status: 0; 1 nothing could be counted; 2 more than 1 % more than kept, or another list of operations; 64 wrong flags.")
    parser.add_argument("kept", metavar="FILE", nargs="?", help="counts to compare with")
    parser.add_argument("now", metavar="NOW", nargs="?", help="counts that --record wrote; without it, they are counted")
    parser.add_argument("--record", action="store_true", help="write FILE anew, as after a change that is meant")
    options = parser.parse_args(arguments)
    if options.record and (options.kept is None or options.now is not None):
        parser.error("--record needs one FILE")
    if options.record:
        may_write("count", "--record", options.kept)
    try:
        before = None if options.kept is None or options.record else counts.kept(options.kept)
        after = counts.kept(options.now) if options.now is not None else counts.count_all()
    except (OSError, RuntimeError, ValueError) as error:
        fail("count", f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error)
    if options.record:
        return 0 if wrote("count", "--record", options.kept, counts.text_of(after)) else 1
    if before is None:
        print(counts.text_of(after), end="")
        return 0
    lines, red = counts.compare(before, after)
    print("\n".join([*lines, f"{len({operation for _, operation in after})} operations by {len(counts.KERNELS)} sets of kernels; {red} counts are red"]))
    return WORSE if red else 0


COMMANDS = {"finish": command_finish, "tables": command_tables, "compare": command_compare, "report": command_report, "baseline": command_baseline,
            "trend": command_trend, "count": command_count}


def main():
    if sys.stdout is None:  # closed by whoever started this
        fail(sys.argv[1], os.strerror(errno.EBADF))
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = COMMANDS[sys.argv[1]](sys.argv[2:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the tables stopped early
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except OSError as error:  # stdout can't be written, nor when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(sys.argv[1], error.strerror)
    sys.exit(status)


if __name__ == "__main__":
    main()
