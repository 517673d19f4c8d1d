"""LadybugDB files as a cache of projections. Losing one, or all, costs time and nothing else.

Each entry is a folder ``cache/<name>`` with the database and a note of its size, time of change and
checksum. An entry that is missing or does not fit its note is built anew; where that cannot be done (a folder
that may not be written, a full disk), the projection is built in memory for this process.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from graph.atomic import clean_leftovers, new_folder, remove_folder
from graph.schema import SCHEMA_VERSION
from graph.store import StoreError
from graph.stores.ladybug_engine import EngineError, LadybugDatabase
from graph.stores.ladybug_projection import PROJECTION_VERSION

_DATABASE = "graph.lbdb"
_CHECK = "check.json"
Fill = Callable[[LadybugDatabase], None]
"""Fills an empty database."""
About = dict[str, Any]
"""What an entry says about itself, as JSON; ``fill`` may still change it."""


class Base(NamedTuple):
    """An entry from a copy of which a new one is made, and what it lacks."""

    name: str
    add: Fill


_PROBE = "MATCH (r:Run) RETURN count(r) AS runs"


def entry_name(prefix: str, *contents: str) -> str:
    """The name of an entry made from records of these ``contents`` by this version of the projection."""
    text = "\n".join((str(SCHEMA_VERSION), str(PROJECTION_VERSION), *contents))
    return f"{prefix}~{hashlib.sha256(text.encode()).hexdigest()[:24]}"


class ProjectionCache:
    """The entries in one folder. ``note`` is told what went otherwise than planned."""

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        self._folder = folder
        self._note = note

    def open(
        self,
        name: str,
        fill: Fill,
        runs: int,
        size: Callable[[], int],
        about: About | None = None,
        base: Base | None = None,
    ) -> LadybugDatabase:
        """The entry ``name`` opened for reading, built when needed: from ``base``, or else with ``fill``.

        ``runs`` is the number of Run nodes it must have; ``size`` gives the bytes of its data, which is asked
        only when the graph must be built in memory; ``about`` is kept with it.
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
            if base is None or not self._grown(place, base, about):
                _build(place, fill, about)
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

    def entries(self, prefix: str) -> Iterator[tuple[str, About]]:
        """Names of the entries that begin with ``prefix``, and what they say about themselves."""
        with suppress(OSError):
            for place in sorted(self._folder.glob(f"{prefix}*")):
                with suppress(OSError, ValueError, KeyError, TypeError):
                    yield place.name, dict(json.loads((place / _CHECK).read_bytes())["about"])

    def _grown(self, place: Path, base: Base, about: About | None) -> bool:
        """Whether ``place`` could be made from ``base``, which may be damaged or vanish meanwhile."""
        source = self._folder / base.name
        try:
            if not _is_whole(source):
                return False
            _build(place, base.add, about, source / _DATABASE)
        except FileExistsError:
            raise
        except (OSError, ValueError, KeyError, TypeError, StoreError):
            return False
        return True

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
        except (OSError, ValueError, KeyError, TypeError, EngineError):
            return None
        with suppress(StoreError, RuntimeError):
            if database.query(_PROBE, {}, timeout_s=10.0).rows == [(runs,)]:
                return database
        database.close()
        return None


def _build(place: Path, fill: Fill, about: About | None, source: Path | None = None) -> None:
    with new_folder(place, durable=False) as temporary:
        if source is not None:
            shutil.copyfile(source, temporary / _DATABASE)
        with LadybugDatabase(temporary / _DATABASE) as database:
            fill(database)
        _write_check(temporary, about or {})


def _in_memory(fill: Fill, size: Callable[[], int]) -> LadybugDatabase:
    database = LadybugDatabase(data_bytes=size())
    fill(database)
    return database


def _write_check(folder: Path, about: About) -> None:
    path = folder / _DATABASE
    state = path.stat()
    check = {"bytes": state.st_size, "changed_ns": state.st_mtime_ns, "sha256": _sha256(path),
             "about": about}  # fmt: skip
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
        _write_check(place, check["about"])
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
