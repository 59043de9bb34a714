# SPDX-License-Identifier: BSD-2-Clause
"""Results over time, for a user's own CI: a result that others are checked against, and what changed from result to result in a folder.

Results of different machines are never compared: a machine is what MACHINE says of it, and each has a baseline of its own. Invariant: what
changed is one line, and nothing else stands in lines before the last.
"""
import glob
import hashlib
import os
import re

import output
from compare import became_worse, changed, compare, conclusion
from model import load
from table import ratio_text

# Facts that make another machine. What can change on one machine (compiler, kernel, flags) is said, and compared all the same.
MACHINE = ("cpu", "cpus_used", "cache_l1d", "cache_l2", "cache_last", "smt", "governor", "turbo", "virtual_machine")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OTHER_MACHINE = 3


def read(path):
    """The result in a file; ValueError names the file that can't be read."""
    try:
        return load(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def machine_of(result):
    return tuple(result["environment"].get(fact, "unknown") for fact in MACHINE)


def path_of(folder, name, machine):
    return os.path.join(folder, f"{name}-{hashlib.sha256(repr(machine).encode()).hexdigest()[:12]}.json")


def told(name, a, b):
    """What differs between two machines, in one line."""
    return "; ".join(f'{fact} "{x}" there, "{y}" here' for fact, x, y in zip(MACHINE, a, b) if x != y) or f"{name} is the same machine"


def lines_of(pairs):
    return [f"{pair['verdict']}: {pair['scenario']}: {pair['name']}, {pair['figure']}: {pair['a']:.4g} to {pair['b']:.4g} {pair['unit']}, "
            f"{ratio_text(pair)}" for pair in pairs]


def save(folder, name, path):
    """Keeps the result as this machine's baseline. Returns the lines to print; ValueError or OSError says why it can't be."""
    result = read(path)
    if result["wrong"]:
        raise ValueError(f"{path}: {result['wrong'][0]}: its output was wrong")
    if not result["complete"] or not result["results"]:
        raise ValueError(f"{path}: {'it holds no results' if result['complete'] else 'its measuring was ended early'}")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.makedirs(folder, exist_ok=True)
    kept = path_of(folder, name, machine_of(result))
    output.write(kept, text)
    alone = [item for entry in result["results"] for item in entry["figures"] if len(item["processes"]) < 2]
    more = f"; {len(alone)} figures were measured in one process, and will get no verdict" if alone else ""
    return [f"kept: {kept}{more}"]


def check(folder, name, path, allowed):
    """(exit status, lines to print): what changed since the baseline of the machine that the result is of."""
    result = read(path)
    kept = path_of(folder, name, machine_of(result))
    if not os.path.exists(kept):
        others = sorted(glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + "-*.json")))
        if not others:
            raise ValueError(f"{folder} has no baseline {name}: abd-perf baseline save {name} RESULT.json")
        return OTHER_MACHINE, [f"another machine: {told(name, machine_of(read(others[0])), machine_of(result))}; baselines of {name}: "
                               f"{len(others)}, none of this machine"]
    comparison = compare(read(kept), result)
    lines = lines_of(changed(comparison))
    lines += [f"{fact}: \"{before}\", then \"{after}\"" for fact, (before, after) in comparison["differences"].items()] if lines else []
    missing = comparison["only_a"] + comparison["only_b"]
    return (2 if became_worse(comparison, allowed) else 0,
            [*lines, conclusion(comparison) + (f" {missing} figures are in one of the results only." if missing else "")])


def trend(folder):
    """The lines to print: for each machine, in order of time, what changed since the last result that had changed."""
    results, lines, unread = {}, [], []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.json"))):
        try:
            result = read(path)
        except ValueError as error:
            unread.append(f"left out: {error}")
            continue
        results.setdefault(machine_of(result), []).append((result["environment"].get("time", ""), path, result))
    for machine, found in results.items():
        found.sort(key=lambda item: item[:2])
        lines.append(f"{machine[0]}, {machine[1]}: {len(found)} result{'s' if len(found) != 1 else ''}")
        before = found[0][2]
        for time, path, result in found[1:]:
            pairs = changed(compare(before, result))
            lines += [f"{time} {os.path.basename(path)}: {line}" for line in lines_of(pairs)]
            before = result if pairs else before
    if not results:
        raise ValueError(f"{folder}: it holds no results of abd-perf")
    return unread + lines
