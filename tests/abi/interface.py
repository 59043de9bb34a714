#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The binary interface of the shared library as text: a line for each function, variable, member and enumerator, as abidw finds them.

usage: interface.py HEADERS LIBRARY                 print it
       interface.py HEADERS LIBRARY RECORDED        print how it differs from what was recorded; exit code 1 if it does

Sizes and offsets are in bytes. Types of other libraries stand by their names only. A changed line breaks programs that were built before,
but for functions, members at an end and enumerators that are new.
"""
import difflib
import pathlib
import subprocess
import sys
import xml.etree.ElementTree


class Interface:
    def __init__(self, headers, library):
        said = subprocess.run(["abidw", "--headers-dir", headers, "--drop-private-types", "--drop-undefined-syms", "--exported-interfaces-only",
                               "--no-show-locs", library], check=True, capture_output=True, text=True).stdout
        self.root = xml.etree.ElementTree.fromstring(said)
        self.types = {node.get("id"): node for node in self.root.iter() if node.get("id")}

    def name(self, ident, inner=""):
        """A type as C writes it, round what is declared."""
        node = self.types[ident]
        if node.tag == "pointer-type-def":
            of = self.types[node.get("type-id")]
            return self.name(of.get("id"), f"(*{inner})" if of.tag in ("function-type", "array-type-def") else f"*{inner}")
        if node.tag == "qualified-type-def":
            words = " ".join(word for word in ("const", "volatile") if node.get(word) == "yes")
            if self.types[node.get("type-id")].tag == "pointer-type-def":
                return self.name(node.get("type-id"), f" {words} {inner}".rstrip())
            return f"{words} {self.name(node.get('type-id'), inner)}"
        if node.tag == "array-type-def":
            return self.name(node.get("type-id"), inner + "".join(f"[{part.get('length')}]" for part in node))
        if node.tag == "function-type":
            return self.name(node.find("return").get("type-id"), f"{inner}({self.parameters(node)})")
        kind = {"class-decl": "struct ", "union-decl": "union ", "enum-decl": "enum "}.get(node.tag, "")
        name = "..." if node.get("is-anonymous") == "yes" else node.get("name")
        return f"{kind}{name} {inner}".rstrip()

    def parameters(self, node):
        return ", ".join("..." if part.get("is-variadic") == "yes" else self.name(part.get("type-id")) for part in node.findall("parameter"))

    def members(self, node, indent):
        for member in node.findall("data-member"):
            part = member.find("var-decl")
            offset, of = int(member.get("layout-offset-in-bits", "0")) // 8, self.types[part.get("type-id")]
            if of.get("is-anonymous") == "yes":
                yield f"{indent}{offset} {self.name(part.get('type-id'), part.get('name'))}:"
                yield from self.members(of, indent + "    ")
            else:
                yield f"{indent}{offset} {self.name(part.get('type-id'), part.get('name'))}"

    def lines(self):
        symbols = {node.get("name") for node in self.root.iter("elf-symbol")}
        functions = {node.get("name"): node for node in self.root.iter("function-decl") if node.get("elf-symbol-id")}
        variables = {node.get("name"): node for node in self.root.iter("var-decl") if node.get("elf-symbol-id")}
        for name in sorted(symbols):
            if name in variables:
                yield self.name(variables[name].get("type-id"), name)
                continue
            node = functions.get(name)
            yield f"alias {name}()" if node is None else self.name(node.find("return").get("type-id"), f"{name}({self.parameters(node)})")
        shown = {}
        for node in self.types.values():
            name = node.get("name") or ""
            if not (name.startswith("abd") or node.tag == "enum-decl" and node.get("is-anonymous") == "yes"):
                continue
            if node.tag == "typedef-decl":
                shown[f"typedef {self.name(node.get('type-id'), name)}"] = []
            elif node.tag in ("class-decl", "union-decl") and node.get("is-declaration-only") != "yes" and node.get("is-anonymous") != "yes":
                shown[f"{self.name(node.get('id'))}: {int(node.get('size-in-bits')) // 8} bytes"] = list(self.members(node, "    "))
            elif node.tag == "enum-decl":
                values = [f"    {value.get('name')} = {value.get('value')}" for value in node.findall("enumerator")]
                shown[self.name(node.get("id")) if node.get("is-anonymous") != "yes" else f"enum with {values[0].split()[0]}"] = values
        for head in sorted(shown):
            yield head
            yield from shown[head]


def main():
    interface = Interface(*sys.argv[1:3])
    lines = list(interface.lines())
    if len(sys.argv) == 3:
        print(*lines, sep="\n")
        return 0
    recorded = pathlib.Path(sys.argv[3]).read_text().splitlines()
    different = list(difflib.unified_diff(recorded, lines, "recorded", "now", lineterm="", n=0))
    print(*different, sep="\n")
    print(f"compared: {sum(1 for _ in interface.root.iter('elf-symbol'))} symbols")
    return len(different) > 0


if __name__ == "__main__":
    sys.exit(main())
