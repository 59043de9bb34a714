#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The book says what is so: its blocks are run, its links followed, its map held to the headers, its words looked up.

usage: docs.py [--book FOLDER] CHECK [ARGUMENT...]
  map                   docs/use/map.md: each name of ours exists, each test named exists and its file uses what it is named for, each
                        exported symbol, statistic and tunable of ours is in it;
                        each test named in docs/notes/reliances.md exists
  links                 links, file:function, chapters in order, exercises and questions with their answers, names of other projects' functions;
                        where, when and by which command the figures of a table were measured
  fences                each block of the book has a tag that is known; excerpts, kept figures (README's too) and commands that are not run stand as they say
  blocks BUILD [NAME]   every block of code or commands in the book is run against the build and its output compared
  table FILE            no check: put the rows that tests/run left in FILE into the table of the page on testing
  draw [BUILD]          no check: put the tables of kept results, and with a build what abd-explain draws, into the chapters
  words                 spelling: aspell's British English and tests/docs/words.txt
  terms                 one word for one thing: the glossary's last column is found nowhere in the text; each of its terms is linked
                        from a page, and one of several words from where each chapter first has it
  taught                each function of OpenZFS's abd.c, Linux's abd_os.c and arc.c is explained in docs/learn by a sentence, or a row of a table
  sizes                 no check: prints the words of each page and shelf; tables, headings, blocks and what is quoted as code don't count
  docstrings            every call that include/abd exports says Returns and Threads, Units where it takes or gives sizes, Owner
                        where it gives a pointer; and no section says only that there is nothing to say
  planted               the book in planted/, in which everything is wrong, is told all of what planted/told.txt says

All but blocks need no build: tests/quick runs them. FOLDER is docs unless said otherwise. Fences in the book:

  ```c example=NAME             a program, or what stands in main() of one; built and run
  ```cpp example=NAME           the same in C++17, a whole program; left out where the build has no C++ compiler
  ```c file=PATH                an excerpt: these lines stand so in PATH; rust and sh likewise
  ```sh run=NAME [exit=N]       commands, run by sh -eu in an empty folder; the build's programs are in PATH
  ```text output=NAME           what the example or the commands of that NAME print, byte by byte
  ```sh measured                commands whose output is figures: not run; programs, scenarios and tests named must exist
  ```text measured              figures of a machine that is named beside them: not compared
  ```text explain=FILE          the picture that abd-explain draws of docs/FILE; left out where there is no abd-explain
  ```text figures=FILE          machine, date and tables of docs/FILE, a kept result (abd-perf tables RESULT.json --csv docs/FILE): as draw puts them
  ```                           a drawing

checked=only (or never) after example or run: where deep checks are built in (or not), left out elsewhere; needs=arc, also
after explain: where the cache is built.
Prints one FAIL line for each finding; the last line is "N passed, N failed".
"""
import collections
import concurrent.futures
import csv
import difflib
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "docs"
book = ROOT / "docs"
passed, failures = 0, []


def check(ok, finding):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(finding)
    return ok


def pages():
    return sorted(path for shelf in ("", "learn", "use", "notes") for path in (book / shelf).glob("*.md"))


def page(name):
    """A page by its name, which no other has, whatever its shelf; the book's folder has it if none does."""
    return next((path for path in pages() if path.name == name), book / name)


def beside(*names):
    """What is written outside the book and checked with it."""
    return [ROOT / name for name in names] if book == ROOT / "docs" else []


# ---- Markdown ----------------------------------------------------------------------------------------------------------


class Block:
    """A fenced block: where it is, what its tag says, its text."""

    def __init__(self, path, line, info):
        self.path, self.line, self.lines = path, line, []
        words = info.split()
        self.language = words[0] if words else ""
        self.tags = dict(w.split("=", 1) if "=" in w else (w, "") for w in words[1:])

    @property
    def text(self):
        return "".join(self.lines)

    def __str__(self):
        return f"{self.path.name}:{self.line}"


def parse(path):
    """A file's blocks, and its lines with those of blocks left empty."""
    blocks, prose, block = [], [], None
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        fence = re.match(r"```(.*)$", line)
        if fence and block is None:
            block = Block(path, number, fence.group(1))
            blocks.append(block)
        elif fence:
            check(not fence.group(1).strip(), f"{path.name}:{number}: a fence ends with a tag")
            block = None
        elif block is not None:
            block.lines.append(line)
        prose.append("" if fence or block is not None else line.rstrip("\n"))
    check(block is None, f"{path.name}: a fence is not closed")
    return blocks, prose


def rows(path):
    """The tables of a file: (line, cells)."""
    found, lines = [], path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        if line.startswith("|") and not any(re.match(r"\|[-|: ]+$", each) for each in (line, below)):
            found.append((number, [c.strip() for c in line.strip("|").split("|")]))
    return found


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def check_lines(path, finding, wrong):
    """One check of a whole file: wrong(line), which may say what is, is false for each line outside of blocks."""
    found = [(number, wrong(line)) for number, line in enumerate(parse(path)[1], 1)]
    lines = [f"{path.name}:{number}: {finding}{what if isinstance(what, str) else ''}" for number, what in found if what]
    check(not lines, "\nFAIL ".join(lines))


# ---- what there is -----------------------------------------------------------------------------------------------------


def headers():
    planted = book / "include" / "abd"
    return sorted((planted if planted.exists() else ROOT / "include" / "abd").glob("**/*.h*"))


def code_of(path):
    """A header without comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def exported():
    """Functions that the public headers declare ABD_API."""
    return {name for path in headers()
            for name in re.findall(r"ABD_API\b[^;{(]*?\b(abd_\w+)\s*\(", code_of(path))}


def inlined():
    """Functions that the public headers define, key.h's means excepted."""
    return {name for path in headers() if path.name != "key.h"
            for name in re.findall(r"static inline [^;{(]*?\b(abd_\w+)\s*\(", code_of(path))} | {"abd_key_equal"}


def identifiers():
    return {name for path in headers() for name in re.findall(r"\w+", code_of(path))}


def struct_fields(header, struct):
    body = re.search(r"struct " + struct + r" \{(.*?)\n\};", code_of(ROOT / "include" / "abd" / header), re.DOTALL)
    return set(re.findall(r"(\w+)(?:\[\w+\])?;", body.group(1)))


def tunables():
    """The names that the tables of tunables in lib/ have."""
    return {name for path in (ROOT / "lib").glob("**/*.c")
            for name in re.findall(r"\{\s*\.name = \"(\w+)\",\s*(?:ABD_TUNABLE_NUMBER|\.set)", path.read_text())
            + re.findall(r"ABD_CHOICE\(\s*\"(\w+)\"", path.read_text())}  # choices of kernels


def tests():
    """suite/name of every unit test, and the text it stands in; a regression's suite is abd_regressions."""
    names = {}
    for path in (ROOT / "tests").glob("**/test_*.c"):
        # A test of many parts has a folder of its name.
        parts = path.parent.glob("*.c") if path.stem == f"test_{path.parent.name}" else [path]
        text = "".join(part.read_text() for part in parts)
        for suite, name in re.findall(r"^(?:Parameterized)?Test\(\s*(\w+),\s*(\w+)", text, re.MULTILINE):
            names[f"{suite}/{name}"] = text
        for name in re.findall(r"^Regression\((\w+)", text, re.MULTILINE):
            names[f"abd_regressions/{name}"] = text
    return names


def sources():
    """File name to paths, for file:function."""
    found = {}
    for folder in ("lib", "include", "perf", "examples", "tests", "tools"):
        for path in (ROOT / folder).glob("**/*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found.setdefault(path.name, []).append(path)
    return found


# ---- the map -----------------------------------------------------------------------------------------------------------


def exists_here(name, files, known):
    """`file:function`, or a name that a public header has."""
    if ":" in name:
        file, function = name.split(":", 1)
        paths = [p for p in files.get(file.split("/")[-1], []) if str(p).endswith("/" + file)]
        return any(re.search(rf"\b{re.escape(function)}\b", p.read_text()) for p in paths)
    return name in known


# Tests that are programs of their own.
PROGRAMS = ("dialect.callers", "dialect.hold", "dialect.pool")


def check_map():
    path = page("map.md")
    files, known, named = sources(), identifiers() | tunables(), tests()
    used = exported() | inlined() | struct_fields("stats.h", "abd_stats") | tunables()
    ours = set()
    for line, cells in rows(path):
        where = f"{path.name}:{line}"
        if not check(len(cells) == 4, f"{where}: {len(cells)} columns, not 4"):
            continue
        theirs, here, how, test = cells
        absent = how.startswith("absent")
        check(theirs == "—" or quoted(theirs), f"{where}: the first column names nothing")
        check(re.match(r"(same|changed|absent|new)\b", how), f"{where}: \"{how}\" is not same, changed, absent or new")
        check(re.match(r"same$|\w+: \S", how), f"{where}: \"{how}\" does not say how, or why")
        check((here == "—") == absent, f"{where}: {here} here, but {how.split(':')[0]}")
        for name in quoted(here):
            ours.add(name)
            check(exists_here(name, files, known), f"{where}: {name} is nowhere here")
        check(absent or quoted(test), f"{where}: no test is named")
        for name in quoted(test):
            check(name in named or (ROOT / name).exists() or exists_here(name, files, set()),
                  f"{where}: there is no test {name}")
        texts = [named.get(name, "") for name in quoted(test)]
        if any(texts) and used & set(quoted(here)):
            check(any(re.search(rf"\b{name}\b", text) for text in texts for name in quoted(here)),
                  f"{where}: none of the tests uses {here}")
    reliances = page("reliances.md")
    for line, cells in rows(reliances) if reliances.exists() else []:
        for name in quoted(cells[-1]):
            check(name in named or name in PROGRAMS, f"{reliances.name}:{line}: there is no test {name}")
    for name in sorted(exported() | inlined()):
        check(name in ours, f"{path.name}: {name} is public, but not in the map")
    for name in sorted(struct_fields("stats.h", "abd_stats")):
        check(name in ours, f"{path.name}: the statistic {name} is not in the map")
    check(len(tunables()) >= 10, "no tunables were found in lib/")
    for name in sorted(tunables()):
        check(name in ours, f"{path.name}: the tunable {name} is not in the map")


# ---- links -------------------------------------------------------------------------------------------------------------


def slug(heading):
    text = re.sub(r"[`*]", "", heading.lstrip("#").strip()).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def anchors(path):
    return {slug(line) for line in parse(path)[1] if line.startswith("#")} | \
        ({slug(term) for _, term in glossary_terms()} if path.name == "glossary.md" else set())


def glossary_terms():
    """(line, term) of each; a row may explain two."""
    return [(line, term) for line, cells in rows(page("glossary.md")) for term in cells[0].split(", ")]


def check_link(where, path, target):
    if re.match(r"https?://", target):
        return True
    name, _, anchor = target.partition("#")
    to = (path.parent / name).resolve() if name else path
    if not check(to.exists(), f"{where}: {target} does not exist"):
        return False
    return not anchor or check(anchor in anchors(to), f"{where}: {target}: no such heading")


def check_text_names(where, line, files, known, others, named):
    """file:function here; function() here or in a list of others' names; suite/test."""
    for code in quoted(line):
        place = re.fullmatch(r"([\w./-]+\.(?:c|h|py|sh)):(\w+)", code)
        call = re.fullmatch(r"(\w+)\(\)", code)
        if re.fullmatch(r"\w+/\w+", code) and (code.split("/")[0] + "/" in named or code.startswith(("abd_", "arc_"))):
            check(code in named, f"{where}: there is no test {code}")
        elif place:
            check(exists_here(code, files, set()), f"{where}: {code} does not exist")
        elif call:
            check(call.group(1) in known, f"{where}: {code} is neither ours nor in others.txt")
        elif code not in others and re.fullmatch(r"(docs|lib|include|perf|examples|tests|tools)/[\w./*-]*", code):
            check(list(ROOT.glob(code.rstrip("/"))) or any(ROOT.glob(code + "*")), f"{where}: {code} does not exist")


def order():
    """The chapters' files, as docs/README.md numbers them."""
    readme = (book / "README.md").read_text()
    return re.findall(r"^\|\s*\d+\s*\|\s*\[[^]]*\]\(([\w/-]+\.md)\)", readme, re.MULTILINE)


def numbered(lines, heading):
    """How many numbered points stand below a heading, to the next one."""
    lines = [line.strip() for line in lines]
    begin = next((i for i, line in enumerate(lines, 1) if line.lower() == heading.lower()), len(lines))
    count = 0
    for line in itertools.takewhile(lambda line: not line.startswith("#"), lines[begin:]):
        count += line.startswith(f"{count + 1}. ")
    return count


def theirs():
    """Names of other projects, and their files; those of OpenZFS are held to its source by tests/dialect/names.py."""
    return {name for path in (HERE / "others.txt", ROOT / "tests" / "dialect" / "names.txt")
            for line in path.read_text().splitlines() for name in line.replace(": ", " ").split()}


def check_order():
    """Every file of the book is reached; every chapter asks, and is answered."""
    names = order()
    if not names:
        return
    linked = set(re.findall(r"\]\(([\w/-]+\.md)", (book / "README.md").read_text()))
    answers = parse(page("answers.md"))[1]
    for path in pages():
        name = str(path.relative_to(book))
        check(name == "README.md" or name in linked, f"README.md: {name} is not in it")
        check(page(path.name) == path, f"{name}: another page has this name; on the site they are in one folder")
        lines = parse(path)[1]
        title = lines[0].lstrip("# ").split(":")[0]
        asked, answered = numbered(lines, "## Exercises"), numbered(answers, f"## {title}")
        check(asked > 0 or name not in names, f"{path.name}: no exercises")
        check("## Build your own" in lines or name not in names, f"{path.name}: no step of build your own")
        check(asked == answered, f"{path.name}: {asked} exercises, {answered} answers under \"{title}\" in answers.md")
        asked, answered = numbered(lines, "## Reading the source"), numbered(answers, f"### {title}: the source")
        check(asked == answered, f"{path.name}: {asked} questions of the source, {answered} answers in answers.md")


MEASURED = re.compile(r"(?:Measured|Counted|Computed)\b.*: .*; 20\d\d-\d\d-\d\d; .*(?:`.+`|not kept)")


def check_measured_tables(path):
    """Below a table that is mostly figures stands, before the next heading, where, when and by which command they came to be."""
    cells, said = [], False
    for number, line in reversed(list(enumerate(parse(path)[1], 1))):
        if line.startswith("|"):
            cells += line.strip("|").split("|")[1:]
            continue
        figures = sum(1 for cell in cells if re.match(r"\W*\d", cell))
        check(said or not cells or figures < 0.3 * len(cells), f"{path.name}:{number + 1}: figures without \"Measured: machine; date; command\" below")
        cells, said = [], not line.startswith("#") and (said or MEASURED.match(line))
        for scenario in re.findall(r"`abd-perf run ([a-z][\w-]*)", line):
            check((ROOT / "perf" / "scenario" / f"abd_perf_{scenario.replace('-', '_')}.c").exists(), f"{path.name}:{number}: abd-perf has no {scenario}")


def check_links():
    files, named = sources(), tests()
    others = theirs()
    if page("map.md").exists():
        others |= {name.removesuffix("()") for _, cells in rows(page("map.md")) for name in quoted(cells[0])}
    known = identifiers() | others | {name for folder in ("lib", "perf", "examples", "tests", "docs")
                                      for path in (ROOT / folder).glob("**/*.[ch]")
                                      for name in re.findall(r"\b(\w+)\(", path.read_text())}
    names_of_tests = {*named, *(f"{name.split('/')[0]}/" for name in named)}
    inside = pages()
    for path in [*inside, *beside("README.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md", *map(str, ROOT.glob("[a-z]*/[a-z]*/README.md")))]:
        level = 0
        for number, line in enumerate(parse(path)[1], 1):
            where = f"{path.name}:{number}"
            if line.startswith("#"):
                deep = len(line) - len(line.lstrip("#"))
                check(deep <= level + 1, f"{where}: a heading of level {deep} below one of level {level}")
                level = deep
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
                check_link(where, path, target)
            if path in inside:
                check_text_names(where, line, files, known, others, names_of_tests)
        if path in inside and path.name != "testing.md":  # its table is written by the table check
            check_measured_tables(path)
    check_order()


# ---- blocks ------------------------------------------------------------------------------------------------------------

PROLOGUE = """#include <abd/abd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""


class Build:
    """A build of the library: how programs are built against it, where its own are."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        cache = (self.folder / "CMakeCache.txt").read_text()
        self.checked = re.search(r"^ABD_CHECKED:BOOL=(ON|1|TRUE)$", cache, re.MULTILINE) is not None
        self.arc = re.search(r"^ABD_WITH_ARC:BOOL=(ON|1|TRUE)$", cache, re.MULTILINE) is not None
        self.cc = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.MULTILINE).group(1)
        cxx = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
        checker = re.search(r"^ABD_SANITIZE:\w+=.*address", cache, re.MULTILINE)
        self.flags = ["-fsanitize=address,undefined"] if checker else []  # not the wrapping of unsigned numbers, which programs may mean
        self.cxx = cxx and not cxx.group(1).endswith("NOTFOUND") and cxx.group(1)
        self.path = os.pathsep.join([str(self.folder / "examples"), str(self.folder / "perf"),
                                     str(self.folder / "explain"), str(self.folder / "tests"), os.environ["PATH"]])

    def compile(self, source, program):
        lib = self.folder / "lib"
        compiler = [self.cc, "-std=gnu11"] if source.suffix == ".c" else [self.cxx, "-std=c++17"]
        return subprocess.run(
            [*compiler, *self.flags, "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", f"-I{self.folder}/include",
             str(source), "-o", str(program), f"-L{lib}", f"-Wl,-rpath,{lib}", "-labd"], capture_output=True, text=True)

    def applies(self, block):
        wanted = block.tags.get("checked", "")
        return (wanted == "" or (wanted == "only") == self.checked) and (block.tags.get("needs") != "arc" or self.arc) \
            and (block.language != "cpp" or self.cxx)


def whole_program(text):
    if re.search(r"\bmain\(", text):
        return text
    return PROLOGUE + "\nint main(void)\n{\n" + "".join("\t" + line for line in text.splitlines(keepends=True)) + \
        "\treturn 0;\n}\n"


MOST = 3000  # seconds by the clock that a program may take: it has one or two, so only what hangs is ended


def run(command, folder, build):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ABD_")} | {"PATH": build.path, "LC_ALL": "C.UTF-8"}
    env["ABD_BOOK_ROOT"] = str(ROOT)
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=MOST)
    # "Aborted" is the shell's or the system's word, not the program's.
    lines = done.stdout.decode(errors="replace").splitlines(keepends=True)
    code = 128 - done.returncode if done.returncode < 0 else done.returncode
    return "".join(line for line in lines if not re.fullmatch(r"(.*: line \d+: .*)?Aborted.*\n", line)), code


