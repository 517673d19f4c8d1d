"""The records that were read last, for those who ask several questions of one run.

A record's tables are read, and held against their checksums, when they are first looked at. A question's
parameters, its graph and the next question look at the same ones.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from kernbench_graph.archive import manifest

R = TypeVar("R")
_State = tuple[int, int, int]


class Recent(Generic[R]):
    """The ``most`` records of one kind that were asked for last. Safe for several threads."""

    def __init__(self, read: Callable[[Path], R], most: int = 2) -> None:
        """``read`` reads the record in a folder."""
        self._read, self._most = read, most
        self._kept: OrderedDict[Path, tuple[_State, R]] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, folder: Path) -> R:
        """The record in ``folder``: that of last time unless its manifest has changed."""
        state = state_of(folder / manifest.NAME)
        with self._lock:
            found = self._kept.get(folder)
            if found is not None and found[0] == state:
                self._kept.move_to_end(folder)
                return found[1]
        record = self._read(folder)
        if state is not None:
            with self._lock:
                self._kept[folder] = state, record
                self._kept.move_to_end(folder)
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        return record

    def clear(self) -> None:
        """Let go of all records."""
        with self._lock:
            self._kept.clear()


def files_in(folder: Path) -> list[tuple[Path, _State | None]]:
    """The files of a folder, each with its state; empty if the folder does not exist."""
    return [(file, state_of(file)) for file in sorted(folder.glob("*"))]


def state_of(file: Path) -> _State | None:
    """Time of change, size and number of a file, not all the same once it is written again; None: no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
