#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A Python host that opens libabd.so when many libraries with thread-local words are open and static TLS has run out.

Three times over: open, use a cache from several threads, print resident memory, close.

usage: host_late.py LIBRARY NEIGHBOUR STATIC_NEIGHBOUR COUNT
"""
import _ctypes
import ctypes
import itertools
import pathlib
import resource
import shutil
import sys
import tempfile
import threading


class Config(ctypes.Structure):
    """The fields of struct abd_arc_config that are set here: the rest are zeros."""
    _fields_ = [("config_size", ctypes.c_size_t), ("capacity_bytes", ctypes.c_size_t), ("rest", ctypes.c_uint64 * 30)]


class Key(ctypes.Structure):
    """abd_arc_key_t"""
    _fields_ = [("words", ctypes.c_uint64 * 4)]


def open_neighbours(neighbour, static_neighbour, count):
    """How many were opened in static TLS until there was no more of it."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            name = shutil.copy(neighbour, f"{folder}/{number}.so")
            ctypes.CDLL(name).host_neighbour_use()
        for number in itertools.count():
            try:
                ctypes.CDLL(shutil.copy(static_neighbour, f"{folder}/static{number}.so"))
            except OSError as error:
                print(f"{count} neighbours, {number} more in static TLS, then: {error}")
                return


def use(library, arc, thread, failures):
    got = ctypes.create_string_buffer(16000)
    for i in range(2000):
        record = bytes([i % 251, thread]) * (50 + i)
        key = Key((thread, i, 0, 0))
        if library.abd_arc_put(arc, ctypes.byref(key), record, len(record)) != 0:
            failures.append("put")
        size = library.abd_arc_read(arc, ctypes.byref(key), got, 0, len(record))
        if size != len(record) or got.raw[:size] != record:
            failures.append("read")


def main():
    file, neighbour, static_neighbour, count = sys.argv[1:]
    open_neighbours(neighbour, static_neighbour, int(count))
    failures = []
    for turn in range(3):
        library = ctypes.CDLL(file)
        library.abd_arc_create.restype = ctypes.c_void_p
        library.abd_arc_read.restype = ctypes.c_ssize_t
        library.abd_arc_put.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        library.abd_arc_read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
        library.abd_arc_destroy.argtypes = [ctypes.c_void_p]
        config = Config(ctypes.sizeof(Config), 64 << 20)
        arc = library.abd_arc_create(ctypes.byref(config))
        threads = [threading.Thread(target=use, args=(library, arc, number, failures)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        print(f"round {turn}: resident {pages * resource.getpagesize() // 1024} KiB")
        library.abd_arc_destroy(arc)
        _ctypes.dlclose(library._handle)
    print("failures:", failures[:5])
    return bool(failures)


sys.exit(main())