def do_block(block, build):
    """Run an example or commands. Returns (findings, output)."""
    with tempfile.TemporaryDirectory(prefix="abd-book-") as folder:
        if "example" in block.tags:
            source, program = pathlib.Path(folder) / f"example.{block.language}", pathlib.Path(folder) / "example"
            source.write_text(whole_program(block.text))
            built = build.compile(source, program)
            if built.returncode != 0:
                return [f"{block}: does not compile: {built.stderr.strip()}"], ""
            command = [str(program)]
        else:
            command = ["sh", "-eu", "-c", block.text]
        try:
            output, code = run(command, folder, build)
        except subprocess.TimeoutExpired:
            return [f"{block}: takes more than {MOST} s"], ""
    wanted = int(block.tags.get("exit", "0"))
    findings = [] if code == wanted else [f"{block}: exit code {code}, not {wanted}: {output.strip()[-400:]}"]
    return findings, output


def difference(wanted, got):
    return "".join(list(difflib.unified_diff(wanted.splitlines(keepends=True), got.splitlines(keepends=True),
                                             "in the book", "printed", n=0))[2:]).rstrip("\n")


def check_excerpt(block):
    path = ROOT / block.tags["file"]
    if check(path.exists(), f"{block}: {block.tags['file']} does not exist"):
        check(block.text in path.read_text(), f"{block}: these lines do not stand in {block.tags['file']}")


