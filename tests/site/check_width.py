#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The site in a browser, on a telephone (390 px) and a desk (1280 px), or the widths in ABD_SITE_WIDTHS: no page, program or drawing reaches past the right edge, no
text is smaller than 11 px, in pictures too, no line of a picture is cut, and each picture and drawing is described.

usage: check_width.py HTML     the folder of the built pages
"""
import os
import pathlib
import re
import sys
import unittest

from selenium import webdriver

HTML = pathlib.Path(sys.argv[1]).resolve()
MEASURE = """
const seen = e => e.getClientRects().length > 0, name = e => e.tagName + " " + e.innerText.slice(0, 60);
const found = [...document.querySelectorAll("pre, .table-wrapper")].filter(e => seen(e) && e.scrollWidth > e.clientWidth + 1)
    .map(e => `${name(e)}: ${e.scrollWidth} px in ${e.clientWidth}`);
if (document.documentElement.scrollWidth > screen.width) // innerWidth grows with the page
    found.push(`the page: ${document.documentElement.scrollWidth} px`);
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
    const of = texts.currentNode.parentElement, size = parseFloat(getComputedStyle(of).fontSize);
    if (texts.currentNode.data.trim() && seen(of) && size < 11)
        found.push(`text of ${size} px: ${texts.currentNode.data.trim().slice(0, 40)}`);
}
for (const each of document.querySelectorAll("[role=main] img, pre.drawing, svg.front"))
    if (!(each.alt || each.getAttribute("aria-label")))
        found.push(`not described: ${each.src || name(each)}`);
return [found, [...document.querySelectorAll("img.picture")].map(e => [e.getAttribute("src"), e.clientWidth / e.naturalWidth])];
"""
CUT = """
return [...document.querySelectorAll("text")].filter(e => { const box = e.getBBox(); return box.x + box.width > document.documentElement.viewBox.baseVal.width; })
    .map(e => e.textContent);
"""


class Width(unittest.TestCase):
    def pages(self, width):
        if str(width) not in os.environ.get("ABD_SITE_WIDTHS", "390,1280").split(","):
            self.skipTest("not asked for")
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu"):
            options.add_argument(word)
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": {"width": width, "height": 900, "pixelRatio": 1}})
        browser = webdriver.Chrome(options=options)
        self.addCleanup(browser.quit)
        drawn = set()
        for path in sorted(HTML.glob("*.html")):
            if path.name.startswith("interactive"):  # check_play.py looks at it
                continue
            browser.get(path.as_uri())
            found, pictures = browser.execute_script(MEASURE)
            for source, scale in pictures:
                least = min(float(size) for size in re.findall(r"font:(\d+)px", (HTML / source).read_text()))
                if least * scale < 11:
                    found.append(f"text of {least * scale:.1f} px in {source}")
            for source in {source for source, _ in pictures} - drawn:
                browser.get((HTML / source).as_uri())
                found += [f"cut in {source}: {line}" for line in browser.execute_script(CUT)]
                drawn.add(source)
            self.assertEqual(found, [], f"{path.name} at {width} px")
        self.assertGreater(len(drawn), 20)

    def test_on_a_desk(self):
        self.pages(1280)

    def test_on_a_telephone(self):
        self.pages(390)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
