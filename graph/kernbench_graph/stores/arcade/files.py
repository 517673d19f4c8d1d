"""The folders of ArcadeDB's databases in the cache of projections."""

from __future__ import annotations

from pathlib import Path

from kernbench_graph.stores.arcade import loading
from kernbench_graph.stores.arcade.database import ArcadeDatabase, engine_version
from kernbench_graph.stores.embedded.cache import Fill, Project

_REWRITTEN = ("statistics.json", "last-tx-id.bin")
"""Files that the engine writes anew when it closes a database that was only read."""


class ArcadeFiles:
    """Databases of ArcadeDB, a folder each.

    See :class:`kernbench_graph.stores.embedded.cache.DatabaseEngine`.
    """

    file = "graph.arcadedb"
    prefixes = ("free", "freeadded")
    grows = True

    @property
    def project(self) -> Project:
        """Fills an empty database, or adds to one."""
        return loading.project

    @property
    def version(self) -> str:
        """Of the projection and of the engine."""
        return f"arcadedb {engine_version()} {loading.PROJECTION_VERSION}"

    def build(self, path: Path, fill: Fill[ArcadeDatabase], data_bytes: int) -> None:
        """Make a database in ``path``."""
        with ArcadeDatabase(path) as database:
            fill(database)

    def open(self, path: Path) -> ArcadeDatabase:
        """Open a database for reading."""
        return ArcadeDatabase(path, read_only=True)

    def in_memory(self, fill: Fill[ArcadeDatabase], data_bytes: int) -> ArcadeDatabase:
        """A database in a temporary folder, which goes when it is closed."""
        database = ArcadeDatabase.temporary()
        try:
            fill(database)
            database.seal()
        except BaseException:
            database.close()
            raise
        return database

    def state(self, path: Path) -> tuple[int, int]:
        """Bytes of a database, and the time of the last change of what is in it."""
        states = [file.stat() for file in path.iterdir() if file.name not in _REWRITTEN]
        if not states:
            raise FileNotFoundError(str(path))
        return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


FILES = ArcadeFiles()
