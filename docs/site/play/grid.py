#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The interactive page: every story that its controls can tell, run by abd-explain on the library, in one file of HTML.

The choices are data here; the page makes its controls of them and only looks up what was recorded. Steps and buffers that are the
same in many stories are stored once.

usage: grid.py ABD-EXPLAIN OUTPUT
"""
import itertools
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

SIZES = {"1000": 1000, "4k": 4096, "8k": 8192, "12k": 12288, "40000": 40000, "128k": 131072}

# For each control: its name, its question, the step that it is about, and its choices with the words for them.
CONTROLS = (
    ("size", "Size", "alloc", tuple((name, name[:-1] + " KiB" if name[-1] == "k" else name + " bytes") for name in SIZES)),
    ("max_order", "Largest run asked for", "alloc", (("10", "4 MiB"), ("2", "16 KiB"), ("1", "8 KiB"), ("0", "4 KiB"))),
    ("free", "Largest run free", "alloc", (("all", "the whole pool"), ("32k", "32 KiB"), ("8k", "8 KiB"), ("4k", "4 KiB"))),
    ("gang", "Gang", "gang", (("no", "none"), ("tail", "600 bytes behind"), ("both", "zeros before, too"))),
    ("slice", "Slice", "view", (("no", "none"), ("half", "the middle half"), ("edge", "200 bytes over 4096"), ("past", "past the end"))),
    ("borrow", "Borrow", "borrow", (("no", "none"), ("read", "to read"), ("write", "to write"))),
)


def story(size, max_order, free, gang, slice, borrow):
    """The statements of one story."""
    total = SIZES[size]
    if free != "all":
        yield f"fragment {free}"
    if max_order != "10":
        yield f"max_order {max_order}"
    yield f"alloc {size}"
    yield "pool"
    newest = "a"
    if gang == "tail":
        yield "t = linear 600"
        yield "g = gang a t"
        newest, total = "g", total + 600
    elif gang == "both":
        yield "t = linear 600"
        yield "z = zeros 2k"
        yield "g = gang z a t"
        newest, total = "g", total + 600 + 2048
    if slice == "half":
        yield f"v = view {newest} {total // 4} {total // 2}"
        newest, total = "v", total // 2
    elif slice == "edge":
        off = 4096 - 100 if total > 4300 else total // 2
        yield f"v = view {newest} {off} 200"
        newest, total = "v", 200
    elif slice == "past":
        yield f"v = view {newest} {total - 100} 200"
    if borrow != "no":
        yield f"borrow {newest} {total}"
        # Zeros can't be written back, and the library says so.
        yield from ("return",) if borrow == "read" else ("poke new", "return_copy")
    yield "stats"


class Table:
    """Each value once; what is stored elsewhere is its number."""

    def __init__(self):
        self.values, self.numbers = [], {}

    def __call__(self, value):
        text = json.dumps(value, separators=(",", ":"))
        if text not in self.numbers:
            self.numbers[text] = len(self.values)
            self.values.append(value)
        return self.numbers[text]


class Recorder:
    def __init__(self):
        self.strings, self.parts, self.shots, self.steps = Table(), Table(), Table(), Table()

    def part(self, part):
        return self.parts([part["size"], part["in"], part["owner"], part["place"], part["run"], part["order"]])

    def shot(self, shot):
        number = self.shots([self.strings(shot["name"]), self.strings(shot["head"]), self.strings(shot["kind"]), shot["size"],
                             int(shot["linear"]), [self.part(part) for part in shot["parts"]]])
        return [number, *([[mark["off"], mark["size"], self.strings(mark["what"])] for mark in shot["marks"]])]

    def step(self, step):
        return self.steps([self.strings(step["statement"]), self.strings(step.get("call") or ""), step["outcome"][0],
                           [self.strings(note) for note in step["notes"]], [self.shot(shot) for shot in step["shots"]],
                           [[self.strings(each["name"]), each["by"], each["now"]] for each in step["counters"]],
                           self.strings(step.get("pool") or "")])


def record(explain):
    keys = list(itertools.product(*([name for name, _ in choices] for *_, choices in CONTROLS)))
    script = "".join("reset\ntitle {}\n{}\n".format(" ".join(key), "\n".join(story(*key))) for key in keys)
    done = subprocess.run([explain, "--json=-", "-f", "-"], input=script, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    recorder, stories, current = Recorder(), {}, None
    for line in done.stdout.splitlines():
        step = json.loads(line)
        if step["chapter"]:
            current = stories.setdefault(step["statement"], [])
        else:
            current.append(recorder.step(step))
    assert len(stories) == len(keys)
    return {"controls": [{"name": name, "label": label, "step": about, "choices": choices} for name, label, about, choices in CONTROLS],
            "strings": recorder.strings.values, "parts": recorder.parts.values, "shots": recorder.shots.values,
            "steps": recorder.steps.values, "stories": stories}


def main(explain, output):
    data = json.dumps(record(explain), separators=(",", ":")).replace("<", "\\u003c")
    page = (HERE / "play.html").read_text(encoding="utf-8")
    for name, text in (("play.css", (HERE / "play.css").read_text()), ("play.js", (HERE / "play.js").read_text()), ("traces", data)):
        mark = f"@{name}@"
        assert page.count(mark) == 1
        page = page.replace(mark, text)
    pathlib.Path(output).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
