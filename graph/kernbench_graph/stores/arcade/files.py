"""The folders of ArcadeDB's databases in the cache of projections."""

from __future__ import annotations

from pathlib import Path

from kernbench_graph.stores.arcade import loading
from kernbench_graph.stores.arcade.database import ArcadeDatabase, engine_version
from kernbench_graph.stores.embedded.cache import DatabaseEngine, Fill, closed_on_error

_REWRITTEN = ("statistics.json", "last-tx-id.bin")
"""Files that the engine writes anew when it closes a database that was only read."""


def _build(path: Path, fill: Fill[ArcadeDatabase], data_bytes: int) -> None:
    with ArcadeDatabase(path) as database:
        fill(database)


def _in_memory(fill: Fill[ArcadeDatabase], data_bytes: int) -> ArcadeDatabase:
    """In a temporary folder, which goes when the database is closed."""
    with closed_on_error(ArcadeDatabase.temporary()) as database:
        fill(database)
        database.seal()
    return database


def _state(path: Path) -> tuple[int, int]:
    states = [file.stat() for file in path.iterdir() if file.name not in _REWRITTEN]
    if not states:
        raise FileNotFoundError(str(path))
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


FILES = DatabaseEngine(
    file="graph.arcadedb",
    prefixes=("free", "freeadded"),
    grows=True,
    version=lambda: f"arcadedb {engine_version()} {loading.PROJECTION_VERSION}",
    project=loading.project,
    build=_build,
    in_memory=_in_memory,
    open=lambda path: ArcadeDatabase(path, read_only=True),
    state=_state,
)
