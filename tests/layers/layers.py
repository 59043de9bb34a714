#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Layers depend downward only, and files within a layer one way.

lib/CMakeLists.txt says which layers a layer sees: abd_layer(NAME SEES LOWER... SOURCES ...). A file of lib/NAME includes only headers
of these and of its own layer, and no layer sees itself through others.

Within a layer, a unit is a source and the header of its name, or either alone. Unit A depends on B when a file of A includes one of B's,
or when A's object file uses a symbol that B's defines. Constant records don't count: a table that lists the kernels (or
providers) of its own type says which there are, but calls them only through that type. A circle of units is an error,
and printed with its edges.

usage: layers.py LIB [OBJECTS] [--plant FROM:TO]
  LIB     the folder with the layers' folders and their CMakeLists.txt
  OBJECTS one line per layer, "NAME OBJECT;OBJECT;...", from the build; without it only what files include is known
  --plant adds one edge, to see that a circle is found
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys


def sees(lib):
    """layer -> layers that it may include, its own among them"""
    text = re.sub(r"#.*", "", (lib / "CMakeLists.txt").read_text())
    return {name: {name, *(lower or "").split()} for name, lower in re.findall(r"\babd_layer\(\s*(\w+)\s+(?:SEES\s+([\w\s]+?)\s+)?SOURCES\b", text)}


def upward(lib, layers):
    """What stands wrong between layers, and how many includes were looked at."""
    found, count = [], 0
    for circle in circles({name: seen - {name} for name, seen in layers.items()}):
        found.append(f"lib/CMakeLists.txt: these layers see each other: {', '.join(circle)}")
    home = {path.name: path.relative_to(lib).parts[0] for path in lib.rglob("*.h")}
    for path in sorted(lib.rglob("*.[ch]")):
        layer = path.relative_to(lib).parts[0]
        if layer not in layers:
            found.append(f"{path.name}: lib/{layer} is no abd_layer() of lib/CMakeLists.txt")
        for name in re.findall(r'^\s*#\s*include "(?:[^"]*/)?([^"/]+)"', path.read_text(), re.MULTILINE):
            count += 1
            if home.get(name, layer) not in layers.get(layer, home.values()):
                found.append(f"lib/{path.relative_to(lib)} includes {name} of {home[name]}, which {layer} does not see")
    return found, count


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
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("lib", type=pathlib.Path)
    parser.add_argument("objects", type=pathlib.Path, nargs="?")
    parser.add_argument("--plant")
    options = parser.parse_args()
    layers = sees(options.lib)
    found, include_count = upward(options.lib, layers)
    built = dict(line.split(" ", 1) for line in options.objects.read_text().splitlines()) if options.objects else {}
    units = edge_count = symbol_count = 0
    for layer in sorted(layers):
        names, edges = includes(options.lib / layer)
        called, defined = symbols([path for path in built.get(layer, "").split(";") if path.endswith(".o")])
        for unit, others in called.items():
            for other, why in others.items():
                edges[unit].setdefault(other, why)
        if options.plant and options.plant.split(":")[0] in names:
            edges[options.plant.split(":")[0]][options.plant.split(":")[1]] = "planted"
        for circle in circles(edges):
            found.append("\n     ".join([f"lib/{layer}: a circle: {', '.join(circle)}"] + [
                f"{unit} -> {other}: {edges[unit][other]}" for unit in circle for other in sorted(set(edges[unit]) & set(circle))]))
        units += len(names)
        symbol_count += defined
        edge_count += sum(map(len, edges.values()))
    for finding in found:
        print("FAIL", finding)
    print(f"{len(layers)} layers, {units} units, {edge_count} edges, {symbol_count} symbols")
    print(f"saw: {include_count} includes")
    return bool(found) or len(layers) < 5 or units < 50 or edge_count < 100 or (options.objects is not None and symbol_count < 100)


if __name__ == "__main__":
    sys.exit(main())
