"""Recording a run of a bench or of traffic: the tables of its trace, its properties, and keeping both."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kernbench.analysis.use.pe_times import ran_at
from kernbench.analysis.windows.time_window import PARTIAL
from kernbench.api import readings, team
from kernbench.api.result import Run
from kernbench.api.stores import Store, folder_of, keeper
from kernbench.api.topologies import changes_of
from kernbench.engine.run_options import Progress, RunOptions, Work, WorkProgress, tell
from kernbench.errors import UsageError
from kernbench.support.pgraph import (
    PropertyGraph,
    RunRecord,
    TopologyRecord,
    not_utf_8,
    run_times,
    topology_record,
)
from kernbench.support.user_modules import code_hash
from kernbench.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.engine.core.instrument import Instrument
    from kernbench.engine.machine.machine import Machine
    from kernbench.host.estimates import Estimate
    from kernbench.values.oplog import OpLog

LARGE_TRACE = 5_000_000
"""Hops from which on a trace is large."""
_LARGE = (
    f"the trace has over {LARGE_TRACE // 1_000_000} million hops and is growing; questions about use, waits "
    "and critical paths read none of them, but a text that names HOP takes 2 GB for each million. "
    "To record less: fewer layers or steps, repeated work that is counted (resident=true of llama-decoder), "
    "an earlier end (--max-ns with --keep-partial), or times alone (--no-trace)"
)

SomeRun = TypeVar("SomeRun", bound=Run)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProperties:
    """The properties of a run, as its record's manifest holds them. Times in ns unless named otherwise."""

    bench: str
    status: str
    """``ok``, ``failed``, or ``partial`` for what there is of a run that was stopped."""
    sim_ns: float
    verified: str
    """``yes``, ``no``, ``nothing checked`` or ``not asked``."""
    params: str
    """Parameters of the bench or the traffic, as a JSON object."""
    config_hash: str
    again: Mapping[str, Any]
    """The settings for a re-run beside parameters and topology: ``bench device components``.

    ``topo`` holds the keys by which the machine differs from its topology file, and ``code`` the hashes of
    the users' files and modules that were run, by the names that they were loaded by; if there are any.
    """
    seed: Any
    tags: str
    """A JSON list."""
    source_text: str = ""
    """The text of the bench's file, for comparisons; empty where there is none."""
    launches: Sequence[Mapping[str, Any]] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further properties, such as the flows of a run of traffic."""


class Recording:
    """One run from its start to its :class:`Run`, kept whole or not at all.

    Args:
        store: Where to keep it: an open store, a URL, or None for the default one.
        options: Those of the run. Without ``trace`` nothing is recorded and kept but what the resources
            counted; rows of the tables of ``instruments`` are kept with the run.
        run_id: The id to keep it under; empty takes a new one.

    Raises:
        StoreError: Nothing can be kept in ``store``; raised at once, before anything is run.
        UsageError: One of ``instruments`` is none.
    """

    def __init__(self, store: Store, options: RunOptions, run_id: str = "") -> None:
        from kernbench.engine.core.trace import TraceRecorder

        self._wrong: UsageError | None = None
        self._users = readings.check_instruments(options.instruments) if options.instruments else ()
        self._store = keeper(store, options.detail) if options.trace else None
        self._detail, self._run_id = options.detail, run_id
        self._recorder = TraceRecorder() if options.trace else None
        self._warned = False
        self._started = datetime.now(UTC)
        self._clock = time.perf_counter()
        self._wall_s: float | None = None

    @property
    def instruments(self) -> list[Instrument]:
        """To be given to the simulated machine. The recorder comes last: it takes what the others look at."""
        return [*self._users, *([self._recorder] if self._recorder else [])]

    @property
    def folder(self) -> Path | None:
        """The folder of the store that the run is to be kept in; None where there is none."""
        return folder_of(self._store.url) if self._store else None

    def watched(self, progress: Progress | None) -> Progress | None:
        """``progress``, which also warns once, while the trace grows, that it is large."""
        recorder = self._recorder
        if recorder is None:
            return progress

        def told(sim_ns: float, events: int, work: Work) -> None:
            if not self._warned and recorder.hops > LARGE_TRACE:
                self._warned = True
                warnings.warn(_LARGE, RuntimeWarning, stacklevel=2)
            if progress is not None:
                tell(progress, sim_ns, events, work)

        return WorkProgress(told)

    @property
    def discarded(self) -> str:
        """The end of the message of a run that fails: it is not kept."""
        return "; the run is not saved" if self._store else ""

    @property
    def traced_any(self) -> bool:
        """Whether anything was recorded that can be kept."""
        return self._recorder is not None and self._recorder.hops > 0

    def stop_clock(self) -> None:
        """The simulation is over; what follows does not count as the run's wall-clock time."""
        self._wall_s = time.perf_counter() - self._clock

    def finish(
        self,
        of: type[SomeRun],
        properties: RunProperties,
        graph: PropertyGraph,
        machine: Machine,
        log: OpLog,
        estimates: Sequence[Estimate] = (),
    ) -> SomeRun:
        """The run as an object of class ``of``; kept in the store unless nothing is traced."""
        import pyarrow as pa

        assert self._wall_s is not None, "stop_clock comes first"
        read: dict[str, list[Any]] = {}
        if any(one.table for one in self._users):
            places = {one.resource for one in machine.resources}
            try:
                read = readings.readings(self._users, places, len(properties.launches), graph)
            except UsageError as error:
                self._wrong = error
        try:
            tables = self._tables(machine, log, properties, read)
            if estimates and self._recorder is not None:
                tables["Repeat"] = pa.Table.from_pylist(list(properties.extra["repeats"]))
                tables["Beyond"] = pa.table(_beyond(machine, estimates))
        except UnicodeEncodeError as error:
            raise UsageError(f"a name in the run of '{properties.bench}' {not_utf_8(error)}") from error
        own = asdict(properties)
        extra = own.pop("extra")
        launches = [{k: v for k, v in one.items() if k != "pe_times"} for one in properties.launches]
        if launches:
            tables["RanAt"] = pa.table(ran_at(properties.launches))
        info: dict[str, Any] = {
            **own,
            "launches": launches,
            "again": dict(properties.again),
            **run_times({**own, **extra}),
            "wall_s": self._wall_s,
            "events": machine.clock.events,
            "flit_crossings": machine.fabric.flit_crossings,
            "started_at": self._started.isoformat(timespec="milliseconds"),
            "version": __version__,
            "topology": str(graph.properties["id"]),
            "topology_name": str(graph.properties["name"]),
            "hops": self._recorder.hops if self._recorder else 0,
            "tensors": log.tensors,
            "host": platform.node(),
            "user": team.user(),
            "project": team.project(),
            **extra,
        }
        if self._store is None:
            return of(info, store=None, tables=tables)
        record = RunRecord({**info, "id": self._run_id}, tables)
        run_id = self._store.keep(record, _topology_of(graph), self._detail)
        return of({**info, "id": run_id}, store=self._store)

    def check_instruments(self, run: Run) -> None:
        """Raise what was wrong with the tables of the user's instruments, without which ``run`` is kept."""
        if self._wrong is not None:
            kept = f"; saved as run {run.id}, without tables of instruments" if run.id else ""
            self._wrong.kept_run = run
            self._wrong.args = (f"{self._wrong}{kept}",)
            raise self._wrong

    def _tables(
        self, machine: Machine, log: OpLog, properties: RunProperties, read: dict[str, list[Any]]
    ) -> dict[str, pa.Table]:
        """All tables of a traced run; of an untraced one what its resources counted."""
        import pyarrow as pa

        from kernbench.engine.core.trace import arrow, use
        from kernbench.values.blocks import block_tables

        def table(columns: Mapping[str, Any]) -> pa.Table:
            return pa.table({name: arrow(values) for name, values in columns.items()})

        if self._recorder is None:
            return {"Use": table(use(machine.resources, properties.sim_ns, beyond=machine.beyond))}
        of_log = log.tables()
        ops = of_log["Op"]
        columns: dict[str, dict[str, Any]] = {
            **self._recorder.tables(
                machine.resources,
                properties.sim_ns,
                {*log.components, *read.get("resource", ())} - {""},
                partial=properties.status == PARTIAL,
                last=True,
                accesses=log.accesses_to_tcm(),
                beyond=machine.beyond,
            ),
            **of_log,
            "Launch": _launches(properties.launches),
            "Race": _races(properties.extra.get("races", ()), set(ops["number"].tolist())),
            **({"Reading": read} if read else {}),
        }
        _leave_out_unfinished(columns["Transaction"], columns["Op"])
        _add_launches(columns["Transaction"], columns["Op"])
        columns |= block_tables(log.blocks, columns["Op"], columns["Transaction"], properties.sim_ns)
        return {name: table(of_one) for name, of_one in columns.items()}


