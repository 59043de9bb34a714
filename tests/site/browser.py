# SPDX-License-Identifier: BSD-2-Clause
"""Headless Chromium for tests of pages: any size, light or dark, and no message of the browser's may be left unread."""
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

SCREENS = None  # a folder for pictures of what was seen
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars")
WIDE, PHONE = (1200, 900), (390, 844)
# Text whose contrast with what is behind it is below 4.5.
CONTRAST = """
    const luminance = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map((each) => (each /= 255) <= 0.03928 ?
        each / 12.92 : ((each + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (each) => { for (; each; each = each.parentElement) { const color = getComputedStyle(each).backgroundColor;
        if (!/, 0\\)$/.test(color)) return color; } return "rgb(255, 255, 255)"; };
    return [...document.querySelectorAll("h1, h2, h3, p, label, button, td, small, span, summary, .outcome")]
        .filter((each) => each.textContent.trim() && getComputedStyle(each).color !== "rgba(0, 0, 0, 0)" && !each.disabled)
        .map((each) => { const a = luminance(getComputedStyle(each).color), b = luminance(behind(each));
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), each.tagName + "." + each.className + " " + each.textContent.slice(0, 30)]; })
        .filter(([ratio]) => ratio < 4.5)"""


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory(prefix="abd-browser-")
        options = Options()
        for flag in (*FLAGS, f"--user-data-dir={cls.profile.name}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.profile.cleanup()

    def tearDown(self):
        self.assertEqual([line for line in self.driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")], [])

    def open(self, page, size=WIDE, scheme="light", choices=""):
        width, height = size
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1,
                                                                           "mobile": size == PHONE})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get("about:blank")
        self.driver.get(page + choices)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector, within=None):
        """What is to be read in each; asked for at once, since each question to the browser takes some milliseconds."""
        return self.script("return [...(arguments[1] || document).querySelectorAll(arguments[0])].map((each) => each.innerText.trim())",
                           selector, within)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def unreadable(self):
        return self.script(CONTRAST)

    def screen(self, name):
        if SCREENS:
            SCREENS.mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(SCREENS / f"{name}.png"))
