#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Within a layer, files depend one way.

A unit is a source and the header of its name, or either alone. Unit A depends on B when a file of A includes one of B's,
or when A's object file uses a symbol that B's defines. Constant records don't count: a table that lists the kernels (or
providers) of its own type says which there are, but calls them only through that type. A circle of units is an error,
and printed with its edges.

usage: circles.py LIB LAYERS [--plant FROM:TO]
  LIB     the folder with the layers' folders
  LAYERS  one line per layer, "NAME OBJECT;OBJECT;...", from the build
  --plant adds one edge, to see that a circle is found
"""
import collections
import pathlib
import re
import subprocess
import sys


def includes(folder):
    """unit -> {unit it includes: why}"""
    files = [path for path in folder.rglob("*.[ch]")]
    units = {path.name: path.stem for path in files}
    edges = collections.defaultdict(dict)
    for path in files:
        for name in re.findall(r'^\s*#\s*include "(?:[^"]*/)?([^"/]+)"', path.read_text(), re.MULTILINE):
            if name in units and units[name] != path.stem:
                edges[path.stem][units[name]] = f"{path.name} includes {name}"
    return set(units.values()), edges


def symbols(objects):
    """unit -> {unit whose symbol it uses: why}"""
    defined, used = {}, collections.defaultdict(set)
    for path in objects:
        unit = pathlib.Path(path).name.split(".")[0]
        table = subprocess.run(["nm", "-f", "sysv", path], capture_output=True, text=True, check=True).stdout
        for cells in (line.split("|") for line in table.splitlines()):
            if len(cells) != 7 or cells[0].startswith("Name"):
                continue
            name, kind, section = cells[0].strip(), cells[2].strip(), cells[6].strip()
            if kind == "U":
                used[unit].add(name)
            elif kind.isupper() and not section.startswith((".rodata", ".data.rel.ro")):
                defined[name] = unit
    edges = collections.defaultdict(dict)
    for unit, names in used.items():
        for name in sorted(names):
            if defined.get(name, unit) != unit:
                edges[unit][defined[name]] = f"{unit}.c uses {name}"
    return edges, len(defined)


def circles(edges):
    """Sets of units that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for to in edges.get(unit, ()):
            if to not in index:
                visit(to)
            if to in stack:
                low[unit] = min(low[unit], low[to])
        if low[unit] == index[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for unit in list(edges):
        if unit not in index:
            visit(unit)
    return found


def main():
    lib, layers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    plant = sys.argv[4].split(":") if sys.argv[3:4] == ["--plant"] else None
    units = edge_count = symbol_count = failed = 0
    for line in layers.read_text().splitlines():
        layer, objects = line.split(" ", 1)
        names, edges = includes(lib / layer)
        called, defined = symbols([path for path in objects.split(";") if path.endswith(".o")])
        for unit, others in called.items():
            for other, why in others.items():
                edges[unit].setdefault(other, why)
        if plant and plant[0] in names:
            edges[plant[0]][plant[1]] = "planted"
        for circle in circles(edges):
            failed += 1
            print(f"FAIL lib/{layer}: a circle: {', '.join(circle)}")
            for unit in circle:
                for other in sorted(set(edges[unit]) & set(circle)):
                    print(f"     {unit} -> {other}: {edges[unit][other]}")
        units += len(names)
        symbol_count += defined
        edge_count += sum(map(len, edges.values()))
    print(f"{units} units, {edge_count} edges, {symbol_count} symbols, {failed} circles")
    return failed > 0 or units < 50 or edge_count < 100 or symbol_count < 100


if __name__ == "__main__":
    sys.exit(main())
