# SPDX-License-Identifier: BSD-2-Clause
"""What the public headers declare, read from their text: functions, variables, structs, enums, typedefs, constants.

The reader knows as much of C as the headers use. proven() makes a C program of static assertions from what was read, so the compiler
finds what was read wrongly; it also says each size, offset and value. Used by tests/made and by tests that go through all calls.
"""
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r'/\*.*?\*/|"[^"]*"|\w+|\.\.\.|<<|\S', re.DOTALL)
WORDS = {"void", "char", "short", "int", "long", "unsigned", "signed", "_Bool"}


# A type: Name("abd_t"), Pointer(of), Array(of, "4"), Function(result, [(name, type)]), Record(kind, tag, fields), each with const.
@dataclasses.dataclass
class Name:
    name: str
    const: bool = False


@dataclasses.dataclass
class Pointer:
    of: object
    const: bool = False


@dataclasses.dataclass
class Array:
    of: object
    count: str
    const: bool = False


@dataclasses.dataclass
class Function:
    result: object
    parameters: list
    const: bool = False


@dataclasses.dataclass
class Record:
    kind: str
    tag: str
    fields: list  # of Field; of an enum: of (name, value)
    const: bool = False


@dataclasses.dataclass
class Field:
    name: str
    type: object


@dataclasses.dataclass
class Declared:
    name: str
    type: object
    header: str
    comment: str
    exported: bool


@dataclasses.dataclass
class Interface:
    functions: dict = dataclasses.field(default_factory=dict)  # name: Declared, of calls, exported or inline
    variables: dict = dataclasses.field(default_factory=dict)
    typedefs: dict = dataclasses.field(default_factory=dict)
    records: dict = dataclasses.field(default_factory=dict)  # "struct abd": Declared, in the order of the headers
    constants: dict = dataclasses.field(default_factory=dict)  # name: header, of macros that are numbers


def public_headers():
    return [*sorted((ROOT / "include/abd").glob("*.h")), ROOT / "include/abd/version.h.in", ROOT / "include/abd/compat/openzfs.h"]


def c_lines(text):
    """What a C compiler sees, for x86-64, and macros that are numbers. Conditions that depend on how the library was built hold."""
    kept, numbers, hidden = [], [], []
    text = re.sub(r"\\\n", " ", text)
    # What a macro of the header's own makes, up to its #undef, are calls of another spelling.
    text = re.sub(r"(?ms)^#define (ABD_\w+)\(.*?^#undef \1$", "", text)
    for line in text.splitlines():
        words = line.split()
        directive = words[0] if words and words[0].startswith("#") else ""
        if directive.startswith("#if"):
            hidden.append(line.split("//")[0].strip() in ("#ifdef __cplusplus", "#if !ABD_HAS_ARC", "#if !ABD_HAS_URING"))
        elif directive == "#else":
            hidden[-1] = not hidden[-1]
        elif directive == "#endif":
            hidden.pop()
        elif directive == "#define" and not any(hidden) and re.match(r"#define (ABD_\w+) (\(\(size_t\)\w+( << \d+)?\)|\d+)\s*(/\*.*)?$", line):
            numbers.append(words[1])
        kept.append(line if not directive and not any(hidden) else "")
    return "\n".join(kept), numbers


