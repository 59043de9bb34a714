#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Doxygen's filter: headers as this house writes them, in Doxygen's words.

The comment that opens a header becomes the file's, its lines that are set in columns stay as they are. The answers of a
declaration (Units, Returns, Owner, Threads, Source ...) become paragraphs with a title. A rule with a name
("---- views ----") begins a group of that name. What is private in a struct is left out.

usage: header_filter.py HEADER
"""
import re
import sys

ANSWER = re.compile(r"^(\s*\*)\s+(Units|Returns|Errors|Contract|Owner|Threads|Cost|Source|free_on_free):\s+(.*)$")
RULE = re.compile(r"^/\* -{2,} (.*?) -{2,} \*/$")


def opening(lines):
    """The file's own comment, from its /* to its */: columns (two blanks after the star, or more) stay as written."""
    out, columns = ["/** @file"], []
    for line in lines[1:]:
        text = re.sub(r"^ ?\*/?", "", line)
        if re.match(r" {2,}\S| ?\t", text) or (columns and not text.strip()):
            columns.append(text.expandtabs(8))
            continue
        out += verbatim(columns) + [" *" + text]
        columns = []
    return out + verbatim(columns) + [" */"]


def verbatim(columns):
    """Lines as they are; a star in front would be one of them. Blank ones at the end belong to what follows."""
    while columns and not columns[-1].strip():
        columns.pop()
    return ["@verbatim", *columns, "@endverbatim", " *"] if columns else []


def answers(line):
    found = ANSWER.match(line)
    return [f"{found[1]}", f"{found[1]} @par {found[2]}", f"{found[1]} {found[3]}"] if found else [line]


def public(lines):
    """Without fields that a comment calls private, unions that one does, and names that the dialect's header gives to calls of its own."""
    text = "\n".join(lines)
    text = re.sub(r"\n\tunion \{\n(?:\t\t.*\n)*\t\} \w+; /\* private \*/", "", text)
    return [line for line in text.split("\n") if not re.search(r";\s*/\* private|^#define abd_\w+ abd_compat_\w+$", line)]


def tags_apart(text):
    """Doxygen 1.9 loses a function that is called as an enum is: the tag gets an end that site.py takes off again."""
    for tag in re.findall(r"^enum (\w+) \{", text, flags=re.M):
        if re.search(rf"\b{tag}\(", re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
            text = re.sub(rf"\benum {tag}\b", f"enum {tag}__tag", text)
    return text


def filtered(lines):
    out, i, group = [], 0, False
    start = next((n for n, line in enumerate(lines) if line == "/*"), None)
    end = next((n for n, line in enumerate(lines) if n > (start or 0) and line.strip() == "*/"), None)
    if start is not None and end is not None:
        out += lines[:start] + opening(lines[start:end + 1])
        i = end + 1
    elif len(lines) > 1 and lines[1].startswith("/* "):
        out += [lines[0], "/** @file", " * " + lines[1][3:]]
        i = 2
    for line in lines[i:]:
        rule = RULE.match(line)
        if group and (rule or line == "ABD_END_DECLS"):
            out += ["/** @} */"]
            group = False
        if rule:
            out += [f"/** @name {rule[1][0].upper()}{rule[1][1:]}", " * @{ */"]
            group = True
        else:
            out += answers(line)
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(filtered(public(tags_apart(header.read()).split("\n")))))
