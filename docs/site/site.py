#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The site and the manual pages, from what is in the tree and what the programs draw. Nothing is written into the tree.

The pages of docs/ are staged as they are, in one folder, but for what only makes sense on a site: links to headers lead to their reference,
a picture that a page has as text stands there as SVG too, both drawn by abd-explain of the same script, and a line that links to a
section of play.md is that section.

usage: site.py --build FOLDER --explain PROGRAM [--perf PROGRAM] [--version V] html|man|epub|pdf...
epub and pdf are the pages without the reference: libabd.epub and libabd.pdf, which a browser (chromium) prints.
"""
import argparse
import html
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"

# What each header is about, in the order in which one meets them: title, and the manual page's one line.
HEADERS = {
    "buffer": "make, view, borrow and free buffers",
    "operate": "iterate, copy, compare, fill",
    "compare": "equality and the first difference",
    "key": "short keys",
    "io": "iovecs, files, memory of any origin",
    "uring": "io_uring by registered pool memory",
    "flush": "durable copies",
    "codec": "lz4 and checksums",
    "arc": "a cache of compressed records",
    "stats": "counters",
    "pool": "the fixed pool",
    "tuning": "tunables by name",
    "compat/openzfs": "OpenZFS's spellings",
    "version": "the version",
}


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(part) for part in command[:3])} ... failed:\n{done.stdout}")
    return done.stdout


def headers():
    return {name: about for name, about in HEADERS.items()
            if (ROOT / f"include/abd/{name}.h").exists() or (ROOT / f"include/abd/{name}.h.in").exists()}


def page_of(name):
    return name.replace("/", "-")


def man_of(name):
    return "abd_" + page_of(name).replace("-", "_")


# ---- the headers as XML ----------------------------------------------------------------------------------------------


def stage_headers(build, version):
    """The headers, and version.h as CMake would write it."""
    folder = build / "headers"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "include/abd", folder / "abd")
    template = folder / "abd/version.h.in"
    if template.exists():
        text = re.sub(r"@PROJECT_VERSION(_\w+)?@", lambda found: version if not found[1] else
                      version.split(".")[("_MAJOR", "_MINOR", "_PATCH").index(found[1])], template.read_text())
        (folder / "abd/version.h").write_text(re.sub(r"#cmakedefine01 (\w+)", r"#define \1 1", re.sub(r"@\w+@", "1", text)))
        template.unlink()
    return folder


def doxygen(build, version):
    environment = dict(os.environ, ABD_SITE_HEADERS=str(stage_headers(build, version)), ABD_SITE_OUTPUT=str(build / "doxygen"),
                       ABD_SITE_FILTER=f"{sys.executable} {HERE / 'header_filter.py'}")
    shutil.rmtree(build / "doxygen", ignore_errors=True)
    (build / "doxygen").mkdir(parents=True)
    run("doxygen", HERE / "Doxyfile", env=environment)
    for path in (build / "doxygen/xml").glob("*.xml"):  # see header_filter.py
        path.write_text(path.read_text(encoding="utf-8").replace("__tag", ""), encoding="utf-8")
    return build / "doxygen/xml"


# ---- the sources -----------------------------------------------------------------------------------------------------


PICTURE = re.compile(r"^```text explain=(?P<script>\S+)(?: \S+)?\n(?P<text>.*?)^```\n", flags=re.M | re.S)
SHELVES = {"learn": "Learn", "use": "Use", "notes": "Notes"}


NARROW = 50  # columns that fit a telephone, 390 px wide, at 11 px


def folded(lines):
    """A wide drawing as several narrow ones, to be read like lines of music: cut where the fewest lines go on."""
    width, start = max(map(len, lines)), 0
    lines = [line.ljust(width) for line in lines]
    while width - start > NARROW:
        crossing = {at: sum(line[at - 1] != " " and line[at] != " " for line in lines) for at in range(start + NARROW // 2, start + NARROW + 1)}
        cut = min(crossing, key=lambda at: (crossing[at], -at))
        yield [line[start:cut].rstrip() for line in lines]
        start = cut
    yield [line[start:].rstrip() for line in lines]


def tables(found):
    """A fence of tables that are aligned by blanks, as abd-perf prints them: HTML tables, whose cells wrap on paper. A row is a list on a telephone."""
    out, lines = [], found[1].splitlines()
    while lines:
        rows = list(itertools.takewhile(lambda line: re.search(r"\S {2,}\S", line), lines))
        lines = lines[max(1, len(rows)):] if rows or not lines[0].strip() else lines
        if len(rows) < 2:
            said = list(itertools.takewhile(lambda line: line.strip() and not re.search(r"\S {2,}\S", line), lines))
            lines = lines[len(said):]
            out += [f"<p>{html.escape(' '.join([*rows, *said]))}</p>"] if rows or said else []
            continue
        mask = "".join("x" if any(row[at:at + 1].strip() for row in rows) else " " for at in range(max(map(len, rows))))
        heads, *body = [[html.escape(row[slice(*column.span())].strip()) for column in re.finditer(r"x(?: ?x)*", mask)] for row in rows]
        out.append('<table class="docutils figures"><thead><tr>' + "".join(f"<th>{head}</th>" for head in heads) + "</tr></thead><tbody>" + "".join(
            "<tr>" + "".join(f'<td data-of="{head}">{cell}</td>' for head, cell in zip(heads, row)) + "</tr>" for row in body) + "</tbody></table>")
    return '<div class="figures">\n' + "\n".join(out) + "\n</div>\n"


def glossary():
    """The glossary's rows: its terms, what they mean, what else they are not called."""
    path = DOCS / "use/glossary.md"
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", path.read_text(encoding="utf-8") if path.exists() else "", flags=re.M)
    return [(terms.split(", "), meaning, other) for terms, meaning, other in rows if terms != "term"]


