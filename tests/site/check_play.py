#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The interactive pages and the search, clicked through in headless Chromium: with a mouse, with a keyboard, on a phone, in the dark.

usage: check_play.py HTML-FOLDER ABD-EXPLAIN [--screens FOLDER]     --screens: leave pictures of what was seen
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import browser
from browser import CONTRAST, PHONE, WIDE

# In a change's check a few stories, at random but the same ones; in full ten times as many.
MORE = 10 if os.environ.get("ABD_GATE_TIER") == "full" else 1
ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE, EXPLAIN = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SCREENS = pathlib.Path(sys.argv[4]) if sys.argv[3:4] == ["--screens"] else None
PAGE = (SITE / "interactive.html").as_uri()
browser.SCREENS = SCREENS


class Browser(browser.Browser):
    def open(self, size=WIDE, scheme="light", page=PAGE, choices=""):
        super().open(page, size, scheme, choices)

    def current(self):
        return self.one("#steps [aria-current]").text

    def choose(self, name, value):
        self.script("arguments[0].scrollIntoView({block: 'center', inline: 'center'})", self.one(f"input[name={name}][value='{value}']"))
        self.one(f"input[name={name}][value='{value}']").click()

    def controls(self):
        return self.script("return JSON.parse(document.getElementById('traces').textContent).controls")


