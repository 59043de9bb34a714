#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""abd.hpp: what compiles, what does not, what is left out, and what it costs.

usage: cpp.py compile INCLUDE...            cpp_run.cpp, by each compiler, as C++17 and C++20, with exceptions and without
       cpp.py misuse INCLUDE...             in cpp_misuse.cpp the lines marked "wrong" are refused, and no others
       cpp.py hidden [--without NAME]       each struct that a function hides is named in abd.hpp's head; NAME: as if it were not
       cpp.py path INCLUDE...               the read paths of cpp_path.cpp have the instructions of cpp_path.c

The compilers are g++ and clang++; in tiers ci and full both must be there. Prints one FAIL line for each finding; the last line is
"N passed, N failed".
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import headers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wnon-virtual-dtor -Werror".split()
MODES = ([], ["-fno-exceptions", "-fno-rtti"])
# How many instructions more than C's a path may have. A hold that can be moved away begins empty (4 or 5), keeps its error beside it
# (1), and is asked at its end whether it is still there (2, or twice that where the compiler doubles the end).
MORE = {"path_hold": 10}
passed, failures = 0, []


def check(ok, finding):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(finding)


def compilers():
    """Pairs for C++ and C."""
    pairs = [("g++", "gcc"), ("clang++", "clang")]
    found = [pair for pair in pairs if all(map(shutil.which, pair))]
    least = 2 if os.environ.get("ABD_GATE_TIER") in ("ci", "full") else 1
    check(len(found) >= least, f"compilers: {found}, of {pairs}")
    return found


def run(compiler, *options):
    return subprocess.run([compiler, *map(str, options)], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})


def check_compile(*includes):
    for cxx, _ in compilers():
        for standard in ("c++17", "c++20"):
            for mode in MODES:
                done = run(cxx, f"-std={standard}", *mode, *WARNINGS, "-fsyntax-only", *(f"-I{i}" for i in includes), HERE / "cpp_run.cpp")
                check(done.returncode == 0, f"{cxx} {standard} {' '.join(mode)}:\n{done.stderr}")


def check_misuse(*includes):
    path = HERE / "cpp_misuse.cpp"
    marked = {mark: {number for number, line in enumerate(path.read_text().splitlines(), 1) if re.search(rf"/\* {mark}\b.*\*/$", line)}
              for mark in ("wrong", "kept")}
    check(len(marked["wrong"]) >= 20 and len(marked["kept"]) >= 10, f"{path.name} marks too few lines")
    for cxx, _ in compilers():
        wrong = marked["wrong"] | (marked["kept"] if "clang" in cxx else set())
        for standard in ("c++17", "c++20"):
            unlimited = "-ferror-limit=0" if "clang" in cxx else "-fmax-errors=0"
            done = run(cxx, f"-std={standard}", "-Wall", "-Wno-unused-variable", "-Werror", "-fsyntax-only", unlimited, *(f"-I{i}" for i in includes), path)
            # An error within the header is that of the line that asks for it.
            said = {int(n) for n in re.findall(rf"{path.name}:(\d+):\d+: +(?:error:|  required from|note: in instantiation)", done.stderr)}
            said |= {int(n) for n in re.findall(rf"{path.name}:(\d+):\d+:   required from here", done.stderr)}
            for number in sorted(wrong ^ said):
                what = "is refused" if number in said else "is let through"
                check(False, f"{cxx} {standard}: {path.name}:{number} {what}")
            check(not wrong ^ said, f"{cxx} {standard}: {len(wrong ^ said)} lines")


def check_hidden(*options):
    head = (ROOT / "include" / "abd" / "abd.hpp").read_text().split("*/", 2)[1]
    if options:
        head = re.sub(rf"\b{options[1]}\b", "gone", head)
    interface = headers.read()
    tags = {key.split()[1] for key in interface.records}
    check(len(tags) > 10, f"only {len(tags)} structs")
    for name in sorted(interface.functions.keys() & tags):
        check(name in head, f"{name}: a function hides a struct or enum, and the head does not say so")


def bodies(assembly):
    """The instructions of each function that are reached without an exception; labels are numbered."""
    found, name = {}, None
    for line in assembly.splitlines():
        line = " ".join(re.sub(r"#.*", "", line).split())
        label = re.match(r"(path_\w+):$", line)
        if label:
            name = label[1]
            found[name] = []
        elif re.match(r"\.cfi_endproc|\.size", line):
            name = None
        elif name and (re.match(r"[a-z]", line) or re.match(r"\.L\w+:$", line)):
            found[name].append(line)
    return {name: reached(lines) for name, lines in found.items()}


def reached(lines):
    seen, todo = set(), [0]
    while todo:
        i = todo.pop()
        while i < len(lines) and i not in seen:
            seen.add(i)
            jump = re.match(r"j\w+ (\.L\w+)$", lines[i])
            if jump and jump[1] + ":" in lines:
                todo.append(lines.index(jump[1] + ":"))
            if re.match(r"(ret|jmp|ud2)", lines[i]):
                break
            i += 1
    out, labels = [lines[i] for i in sorted(seen) if not lines[i].endswith(":")], {}
    return [re.sub(r"\.L\w+", lambda found: labels.setdefault(found[0], f".L{len(labels)}"), line) for line in out]


def check_path(*includes):
    with tempfile.TemporaryDirectory(prefix="abd-cpp-") as folder:
        def compiled(compiler, source, *options):
            out = pathlib.Path(folder) / "path.s"
            done = run(compiler, *options, "-O2", "-S", "-o", out, *(f"-I{i}" for i in includes), HERE / source)
            check(done.returncode == 0, f"{compiler} {source}: {done.stderr}")
            return bodies(out.read_text())
        for cxx, cc in compilers():
            texts = compiled(cc, "cpp_path.c", "-std=c11")
            check(len(texts) == 4, f"{cc}: paths in C: {sorted(texts)}")
            for mode in ("-fno-exceptions", "-fexceptions"):
                paths = compiled(cxx, "cpp_path.cpp", "-std=c++17", mode)
                for name, in_c in texts.items():
                    in_cxx = paths.get(name, ["is missing"] * 99)
                    check(len(in_c) > 10, f"{cc}: {name} has {len(in_c)} instructions")
                    print(f"{cxx} {mode} {name}: {len(in_cxx)}, {len(in_c)} in C{', the same' if in_c == in_cxx else ''}")
                    check(len(in_cxx) <= len(in_c) + MORE.get(name, 0), f"{cxx} {mode}: {name} has {len(in_cxx)} instructions, {len(in_c)} in C:\n"
                          + "\n".join(in_cxx) + "\nin C:\n" + "\n".join(in_c))


{"compile": check_compile, "misuse": check_misuse, "hidden": check_hidden, "path": check_path}[sys.argv[1]](*sys.argv[2:])
for failure in failures:
    print("FAIL", failure)
print(f"{passed} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