def scenarios():
    return {path.stem.removeprefix("abd_perf_").replace("_", "-") for path in (ROOT / "perf" / "scenario").glob("abd_perf_*.c")}


def check_measured(block):
    """Commands that are not run name programs, scenarios and tests that exist."""
    programs = {"abd-perf", "abd-explain"} | {path.stem for path in (ROOT / "examples").glob("*.c")}
    for line in block.lines:
        words = line.split("#")[0].split()
        words = [w for i, w in enumerate(words) if not ("=" in w and all("=" in v for v in words[:i + 1]))]
        if not words:
            continue
        program = words[0]
        unit = re.fullmatch(r"(?:build/\w+/tests/)?test_(\w+)_(?:forkless|criterion)", program)
        ours = "/" in program or program.startswith(("abd", "test_"))
        check(not ours or (ROOT / program).exists() or (unit and (ROOT / "tests" / unit.group(1)).exists()) or program.split("/")[-1] in programs,
              f"{block}: there is no program {program}")
        if program.endswith("abd-perf"):
            for word in itertools.takewhile(lambda w: not w.startswith("-"), words[1:]):
                check(word in scenarios() | {"run", "list", "compare", "report", "tables", "env", "tune"} or word.endswith(".json"),
                      f"{block}: abd-perf has no {word}")


