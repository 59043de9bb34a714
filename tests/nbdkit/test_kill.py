# SPDX-License-Identifier: BSD-2-Clause
"""Killed in the middle of writes, again and again; also with all that was not synced lost, in part or wholly.

Several connections write, each to units of its own, and keep a history: what a unit held when a flush that covers it was
answered, and everything that was sent to it since. After a kill every unit must hold one of those. What was found once must stay.
A flush on one connection covers what was answered on the others before: that is what can_multi_conn promises.
"""
import random
import threading
import time
import unittest

import nbd

from abd_server import POWER, SECTOR, TIER, Server, ServerTest, some_block

UNIT = 4096
UNITS = 1024
GROUP = 4  # units: two blocks
WRITERS = 4
KILLS = 100 if TIER == "full" else 15


class History:
    def __init__(self):
        self.lock = threading.Lock()
        self.allowed = [[bytes(UNIT)] for _ in range(UNITS)]
        self.first = [0] * UNITS  # how many states of a unit were dropped
        self.answered = [0] * UNITS  # the number of the last one that was answered
        self.flushes = self.writes = 0
        self.enough = False
        self.flush_share = 0.05  # of the requests

    def send(self, unit, data):
        with self.lock:
            self.allowed[unit].append(data)

    def answer(self, unit, durable):
        with self.lock:
            self.writes += 1
            self.answered[unit] = self.first[unit] + len(self.allowed[unit]) - 1
            if durable:
                self.drop(unit, self.answered[unit])

    def drop(self, unit, before):
        count = before - self.first[unit]
        if count > 0:
            del self.allowed[unit][:count]
            self.first[unit] = before

    def flush_begins(self):
        with self.lock:
            return list(self.answered)

    def flush_ended(self, answered):
        with self.lock:
            self.flushes += 1
            for unit, number in enumerate(answered):
                self.drop(unit, number)

    def found(self, unit, data):
        self.allowed[unit] = [data]
        self.first[unit] = self.answered[unit] = 0


class Writer(threading.Thread):
    """Writes until the server is gone. Even groups of units are its own; in odd ones it shares blocks with its neighbour."""

    def __init__(self, handle, history, number, seed):
        super().__init__(daemon=True)
        self.handle, self.history, self.number = handle, history, number
        self.choose = random.Random(seed)
        self.start()

    def run(self):
        try:
            while not self.history.enough:
                self.step()
            self.handle.shutdown()
        except nbd.Error:
            pass

    def units(self):
        group = self.choose.randrange(UNITS // GROUP // WRITERS // 2) * WRITERS * 2
        if self.choose.random() < 0.5:
            first = (group + self.number * 2) * GROUP + self.choose.randrange(GROUP)
            return range(first, min(first + self.choose.randint(1, GROUP), first // GROUP * GROUP + GROUP))
        pair = (group + (self.number // 2) * 4 + 1 + self.choose.randrange(2) * 2) * GROUP
        unit = pair + self.choose.randrange(GROUP // 2) * 2 + self.number % 2
        return range(unit, unit + 1)

    def step(self):
        what = self.choose.random()
        if what < self.history.flush_share:
            answered = self.history.flush_begins()
            self.handle.flush()
            self.history.flush_ended(answered)
            return
        units = self.units()
        fua = self.choose.random() < self.history.flush_share
        flags = nbd.CMD_FLAG_FUA if fua else 0
        if what < 0.15:
            data = bytes(UNIT * len(units))
        else:
            data = b"".join(some_block(self.choose.randrange(1 << 30), UNIT) for _ in units)
        for index, unit in enumerate(units):
            self.history.send(unit, data[index * UNIT:index * UNIT + UNIT])
        if what < 0.1:
            self.handle.zero(len(data), units[0] * UNIT, flags)
        elif what < 0.15:
            self.handle.trim(len(data), units[0] * UNIT, flags)
        else:
            self.handle.pwrite(data, units[0] * UNIT, flags)
        for unit in units:
            self.history.answer(unit, fua)


class Kill(ServerTest):
    def serve_device(self, env=None):
        server = Server(self.folder, f"file={self.file}", f"size={UNITS * UNIT}", "log-size=2M", "cache=1M", env=env)
        self.addCleanup(server.kill)
        return server

    def check(self, server, history):
        self.assertIsNone(server.process.poll(), server.said()[-1500:])
        handle = server.connect()
        for unit in range(UNITS):
            data = handle.pread(UNIT, unit * UNIT)
            if data not in history.allowed[unit]:
                self.fail(f"unit {unit} holds what it was not allowed to; {len(history.allowed[unit])} states were")
            history.found(unit, bytes(data))
        handle.shutdown()

    @staticmethod
    def end_badly(server, history, choose):
        """A kill while it works, or while it ends, because its clients are gone, and writes back."""
        time.sleep(choose.random() * 0.15)
        if choose.random() < 0.2:
            history.enough = True
            server.process.terminate()
            time.sleep(choose.random() * 0.02)
        server.kill()

    def lose(self, choose):
        """Nothing more than a kill: the kernel has what the process wrote."""

    def kill_again_and_again(self, env=None):
        choose = random.Random(10)
        history = History()
        server = self.serve_device(env)
        for kill in range(KILLS):
            history.enough = False
            # With few flushes a checkpoint may free records that were flushed, superseded by some that were not.
            history.flush_share = choose.choice((0.05, 0.002))
            writers = [Writer(server.connect(), history, number, kill * WRITERS + number)
                       for number in range(WRITERS)]
            self.end_badly(server, history, choose)
            for writer in writers:
                writer.join()
            self.lose(choose)
            if choose.random() < 0.3:  # and once more while it replays, or has just done so
                server = self.serve_device(env)
                time.sleep(choose.random() * 0.005)
                server.kill()
                self.lose(choose)
            server = self.serve_device(env)
            self.check(server, history)
        server.stop()
        with open(self.file, "rb") as image:
            self.assertTrue(image.read() == b"".join(states[0] for states in history.allowed), "after a clean end")
        print(f"{KILLS} kills, {history.writes} units written, {history.flushes} flushes: nothing flushed is missing")

    def test_nothing_flushed_is_lost_by_kills(self):
        self.kill_again_and_again()


class PowerLoss(Kill):
    """The same, but of what was not synced an arbitrary part is lost with each kill, sector by sector."""

    @staticmethod
    def mix(path, grain, share, choose):
        with open(path, "rb") as now, open(path + ".synced", "rb") as then:
            new, old = now.read(), then.read()
        mixed = bytearray(new)
        for at in range(0, len(new), grain):
            if new[at:at + grain] != old[at:at + grain] and choose.random() >= share:
                mixed[at:at + grain] = old[at:at + grain]
        for name in (path, path + ".synced"):
            with open(name, "r+b") as image:
                image.write(mixed)

    def lose(self, choose):
        share = choose.choice((0, 0.5, 0.9, 0.99))
        self.mix(self.log, SECTOR, share, choose)
        self.mix(self.file, UNIT, share, choose)

    def test_nothing_flushed_is_lost_by_kills(self):
        with open(self.file, "wb") as image, open(self.file + ".synced", "wb") as synced:
            image.truncate(UNITS * UNIT)
            synced.truncate(UNITS * UNIT)
        self.kill_again_and_again({"LD_PRELOAD": POWER, "ABD_POWER_LOG": self.log, "ABD_POWER_FILE": self.file})


if __name__ == "__main__":
    unittest.main()
