"""Running a bench: from a name and a topology to a :class:`Run`, kept whole or not at all."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import kernbench
from kernbench.api.result import Run, tags_text
from kernbench.api.stores import Store, keeper
from kernbench.api.topologies import Topology, as_graph, topology_record
from kernbench.errors import KernBenchError, VerificationError
from kernbench.pgraph import PropertyGraph, RunRecord

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.runtime import BenchOutcome

Progress = Callable[[float, int], None]
"""Called now and then while time is simulated, with (simulated ns, events so far)."""

Components = Mapping[str, str] | str | os.PathLike[str] | None
"""``impl`` names and the classes (``module:Class``) that carry them out, or a file of such lines."""


class RunVerificationError(VerificationError):
    """A run came to its end, but its numbers are wrong. :attr:`run` is that run; when traced, it is kept."""

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: a registered bench with checked parameters, or a bare function."""

    name: str
    run: Callable[[Any], Any]
    params: dict[str, Any]
    named: str = ""
    """How :func:`run` finds it again by name; empty for a function that it cannot."""


def run(
    bench: str | Callable[[Any], Any],
    topology: Topology = None,
    verify: bool = False,
    *,
    params: Mapping[str, object] | None = None,
    device: str = "all",
    store: Store = None,
    trace: bool = True,
    tags: Sequence[str] = (),
    progress: Progress | None = None,
    components: Components = None,
    check: bool | None = None,
    **more_params: object,
) -> Run:
    """Run a bench and keep its trace.

    ``bench`` is a name or index from ``kernbench list``, ``file.py``, ``file.py:name``, ``module:name``, or
    a function ``run(torch)``. ``topology`` is a file, the name of a shipped one, a compiled graph, or
    None for the default machine. The bench's parameters go into ``params`` or, where their names are not
    taken by this function, straight behind the others. ``device`` is ``"all"`` or ``"sip:N"``. ``store`` is
    an open store, a URL, or None for the default one. ``trace=False`` keeps nothing and records no hops;
    times are the same. With ``check`` the rules that every run keeps are checked as it goes (None: only where
    the environment variable ``KERNBENCH_CHECK`` is 1); a broken one is an ``InvariantError`` that names
    transaction, place and time.

    With ``verify`` the computed values are checked against the bench's reference. Wrong values are a
    :class:`RunVerificationError`; that run is kept, with status ``failed``. A run that raises
    (``LaunchError``, ``DeadlockError`` ...) or is interrupted is not kept.
    """
    from kernbench.runtime import run_bench
    from kernbench.sim.trace import TraceRecorder

    program = program_of(bench, {**(params or {}), **more_params})
    graph = as_graph(topology)
    extra = class_names(components)
    opened = keeper(store) if trace else None
    recorder = TraceRecorder() if trace else None
    started, clock = datetime.now(UTC), time.perf_counter()
    outcome = run_bench(
        graph,
        program,
        program.params,
        device=device,
        verify=verify,
        instruments=[recorder] if recorder else [],
        progress=progress,
        components=extra,
        traced=trace,
        check=check,
    )
    wall_s = time.perf_counter() - clock
    if outcome.error is not None and not isinstance(outcome.error, VerificationError):
        raise failed(outcome.error, kept="; the run is not kept" if trace else "")
    tables = _tables(outcome, recorder)
    properties = {
        **_figures(outcome, wall_s),
        "params": json.dumps(program.params, sort_keys=True, default=repr),
        "started_at": started.isoformat(timespec="milliseconds"),
        "version": kernbench.__version__,
        "config_hash": config_hash(program, graph, device, extra),
        "again": {"bench": program.named, "device": device, "components": dict(extra or {})},
        "seed": program.params.get("seed", -1),
        "tags": tags_text(tags),
        "topology": str(graph.properties["id"]),
        "topology_name": str(graph.properties["name"]),
        "hops": recorder.hops if recorder else 0,
        "host": platform.node(),
    }
    if opened is None:
        result = Run(properties, store=None, tables=tables)
    else:
        run_id = opened.keep(RunRecord(properties, tables), topology_record(graph))
        result = Run({**properties, "id": run_id}, store=opened)
    if outcome.error is not None:
        kept = f"; kept as run {result.id}" if result.id else ""
        raise RunVerificationError(f"{outcome.error}{kept}", result) from outcome.error
    return result


