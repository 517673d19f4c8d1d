"""Files of the engines as a cache of projections. Losing one, or all, costs time and nothing else.

Each entry is a folder ``<name>`` with the database and a note of its size and time of change. An entry that
is missing or does not fit its note is built anew, from a copy of another one where there is one to start
from: that of a run from one with fewer labels and types, that over all runs from one of fewer runs. Where
that cannot be done (a folder that may not be written, a full disk), the projection is built in memory for
this process. All entries together take at most ``$KERNBENCH_CACHE_MB`` (2048): those go first that were
asked longest ago. A process looks at the first that it adds, then each time it has added a sixteenth of that.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kernbench_graph import running
from kernbench_graph.archive.atomic import clean_leftovers, is_temporary, new_folder, remove_folder
from kernbench_graph.errors import ArchiveError, StoreError
from kernbench_graph.input_files import read_file
from kernbench_graph.json_text import parse
from kernbench_graph.result import Result
from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
from kernbench_graph.schema_worked_out import FACTS_VERSION

LIMIT_VARIABLE = "KERNBENCH_CACHE_MB"
_DEFAULT_LIMIT_MB = 2048.0
_CHECK = "check.json"


class Database(Protocol):
    """A database of any engine, ready to be read."""

    @property
    def is_closed(self) -> bool:
        """Whether it can no longer be asked."""

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        """Rows of a query; see :meth:`kernbench_graph.store.GraphStore.query`."""

    def close(self) -> None:
        """Let go of its files."""


D = TypeVar("D", bound=Database)
Fill = Callable[[D], None]
"""Fills an empty database, or adds to one."""
Project = Callable[..., None]
"""As :func:`kernbench_graph.stores.arcade.loading.project`."""
Progress = Callable[[int, int], None]
"""Called with the nodes and relationships added so far, and how many there are."""


@dataclass(frozen=True)
class DatabaseEngine(Generic[D]):
    """Makes and opens the databases of one engine."""

    file: str
    """Name of the file or folder of a database."""
    prefixes: tuple[str, str]
    """What names of entries begin with, without what was added to runs and with it."""
    grows: bool
    """Whether more can be added to a database that was filled."""
    version: Callable[[], str]
    """Of the projection and of whatever else decides if an older file can be opened."""
    project: Project
    """Fills an empty database with parts of graphs, or where it ``grows`` adds them."""
    build: Callable[[Path, Fill[D], int], None]
    """Makes a database in a path for about so many bytes of data, or adds to the one there."""
    in_memory: Callable[[Fill[D], int], D]
    """A database that goes with this process, for about so many bytes of data."""
    open: Callable[[Path], D]
    """Opens a database for reading; ``StoreError`` or ``OSError`` when that fails."""
    state: Callable[[Path], tuple[int, int]]
    """Bytes of a database, and a number that differs when it was changed."""


@contextmanager
def closed_on_error(database: D) -> Iterator[D]:
    """Close a database where filling it fails."""
    try:
        yield database
    except BaseException:
        database.close()
        raise


About = dict[str, Any]
"""Notes on an entry, as JSON; ``fill`` may still change them."""


class Base(NamedTuple, Generic[D]):
    """An entry that a new one is made from, as a copy."""

    name: str
    add: Fill[D]
    """Adds what the entry lacks."""


_PROBE = "MATCH (r:Run) RETURN count(r) AS runs"


@cache
def _schema() -> str:
    """What tells graphs of another schema apart: its version, and everything that is in a graph."""
    in_graph = [(one.name, [prop.name for prop in one.properties]) for one in SCHEMA.labels]
    between = [(one.type, [prop.name for prop in one.properties], one.rows) for one in SCHEMA.relationships]
    return f"{SCHEMA_VERSION} {FACTS_VERSION} {in_graph} {between}"


def entry_name(version: str, prefix: str, *contents: str) -> str:
    """The name of an entry made from records of these ``contents`` by this version of an engine."""
    text = "\n".join((_schema(), version, *contents))
    return f"{prefix}~{hashlib.sha256(text.encode()).hexdigest()[:24]}"


class ProjectionCache(Generic[D]):
    """The entries of one engine in a folder, which engines share.

    ``note`` is called with events that went otherwise than planned.
    """

    def __init__(self, folder: Path, note: Callable[[str], None], engine: DatabaseEngine[D]) -> None:
        self._folder = folder
        self._note = note
        self._engine = engine
        self._added_bytes: float | None = None
        """Added by this process since it last looked how large the cache is; None before that."""

    def name(self, prefix: str, *contents: str) -> str:
        """The name of the entry made from records of these ``contents``."""
        return entry_name(self._engine.version(), prefix, *contents)

    def open(
        self,
        name: str,
        fill: Fill[D],
        runs: int,
        size: Callable[[], int],
        about: About | None = None,
        base: Base[D] | None = None,
    ) -> D:
        """The entry ``name`` opened for reading, built when needed: from ``base``, or else with ``fill``.

        ``runs`` is the number of Run nodes it must have; ``size`` gives the bytes of its data and is called
        only when it must be built; ``about`` is kept with it.
        """
        place = self._folder / name
        if place.exists():
            database = self._opened(place, runs)
            if database is not None:
                return database
            running.check()
            self._note_damage(place)
        try:
            if base is None or not self._grow(place, base, about, size()):
                self._build(place, fill, about, size())
        except FileExistsError:
            pass  # another process was quicker, or the damaged entry cannot be removed
        except ArchiveError:
            raise  # the run itself is at fault, and no better in memory
        except (OSError, StoreError) as error:
            running.check()  # it was stopped: that is no reason to build it elsewhere
            self._note(f"cache {place} cannot be written ({error}); the graph is built in memory")
            return self._engine.in_memory(fill, size())
        database = self._opened(place, runs)
        if database is None:
            running.check()
            self._note(f"cache {place} cannot be read; the graph is built in memory")
            return self._engine.in_memory(fill, size())
        self._added(place, keep={name, base.name} if base else {name})
        return database

    def entries(self, prefix: str) -> Iterator[tuple[str, About]]:
        """Names of the entries that begin with ``prefix``, and the notes on them; removes damaged ones."""
        with suppress(OSError):
            for place in sorted(self._folder.glob(f"{prefix}*")):
                try:
                    yield place.name, dict(parse(read_file(place / _CHECK))["about"])
                except (OSError, ValueError, KeyError, TypeError):
                    self._note_damage(place)

    def prune(self, prefix: str, keep: Collection[str] = ()) -> None:
        """Remove entries whose name starts with ``prefix``, except ``keep``, and what dead writers left."""
        with suppress(OSError):
            for place in sorted(self._folder.glob(f"{prefix}*")):
                if place.name not in keep:
                    with suppress(OSError):
                        remove_folder(place)
        clean_leftovers(self._folder)

    def _note_damage(self, place: Path) -> None:
        if place.exists():
            self._note(f"cache {place} is damaged or was changed; it is built again")
            with suppress(OSError):
                remove_folder(place)

    def _grow(self, place: Path, base: Base[D], about: About | None, data_bytes: int) -> bool:
        """Whether ``place`` could be made from ``base``, which may be damaged or vanish meanwhile."""
        source = self._folder / base.name
        try:
            if not self._is_whole(source):
                return False
            self._build(place, base.add, about, data_bytes, source)
        except FileExistsError:
            raise
        except (OSError, ValueError, KeyError, TypeError, StoreError):
            running.check()
            return False
        return True

    def _opened(self, place: Path, runs: int) -> D | None:
        try:
            if not self._is_whole(place):
                return None
            database = self._engine.open(place / self._engine.file)
        except (OSError, StoreError):
            return None
        with suppress(StoreError, RuntimeError):
            if database.query(_PROBE, {}, timeout_s=10.0).rows == [(runs,)]:
                _touch(place)
                return database
        database.close()
        return None

    def _build(
        self, place: Path, fill: Fill[D], about: About | None, data_bytes: int, source: Path | None = None
    ) -> None:
        with new_folder(place, durable=False) as temporary:
            file = temporary / self._engine.file
            if source is not None:
                for some in source.iterdir():
                    if some.name != _CHECK:
                        _copy(some, temporary / some.name)
            self._engine.build(file, fill, data_bytes)
            size, state = self._engine.state(file)
            check = {"bytes": size, "state": state, "about": about or {}}
            (temporary / _CHECK).write_text(json.dumps(check))

    def _is_whole(self, place: Path) -> bool:
        """Whether the database is the one that was written; one that was copied or changed is not."""
        try:
            check = parse(read_file(place / _CHECK))
            return self._engine.state(place / self._engine.file) == (check["bytes"], check["state"])
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _added(self, place: Path, keep: set[str]) -> None:
        """Count a new entry, and make room when enough have come: that looks at every entry."""
        limit = _limit_bytes()
        with suppress(OSError, ValueError, KeyError, TypeError):
            if self._added_bytes is not None:
                self._added_bytes += _noted_bytes(place)
        if self._added_bytes is None or self._added_bytes > limit / 16:
            self._shrink(limit, keep)
            self._added_bytes = 0.0

    def _shrink(self, limit: float, keep: set[str]) -> None:
        """Remove entries, those first that were asked longest ago, until the rest is small enough."""
        found: list[tuple[int, int, Path]] = []
        with suppress(OSError):
            for place in self._folder.iterdir():
                if not is_temporary(place):
                    with suppress(OSError, ValueError, KeyError, TypeError):
                        asked = (place / _CHECK).stat().st_mtime_ns
                        found.append((asked, _noted_bytes(place), place))
        total = 0
        for _, size, place in sorted(found, reverse=True):
            total += size
            if total > limit and place.name not in keep:
                with suppress(OSError):
                    remove_folder(place)


def _limit_bytes() -> float:
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        limit = float(text) if text else _DEFAULT_LIMIT_MB
    except ValueError:
        limit = -1.0
    if not limit >= 0.0:
        raise StoreError(f"{LIMIT_VARIABLE} is '{text}', but should be a number of MB, 0 or more; correct it")
    return limit * 1e6


def _noted_bytes(place: Path) -> int:
    """Bytes of an entry's database, as noted when it was written."""
    return int(parse(read_file(place / _CHECK))["bytes"])


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def _touch(place: Path) -> None:
    """Note that the entry was asked for now."""
    with suppress(OSError):
        os.utime(place / _CHECK)
