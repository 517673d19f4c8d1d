"""Sweeps: a bench over many parameters and topologies, each point a kept run, none run twice."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kernbench.api.active_runs import UnderWay
from kernbench.api.kept_runs import move_new_run, tag
from kernbench.api.open_runs import runs as all_runs
from kernbench.api.result import Run
from kernbench.api.running import Program, bench_hash
from kernbench.api.stores import Store, borrowed, folder_of, keeper
from kernbench.api.sweeps.anomalies import anomalies
from kernbench.api.sweeps.executors import JobExecutor, executor_of
from kernbench.api.sweeps.grid import GridPoint, grid
from kernbench.api.sweeps.jobs import (
    CompiledMachine,
    MachineJob,
    Measured,
    PointJob,
    measured,
    sweep_program,
)
from kernbench.api.sweeps.result import Sweep, SweepPoint, median_of
from kernbench.api.topologies import Components, Topology
from kernbench.draw.progress import PieceProgress, of_points
from kernbench.engine.run_options import RunOptions
from kernbench.errors import KernBenchError, UsageError
from kernbench.hardware.topology.dram import PHASE_KEY
from kernbench.hardware.topology.marked_yaml import load_value
from kernbench.support.bounds import check_number
from kernbench.support.pgraph import GraphStore, PropertyGraph, ScratchFolder
from kernbench.support.time_limit import interruptible, limited
from kernbench.workloads.benches.user import place_of

_NONE = CompiledMachine()
_ANSWERED = ("latency_ns", "sim_ns", "verified", "run_id", "error", "estimated")
"""What a point has of its :class:`Measured`."""
_LOOK_S = 0.5
"""How often the progress is shown while no point ends."""


def sweep(
    bench: str | Callable[[Any], Any] | None = None,
    topology: Topology | Sequence[str] = None,
    verify: bool = False,
    *,
    file: str | os.PathLike[str] | None = None,
    params: Mapping[str, object] | None = None,
    topo: Mapping[str, object] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    device: str | None = None,
    store: Store = None,
    tags: Sequence[str] | None = None,
    project: str | None = None,
    user: str | None = None,
    jobs: int = 1,
    executor: str | None = None,
    scheduler: str | None = None,
    components: Components = None,
    fresh: bool = False,
    only_kept: bool = False,
    progress: PieceProgress | None = None,
    on_point: Callable[[SweepPoint], None] | None = None,
    max_ns: float | None = None,
    max_events: int | None = None,
    timeout: float | None = None,
    exact: bool = False,
    phases: int = 1,
) -> Sweep:
    """Run a bench at every combination of the values of ``params``, ``topo`` and ``topology``.

    A value may be a list or, as text, a list with ranges: ``"1,2,4"``, ``"8..64+8"``, ``"8..128*2"``. Each
    point is a kept run like one of :func:`kernbench.run`, which has the same arguments. A point whose
    configuration the store has a run of is not run again, so the same call completes a sweep that was
    stopped. A point that fails is a row with its error, and the others go on.

    Args:
        file: A YAML file with ``bench topology device verify tags set topo phases exact points``; arguments
            given here come before what it says.
        points: Points, or grids of their own, instead of one grid: mappings with ``params``, ``topo`` and
            ``topology``, which come before the common ones.
        tags: Tags of the runs, also of those kept before. By default ``sweep-`` and the bench's name.
        jobs: Processes that run points. With 1 the points of a function or a shipped bench, and of a store
            that is not a folder, run here; more need a bench that can be found by name.
        executor: ``"local"``, or ``"dask"``: the workers of a Dask cluster, which return runs as
            archives. It needs the extra ``kernbench[dask]``.
        scheduler: The address of that cluster's scheduler, which has its own number of workers. Without,
            ``jobs`` workers are started here for the length of the call.
        fresh: Run points that are kept as well.
        progress: Called with how far the sweep is: ``done``, ``total`` and, in words, ``text``.
        only_kept: Run nothing; a point that is not kept is a row with an error.
        on_point: Called with each point as it is done, in the order in which they end.
        phases: At how many phases of its refresh a machine with refreshed memory runs each point, evenly
            spread over the period. A point is then the run with the median latency.

    Raises:
        UsageError: No point can start, a range is wrong, or there are too many points.
    """
    if file is not None:
        from kernbench.api.sweeps.file import read_sweep

        said = read_sweep(file)
        bench, device = bench or said.bench, device or said.device
        topology = said.topology if topology is None else topology
        verify = verify or said.verify
        params, topo = {**said.set, **(params or {})}, {**said.topo, **(topo or {})}
        points = [one.model_dump() for one in said.points] if points is None and said.points else points
        tags = said.tags if tags is None else tags
        phases = said.phases if phases == 1 else phases
        exact = exact or said.exact
    if bench is None:
        raise UsageError(
            f"'{file}' names no bench; add the line 'bench: NAME'" if file else "name a bench to sweep"
        )
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs is {jobs}; it must be 1 or more")
    check_number("phases", phases, 1, 1000)
    topologies = list(topology) if isinstance(topology, list | tuple) else [topology]
    with limited(timeout):
        planned = _plan(bench, grid(topologies, params, topo, points))
    program = next(plan.program for plan in planned if plan.program)
    elsewhere = jobs > 1 or scheduler is not None or executor == "dask"
    if elsewhere and callable(bench) and not program.named:
        raise UsageError(
            "a function is swept with jobs=1 in this process; put it into a file with @bench to use others"
        )
    tags = tuple([f"sweep-{program.name}"] if tags is None else tags)
    options = RunOptions(
        verify=verify,
        device=device,
        tags=tags,
        project=project,
        user=user,
        max_ns=max_ns,
        max_events=max_events,
        timeout=timeout,
        exact=exact,
    )
    with borrowed(keeper(store)) as opened, UnderWay(folder_of(opened.url), f"sweep {program.name}") as going:
        counter = _Counter(len(planned), progress, on_point, going)
        # Users' code may end its process, by os._exit or a fault of a library: that must not be this one.
        apart = not callable(bench) and place_of(program.named) != "" and folder_of(opened.url) is not None
        with _executing(executor, scheduler, jobs, counter, apart) as workers:
            kept = {} if fresh else _by_hash(opened, program.name, options)
            run = _Sweeping(
                bench, planned, workers, opened, components, options, counter, kept, only_kept, phases
            )
            found = run.all()
            odd = anomalies(found, opened)
    if all(point.error and not point.run_id for point in found) and not run.began and not only_kept:
        raise UsageError(f"no point of the sweep can start; the first: {found[0].error}")
    return Sweep(program.name, tuple(found), tuple(odd))


@dataclass
class _Plan:
    """A point, its program and resolved parameters, or why it cannot be run."""

    number: int
    point: GridPoint
    program: Program | None = None
    params: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    phase: int = 0

    def at_phase(self, phase: int, of: int) -> _Plan:
        """The same while refresh is at another phase, one ``of`` so many."""
        return replace(
            self, phase=phase, point=replace(self.point, topo={**self.point.topo, PHASE_KEY: phase / of})
        )

    @property
    def machine(self) -> str:
        """Equal for points of one machine."""
        topology = self.point.topology
        base = f"graph {id(topology)}" if isinstance(topology, PropertyGraph) else f"file {topology}"
        return json.dumps([base, sorted((key, str(value)) for key, value in self.point.topo.items())])


def _plan(bench: str | Callable[[Any], Any], points: Iterable[GridPoint]) -> list[_Plan]:
    """All points with their parameters; ``UsageError`` where none has good ones."""
    found = []
    first: KernBenchError | None = None
    for number, point in enumerate(points, 1):
        plan = _Plan(number, point)
        try:
            program = sweep_program(bench, point.params)
        except UsageError as error:
            first = first or error
            plan.problem, plan.params = str(error), _values(point.params)
        else:
            plan.program = program
            plan.params = {**program.params, **program.settings}
        found.append(plan)
    if first is not None and all(plan.problem for plan in found):
        raise first
    return found


@contextmanager
def _executing(
    name: str | None, scheduler: str | None, jobs: int, counter: _Counter, apart: bool
) -> Iterator[JobExecutor]:
    executor = executor_of(name, scheduler, jobs, counter.simulating, apart)
    try:
        yield executor
    finally:
        executor.stop()


@dataclass
class _Counter:
    """Counts points and guesses when the last will be done."""

    total: int
    progress: PieceProgress | None
    on_point: Callable[[SweepPoint], None] | None
    going: UnderWay
    done: int = 0
    kept: int = 0
    failed: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, point: SweepPoint) -> None:
        """Count a point that is done."""
        self.done += 1
        self.kept += point.kept_before
        self.failed += bool(point.error)
        if self.on_point is not None:
            self.on_point(point)
        self.show()

    def simulating(self, _sim_ns: float, _events: int) -> None:
        """Show the progress while a point is simulated in this process."""
        self.show()

    def show(self) -> None:
        """Report how far the sweep is."""
        new = self.done - self.kept
        spent = time.monotonic() - self.began
        left = spent / new * (self.total - self.done) if new else None
        standing = of_points(self.done, self.total, self.kept, self.failed, left)
        self.going.tell(lambda _: standing.text)
        if self.progress is not None:
            self.progress(standing)


@dataclass
class _Sweeping:
    """One sweep under way: machines are compiled as they are needed, each once, before their points."""

    bench: str | Callable[[Any], Any]
    plans: Sequence[_Plan]
    executor: JobExecutor
    store: GraphStore
    components: Components
    options: RunOptions
    counter: _Counter
    kept: Mapping[str, Run]
    only_kept: bool
    phases: int
    began: bool = False
    """Whether any point could start: its parameters and its machine were right."""
    _rows: dict[int, dict[int, SweepPoint]] = field(default_factory=dict)
    """By number of the point and of its phase."""
    _interrupted: bool = False

    def all(self) -> list[SweepPoint]:
        """Run what is not kept."""
        groups: dict[str, list[_Plan]] = {}
        for plan in self.plans:
            if plan.problem:
                self._row(plan, Measured(error=plan.problem))
            else:
                groups.setdefault(plan.machine, []).append(plan)
        with ScratchFolder() as folder, interruptible(self._interrupt):
            self._run_groups(deque(groups.values()), str(folder))
        found = ([rows[phase] for phase in sorted(rows)] for _, rows in sorted(self._rows.items()))
        return [median_of(rows) if len(rows) > 1 else rows[0] for rows in found]

    def _interrupt(self) -> None:
        self._interrupted = True

    def _run_groups(self, groups: deque[list[_Plan]], folder: str) -> None:
        # Stores that workers cannot write are written by this process: their runs are kept in a folder first.
        direct = self.executor.shared_memory or (
            self.executor.shared_files and folder_of(self.store.url) is not None
        )
        target: Store = self.store if self.executor.shared_memory else os.path.abspath(
            self.store.url if direct else os.path.join(folder, "runs")
        )  # fmt: skip
        ready: deque[tuple[_Plan, CompiledMachine]] = deque()
        suspects: deque[tuple[_Plan, CompiledMachine]] = deque()
        under_way: dict[Future[Any], Callable[[Any], None]] = {}
        left: dict[int, int] = {}

        def compiled(plans: list[_Plan], machine: CompiledMachine) -> None:
            left[id(machine)] = 0
            if machine.refreshes and not plans[0].phase and PHASE_KEY not in plans[0].point.topo:
                more = [[plan.at_phase(n, self.phases) for plan in plans] for n in range(1, self.phases)]
                groups.extend(more)
                self.counter.total += sum(map(len, more))
            for plan in plans:
                if machine.error:
                    self._row(plan, Measured(error=machine.error))
                elif self._found(plan, machine):
                    continue
                elif self.only_kept:
                    self._row(plan, Measured(error="the store holds no run of this point"), machine)
                else:
                    self.began = True
                    ready.append((plan, machine))
                    left[id(machine)] += 1
            if not left[id(machine)]:
                machine.forget()

        def done_with(plan: _Plan, machine: CompiledMachine, alone: bool, answer: Measured) -> None:
            if answer.suspect and not alone:
                suspects.append((plan, machine))
                return
            if answer.run_id and not direct:
                move_new_run(answer.run_id, answer.folder or target, self.store)
                if answer.folder:
                    shutil.rmtree(answer.folder, ignore_errors=True)
            self._row(plan, answer, machine)
            left[id(machine)] -= 1
            if not left[id(machine)]:
                machine.forget()

        def begin(plan: _Plan, machine: CompiledMachine, alone: bool = False) -> None:
            job = PointJob(self.bench, plan.point.params, machine, target, self.options)
            under_way[self.executor.submit(job)] = partial(done_with, plan, machine, alone)

        while ready or groups or under_way or suspects:
            if not (ready or groups or under_way):  # alone, so that it is clear whose fault it is
                begin(*suspects.popleft(), alone=True)
            while len(under_way) < self.executor.at_once and (ready or groups):
                if ready:
                    begin(*ready.popleft())
                else:
                    plans = groups.popleft()
                    where = "" if self.executor.shared_memory else folder
                    point = plans[0].point
                    compiling = MachineJob(
                        point.topology, point.topo, self.components, where, self.options.timeout
                    )
                    under_way[self.executor.submit(compiling)] = partial(compiled, plans)
            done, _ = wait(under_way, _LOOK_S, FIRST_COMPLETED)
            self.counter.show()
            if not done:
                self.executor.check()
            for future in done:
                under_way.pop(future)(future.result())
            if self._interrupted:
                raise KeyboardInterrupt

    def _found(self, plan: _Plan, machine: CompiledMachine) -> bool:
        """Whether the store holds a run of this point; then that is its row."""
        assert plan.program is not None
        asked = partial(bench_hash, plan.program, machine.topology_id, self.options.device, machine.classes)
        # Only a run in which something was alike is kept as an exact one.
        run = self.kept.get(asked(exact=True)) if self.options.exact else None
        run = run or self.kept.get(asked())
        if run is None:
            return False
        self.began = True
        if missing := [text for text in self.options.tags if text not in run.tags]:
            tag(run.id, missing, store=self.store)
        self._row(plan, measured(run), machine, kept=True)
        return True

    def _row(
        self, plan: _Plan, answer: Measured, machine: CompiledMachine = _NONE, kept: bool = False
    ) -> None:
        given = plan.point.topology
        shown = machine.name or (
            "default" if given is None else getattr(given, "properties", {}).get("name", given)
        )
        figures = {name: getattr(answer, name) for name in _ANSWERED}
        phases = 1 if machine.refreshes else None
        settings = plan.params, _values(plan.point.topo)
        row = SweepPoint(plan.number, str(shown), *settings, kept_before=kept, phases=phases, **figures)
        self._rows.setdefault(plan.number, {})[plan.phase] = row
        self.counter.add(row)


def _values(given: Mapping[str, object]) -> dict[str, Any]:
    """Settings as the run gets them: texts of a command line are read as YAML."""
    return {key: load_value(value) if isinstance(value, str) else value for key, value in given.items()}


def _by_hash(store: GraphStore, bench: str, options: RunOptions) -> dict[str, Run]:
    """The newest kept run of each configuration of a bench, of those that are verified or exact as asked.

    A run whose operations were compared one by one does not say whether its results were compared as well.
    """
    found: dict[str, Run] = {}
    for run in all_runs(store, project=""):
        asked = (run.verified is not None or run.nothing_checked) and "ops_verified" not in run.info
        checked = asked if options.verify else run.info["status"] == "ok"
        estimated = options.exact and "repeats" in run.info
        if run.bench == bench and run.info["status"] in ("ok", "failed") and checked and not estimated:
            found[run.asked_hash] = run
    return found
