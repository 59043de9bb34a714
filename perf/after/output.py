# SPDX-License-Identifier: BSD-2-Clause
"""Files that are there whole or not at all: written to a temporary file beside them, then renamed.

A path that exists and is no regular file (/dev/full, a pipe, /dev/stdout) is written to as it is: renaming would replace the device.
"""
import os
import stat


def is_special(path):
    try:
        return not stat.S_ISREG(os.stat(path).st_mode) or path.startswith("/dev/")
    except FileNotFoundError:
        return False


def check(path):
    """OSError where the path can't be written to, before time is spent on what goes there."""
    if not path or os.path.isdir(path):
        open(path, "r+b").close()  # raises what the system says of it
    target = os.path.realpath(path)
    place = target if is_special(path) else os.path.dirname(target)
    if not os.access(place, os.W_OK):
        os.stat(place)  # raises where it does not exist
        raise PermissionError(13, os.strerror(13), place)


def write(path, text):
    """OSError where it fails; then the old file is as it was."""
    data = text.encode("utf-8")
    if is_special(path):
        with open(path, "ab", buffering=0) as file:
            while data:
                data = data[file.write(data):]
        return
    path = os.path.realpath(path)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
