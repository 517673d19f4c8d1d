"""The records that were read last, for those who ask several questions of one run.

A record's tables are read, and held against their checksums, when they are first looked at. A question's
parameters, its graph and the next question look at the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from kernbench_graph.archive import manifest

R = TypeVar("R")
_State = tuple[int, int, int]


class Recent(Generic[R]):
    """The ``most`` records of one kind that were asked for last. Safe for several threads."""

    def __init__(self, read: Callable[[Path], R], most: int = 2) -> None:
        """``read`` reads the record in a folder."""
        self._remembered = lru_cache(maxsize=most)(lambda folder, state: read(folder))
        self.clear = self._remembered.cache_clear

    def read(self, folder: Path) -> R:
        """The record in ``folder``: that of last time unless its manifest has changed."""
        return self._remembered(folder, state_of(folder / manifest.NAME))


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