class Play(Browser):
    def test_every_choice_can_be_clicked_and_shows_the_step_that_it_is_about(self):
        for size in (WIDE, PHONE):
            self.open(size)
            for control in self.controls():
                for value, _ in reversed(control["choices"]):
                    self.choose(control["name"], value)
                    shown = self.current().split("= ")[-1].split(" ")[0]
                    self.assertEqual(shown, "alloc" if value == "no" else control["step"], (control["name"], value))
                    self.assertIn(f"{control['name']}={value}", self.driver.current_url)
                    statement = {"size": f"alloc {value}", "max_order": f"max_order {value}", "free": f"fragment {value}"}.get(control["name"])
                    if statement and value not in ("10", "all"):
                        self.assertIn(statement, self.one("#command").get_attribute("textContent"))
                self.choose(control["name"], control["choices"][-1][0])
            self.screen(f"choices-{size[0]}")

    def test_what_is_shown_is_what_the_library_did(self):
        random.seed(5)
        for _ in range(4 * MORE):
            self.open()
            for control in self.controls():
                self.choose(control["name"], random.choice(control["choices"])[0])
            command = self.one("#command").get_attribute("textContent")
            script = command[len("abd-explain '"):-1]
            done = subprocess.run([EXPLAIN, "--json=-", script], capture_output=True, text=True, check=True)
            for number, line in enumerate(done.stdout.splitlines()):
                self.same(number, json.loads(line))

    def same(self, number, step):
        self.all("#steps button")[number].click()
        where = step["statement"]
        self.assertEqual(self.one("#step h2").text, where)
        self.assertEqual(self.texts("#step .buffer h3"), [f"{shot['name']}: {shot['head']}" for shot in step["shots"]], where)
        notes = self.texts("#step .note")
        self.assertEqual(notes[len(notes) - len(step["notes"]):], step["notes"], where)
        self.assertEqual(self.texts("#step .outcome"),
                         {"done": [], "refused": ["REFUSED"], "broken": ["CONTRACT BROKEN"]}[step["outcome"]], where)
        for shot, buffer in zip(step["shots"], self.all("#step .buffer")):
            titles = self.script("return [...arguments[0].querySelectorAll('.part')].map((each) => each.title)", buffer)
            self.assertEqual(len(titles), len(shot["parts"]), where)
            self.assertEqual(self.texts(".marked", buffer),
                             [f"{mark['what']}: {mark['off']} to {mark['off'] + mark['size']}" for mark in shot["marks"]], where)
            self.bars(shot, buffer, where)
            for part, said in zip(shot["parts"], titles):
                self.assertIn(f"bytes {part['off']} to {part['off'] + part['size']}", said)
                self.assertIn(part["place"], said)
        changed = {row.split()[0]: row.split()[1:] for row in self.texts("#counts tr.changed")}
        self.assertEqual(changed, {each["name"]: [str(each["now"]), f"{each['by']:+d}".replace("-", "\u2212")] for each in step["counters"]}, where)

    def bars(self, shot, buffer, where):
        """A mark covers of each part what its range does; a part is as wide as its bytes, if not too narrow to be seen."""
        rows = self.script("""
            const width = (each) => each.getBoundingClientRect().width;
            return [...arguments[0].querySelectorAll(".bars")].map((row) => [...row.children].map((bar) =>
                bar.firstChild ? [width(bar.firstChild) / width(bar), (bar.firstChild.getBoundingClientRect().left -
                    bar.getBoundingClientRect().left) / width(bar), width(bar)] : [0, 0, width(bar)]))""", buffer)
        self.assertEqual(len(rows), len(shot["marks"]), where)
        for mark, row in zip(shot["marks"], rows):
            for part, (covered, left, width) in zip(shot["parts"], row):
                first, last = max(mark["off"], part["off"]), min(mark["off"] + mark["size"], part["off"] + part["size"])
                self.assertAlmostEqual(covered, max(0, last - first) / part["size"], delta=4 / width, msg=where)
                if first < last:
                    self.assertAlmostEqual(left, (first - part["off"]) / part["size"], delta=4 / width, msg=where)
        widths = self.script("return [...arguments[0].querySelectorAll('.part')].map((each) => each.getBoundingClientRect().width)", buffer)
        for part, width in zip(shot["parts"], widths):
            if min(widths) > 9:
                self.assertAlmostEqual(width / sum(widths), part["size"] / shot["size"], delta=0.03, msg=where)

    def test_a_keyboard_is_enough(self):
        self.open()
        keys = ActionChains(self.driver)
        keys.send_keys(Keys.TAB).perform()
        self.assertEqual(self.script("return document.activeElement.name"), "size")
        ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertEqual(self.script("return document.activeElement.value"), "40000")
        self.assertEqual(self.current(), "alloc 40000")
        for _ in range(5):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
        self.assertEqual(self.script("return document.activeElement.name"), "borrow")
        ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertTrue(self.current().startswith("borrow"))
        ActionChains(self.driver).send_keys(Keys.TAB, Keys.ENTER).perform()
        self.assertEqual(self.current(), "alloc 40000")
        ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertEqual(self.current(), "pool")
        ActionChains(self.driver).send_keys(Keys.ARROW_LEFT).perform()
        self.assertEqual(self.current(), "alloc 40000")
        while "part" not in (self.script("return document.activeElement.className") or ""):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            self.assertNotEqual(self.script("return document.activeElement.tagName"), "BODY")
        first = self.one(".which").text
        ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertIn("run 1 of a", self.one(".which").text)
        self.assertNotEqual(first, self.one(".which").text)
        self.assertEqual(self.current(), "alloc 40000")

    def test_what_has_the_focus_is_seen(self):
        self.open()
        ActionChains(self.driver).send_keys(Keys.TAB).perform()
        self.assertEqual(self.script("return getComputedStyle(document.activeElement.parentElement).outlineStyle"), "solid")

    def test_back_and_next_end_where_the_story_does(self):
        self.open()
        while self.one("#next").is_enabled():
            self.one("#next").click()
        self.assertEqual(self.current(), "stats")
        count = len(self.all("#steps button"))
        for _ in range(count - 1):
            self.one("#back").click()
        self.assertFalse(self.one("#back").is_enabled())
        self.assertEqual(self.one("#where").text, f"step 1 of {count}")

    def test_a_single_run_is_borrowed_for_nothing_and_pieces_are_not(self):
        for max_order, copied in (("1", "0"), ("0", "1")):
            self.open(choices=f"#size=8k&max_order={max_order}&borrow=read")
            [each for each in self.all("#steps button") if each.text.startswith("borrow")][0].click()
            counts = {row.text.split()[0]: row.text.split()[1] for row in self.all("#counts tr")}
            self.assertEqual(counts.get("borrow_copy_cnt", "0"), copied)
            self.screen(f"borrow-{max_order}")

    def test_past_the_end_is_a_lesson(self):
        self.open(choices="#slice=past")
        [each for each in self.all("#steps button") if "view" in each.text][0].click()
        self.assertEqual(self.one(".outcome").text, "CONTRACT BROKEN")
        self.assertIn("reaches past the end of a buffer of 12288 bytes", self.one("#step").text)
        self.screen("contract")

    def test_nothing_hangs_over_the_edge_at_any_width(self):
        random.seed(9)
        for size in ((320, 700), PHONE, (768, 1000), WIDE):
            for _ in range(2 * MORE):
                self.open(size)
                for control in self.controls():
                    self.choose(control["name"], random.choice(control["choices"])[0])
                for button in range(len(self.all("#steps button"))):
                    self.script("document.querySelectorAll('#steps button')[arguments[0]].click()", button)
                    self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), size[0], self.driver.current_url)
                    self.assertTrue(self.script("""
                        const edge = document.getElementById("step").getBoundingClientRect();
                        return [...document.querySelectorAll("#step *")].every((each) => each.getBoundingClientRect().right <= edge.right + 1)"""),
                                    f"{size[0]} {self.driver.current_url} {self.current()}")
            self.screen(f"width-{size[0]}")

    def test_fingers_find_what_they_touch(self):
        self.open(PHONE)
        small = self.script("""return [...document.querySelectorAll("label, button:not(.part), summary")]
            .filter((each) => each.getBoundingClientRect().height < 24).map((each) => each.textContent)""")
        self.assertEqual(small, [])

    def test_text_can_be_read_in_light_and_dark(self):
        papers = set()
        for scheme in ("light", "dark"):
            self.open(scheme=scheme, choices="#gang=both&slice=past&borrow=write")
            for button in range(len(self.all("#steps button"))):
                self.script("document.querySelectorAll('#steps button')[arguments[0]].click()", button)
                self.assertEqual(self.script(CONTRAST), [], f"{scheme}: {self.current()}")
            papers.add(self.script("return getComputedStyle(document.body).backgroundColor"))
            self.screen(f"scheme-{scheme}")
        self.assertEqual(len(papers), 2)

    def test_the_page_is_one_file_and_asks_nobody_for_more(self):
        self.open()
        self.assertEqual(self.script("return performance.getEntriesByType('resource').map((each) => each.name)"), [])
        self.assertIn("default-src 'none'", self.one("meta[http-equiv]").get_attribute("content"))

    def test_a_wrong_address_shows_the_first_story(self):
        self.open(choices="#size=5&max_order=%00&nonsense")
        self.assertEqual(self.current(), "alloc 12k")


