#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The plugin against RocksDB's CompressedSecondaryCache at equal resident memory, interleaved on the same keys.

usage: measure.py BUILD [--blocks BYTES...] [--data rows|half...] [--rounds N] [--gets N] [--folder DIR] [--caches NAME=URI...] [--keep FILE]
       measure.py --show FILE        the tables and the picture of what was kept; --keep adds to a file's

BUILD is a build folder with the target rocksdb_abd_measure. The first cache is the reference: "?" in another's URI becomes the
capacity in MiB with which that process is as large, found by two runs. Resident is what a process has (RssAnon) beyond one without a secondary
cache. Databases (500,000 keys of 1,000 bytes) are made in DIR, /dev/shm if not given, and removed. A run fills the caches by
twice as many look-ups as it counts, in two threads, with an 8 MiB block cache; each round has keys of its own.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

KEYS = 500000
CACHES = ["RocksDB's, zstd=compressed_secondary_cache://capacity=76M;compression_type=kZSTD",
          "RocksDB's, lz4=compressed_secondary_cache://capacity=?M",
          "abd, lz4=abd://capacity=?M",
          "abd, zstd alone=abd://capacity=?M;zstd=3;dictionary=0",
          "abd, zstd=abd://capacity=?M;zstd=3"]


class Measure:
    def __init__(self, build, folder, gets):
        self.program = os.path.join(build, "examples/rocksdb-abd/measure")
        self.plugin = os.path.join(build, "examples/rocksdb-abd/rocksdb-abd.so")
        self.folder = folder
        self.gets = gets

    def fill(self, block, data):
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run([self.program, self.folder, "fill", str(block), data, str(KEYS), "1000"], check=True, stdout=subprocess.DEVNULL)

    def read(self, uri, seed, gets=None):
        gets = gets or self.gets
        environment = dict(os.environ, LD_PRELOAD=self.plugin) if uri.startswith("abd:") else None
        said = subprocess.run([self.program, self.folder, "read", uri, str(KEYS), str(2 * gets), str(gets), "2", str(8 << 20),
                               str(seed)], check=True, capture_output=True, text=True, env=environment).stdout
        found = json.loads(said)
        if found["failed"]:
            raise SystemExit(f"{uri}: {found['failed']} reads failed")
        return found


def fitted(measure, uri, without, reference):
    """A "?" becomes the capacity with which the process has as much memory as the first one: by a guess, and once more by what that gave."""
    size = 64
    for _ in range(2 if "?" in uri else 0):
        has = measure.read(uri.replace("?", str(size)), 0)["resident"] - without
        size = round(size * reference / has)
    return uri.replace("?", str(size))


def race(measure, caches, rounds):
    """The rows of a table: each cache's medians over the rounds, in which all take turns."""
    without = measure.read("-", 0)["resident"]
    results = {name: [] for name, _ in caches}
    for seed in range(1, rounds + 1):
        for i, (name, uri) in enumerate(caches):
            if seed == 1 and "?" in uri:
                uri = fitted(measure, uri, without, results[caches[0][0]][0]["resident"])
                caches[i] = (name, uri)
            found = measure.read(uri, seed)
            found["resident"] -= without
            results[name].append(found)
            print(f"{name}: {found}", file=sys.stderr, flush=True)
    return [{"name": name, "uri": uri, "shares": [found["share"] for found in results[name]]} |
            {key: statistics.median(found[key] for found in results[name]) for key in ("share", "resident", "hit_ns", "insert_ns")}
            for name, uri in caches]


def show(tables):
    """Tables, and a picture: bars from zero, of what no cache had."""
    for table in tables:
        print(f"| {table['title']} | share found | MiB resident | ns per hit | ns per insert | URI |\n|---|---|---|---|---|---|")
        for row in table["rows"]:
            print(f"| {row['name']} | {row['share']:.4f} | {row['resident'] / 2**20:.1f} | {row['hit_ns']:.0f} | {row['insert_ns']:.0f} | "
                  f"`{row['uri']}` |")
        print()
    print("```text\nof 1,000 blocks asked for, so many had to be read from the file")
    for table in tables:
        print(f"{table['title']}")
        for row in table["rows"]:
            missed = 1000 * (1 - row["share"])
            print(f"  {row['name']:20} {'#' * round(missed / 4):50} {missed:.0f}")
    print("```")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--caches", nargs="*", default=CACHES, metavar="NAME=URI")
    parser.add_argument("--blocks", nargs="*", type=int, default=[4096, 8192])
    parser.add_argument("--data", nargs="*", default=["rows", "half"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gets", type=int, default=300000)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--keep")
    parser.add_argument("--show")
    options = parser.parse_args()
    if options.show:
        with open(options.show) as file:
            return show(json.load(file))
    tables = []
    if options.keep and os.path.exists(options.keep):
        with open(options.keep) as file:
            tables = json.load(file)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure = Measure(options.build, os.path.join(folder, "db"), options.gets)
        for data in options.data:
            for block in options.blocks:
                measure.fill(block, data)
                caches = [tuple(cache.split("=", 1)) for cache in options.caches]
                tables.append({"title": f"{data}, {block // 1024} KiB", "rows": race(measure, caches, options.rounds)})
    if options.keep:
        with open(options.keep, "w") as file:
            # A row of a table is a line.
            file.write("[\n" + ",\n".join(json.dumps(table).replace("}, {", "},\n  {") for table in tables) + "\n]\n")
    return show(tables)


if __name__ == "__main__":
    main()