class Reader:
    def __init__(self, text):
        self.tokens, self.at, self.comment = TOKEN.findall(text), 0, ""

    def peek(self):
        """The next token that is no comment; the comment before it is remembered."""
        while self.at < len(self.tokens) and self.tokens[self.at].startswith("/*"):
            self.comment = self.tokens[self.at]
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self):
        token = self.peek()
        self.at += 1
        return token

    def take(self, wanted):
        if self.peek() == wanted:
            self.at += 1
            return True
        return False

    def want(self, wanted):
        found = self.next()
        if found != wanted:
            raise SyntaxError(f"{' '.join(self.tokens[max(0, self.at - 12):self.at])}: not {wanted}")

    def skip(self, begin, end):
        """Over what is between brackets, the first of which was taken."""
        depth, words = 1, []
        while depth:
            word = self.next()
            depth += (word == begin) - (word == end)
            words.append(word)
        return " ".join(words[:-1])

    def attributes(self):
        while self.take("__attribute__"):
            self.want("(")
            self.skip("(", ")")

    def base(self):
        """Specifiers: what is said of storage, and a type."""
        said, words, const, found = set(), [], False, None
        while True:
            word = self.peek()
            if word in ("typedef", "extern", "static", "inline", "ABD_API"):
                said.add(self.next())
            elif word == "__attribute__":
                self.attributes()
                said.add("attribute")
            elif word == "const":
                self.next()
                const = True
            elif word in ("struct", "union", "enum"):
                found = self.record(self.next())
            elif word in WORDS or (not words and found is None and re.match(r"[A-Za-z_]\w*$", word)):
                words.append(self.next())
            else:
                break
        kind = found or Name(" ".join(words))
        kind.const = const
        return said, kind

    def record(self, kind):
        tag = self.next() if re.match(r"\w+$", self.peek()) else ""
        if not self.take("{"):
            return Name(f"{kind} {tag}")
        fields = []
        while not self.take("}"):
            if kind == "enum":
                name, value = self.next(), ""
                if self.take("="):
                    while self.peek() not in (",", "}"):
                        value += " " + self.next()
                self.take(",")
                fields.append((name, value.strip()))
                continue
            _, of = self.base()
            begun = len(fields)
            while not self.take(";"):
                fields.append(Field(*self.declarator(of)))
                self.take(",")
            if begun == len(fields):  # an anonymous union
                fields.append(Field("", of))
        return Record(kind, tag, fields)

    def declarator(self, kind):
        while self.take("*"):
            kind = Pointer(kind)
            while self.peek() in ("const", "restrict"):
                kind.const |= self.next() == "const"
        inner, name = None, ""
        if self.peek() == "(" and self.tokens[self.at + 1] == "*":
            self.next()
            inner = Name("")  # filled in below
            name, outer = self.declarator(inner)
            self.want(")")
        elif re.match(r"[A-Za-z_]\w*$", self.peek()):
            name = self.next()
        if self.take("("):
            kind = Function(kind, self.parameters())
        counts = []
        while self.take("["):
            counts.append(self.skip("[", "]"))
        for count in reversed(counts):
            kind = Array(kind, count)
        if inner is None:
            return name, kind
        return name, replaced(outer, inner, kind)

    def parameters(self):
        found = []
        while not self.take(")"):
            _, kind = self.base()
            name, kind = self.declarator(kind)
            if isinstance(kind, Array):
                kind = Pointer(kind.of)
            kind.const = False if isinstance(kind, Name) else kind.const
            if not (isinstance(kind, Name) and kind.name == "void"):
                found.append((name, kind))
            self.take(",")
        return found


def replaced(kind, what, by):
    if kind is what:
        return by
    kind.of = replaced(kind.of, what, by)
    return kind


def read():
    """The public interface as the headers say it."""
    interface = Interface()
    for path in public_headers():
        text, numbers = c_lines(path.read_text().replace("ABD_TAG", "abd"))
        interface.constants |= {number: path.name for number in numbers if not number.startswith("ABD_VERSION_")}
        reader = Reader(re.sub(r"\bABD_(BEGIN|END)_DECLS\b", "", text))
        while reader.peek():
            comment, reader.comment = reader.comment, ""
            said, of = reader.base()
            if isinstance(of, Record):
                key = f"{of.kind} {of.tag}" if of.tag else f"enum with {of.fields[0][0]}"
                interface.records[key] = Declared(key, of, path.name, comment, False)
                of = Name(f"{of.kind} {of.tag}")
            reader.comment = comment
            if reader.take(";"):
                reader.comment = ""
                continue
            name, kind = reader.declarator(of)
            reader.attributes()
            declared = Declared(name, kind, path.name.removesuffix(".in"), comment, "ABD_API" in said)
            if "typedef" in said:
                interface.typedefs[name] = declared
            elif isinstance(kind, Function):
                public = declared.exported or path.name != "key.h" or name == "abd_key_equal"
                if public and (declared.exported or "attribute" not in said):
                    interface.functions[name] = declared
            elif declared.exported:
                interface.variables[name] = declared
            if reader.take("{"):
                reader.skip("{", "}")
            else:
                reader.want(";")
            reader.comment = ""
    return interface


