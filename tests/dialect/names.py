#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Names: none of ours is one that OpenZFS defines elsewhere, and none is cited as OpenZFS's that it has not.

usage: names.py clash LIBRARY...   every external symbol of the libraries (nm) and every name that the public headers (and any .h that
                                   is named beside) declare, macros included: not defined by OpenZFS, or by the files that the library takes the place of
       names.py cited [FILE...]    every name cited as OpenZFS's is in names.txt, with the file it is cited with; without FILE, those
                                   of the book, of include/ and lib/
       names.py update TSV         make names.txt anew from a list of all names of OpenZFS (name, kind, file)

names.txt holds what of that list can matter: names with one of our prefixes, names that are cited, and the functions that the book explains
one by one; it is the only list of OpenZFS's names. A name that is cited for the first time is added by hand, behind its file and kind. To make the list for another commit: a tags
program over module/zfs, module/zcommon, module/os/{linux,freebsd}/zfs, include, lib/libzpool and cmd, with prototypes and members.
"""
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = pathlib.Path(__file__).resolve().parent / "names.txt"
# What the library stands for: there a name of ours is meant to be the same.
OURS = re.compile(r"(^|/)abd(_os)?\.[ch]$")
PREFIX = re.compile(r"(?i)^(zfs_)?abd")
# Whose functions docs/learn explains, every one (tests/docs/docs.py taught).
TAUGHT = ("module/zfs/abd.c", "module/os/linux/zfs/abd_os.c", "module/zfs/arc.c")
PATH = re.compile(r"\b((?:module|include|lib/libzpool|cmd)/[\w/]+\.[ch])\b")
# A path, a call, a name of data in code's spelling.
TOKEN = re.compile(PATH.pattern + r"|\b(\w+)\(\)")
ELSEWHERE = re.compile(r"\s+(?:and \w+\(\) )?(?:of|in) (?:liburing|liblz4|lz4|xxHash|libpmem|PMDK|the C library|Linux|glibc|git|RFC|arch/|fs/|drivers/)")
failures, passed = [], 0


def check(ok, finding):
    global passed
    if ok:
        passed += 1
    elif finding not in failures:
        failures.append(finding)


def read(path):
    names = {}
    for line in path.read_text().splitlines():
        place, _, listed = line.partition(": ")
        for name in [] if line.startswith("#") else listed.split():
            file, kind = place.split()
            names.setdefault(name, []).append((kind, file))
    return names


# ---- names of ours -----------------------------------------------------------------------------------------------------


def code(path):
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
    return re.sub(r"//.*", "", text)


def declared(path):
    """What a header puts into the program that includes it: macros, functions, types, tags, enumerators."""
    text = code(path)
    found = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE))
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    found |= set(re.findall(r"\b(?:struct|enum|union)\s+(\w+)\s*\{", text))
    for body in re.findall(r"\benum\b[^{;()]*\{([^}]*)\}", text):
        found |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    flat = re.sub(r"\{[^{}]*\}", "{}", text)
    while re.search(r"\{\}", flat) and re.search(r"\{[^{}]*(?:\{\}[^{}]*)+\}", flat):
        flat = re.sub(r"\{[^{}]*(?:\{\}[^{}]*)+\}", "{}", flat)
    flat = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", flat)
    found |= set(re.findall(r"\btypedef\b[^;]*?\b(\w+)\s*(?:\([^;]*\))?;", flat))
    for statement in re.split(r";|\{\}", flat):
        function = re.match(r"[^()]*?\b(\w+)\s*\(", statement.strip())
        if function and not statement.strip().startswith("typedef"):
            found.add(function.group(1))
    return found - {"", "C"}


def symbols(library):
    flags = ["-D"] if ".so" in library else ["-g"]
    listed = subprocess.run(["nm", *flags, "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[2].split("@")[0] for line in listed.splitlines() if len(line.split()) == 3}


def clash(libraries):
    there = read(NAMES)
    ours = {}
    for library in (each for each in libraries if not each.endswith(".h")):
        found = symbols(library)
        check(len(found) > 50, f"{library}: hardly any symbols")
        for name in found:
            ours.setdefault(name, pathlib.Path(library).name)
    beside = [pathlib.Path(each) for each in libraries if each.endswith(".h")]
    headers = [path for path in sorted((ROOT / "include" / "abd").glob("**/*.h*")) if path.suffix != ".hpp"]  # C++ has a namespace
    for path in [*headers, *beside]:
        compat = path.parent.name == "compat"
        for name in declared(path):
            if not compat or PREFIX.match(name):  # OpenZFS's own spellings are what compat is for
                ours.setdefault(name, f"include/abd/{path.name}")
    check(len(ours) > 200, "hardly any names of ours were found")
    for name, where in sorted(ours.items()):
        if not re.match(r"(?i)_*(zfs_)?abd", name):
            check(re.match(r"__|_(init|fini|edata|end|bss_start)$|asan\.|__odr", name), f"{where}: {name} has none of our prefixes")
            continue
        others = [file for kind, file in there.get(name, []) if kind != "member"]
        check(not others or any(OURS.search(file) for file in others),
              f"{where}: {name} is OpenZFS's, in {', '.join(sorted(set(others)))}")


# ---- names of OpenZFS --------------------------------------------------------------------------------------------------


def comments(path):
    """Where a comment names its source: (line, text) of each "OpenZFS:" and "Source:"."""
    text = path.read_text()
    for comment in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
        body = re.sub(r"(?m)^\s*\*+ ?", " ", comment.group(0)[2:-2])
        for found in re.finditer(r"\b(?:OpenZFS|Source):\s*(.*?)(?=\n\s*\n|\n\s*\w+:|\Z)", body, re.DOTALL):
            yield text.count("\n", 0, comment.start()) + 1 + body.count("\n", 0, found.start()), " ".join(found.group(1).split())


def citations(text):
    """(name, file or None) of each call that a text cites."""
    waiting = []
    for token in TOKEN.finditer(text):
        if token.group(1):
            yield from ((name, token.group(1)) for name in waiting or [None])
            waiting = []
        elif not ELSEWHERE.match(text, token.end()):
            waiting.append(token.group(2))
    yield from ((name, None) for name in waiting)


def cited_in(path):
    """(line, name or None, file or None) of all that a file cites as OpenZFS's."""
    if path.suffix != ".md":
        for number, text in comments(path):
            for sentence in re.split(r"(?<=;) |(?<=\.) (?=[A-Z])", text):
                if not sentence.startswith("none in OpenZFS"):
                    yield from ((number, name, file) for name, file in citations(sentence))
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        plain = line.replace("`", "")
        if path.name == "map.md" and line.startswith("|"):
            first = line.split("|")[1]
            yield from ((number, name, None) for name in re.findall(r"`(\w+)\(\)`|`((?:zfs_)?(?:abd|ABD)_\w+)`", first)
                        for name in name if name)
        for name, file in re.findall(r"\b(\w+)\(\) in (?:OpenZFS's )?" + PATH.pattern, plain):
            yield number, name, file
        for file in PATH.findall(plain):
            yield number, None, file


