#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the libraries export is what the public headers declare with ABD_API, and every name starts with abd_.

usage: exports.py shared LIBRARY INCLUDE...       the headers of the INCLUDE folders against a shared library
       exports.py archive ARCHIVE                 global symbols of an archive: prefix only
       exports.py companion LIBRARY               exactly abd_jemalloc_calls
       exports.py headers CC CXX INCLUDE...       each header compiles alone; the umbrella declares nothing itself

Prints one FAIL line for each finding; the last line is "N passed, N failed".
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import headers as public  # noqa: E402

passed, failures = 0, []


def check(ok, finding):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(finding)


def symbols(library, *options):
    """Names that a library or archive defines for others, without their version."""
    output = subprocess.run(["nm", "--defined-only", "--extern-only", *options, library],
                            check=True, capture_output=True, text=True).stdout
    fields = (line.split() for line in output.splitlines())
    return {f[2].split("@")[0] for f in fields if len(f) == 3 and f[1] != "A"}


def headers(includes):
    """The public headers of these folders that this build has."""
    found = sorted(header for include in includes for header in pathlib.Path(include).glob("abd/**/*.h"))
    version = next(h for h in found if h.name == "version.h").read_text()
    absent = {f"{name.lower()}.h" for name in re.findall(r"#define ABD_HAS_(\w+) 0", version)}
    return [h for h in found if h.name not in absent]


def declared(includes):
    """Names whose declaration is marked ABD_API, in the headers that this build has."""
    there, interface = {header.name for header in headers(includes)}, public.read()
    return {one.name for one in [*interface.functions.values(), *interface.variables.values()] if one.exported and one.header in there}


def check_shared(library, *includes):
    exported, marked = symbols(library, "-D"), declared(includes)
    for name in sorted(exported | marked):
        check(name.startswith("abd_"), f"{name}: exported, but does not start with abd_")
        check(name in marked, f"{name}: exported, but no public header declares it with ABD_API")
        check(name in exported, f"{name}: declared with ABD_API, but not exported")


def check_archive(archive):
    for name in sorted(symbols(archive)):
        check(name.startswith("abd_"), f"{name}: external, but does not start with abd_")


def check_companion(library):
    check(symbols(library, "-D") == {"abd_jemalloc_calls"},
          f"{library} exports {sorted(symbols(library, '-D'))}, not just abd_jemalloc_calls")


def compiles(compiler, language, standard, includes, header):
    result = subprocess.run(
        [*compiler.split(), "-fsyntax-only", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror",
         *(f"-I{i}" for i in includes), "-include", str(header), "/dev/null"],
        capture_output=True, text=True)
    check(result.returncode == 0, f"{header} alone as {standard}: {result.stderr.strip()}")


def check_headers(cc, cxx, *includes):
    for header in headers(includes):
        compiles(cc, "c", "c11", includes, header)
        if cxx:
            compiles(cxx, "c++", "c++17", includes, header)

    umbrella = (pathlib.Path(includes[0]) / "abd" / "abd.h").read_text()
    rest = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", umbrella, flags=re.DOTALL | re.MULTILINE).strip()
    check(rest == "", f"abd.h declares something itself: {rest[:60]}")
    reached = subprocess.run(
        [*cc.split(), "-MM", "-x", "c", *(f"-I{i}" for i in includes), "-include", "abd/abd.h", "/dev/null"],
        check=True, capture_output=True, text=True).stdout
    for header in headers(includes):
        if header.parent.name == "abd":
            check(f"abd/{header.name}" in reached, f"abd.h does not include {header.name}")


{"shared": check_shared, "archive": check_archive, "companion": check_companion, "headers": check_headers}[sys.argv[1]](*sys.argv[2:])
for failure in failures:
    print("FAIL", failure)
print(f"{passed} passed, {len(failures)} failed")
sys.exit(bool(failures) or passed == 0)