def slug(term):
    return term.lower().replace(" ", "-")


class Stage:
    terms = {slug(term): term for terms, _, _ in glossary() for term in terms}
    pieces = {slug(title): text for title, text in re.findall(r"^## ([^\n]*)\n\n(.*?)(?=^#|\Z)", (HERE / "play.md").read_text(), flags=re.M | re.S)}

    def __init__(self, build, explain, known):
        self.source, self.explain, self.known, self.pictures = build / "source", explain, known, 0
        shutil.rmtree(self.source, ignore_errors=True)
        for folder in ("reference", "manual", "extra", "static", "drawn"):
            (self.source / folder).mkdir(parents=True)
        for name in ("conf.py",):
            shutil.copy(HERE / name, self.source / name)
        shutil.copy(HERE / "site.css", self.source / "static")

    def write(self, name, text):
        (self.source / name).write_text(text, encoding="utf-8")

    def picture(self, found):
        """A fence that is abd-explain's text of a script: the same as a picture, and the text one click away."""
        script = DOCS / found["script"]
        self.pictures += 1
        name = f"{script.stem}-{self.pictures}.svg"
        run(self.explain, "--svg", self.source / "drawn" / name, "-f", script)
        return (f":::{{image}} drawn/{name}\n:alt: what abd-explain draws of {script.name}; as text below\n:class: picture\n:::\n\n"
                f"<details class=\"as-text\"><summary>as text</summary>\n\n```text\n{found['text']}```\n\n</details>\n")

    @staticmethod
    def drawing(drawn, before):
        """A fence without a word is a drawing: for those who can't see it, what was said before; for narrow screens and paper, folded."""
        said = re.sub(r"\s+", " ", re.sub(r"[`*]|\]\([^)]*\)", "", before.rstrip().rsplit("\n\n", 1)[-1])).replace("[", "").lstrip("# ")
        said = html.escape(f"A drawing. {said}", quote=True)
        lines = drawn.splitlines()
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        lines = [line[indent:] for line in lines]
        shapes = {"wide": [lines], "narrow": list(folded(lines))} if max(map(len, lines)) > NARROW else {"any": [lines]}
        return "\n".join(f'<pre class="drawing {shape}" role="img" aria-label="{said}">' + "\n\n".join(
            html.escape("\n".join(part).rstrip()) for part in parts) + "</pre>\n" for shape, parts in shapes.items())

    @staticmethod
    def link(found):
        """A link out of docs/: to a header's reference, or else just its words."""
        text, target = found["text"], found["target"].split("#")[0].rstrip("/")
        header = re.fullmatch(r"include/abd/([\w/]+)\.h(\.in)?", target)
        if header and header[1] in headers():
            return f"[{text}](reference/{page_of(header[1])}.md)"
        if target == "include/abd":
            return f"[{text}](reference/index.md)"
        return text

    @staticmethod
    def glossary(text):
        """The table as Sphinx's glossary: its terms can be linked to, and a telephone needs no columns."""
        entries = "\n".join("\n".join(terms) + f"\n  {meaning}" + ("" if other == "—" else f" (Not: {other}.)") + "\n"
                            for terms, meaning, other in glossary())
        return re.sub(r"(?:^\|.*\n)+", lambda _: f"```{{glossary}}\n{entries}```\n", text, flags=re.M).replace(
            "The last column holds words", "Behind \"not\" stand words")

    def chapter(self, path):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"^\[[^]\n]*\]\(\.\./site/play\.md#([\w-]+)\).*\n", lambda found: self.pieces[found[1]], text, flags=re.M)
        text = re.sub(r"\]\((?:\.\./)?(?:learn|use|notes)/", "](", text).replace("](../README.md", "](index.md")
        if path.name == "glossary.md":
            text = self.glossary(text)
        text = re.sub(r"\[([^\]\n]+)\]\(glossary\.md#([\w-]+)\)", lambda found: f"{{term}}`{found[1]} <{self.terms[found[2]]}>`", text)
        text = PICTURE.sub(self.picture, text)
        text = re.sub(r"^```text (?:figures=\S+|measured)\n(.*?)^```\n", tables, text, flags=re.M | re.S)
        text = re.sub(r"^```(\w+) +[^\n]*$", r"```\1", text, flags=re.M)  # tags are for the tests
        text = re.sub(r"^```(\w*)\n(.*?)^```$", lambda found: found[0] if found[1] else
                      self.drawing(found[2], text[:found.start()]), text, flags=re.M | re.S)
        text = re.sub(r"\[(?P<text>[^\]\n]*)\]\((?:\.\./)+(?P<target>[^)\n]+)\)", self.link, text)
        # Ours are written without (); with it, a name may be OpenZFS's.
        parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
        return "".join(part if part.startswith("```") else re.sub(r"(?<![\[{}`\w])`(abd_\w+)`(?!\])", self.call, part) for part in parts)

    def call(self, found):
        return f"{{c:func}}`{found[1]}`" if found[1] in self.known else found[0]

    def toctree(self, caption, names, numbered=False):
        options = f":caption: {caption}\n:maxdepth: 1\n:hidden:\n" + (":numbered:\n" if numbered else "")
        return f"\n```{{toctree}}\n{options}\n" + "\n".join(names) + "\n```\n"

    def book(self):
        """Each shelf in the order in which README's tables have its pages; what is only linked in its sentences comes after."""
        readme = (DOCS / "README.md").read_text(encoding="utf-8")
        order = re.findall(r"^\|.*?\]\((\w+)/([\w-]+)\.md\)", readme, flags=re.M)
        shelves = {shelf: [name for of, name in order if of == shelf] for shelf in SHELVES}
        others = [path.stem for shelf in SHELVES for path in sorted((DOCS / shelf).glob("*.md")) if path.stem not in shelves[shelf]]
        for path in (path for shelf in SHELVES for path in (DOCS / shelf).glob("*.md")):
            self.write(path.name, self.chapter(path))
        self.write("explain.md", explain_page(self.explain))
        first = ('Play with <a href="interactive.html">buffers</a>, <a href="interactive-arc.html">the cache</a> and <a href="interactive-lz4.html">lz4\'s blocks</a> '
                 "in the browser, or with [abd-explain](explain.md) on the command line; or look into [the reference](reference/index.md).\n\n")
        mark = "There are three shelves"
        readme = re.sub(r'<pre class="drawing.*?</pre>\n', lambda _: (HERE / "front.svg").read_text(), self.chapter(DOCS / "README.md"), count=1, flags=re.S)
        self.write("index.md", "---\nhide-toc: true\n---\n" + readme.replace(mark, first + mark)
                   + "".join(self.toctree(caption, shelves[shelf], shelf == "learn") for shelf, caption in SHELVES.items() if shelves[shelf])
                   + self.toctree("Look up", [*others, "explain", "reference/index"]))

    def reference(self):
        rows = "".join(f"| [`abd/{name}.h`]({page_of(name)}.md) | {about} |\n" for name, about in headers().items())
        self.write("reference/index.md", "# Reference\n\nThe public headers, as they are: what each call promises and wants. "
                   "`#include <abd/abd.h>` is all of them but `compat/openzfs.h`.\n\n| header | what it is for |\n|---|---|\n" + rows
                   + "\n```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(page_of(name) for name in headers()) + "\n```\n")
        for name, about in headers().items():
            self.write(f"reference/{page_of(name)}.md", f"# {name}.h: {about}\n\n```c\n#include <abd/{name}.h>\n```\n\n```{{eval-rst}}\n.. doxygenfile:: abd/{name}.h\n```\n")


def explain_page(explain):
    rows = "".join(f"{line}\n" for line in run(explain, "--list").splitlines())
    return ("# abd-explain: see what a call does\n\n" + (HERE / "explain.md").read_text()
            + f"\n## Statements\n\n```text\n{rows}```\n\n## Options\n\n```text\n{run(explain, '--help')}```\n")


# ---- the manual pages ------------------------------------------------------------------------------------------------


def calls(xml, name):
    """The functions and function-like macros that a header declares, by Doxygen."""
    import xml.etree.ElementTree as tree

    for path in xml.glob("*.xml"):
        for compound in tree.parse(path).getroot().iter("compounddef"):
            location = compound.find("location")
            if compound.get("kind") == "file" and location is not None and location.get("file", "").endswith(f"abd/{name}.h"):
                return sorted({member.findtext("name") for member in compound.iter("memberdef") if member.get("kind") == "function"})
    return []


def manual(stage, xml, build, options):
    pages = "\n".join(f"reference/{page_of(name)}|{man_of(name)}|{about}|3" for name, about in headers().items())
    stage.write("manual/libabd.md", (HERE / "libabd.md").read_text())
    sphinx(stage, xml, build, options, "man", f"{pages}\nmanual/libabd|libabd|ZFS-style buffers for userspace storage engines|7")
    out = build / "man"
    for section in (1, 3, 7):
        (out / f"man{section}").mkdir()
        for page in out.glob(f"*.{section}"):
            page.rename(out / f"man{section}" / page.name)
    for name in headers():
        for call in calls(xml, name):
            page = out / f"man3/{call}.3"
            if not page.exists():
                page.write_text(f".so man3/{man_of(name)}.3\n")
    rows = [re.split(r"  +", line, maxsplit=1) for line in run(options.explain, "--list").splitlines()]
    statements = "[STATEMENTS]\n" + "".join(f".TP\n.B {usage}\n{about}\n" for usage, about in rows)
    (build / "explain.h2m").write_text(statements + "\n[SEE ALSO]\nlibabd(7), abd-perf(1)\n")
    help2man(options.explain, out / "man1/abd-explain.1", "draw what operations on buffers do", options, build / "explain.h2m")
    if options.perf:
        commands = "".join(f'.SS "abd\\-perf {command}"\n.nf\n{roff(run(options.perf, command, "--help"))}.fi\n'
                           for command in re.findall(r"^  ([a-z]+) ", run(options.perf, "--help"), re.MULTILINE))
        (build / "perf.h2m").write_text(f"[COMMANDS]\n{commands}\n[SEE ALSO]\nlibabd(7), abd-explain(1)\n")
        help2man(options.perf, out / "man1/abd-perf.1", "measure what libabd's buffers are worth", options, build / "perf.h2m")
        for part in pathlib.Path(options.perf).parent.glob("abd-perf-*"):  # programs that it starts as commands
            (out / f"man1/{part.name}.1").write_text(".so man1/abd-perf.1\n")


def roff(text):
    """Text as it stands, for a manual page."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "".join(f"\\&{line}\n" if line[:1] in (".", "'") else f"{line}\n" for line in text.splitlines())


def help2man(program, out, name, options, include):
    run("help2man", "--no-info", "--section=1", f"--name={name}", f"--version-string={options.version}", f"--include={include}",
        f"--output={out}", program, env=dict(os.environ, LC_ALL="C.UTF-8", SOURCE_DATE_EPOCH=os.environ.get("SOURCE_DATE_EPOCH", "0")))


# ---- all -------------------------------------------------------------------------------------------------------------


def sphinx(stage, xml, build, options, builder, pages=""):
    environment = dict(os.environ, ABD_SITE_XML=str(xml), ABD_SITE_VERSION=options.version, ABD_SITE_MANUAL=pages)
    # -W: a warning is an error; --keep-going: all of them at once.
    run("sphinx-build", "-q", "-W", "--keep-going", "-b", builder, "-d", build / f"doctrees-{builder}", stage.source, build / builder,
        env=environment)


def complete(html):
    """Debian's furo imports a style sheet from the web server's root, and a script as modules do, which files can't: both come along."""
    for sheet in (html / "_static/styles").glob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for path in re.findall(r"@import url\(/javascript/([\w./-]+)\)", text):
            shutil.copy(pathlib.Path("/usr/share/javascript") / path, html / "_static" / pathlib.Path(path).name)
            text = text.replace(f"/javascript/{path}", f"../{pathlib.Path(path).name}")
        dark = [rule for rule in re.findall(r'body\[data-theme="dark"\][^{}]*{[^}]*}', text) if "theme-toggle" not in rule]
        if dark and "prefers-color-scheme" not in text:  # lost when Debian compiles it: then pages stay light in a dark system, and pictures do not
            rules = "\n".join(dark).replace('[data-theme="dark"]', '[data-theme="auto"]')
            text += f"\n@media screen and (prefers-color-scheme: dark) {{\n{rules}\n}}\n"
        sheet.write_text(text, encoding="utf-8")
    script = html / "_static/scripts/furo.js"
    text = script.read_text(encoding="utf-8")
    line = 'import Gumshoe from "./gumshoe-patched.js";'
    if line in text:
        script.write_text((html / "_static/scripts/gumshoe-patched.js").read_text(encoding="utf-8") + text.replace(line, ""),
                          encoding="utf-8")


def on_paper(link):
    """The name of a section on one page: its chapter's in front, and one hyphen where a heading such as "Where the 5 % went" has two."""
    return f'<a href="#{link[2]}--{re.sub("-+", "-", link[3])}">{link[1]}</a>'


def apart(page):
    """Many chapters have a section of the same name, such as "The picture". On one page each gets the chapter's name in front of its own."""
    parts = re.split(r'(?=<span id="document-[\w-]+"></span>)', page)
    for at, part in enumerate(parts):
        chapter = re.match(r'<span id="document-([\w-]+)"', part)
        for name in re.findall(r'<section id="([\w-]+)"', part) if chapter else ():
            part = re.sub(rf'(<section id=|<a class="headerlink" href=)"(#?){name}"', rf'\1"\g<2>{chapter[1]}--{name}"', part)
        parts[at] = part
    page = "".join(parts)
    lost = set(re.findall(r'href="#([\w-]+--[\w-]+)"', page)) - set(re.findall(r' id="([\w-]+)"', page))
    if lost:
        sys.exit(f"links to sections that are not there: {' '.join(sorted(lost))}")
    return page


def printed(stage, xml, build, options):
    """The book as one file: as EPUB, and, printed by a browser from a single page, as PDF. What is interactive or on other pages stays out."""
    shutil.rmtree(stage.source / "reference")
    (stage.source / "explain.md").unlink()
    index = (stage.source / "index.md").read_text(encoding="utf-8")
    index = re.sub(r"^Play with .*\n\n", "", index, flags=re.M)
    index = re.sub(r"^(?:explain|reference/index)\n", "", index, flags=re.M)
    stage.write("index.md", index)
    for path in stage.source.glob("*.md"):
        text = re.sub(r"\[([^]\n]*)\]\(reference/[^)\n]*\)", r"\1", path.read_text(encoding="utf-8"))
        text = re.sub(r'<p class="play">.*?</iframe>\n', "", text, flags=re.S)
        text = re.sub(r"{c:func}(`\w+`)", r"\1", text)
        # What is one click away on a screen stays out on paper: the picture shows it.
        path.write_text(re.sub(r"<details class=\"as-text\">.*?</details>\n", "", text, flags=re.S), encoding="utf-8")
    if "epub" in options.what:
        sphinx(stage, xml, build, options, "epub")
        shutil.move(next((build / "epub").glob("*.epub")), build / "libabd.epub")
        print(build / "libabd.epub")
    if "pdf" in options.what:
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if browser is None:
            sys.exit("the PDF needs a browser (Debian: chromium)")
        for path in stage.source.glob("*.md"):
            path.write_text(re.sub(r"\[([^]\n]*)\]\(([\w-]+)\.md#([\w-]+)\)", on_paper, path.read_text(encoding="utf-8")), encoding="utf-8")
        sphinx(stage, xml, build, options, "singlehtml")
        page = build / "singlehtml/index.html"
        page.write_text(apart(page.read_text(encoding="utf-8")), encoding="utf-8")
        run(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--generate-pdf-document-outline",
            "--virtual-time-budget=20000", f"--print-to-pdf={build / 'libabd.pdf'}", page.as_uri())
        print(build / "libabd.pdf")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--explain", required=True)
    parser.add_argument("--perf")
    parser.add_argument("--version", default="0.0.0")
    parser.add_argument("what", nargs="+", choices=("html", "man", "epub", "pdf"))
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    xml = doxygen(options.build, options.version)
    stage = Stage(options.build, options.explain, {call for name in headers() for call in calls(xml, name)})
    stage.book()
    stage.reference()
    for what in options.what:
        shutil.rmtree(options.build / what, ignore_errors=True)
        (options.build / f"libabd.{what}").unlink(missing_ok=True)
    if "man" in options.what:
        manual(stage, xml, options.build, options)
        shutil.rmtree(stage.source / "manual")  # no page of the site
    if "html" in options.what:
        run(sys.executable, HERE / "play/grid.py", options.explain, "buffers", stage.source / "extra/interactive.html")
        run(sys.executable, HERE / "play/grid.py", options.explain, "enter", stage.source / "extra/interactive-lz4.html")
        run(sys.executable, HERE / "play/arc.py", options.explain, stage.source / "extra/interactive-arc.html")
        sphinx(stage, xml, options.build, options, "html")
        complete(options.build / "html")
        print(f"{options.build}/html/index.html")
    if {"epub", "pdf"} & set(options.what):
        printed(stage, xml, options.build, options)


if __name__ == "__main__":
    main()
