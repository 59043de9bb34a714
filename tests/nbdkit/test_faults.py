# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong around the plugin: the administrator is told, the client gets EIO or ENOSPC, and nothing acknowledged is lost."""
import hashlib
import os
import re
import shutil
import struct
import subprocess
import unittest

import nbd

from abd_server import PLUGIN, POWER, ServerTest, random_block, text_block

BLOCK = 8192
README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/nbdkit-abd/README.md")
RECORD = 64 + BLOCK  # of noise, which isn't compressed


def record_place(number):
    """Of a record in the first segment, when all are of noise: behind the file's head and the segment's header."""
    return 4096 + 64 + number * RECORD


class Parameters(ServerTest):
    def test_each_wrong_parameter_is_named(self):
        file = f"file={self.file}"
        self.refuse("file=<FILENAME> is missing")
        self.refuse("unknown parameter 'fiel'", "fiel=x")
        self.refuse("file is given twice", file, file)
        self.refuse("file is empty", "file=")
        self.refuse("size", file, "size=many")
        self.refuse("size must be more than 0", file, "size=0")
        self.refuse("size=1000 is not a multiple of 512", file, "size=1000")
        self.refuse("block=5000 is not a power of two", file, "block=5000")
        self.refuse("block=2048 is not a power of two from 4096", file, "block=2k")
        self.refuse("log-size=65536 must be from", file, "log-size=64k")
        self.refuse("cache=1024 is less than the smallest cache", file, "cache=1k")
        self.refuse("boolean", file, "readonly=perhaps")
        self.refuse("are the same file", file, f"log={self.file}")
        self.assertEqual(os.listdir(self.folder).count("device.img"), 0, "nothing is made by a refused start")

    def test_help_and_readme_name_the_same_parameters_and_defaults(self):
        text = subprocess.run(["nbdkit", "--help", PLUGIN], capture_output=True, text=True, check=True).stdout
        helped = dict(re.findall(r"^([a-z-]+)=<.*?(?:default: (.*?))?\)?\.?$", text, re.MULTILINE))
        with open(README, encoding="utf-8") as readme:
            documented = dict(re.findall(r"^\| `([a-z-]+)=` \|.*\| (.*) \|$", readme.read(), re.MULTILINE))
        self.assertEqual(helped.keys(), documented.keys())
        for name, default in helped.items():
            if default and name != "log":
                self.assertEqual(documented[name], default, name)


