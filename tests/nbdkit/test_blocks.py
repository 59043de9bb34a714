# SPDX-License-Identifier: BSD-2-Clause
"""Reads, writes, trims and zeroes of any range, against a model that is a flat array of bytes."""
import random
import unittest

import nbd

from abd_server import WEAK, ServerTest, some_block, text_block, random_block


class Blocks(ServerTest):
    def random_requests(self, handle, model, count, seed):
        """Requests of any place and size, applied to the device and to the model; every answer is compared."""
        choose = random.Random(seed)
        for number in range(count):
            size = choose.choice((1, 511, 512, 4096, 8192, 8193, 70000, 300000))
            offset = choose.randrange(len(model) - size)
            if choose.random() < 0.5:
                offset -= offset % 4096
            what = choose.random()
            if what < 0.5:
                data = some_block(seed * 1000 + number, size)
                handle.pwrite(data, offset, nbd.CMD_FLAG_FUA if choose.random() < 0.1 else 0)
                model[offset:offset + size] = data
            elif what < 0.6:
                handle.zero(size, offset)
                model[offset:offset + size] = bytes(size)
            elif what < 0.7:
                handle.trim(size, offset)
                model[offset:offset + size] = bytes(size)
            else:
                self.assertEqual(handle.pread(size, offset), model[offset:offset + size])
            if choose.random() < 0.02:
                handle.flush()

    def compare_all(self, handle, model):
        step = 1 << 20
        for offset in range(0, len(model), step):
            size = min(step, len(model) - offset)
            self.assertEqual(handle.pread(size, offset), model[offset:offset + size], f"at {offset}")

    def check_any_range(self, size, *params, **how):
        model = bytearray(size)
        server = self.serve(str(size), *params, **how)
        handle = server.connect()
        self.random_requests(handle, model, 600, 1)
        self.compare_all(handle, model)
        handle.shutdown()
        server.stop()
        with open(self.file, "rb") as image:
            self.assertEqual(image.read(), model, "the backing file after a clean end")
        server = self.serve(str(size), *params, **how)
        handle = server.connect()
        self.compare_all(handle, model)
        self.random_requests(handle, model, 200, 2)
        self.compare_all(handle, model)
        return server

    def test_any_range_reads_back(self):
        self.check_any_range(16 << 20)

    def test_any_range_reads_back_with_a_last_block_that_is_short(self):
        self.check_any_range((5 << 20) + 512 * 3)

    def test_any_range_reads_back_with_blocks_of_4k(self):
        self.check_any_range(8 << 20, "block=4k")

    def test_any_range_reads_back_with_blocks_of_128k(self):
        self.check_any_range(8 << 20, "block=128k", "log-size=20M")

    def test_any_range_reads_back_through_a_cache_that_holds_next_to_nothing(self):
        self.check_any_range(8 << 20, "cache=64k")

    def test_blocks_with_equal_checksums_are_told_apart(self):
        server = self.check_any_range(8 << 20, env={"LD_PRELOAD": WEAK})
        server.kill()
        server = self.serve(str(8 << 20), env={"LD_PRELOAD": WEAK})
        handle = server.connect()
        for number in range(100):
            handle.pwrite(random_block(number, 8192), number * 8192)
        for number in range(100):
            self.assertTrue(handle.pread(8192, number * 8192) == random_block(number, 8192), f"block {number}")
        handle.shutdown()
        server.stop()
        self.assertGreater(server.counters()["dedupe refuted"], 50)

    @staticmethod
    def wait_for(handles):
        for handle in handles:
            while handle.aio_in_flight() > 0:
                handle.poll(-1)

    def test_parts_of_one_block_written_at_the_same_time_are_all_there(self):
        server = self.serve()
        handles = [server.connect() for _ in range(2)]
        for turn in range(200):
            block = random_block(turn, 8192)
            for part in range(16):
                data = nbd.Buffer.from_bytearray(bytearray(block[part * 512:part * 512 + 512]))
                handles[part % 2].aio_pwrite(data, part * 512)
            self.wait_for(handles)
            self.assertTrue(handles[0].pread(8192, 0) == block, f"turn {turn}")

    def test_log_and_memory_agree_on_which_of_two_writes_came_last(self):
        server = self.serve("16M", "log-size=40M")  # so that no checkpoint makes the replay shorter
        handles = [server.connect() for _ in range(2)]
        for turn in range(200):
            for number in range(16):
                at = turn * 65536 + turn % 8 * 8192
                if number % 4 == 3:
                    handles[number // 4 % 2].aio_zero(65536, turn * 65536)
                else:
                    block = bytearray(random_block(turn * 16 + number, 8192))
                    handles[number % 2].aio_pwrite(nbd.Buffer.from_bytearray(block), at)
            self.wait_for(handles)
        before = handles[0].pread(200 * 65536, 0)
        server.kill()
        self.assertTrue(self.serve().connect().pread(200 * 65536, 0) == before)

    def test_equal_blocks_are_recorded_once(self):
        server = self.serve()
        handle = server.connect()
        block = random_block(1, 8192)
        for number in range(100):
            handle.pwrite(block, number * 8192)
        self.assertEqual(handle.pread(100 * 8192, 0), block * 100)
        handle.shutdown()
        server.stop()
        counted = server.counters()
        self.assertEqual((counted["records data"], counted["records same"]), (1, 99))
        self.assertEqual(counted["dedupe hits"], 99)
        self.assertEqual(counted["records payload"], 8192)

    def test_blocks_of_the_backing_file_are_shared_in_the_cache(self):
        block = text_block(1, 8192)
        with open(self.file, "wb") as image:
            image.write(block * 100 + random_block(2, 8192))
        server = self.start(f"file={self.file}")
        handle = server.connect()
        self.assertEqual(handle.pread(100 * 8192, 0), block * 100)
        handle.shutdown()
        server.stop()
        self.assertEqual(server.counters()["cache logical"], 8192)

    def test_zeroes_take_no_room(self):
        server = self.serve()
        handle = server.connect()
        handle.pwrite(random_block(1, 1 << 20), 0)
        handle.pwrite(bytes(1 << 20), 0)
        handle.zero(8 << 20, 4096)
        handle.shutdown()
        server.stop()
        counted = server.counters()
        self.assertLess(counted["records payload"], 1100000)
        with open(self.file, "rb") as image:
            self.assertEqual(image.read(), bytes(16 << 20))

    def test_extents_tell_holes_from_data(self):
        server = self.serve()
        handle = nbd.NBD()
        handle.add_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
        handle.connect_unix(server.socket)
        handle.pwrite(random_block(1, 65536), 1 << 20)
        handle.zero(8192, (1 << 20) + 16384)
        found = []
        handle.block_status(16 << 20, 0, lambda _c, _o, entries, _e: found.extend(entries) or 0)
        self.assertEqual(found, [1 << 20, 3, 16384, 0, 8192, 3, 65536 - 24576, 0, (15 << 20) - 65536, 3])

    def test_what_it_offers(self):
        handle = self.serve().connect()
        self.assertTrue(handle.can_multi_conn() and handle.can_fua() and handle.can_flush())
        self.assertTrue(handle.can_trim() and handle.can_zero() and handle.can_fast_zero())
        self.assertEqual(handle.get_size(), 16 << 20)
        self.assertEqual(handle.get_block_size(nbd.SIZE_PREFERRED), 8192)

    def test_connections_see_each_other(self):
        server = self.serve()
        writer, reader = server.connect(), server.connect()
        for number in range(50):
            block = some_block(number, 8192)
            writer.pwrite(block, number * 4096)
            self.assertEqual(reader.pread(8192, number * 4096), block)

    def test_memory_stays_near_the_cache_size(self):
        """16 MiB of cache and 4 times as much data, through 64 threads: what they keep in reserve counts too."""
        server = self.start(f"file={self.file}", "size=64M", "log-size=32M", "cache=16M")
        handles = [server.connect() for _ in range(4)]
        for number in range(512):
            data = nbd.Buffer.from_bytearray(bytearray(random_block(number, 131072)))
            handles[number % 4].aio_pwrite(data, number * 131072)
            if number % 32 == 31:
                self.wait_for(handles)
        for number in range(512):
            self.assertTrue(handles[0].pread(131072, number * 131072) == random_block(number, 131072))
        with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
        self.assertLess(resident >> 10, 64)

    def test_two_servers_never_share_a_device(self):
        self.serve()
        other = self.folder + "/other"
        import os
        os.mkdir(other)
        self.folder, mine = other, self.folder
        self.addCleanup(setattr, self, "folder", mine)
        self.refuse("in use by another server", f"file={self.file}")


if __name__ == "__main__":
    unittest.main()
