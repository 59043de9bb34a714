# SPDX-License-Identifier: BSD-2-Clause
"""nbdkit with the plugin, killed at random while three connections read, write, zero and trim; started again and looked at.

A kill leaves the page cache: what was answered must be there, flushed or not, and what was under way may be there, unit by unit.
16 units share a block, and several requests are under way in it. Usage: kill.py PLUGIN FOLDER KILLS SEED
"""
import contextlib
import os
import random
import subprocess
import sys
import time

import nbd

UNIT, UNITS, HOT = 512, 4096, 32
plugin, folder, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
image, socket = os.path.join(folder, "device.img"), os.path.join(folder, "socket")
choose = random.Random(seed)
answered = [bytes(UNIT)] * UNITS
under_way = {}  # what a unit was sent, until that is answered
refused, handles = [], []
done = 0


def start():
    cache = choose.choice(("64k", "1M", "8M"))  # in the smallest, a read may find no room
    return subprocess.Popen(["nbdkit", "-f", "--exit-with-parent", "-U", socket, plugin, image, "log-size=1M", "cache=" + cache])


def connect(server):
    while server.poll() is None:
        handle = nbd.NBD()
        with contextlib.suppress(nbd.Error):  # the socket may not be there yet
            handle.connect_unix(socket)
            return handle
        time.sleep(0.002)
    return sys.exit(f"FAIL (seed {seed}): it does not start")


def send(handle):
    """A request of units that no other request has under way; half of them within two blocks."""
    is_hot = choose.random() < 0.5
    first = choose.randrange(HOT if is_hot else UNITS)
    units = range(first, min(first + choose.randint(1, 3 if is_hot else 48), UNITS))
    size, offset, what = len(units) * UNIT, first * UNIT, choose.random()
    if any(unit in under_way for unit in units):
        return
    if what < 0.3:
        data = [answered[unit] for unit in units]
    elif what < 0.5:
        data = [bytes(UNIT)] * len(units)
    else:  # noise, or what lz4 makes smaller
        data = [choose.randbytes(UNIT // (1 + unit % 2)).ljust(UNIT) for unit in units]
    buffer = nbd.Buffer.from_bytearray(bytearray(size if what < 0.3 else b"".join(data)))

    def completed(error):
        global done
        if error.value != 0:
            refused.append(units)
            return 1
        done += 1
        for unit in units:
            answered[unit] = under_way.pop(unit)
        if what < 0.3 and bytes(buffer.to_bytearray()) != b"".join(data):
            sys.exit(f"FAIL (seed {seed}): {units} are read wrong")
        return 1

    under_way.update(zip(units, data))
    if what < 0.3:
        handle.aio_pread(buffer, offset, completed)
    elif what < 0.5:
        (handle.aio_zero if what < 0.4 else handle.aio_trim)(size, offset, completed)
    else:
        handle.aio_pwrite(buffer, offset, completed, nbd.CMD_FLAG_FUA if what > 0.97 else 0)


def work(handles, until):
    while done < until:
        for handle in handles:
            if handle.aio_in_flight() < 8:
                send(handle)
            handle.poll(0 if handle.aio_in_flight() < 8 else 1)
    if refused:
        sys.exit(f"FAIL (seed {seed}): {refused} were refused")


def look(data):
    for unit in range(UNITS):
        found = data[unit * UNIT:unit * UNIT + UNIT]
        if found not in (answered[unit], under_way.get(unit)):
            sys.exit(f"FAIL (seed {seed}): unit {unit} holds neither what was answered nor what was sent")
        answered[unit] = bytes(found)
    under_way.clear()


with open(image, "wb") as file:
    file.truncate(UNIT * UNITS)
for kill in range(kills):
    server = start()
    if choose.random() < 0.2:  # while it brings the log to the file, or has just done so
        time.sleep(choose.random() * 0.02)
    else:
        handles = [connect(server) for _ in range(3)]
        look(handles[0].pread(UNIT * UNITS, 0))
        work(handles, done + choose.randrange(400))
        if choose.random() < 0.2:  # while it ends, because its clients are gone, and writes everything back
            handles.clear()
            server.terminate()
            time.sleep(choose.random() * 0.01)
    server.kill()
    server.wait()
    handles.clear()
    refused.clear()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(socket)
server = start()
connect(server).shutdown()
server.terminate()
server.wait()
with open(image, "rb") as file:
    look(file.read())
print(f"{kills} kills, {done} requests answered: nothing is missing")
