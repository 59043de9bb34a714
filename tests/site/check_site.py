#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The built site and manual pages: nothing leads nowhere, nothing comes from elsewhere, every public call is there.

usage: check_site.py FOLDER     the folder that holds html and man
"""
import fnmatch
import html.parser
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.parse
import xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path(sys.argv[1]).resolve() / "html"
MAN = pathlib.Path(sys.argv[1]).resolve() / "man"


class Page(html.parser.HTMLParser):
    """What a page loads, where it leads, and what can be led to."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.leads, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.add(attributes["id"])
        if tag in ("script", "img", "iframe", "source") and attributes.get("src"):
            self.loads.append(attributes["src"])
        if tag == "link" and attributes.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(attributes["href"])
        if tag == "a" and attributes.get("href"):
            self.leads.append(attributes["href"])


CHAPTERS = [path for folder in ("", "learn", "use", "notes") for path in (ROOT / "docs" / folder).glob("*.md")]
PAGES = {path: Page(path) for path in SITE.rglob("*.html")}


def public_calls():
    """What include/abd marks ABD_API, and inline calls; but for those that the Doxyfile says are no calls of anybody's."""
    excluded = re.search(r"^EXCLUDE_SYMBOLS *= (.*)", (ROOT / "docs/site/Doxyfile").read_text(), flags=re.M)[1].split()
    for path in (ROOT / "include/abd").rglob("*.h*"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for name in re.findall(r"^(?:ABD_API|static inline) [^;{()]*?\b(abd_\w+)\s*\(", text, flags=re.M):
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in excluded):
                yield name


class Site(unittest.TestCase):
    def target(self, page, link):
        where = urllib.parse.urlsplit(link)
        return (page.parent / urllib.parse.unquote(where.path)).resolve() if where.path else page, where

    def test_every_link_leads_somewhere(self):
        count = 0
        for path, page in PAGES.items():
            for link in page.leads + page.loads:
                target, where = self.target(path, link)
                if where.scheme:
                    continue
                self.assertTrue(target.exists(), f"{path.relative_to(SITE)}: {link}")
                if where.fragment and target in PAGES and not target.name.startswith("interactive"):
                    self.assertIn(urllib.parse.unquote(where.fragment), PAGES[target].ids, f"{path.relative_to(SITE)}: {link}")
                count += 1
        self.assertGreater(count, 500)

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in PAGES.items():
            for link in page.loads:
                self.assertFalse(urllib.parse.urlsplit(link).scheme or link.startswith("//"), f"{path.relative_to(SITE)}: {link}")
        for path in SITE.rglob("*.css"):
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"(@import|url\()\s*[\"']?(https?:)?/", path)

    def test_the_front_page_has_its_picture_and_leads_to_the_pages_to_play_with(self):
        self.assertEqual((SITE / "index.html").read_text(encoding="utf-8").count('<svg class="front" role="img"'), 1)
        self.assertLessEqual({path.name for path in SITE.glob("interactive*.html")}, set(PAGES[SITE / "index.html"].leads))

    def test_what_can_be_played_with_stands_in_the_pages_that_it_belongs_to(self):
        wanted = sum(len(re.findall(r"^\[.*\]\(\.\./site/play\.md#", path.read_text(), flags=re.M)) for path in CHAPTERS)
        found = [link for page in PAGES.values() for link in page.loads if link.startswith("interactive")]
        self.assertEqual(len(found), wanted)
        self.assertEqual({link.split("#")[0] for link in found}, {path.name for path in SITE.glob("interactive*.html")})

    def test_every_chapter_is_a_page_that_the_index_leads_to(self):
        led = {self.target(SITE / "index.html", link)[0] for link in PAGES[SITE / "index.html"].leads}
        for path in CHAPTERS:
            name = "index" if path.stem == "README" else path.stem
            self.assertIn(SITE / f"{name}.html", led | {SITE / "index.html"}, path.name)

    def test_tables_of_figures_are_tables_whose_cells_wrap(self):
        for path in CHAPTERS:
            wanted = len(re.findall(r"^```text (?:figures=|measured)", path.read_text(), flags=re.M))
            text = (SITE / f"{path.stem}.html").read_text(encoding="utf-8") if wanted else ""
            self.assertEqual((text.count('<div class="figures">'), wanted <= text.count('<table class="docutils figures">')), (wanted, True), path.name)

    def test_every_public_call_is_in_the_reference_and_has_a_manual_page(self):
        ids = set().union(*(PAGES[path].ids for path in PAGES if path.parent.name == "reference"))
        calls = sorted(set(public_calls()))
        self.assertGreater(len(calls), 80)
        for call in calls:
            self.assertTrue(f"c.{call}" in ids, call)
            self.assertTrue((MAN / f"man3/{call}.3").exists(), call)

    def test_names_of_ours_in_the_map_lead_to_their_reference(self):
        if not (ROOT / "docs/use/map.md").exists():
            self.skipTest("there is no map")
        led = [link for link in PAGES[SITE / "map.html"].leads if link.startswith("reference/") and "#c.abd_" in link]
        self.assertGreater(len(set(led)), 60)

    def test_private_fields_are_not_in_the_reference(self):
        text = (SITE / "reference/buffer.html").read_text()
        self.assertTrue("c.abd.abd_flags" in text)
        for private in ("abd_gang_refs", "abd_children", "abd_run_count"):
            self.assertFalse(private in text, private)

    def test_a_declarations_answers_are_set_apart(self):
        text = (SITE / "reference/buffer.html").read_text()
        self.assertTrue("Returns" in text, "no answers at all")
        for answer in ("Returns", "Owner", "Threads", "Source"):
            self.assertTrue(f"<dt><strong>{answer}</strong></dt>" in text, answer)

    def test_every_picture_is_svg_that_abd_explain_drew(self):
        wanted = sum(len(re.findall(r"^```text explain=", path.read_text(), flags=re.M)) for path in CHAPTERS)
        pictures = list((SITE / "_images").glob("*.svg")) if (SITE / "_images").exists() else []
        self.assertEqual(len(pictures), wanted)
        for path in pictures:
            self.assertEqual(xml.dom.minidom.parse(str(path)).documentElement.tagName, "svg")

    def test_no_page_says_where_it_was_built(self):
        for path in [*SITE.rglob("*.html"), *SITE.rglob("*.js"), *MAN.rglob("*.[0-9]")]:
            self.assertFalse(str(ROOT) in path.read_text(encoding="utf-8"), path)


