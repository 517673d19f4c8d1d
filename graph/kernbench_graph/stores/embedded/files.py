"""The files of LadybugDB in the cache of projections."""

from __future__ import annotations

from pathlib import Path

from kernbench_graph.stores.embedded import loading
from kernbench_graph.stores.embedded.cache import Fill, Project
from kernbench_graph.stores.embedded.engine import LadybugDatabase


class LadybugFiles:
    """Databases of LadybugDB, a file each.

    See :class:`kernbench_graph.stores.embedded.cache.DatabaseEngine`.
    """

    file = "graph.lbdb"
    version = str(loading.PROJECTION_VERSION)
    prefixes = ("run", "added")
    grows = False
    """In several transactions it has been seen to hold wrong properties."""

    @property
    def project(self) -> Project:
        """Fills an empty database."""
        return loading.project

    def build(self, path: Path, fill: Fill[LadybugDatabase], data_bytes: int) -> None:
        """Make a database in ``path``, or add to the one there."""
        with LadybugDatabase(path) as database, database.filling(data_bytes):
            fill(database)

    def open(self, path: Path) -> LadybugDatabase:
        """Open a database for reading."""
        return LadybugDatabase(path, read_only=True)

    def in_memory(self, fill: Fill[LadybugDatabase], data_bytes: int) -> LadybugDatabase:
        """A database that goes with this process."""
        database = LadybugDatabase(data_bytes=data_bytes)
        try:
            with database.filling(data_bytes):
                fill(database)
        except BaseException:
            database.close()
            raise
        return database

    def state(self, path: Path) -> tuple[int, int]:
        """Bytes of a database, and the time of its last change."""
        state = path.stat()
        return state.st_size, state.st_mtime_ns


FILES = LadybugFiles()
