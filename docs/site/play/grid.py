#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The interactive pages of buffers and of lz4: every story that their controls can tell, run by abd-explain on the library, each
page one file of HTML.

The choices are data here; the page makes its controls of them and only looks up what was recorded. Steps and buffers that are the
same in many stories are stored once.

usage: grid.py ABD-EXPLAIN PAGE OUTPUT     PAGE: buffers or enter
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


GROUPS = (("16k", "16 KiB"), ("64k", "64 KiB"), ("8k", "8 KiB"), ("4k", "4 KiB"))
ENTER = (
    ("off", "Read from byte", "enter", (("65000", "65000"), ("0", "0"), ("4k", "4096"), ("40000", "40000"), ("110000", "110000"))),
    ("count", "So many bytes", "enter", (("4k", "4096"), ("1", "1"), ("16000", "16000"))),
    ("group", "Groups of", "enter", GROUPS),
)


def enter(off, count, group):
    """The statements of one story of the page on lz4."""
    yield "record = alloc 128k"
    yield "load alice.txt"
    yield f"enter record {off} {count} {group}"


def story(size, max_order, free, gang, slice, borrow):
    """The statements of one story of the page on buffers."""
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


# Title, what it says below, controls, stories.
PAGES = {
    "buffers": ("Play with buffers", "Choose, then watch where the bytes lie, what is copied, and what it costs. Each picture is a record of what "
                "the library did.", CONTROLS, story),
    "enter": ("Enter a block in the middle", "128 KiB of a book, compressed in groups that can be entered. Choose a range, and see which bytes of "
              "the block the library reads for it. (A byte counts as read if the range suffers when it is damaged.)", ENTER, enter),
}


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


def record(explain, controls, story):
    keys = list(itertools.product(*([name for name, _ in choices] for *_, choices in controls)))
    script = "".join("reset\ntitle {}\n{}\n".format(" ".join(key), "\n".join(story(*key))) for key in keys)
    done = subprocess.run([explain, "--json=-", "-f", "-"], input=script, capture_output=True, text=True,
                          cwd=HERE.parents[1] / "pictures")
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
    return {"controls": [{"name": name, "label": label, "step": about, "choices": choices} for name, label, about, choices in controls],
            "strings": recorder.strings.values, "parts": recorder.parts.values, "shots": recorder.shots.values,
            "steps": recorder.steps.values, "stories": stories}


def main(explain, page, output):
    title, about, controls, story = PAGES[page]
    data = json.dumps(record(explain, controls, story), separators=(",", ":")).replace("<", "\\u003c")
    page = (HERE / "play.html").read_text(encoding="utf-8")
    page = page.replace("@title@", title).replace("@about@", about)
    for name, text in (("play.css", (HERE / "play.css").read_text()), ("play.js", (HERE / "play.js").read_text()), ("traces", data)):
        mark = f"@{name}@"
        assert page.count(mark) == 1
        page = page.replace(mark, text)
    pathlib.Path(output).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