def check_explain(block, build):
    program = shutil.which("abd-explain", path=build.path)
    if program is None or not build.applies(block):
        return
    script = book / block.tags["explain"]
    done = subprocess.run([program, "-f", str(script)], capture_output=True, text=True)
    check(done.returncode == 0 and done.stdout == block.text,
          f"{block}: abd-explain draws something else of {script.name}:\n{done.stderr}{difference(block.text, done.stdout)}")


NUMBER = r"[0-9][0-9,.-]*[0-9]|[0-9]"  # or a date


def kept_figures(name):
    """What a chapter says of a kept result: where and when it was measured, then the tables that abd-perf makes of it."""
    with open(book / name, newline="") as file:
        first = next(csv.DictReader(file))
    done = subprocess.run([sys.executable, str(ROOT / "perf" / "after"), "tables", str(book / name)], capture_output=True, text=True)
    return f"{done.stderr}{first['machine']}; {first['date']}, commit {first['commit']};\n{first['busy']}\n{done.stdout}"


FRONT = "pictures/read.svg"
PATHS = {"multi": "pieces of 4 KiB, copied together first",
         "single, rule on": "one piece",
         "own decoder": "pieces of 4 KiB, decoded where they lie"}


def front_picture():
    """README's picture: reads of cached records of real files, with their 95 % intervals. Light and dark: the reader's choice."""
    with open(book / "figures/arc-read.csv", newline="") as file:
        found = [row for row in csv.DictReader(file) if re.match("files .*>1 page, hot", row["name"]) and row["unit"] == "GB/s"]
    parts, y, scale = [], 0, 130  # points a GB/s
    for name in dict.fromkeys(row["name"] for row in found):
        y += 26
        parts.append(f'<text x="0" y="{y}" font-weight="bold">a read of {name.split()[1].strip(",").replace("k", " KiB")}, kept as lz4</text>')
        for i, (path, said) in enumerate(PATHS.items()):
            row = next(row for row in found if row["name"] == name and row["of"] == path)
            median, low, high = (float(row[key]) * scale for key in ("median", "low", "high"))
            y += 24
            parts.append(f'<rect class="c{i}" x="0" y="{y - 16}" width="{median:.0f}" height="20" rx="2"/><path d="M{low:.0f} {y - 6}H{high:.0f}"/>'
                         f'<text x="6" y="{y - 1}" class="on">{said}</text><text x="{high + 6:.0f}" y="{y - 1}">{float(row["median"]):.2f} GB/s</text>')
    parts.append(f'<text x="0" y="{y + 26}" class="small">{found[0]["machine"].split(",")[0]}, {found[0]["date"]}, abd-perf run arc-read; lines: 95 % intervals</text>')
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 %d" font-family="system-ui, sans-serif" font-size="13" role="img">\n'
            '<style>text { fill: #222 } path { stroke: #222; stroke-width: 1.5 } .on { fill: #fff } .small { font-size: 11px }\n'
            '.c0 { fill: #8a5a2b } .c1 { fill: #5b6770 } .c2 { fill: #0b6a9c }\n'
            '@media (prefers-color-scheme: dark) { text { fill: #ddd } path { stroke: #ddd } .on { fill: #fff } }</style>\n%s\n</svg>\n'
            % (y + 36, "\n".join(parts)))