def _topology_of(graph: PropertyGraph) -> TopologyRecord:
    """``graph`` as it is kept with its runs; that of one which nobody changes is made once."""
    from kernbench.engine.machine.kept import SEALED

    if SEALED not in graph.worked_out:
        return topology_record(graph)
    found: TopologyRecord | None = graph.worked_out.get("record")
    if found is None:
        found = graph.worked_out["record"] = topology_record(graph)
    return found


_LAUNCH = ("kernel", "source", "t_submit", "t_start", "t_done", "pe_ns", "pes", "late_ns")


def _launches(launches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The archive's table Launch, without the columns that launches say nothing of."""
    known = [name for name in _LAUNCH if not launches or name in launches[0]]
    return {
        "number": [launch["launch"] for launch in launches],
        **{name: [launch[name] for launch in launches] for name in known},
    }


def _beyond(machine: Machine, estimates: Sequence[Estimate]) -> dict[str, Any]:
    """The archive's table Beyond: by what a run accounts for, what it adds to the use of each part."""
    import numpy as np

    found: dict[str, list[Any]] = {
        name: [] for name in ("repeat", "resource", "like", "bytes", "busy_ns", "wait_ns", "transactions")
    }
    for number, one in enumerate(estimates):
        assert one.counts is not None
        for row in np.flatnonzero(one.counts.any(axis=1)).tolist():
            bytes_, busy_ns, wait_ns, transactions = one.counts[row].tolist()
            like = row if one.like is None else int(one.like[row])
            values = (number, machine.resources[row].resource, machine.resources[like].resource,
                      round(bytes_), busy_ns, wait_ns, round(transactions))  # fmt: skip
            for column, value in zip(found.values(), values, strict=True):
                column.append(value)
    return found


def _races(races: Sequence[Mapping[str, Any]], ops: set[int]) -> dict[str, Any]:
    """The archive's table Race, of races between operations that are in the record."""
    kept = [race for race in races if {race["first"]["op"], race["second"]["op"]} <= ops]
    return {
        "number": list(range(len(kept))),
        "kind": [race["kind"] for race in kept],
        "touched": [race["where"] for race in kept],
        "addr": [race["address"] for race in kept],
        "bytes": [race["bytes"] for race in kept],
        "first": [race["first"]["op"] for race in kept],
        "second": [race["second"]["op"] for race in kept],
        "first_pe": [race["first"]["pe"] for race in kept],
        "second_pe": [race["second"]["pe"] for race in kept],
        "t_first": [race["first"]["t_ns"] for race in kept],
        "t_second": [race["second"]["t_ns"] for race in kept],
    }


def _leave_out_unfinished(transactions: dict[str, Any], ops: dict[str, Any]) -> None:
    """Operations and causes that never ended, because the run failed, are not in the record."""
    import numpy as np

    for column, known in (("op", ops["number"]), ("caused_by", transactions["number"])):
        transactions[column] = np.where(np.isin(transactions[column], known), transactions[column], -1)


def _add_launches(transactions: dict[str, Any], ops: dict[str, Any]) -> None:
    """A transaction that an operation sent belongs to the launch of the operation."""
    import numpy as np

    if not len(ops["number"]):
        return
    of_op = np.full(int(ops["number"].max()) + 1, -1, np.int64)
    of_op[ops["number"]] = ops["launch"]
    sent = transactions["op"] >= 0
    transactions["launch"][sent] = of_op[transactions["op"][sent]]


def config_hash(topology_id: str, components: Mapping[str, str] | None, bench: str, **configured: Any) -> str:
    """Over everything that decides what happens: version, topology, components and ``configured``.

    Of users' components their code counts too.
    """
    places = (component.rpartition(":")[0] for component in (components or {}).values())
    code = {place: found for place in places if (found := code_hash(place))}
    content = {
        "version": __version__,
        "topology": topology_id,
        "bench": bench,
        "components": dict(components or {}),
        **({"code": code} if code else {}),
        **configured,
    }
    text = json.dumps(content, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settings_of(graph: PropertyGraph, code: Mapping[str, str], **settings: Any) -> dict[str, Any]:
    """The settings for a re-run: ``settings``, hashes of users' ``code``, and the machine's changed keys."""
    more = {"topo": changes_of(graph), "code": dict(sorted(code.items()))}
    return settings | {name: value for name, value in more.items() if value}


def tags_text(tags: Sequence[str]) -> str:
    """``tags`` as a record's properties hold them; ``UsageError`` where one is not text in UTF-8."""
    text = json.dumps(list(tags), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"a tag {not_utf_8(error)}") from error
    return text
