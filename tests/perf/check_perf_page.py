#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The page of abd-perf report in headless Chromium: small, on a phone and a desk, light and dark, without asking anybody for more.

usage: check_perf_page.py PAGE [--screens FOLDER]     --screens: leave pictures of what was seen
"""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
import browser  # noqa: E402
from browser import PHONE  # noqa: E402

PAGE = pathlib.Path(sys.argv[1]).resolve()
if sys.argv[2:3] == ["--screens"]:
    browser.SCREENS = pathlib.Path(sys.argv[3])
DESK = (1280, 900)
MOST = 600 << 10
# What reaches past the right edge: the page, or text of a drawing past its drawing.
OUTSIDE = """
    const found = document.documentElement.scrollWidth > arguments[0] ? [`the page: ${document.documentElement.scrollWidth} px`] : [];
    for (const drawing of document.querySelectorAll("svg")) {
        const edge = drawing.getBoundingClientRect();
        for (const text of edge.width > 0 ? drawing.querySelectorAll("text") : []) {
            const box = text.getBoundingClientRect();
            if (box.right > edge.right + 2 || box.left < edge.left - 2 || box.top < edge.top - 2 || box.bottom > edge.bottom + 2)
                found.push(`${drawing.getAttribute("aria-label")}: ${text.textContent}`);
        }
    }
    return found"""


class Page(browser.Browser):
    maxDiff = None

    def test_it_is_small(self):
        self.assertLess(PAGE.stat().st_size, MOST)

    def test_nothing_hangs_over_the_edge_and_text_can_be_read_in_light_and_dark(self):
        papers = set()
        for size, kind in ((PHONE, "narrow"), (DESK, "wide")):
            for scheme in ("light", "dark"):
                with self.subTest(size=size, scheme=scheme):
                    self.open(PAGE.as_uri(), size, scheme)
                    self.assertEqual(self.script(OUTSIDE, size[0]), [])
                    self.assertEqual(self.unreadable(), [])
                    shown = [drawing.get_attribute("class") for drawing in self.all("svg") if drawing.is_displayed()]
                    self.assertEqual(set(shown), {kind})
                    papers.add(self.script("return getComputedStyle(document.body).backgroundColor"))
                    self.screen(f"report-{size[0]}-{scheme}")
        self.assertEqual(len(papers), 2)

    def test_opened_tables_scroll_by_themselves(self):
        self.open(PAGE.as_uri(), PHONE)
        self.script("document.querySelectorAll('details').forEach((each) => each.open = true)")
        self.assertEqual(self.script(OUTSIDE, PHONE[0]), [])

    def test_it_asks_nobody_for_more(self):
        self.open(PAGE.as_uri(), DESK)
        self.assertEqual(self.script("return performance.getEntriesByType('resource').map((each) => each.name)"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