def check_front():
    """README's table: each number beside a link to a kept result is one that abd-perf's tables of that result have."""
    for path in beside("README.md"):
        found = [(line, cells, name) for line, cells in rows(path) for name in re.findall(r"\]\(docs/(figures/[\w-]+\.csv)\)", cells[-1])]
        check(len(found) >= 5, f"{path.name}: {len(found)} rows of kept figures")
        for line, cells, name in found:
            kept = re.findall(NUMBER, kept_figures(name))
            for number in re.findall(NUMBER, re.sub(r"\]\([^)]*\)", "", " ".join(cells[1:]))):
                check(number.replace(",", "") in kept, f"{path.name}:{line}: {number} is not in {name}")
        check((book / FRONT).read_text() == front_picture(), f"{FRONT}: figures/arc-read.csv says something else; tests/quick --fix draws it")


def check_figures(block):
    if check((book / block.tags["figures"]).exists(), f"{block}: {block.tags['figures']} does not exist"):
        difference_is = difference(block.text, kept_figures(block.tags["figures"]))
        check(not difference_is, f"{block}: {block.tags['figures']} says something else:\n{difference_is}")


def known_tag(block):
    kind = (block.language, next(iter(block.tags), ""))
    return kind in {("", ""), ("c", "example"), ("cpp", "example"), ("c", "file"), ("rust", "file"), ("sh", "file"), ("sh", "run"), ("sh", "measured"), ("text", "output"),
                    ("text", "measured"), ("text", "explain"), ("text", "figures")}


