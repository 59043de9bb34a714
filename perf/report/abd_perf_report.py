#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One HTML file from the JSON of abd-perf: what matters first, a chart per question with what to conclude, all figures in tables.

The file needs nothing else: pictures are inside it, and follow the window's width and its light or dark colours.
usage: abd_perf_report.py RESULT.json [-o REPORT.html] [--compare LATER.json COMPARISON.json]
"""
import argparse
import html
import json
import os
import sys

from abd_perf_report_chart import COLOURS
from abd_perf_report_findings import findings, questions
from abd_perf_report_scale import section_churn, section_hits
from abd_perf_report_sections import (cell, section, section_arc, section_buffer, section_cached, section_codec, section_compare,
                                      section_dedupe, section_flush, section_flush_threads, section_keys, section_latency,
                                      section_names, section_stats)

# The series' colours in the dark, lighter than those of the light.
DARK = ["#58b0e8", "#ff8a4c", "#35c79b", "#e0a3c4", "#f0b840", "#8ad0f5"]
SHOWN = 40  # rows of a comparison that are open to begin with

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>abd-perf</title><style>
:root {{ color-scheme: light dark; --text: #222; --page: #fff; --line: #ddd; --soft: #f4f6f8; --good: #08602f; --bad: #a32a00;
  {light} }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #ddd; --page: #181818; --line: #3a3a3a; --soft: #242628; --good: #6fce96; --bad: #ff9d76; {dark} }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 60rem;
  margin: auto; padding: 1rem; overflow-wrap: break-word }}
h1 {{ font-size: 1.5rem; line-height: 1.25 }} h2 {{ font-size: 1.25rem; line-height: 1.3; margin-top: 2.4rem }}
h3 {{ font-size: 1rem; margin-bottom: .3rem }}
figure {{ margin: .5rem 0 }} svg {{ width: 100%; height: auto }} svg text {{ font-family: system-ui, sans-serif !important }}
svg.narrow {{ display: none }}
.headline {{ background: var(--soft); border-radius: .5rem; padding: .3rem 1rem }} .headline li {{ margin: .5rem 0 }}
.conclude {{ border-left: .25rem solid var(--c0); padding-left: .75rem }}
.claim {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: .2rem 1rem; border-top: 1px solid var(--line);
  padding: .6rem 0 }}
.claim b {{ grid-column: 1 / -1 }} .claim small {{ display: block; font-size: .8rem; opacity: .75 }}
.scroll {{ overflow-x: auto }} table {{ border-collapse: collapse; font-size: .85rem }}
th, td {{ border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top }}
.tight td, .tight th {{ white-space: nowrap }}
td.n {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }}
.faster, .met, .smaller {{ color: var(--good) }} .slower, .missed, .larger {{ color: var(--bad) }}
summary {{ cursor: pointer; font-size: 1.25rem; font-weight: bold; margin-top: 1.5rem }}
@media (max-width: 640px) {{
  svg.wide {{ display: none }} svg.narrow {{ display: block }} .claim {{ grid-template-columns: 1fr }}
  table {{ font-size: .9rem }} th, td {{ padding: .3rem .5rem }} ul {{ padding-left: 1.2rem }} }}
</style></head><body>
{body}
</body></html>
"""


def table(document):
    rows = []
    for entry in document["results"]:
        for figure in entry["figures"]:
            rows.append(f"<tr><td>{html.escape(entry['scenario'])}</td><td>{html.escape(entry['name'])}</td>"
                        f"<td>{html.escape(conditions(entry))}</td>"
                        f"<td>{html.escape(figure['name'])}</td>{cell(format(figure['median'], '.4g'))}"
                        f"<td>{html.escape(figure['unit'])}</td>{cell(format(figure['low'], '.4g'))}"
                        f"{cell(format(figure['high'], '.4g'))}{cell(figure['rounds'])}</tr>")
    return (f"<details><summary>All {len(rows)} figures</summary><div class=scroll><table class=tight><tr><th>scenario<th>case"
            f"<th>conditions<th>path<th>median<th>unit<th>low<th>high<th>rounds</tr>{''.join(rows)}</table></div></details>")


def conditions(entry):
    return " ".join(f"{name}={entry['parameters'][name]}" for name in ("destination", "state", "size", "batch", "threads")
                    if entry["scenario"] == "flush" and name in entry["parameters"])


