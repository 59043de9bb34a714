#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The book as EPUB and as PDF: both open, with all chapters and pictures.

usage: check_print.py FOLDER     the folder that holds libabd.epub and libabd.pdf
"""
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import unittest
import xml.dom.minidom
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(sys.argv[1]).resolve()
CHAPTERS = [path for folder in ("", "learn", "use", "notes") for path in (ROOT / "docs" / folder).glob("*.md")]
TITLES = [re.search(r"^# ([^:\n]*)", path.read_text(), flags=re.M)[1] for path in CHAPTERS]


class Epub(unittest.TestCase):
    def setUp(self):
        self.book = zipfile.ZipFile(FOLDER / "libabd.epub")
        self.addCleanup(self.book.close)

    def test_it_opens_as_a_reader_opens_it(self):
        first = self.book.infolist()[0]
        self.assertEqual((first.filename, first.compress_type, self.book.read(first)), ("mimetype", zipfile.ZIP_STORED, b"application/epub+zip"))
        self.assertIsNone(self.book.testzip())
        root = re.search(rb'full-path="([^"]+)"', self.book.read("META-INF/container.xml"))[1].decode()
        package = xml.dom.minidom.parseString(self.book.read(root))
        items = {item.getAttribute("id"): item.getAttribute("href") for item in package.getElementsByTagName("item")}
        for href in items.values():
            self.assertIn(posixpath.join(posixpath.dirname(root), href), self.book.namelist())
        self.assertGreater(sum(item.getAttribute("idref") in items for item in package.getElementsByTagName("itemref")), 25)
        self.assertGreater(self.book.read("toc.ncx").count(b"<navPoint"), 25)

    def test_every_page_is_xml_and_loads_only_what_is_inside(self):
        for name in self.book.namelist():
            if not name.endswith((".xhtml", ".svg", ".opf", ".ncx")):
                continue
            page = xml.dom.minidom.parseString(self.book.read(name))
            for image in page.getElementsByTagName("img"):
                self.assertIn(posixpath.normpath(posixpath.join(posixpath.dirname(name), image.getAttribute("src"))), self.book.namelist(), name)
                self.assertTrue(image.getAttribute("alt"), name)

    def test_every_chapter_and_every_picture_is_in_it(self):
        text = "".join(self.book.read(name).decode() for name in self.book.namelist() if name.endswith(".xhtml"))
        for title in TITLES:
            self.assertIn(title.replace("'", "\u2019"), text.replace("'", "\u2019"))
        wanted = sum(len(re.findall(r"^```text explain=", path.read_text(), flags=re.M)) for path in CHAPTERS)
        self.assertEqual(sum(name.endswith(".svg") for name in self.book.namelist()), wanted)


@unittest.skipUnless((FOLDER / "libabd.pdf").exists(), "no browser has printed it")
class Pdf(unittest.TestCase):
    def test_it_is_whole(self):
        data = (FOLDER / "libabd.pdf").read_bytes()
        self.assertTrue(data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF"))
        self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", data)), 100)

    @unittest.skipUnless(shutil.which("pdftotext"), "pdftotext is not there")
    def test_every_chapter_is_in_it(self):
        text = subprocess.run(["pdftotext", FOLDER / "libabd.pdf", "-"], capture_output=True, text=True, check=True).stdout
        text = re.sub(r"\s+", " ", text.replace("\u2019", "'"))
        for title in TITLES:
            self.assertIn(title, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