def check_fences():
    check_front()
    blocks = [b for path in pages() for b in parse(path)[0]]
    for path in pages():
        check_lines(path, "an indented block is not tested; fence it", lambda line: re.match(r" {4}\S", line))
    names = {(b.path, b.tags.get("example") or b.tags.get("run")) for b in blocks if {"example", "run"} & b.tags.keys()}
    outputs = set()
    for block in blocks:
        check(known_tag(block), f"{block}: the fence's tag is none that is tested: {block.language} {block.tags}")
        if "output" in block.tags:
            name = (block.path, block.tags["output"])
            check(name not in outputs, f"{block}: {name[1]} has an output already")
            check(name in names, f"{block}: the output of {name[1]}, which is not in {name[0].name}")
            outputs.add(name)
        elif "file" in block.tags:
            check_excerpt(block)
        elif block.language == "sh" and "measured" in block.tags:
            check_measured(block)
        elif "explain" in block.tags:
            check((book / block.tags["explain"]).exists(), f"{block}: {block.tags['explain']} does not exist")
        elif "figures" in block.tags:
            check_figures(block)


def check_blocks(folder, only=None):
    build = Build(folder)
    blocks = [b for path in pages() for b in parse(path)[0]]
    runs = [b for b in blocks if {"example", "run"} & b.tags.keys() and build.applies(b) and (only is None or only in b.tags.values())]
    outputs = {(b.path, b.tags["output"]): b.text for b in blocks if "output" in b.tags}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for block, (findings, output) in zip(runs, pool.map(lambda b: do_block(b, build), runs)):
            for finding in findings:
                check(False, finding)
            name = block.tags.get("example") or block.tags.get("run")
            text = outputs.get((block.path, name), "")
            if not findings:
                check(output == text, f"{block}: {name} prints something else:\n{difference(text, output)}")
    for block in blocks:
        if "explain" in block.tags:
            check_explain(block, build)


# ---- words and terms ---------------------------------------------------------------------------------------------------


def plain(line):
    """A line's words: without code, links' targets, markup."""
    line = re.sub(r"`[^`]*`", " ", line)
    line = re.sub(r"\]\([^)]*\)", "] ", line)
    line = re.sub(r"https?://\S+", " ", line)
    # Sizes, symbols, names in code's spelling.
    return re.sub(r"\S*[_/\\=<>:0-9#]\S*", " ", line)