class Files(ServerTest):
    def make(self, size=1 << 20):
        with open(self.file, "wb") as image:
            image.truncate(size)

    def test_no_backing_file(self):
        self.refuse("no such backing file; size=<SIZE> would create it", f"file={self.file}")
        self.refuse("can't create the backing file", f"file={self.folder}/none/x", "size=1M")
        self.refuse("can't open the backing file", f"file={self.file}", "readonly=true")

    def test_no_regular_file(self):
        self.refuse("Is a directory", f"file={self.folder}")
        self.refuse("not a regular file", "file=/dev/null", "readonly=true", "size=1M")

    def test_too_small(self):
        self.make()
        self.refuse("too small: 1048576 bytes, but size=2097152", f"file={self.file}", "size=2M")
        self.make(0)
        self.refuse("the backing file is empty", f"file={self.file}")

    def test_read_only_file(self):
        self.make()
        os.chmod(self.file, 0o444)
        os.chmod(self.folder, 0o777)
        wrap = ()
        if os.geteuid() == 0:
            wrap = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
            mine, self.folder = self.folder, os.path.join(self.folder, "nobody")
            os.mkdir(self.folder)
            os.chmod(self.folder, 0o777)
            copy = os.path.join(mine, "plugin.so")
            shutil.copy(PLUGIN, copy)
            libraries = os.path.join(mine, "lib")
            os.mkdir(libraries)
            listed = subprocess.run(["ldd", PLUGIN], capture_output=True, text=True, check=True).stdout
            for line in listed.splitlines():
                if "libabd" in line and "/" in line:
                    shutil.copy(line.split("=>")[1].split()[0], libraries)
            how = {"wrap": wrap, "plugin": copy, "env": {"LD_LIBRARY_PATH": libraries}}
        else:
            how = {}
        self.refuse("for writing (readonly=true would serve it without): Permission denied",
                    f"file={self.file}", **how)
        self.start(f"file={self.file}", "readonly=true", **how).connect().pread(4096, 0)

    def test_readonly_serves_file_and_log_and_changes_neither(self):
        server = self.serve("1M")
        handle = server.connect()
        handle.pwrite(random_block(1, BLOCK), 0)
        handle.pwrite(text_block(2, BLOCK), BLOCK)
        handle.flush()
        server.kill()
        before = self.hashes()
        server = self.start(f"file={self.file}", "readonly=true")
        handle = server.connect()
        self.assertTrue(handle.is_read_only())
        self.assertEqual(handle.pread(2 * BLOCK, 0), random_block(1, BLOCK) + text_block(2, BLOCK))
        with self.assertRaises(nbd.Error):
            handle.pwrite(bytes(512), 0)
        handle.shutdown()
        server.stop()
        self.assertEqual(self.hashes(), before)

    def hashes(self):
        found = []
        for path in (self.file, self.log):
            with open(path, "rb") as file:
                found.append(hashlib.sha256(file.read()).hexdigest())
        return found

    def test_cut_while_it_is_served(self):
        self.make()
        server = self.start(f"file={self.file}")
        handle = server.connect()
        handle.pwrite(random_block(1, BLOCK), 0, nbd.CMD_FLAG_FUA)
        os.truncate(self.file, 4096)
        with self.assertRaises(nbd.Error) as caught:
            handle.pread(4096, 1 << 19)
        self.assertEqual(caught.exception.errno, "EIO")
        self.assertIn("the backing file ends at", server.said())
        self.assertEqual(handle.pread(BLOCK, 0), random_block(1, BLOCK))

    def test_changed_while_it_is_served(self):
        with open(self.file, "wb") as image:
            for number in range(128):
                image.write(random_block(number, BLOCK))
        server = self.start(f"file={self.file}", "cache=64k")
        handle = server.connect()
        for number in range(128):
            self.assertEqual(handle.pread(BLOCK, number * BLOCK), random_block(number, BLOCK))
        with open(self.file, "r+b") as image:
            image.write(b"something else")
        with self.assertRaises(nbd.Error) as caught:
            handle.pread(512, 0)
        self.assertEqual(caught.exception.errno, "EIO")
        self.assertIn("block 0 is not what was written", server.said())
        handle.pwrite(random_block(7, BLOCK), 0)
        self.assertEqual(handle.pread(BLOCK, 0), random_block(7, BLOCK))


