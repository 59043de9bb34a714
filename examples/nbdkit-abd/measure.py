#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The plugin against nbdkit's own file plugin, alone and behind nbdkit's cache and cow filters, by fio's nbd engine.

usage: measure.py PLUGIN [--rounds N] [--seconds S] [--size MiB] [--folder DIR] [--disk DIR] [WORKLOAD...]

Interleaved: each round asks all of them. Two tables: MiB/s, and MiB for each second that the server's threads ran, which depends
less on what else the machine does. Each has medians (lowest to highest), and the plugin's share of the others' (median of the rounds'
ratios). "cold": the server was just started, and its file is not in the page cache; each block is read once at most.
Files of cold workloads lie in --disk (/var/tmp), others in --folder (/dev/shm: on a disk syncs would cost what that disk takes).
The data is OpenZFS's sequential_reads': 66 % compressible in pieces of 4 KiB. Needs nbdkit and fio.
"""
import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

DATA = ["--buffer_compress_percentage=66", "--buffer_compress_chunk=4096", "--buffer_pattern=0xdeadbeef",
        "--randseed=1234"]
DEEP = ["--iodepth=16"]
FILL = ["--rw=write", "--bs=1M", "--iodepth=4", "--end_fsync=1"]
WORKLOADS = {
    "read 4k random": ["--rw=randread", "--bs=4k", "--norandommap"],
    "read 16k random": ["--rw=randread", "--bs=16k", "--norandommap"],
    "read 128k random": ["--rw=randread", "--bs=128k", "--norandommap"],
    "cold read 4k random": ["--rw=randread", "--bs=4k"],
    "cold read 16k random": ["--rw=randread", "--bs=16k"],
    "cold read 128k random": ["--rw=randread", "--bs=128k"],
    "write 4k random": ["--rw=randwrite", "--bs=4k", "--norandommap"],
    "write 16k random": ["--rw=randwrite", "--bs=16k", "--norandommap"],
    "write 16k random, flush each 16": ["--rw=randwrite", "--bs=16k", "--norandommap", "--fsync=16"],
    "write 128k random, flush each 16": ["--rw=randwrite", "--bs=128k", "--norandommap", "--fsync=16"],
}
NAMES = ("abd", "file", "cache", "cow")


class Server:
    """One nbdkit over an image of its own, NAME.img, in folder."""

    def __init__(self, folder, name, arguments):
        self.folder, self.name = folder, name
        self.image = os.path.join(folder, name + ".img")
        self.socket = os.path.join(folder, name)
        command = ["file", self.image]
        if name == "abd":
            command = [os.path.abspath(arguments.plugin), f"file={self.image}", f"log-size={arguments.size}M",
                       f"cache={arguments.size}M"]
        elif name != "file":
            command = [f"--filter={name}", *command]
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)
        self.process = subprocess.Popen(["nbdkit", "-f", "-U", self.socket, *command],
                                        env={**os.environ, "TMPDIR": folder})
        while not os.path.exists(self.socket) and self.process.poll() is None:
            time.sleep(0.01)

    def ran(self):
        """Seconds of all its threads, in user and kernel mode."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def fio(self, options):
        """MiB/s, and MiB for each second that the server ran."""
        ran = self.ran()
        output = os.path.join(self.folder, "fio.json")
        command = ["fio", "--name=job", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={self.socket}", "--thread",
                   "--output-format=json", f"--output={output}", *DATA, *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(output, encoding="utf-8") as text:
            found = text.read()
        job = json.loads(found[found.index("{"):])["jobs"][0]  # notes may come first
        if job["error"]:
            raise SystemExit(f"fio: {self.name}: error {job['error']}")
        moved = (job["read"]["io_bytes"] + job["write"]["io_bytes"]) / (1 << 20)
        rate = (job["read"]["bw_bytes"] + job["write"]["bw_bytes"]) / (1 << 20)
        return rate, moved / max(self.ran() - ran, 0.01)

    def resident(self):
        """MiB of memory, the pages of mapped files left out."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


def make_images(folder, arguments):
    """The same bytes for each, written by the file plugin."""
    with open(os.path.join(folder, "file.img"), "wb") as image:
        image.truncate(arguments.size << 20)
    server = Server(folder, "file", arguments)
    server.fio([*FILL, f"--size={arguments.size}M"])
    server.stop()
    for name in NAMES[:1] + NAMES[2:]:
        shutil.copyfile(os.path.join(folder, "file.img"), os.path.join(folder, name + ".img"))


def cold(folder, name, options, arguments):
    """A server of its own. What it is to read is no longer in memory."""
    server = Server(folder, name, arguments)
    with open(server.image, "rb") as image:
        os.fsync(image.fileno())
        os.posix_fadvise(image.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    rate = server.fio([*options, *DEEP, f"--size={arguments.size}M", f"--io_size={arguments.size // 4}M"])
    server.stop()
    return rate


def hot(server, options, arguments):
    return server.fio([*options, *DEEP, f"--size={arguments.size}M", "--time_based", f"--runtime={arguments.seconds}"])


def row(name, rates):
    texts = [f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})" for values in rates.values()]
    for other in NAMES[1:]:
        ratios = [mine / theirs for mine, theirs in zip(rates["abd"], rates[other])]
        texts.append(f"{statistics.median(ratios):.2f}")
    return f"| {name} | " + " | ".join(texts) + " |"


def measure(arguments, folder, disk):
    names = arguments.workloads or list(WORKLOADS)
    servers = {}
    if not all(name.startswith("cold") for name in names):
        make_images(folder, arguments)
        servers = {name: Server(folder, name, arguments) for name in NAMES}
    if any(name.startswith("cold") for name in names):
        make_images(disk, arguments)
    columns = " | ".join(NAMES) + " | " + " | ".join(f"abd / {name}" for name in NAMES[1:]) + " |\n" + "|---" * 8 + "|"
    of_processor = ["", "| MiB/s of processor | " + columns]
    print("| MiB/s | " + columns, flush=True)
    try:
        for server in servers.values():
            server.fio(["--rw=read", "--bs=1M", "--iodepth=4", f"--size={arguments.size}M"])
        for name in names:
            rates = {kind: [] for kind in NAMES}
            for _ in range(arguments.rounds):
                for kind in NAMES:
                    if name.startswith("cold"):
                        rates[kind].append(cold(disk, kind, WORKLOADS[name], arguments))
                    else:
                        rates[kind].append(hot(servers[kind], WORKLOADS[name], arguments))
            print(row(name, {kind: [rate for rate, _ in found] for kind, found in rates.items()}), flush=True)
            of_processor.append(row(name, {kind: [rate for _, rate in found] for kind, found in rates.items()}))
        print("\n".join(of_processor))
        print("\nmemory, MiB: " + ", ".join(f"{server.name} {server.resident():.0f}" for server in servers.values()))
    finally:
        for server in servers.values():
            server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plugin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--disk", default="/var/tmp")
    parser.add_argument("workloads", nargs="*")
    arguments = parser.parse_intermixed_args()
    folders = [tempfile.mkdtemp(prefix="abd-nbdkit.", dir=folder) for folder in (arguments.folder, arguments.disk)]
    try:
        measure(arguments, *folders)
    finally:
        for folder in folders:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
