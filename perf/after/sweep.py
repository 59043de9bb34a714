# SPDX-License-Identifier: BSD-2-Clause
"""Shows whether a figure depends on how much is measured: the same rows with sets, rounds and samples doubled, one after another.

A figure that does is one of a set that is learnt, or that half fits a cache, or of a start that its samples do not outlast. Processes of all
sides take turns. A row has moved if it surely differs by more than MOST, by its spread between processes, corrected over all rows (compare.py).
"""
import json
import math
import random
import subprocess

from compare import changed, compare
from finish import finish
from model import sound
from table import print_table, ratio_text

MOST = 0.03
KINDS = ("set", "count", "duration")


def measure(program, flags, processes, kinds):
    """(exit status, {kind: its result, "" as usual}) of the rounds that were whole."""
    sides = {kind: [] for kind in ("", *kinds)}
    for number in range(2, processes + 2):  # 1 is the process that would start the others
        for kind in random.sample(list(sides), len(sides)):
            words = [program, "run", *flags, f"--as-process={number}", *([f"--twice={kind}"] if kind else [])]
            done = subprocess.run(words, stdout=subprocess.PIPE)
            if done.returncode or not done.stdout:
                return done.returncode or 1, {kind: joined(each[:number - 2]) for kind, each in sides.items()} if number > 3 else {}
            sides[kind].append(json.loads(done.stdout))
    return 0, {kind: joined(each) for kind, each in sides.items()}


def joined(documents):
    first, *others = documents
    first["more"] = [other["results"] for other in others]
    finish(first)
    return sound(first)


def show(sides):
    """Prints, of each kind, what moved. Returns how many rows did."""
    moved = 0
    for kind in list(sides)[1:]:
        pairs = compare(sides[""], sides[kind], smallest=math.log(1 + MOST))["pairs"]
        far, apart = changed({"pairs": pairs}), [pair for pair in pairs if abs(math.log(pair["median"])) > math.log(1 + MOST)]
        print(f"twice the {kind}: {len(pairs)} figures; {len(far)} surely moved by more than {MOST * 100:g} %, "
              f"the medians of {len(apart)} lie further apart")
        print_table(["<benchmark", "<path", "as usual", "doubled", "<", "speed, doubled over usual [95 %]"],
                    [[f"{pair['scenario']}: {pair['name']}", pair["figure"], f"{pair['a']:.4g}", f"{pair['b']:.4g}", pair["unit"], ratio_text(pair)]
                     for pair in far])
        moved += len(far)
    return moved
