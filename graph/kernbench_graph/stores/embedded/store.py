"""The store behind a path: archives are the record, the engines' files beside them a cache.

    <path>/runs/<run id>/            manifest.json and one Parquet file per table
    <path>/topologies/<topology id>/ the same
    <path>/worked-out/<run id>/      tables that were worked out from a run's others
    <path>/added/<run id>/           what was added to it since: answers of analyses, and annotations
    <path>/cache/                    projections, named by the content they were made from

Many processes may read while others write: a run is seen when its folder has its name, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kernbench_graph.added import InFolder
from kernbench_graph.archive import record as archive
from kernbench_graph.archive.atomic import (
    UNDER_WAY,
    alone,
    clean_leftovers,
    clean_scratch,
    is_temporary,
    remove_folder,
    shared,
)
from kernbench_graph.archive.brief import brief, listed_info
from kernbench_graph.archive.canonical import canonical_tables, check_references
from kernbench_graph.errors import ArchiveError, StoreError
from kernbench_graph.projection import HISTORY
from kernbench_graph.records import RunRecord, TopologyRecord, check_id, is_id, resolve_ref
from kernbench_graph.schema_worked_out import FACTS_VERSION
from kernbench_graph.store import taken
from kernbench_graph.stores.embedded.base import LocalStore
from kernbench_graph.stores.embedded.cache import D, Database, DatabaseEngine, ProjectionCache
from kernbench_graph.stores.embedded.engines import LADYBUG, files_of
from kernbench_graph.stores.embedded.history import History, Kept
from kernbench_graph.stores.embedded.recent import Recent, files_in
from kernbench_graph.stores.embedded.remembered import Remembered
from kernbench_graph.stores.embedded.run_graphs import Names
from kernbench_graph.worked_out import FACTS, SUMS, Beside

_FEW = 2_000_000
"""Hops and operations up to which the facts of each are made while a run is kept.

