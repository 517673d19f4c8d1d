"""LadybugDB files as a cache of projections. Losing one, or all, costs time and nothing else.

Each entry is a folder ``cache/<name>`` with the database and a note of its size, time of change and
checksum. An entry that is missing or does not fit its note is built anew; where that cannot be done (a folder
that may not be written, a full disk), the projection is built in memory for this process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from graph.atomic import clean_leftovers, new_folder, remove_folder
from graph.store import StoreError
from graph.stores.ladybug_engine import EngineError, LadybugDatabase

_DATABASE = "graph.lbdb"
_CHECK = "check.json"
Fill = Callable[[LadybugDatabase], None]
"""Fills an empty database."""
_PROBE = "MATCH (r:Run) RETURN count(r) AS runs"


class ProjectionCache:
    """The entries in one folder. ``note`` is told what went otherwise than planned."""

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        self._folder = folder
        self._note = note

    def open(self, name: str, fill: Fill, runs: int, size: Callable[[], int]) -> LadybugDatabase:
        """The entry ``name`` opened for reading, built with ``fill`` when needed.

        ``runs`` is the number of Run nodes it must have; ``size`` gives the bytes of its data, which is asked
        only when the graph must be built in memory.
        """
        place = self._folder / name
        if place.exists():
            database = self._opened(place, runs)
            if database is not None:
                return database
            self._note(f"cache {place} is damaged or was changed; it is built again")
            with suppress(OSError):
                remove_folder(place)
        try:
            _build(place, fill)
        except FileExistsError:
            pass  # another process was quicker, or the damaged entry cannot be removed
        except (OSError, EngineError) as error:
            self._note(f"cache {place} cannot be written ({error}); the graph is built in memory")
            return _in_memory(fill, size)
        database = self._opened(place, runs)
        if database is None:
            self._note(f"cache {place} cannot be read; the graph is built in memory")
            return _in_memory(fill, size)
        return database

    def prune(self, prefix: str, keep: str = "") -> None:
        """Remove entries whose name starts with ``prefix``, but for ``keep``, and what dead writers left."""
        with suppress(OSError):
            for place in sorted(self._folder.glob(f"{prefix}*")):
                if place.name != keep:
                    with suppress(OSError):
                        remove_folder(place)
        clean_leftovers(self._folder)

    def _opened(self, place: Path, runs: int) -> LadybugDatabase | None:
        try:
            if not _is_whole(place):
                return None
            database = LadybugDatabase(place / _DATABASE, read_only=True)
        except (OSError, ValueError, EngineError):
            return None
        with suppress(StoreError, RuntimeError):
            if database.query(_PROBE, {}, timeout_s=10.0).rows == [(runs,)]:
                return database
        database.close()
        return None


def _build(place: Path, fill: Fill) -> None:
    with new_folder(place, durable=False) as temporary:
        with LadybugDatabase(temporary / _DATABASE) as database:
            fill(database)
        _write_check(temporary)


def _in_memory(fill: Fill, size: Callable[[], int]) -> LadybugDatabase:
    database = LadybugDatabase(data_bytes=size())
    fill(database)
    return database


def _write_check(folder: Path) -> None:
    path = folder / _DATABASE
    state = path.stat()
    check = {"bytes": state.st_size, "changed_ns": state.st_mtime_ns, "sha256": _sha256(path)}
    (folder / _CHECK).write_text(json.dumps(check))


def _is_whole(place: Path) -> bool:
    """Whether the database is the one that was written. The checksum is computed only when the time of change
    differs, as it does for a copy of the store; a copy found whole gets a new note."""
    check = json.loads((place / _CHECK).read_bytes())
    path = place / _DATABASE
    state = path.stat()
    if state.st_size != check["bytes"]:
        return False
    if state.st_mtime_ns == check["changed_ns"]:
        return True
    if _sha256(path) != check["sha256"]:
        return False
    with suppress(OSError):
        _write_check(place)
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
