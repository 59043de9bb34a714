#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The page of the cache: what each request does in every state that the lists can be in, as the library did it.

All records are the same text here and cost the same. So a state is the lengths of the four lists and p, whatever the records are
called. In each state every record of the lists is asked for, and a new one: in a cache that abd-explain brought there by the
shortest way. The page holds that table and gives records names; it computes nothing.

The library says how long its lists are, what it found, and in which list of ghosts it found a name. Which records these are
follows from the order of requests; that it is so is checked with each answer.

usage: arc.py ABD-EXPLAIN OUTPUT
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PICTURES = HERE.parents[1] / "pictures"
# So many records have room in a cache of so many bytes.
ROOMS = {3: "arc 138k", 4: "arc 178k"}
RECORD = ("record = alloc 64k", "load alice.txt")
KEY = "0123456789abcdefghijklmnopqrstuvwxyz"


def request(number, cached):
    """The statements of an engine that asks for a record, and puts it where it is missing."""
    return (f"arc_read {number} 0 1",) if cached else (f"arc_read {number} 0 1", f"arc_put {number} record")


def explained(explain, stories):
    """The steps that abd-explain shows of each story, by its title."""
    script = "".join("reset\ntitle {}\n{}\n".format(title, "\n".join(story)) for title, story in stories.items())
    done = subprocess.run([explain, "--json=-", "-f", "-"], input=script, capture_output=True, text=True, cwd=PICTURES)
    if done.returncode != 0:
        sys.exit(done.stderr)
    shown, current = {}, None
    for line in done.stdout.splitlines():
        step = json.loads(line)
        if step["chapter"]:
            current = shown.setdefault(step["statement"], [])
        else:
            current.append(step)
    return shown


def seen(step):
    """KiB in T1, T2, B1, B2; p; and what the records may take."""
    shots = {shot["name"]: shot for shot in step["shots"]}
    sizes = {part["place"]: part["size"] for shot in shots.values() for part in shot["parts"]}
    marks = shots["records"]["marks"]
    return [sizes.get(name, 0) for name in ("T1", "T2", "B1", "B2")], marks[0]["size"] if marks else 0, shots["records"]["size"]


class Cache:
    """A state, and a way to it."""

    def __init__(self, lists, p, way):
        self.lists, self.p, self.way = lists, p, way

    def key(self):
        return (*map(len, self.lists), self.p)

    def records(self):
        return [number for each in self.lists for number in each]

    def story(self, arc, number):
        """Bring a cache here, unseen, and ask for a record."""
        cached = number in self.lists[0] + self.lists[1]
        return ["hide", *RECORD, arc, *(statement for each in self.way for statement in each), "show", *request(number, cached)]

    def asked(self, number, steps, cost):
        """The state after a request; what the library said must agree with where the record was."""
        found = next((name for name, each in zip(("T1", "T2", "B1", "B2"), self.lists) if number in each), "")
        said = " ".join(note for step in steps for note in step["notes"])
        assert (steps[0]["outcome"] == "done") == (found in ("T1", "T2")), (self.key(), number, said)
        assert set(re.findall(r"ghost was in (B\d)", said)) == {found} & {"B1", "B2"}, (self.key(), number, said)
        sizes, p, _ = seen(steps[-1])
        lists = [[each for each in old if each != number] for old in self.lists]
        lists[1 if found else 0].insert(0, number)
        for cached, ghosts in ((0, 2), (1, 3)):
            while len(lists[cached]) > round(sizes[cached] / cost):
                lists[ghosts].insert(0, lists[cached].pop())
            del lists[ghosts][round(sizes[ghosts] / cost):]
        assert [len(each) for each in lists] == [round(size / cost) for size in sizes], (self.key(), number, sizes)
        return Cache(lists, p, [*self.way, request(number, found in ("T1", "T2"))])


def table(explain, room, arc):
    """Every state that can be reached, and what each request leads to."""
    full = explained(explain, {"full": ["hide", *RECORD, arc, "show", f"arc_put 1 {room + 1} record"]})["full"][-1]
    (sizes, _, most), said = seen(full), " ".join(full["notes"])
    cost = sizes[0] / room
    assert "1 record evicted" in said and most < cost * (room + 0.5), (sizes, most, said)
    start = Cache([[], [], [], []], 0, [])
    states, numbers, after, waiting = [start], {start.key(): 0}, {}, [start]
    while waiting:
        stories = {f"{numbers[cache.key()]} {number}": cache.story(arc, number)
                   for cache in waiting for number in [*cache.records(), max(cache.records() + [0]) + 1]}
        shown, next_waiting = explained(explain, stories), []
        for cache in waiting:
            records = cache.records()
            names = [*records, max(records + [0]) + 1]
            for number in names:
                reached = cache.asked(number, shown[f"{numbers[cache.key()]} {number}"], cost)
                if reached.key() not in numbers:
                    numbers[reached.key()] = len(states)
                    states.append(reached)
                    next_waiting.append(reached)
                order = "".join(KEY[names.index(each)] for each in reached.records())
                after.setdefault(numbers[cache.key()], []).append([numbers[reached.key()], order])
        waiting = next_waiting
    return {"room": room, "arc": arc, "most": most, "states": [[*map(len, each.lists), each.p] for each in states],
            "after": [after[number] for number in range(len(states))]}


def main(explain, output):
    tables = {"record": "; ".join(RECORD), "tables": [table(explain, room, arc) for room, arc in ROOMS.items()]}
    page = (HERE / "arc.html").read_text(encoding="utf-8")
    for name, text in (("play.css", (HERE / "play.css").read_text()), ("arc.js", (HERE / "arc.js").read_text()),
                       ("tables", json.dumps(tables, separators=(",", ":")))):
        mark = f"@{name}@"
        assert page.count(mark) == 1
        page = page.replace(mark, text)
    pathlib.Path(output).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