class Manual(unittest.TestCase):
    def test_the_pages_named_in_the_overview_are_there(self):
        for name, section in re.findall(r"([a-z_-]+)\((\d)\)", (ROOT / "docs/site/libabd.md").read_text()):
            self.assertTrue((MAN / f"man{section}/{name}.{section}").exists(), f"{name}({section})")

    def test_pages_are_set_without_a_warning(self):
        for path in sorted(MAN.rglob("*.[0-9]")):
            if path.read_text().startswith(".so "):
                self.assertTrue((MAN / path.read_text().split()[1]).exists(), path)
                continue
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-b", "-t", str(path)], capture_output=True, text=True)
            # What Sphinx writes leaves a few that say nothing about the text: fonts it resets, lines it can't break.
            told = [line for line in done.stderr.splitlines()
                    if "warning" in line and not re.search(r"can't (break|find) |cannot (break|adjust)|font|break", line)]
            self.assertEqual((done.returncode, told), (0, []), path.name)
            self.assertGreater(len(done.stdout), 400, path.name)

    def test_programs_pages_have_their_options(self):
        self.assertIn("fragment", (MAN / "man1/abd-explain.1").read_text())
        self.assertIn("\\-\\-svg", (MAN / "man1/abd-explain.1").read_text())
        if (MAN / "man1/abd-perf.1").exists():
            text = (MAN / "man1/abd-perf.1").read_text()
            self.assertIn("\\-\\-repeat", text)
            for command in ("baseline", "trend", "tune", "tables"):
                self.assertIn(f'.SS "abd\\-perf {command}"', text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
