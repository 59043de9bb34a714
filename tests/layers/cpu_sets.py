#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A kernel may run only where the CPU has every instruction set that the compiler may use for its file. For each set of flags in
cmake/AbdLayer.cmake, the compiler says which instruction sets these flags allow, and lib/base/abd_cpu_x86.c must ask for each of them.

usage: cpu_sets.py ROOT COMPILER [--plant]"""
import re
import subprocess
import sys

# The set of flags, as a file's name ends in it, and the feature that its kernels' supported() asks for.
FEATURES = {name: name.upper() for name in ("pclmul", "avx2", "avx512", "vpclmul")}
# What the compiler defines, and __builtin_cpu_supports() calls otherwise. The kernels of the rest are one instruction, in assembly or an
# intrinsic: cpuid is asked for that one.
CALLED = {"sse4_1": "sse4.1", "sse4_2": "sse4.2"}
# crc32 is a part of SSE4.2, xsave the system's; f16c converts floating-point numbers, and clang 14 can't ask for it.
NOT_ASKED = {"crc32", "xsave", "f16c"}


def allowed(compiler, flags):
    """The instruction sets that flags add to those of every x86-64."""
    def defined(options):
        text = subprocess.run([compiler, "-m64", "-dM", "-E", *options, "-x", "c", "/dev/null"], check=True, capture_output=True, text=True).stdout
        return {name.lower() for name in re.findall(r"#define __([A-Z0-9_]+)__ 1\n", text)}
    added = defined(flags) - defined([])
    return {CALLED.get(name, name) for name in added if re.match(r"(sse|ssse|avx|bmi|popcnt|pclmul|vpclmul|f16c|fma|crc32|lzcnt|xsave)", name)}


def asked(source, feature):
    """What abd_cpu_has(feature) asks for, through the functions that it calls."""
    found = set()
    todo = [re.search(r"case ABD_CPU_%s:\s*return (.*?);" % feature, source, re.S).group(1)]
    while todo:
        text = todo.pop()
        found |= set(re.findall(r'__builtin_cpu_supports\("([a-z0-9.]+)"\)', text))
        todo += [re.search(r"static bool %s\(void\)\s*\{(.*?)\n\}" % name, source, re.S).group(1) for name in re.findall(r"(abd_cpu_has_\w+)\(\)", text)]
    return found


def main():
    root, compiler = sys.argv[1:3]
    source = open(f"{root}/lib/base/abd_cpu_x86.c").read()
    if sys.argv[3:] == ["--plant"]:
        source = source.replace('__builtin_cpu_supports("bmi2")', "true")
    lines = open(f"{root}/cmake/AbdLayer.cmake").read()
    options = {}
    for name, text in re.findall(r"^set\(abd_options_(\w+) (.*)\)$", lines, re.M):
        flags = []
        for word in text.split():
            flags += options[word[len("${abd_options_"):-1]] if word.startswith("$") else [word]
        options[name] = flags
    failed = 0
    for name, feature in FEATURES.items():
        missing = allowed(compiler, options[name]) - asked(source, feature) - NOT_ASKED
        if missing or not asked(source, feature):
            print(f"FAIL: files for {name} may use {', '.join(sorted(missing))}; abd_cpu_has(ABD_CPU_{feature}) does not ask for it")
            failed += 1
    print(f"{len(FEATURES) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
