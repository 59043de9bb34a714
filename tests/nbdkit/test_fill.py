# SPDX-License-Identifier: BSD-2-Clause
"""Blocks that the cache does not have: read once for all who want them, and never older than a write that was answered.

In most tests each read of the backing file takes 100 ms (slow_reads.c), so that all requests come while one is under way.
"""
import os
import random
import threading
import time
import unittest

import nbd

from abd_server import SLOW as SLOW_READS, ServerTest, random_block, text_block

BLOCK = 8192
BLOCKS = 128
SLOW = {"LD_PRELOAD": SLOW_READS, "ABD_SLOW_READS": "100"}


def first(number):
    """What the file holds when the server starts: noise, and every fourth block is lz4's."""
    return text_block(number, BLOCK) if number % 4 == 0 else random_block(number, BLOCK)


def version_of(number, version):
    """What block number holds in its version of that number; some are zeroes, some compress, others don't."""
    if version % 7 == 0:
        return bytes(BLOCK)
    return (text_block if version % 2 else random_block)(number * 100000 + version, BLOCK)


class Fill(ServerTest):
    def serve_image(self, *params, **how):
        with open(self.file, "wb") as image:
            for number in range(BLOCKS):
                image.write(first(number))
        return self.start(f"file={self.file}", "log-size=4M", *params, **how)

    @staticmethod
    def together(handles, requests):
        """Reads of (size, offset), all sent before any is waited for, from all connections; what they return."""
        buffers = []
        for number, (size, offset) in enumerate(requests):
            buffers.append(nbd.Buffer(size))
            handles[number % len(handles)].aio_pread(buffers[-1], offset)
        for handle in handles:
            while handle.aio_in_flight() > 0:
                handle.poll(-1)
        return [bytes(buffer.to_bytearray()) for buffer in buffers]

    def read_block_together(self, handles, number):
        """Eight readers of the whole block and eight of a part each, at once."""
        parts = [(BLOCK, 0)] * 8 + [(BLOCK // 8, part * (BLOCK // 8)) for part in range(8)]
        found = self.together(handles, [(size, number * BLOCK + offset) for size, offset in parts])
        for (size, offset), data in zip(parts, found):
            self.assertTrue(data == first(number)[offset:offset + size], f"block {number} at {offset}")

    def counters_at_the_end(self, server, handles):
        for handle in handles:
            handle.shutdown()
        server.stop()
        return server.counters()

    def test_a_missing_block_is_read_once_however_many_want_it(self):
        server = self.serve_image("cache=8M", env=SLOW)
        handles = [server.connect() for _ in range(4)]
        for number in range(8):
            self.read_block_together(handles, number)
        self.assertEqual(self.counters_at_the_end(server, handles)["fetches file"], 8)

    def test_a_block_that_was_evicted_is_read_once_more(self):
        server = self.serve_image("cache=64k", env={**SLOW, "ABD_SLOW_READS": "20"})
        handles = [server.connect() for _ in range(4)]
        self.read_block_together(handles, 0)
        self.together(handles[:1], [(BLOCK, number * BLOCK) for number in range(1, BLOCKS)])
        self.read_block_together(handles, 0)
        counted = self.counters_at_the_end(server, handles)
        self.assertEqual((counted["fetches file"], counted["fetches log"]), (BLOCKS + 1, 0))

    def test_a_block_of_the_log_is_fetched_from_there(self):
        server = self.serve("1M", "cache=64k")
        handles = [server.connect() for _ in range(4)]
        for number in range(BLOCKS):
            handles[0].pwrite(first(number), number * BLOCK)
        for number in range(8):
            self.read_block_together(handles, number)
        counted = self.counters_at_the_end(server, handles)
        self.assertEqual((counted["fetches file"], counted["fetches log"]), (0, 8))

    def test_blocks_of_one_group_are_read_side_by_side(self):
        server = self.serve_image(env=SLOW)
        handles = [server.connect() for _ in range(4)]
        began = time.monotonic()
        found = self.together(handles, [(BLOCK, number * BLOCK) for number in range(32)])
        self.assertLess(time.monotonic() - began, 1.6, "one after the other they take 3.2 s")
        self.assertTrue(found == [first(number) for number in range(32)])

    def race(self, handles, number, change):
        """A read is under way when change is made and answered: from then on, nobody reads what was there before."""
        old = nbd.Buffer(BLOCK)
        handles[0].aio_pread(old, number * BLOCK)
        time.sleep(0.03)
        expected = change(handles[1], number * BLOCK)
        for _ in range(3):
            self.assertTrue(handles[2].pread(BLOCK, number * BLOCK) == expected, f"old bytes in block {number}")
        self.together(handles[:1], [])
        self.assertIn(bytes(old.to_bytearray()), (first(number), expected))
        self.assertTrue(handles[3].pread(BLOCK, number * BLOCK) == expected, f"old bytes in block {number}, later")
        return expected

    def test_a_write_overtakes_the_read_of_a_missing_block(self):
        server = self.serve_image(env=SLOW)
        handles = [server.connect() for _ in range(4)]

        def whole(handle, at):
            handle.pwrite(text_block(at, BLOCK), at)
            return text_block(at, BLOCK)

        def part(handle, at):
            handle.pwrite(b"new" * 100, at + 1000)
            old = first(at // BLOCK)
            return old[:1000] + b"new" * 100 + old[1300:]

        def zero(handle, at):
            handle.zero(BLOCK, at)
            return bytes(BLOCK)

        def trim(handle, at):
            handle.trim(BLOCK, at)
            return bytes(BLOCK)

        def same(handle, at):
            handle.pwrite(first(at // BLOCK), at)
            return first(at // BLOCK)

        expected = {}
        for turn in range(3):
            for kind, change in enumerate((whole, part, zero, trim, same)):
                number = turn * 8 + kind
                expected[number] = self.race(handles, number, change)
        self.counters_at_the_end(server, handles)
        with open(self.file, "rb") as image:
            for number, data in expected.items():
                image.seek(number * BLOCK)
                self.assertTrue(image.read(BLOCK) == data, f"block {number} in the file")

    def test_a_write_does_not_wait_for_a_read_that_is_under_way(self):
        server = self.serve_image(env={**SLOW, "ABD_SLOW_READS": "500"})
        handles = [server.connect() for _ in range(2)]
        old = nbd.Buffer(BLOCK)
        handles[0].aio_pread(old, 0)
        time.sleep(0.05)
        began = time.monotonic()
        for number in range(8):
            handles[1].pwrite(random_block(1000 + number, BLOCK), number * BLOCK)
        self.assertLess(time.monotonic() - began, 0.3)
        self.assertEqual(handles[0].aio_in_flight(), 1, "the read has ended")
        self.together(handles[:1], [])
        self.assertTrue(handles[0].pread(BLOCK, 0) == random_block(1000, BLOCK))

    def test_no_reader_sees_a_version_older_than_one_that_was_answered(self):
        """Through a cache of 7 blocks, with a log that is emptied all the time: nearly each read is a fill."""
        server = self.serve("256K", "log-size=2M", "cache=64k")
        answered, sent, wrong, reads = [0] * 32, [0] * 32, [], []
        end = time.monotonic() + 3

        def write(handle, parity):
            choose = random.Random(parity)
            while time.monotonic() < end:
                number = choose.randrange(16) * 2 + parity
                sent[number] += 1
                handle.pwrite(version_of(number, sent[number]), number * BLOCK)
                answered[number] = sent[number]

        def read(handle, seed):
            choose = random.Random(seed)
            while time.monotonic() < end and not wrong:
                number = choose.randrange(32)
                least = answered[number]
                data = handle.pread(BLOCK, number * BLOCK)
                if all(data != version_of(number, version) for version in range(least, sent[number] + 1)):
                    wrong.append((number, least, sent[number]))
                reads.append(number)

        handles = [server.connect() for _ in range(6)]
        threads = [threading.Thread(target=write if number < 2 else read, args=(handle, number))
                   for number, handle in enumerate(handles)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counted = self.counters_at_the_end(server, handles)
        self.assertEqual(wrong, [])
        self.assertGreater(counted["fetches file"] + counted["fetches log"], len(reads) // 10)
        print(f"{len(reads)} reads beside {sum(sent)} writes, {counted['fetches file']} fetches of the file and "
              f"{counted['fetches log']} of the log: none is older than an answered write")

    def test_a_file_that_ends_early_is_an_error_for_each_reader(self):
        server = self.serve_image(env={**SLOW, "ABD_SLOW_READS": "20"})
        handles = [server.connect() for _ in range(2)]
        os.truncate(self.file, BLOCK)
        errors = []

        def done(error):
            errors.append(error.value)
            return 1

        for number in range(8):
            handles[number % 2].aio_pread(nbd.Buffer(BLOCK), 64 * BLOCK, done)
        for handle in handles:
            while handle.aio_in_flight() > 0:
                handle.poll(-1)
        self.assertEqual(len(errors), 8)
        self.assertTrue(all(errors), errors)
        self.assertIn("the backing file ends at", server.said())
        self.assertTrue(handles[0].pread(BLOCK, 0) == first(0))


if __name__ == "__main__":
    unittest.main()
