#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""examples/block_store: what is packed comes back, and no damaged, cut or hostile store does more than end it with an error.

usage: block_store.py PROGRAM FOLDER
"""
import pathlib
import random
import struct
import subprocess
import sys

HEAD, RECORD, COUNT_AT, PLACE_AT, PLACE, COUNT_MAX = 65536, 16384, 8, 16, 24, 2729
CRC_AT = PLACE_AT + COUNT_MAX * PLACE
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def sealed(store):
    """A store whose head is as whoever made it wanted it."""
    store = bytearray(store)
    struct.pack_into("<I", store, CRC_AT, crc32c(store[:CRC_AT]))
    return bytes(store)


def with_field(store, form, at, value):
    store = bytearray(store)
    struct.pack_into(form, store, at, value)
    return sealed(store)


def place_of(store, n):
    """Where record n is, its stored and logical size, and its crc."""
    return struct.unpack_from("<QIII", store, PLACE_AT + n * PLACE)


class Program:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.passed = 0
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *arguments, stdin=None):
        return subprocess.run([self.program, *arguments], stdin=stdin or subprocess.DEVNULL, capture_output=True, check=False)

    def pack(self, data):
        (self.folder / "in").write_bytes(data)
        with open(self.folder / "in", "rb") as file:
            done = self.run("pack", self.folder / "store", stdin=file)
        self.expect(done, 0, "pack")
        return (self.folder / "store").read_bytes()

    def cat(self, store):
        (self.folder / "damaged").write_bytes(store)
        return self.run("cat", self.folder / "damaged")

    def expect(self, done, code, what, message=b"Bad message"):
        error = done.stderr.replace(b"block_store: ", b"").strip()
        if done.returncode != code or error != (message if code else b""):
            sys.exit(f"FAIL {what}: exit code {done.returncode}, {done.stderr[-2000:]!r}")
        self.passed += 1

    def refused(self, store, what):
        """The head is refused: nothing is read."""
        done = self.cat(store)
        self.expect(done, 1, what)
        if done.stdout:
            sys.exit(f"FAIL {what}: {len(done.stdout)} bytes came out")

    def ends_before(self, store, n, data, what):
        """All records before n come out, and nothing of it."""
        done = self.cat(store)
        self.expect(done, 1, what)
        if done.stdout != data[:n * RECORD]:
            sys.exit(f"FAIL {what}: {len(done.stdout)} bytes came out, not {n * RECORD}")

    def survives(self, store, what):
        done = self.cat(store)
        self.expect(done, done.returncode if done.returncode in (0, 1) else 1, what)


def make_data():
    """Text, with records of random bytes among it, which no compressor makes smaller."""
    source = random.Random(1)
    records = [source.randbytes(RECORD) if n % 5 == 3 else
               b"".join(b"record %d line %d %d\n" % (n, line, source.randrange(1000)) for line in range(1000))[:RECORD]
               for n in range(300)]
    return b"".join(records)[:-5000]


def check_heads(program, store):
    size = len(store)
    for at in (0, 7, COUNT_AT, PLACE_AT, PLACE_AT + 8, PLACE_AT + 299 * PLACE, CRC_AT):
        program.refused(store[:at] + bytes([store[at] ^ 1]) + store[at + 1:], f"byte {at} of the head is damaged")
    for count in (COUNT_MAX + 1, 1 << 32, (1 << 64) - 1, 301):
        program.refused(with_field(store, "<Q", COUNT_AT, count), f"{count} records")
    for n in (0, 150, 299):
        place = PLACE_AT + n * PLACE
        for at in (1, size + 4096, 1 << 63, (1 << 64) - 4096):
            program.refused(with_field(store, "<Q", place, at), f"record {n} at {at}")
        for stored, logical in ((0, 0), (0, 1), (5, 4), (1, RECORD + 1), ((1 << 32) - 1, (1 << 32) - 1)):
            program.refused(with_field(store, "<Q", place + 8, stored | logical << 32), f"record {n}: {stored} and {logical} bytes")


def check_records(program, store, data):
    for n in (0, 1, 7, 150, 153, 299):
        at, stored, logical, _ = place_of(store, n)
        for byte in (at, at + stored - 1):
            program.ends_before(store[:byte] + bytes([store[byte] ^ 0x40]) + store[byte + 1:], n, data, f"record {n} is damaged")
        if stored == logical:
            continue
        # An lz4 block that is none, with the checksum that it has; and one of another length than it says.
        block = b"\xff" * stored
        hostile = store[:at] + block + store[at + stored:]
        hostile = with_field(hostile, "<I", PLACE_AT + n * PLACE + 16, crc32c(block))
        program.ends_before(hostile, n, data, f"record {n} is no lz4")
        program.ends_before(with_field(store, "<I", PLACE_AT + n * PLACE + 12, logical - 1), n, data, f"record {n} is longer than it says")


def main():
    program = Program(sys.argv[1], pathlib.Path(sys.argv[2]))
    data = make_data()
    store = program.pack(data)
    done = program.cat(store)
    program.expect(done, 0, "cat")
    if done.stdout != data or len(store) > len(data):
        sys.exit("FAIL what was packed does not come back, or takes more")
    program.expect(program.cat(program.pack(b"")), 0, "an empty store")

    check_heads(program, store)
    check_records(program, store, data)
    for size in (0, 1, 4095, 4096, HEAD - 1, HEAD, len(store) // 2, len(store) - 4096):
        program.refused(store[:size], f"cut off at {size}")
    program.survives(store[:-1], "its last byte is cut off")
    source = random.Random(2)
    for i in range(60):
        damaged = bytearray(store)
        for _ in range(source.choice((1, 1, 8))):
            damaged[source.randrange(source.choice((PLACE_AT + 300 * PLACE, len(store))))] = source.randrange(256)
        program.survives(sealed(damaged), f"damage {i}")

    (program.folder / "large").write_bytes(b"")
    with open(program.folder / "large", "r+b") as file:
        file.truncate((COUNT_MAX + 1) * RECORD)
        program.expect(program.run("pack", program.folder / "damaged", stdin=file), 1, "pack of too much", b"File too large")
    program.refused((program.folder / "damaged").read_bytes(), "a store that was not finished")
    program.expect(program.run("cat", program.folder / "none"), 1, "cat of nothing", b"No such file or directory")
    program.expect(program.run("cat"), 1, "too few words", b"Invalid argument")
    print(f"{program.passed} passed, 0 failed")


main()
