# SPDX-License-Identifier: BSD-2-Clause
"""One HTML file from abd-perf's JSON: first what matters, then a chart and a conclusion per question, then all figures in tables.

The file needs no other file: the pictures are inside it. They adapt to the window's width and to light or dark colours.
Invariant: text from a result is escaped wherever it becomes markup, and a class from a result is one of KINDS.
"""
import html
import os
from collections import Counter

import claims as sources
from chart import COLOURS, shared
from claims import questions
from compare import changed, conclusion
from findings import findings, losses
from model import CONDITIONS, interval, parameter_text
from sections import SECTIONS, cell, section

# The colours of the series on a dark page, lighter than those on a light one.
DARK = ["#58b0e8", "#ff8a4c", "#35c79b", "#e0a3c4", "#f0b840", "#8ad0f5"]
SHOWN = 40  # rows of a comparison that are visible at first
OVER_TIME = {"step", "time"}  # such results are drawn; their hundreds of figures stand in the JSON

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
figure {{ margin: .5rem 0 }} svg {{ width: 100%; height: auto; stroke-linejoin: round }} svg text {{ font-family: system-ui, sans-serif !important }}
svg.narrow {{ display: none }}
.headline {{ background: var(--soft); border-radius: .5rem; padding: .3rem 1rem }} .headline li {{ margin: .5rem 0 }}
.conclude {{ border-left: .25rem solid var(--c0); padding-left: .75rem }}
.claim {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: .2rem 1rem; border-top: 1px solid var(--line);
  padding: .6rem 0 }}
.claim b {{ grid-column: 1 / -1 }} .claim small {{ display: block; font-size: .8rem; opacity: .75 }}
.scroll {{ overflow-x: auto }} table {{ border-collapse: collapse; font-size: .85rem }}
th, td {{ border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top }}
.tight td, .tight th {{ white-space: nowrap }}
.tight td[rowspan] {{ white-space: normal; min-width: 7rem; max-width: 16rem }}
td.n {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }}
.figures td:nth-last-child(-n+4) {{ text-align: right; font-variant-numeric: tabular-nums }}
.faster, .met, .smaller {{ color: var(--good) }} .slower, .missed, .larger {{ color: var(--bad) }}
summary {{ cursor: pointer; font-size: 1.25rem; font-weight: bold; margin-top: 1.5rem }}
@media (max-width: 640px) {{
  svg.wide {{ display: none }} svg.narrow {{ display: block }} .claim {{ grid-template-columns: 1fr }}
  table {{ font-size: .9rem }} th, td {{ padding: .3rem .5rem }} ul {{ padding-left: 1.2rem }} }}
{rules}
</style></head><body>
{body}
</body></html>
"""


KINDS = {"faster", "slower", "smaller", "larger", "met", "missed"}


def cells(items):
    """Cells of text and numbers: a number is given as (value, format), a verdict as [text]."""
    def one(item):
        if isinstance(item, tuple):
            return cell(format(*item))
        text = html.escape(item if isinstance(item, str) else item[0])
        kind = item[0].split(": ")[-1] if isinstance(item, list) else ""
        return f"<td class={kind}>{text}" if kind in KINDS else f"<td>{text}"
    return "".join(one(item) for item in items)


def row(*items):
    return "<tr>" + cells(items)


def rows_of(document, lines):
    """Rows for lines(entry), with the entry's name and conditions once before them."""
    found = []
    for entry in document["results"]:
        if OVER_TIME & set(entry["parameters"]):
            continue
        made = [cells(line) for line in lines(entry)]
        head = "".join(f"<td rowspan={len(made)}>{html.escape(text)}" for text in (entry["scenario"], entry["name"], conditions(entry)))
        found += [f"<tr>{'' if i else head}{line}" for i, line in enumerate(made)]
    return found


def table(headings, rows, kind="tight"):
    head = "".join(f"<th>{html.escape(heading)}" for heading in headings)
    return f"<div class=scroll><table class='{kind}'><tr>{head}</tr>{''.join(rows)}</table></div>"


