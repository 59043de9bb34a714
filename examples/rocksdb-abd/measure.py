#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The plugin against RocksDB's CompressedSecondaryCache at equal resident memory, interleaved on the same keys.

usage: measure.py BUILD [--blocks BYTES...] [--data rows|half...] [--rounds N] [--gets N] [--folder DIR] [--caches NAME=URI...]

BUILD is a build folder with the target rocksdb_abd_measure. The first cache is the reference: "?" in another's URI becomes the
capacity in MiB with which that process is as large. Resident is what a process has (RssAnon) beyond one without a secondary
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
CACHES = ["built-in, lz4=compressed_secondary_cache://capacity=64M",
          "built-in, zstd=compressed_secondary_cache://capacity=?M;compression_type=kZSTD",
          "abd, lz4=abd://capacity=?M",
          "abd, lz4 harder=abd://capacity=?M;effort=9",
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


def race(measure, caches, rounds):
    """The results of each cache, by name, with the URI that was fitted."""
    without = measure.read("-", 0)["resident"]
    reference, results = None, {name: [] for name, _ in caches}
    for seed in range(rounds):
        for i, (name, uri) in enumerate(caches):
            if "?" in uri:
                if seed == 0:
                    at_64 = measure.read(uri.replace("?", "64"), 0, measure.gets // 3)["resident"] - without
                    uri = uri.replace("?", str(round(64 * reference / at_64)))
                    caches[i] = (name, uri)
            found = measure.read(uri, seed)
            found["resident"] -= without
            reference = reference or found["resident"]
            results[name].append(found)
            print(f"{name}: {found}", file=sys.stderr, flush=True)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--caches", nargs="*", default=CACHES, metavar="NAME=URI")
    parser.add_argument("--blocks", nargs="*", type=int, default=[4096, 8192])
    parser.add_argument("--data", nargs="*", default=["rows", "half"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gets", type=int, default=300000)
    parser.add_argument("--folder", default="/dev/shm")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure = Measure(options.build, os.path.join(folder, "db"), options.gets)
        for data in options.data:
            for block in options.blocks:
                measure.fill(block, data)
                caches = [tuple(cache.split("=", 1)) for cache in options.caches]
                results = race(measure, caches, options.rounds)
                print(f"\n| {data}, blocks of {block} | share found | MiB resident | ns per hit | ns per insert | URI |\n"
                      "|---|---|---|---|---|---|", flush=True)
                for name, uri in caches:
                    def of(key, scale=1, name=name):
                        return statistics.median(found[key] for found in results[name]) / scale
                    print(f"| {name} | {of('share'):.4f} | {of('resident', 1 << 20):.1f} | {of('hit_ns'):.0f} | "
                          f"{of('insert_ns'):.0f} | `{uri}` |", flush=True)


if __name__ == "__main__":
    main()