# ---- as C writes it ---------------------------------------------------------------------------------------------------


def c_type(kind, inner=""):
    """A type as C writes it, round what is declared; of parameters only the types."""
    const = "const " if kind.const else ""
    if isinstance(kind, Name):
        return f"{const}{kind.name} {inner}".rstrip()
    if isinstance(kind, Record):
        return f"{const}{kind.kind} {kind.tag or '...'} {inner}".rstrip()
    if isinstance(kind, Array):
        return c_type(kind.of, f"{inner}[{kind.count}]")
    if isinstance(kind, Function):
        parameters = ", ".join(c_type(of) for _, of in kind.parameters) or "void"
        return c_type(kind.result, f"{inner}({parameters})")
    inner = f"*{const}{inner}".rstrip()
    return c_type(kind.of, f"({inner})" if isinstance(kind.of, (Array, Function)) else inner)


def places(record, path=""):
    """(depth, path, field) of each field, those of records within it below it. The path of what has no name is its first member's."""
    for field in record.fields:
        own = f"{path}{field.name}"
        inner = field.type if isinstance(field.type, Record) else None
        if inner and not field.name:
            first = next(place for _, place, _ in places(inner, path))
            yield 0, first, field
            yield from ((depth + 1, place, of) for depth, place, of in places(inner, path))
        else:
            yield 0, own, field
            if inner:
                yield from ((depth + 1, place, of) for depth, place, of in places(inner, own + "."))


def c_questions(interface):
    """C expressions whose numbers a record of the interface needs."""
    for key, declared in interface.records.items():
        if declared.type.kind == "enum":
            yield from (name for name, _ in declared.type.fields)
            continue
        yield f"sizeof({key})"
        yield from (f"offsetof({key}, {place})" for _, place, _ in places(declared.type))
    yield from interface.constants


def proven(interface, includes=()):
    """Has the compiler compare what was read with what it reads itself. Returns {C expression: number} of c_questions().

    includes: folders of a build. Without them a version.h is made in which everything is built in."""
    asked = list(c_questions(interface))
    program = ["#include <abd/abd.h>", "#include <abd/compat/openzfs.h>"]
    for declared in [*interface.functions.values(), *interface.variables.values()]:
        program.append(f"#undef {declared.name}")  # OpenZFS's spelling may be a macro
        program.append(f'_Static_assert(__builtin_types_compatible_p(__typeof__(&{declared.name}), {c_type(Pointer(declared.type))}), "{declared.name}");')
    for key, declared in interface.records.items():
        for _, place, field in [] if declared.type.kind == "enum" else places(declared.type):
            if field.name and not isinstance(getattr(field.type, "of", field.type), Record):
                program.append(f'_Static_assert(__builtin_types_compatible_p(__typeof__((({key} *)0)->{place}), {c_type(field.type)}), "{key}.{place}");')
    program.append(f"const long long made[] = {{{', '.join(asked)}}};")
    with tempfile.TemporaryDirectory() as folder:
        if not includes:
            version = (ROOT / "include/abd/version.h.in").read_text()
            (pathlib.Path(folder) / "abd").mkdir()
            (pathlib.Path(folder) / "abd/version.h").write_text(re.sub(r"@\w+@", "1", version))
        folders = [f"-I{each}" for each in (*includes, *([] if includes else [folder]), ROOT / "include")]
        done = subprocess.run([*os.environ.get("CC", "cc").split(), "-std=gnu11", "-O0", "-S", "-x", "c", "-", "-o", "-", *folders],
                              input="\n".join(program), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"FAIL tests/headers.py reads a header in another way than the compiler:\n{done.stderr}")
    numbers = []
    for directive, number in re.findall(r"\.(quad|8byte|xword|dword|zero|space)\s+(-?\d+)", done.stdout):
        numbers += [0] * (int(number) // 8) if directive in ("zero", "space") else [int(number)]
    if len(numbers) != len(asked):
        raise SystemExit(f"FAIL tests/headers.py: the compiler says {len(numbers)} numbers for {len(asked)} questions")
    return dict(zip(asked, numbers))
