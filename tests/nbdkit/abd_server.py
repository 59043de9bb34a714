# SPDX-License-Identifier: BSD-2-Clause
"""nbdkit with the plugin, started, watched and ended; and what several tests need of files and blocks.

The plugin's path is in ABD_NBDKIT_PLUGIN; ABD_NBDKIT_LIBRARIES is where the libraries are that tests preload.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import nbd

PLUGIN = os.environ["ABD_NBDKIT_PLUGIN"]
LIBRARIES = os.environ["ABD_NBDKIT_LIBRARIES"]
POWER = os.path.join(LIBRARIES, "libpower_loss.so")
WEAK = os.path.join(LIBRARIES, "libweak_checksum.so")
SLOW = os.path.join(LIBRARIES, "libslow_reads.so")
TIER = os.environ.get("ABD_GATE_TIER", "ci")
SECTOR = 512


class Server:
    """One nbdkit in the foreground. Arguments are the plugin's parameters; wrap goes in front of the command."""

    def __init__(self, folder, *params, wrap=(), env=None, flags=(), plugin=PLUGIN):
        self.folder = folder
        self.socket = os.path.join(folder, "socket")
        self.errors = os.path.join(folder, "errors")
        pidfile = os.path.join(folder, "pid")
        for old in (self.socket, pidfile):
            if os.path.exists(old):
                os.unlink(old)
        command = [*wrap, "nbdkit", "-f", "-v", "-U", self.socket, "-P", pidfile, *flags, plugin, *params]
        self.output = open(self.errors, "wb")
        self.process = subprocess.Popen(command, stdout=self.output, stderr=self.output,
                                        env={**os.environ, **(env or {})})
        while not os.path.exists(pidfile) and self.process.poll() is None:
            time.sleep(0.002)

    @property
    def uri(self):
        return f"nbd+unix:///?socket={self.socket}"

    def said(self):
        with open(self.errors, encoding="utf-8", errors="replace") as text:
            return text.read()

    def connect(self):
        handle = nbd.NBD()
        handle.set_strict_mode(0)
        handle.connect_unix(self.socket)
        return handle

    def counters(self):
        """What the plugin counts, which it says when it ends: 'records data 106 same 6' as {'records data': 106, ...}."""
        found = {}
        for line in self.said().splitlines():
            if re.search("debug: abd: (cache hits|records|fetches|dedupe)", line):
                words = line.split("abd: ", 1)[1].replace(",", "").split()
                name, group = [], ""
                for word in words:
                    if word.isdigit():
                        group = group or name[0]
                        key = " ".join(name if name[0] == group else [group, *name])
                        found[key] = int(word)
                        name = []
                    else:
                        name.append(word)
        return found

    def stop(self):
        """End it as an administrator does; nbdkit waits for its clients to go. Returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        return self.wait()

    def wait(self):
        status = self.process.wait(timeout=120)
        self.output.close()
        return status


class ServerTest(unittest.TestCase):
    """A test with a folder in memory and servers that end with it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="abd-nbdkit.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = os.path.join(self.folder, "device.img")
        self.log = self.file + ".log"

    def start(self, *params, **how):
        server = Server(self.folder, *params, **how)
        self.addCleanup(server.kill)
        self.assertIsNone(server.process.poll(), server.said()[-2000:])
        return server

    def serve(self, size="16M", *params, **how):
        return self.start(f"file={self.file}", f"size={size}", "log-size=4M", "cache=8M", *params, **how)

    def refuse(self, expected, *params, **how):
        """It must not start, and say why."""
        server = Server(self.folder, *params, **how)
        started = server.process.poll() is None
        status = server.kill()
        self.assertFalse(started, "it started")
        self.assertNotEqual(status, 0)
        errors = [line for line in server.said().splitlines() if "error:" in line]
        self.assertTrue(errors, server.said()[-2000:])
        self.assertIn(expected, "\n".join(errors))
        self.assertGreater(status, 0, "it must not be killed by a signal")


def text_block(seed, size):
    """Bytes that lz4 makes smaller: words, other ones for each seed."""
    choose = random.Random(seed)
    words = [b"%x " % choose.getrandbits(20) for _ in range(32)]
    return b"".join(choose.choices(words, k=size // 2 + 1))[:size]


def random_block(seed, size):
    return random.Random(seed).randbytes(size)


def some_block(seed, size):
    """A block that follows from its seed: zeroes, one of a few (so it is there before), text, noise, or half of each."""
    kind = seed % 8
    if kind == 0:
        return bytes(size)
    if kind <= 2:
        return text_block(seed // 8 % 5, size)
    if kind == 3:
        return text_block(seed, size // 2) + random_block(seed, size - size // 2)
    return random_block(seed, size) if kind == 4 else text_block(seed, size)
