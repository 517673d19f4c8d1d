"""The files of LadybugDB in the cache of projections."""

from __future__ import annotations

from pathlib import Path

from kernbench_graph.stores.embedded import loading
from kernbench_graph.stores.embedded.cache import DatabaseEngine, Fill, closed_on_error
from kernbench_graph.stores.embedded.engine import LadybugDatabase


def _build(path: Path, fill: Fill[LadybugDatabase], data_bytes: int) -> None:
    with LadybugDatabase(path) as database, database.filling():
        fill(database)


def _in_memory(fill: Fill[LadybugDatabase], data_bytes: int) -> LadybugDatabase:
    database = LadybugDatabase(data_bytes=data_bytes)
    with closed_on_error(database), database.filling():
        fill(database)
    return database


def _state(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


FILES = DatabaseEngine(
    file="graph.lbdb",
    prefixes=("run", "added"),
    grows=False,  # in several transactions it has been seen to hold wrong properties
    version=lambda: str(loading.PROJECTION_VERSION),
    project=loading.project,
    build=_build,
    in_memory=_in_memory,
    open=lambda path: LadybugDatabase(path, read_only=True),
    state=_state,
)