class Log(ServerTest):
    def write_and_kill(self, count=10, flush=True):
        """count blocks of noise in the log, no checkpoint."""
        server = self.serve("1M")
        handle = server.connect()
        for number in range(count):
            handle.pwrite(random_block(number, BLOCK), number * BLOCK)
        if flush:
            handle.flush()
        server.kill()

    def read_numbers(self, count=10):
        server = self.serve("1M")
        handle = server.connect()
        return server, [handle.pread(BLOCK, number * BLOCK) for number in range(count)]

    def damage(self, place, data=b"damage"):
        with open(self.log, "r+b") as log:
            log.seek(place)
            log.write(data)

    def refuse_log(self, expected, *params):
        self.refuse(expected, f"file={self.file}", *params)

    def test_replayed(self):
        self.write_and_kill()
        self.assertTrue(self.read_numbers()[1] == [random_block(number, BLOCK) for number in range(10)])

    def test_damage_to_what_was_flushed_is_refused(self):
        self.write_and_kill()
        for what, place in (("header", record_place(4) + 8), ("payload", record_place(4) + 1000),
                            ("the last payload", record_place(9) + 1000), ("segment header", 4096 + 8)):
            with self.subTest(what):
                with open(self.log, "rb") as log:
                    whole = log.read()
                self.damage(place)
                self.refuse_log("the log is damaged at byte")
                self.damage(0, whole)
        self.assertEqual(len(self.read_numbers()[1]), 10)

    def test_two_damaged_bytes_are_not_taken_for_an_empty_log(self):
        self.write_and_kill(8)
        self.damage(64 + 9, b"x")
        self.damage(4096 + 9, b"x")
        self.refuse_log("the log is damaged at byte 64")

    def test_a_torn_end_is_no_damage_and_stays_torn(self):
        self.write_and_kill(flush=False)
        self.damage(record_place(5) + 100)
        server, found = self.read_numbers()
        expected = [random_block(number, BLOCK) for number in range(5)] + [bytes(BLOCK)] * 5
        self.assertTrue(found == expected)
        server.connect().pwrite(random_block(50, BLOCK), 5 * BLOCK)
        server.kill()
        # Records 6 to 9 lie behind the new record 5, whole; they belong to the end that was dropped.
        expected[5] = random_block(50, BLOCK)
        self.assertTrue(self.read_numbers()[1] == expected, "a dropped record is back")

    def test_no_log_of_this_device(self):
        self.write_and_kill()
        self.refuse_log("the log has blocks of 8192 bytes; give block=8192", "block=4k")
        self.refuse_log("the log is of a device of 1048576 bytes, but the backing file has 524288", "size=512k")
        shutil.copyfile(self.file, self.file + ".copy")
        os.rename(self.file + ".copy", self.file)
        self.refuse_log("the log belongs to another backing file")
        server = self.start(f"file={self.file}", "adopt=true")
        self.assertEqual(server.connect().pread(BLOCK, 9 * BLOCK), random_block(9, BLOCK))
        server.kill()
        self.assertEqual(len(self.read_numbers()[1]), 10)  # from then on they go together

    def test_a_file_made_anew_gets_no_old_log(self):
        """Also where its inode is the old one's, as a file system may choose."""
        self.write_and_kill()
        os.unlink(self.file)
        self.refuse_log("the log belongs to another backing file", "size=1M")
        self.assertFalse(os.path.exists(self.file), "made by a refused start")
        with open(self.file, "wb") as image:
            image.truncate(1 << 20)
        self.refuse_log("the log belongs to another backing file")
        with open(self.file, "rb") as image:
            self.assertEqual(image.read(), bytes(1 << 20))

    def test_another_files_log_is_refused_whatever_the_inodes(self):
        """Two file systems, made alike: their files have the same inodes."""
        images = []
        for name in ("one", "two"):
            folder = os.path.join(self.folder, name)
            os.mkdir(folder)
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8M", "tmpfs", folder], stderr=subprocess.DEVNULL)
            if mounted.returncode != 0:
                self.skipTest("mounting is not allowed here")
            self.addCleanup(subprocess.run, ["umount", "-l", folder], check=False)
            images.append(os.path.join(folder, "device.img"))
        for number, image in enumerate(images):
            server = self.start(f"file={image}", "size=1M", "log-size=2M", f"log={self.folder}/{number}.log")
            server.connect().pwrite(random_block(number, BLOCK), 0, nbd.CMD_FLAG_FUA)
            server.kill()
        self.assertEqual(os.stat(images[0]).st_ino, os.stat(images[1]).st_ino)
        self.refuse("the log belongs to another backing file", f"file={images[0]}", f"log={self.folder}/1.log")
        server = self.start(f"file={images[0]}", f"log={self.folder}/0.log")
        self.assertEqual(server.connect().pread(BLOCK, 0), random_block(0, BLOCK))

    def test_a_file_without_its_log_is_refused(self):
        self.write_and_kill()
        os.rename(self.log, self.log + ".away")
        self.refuse_log("is missing, and writes that were flushed may be in it")
        self.refuse_log("is missing", "readonly=true")
        self.assertFalse(os.path.exists(self.log))
        self.start(f"file={self.file}", "adopt=true").stop()
        os.rename(self.log + ".away", self.log)
        self.refuse_log("the log belongs to another backing file")

    def test_a_file_system_without_attributes_is_refused(self):
        small = os.path.join(self.folder, "ramfs")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "ramfs", "ramfs", small], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        self.refuse("can't mark the file as its log's", f"file={small}/device.img", "size=1M", "log-size=2M")
        self.assertEqual(os.listdir(small), [])

    def test_no_log_at_all(self):
        self.write_and_kill()
        self.damage(0)
        self.refuse_log("not a log of this plugin, or its head is damaged")
        with open(self.log, "wb") as log:
            log.write(b"x" * 100)
        self.refuse_log("not a log of this plugin")
        with open(self.log, "wb"):
            pass
        self.refuse_log("it is empty")
        self.refuse_log("can't make the log", f"log={self.folder}/none/log", "adopt=true")

    def test_a_log_that_was_cut(self):
        self.write_and_kill()
        os.truncate(self.log, 1 << 20)
        self.refuse_log("the log was cut")

    def test_a_record_of_no_block(self):
        self.write_and_kill()
        with open(self.log, "r+b") as log:
            log.seek(record_place(0) + 24)
            log.write(struct.pack("<Q", 1 << 40))
        self.refuse_log("the log is damaged")