class Enter(Browser):
    PAGE = (SITE / "interactive-lz4.html").as_uri()
    same, bars = Play.same, Play.bars

    def test_what_is_shown_is_what_the_library_did(self):
        random.seed(7)
        for size in (WIDE, PHONE):
            self.open(size, page=self.PAGE)
            for _ in range(2 * MORE):
                for control in self.controls():
                    self.choose(control["name"], random.choice(control["choices"])[0])
                self.assertTrue(self.current().startswith("enter record"))
                self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), size[0])
                script = self.one("#command").get_attribute("textContent")[len("abd-explain '"):-1]
                done = subprocess.run([EXPLAIN, "--json=-", script], capture_output=True, text=True, check=True, cwd=ROOT / "docs/pictures")
                steps = [json.loads(line) for line in done.stdout.splitlines()]
                self.same(len(steps) - 1, steps[-1])
            self.screen(f"enter-{size[0]}")

    def test_a_hub_and_the_range_s_groups_are_read(self):
        self.open(page=self.PAGE, choices="#off=65000&count=4k&group=16k")
        read = [[int(number) for number in re.findall(r"\d+", each.text)] for each in self.all("#step .marked") if "read:" in each.text]
        self.assertEqual(len(read), 3)  # the first hub, the rest of group 3, the beginning of group 4 with its hub
        self.assertEqual(read[0][0], 0)
        self.assertIn("Without the index it would be", self.one("#step").text)


