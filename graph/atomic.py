"""Folders that appear whole or not at all, and the removal of what dead writers left behind.

A writer fills a folder ``.tmp-<pid>-<random>`` beside the final place and renames it. While it writes it
holds an ``flock`` on a file in that folder; the kernel lets go of the lock when the writer ends in
whatever way, so a leftover is recognised by its lock being free, even where process ids were reused or
belong to another container.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # a platform without flock: age alone decides
    fcntl = None

_PREFIX = ".tmp-"
_LOCK = ".writer"
_GRACE_S = 3600.0
"""A folder without a lock file is left alone this long: its writer may be about to make, or has just
removed, the file. Without flock, a folder counts as left behind after this time without a change."""


@contextmanager
def new_folder(place: Path, durable: bool = True) -> Iterator[Path]:
    """A temporary folder that becomes ``place`` when the block ends well and vanishes when it does not.

    ``durable`` has all of it on the disk before it appears, so that it outlives a loss of power.
    ``FileExistsError`` when ``place`` is there already, before or after.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        raise FileExistsError(str(place))
    temporary = place.parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    temporary.mkdir()
    unlocked = temporary / f"{_LOCK}.new"
    lock = os.open(unlocked, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        _try_lock(lock)
        unlocked.rename(temporary / _LOCK)  # visible to cleaners only once it is locked
        yield temporary
        (temporary / _LOCK).unlink()
        if durable:
            for path in (*sorted(temporary.rglob("*")), temporary):
                sync(path)
        try:
            os.rename(temporary, place)
        except OSError as error:
            if place.exists():
                raise FileExistsError(str(place)) from error
            raise
        if durable:
            sync(place.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def remove_folder(place: Path) -> None:
    """Remove a folder so that nobody sees half of it. ``FileNotFoundError`` when it is not there."""
    doomed = place.parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    os.rename(place, doomed)
    sync(place.parent)
    shutil.rmtree(doomed, ignore_errors=True)


@contextmanager
def shared(folder: Path) -> Iterator[None]:
    """Nobody holds ``folder`` (:func:`alone`) within the block. Waits for whoever does."""
    handle = os.open(folder, os.O_RDONLY) if fcntl is not None else -1
    try:
        if handle >= 0:
            with suppress(OSError):  # a file system without locks: there nobody gets it alone either
                fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        if handle >= 0:
            os.close(handle)


@contextmanager
def alone(folder: Path, patience_s: float = 1.0) -> Iterator[bool]:
    """Whether nobody shares ``folder`` and nobody will within the block; False where that cannot be had.

    The folder itself is locked, with ``flock``, so that no file is left and the kernel lets go of it.
    """
    try:
        handle = os.open(folder, os.O_RDONLY) if fcntl is not None else -1
    except OSError:
        handle = -1
    try:
        end = time.monotonic() + patience_s
        held = handle >= 0 and _try_lock(handle)
        while handle >= 0 and not held and time.monotonic() < end:
            time.sleep(0.02)
            held = _try_lock(handle)
        yield held
    finally:
        if handle >= 0:
            os.close(handle)


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of one file at once."""
    temporary = path.parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    try:
        temporary.write_bytes(data)
        sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Have the file or folder written to the disk."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_temporary(path: Path) -> bool:
    """Whether the name is one that writers use while they write."""
    return path.name.startswith(_PREFIX)


def clean_leftovers(folder: Path) -> int:
    """Remove temporary folders whose writers are dead; return how many. Never raises ``OSError``."""
    removed = 0
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if is_temporary(path) and path.is_dir() and _is_dead(path):
                shutil.rmtree(path, ignore_errors=True)
                removed += 1
    return removed


def _is_dead(temporary: Path) -> bool:
    try:
        handle = os.open(temporary / _LOCK, os.O_RDWR)
    except OSError:
        return _is_old(temporary)
    try:
        return _try_lock(handle) if fcntl is not None else _is_old(temporary)
    finally:
        os.close(handle)


def _is_old(temporary: Path) -> bool:
    try:
        return time.time() - temporary.stat().st_mtime > _GRACE_S
    except OSError:
        return False


def _try_lock(handle: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