def folded(title, *parts):
    return f"<details><summary>{html.escape(title)}</summary>{''.join(parts)}</details>"


def conditions(entry):
    return " ".join(f"{name}={parameter_text(entry, name)}" for name in CONDITIONS if name in entry["parameters"])


def numbers(item, form):
    return [(item[name], form) for name in ("median", "low", "high")]


def counters_text(figure):
    """What the processor and the kernel counted for each operation; what hardly ever happened is left out."""
    return ", ".join(f"{count:.3g} {name}" for name, count in figure["counters"].items() if count >= 0.01)


def table_figures(document):
    counted = any(counters_text(figure) for entry in document["results"] for figure in entry["figures"])
    rows = rows_of(document, lambda entry: [[figure["name"], *([counters_text(figure)] if counted else []), figure["unit"],
                                             *(format(figure[name], ".4g") for name in ("median", "low", "high")), str(figure["rounds"])]
                                            for figure in entry["figures"]])
    head = ("scenario", "case", "conditions", "path", *(["counted for each"] if counted else []), "unit", "median", "low", "high", "rounds")
    return folded(f"All {len(rows)} figures but those over time", table(head, rows, "tight figures"))


def table_ratios(document):
    rows = rows_of(document, lambda entry: [[f"{ratio['of']} / {ratio['against']}", *numbers(ratio, ".3f"), [ratio["verdict"]],
                                             ["" if ratio["target"] is None else f"{ratio['target']:g}: {ratio['target_verdict']}"],
                                             ratio["source"]] for ratio in entry["ratios"]])
    return folded(f"All {len(rows)} ratios", table(("scenario", "case", "conditions", "ratio of speeds", "median", "low", "high", "verdict",
                                                    "target", "the source"), rows))


def listed(texts):
    return "".join(f"<li>{html.escape(text)}</li>" for text in texts)


def trust(document):
    """The machine and the build, and how far the figures can be trusted."""
    warnings, sources, noise = listed(document["warnings"]), listed(document["sources"]), document["noise"]
    asked = ", ".join(f"{name} {value}" for name, value in document["options"].items() if value not in ("null", "0", "0.0", ""))
    return section(
        "The machine, and how far to trust it",
        f"<p>The same code against itself, measured first: {interval(noise, '.3f')}. Differences smaller than that mean nothing here, "
        "and get no verdict.</p>" if noise else "",
        f"<ul class=slower>{warnings}</ul>" if warnings else "<p>No warnings: the machine was quiet enough.</p>",
        f"<p>Asked for: {html.escape(asked)}.</p>",
        f"<p>Measured with:</p><ul>{sources}</ul>" if sources else "",
        f"<div class=scroll><table>{''.join(row(*fact) for fact in document['environment'].items())}</table></div>")


def wrong(document):
    """Red, and before all else: what made something else than it should."""
    return (f"<section class=slower><h2>What is wrong</h2><p>The output of these is not what it should be. They have no figures.</p>"
            f"<ul>{listed(document['wrong'])}</ul></section>") if document["wrong"] else ""


def headline(document):
    items = listed(findings(document))
    doubt = " <b class=slower>Read with care: there are warnings, at the end.</b>" if document["warnings"] else ""
    return (f"<div class=headline><ul>{items}</ul></div>" if items else "") + (f"<p>{doubt}</p>" if doubt else "")


def slower(document):
    """Every loss, the worst first, before anything is praised."""
    every = sum(len(entry["ratios"]) for entry in document["results"])
    called = Counter((entry["scenario"], entry["name"]) for entry in document["results"])

    def case(entry):
        same = called[entry["scenario"], entry["name"]] > 1
        return f"{entry['scenario']}: {entry['name']}" + f" ({' '.join(filter(None, (entry['group'], conditions(entry))))})" * same

    rows, below = ([row(*numbers(ratio, ".3f"), f"{ratio['of']} / {ratio['against']}", case(entry), (ratio["rounds"], "d"),
                        (max(len(ratio["processes"]), 1), "d")) for ratio, entry in found] for found in losses(document))
    head = ("median", "low", "high", "ratio of speeds", "case", "rounds", "processes")
    if not every:
        return ""
    return section("What is slower with it", f"<p>{len(rows)} of {every} ratios are surely below 1 against something that one could use instead, "
                   "the worst first.</p>",
                   table(head, rows[:12]) if rows else "",
                   folded(f"The other {len(rows) - 12} losses", table(head, rows[12:])) if len(rows) > 12 else "",
                   folded(f"{len(below)} below a limit", "<p>These are below what nobody could use instead: a limit of the machine, the best choice "
                          "in hindsight, the same on less, or what OpenZFS did on another machine.</p>", table(head, below)) if below else "")