def table_ratios(document):
    rows = []
    for entry in document["results"]:
        for ratio in entry["ratios"]:
            target = "" if ratio["target"] is None else f"{ratio['target']:g}: {ratio['target_verdict']}"
            kind = (ratio["target_verdict"] or "").replace("can't tell", "")
            rows.append(f"<tr><td>{html.escape(entry['scenario'])}</td><td>{html.escape(entry['name'])}</td>"
                        f"<td>{html.escape(conditions(entry))}</td>"
                        f"<td>{html.escape(ratio['of'])} / {html.escape(ratio['against'])}</td>"
                        f"{cell(format(ratio['median'], '.3f'))}{cell(format(ratio['low'], '.3f'))}"
                        f"{cell(format(ratio['high'], '.3f'))}"
                        f'<td class="{ratio["verdict"].replace(" ", "-")}">{html.escape(ratio["verdict"])}</td>'
                        f'<td class="{kind}">{html.escape(target)}</td><td>{html.escape(ratio.get("source") or "")}</td></tr>')
    return (f"<details><summary>All {len(rows)} ratios</summary><div class=scroll><table class=tight><tr><th>scenario<th>case"
            "<th>conditions<th>ratio of speeds<th>median<th>low<th>high<th>verdict<th>target<th>the source</tr>"
            f"{''.join(rows)}</table></div></details>")


def trust(document):
    """The machine and the build, and how far the figures can be trusted."""
    facts = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
                    for name, text in document["environment"].items())
    sources = "".join(f"<li>{html.escape(text)}</li>" for text in document.get("sources", []))
    warnings = "".join(f"<li>{html.escape(text)}</li>" for text in document["warnings"])
    noise, options = document["noise"], document["options"]
    asked = ", ".join(f"{name} {value}" for name, value in options.items() if value not in (None, 0, ""))
    return section(
        "The machine, and how far to trust it",
        f"<p>The same code against itself, measured first: {noise['median']:.3f} [{noise['low']:.3f}, {noise['high']:.3f}]. Differences "
        "smaller than that mean nothing here, and get no verdict.</p>",
        f"<ul class=slower>{warnings}</ul>" if warnings else "<p>No warnings: the machine was quiet enough.</p>",
        f"<p>Asked for: {html.escape(asked)}.</p>",
        f"<p>Measured with:</p><ul>{sources}</ul>" if sources else "",
        f"<div class=scroll><table>{facts}</table></div>")


def headline(document):
    items = "".join(f"<li>{html.escape(text)}</li>" for text in findings(document))
    doubt = " <b class=slower>Read with care: this run has warnings, at the end.</b>" if document["warnings"] else ""
    return (f"<div class=headline><ul>{items}</ul></div>" if items else "") + (f"<p>{doubt}</p>" if doubt else "")


def five(document):
    """Claim and measurement side by side."""
    rows = "".join(
        f"<div class=claim><b>{html.escape(question)}</b><span><small>source</small>{html.escape(source)}</span>"
        f"<span><small>its claim</small>{html.escape(claim)}</span>"
        f"<span><small>measured here</small>{html.escape(here or 'not measured')}</span>"
        f"<span><small>so</small>{html.escape(advice or '')}</span></div>"
        for question, source, claim, here, advice in questions(document))
    return section("Five claims, and this machine", rows)


def changed_table(pairs):
    rows = "".join(f"<tr><td>{html.escape(pair['scenario'])}: {html.escape(pair['name'])}</td><td>{html.escape(pair['figure'])}</td>"
                   f"{cell(format(pair['a'], '.4g'))}{cell(format(pair['b'], '.4g'))}<td>{html.escape(pair['unit'])}</td>"
                   f"{cell(format(pair['median'], '.3f'))}{cell(format(pair['low'], '.3f'))}{cell(format(pair['high'], '.3f'))}"
                   f'<td class="{pair["verdict"].replace(" ", "-")}">{html.escape(pair["verdict"])}</td></tr>' for pair in pairs)
    return ("<div class=scroll><table class=tight><tr><th>benchmark<th>path<th>before<th>after<th>unit<th>after / before<th>low<th>high"
            f"<th>verdict</tr>{rows}</table></div>")


