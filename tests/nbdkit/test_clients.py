# SPDX-License-Identifier: BSD-2-Clause
"""Clients that nobody here wrote: qemu-img, nbdcopy, fsck.ext4 and fio."""
import json
import os
import subprocess
import unittest

from abd_server import TIER, ServerTest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


class Clients(ServerTest):
    def command(self, *arguments, env=None):
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                              cwd=self.folder,  # fio leaves files where it runs
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, 0, f"{' '.join(arguments)}\n{done.stdout[-3000:]}")
        return done.stdout

    def make_file_system(self, size="64M"):
        """An ext4 image with this repository's sources in it. Returns its path and bytes."""
        path = os.path.join(self.folder, "ext4.img")
        self.command("mke2fs", "-q", "-t", "ext4", "-d", os.path.join(TOP, "lib"), path, size)
        return path, os.stat(path).st_size

    def serve_small(self, size, **how):
        return self.start(f"file={self.file}", f"size={size}", "log-size=2M", "cache=1M", **how)

    def fsck(self, image):
        self.command("fsck.ext4", "-f", "-n", image)

    def test_qemu_img_converts_and_compares_a_file_system(self):
        image, size = self.make_file_system()
        server = self.serve_small(size)
        self.command("qemu-img", "convert", "-n", "-f", "raw", image, "-O", "raw", server.uri)
        self.assertIn("identical", self.command("qemu-img", "compare", "-f", "raw", "-F", "raw", image, server.uri))
        server.kill()
        server = self.serve_small(size)
        self.assertIn("identical", self.command("qemu-img", "compare", "-f", "raw", "-F", "raw", image, server.uri))
        server.stop()
        self.assertIn("identical", self.command("qemu-img", "compare", "-f", "raw", "-F", "raw", image, self.file))

    def test_nbdcopy_there_and_back_leaves_a_clean_file_system(self):
        image, size = self.make_file_system()
        back = os.path.join(self.folder, "back.img")
        server = self.serve_small(size)
        self.command("nbdcopy", "--flush", "--connections=4", image, server.uri)
        server.kill()
        server = self.serve_small(size)
        self.command("nbdcopy", "--connections=4", server.uri, back)
        self.command("cmp", image, back)
        self.fsck(back)
        server.stop()
        self.fsck(self.file)

    def test_qcow2_within_the_device(self):
        """qemu-img as a client that writes metadata in small pieces, and flushes."""
        image, size = self.make_file_system("16M")
        server = self.serve_small(32 << 20)
        self.command("qemu-img", "create", "-q", "-f", "qcow2", server.uri, str(size))
        self.command("qemu-img", "convert", "-n", "-f", "raw", image, "-O", "qcow2", server.uri)
        server.kill()
        server = self.serve_small(32 << 20)
        self.command("qemu-img", "check", "-f", "qcow2", server.uri)
        self.assertIn("identical", self.command("qemu-img", "compare", "-f", "raw", "-F", "qcow2", image, server.uri))

    def fio(self, server, *options):
        return self.fio_jobs("--name=job", "--ioengine=nbd", f"--uri={server.uri}", *options)

    def fio_jobs(self, *options, env=None):
        output = os.path.join(self.folder, "fio.json")
        self.command("fio", "--output-format=json", f"--output={output}", *options, env=env)
        with open(output, encoding="utf-8") as text:
            jobs = json.load(text)["jobs"]
        self.assertEqual([job["error"] for job in jobs], [0] * len(jobs))
        return jobs

    def verify(self, *options):
        """Written and verified, and verified once more by another server after a kill."""
        job = ("--verify=crc32c", "--verify_fatal=1", "--iodepth=16", "--end_fsync=1", "--randseed=7", *options)
        server = self.serve_small(64 << 20)
        self.fio(server, *job, "--do_verify=1")
        server.kill()
        jobs = self.fio(self.serve_small(64 << 20), *job, "--verify_only")
        self.assertGreater(sum(one["read"]["total_ios"] for one in jobs), 0)

    def test_fio_verifies_random_writes_of_4k(self):
        self.verify("--rw=randwrite", "--bs=4k", "--size=16M", "--numjobs=4", "--offset_increment=16M")

    def test_fio_verifies_random_writes_of_any_size(self):
        self.verify("--rw=randwrite", "--bsrange=512-70k", "--bs_unaligned=1", "--size=64M")

    def test_fio_verifies_sequential_writes_that_lz4_makes_smaller(self):
        self.verify("--rw=write", "--bs=1M", "--size=32M", "--numjobs=2", "--offset_increment=32M",
                    "--buffer_compress_percentage=66", "--buffer_compress_chunk=4096")

    def test_fio_verifies_while_it_writes(self):
        self.verify("--rw=randwrite", "--bs=8k", "--size=32M", "--verify_backlog=64")

    def test_fio_trims_and_writes(self):
        server = self.serve_small(64 << 20)
        self.fio(server, "--rw=randtrimwrite", "--bs=16k", "--size=32M", "--iodepth=1", "--verify=crc32c")

    def test_fio_reads_as_upstreams_sequential_reads_do(self):
        """64 connections, then 128 in full; the cache holds everything: no miss while it is read."""
        for jobs in (64, 128) if TIER == "full" else (64,):
            part = 1 << 20
            server = self.start(f"file={self.file}", f"size={jobs * part}", "log-size=256M", "cache=512M")
            job = self.fio_jobs(os.path.join(HERE, "sequential_reads.fio"),
                                env={"uri": server.uri, "jobs": str(jobs), "size": str(part),
                                     "runtime": "20" if TIER == "full" else "2"})[1]
            server.stop()
            counted = server.counters()
            self.assertEqual(counted["cache misses"], 0)
            ratio = counted["cache logical"] / counted["cache stored"]
            self.assertGreater(ratio, 2.4)
            print(f"{jobs} threads: {job['read']['bw'] / 1024:.0f} MiB/s, compressed {ratio:.2f} to 1")
            os.unlink(self.file)
            os.unlink(self.log)


if __name__ == "__main__":
    unittest.main()
