# SPDX-License-Identifier: BSD-2-Clause
"""All figures and ratios of a result as rows of comma-separated values, for a spreadsheet or to be kept; and the result that rows came from.

Each row says where, when, by which command and beside how much other work it was measured, so rows of several results can stand in one sheet.
Invariant: the tables of what document_of() makes of csv_text() are those of the result, and csv_text() of it is the same text.
"""
import csv
import io
import re
import shlex

HEADINGS = ("scenario", "group", "name", "conditions", "of", "against", "unit", "median", "low", "high", "mad", "rounds", "verdict",
            "target", "target_verdict", "claim", "published", "source", "machine", "date", "commit", "busy", "command")
NUMBERS = ("median", "low", "high", "mad")
FLAGS = {"rounds": "--repeat", "seed": "--seed", "filter": "--filter", "input": "--input"}


def command(result):
    """What measured the result, as far as it notes its flags."""
    options = result["options"]
    words = dict.fromkeys(entry["scenario"] for entry in result["results"])
    flags = [f"--{options['mode']}"] if options.get("mode") in ("quick", "full") else []
    for name, flag in FLAGS.items():
        flags += [flag, options[name]] if options.get(name, "null") != "null" else []
    processes = max((len(item["processes"]) for entry in result["results"] for item in entry["figures"]), default=0)
    return shlex.join(["abd-perf", "run", *words, *flags, *(["--processes", str(processes)] if processes > 1 else [])])


def origin(result):
    """Machine, date, commit, other load and command: the last fields of each row."""
    fact = result["environment"].get
    family = re.search(r"\((\w+), measured\)", fact("compare_kernel", ""))
    machine = fact("cpu", "") + (f" ({family[1]})" if family else "") + (f", CPUs {fact('cpus_used')}" if fact("cpus_used") else "")
    return [machine, fact("time", "")[:10], fact("git_revision", ""), fact("busy_during", ""), result["options"].get("command") or command(result)]


def plain(value):
    """The shortest text from which the same number, or text, comes back."""
    return str(int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value)


def csv_text(result):
    """A row per figure and per ratio; one field holds all conditions: size=65536; threads=1."""
    text, end = io.StringIO(), origin(result)
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADINGS)
    for entry in result["results"]:
        conditions = "; ".join(f"{name}={plain(value)}" for name, value in entry["parameters"].items())
        head = [entry["scenario"], entry["group"], entry["name"], conditions]
        for item in entry["figures"] + entry["ratios"]:
            target = item.get("target")
            rows.writerow([*head, item.get("name", item.get("of")), item.get("against", ""), item.get("unit", "ratio"),
                           *(plain(item[name]) for name in NUMBERS), item["rounds"], item.get("verdict", ""),
                           "" if target is None else f"{target:g}", item.get("target_verdict", ""), item.get("claim", ""),
                           plain(item.get("published") or ""), item.get("source", ""), *end])
    return text.getvalue()


# ---- and back --------------------------------------------------------------------------------------------------------------

def number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text


def entry_of(row):
    conditions = (part.partition("=") for part in re.split("; (?=[^=;]*=)", row["conditions"]) if part)
    return {**{name: row[name] for name in ("scenario", "group", "name")}, "figures": [], "ratios": [],
            "parameters": {name: number_or_text(value) for name, _, value in conditions}}


def document_of(text):
    """The result whose rows these are, in the form of its JSON; ValueError if they are none. What rows lack (processes, counters), it lacks."""
    rows = csv.DictReader(io.StringIO(text), strict=True)
    results, end = {}, {}
    try:
        for row in rows:
            if tuple(row) != HEADINGS or None in row.values():
                raise ValueError(f"line {rows.line_num} does not have the fields {', '.join(HEADINGS)}")
            item = {**{name: number_or_text(row[name]) for name in (*NUMBERS, "rounds", "target", "published")},
                    **{name: row[name] for name in ("unit", "verdict", "target_verdict", "claim", "source")}}
            entry = results.setdefault(tuple(row[name] for name in HEADINGS[:4]), entry_of(row))
            if row["unit"] == "ratio":
                entry["ratios"].append({**item, "of": row["of"], "against": row["against"]})
            else:
                entry["figures"].append({**item, "name": row["of"]})
            end = row
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: {error}") from None
    return {"format": "abd-perf-1", "results": list(results.values()), "options": {"command": end.get("command", "")},
            "environment": {"cpu": end.get("machine", ""), "time": end.get("date", ""), "git_revision": end.get("commit", ""),
                            "busy_during": end.get("busy", "")}}