def changes(comparison):
    """Of two runs: what changed from the first to the second."""
    pairs = comparison["pairs"]
    sure = [pair for pair in pairs if pair["verdict"] != "can't tell"]
    better = sum(pair["median"] > 1 for pair in sure)
    differ = "".join(f"<li>{html.escape(name)}: {html.escape(str(before))}, then {html.escape(str(after))}</li>"
                     for name, (before, after) in comparison["differences"].items())
    said = (f"Nothing changed: of {len(pairs)} benchmarks none differs by more than these rounds can tell, or by more than "
            f"{comparison['margin'] * 100:.1f} %." if not sure else
            f"Of {len(pairs)} benchmarks {better} are better and {len(sure) - better} are worse; of {len(pairs) - len(sure)} one can't "
            "tell. Speeds, after over before, what is surest to have changed most first.")
    missing = comparison["only_a"] + comparison["only_b"]
    return section(
        "What changed", f"<p class=conclude>{said}</p>",
        f"<p>What differs between the machines, builds and flags:</p><ul>{differ}</ul>" if differ else "",
        f"<p>{missing} figures are only in one of the runs.</p>" if missing else "",
        changed_table(sure[:SHOWN]) if sure else "",
        f"<details><summary>All {len(pairs)} benchmarks</summary>{changed_table(pairs)}</details>" if pairs else "")


SECTIONS = (section_cached, section_latency, section_arc, section_codec, section_flush, section_flush_threads, section_compare,
            section_keys, section_dedupe, section_names, section_stats, section_buffer, section_hits, section_churn)


def report(document, comparison=None):
    fact = document["environment"].get
    early = "" if document["complete"] else "<p class=slower>This run was ended early.</p>"
    head = (f"<h1>What libabd's buffers are worth on this machine</h1>{early}<p>abd-perf, {html.escape(fact('cpu', ''))}, "
            f"{html.escape(fact('time', ''))}, revision {html.escape(fact('git_revision', ''))}. Every ratio is one of speeds, so above 1 "
            f"is faster: the median of {document['options'].get('rounds')} interleaved rounds, with the 95 % interval of that "
            "median.</p>")
    parts = [head, headline(document), changes(comparison) if comparison else "", five(document)]
    parts += [make(document) for make in SECTIONS]
    parts += [trust(document), table_ratios(document), table(document)]
    return PAGE.format(body="\n".join(part for part in parts if part),
                       light=" ".join(f"--c{i}: {colour};" for i, colour in enumerate(COLOURS)),
                       dark=" ".join(f"--c{i}: {colour};" for i, colour in enumerate(DARK)))


def summary(document, output):
    """For the terminal: the five questions, where the page is, and what matters."""
    lines = []
    for question, source, claim, here, advice in questions(document):
        lines += [f"{question}", f"  {source}: {claim}", f"  here: {here or 'not measured'}"] + ([f"  so: {advice}"] if advice else [])
    lines += ["", f"The report is {os.path.abspath(output)}"]
    return "\n".join(lines + [f"{i + 1}. {text}" for i, text in enumerate(findings(document))])


def load(path, form, wanted):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or document.get("format") != form:
        raise ValueError(f"its format is not {form}")
    missing = wanted - document.keys()
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    return document


def load_run(path):
    return load(path, "abd-perf-1", {"environment", "options", "noise", "warnings", "complete", "results"})


def write(path, text):
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        sys.exit(f"abd-perf report: {path}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result")
    parser.add_argument("-o", "--output", default="report.html")
    parser.add_argument("--compare", nargs=2, metavar=("LATER.json", "COMPARISON.json"))
    arguments = parser.parse_args()
    path, comparison = arguments.result, None
    try:
        document = load_run(path)
        if arguments.compare:
            path = arguments.compare[0]
            document = load_run(path)  # the later run is the one that is drawn
            path = arguments.compare[1]
            comparison = load(path, "abd-perf-compare-1", {"pairs", "differences", "margin", "only_a", "only_b"})
    except (OSError, ValueError) as error:
        sys.exit(f"abd-perf report: {path}: {error}")
    write(arguments.output, report(document, comparison))
    print(summary(document, arguments.output))


if __name__ == "__main__":
    main()
