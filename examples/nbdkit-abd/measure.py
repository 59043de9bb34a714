#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The plugin against nbdkit's memory and file plugins, by fio's nbd engine, interleaved: each round asks all three.

usage: measure.py PLUGIN [--rounds N] [--seconds S] [--size MiB] [--folder DIR] [WORKLOAD...]

Prints MiB/s (median, lowest to highest) and the plugin's share of the others' (median of the rounds' ratios). All files lie in
DIR, /dev/shm if not given: on a disk syncs would cost what that disk takes. The data is OpenZFS's sequential_reads': 66 %
compressible in pieces of 4 KiB. Needs nbdkit and fio.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

DATA = ["--buffer_compress_percentage=66", "--buffer_compress_chunk=4096", "--buffer_pattern=0xdeadbeef",
        "--randseed=1234"]
WORKLOADS = {
    "write 1M": ["--rw=write", "--bs=1M", "--iodepth=4", "--end_fsync=1"],
    "write 8k random": ["--rw=randwrite", "--bs=8k", "--iodepth=16", "--norandommap"],
    "write 4k random": ["--rw=randwrite", "--bs=4k", "--iodepth=16", "--norandommap"],
    "write 8k random, flush each 16": ["--rw=randwrite", "--bs=8k", "--iodepth=16", "--norandommap", "--fsync=16"],
    "read 128k": ["--rw=read", "--bs=128k", "--iodepth=8"],
    "read 8k random": ["--rw=randread", "--bs=8k", "--iodepth=16", "--norandommap"],
    "read 4k random": ["--rw=randread", "--bs=4k", "--iodepth=16", "--norandommap"],
}


class Server:
    def __init__(self, folder, name, *command):
        self.name = name
        self.socket = os.path.join(folder, name)
        self.process = subprocess.Popen(["nbdkit", "-f", "-U", self.socket, *command])
        while not os.path.exists(self.socket) and self.process.poll() is None:
            time.sleep(0.01)

    def fio(self, folder, options, size, seconds):
        output = os.path.join(folder, "fio.json")
        command = ["fio", "--name=job", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={self.socket}", "--thread",
                   f"--size={size}M", "--output-format=json", f"--output={output}", *DATA, *options]
        if seconds:
            command += ["--time_based", f"--runtime={seconds}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(output, encoding="utf-8") as text:
            found = text.read()
        job = json.loads(found[found.index("{"):])["jobs"][0]  # notes may come first
        if job["error"]:
            raise SystemExit(f"fio: {self.name}: error {job['error']}")
        return (job["read"]["bw_bytes"] + job["write"]["bw_bytes"]) / (1 << 20)

    def resident(self):
        """MiB of memory, the pages of mapped files left out."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024


def show(name, rates):
    texts = [f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})" for values in rates.values()]
    for other in ("memory", "file"):
        ratios = [mine / theirs for mine, theirs in zip(rates["abd"], rates[other])]
        texts.append(f"{statistics.median(ratios):.2f}")
    print(f"| {name} | " + " | ".join(texts) + " |", flush=True)


def measure(arguments, folder):
    size = f"{arguments.size}M"
    with open(os.path.join(folder, "file.img"), "wb") as image:
        image.truncate(arguments.size << 20)
    servers = [
        Server(folder, "abd", os.path.abspath(arguments.plugin), f"file={folder}/abd.img", f"size={size}",
               f"log-size={arguments.size}M", f"cache={arguments.size}M"),
        Server(folder, "memory", "memory", size),
        Server(folder, "file", "file", f"{folder}/file.img"),
    ]
    try:
        for server in servers:
            server.fio(folder, WORKLOADS["write 1M"], arguments.size, None)
        print("| MiB/s | abd | memory | file | abd / memory | abd / file |\n|---|---|---|---|---|---|")
        for name in arguments.workloads or WORKLOADS:
            rates = {server.name: [] for server in servers}
            for _ in range(arguments.rounds):
                for server in servers:
                    rates[server.name].append(
                        server.fio(folder, WORKLOADS[name], arguments.size, arguments.seconds))
            show(name, rates)
        print("memory, MiB: " + ", ".join(f"{server.name} {server.resident():.0f}" for server in servers))
    finally:
        for server in servers:
            server.process.terminate()
            server.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plugin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("workloads", nargs="*")
    arguments = parser.parse_intermixed_args()
    folder = tempfile.mkdtemp(prefix="abd-nbdkit.", dir=arguments.folder)
    try:
        measure(arguments, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