def check_words():
    if shutil.which("aspell") is None:
        print("aspell is missing: spelling is left out")
        return
    listed = {w.lower() for w in (HERE / "words.txt").read_text().split()}

    def wrong(line):
        words = re.findall(r"[A-Za-z][A-Za-z']*", plain(line))
        return ", ".join(sorted({w for w in words if w in unknown and w.lower().removesuffix("'s") not in listed}))
    for path in [*pages(), *beside("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]:
        prose = [line for line in parse(path)[1] if not line.startswith("    ")]  # commands
        spelt = subprocess.run(["aspell", "list", "--lang=en_GB", "--encoding=utf-8"], text=True, capture_output=True, check=True,
                               input="\n".join(plain(line) for line in prose))
        unknown = set(spelt.stdout.split())
        check_lines(path, "not in the dictionary: ", wrong)


def first_use(name, term):
    """What stands around a chapter's first use of a term, in its sentences: (place, text from the character before it), or None."""
    for number, line in enumerate(parse(book / name)[1], 1):
        if line[:1] in ("#", "|"):
            continue
        text = re.sub(r"`[^`]*`|(?<=\])\([^)]*\)", lambda code: "\0" * len(code.group(0)), line)
        found = re.search(rf"\b{re.escape(term)}s?\b", text, re.IGNORECASE)
        if found:
            return f"{name}:{number}", line[max(0, found.start() - 1):]
    return None


def check_linked():
    names = [name for name in order() if (book / name).exists()]
    texts = "".join(path.read_text() for path in pages())
    for line, term in glossary_terms():
        check(f"glossary.md#{slug(term)})" in texts, f"glossary.md:{line}: no page links \"{term}\"")
        for place, text in (first_use(name, term) or ("", "") for name in names if " " in term):
            check(not place or re.match(rf"\[[^]]*\]\([\w./]*glossary\.md#{slug(term)}\)", text), f"{place}: the first \"{term}\" is no link to the glossary")


def check_terms():
    check_linked()
    for line, cells in rows(page("glossary.md")):
        if not check(len(cells) == 3, f"glossary.md:{line}: {len(cells)} columns, not 3"):
            continue
        for wrong in (w.strip() for w in cells[2].split(",") if w.strip() not in ("", "—")):
            pattern = re.compile(rf"\b{re.escape(wrong)}s?\b", re.IGNORECASE)
            for path in (p for p in pages() if p.name != "glossary.md"):
                check_lines(path, f"\"{wrong}\"; the glossary says {cells[0]}",
                            lambda text, p=pattern: bool(p.search(re.sub(r"`[^`]*`|\"[^\"]*\"", " ", text))))


# ---- OpenZFS's functions -----------------------------------------------------------------------------------------------

FEW = 3  # words beside the name that say nothing yet


def sentences(path):
    """Of a page's text; a row of a table is one."""
    text = ""
    for line in parse(path)[1]:
        text += f"\n{line}\n" if line.startswith("|") else f" {line}" if line and not line.startswith("#") else "\n"
    return [each for part in text.split("\n") for each in ([part] if part.startswith("|") else re.split(r"(?<=[.!?;])\s", part))]


def check_taught():
    explained = {name for path in (book / "learn").glob("*.md") for each in sentences(path)
                 if len(re.findall(r"[A-Za-z]{2,}", plain(each))) > FEW for name in re.findall(r"`(\w+)\(\)`", each)}
    found = [(place, name) for line in (ROOT / "tests" / "dialect" / "names.txt").read_text().splitlines()
             for place in ("module/zfs/abd.c", "module/os/linux/zfs/abd_os.c", "module/zfs/arc.c")
             if line.startswith(f"{place} function: ") for name in line.split(": ")[1].split()]
    for place, name in found:
        check(name in explained, f"learn: no sentence explains {name}() of {place}")


# ---- sizes -------------------------------------------------------------------------------------------------------------


def print_sizes():
    shelves = collections.Counter()
    for path in (*pages(), *beside("README.md")):
        text = " ".join(line for line in parse(path)[1] if line[:1] not in ("#", "|", "<"))
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", text))
        words = len(re.findall(r"[A-Za-z][A-Za-z'-]*", text))
        print(f"{words:6} words  {path.relative_to(ROOT)}")
        shelves[path.parent.name if path.parent.parent == book else "README.md"] += words
    print("figure: " + ", ".join(f"{words} words in {shelf}" for shelf, words in sorted(shelves.items())))


# ---- docstrings --------------------------------------------------------------------------------------------------------

EMPTY = re.compile(r"^ \* (\w+):\s+(?:none|nothing changes hands)\.$", re.MULTILINE)


def questions(declaration):
    """What the comment above a declaration must answer."""
    yield from ("Returns", "Threads")
    if re.search(r"\b(?:s?size_t|off_t)\b", declaration):
        yield "Units"
    if re.match(r"[^(]*\*", declaration):
        yield "Owner"


def check_docstrings():
    """The comment above each ABD_API function answers what its declaration asks."""
    for path in headers():
        text = path.read_text()
        for found in re.finditer(r"^(?:ABD_API\b[^;{]*?\b(abd_\w+)|static inline bool (abd_key_equal))\(", text, re.MULTILINE):
            comment = re.search(r"/\*\*((?:(?!\*/).)*)\*/\s*\Z", text[:found.start()], re.DOTALL)
            where = f"{path.name}: {found.group(1) or found.group(2)}"
            if check(comment, f"{where}: no comment that says what it promises"):
                declaration = text[found.start():text.index(";", found.start())]
                missing = [q for q in questions(declaration) if not re.search(rf"^ \* {q}:", comment.group(1), re.MULTILINE)]
                check(not missing, f"{where}: says nothing of {', '.join(missing)}")
                empty = EMPTY.findall(comment.group(1))
                check(not empty, f"{where}: says nothing under {', '.join(empty)}; leave that out")


# ---- pictures ----------------------------------------------------------------------------------------------------------


def draw(folder=None):
    """Every table of a kept result becomes what that says, and every picture of abd-explain's what it draws now."""
    program = folder and shutil.which("abd-explain", path=Build(folder).path)
    if not check(program or not folder, "there is no abd-explain"):
        return

    def picture(found):
        done = subprocess.run([program, "-f", str(book / found.group(1))], capture_output=True, text=True)
        check(done.returncode == 0, f"{found.group(1)}: {done.stderr.strip()}")
        return f"```text explain={found.group(1)}{found.group(2) or ''}\n{done.stdout}```\n"
    if book == ROOT / "docs":
        (book / FRONT).write_text(front_picture())
    for path in pages():
        text = path.read_text()
        drawn = re.sub(r"^```text figures=(\S+)\n.*?^```\n", lambda found: f"```text figures={found[1]}\n{kept_figures(found[1])}```\n", text,
                       flags=re.MULTILINE | re.DOTALL)
        if program:
            drawn = re.sub(r"^```text explain=(\S+)( \S+)?\n.*?^```\n", picture, drawn, flags=re.MULTILINE | re.DOTALL)
        if drawn != text:
            path.write_text(drawn)


# ---- the last runs -----------------------------------------------------------------------------------------------------


def put_table(file):
    """Of the table in testing.md, each row that FILE has becomes FILE's, with the commit that is checked out where FILE lies; the others stay."""
    chapter = page("testing.md")
    text = chapter.read_text()
    commit = subprocess.run(["git", "-C", pathlib.Path(file).parent, "rev-parse", "--short=7", "HEAD"], text=True, capture_output=True, check=True).stdout.strip()
    found = re.search(r"(<!-- table: begin -->\n.*\n.*\n)((?:.*\n)*)(<!-- table: end -->)", text)
    if check(found, "testing.md: no marks for a table"):
        kept = {line.split()[1]: line for line in found[2].splitlines()}
        kept |= {line.split()[1]: f"{line} {commit} |" for line in pathlib.Path(file).read_text().splitlines()[2:]}
        chapter.write_text(text[:found.start(2)] + "".join(f"{line}\n" for line in kept.values()) + text[found.start(3):])


# ---- planted mistakes --------------------------------------------------------------------------------------------------


def check_planted():
    """What each check says of the planted book has a line for every pattern that told.txt has for it."""
    told = [line.split(": ", 1) for line in (HERE / "planted" / "told.txt").read_text().splitlines()]
    for name in sorted({name for name, _ in told}):
        done = subprocess.run([sys.executable, __file__, "--book", str(HERE / "planted"), name], capture_output=True, text=True)
        check(done.returncode == 1, f"{name} let the planted book through: {done.stderr.strip()}")
        for pattern in [pattern for other, pattern in told if other == name]:
            check(re.search(pattern, done.stdout), f"{name} did not say of the planted book: {pattern}")


def main(arguments):
    global book
    if arguments[:1] == ["--book"]:
        book = pathlib.Path(arguments[1]).resolve()
        arguments = arguments[2:]
    checks = {"map": check_map, "links": check_links, "fences": check_fences, "blocks": check_blocks, "words": check_words, "terms": check_terms,
              "taught": check_taught, "docstrings": check_docstrings, "planted": check_planted, "sizes": print_sizes, "table": put_table, "draw": draw}
    if not arguments or arguments[0] not in checks:
        print(__doc__)
        return 2
    checks[arguments[0]](*arguments[1:])
    for failure in failures:
        print("FAIL", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


sys.exit(main(sys.argv[1:]))
