# SPDX-License-Identifier: BSD-2-Clause
"""Writes files whole or not at all: to a temporary file beside them, which is then renamed.

A path that exists and is no regular file (/dev/full, a pipe, /dev/stdout) is written to directly, because renaming would replace the device.
"""
import os
import stat


def is_special(path):
    try:
        return not stat.S_ISREG(os.stat(path).st_mode) or path.startswith("/dev/")
    except FileNotFoundError:
        return False


def check(path):
    """Raises OSError if the path can't be written to, before time is spent on its content."""
    if not path or os.path.isdir(path):
        open(path, "r+b").close()  # raises the system's error
    target = os.path.realpath(path)
    place = target if is_special(path) else os.path.dirname(target)
    if not os.access(place, os.W_OK):
        os.stat(place)  # raises if it does not exist
        raise PermissionError(13, os.strerror(13), place)


def write(path, text):
    """Writes text to path. If that fails, raises OSError and leaves the old file unchanged."""
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