def program_of(bench: str | Callable[[Any], Any], values: Mapping[str, object]) -> Program:
    """The program that ``bench`` means, its parameters set from ``values``."""
    from kernbench.benches import list_all, resolve
    from kernbench.benches.registry import registered_in

    if callable(bench):
        known = registered_in(getattr(bench, "__module__", "")).values()
        spec = next((spec for spec in known if spec.run is bench), None)
        if spec is None:
            name = re.sub(r"[^a-z0-9]+", "-", getattr(bench, "__name__", "").lower()).strip("-")
            return Program(name or "function", bench, dict(values))
        named = spec.name if any(spec is shipped for shipped in list_all()) else ""
    else:
        spec = resolve(str(bench))
        named = spec.name if str(bench).strip().isdigit() else str(bench).strip()
    return Program(spec.name, spec.run, spec.resolve_params(values), named)


def class_names(components: Components) -> Mapping[str, str] | None:
    """The ``impl`` names and classes that ``components`` stands for."""
    if components is None or isinstance(components, Mapping):
        return components
    from pathlib import Path

    from kernbench.components.registry import read_components

    return read_components(Path(components))


def failed(error: KernBenchError, kept: str) -> KernBenchError:
    """``error`` itself, as an error of a run that had begun, its message saying what became of the run."""
    error.during_run = True
    error.args = (f"{error}{kept}", *error.args[1:])
    return error


def _tables(outcome: BenchOutcome, recorder: Any) -> dict[str, pa.Table]:
    """All tables of a traced run; of an untraced one what its resources counted."""
    import pyarrow as pa

    from kernbench.sim.trace import used

    assert outcome.machine is not None
    assert outcome.data is not None
    resources = outcome.machine.resources
    if recorder is None:
        return {"Used": pa.table(used(resources, outcome.sim_ns))}
    columns = {**recorder.tables(resources, outcome.sim_ns), **outcome.data.log.tables()}
    return {name: pa.table(table) for name, table in columns.items()}


def _figures(outcome: BenchOutcome, wall_s: float) -> dict[str, Any]:
    assert outcome.machine is not None
    return {
        "bench": outcome.bench,
        "status": "ok" if outcome.ok else "failed",
        "sim_ns": outcome.sim_ns,
        "wall_s": wall_s,
        "verified": outcome.verified,
        "events": outcome.machine.clock.events,
        "flit_crossings": outcome.machine.fabric.flit_crossings,
        "launches": [
            {
                "launch": number,
                "kernel": launch.name,
                "pes": launch.pes,
                "t_submit": launch.t_submit,
                "t_start": launch.t_start,
                "t_done": launch.t_done,
                "latency_ns": launch.t_done - launch.t_start,
            }
            for number, launch in enumerate(outcome.launches)
        ],
    }


def config_hash(
    program: Program, graph: PropertyGraph, device: str, components: Mapping[str, str] | None
) -> str:
    """Over everything that decides what happens: version, topology, bench with its source, settings."""
    try:
        code = inspect.unwrap(program.run)
        source = inspect.getsource(inspect.getmodule(code) or code)
    except (OSError, TypeError):
        source = ""  # typed into an interpreter
    configured = {
        "version": kernbench.__version__,
        "topology": graph.properties["id"],
        "bench": program.name,
        "source": source,
        "params": program.params,
        "device": device,
        "components": dict(components or {}),
    }
    text = json.dumps(configured, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