class Disk(ServerTest):
    """Disks that are full or fail, for the file and for the log."""

    def fill(self, handle, count, first=0):
        """Write blocks and flush each; the numbers that were acknowledged, and the error that ended it."""
        kept = []
        for number in range(first, first + count):
            try:
                handle.pwrite(random_block(number, BLOCK), number * BLOCK, nbd.CMD_FLAG_FUA)
            except nbd.Error as error:
                return kept, error.errno
            kept.append(number)
        return kept, None

    def check(self, handle, numbers):
        for number in numbers:
            self.assertTrue(handle.pread(BLOCK, number * BLOCK) == random_block(number, BLOCK), f"block {number}")

    def check_full(self, start, make_room):
        """Full, then killed and started full, then with room: what was acknowledged is there all along."""
        server = start()
        handle = server.connect()
        kept, error = self.fill(handle, 1600)
        self.assertEqual(error, "ENOSPC")
        self.assertGreater(len(kept), 100)
        self.assertIn("writing the log back:", server.said())
        self.check(handle, kept)
        handle.flush()
        server.kill()
        server = start()
        handle = server.connect()
        self.check(handle, kept)
        handle.shutdown()
        server.stop()
        self.assertIn("not everything could be written back", server.said())
        server = make_room()
        handle = server.connect()
        self.check(handle, kept)
        more, error = self.fill(handle, 300, 1600)
        self.assertIsNone(error)
        self.check(handle, kept + more)
        handle.shutdown()
        server.stop()
        with open(self.file, "rb") as image:
            for number in kept + more:
                image.seek(number * BLOCK)
                self.assertTrue(image.read(BLOCK) == random_block(number, BLOCK), f"block {number} in the file")

    def test_full_disk_by_a_limit_on_file_sizes(self):
        self.serve().stop()
        self.check_full(lambda: self.serve(wrap=("prlimit", f"--fsize={6 << 20}")), self.serve)

    def test_full_disk_by_a_small_file_system(self):
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6M", "tmpfs", small], stderr=subprocess.DEVNULL)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here; the limit on file sizes stands for it")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        log = f"log={self.log}"
        self.file = os.path.join(small, "device.img")

        def make_room():
            subprocess.run(["mount", "-o", "remount,size=32M", small], check=True)
            return self.serve("16M", log)
        self.check_full(lambda: self.serve("16M", log), make_room)

    def test_no_room_for_the_log(self):
        self.refuse("can't make the log", f"file={self.file}", "size=1M", "log-size=4M",
                    wrap=("prlimit", f"--fsize={2 << 20}"))
        self.assertFalse(os.path.exists(self.log) or os.path.exists(self.log + ".new"))

    def serve_on_disks(self):
        for path in (self.file, self.log):
            if os.path.exists(path + ".fails"):
                os.unlink(path + ".fails")
        return self.serve(env={"LD_PRELOAD": POWER, "ABD_POWER_LOG": self.log, "ABD_POWER_FILE": self.file})

    @staticmethod
    def break_disk(path):
        with open(path + ".fails", "wb"):
            pass

    def test_the_log_cannot_be_synced(self):
        server = self.serve_on_disks()
        handle = server.connect()
        kept, _ = self.fill(handle, 50)
        self.break_disk(self.log)
        self.assertEqual(self.fill(handle, 1, 50), ([], "EIO"))
        os.unlink(self.log + ".fails")  # the kernel may have dropped what it could not write, and says so only once
        self.assertEqual(self.fill(handle, 1, 51), ([], "EIO"))
        with self.assertRaises(nbd.Error):
            handle.flush()
        self.assertIn("no more writes until it is opened again", server.said())
        self.check(handle, kept)
        server.kill()
        server = self.serve_on_disks()
        handle = server.connect()
        self.check(handle, kept)
        self.assertEqual(self.fill(handle, 1, 60), ([60], None))

    def test_the_file_cannot_be_synced(self):
        server = self.serve_on_disks()
        handle = server.connect()
        self.break_disk(self.file)
        kept, error = self.fill(handle, 1600)
        self.assertEqual(error, "EIO")
        self.check(handle, kept)
        os.unlink(self.file + ".fails")
        more, error = self.fill(handle, 300, 1600)
        self.assertIsNone(error)
        self.check(handle, kept + more)
        server.kill()
        self.check(self.serve_on_disks().connect(), kept + more)


if __name__ == "__main__":
    unittest.main()
