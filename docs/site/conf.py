# SPDX-License-Identifier: BSD-2-Clause
"""Sphinx: the book, the reference and the manual pages. docs/site/site.py stages the sources and sets ABD_SITE_..."""
import logging
import os
import re

project = "libabd"
author = "the libabd authors"
project_copyright = "the libabd authors, BSD-2-Clause"
version = release = os.environ["ABD_SITE_VERSION"]

extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = False
suppress_warnings = ["misc.highlighting_failure"]  # excerpts need not be whole programs

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

breathe_projects = {"abd": os.environ["ABD_SITE_XML"]}
breathe_default_project = "abd"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
highlight_language = "text"
primary_domain = "c"

html_theme = "furo"
html_title = f"libabd {release}"
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # it would fetch pages, which a browser forbids for files

# One page for each header, under the name of each of its calls as well (site.py writes those links).
man_pages = [tuple([*line.split("|")[:3], [author], int(line.split("|")[3])])
             for line in os.environ.get("ABD_SITE_MANUAL", "").splitlines()]
man_make_section_directory = False  # site.py does
man_show_urls = False


class TagsAreApart(logging.Filter):
    """In C a tag may be a function's name as well; Sphinx's C domain has one space for both, and says so."""

    def filter(self, record):
        return re.search(r"Duplicate C declaration.*\n.*c:(struct:: abd_arc_hold|enum:: abd_flush_durability|function:: .*abd_(arc_hold|"
                         r"flush_durability))", record.getMessage()) is None


logging.getLogger("sphinx.sphinx.domains.c").addFilter(TagsAreApart())

epub_show_urls = "no"
epub_exclude_files = ["interactive.html", "interactive-arc.html", "interactive-lz4.html"]
epub_tocdup = False
epub_tocscope = "includehidden"  # the chapters are in a toctree that pages do not show