A larger run gets its critical paths instead, which would take seconds when they are first asked for.
"""


def _kept_at(folder: Path) -> list[Any]:
    return [archive.read_info(folder)[1]]


def _brief(folder: Path) -> list[Any]:
    info, kept_at, content = archive.read_info(folder)
    return [kept_at, content, *brief(info)]


class EmbeddedStore(LocalStore):
    """Keeps runs as archives in a folder, which is made when the first one is kept."""

    def __init__(self, path: Path, url: str) -> None:
        super().__init__(url)
        self._runs = path / "runs"
        self._topologies = path / "topologies"
        self._worked_out = path / "worked-out"
        self._added = path / "added"
        self._cached_in = path / "cache"
        clean_scratch()
        kept = (self._runs, self._topologies, self._worked_out, self._added, self._cached_in)
        for folder in (*kept, path / UNDER_WAY):
            clean_leftovers(folder)
        self._kept_at = Remembered(self._runs, self._cached_in / "order.json", _kept_at)
        self._listed = Remembered(self._runs, self._cached_in / "runs.json", _brief, self._note_unreadable)
        self._read_runs = Recent(self._run_and_content)
        self._read_topologies = Recent(archive.read_topology)
        self._topology: tuple[object, Mapping[str, Any]] = ([], {})
        """What was in the folder of the topology kept last, and its tables."""

    def keep(self, run: RunRecord, topology: TopologyRecord, detail: str = "full") -> str:
        """Keep a run and its topology; return the run id."""
        self._check_detail(detail)
        self._check_open()
        info = archive.complete_info(run.info, topology)
        what = f"run '{info['id']}'"
        tables = canonical_tables("run", run.tables, what)
        try:
            self._topologies.mkdir(parents=True, exist_ok=True)
            with shared(self._topologies):  # from when the topology is there until a run refers to it
                place = self._topologies / check_id("topology", topology.id)
                check_references({**self._written(place, topology), **tables}, what)
                archive.write_run(self._runs / info["id"], info, tables)
        except OSError as error:
            if isinstance(error, FileExistsError) and self._is_kept(str(info["id"])):
                raise taken(info["id"]) from error
            raise StoreError(f"{what} cannot be written to {self._runs} ({error.strerror or error}); "
                             "free space, or name another store") from error  # fmt: skip
        if self.computed is not None:
            self._keep_facts(RunRecord(info, tables))
        return str(info["id"])

    def _written(self, place: Path, topology: TopologyRecord) -> Mapping[str, Any]:
        """The tables of a topology, which is archived at ``place``; read once while nothing changes there."""
        before, tables = self._topology
        if not before or before != files_in(place):
            tables = archive.write_topology(place, topology)
            self._topology = files_in(place), tables
        return tables

    def _keep_facts(self, run: RunRecord) -> None:
        """Work out what graphs of a run have, while its tables are at hand.

        Sums over hops are worked out at any size: questions that read them never read a hop.
        """
        few = run.tables["Hop"].num_rows + run.tables["Op"].num_rows <= _FEW
        _, _, content = archive.read_info(self._runs / str(run.info["id"]))
        whole = self._whole(run, self._beside(str(run.info["id"]), content)).tables
        for name in FACTS if few else (*SUMS, "Path"):
            whole[name]

    def upgrade(self) -> list[str]:
        """Work out the facts of runs that lack those of this version."""
        if self.computed is None:
            return []
        done = []
        for run_id in self._readable():
            beside = self._beside(run_id, archive.read_info(self._runs / run_id)[2])
            if any(beside.read(name) is None for name in FACTS):
                try:
                    tables = self.load(run_id).tables
                    for name in FACTS:
                        tables[name]
                except ArchiveError as error:
                    self._note(f"run '{run_id}' is left as it is: {error}")
                else:
                    done.append(run_id)
        return done

    def _beside(self, run_id: str, content: str) -> Beside:
        return Beside(self._worked_out / run_id, content)

    def runs(self) -> list[Mapping[str, Any]]:
        """Properties of every readable run, in the order in which they were kept; notes on the others."""
        return [kept.info for kept in self._readable().values()]

    def resolve(self, ref: str) -> str:
        """As for every store; an unreadable run is found by its full id, so that loading it says why.

        Costs one manifest, however many runs there are.
        """
        self._check_open()
        if self._is_kept(ref):
            return ref
        found = resolve_ref(ref, [*self._kept_at.all()])
        try:
            archive.read_info(self._runs / found)
        except ArchiveError:  # it was readable when its time was noted
            return super().resolve(ref)
        return found

    def remove(self, run_id: str) -> None:
        """Forget a run, readable or not, and its topology where it was the last on it."""
        with self._lock:
            place = self._place(run_id)
            self._forget("history")
            self._forget(f"run {run_id} ")
            try:
                remove_folder(place)
            except FileNotFoundError as error:
                raise self._unknown(run_id) from error
            except OSError as error:
                raise StoreError(
                    f"{place} cannot be removed ({error.strerror or error}); check who owns it"
                ) from error
            self._prune(run_id)
            for beside in (self._worked_out, self._added):
                with suppress(OSError):
                    remove_folder(beside / run_id)
            self._remove_unused_topologies()

    def change_tags(self, run_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> list[str]:
        """Add and remove tags of a run; return those that it has then."""
        with self._lock:
            try:
                return archive.change_tags(self._place(run_id), add, remove)
            except FileNotFoundError as error:
                raise self._unknown(run_id) from error
            except OSError as error:
                place = self._runs / run_id / "manifest.json"
                reason = error.strerror or error
                raise StoreError(
                    f"the tags in {place} cannot be written ({reason}); free space, or check who owns it"
                ) from error

    def load(self, run_id: str) -> RunRecord:
        """The record of a run; ``SchemaVersionError`` or ``ArchiveError`` when it cannot be read."""
        record, _ = self._read_runs.read(self._place(run_id))
        return RunRecord(dict(record.info), record.tables)

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        self._check_open()
        folder = self._topologies / check_id("topology", topology_id)
        if not folder.is_dir():
            raise StoreError(
                f"no topology '{topology_id}' in store '{self.url}'; restore it from a copy, or run again"
            )
        return self._read_topologies.read(folder)

    def close(self) -> None:
        """Let go of all databases and records."""
        super().close()
        self._read_runs.clear()
        self._read_topologies.clear()
        self._topology = [], {}

    def _is_kept(self, run_id: str) -> bool:
        return is_id(run_id) and (self._runs / run_id).is_dir()

    def _place(self, run_id: str) -> Path:
        self._check_open()
        if not self._is_kept(run_id):
            raise self._unknown(run_id)
        return self._runs / run_id

    def _readable(self) -> dict[str, Kept]:
        """The manifests' information, oldest first; what is long is read when it is looked at."""
        self._check_open()
        found: dict[str, Kept] = {}
        for run_id, (_, content, short, left_out) in self._listed.all().items():
            info = listed_info(short, left_out, partial(self._info, run_id))
            found[run_id] = Kept(info, content)
        return found

    def _info(self, run_id: str) -> Mapping[str, Any]:
        if not self._is_kept(run_id):
            raise self._unknown(run_id)
        return archive.read_info(self._runs / run_id)[0]  # also once the store is closed

    def _note_unreadable(self, run_id: str, error: ArchiveError) -> None:
        self._note(f"run '{run_id}' is left out: {error}")

    def _remove_unused_topologies(self) -> None:
        """Remove topologies that no run refers to, unless a run is being kept, which may be about to."""
        with alone(self._topologies) as held:
            kept = self._readable()
            if not held or len(kept) < len(self._listed.ids()):  # one that cannot be read may refer to any
                return
            used = {entry.info["topology"] for entry in kept.values()}
            for folder in sorted(self._topologies.iterdir()):
                if folder.name not in used and not is_temporary(folder):
                    with suppress(OSError):  # another process has removed it, or it stays
                        remove_folder(folder)

    def _content(self, run_id: str) -> str:
        """Identifies the graph of a run except its tags."""
        content = self._read_runs.read(self._runs / run_id)[1]
        return content if self.computed is None else f"{content} with facts {FACTS_VERSION}"

    def _cache(self, engine: DatabaseEngine[D]) -> ProjectionCache[D]:
        """Where the databases of an engine are cached."""
        return ProjectionCache(self._cached_in, self._note, engine)

    def _runs_database(self, ids: Sequence[str], engine: str, names: Names) -> Database:
        """The graph of these runs, ready to be read."""
        try:
            return super()._runs_database(ids, engine, names)
        except StoreError:
            for run_id in ids:
                self._place(run_id)  # which has gone meanwhile, or else the error stands
            raise

    def _history_database(self, names: tuple[str, ...], engine: str) -> Database:
        kind = f"history {engine} {' '.join(names)}"
        history = History(self._readable(), self._runs, self.load_topology, self._note)

        def build() -> Database:
            self._forget(kind)
            files = files_of(engine)
            # Without a table of a run it is quicker made than opened.
            cache = None if engine == LADYBUG and names != HISTORY else self._cache(files)
            found: Database = history.database(files, cache, names, self.progress)
            return found

        return self._cached(f"{kind} {history.content}", build)

    def _run_and_content(self, folder: Path) -> tuple[RunRecord, str]:
        """The run in ``folder``, and a hash of all but its tags."""
        info, _, content = archive.read_info(folder)
        run = archive.run_of(folder, info, self.load_topology)
        added = InFolder(self._added / folder.name, content)
        return self._whole(run, self._beside(folder.name, content), added), content