class Arc(Browser):
    PAGE = (SITE / "interactive-arc.html").as_uri()

    def lists(self):
        return [self.texts("button", row) for row in self.all("#lists .row")]

    def target(self):
        return [int(word) for word in self.one("#target").text.split() if word.isdigit()]

    def test_the_lists_move_as_the_library_s_do(self):
        random.seed(3)
        for room in (3, 4):
            for _ in range(2 * MORE):
                self.open(page=self.PAGE, choices=f"#room={room}")
                shown = []
                for _ in range(25):
                    boxes = [self.one("#new"), *self.all("#lists button")]
                    self.script("arguments[0].click()", random.choice(boxes))
                    shown.append((self.lists(), self.target()[0], "hit" in self.one("#told").text))
                self.compare(shown, self.one("#command").get_attribute("textContent")[len("abd-explain '"):-1])

    def compare(self, shown, script):
        done = subprocess.run([EXPLAIN, "--json=-", script], capture_output=True, text=True, check=True, cwd=ROOT / "docs/pictures")
        steps = [json.loads(line) for line in done.stdout.splitlines()]
        steps = [step for step in steps if step["statement"].startswith("arc_")]
        # A read that misses is followed by the put.
        ends = [step for step in steps if step["outcome"] == "done"]
        self.assertEqual(len(ends), len(shown))
        cost = ends[0]["shots"][0]["parts"][0]["size"]
        for step, (lists, target, hit) in zip(ends, shown):
            sizes = {part["place"]: part["size"] for shot in step["shots"] for part in shot["parts"]}
            marks = step["shots"][0]["marks"]
            self.assertEqual([len(each) for each in lists], [round(sizes.get(name, 0) / cost) for name in ("T1", "T2", "B1", "B2")], script)
            self.assertEqual(target, marks[0]["size"] if marks else 0, script)
            self.assertEqual(hit, step["statement"].startswith("arc_read"), script)

    def test_the_chapter_s_ten_requests_end_as_its_table_says(self):
        rows = re.findall(r"^   (\d) {5}(.{5})(.{7})(.{5})(.{4})(\d)  ", (ROOT / "docs/learn/arc-keep.md").read_text(), flags=re.M)
        self.assertEqual(len(rows), 10)
        for count in range(1, 11):
            self.open(page=self.PAGE, choices="#room=3&requests=" + "".join("ABCDEF"[int(row[0]) - 1] for row in rows[:count]))
            wanted = [["ABCDEF"[int(number) - 1] for number in part.split()] for part in rows[count - 1][1:5]]
            self.assertEqual(self.lists(), wanted, f"request {count}")
            target, most = self.target()
            self.assertEqual(round(3 * target / most), int(rows[count - 1][5]), f"request {count}")

    def test_a_scan_leaves_what_was_used_again(self):
        self.open(PHONE, page=self.PAGE, choices="#room=4&requests=ABAB")
        self.one("#scan").click()
        self.assertEqual(self.lists()[1], ["B", "A"])
        self.screen("arc-scan")
        self.one("#back").click()
        self.assertIn("7 requests, 2 hits", self.one("#sofar").text)
        self.one("#anew").click()
        self.assertEqual(self.lists(), [[], [], [], []])

    def test_a_keyboard_is_enough(self):
        self.open(page=self.PAGE, choices="#room=4&requests=AB")
        self.script("document.querySelector('[data-letter=A]').focus()")
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()
        self.assertEqual(self.lists()[:2], [["B"], ["A"]])
        self.assertEqual(self.script("return document.activeElement.dataset.letter"), "A")

    def test_it_can_be_read_and_touched_at_any_width(self):
        for size, scheme in (((320, 700), "light"), (PHONE, "dark"), (WIDE, "light")):
            self.open(size, scheme, self.PAGE, "#room=4&requests=ABABCDEFGHACA")
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), size[0])
            self.assertEqual(self.script(CONTRAST), [])
            self.assertEqual(self.script("return [...document.querySelectorAll('label, button')].filter((each) => each.getBoundingClientRect().height < 24).length"), 0)
            self.screen(f"arc-{size[0]}")

    def test_a_wrong_address_is_an_empty_cache(self):
        self.open(page=self.PAGE, choices="#room=7&requests=%00a!")
        self.assertEqual(self.lists(), [[], [], [], []])


class Search(Browser):
    def test_the_search_finds_calls_without_a_server(self):
        for query, page in (("abd_borrow_buf", "buffer.html"), ("grace period", "arc.html")):
            self.open(page=(SITE / "search.html").as_uri(), choices=f"?q={query}")
            WebDriverWait(self.driver, 2400).until(lambda _: self.all("#search-results li"))
            found = [each.get_attribute("href") for each in self.all("#search-results li a")]
            self.assertTrue(any(page in each for each in found), (query, found))

    def test_the_site_is_readable_on_a_phone(self):
        for page in ("index.html", "arc.html", "reference/buffer.html", "explain.html", "views-gangs.html"):
            self.open(PHONE, page=(SITE / page).as_uri())
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390, page)
            self.screen(f"site-{page.replace('/', '-')}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5 if SCREENS else 3:])
