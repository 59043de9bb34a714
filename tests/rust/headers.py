#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every declaration of abd-sys is what libabd's headers say.

usage: headers.py LIB.RS INCLUDE-FOLDER...

Each constant, function, callback, struct and field becomes a static assertion in C, with its name as the message; a C compiler must
say nothing. Then each is asserted of something else, and the compiler must complain of every one. Prints "saw: N declarations".
"""
import os
import re
import subprocess
import sys

TYPES = {"": "void", "c_void": "void", "usize": "size_t", "isize": "ssize_t", "u64": "uint64_t", "u32": "uint32_t", "u8": "uint8_t",
         "bool": "_Bool", "c_int": "int", "c_uint": "unsigned", "c_long": "long"}
SAME = "__builtin_types_compatible_p"
HIDDEN = {"abd_arc_no_callback": "evicted_cb"}  # kept from Rust, in the place of this field and the next
GROWS = {"abd_arc_config", "abd_arc_stats"}  # the caller says how much of it he knows: ours may lack what is new at the end
ITEM = re.compile(r"pub (?:const (?P<const>\w+): \w+ = (?P<value>.+?);"
                  r"|fn (?P<fn>\w+)\((?P<parameters>[^)]*)\)(?: -> (?P<result>[^;]+))?;"
                  r"|type (?P<type>\w+) = unsafe extern \"C\" fn\((?P<kinds>[^)]*)\)(?: -> (?P<gives>[^;]+))?;"
                  r"|struct (?P<struct>\w+) \{(?P<fields>[^}]*)\})")


def c_type(rust):
    """C's spelling of a Rust type: structs whose names end with _t are typedefs there."""
    for begin, qualifier in ("*mut ", ""), ("*const ", "const "):
        if rust.startswith(begin):
            return f"{qualifier}{c_type(rust[len(begin):])} *"
    if rust.startswith("Option<"):
        return f"rust_{rust[7:-1]} *"
    return TYPES.get(rust) or (rust if rust.endswith("_t") else f"struct {rust}")


def c_parameters(rust, wrong):
    """Parameters, with names or without."""
    kinds = [c_type(re.sub(r"^\w+: ", "", one.strip())) for one in rust.split(",")]
    return "struct wrong *" if wrong else ", ".join(kinds)


def c_struct(name, fields, wrong):
    """A struct like ours, and what is asserted of it and its public fields."""
    ours, theirs, body = f"struct rust_{name}", c_type(name), "char wrong; " if wrong else ""
    asserted = [(name, f"sizeof({ours}) {'<=' if name in GROWS else '=='} sizeof({theirs}) * {int(not wrong)}")]
    for public, field, kind, count in re.findall(r"(pub )?(\w+): \[?([^,;\]]+)(?:; (\d+)\])?,", fields):
        if kind in HIDDEN:
            body += f"void *{field}[2]; "
            asserted.append((f"{name}.{field}", f"offsetof({ours}, {field}) == offsetof({theirs}, {HIDDEN[kind]}) && {int(not wrong)}"))
            continue
        body += f"{c_type(kind)} {field}{f'[{count}]' if count else ''}; "
        kinds = ", ".join(f"__typeof__((({of} *)0)->{field})" for of in (ours, theirs))
        if public:
            asserted.append((f"{name}.{field}", f"offsetof({ours}, {field}) == offsetof({theirs}, {field}) && {SAME}({kinds})"))
    return f"{ours} {{ {body}}};\n", asserted


def c_program(rust, wrong):
    """The program, and the names of what it asserts."""
    program, asserted = "#include <abd/abd.h>\n", []
    for item in ITEM.finditer(re.sub(r"//.*", "", rust)):
        if name := item["const"]:
            asserted.append((name, f"({name}) == ({item['value']}) + {int(wrong)}"))
        elif name := item["fn"]:
            kind = f"{c_type(item['result'] or '')} (*)({c_parameters(item['parameters'], wrong)})"
            asserted.append((name, f"{SAME}(__typeof__(&{name}), {kind})"))
        elif name := item["type"]:
            program += f"typedef {c_type(item['gives'] or '')} rust_{name}({c_parameters(item['kinds'], wrong)});\n"
            asserted.append((name, f"{SAME}({name}, rust_{name})"))
        elif "pub " in item["fields"]:  # others are only ever behind a pointer
            struct, fields = c_struct(item["struct"], item["fields"], wrong)
            program += struct
            asserted += fields
    return program + "".join(f'_Static_assert({what}, "<{name}>");\n' for name, what in asserted), [name for name, _ in asserted]


def compiler_says(program):
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-fsyntax-only", "-x", "c", "-"] + [f"-I{folder}" for folder in sys.argv[2:]]
    return subprocess.run(command, input=program, capture_output=True, text=True).stderr


with open(sys.argv[1]) as file:
    source = file.read()
program, names = c_program(source, False)
said = compiler_says(program)
wrong_said = compiler_says(c_program(source, True)[0])
unnoticed = [name for name in names if f"<{name}>" not in wrong_said]
public = len(re.findall(r"\bpub (?!struct)", re.sub(r"//.*", "", source)))
structs = sum("." not in name for name in names) - sum(len(re.findall(rf"pub {kind} ", source)) for kind in ("const", "fn", "type"))
if said or unnoticed or len(names) != public + structs:
    print(said, f"{len(names)} of {public + structs} declarations are compared; these may be wrong unnoticed: {unnoticed}", sep="\n")
    sys.exit(1)
print(f"saw: {len(names)} declarations")
