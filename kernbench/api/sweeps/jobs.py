"""The work of a sweep that may be done in any process: compiling a machine, running a point."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernbench.api.kept_runs import remove
from kernbench.api.result import Run
from kernbench.api.running import Program, RunVerificationError, program_of, run_program
from kernbench.api.stores import Store
from kernbench.api.topologies import Components, Topology, kept_machine
from kernbench.engine.run_options import Progress, RunOptions
from kernbench.errors import KernBenchError, headline
from kernbench.hardware.topology.dram import refreshes
from kernbench.support.pgraph import PropertyGraph, RunNotFoundError
from kernbench.support.time_limit import limited

_KEPT_IN_MEMORY = 2
"""Machines that a process holds at a time."""
_loaded: OrderedDict[str, PropertyGraph] = OrderedDict()


@dataclass(frozen=True, slots=True)
class MachineJob:
    """Compile a topology. ``folder`` is where the machine goes for other processes; empty keeps it here."""

    topology: Topology
    topo: Mapping[str, object]
    components: Components
    folder: str
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class CompiledMachine:
    """A compiled topology, in memory, in a file or elsewhere. ``error`` says why there is none."""

    topology_id: str = ""
    name: str = ""
    classes: Mapping[str, str] | None = None
    graph: PropertyGraph | None = None
    file: str = ""
    error: str = ""
    refreshes: bool = False
    """Whether its memory is refreshed now and then, so that times depend on when something is asked of it."""
    remote: Any = None
    """The machine on a cluster; it is kept there as long as this is."""

    @classmethod
    def of(cls, graph: PropertyGraph, classes: Mapping[str, str] | None) -> CompiledMachine:
        """A machine in memory."""
        own = graph.properties
        return cls(str(own["id"]), str(own["name"]), classes, graph, refreshes=refreshes(graph))

    def load(self) -> PropertyGraph:
        """The compiled graph; of files the last ones read are at hand."""
        if self.graph is not None:
            return self.graph
        if self.file not in _loaded:
            with open(self.file, "rb") as stream:
                _loaded[self.file] = pickle.load(stream)
            while len(_loaded) > _KEPT_IN_MEMORY:
                _loaded.popitem(last=False)
        _loaded.move_to_end(self.file)
        return _loaded[self.file]

    def forget(self) -> None:
        """Let go of it; nothing else needs it."""
        if self.file:
            Path(self.file).unlink(missing_ok=True)
        if self.remote is not None:
            self.remote.release()


@dataclass(frozen=True, slots=True)
class PointJob:
    """Run one point, and keep it in ``store``.

    ``named`` is the bench's name in the record where it goes by another one here. ``run_id`` is the id that
    the run is kept under; empty takes a new one.
    """

    bench: str | Callable[[Any], Any]
    params: Mapping[str, object]
    machine: CompiledMachine
    store: Store
    options: RunOptions
    named: str = ""
    run_id: str = ""

    def undo(self) -> None:
        """Remove what was kept under ``run_id``, by a process that died before it could say so."""
        with suppress(RunNotFoundError):
            remove([self.run_id], self.store)


@dataclass(frozen=True, slots=True)
class Measured:
    """The run of a point. Where there is none ``run_id`` is empty and ``error`` says why.

    ``folder`` is a store of its own in which the run came back; empty where it is in that of the job.
    ``suspect``: processes died, of it or of a job beside it.
    """

    run_id: str = ""
    latency_ns: float | None = None
    sim_ns: float | None = None
    verified: bool | None = None
    error: str = ""
    folder: str = ""
    suspect: bool = False
    estimated: bool = False


Job = MachineJob | PointJob


def do(job: Job, progress: Progress | None = None) -> CompiledMachine | Measured:
    """Do a job. A mistake in what is simulated is in the answer; anything else is raised."""
    if isinstance(job, MachineJob):
        return compile_machine(job)
    return measure(job, progress)


def compile_machine(job: MachineJob) -> CompiledMachine:
    """The machine that a topology describes."""
    try:
        with limited(job.timeout):
            graph, classes = kept_machine(job.topology, job.topo, job.components)
    except KernBenchError as error:
        return CompiledMachine(error=str(error))
    found = CompiledMachine.of(graph, classes)
    if not job.folder:
        return found
    handle, path = tempfile.mkstemp(dir=job.folder, suffix=".machine")
    with os.fdopen(handle, "wb") as stream:
        pickle.dump(graph, stream, pickle.HIGHEST_PROTOCOL)
    return replace(found, graph=None, file=path)


def sweep_program(bench: str | Callable[[Any], Any], params: Mapping[str, object]) -> Program:
    """The program of a point; its kernels' configurations are text, however they were given."""
    program = program_of(bench, params)
    return replace(program, settings={name: str(value) for name, value in program.settings.items()})


def measure(job: PointJob, progress: Progress | None = None) -> Measured:
    """Run a point; what fails in it is its ``error``."""
    from kernbench.language import Choices

    try:
        began = time.monotonic()
        with limited(job.options.timeout):
            program = sweep_program(job.bench, job.params)
        program = replace(program, named=job.named or program.named)
        run = run_program(
            program,
            job.machine.load(),
            job.machine.classes,
            job.store,
            replace(job.options, progress=progress, spent_s=time.monotonic() - began),
            choices=Choices(program.settings, remember=False),
            mark_asked=True,
            run_id=job.run_id,
        )
    except RunVerificationError as wrong:
        run = wrong.run
    except KernBenchError as error:
        return Measured(error=headline(error))
    return measured(run)


def measured(run: Run) -> Measured:
    """What a kept run says of its point."""
    estimated = bool(run.accounted)
    return Measured(run.id, run.latency_ns, run.sim_ns, run.verified, run.problem, estimated=estimated)