def of_ours():
    names = set()
    for folder in ("include", "lib"):
        for path in (ROOT / folder).glob("**/*.[ch]"):
            names |= set(re.findall(r"\b(\w+)\(", code(path)))
    return names


def sources():
    return [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "include").glob("**/*.h")),
            *sorted((ROOT / "lib").glob("**/*.[ch]"))]


def cited(paths):
    there, ours = read(NAMES), of_ours()
    files = {file for rows in there.values() for _, file in rows}
    for path in paths:
        for number, name, file in cited_in(path):
            where = f"{path.name}:{number}"
            if name is None:
                check(file in files or (ROOT / file).exists(), f"{where}: OpenZFS has no file {file} (or nothing of it is cited)")
            elif file is None:
                check(name in there or (name in ours and path.name != "map.md"), f"{where}: OpenZFS has no {name}")
            elif not (ROOT / file).exists():
                check(any(file == at for _, at in there.get(name, [])), f"{where}: OpenZFS has no {name} in {file}")


def update(tsv):
    names = {name for path in sources() for _, name, _ in cited_in(path) if name}
    names |= {name for path in (ROOT / "docs").rglob("*.md") for name in re.findall(r"`(\w+)\(\)`", path.read_text())}
    files = {file for path in sources() for _, name, file in cited_in(path) if file and not name}
    wanted = [tuple(line.split("\t")) for line in tsv.read_text().splitlines() if not line.startswith("#")]
    kept = {row for row in wanted if PREFIX.match(row[0]) or row[0] in names or (row[1] == "function" and row[2] in TAUGHT)}
    for row in wanted:  # of a file that is cited without a name, its first
        if row[2] in files - {file for _, _, file in kept}:
            kept.add(row)
    lines = ["# Names of OpenZFS at commit be7657e3f2 that could clash with ours or are cited, by file and kind. Made by names.py update."]
    for file, kind in sorted({(file, kind) for _, kind, file in kept}):
        place = f"{file} {kind}: "
        listed = sorted(name for name, of_kind, at in kept if (at, of_kind) == (file, kind))
        lines += [place + line for line in textwrap.wrap(" ".join(listed), 140 - len(place), break_long_words=False)]
    NAMES.write_text("\n".join(lines) + "\n")


def main(arguments):
    if arguments[:1] == ["clash"] and arguments[1:]:
        clash(arguments[1:])
    elif arguments[:1] == ["cited"]:
        cited([pathlib.Path(each) for each in arguments[1:]] or sources())
    elif arguments[:1] == ["update"] and len(arguments) == 2:
        update(pathlib.Path(arguments[1]))
    else:
        print(__doc__)
        return 2
    for failure in failures:
        print("FAIL", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


sys.exit(main(sys.argv[1:]))