def claims(document):
    """Claim and measurement side by side."""
    rows = "".join(
        f"<div class=claim><b>{html.escape(question)}</b><span><small>source</small>{html.escape(source)}</span>"
        f"<span><small>its claim</small>{html.escape(claim)}</span>"
        f"<span><small>measured here</small>{html.escape(here)}</span>"
        f"<span><small>so</small>{html.escape(advice)}</span></div>"
        for question, source, claim, here, advice in questions(document))
    return section("Claims of others, and this machine", rows) if rows else ""


def changed_table(pairs):
    return table(("benchmark", "path", "unit", "before", "after", "after / before", "low", "high", "verdict"), [
        row(f"{pair['scenario']}: {pair['name']}", pair["figure"], pair["unit"], (pair["a"], ".4g"), (pair["b"], ".4g"),
            *numbers(pair, ".3f"), [pair["verdict"]]) for pair in pairs])


def changes(comparison):
    """What changed from the first result to the second."""
    pairs, sure = comparison["pairs"], changed(comparison)
    differ = listed(f"{name}: {before}, then {after}" for name, (before, after) in comparison["differences"].items())
    missing = comparison["only_a"] + comparison["only_b"]
    return section(
        "What changed", f"<p class=conclude>{html.escape(conclusion(comparison))} Ratios are of speeds, after over before.</p>",
        f"<p>What differs between the machines, builds and flags:</p><ul>{differ}</ul>" if differ else "",
        f"<p>{missing} figures are in one of the results only.</p>" if missing else "",
        changed_table(sure[:SHOWN]) if sure else "",
        folded(f"All {len(pairs)} benchmarks", changed_table(pairs)) if pairs else "")


def report(document, comparison=None):
    fact = document["environment"].get
    early = "" if document["complete"] else "<p class=slower>Measuring was ended early.</p>"
    head = (f"<h1>What libabd's buffers are worth on this machine</h1>{early}<p>abd-perf, {html.escape(fact('cpu', ''))}, "
            f"{html.escape(fact('time', ''))}, revision {html.escape(fact('git_revision', ''))}. Every ratio is one of speeds, so above 1 "
            f"is faster: the median of {html.escape(document['options'].get('rounds', 'several'))} interleaved rounds, or as many as stand beside it, with the 95 % "
            "interval of that median.</p>")
    parts = [head, wrong(document), headline(document), slower(document), changes(comparison) if comparison else "", claims(document)]
    parts += [make(document) for make in (*sources.SECTIONS, *SECTIONS)]
    parts += [trust(document), table_ratios(document), table_figures(document)]
    body, rules = shared("\n".join(part for part in parts if part))
    return PAGE.format(body=body, rules=rules,
                       light=" ".join(f"--c{i}: {colour};" for i, colour in enumerate(COLOURS)),
                       dark=" ".join(f"--c{i}: {colour};" for i, colour in enumerate(DARK)))


def summary(document, output):
    """For the terminal: the questions that were measured, where the page is, and what matters."""
    lines = []
    for question, source, claim, here, advice in questions(document):
        lines += [f"{question}", f"  {source}: {claim}", f"  here: {here}", f"  so: {advice}"]
    lines += [""] * bool(lines) + [f"The report is {os.path.abspath(output)}"]
    return "\n".join(lines + [f"{i + 1}. {text}" for i, text in enumerate(findings(document))])
