"""Files as they are read, whoever wrote them: regular ones, of bounded size.

To read a named pipe would wait, to read a device might never end.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LONGEST = 16_000_000
"""Bytes of a text that somebody writes."""


def read_file(path: Path, most: int | None = None) -> bytes:
    """The content of a regular file.

    ``OSError``, whose ``strerror`` says why: there is none of that name, it is not a regular file, it has
    more than ``most`` bytes, or it cannot be read.
    """
    how = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, how)
    except ValueError:  # a null byte is in its name
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path)) from None
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            kind = "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
            raise OSError(errno.EINVAL, kind, os.fspath(path))
        with open(handle, "rb", closefd=False) as file:
            data = file.read(-1 if most is None else most + 1)
    finally:
        os.close(handle)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


def read_text(path: Path, most: int = LONGEST) -> str:
    """The UTF-8 text in a file, without a byte order mark; ``OSError`` as for :func:`read_file`."""
    try:
        return read_file(path, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OSError(errno.EINVAL, "it is not UTF-8 text", os.fspath(path)) from None
