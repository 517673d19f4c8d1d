"""Folders that appear whole or not at all, and the removal of what dead writers left behind.

A writer fills a folder ``.tmp-<pid>-<random>`` beside the final place and renames it. From the moment when
it has made the folder until it has renamed it, it holds an ``flock`` on the folder itself; the kernel lets
go of the lock when the writer ends in whatever way, so a leftover is recognised by its lock being free, even
where process ids were reused or belong to another container. Between making a folder and locking it a
cleaner may take it for a leftover: the writer sees that, and makes another.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # a platform without flock: age alone decides
    fcntl = None

_WINDOWS = os.name == "nt"
_PREFIX = ".tmp-"
_SCRATCH = "kernbench-scratch-"
UNDER_WAY = "under-way"
"""Folder of a store with a :func:`lasting_folder` of each process that works into it."""
_GRACE_S = 3600.0
"""On a file system without flock, a folder counts as left behind after this time without a change."""


@contextmanager
def new_folder(place: Path, durable: bool = True) -> Iterator[Path]:
    """A temporary folder that becomes ``place`` when the block ends well and vanishes when it does not.

    ``durable`` has all of it on the disk before it appears, so that it outlives a loss of power.
    ``FileExistsError`` when ``place`` is there already, before or after.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        raise FileExistsError(str(place))
    with _locked_folder(place.parent) as temporary:
        try:
            yield temporary
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


def remove_folder(place: Path) -> None:
    """Remove a folder so that no process sees half of it. ``FileNotFoundError`` when it is not there."""
    doomed = _temporary_name(place.parent)
    os.rename(place, doomed)
    sync(place.parent)
    shutil.rmtree(doomed, ignore_errors=True)


@contextmanager
def shared(folder: Path) -> Iterator[None]:
    """No other process holds ``folder`` (:func:`alone`) within the block. Waits for one that does."""
    with _opened(folder) as handle:
        if handle is not None:
            with suppress(OSError):  # a file system without locks: there no process gets it alone either
                fcntl.flock(handle, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Whether no process shares ``folder`` or will within the block; False where that cannot be had.

    The folder itself is locked, with ``flock``, so that no file is left and the kernel lets go of it. Waits
    a second for others to end.
    """
    with ExitStack() as opened:
        handle: int | None = None
        with suppress(OSError):
            handle = opened.enter_context(_opened(folder))
        end = time.monotonic() + 1.0
        while (held := _lock(handle)) is False and time.monotonic() < end:
            time.sleep(0.02)
        yield held is True


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """No other process is in such a block for ``folder``, where the file system has locks.

    ``FileNotFoundError`` when there is no such folder.
    """
    handle = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    try:
        if handle is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def replace_file(path: Path, data: bytes, durable: bool = True) -> None:
    """Replace the content of one file at once; ``durable`` has it on the disk before."""
    temporary = _temporary_name(path.parent)
    try:
        temporary.write_bytes(data)
        if durable:
            sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def sync(path: Path) -> None:
    """Have the file or folder written to the disk.

    Windows opens no folders, and flushes only what is open for writing.
    """
    is_folder = path.is_dir()
    if _WINDOWS and is_folder:
        return
    handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_temporary(path: Path) -> bool:
    """Whether the name is one that writers use while they write."""
    return path.name.startswith(_PREFIX)


def clean_leftovers(folder: Path) -> int:
    """Remove temporary folders and files of dead writers; return how many. Never raises ``OSError``."""
    removed = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry.path) for entry in entries if entry.name.startswith(_PREFIX)]:
            with suppress(OSError):
                if path.is_dir():
                    removed += _cleaned(path)
                elif time.time() - path.stat().st_mtime > _GRACE_S:  # files are written without a lock
                    path.unlink()
                    removed += 1
    return removed


def clean_scratch() -> None:
    """Remove folders of :class:`ScratchFolder` whose processes were killed, where there are locks."""
    for path in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with suppress(OSError), _opened(path) as handle:
            if _lock(handle) is True:
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def lasting_folder(parent: Path) -> Iterator[Path]:
    """A temporary folder in ``parent`` for the length of the block, which :func:`lasting_folders` finds."""
    parent.mkdir(parents=True, exist_ok=True)
    with _locked_folder(parent) as temporary:
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def lasting_folders(parent: Path) -> list[Path]:
    """The folders of :func:`lasting_folder` whose processes live; those of others are removed."""
    clean_leftovers(parent)
    try:
        return sorted(path for path in parent.iterdir() if is_temporary(path))
    except FileNotFoundError:
        return []


class ScratchFolder:
    """A folder in the system's temporary folder, for as long as a process needs it.

    One that was killed leaves its own behind: it goes with :func:`clean_scratch`.
    """

    def __init__(self) -> None:
        clean_scratch()
        while True:
            self.path, self._handle = Path(tempfile.mkdtemp(prefix=_SCRATCH)), None
            # A process that removes leftovers may take it for one before it is locked.
            with suppress(FileNotFoundError):
                self._handle = os.open(self.path, os.O_RDONLY) if fcntl is not None else None
                if _lock(self._handle) is not False and self.path.is_dir():
                    return
            self.remove()

    def remove(self) -> None:
        """Remove it with all that is in it; again does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *error: object) -> None:
        self.remove()


def _temporary_name(folder: Path) -> Path:
    return folder / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """The folder, open for its lock; None where there are no locks, or no such folder any more."""
    handle: int | None = None
    if fcntl is not None:
        with suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def _locked_folder(parent: Path) -> Iterator[Path]:
    """A new temporary folder, locked within the block where there are locks."""
    while True:
        temporary = _temporary_name(parent)
        temporary.mkdir()
        with _opened(temporary) as handle:
            # A process that removes a leftover holds its lock till it is gone.
            if _lock(handle) is not False and temporary.is_dir():
                yield temporary
                return


def _cleaned(temporary: Path) -> bool:
    with _opened(temporary) as handle:
        dead = _is_dead(temporary, handle)
        if dead:
            shutil.rmtree(temporary, ignore_errors=True)
        return dead


def _is_dead(temporary: Path, handle: int | None) -> bool:
    held = _lock(handle)
    if held is not None:
        return held
    try:
        return time.time() - temporary.stat().st_mtime > _GRACE_S
    except OSError:
        return False


def _lock(handle: int | None) -> bool | None:
    """Lock the open file: whether it could be had; None where there are no locks."""
    if handle is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
