"""Tuning: run a program once for each configuration of its autotuned kernels, and find the fastest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from kernbench.api.running import Program, RunVerificationError, program_of, run_program
from kernbench.api.shown import Shows
from kernbench.api.stores import Store, borrowed
from kernbench.api.topologies import Components, Topology, kept_machine
from kernbench.engine.run_options import RunOptions, ShareProgress
from kernbench.errors import KernBenchError, UsageError, headline, nothing_checked
from kernbench.support.pgraph import run_times
from kernbench.support.time_limit import limited

if TYPE_CHECKING:
    from kernbench.api.result import Run
    from kernbench.language import Autotuned, Choices
    from kernbench.language.autotune import Choice, Config, Key


@dataclass(frozen=True, slots=True)
class Point:
    """One configuration of one kernel for one key, measured.

    ``latency_ns`` and its part ``launch_ns`` are of the kernel's launches with that key what a run's are of
    all its launches (:attr:`kernbench.Run.latency_ns`); None where the run failed, and ``error`` says why.
    ``run_id`` is the kept run, else empty. ``energy_pj`` is the energy of these launches, where that is what
    was tuned for.
    """

    kernel: str
    key: Key
    config: dict[str, Any]
    latency_ns: float | None
    launch_ns: float | None
    run_id: str
    best: bool = False
    error: str = ""
    energy_pj: float | None = None

    def cost(self, goal: str) -> float | None:
        """What is least at the best point: time, energy, or their product; None where the run failed."""
        energy, latency = self.energy_pj, self.latency_ns
        if goal == "latency" or latency is None or energy is None:
            return latency if goal == "latency" else None
        return energy if goal == "energy" else energy * latency

    def as_dict(self) -> dict[str, Any]:
        """The point as JSON shows it."""
        names = ("kernel", "key", "config", "latency_ns", "launch_ns", "best", "run_id", "error")
        energy = (
            {} if self.energy_pj is None else {"energy_pj": self.energy_pj, "edp_pj_ns": self.cost("edp")}
        )
        return {name: getattr(self, name) for name in names} | {"key": dict(self.key)} | energy


@dataclass(frozen=True, slots=True)
class Tuning(Shows):
    """The points that were measured, in order, with the best one of each kernel and key marked."""

    bench: str
    points: tuple[Point, ...]
    goal: str = "latency"
    """What is least at the best."""

    shown_by = "points:of_tuning"

    @property
    def best(self) -> list[Point]:
        """The best point of each kernel and key."""
        return [point for point in self.points if point.best]

    @property
    def untuned(self) -> list[str]:
        """Kernels with no configuration that worked."""
        found = {point.kernel for point in self.best}
        return list(dict.fromkeys(point.kernel for point in self.points if point.kernel not in found))

    @property
    def settings(self) -> dict[str, Any]:
        """The best configurations as parameters of a run, such as ``{"scale.BLOCK": 64}``."""
        alone = {p.kernel for p in self.best if sum(q.kernel == p.kernel for q in self.best) == 1}
        found: dict[str, Any] = {}
        for point in self.best:
            key = () if point.kernel in alone else point.key
            found |= settings_of(point.kernel, point.config, key)
        return found

    @property
    def best_run(self) -> str:
        """The id of the run with the best configuration of every kernel; empty where none worked or was kept.

        Kernels are tuned with the best configurations of the earlier ones, so it is that of the last kernel.
        """
        return self.best[-1].run_id if self.best else ""

    def as_dict(self) -> dict[str, Any]:
        """``bench``, ``points``, ``settings`` and ``best_run``."""
        return {
            "bench": self.bench,
            "points": [point.as_dict() for point in self.points],
            "settings": self.settings,
            "best_run": self.best_run,
        }


def tune(
    bench: str | Callable[[Any], Any],
    topology: Topology = None,
    verify: bool = False,
    *,
    params: Mapping[str, object] | None = None,
    device: str | None = None,
    store: Store = None,
    tags: Sequence[str] = (),
    project: str | None = None,
    user: str | None = None,
    progress: ShareProgress | None = None,
    on_point: Callable[[Point], None] | None = None,
    components: Components = None,
    topo: Mapping[str, object] | None = None,
    max_ns: float | None = None,
    max_events: int | None = None,
    timeout: float | None = None,
    exact: bool = False,
    goal: str = "latency",
) -> Tuning:
    """Find the best configuration, by default the fastest in simulated time, of each autotuned kernel.

    The bench is run once for each configuration of a kernel, and each run is kept like one of
    :func:`kernbench.run`, which has the same arguments. Several kernels are tuned one after the other, the
    later ones with the best configurations of the earlier. A configuration that fails, or with ``verify``
    gives wrong values, is a point with an error; the others go on, and so do other keys: the bench is run
    again with another configuration in its place. Launches later in this process take what was found.

    Args:
        on_point: Called with every point as it is measured; none is ``best`` yet.
        goal: What is least at the best: ``latency``, ``energy`` (:func:`kernbench.energy`, of the kernel's
            launches) or ``edp``, the product of both.

    Raises:
        UsageError: The bench launches no kernel with configurations (:func:`kernbench.autotune`), or there
            is no such goal.
    """
    if goal not in TUNING_GOALS:
        raise UsageError(f"goal is '{goal}', expected one of {', '.join(TUNING_GOALS)}")
    with limited(timeout):
        program = program_of(bench, params or {})
        if program.settings:
            raise UsageError(f"parameter '{next(iter(program.settings))}' is chosen by tune; leave it out")
        graph, extra = kept_machine(topology, topo, components)
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
    with borrowed(store) as opened:

        def measure(settings: Mapping[str, Any], choices: Choices, share: float) -> Run:
            def shown(sim_ns: float, events: int) -> None:
                if progress is not None:
                    progress(sim_ns, events, share)

            run = run_program(
                replace(program, settings=dict(settings)),
                graph,
                extra,
                opened,
                replace(options, progress=shown),
                choices=choices,
            )
            if run.nothing_checked:
                raise nothing_checked(program.name)
            return run

        return Tuner(program, measure, on_point or (lambda _point: None), goal=goal).tune()


TUNING_GOALS = ("latency", "energy", "edp")
"""What a kernel can be tuned for."""
Measured = tuple["Run | None", KernBenchError | None, "Choices"]


@dataclass
class Tuner:
    """Tunes the kernels of one program, as it comes to know them.

    ``measure`` makes a run with some settings, fills the choices that it is given, and says how far it is.
    ``errors`` has the error of every run that failed.
    """

    program: Program
    measure: Callable[[Mapping[str, Any], Choices, float], Run]
    on_point: Callable[[Point], None]
    points: list[Point] = field(default_factory=list)
    errors: list[KernBenchError] = field(default_factory=list)
    goal: str = "latency"
    _known: dict[str, Autotuned] = field(default_factory=dict)
    _keys: dict[str, dict[Key, None]] = field(default_factory=dict)
    _chosen: dict[str, Any] = field(default_factory=dict)
    _tuned: set[str] = field(default_factory=set)
    _runs: int = 0
    _saw_all: bool = False
    """A run came to its end: all kernels and keys are known."""
    _failures: list[tuple[str, Key, Config, Measured]] = field(default_factory=list)
    """Configurations that failed: of which kernel, for which key, and in which run."""

    def tune(self) -> Tuning:
        """Run all points."""
        first: Measured | None = self._run({})  # every kernel with its first configuration
        if not self._known:
            if self.errors:
                raise self.errors[0]
            raise UsageError(
                f"bench '{self.program.name}' launches no kernel with configurations; decorate it with "
                '@kb.autotune(configs=[{"BLOCK": 64}, ...])'
            )
        while name := next((name for name in self._known if name not in self._tuned), ""):
            for config in self._known[name].configs:
                self._measure(name, config, first)
                first = None
            self._mark(name)
            self._tuned.add(name)
        return Tuning(self.program.name, tuple(self.points), self.goal)

    def _run(self, settings: Mapping[str, Any]) -> Measured:
        from kernbench.language import Choices

        known = sum(len(kernel.configs) for kernel in self._known.values())
        given = {**self._chosen, **settings}
        choices = Choices(given, tuning=True)
        run: Run | None = None
        error: KernBenchError | None = None
        try:
            run = self.measure(given, choices, min(1.0, self._runs / max(known, 1)))
        except RunVerificationError as wrong:
            run, error = wrong.run, wrong
        except KernBenchError as failure:
            if not failure.during_run:
                raise
            error = failure
        self._runs += 1
        self._saw_all |= run is not None
        self.errors += [] if error is None else [error]
        for choice in choices.made:
            self._known[choice.kernel.name] = choice.kernel
            self._keys.setdefault(choice.kernel.name, {})[choice.key] = None
            fixed = [name for name in choice.kernel.configs[0] if name not in choice.config]
            if fixed:
                raise UsageError(
                    f"kernel '{choice.kernel.name}': '{fixed[0]}' is given at the launch and in the "
                    "configurations; leave it out at the launch"
                )
        return run, error, choices

    def _measure(self, name: str, config: Config, measured: Measured | None) -> None:
        """Make a point of a configuration for each key of the kernel.

        Where a launch fails, its kernel takes another configuration for that key, and the bench is run again.
        So the other keys, and the other kernels, are measured all the same.
        """
        measured = measured or self._run(self._mixed(name, config))
        while (failed := self._blamed(measured)) and self._left(failed.kernel.name, failed.key):
            if self._saw_all and all(self._failure(name, key, config) for key in self._keys[name]):
                break
            measured = self._run(self._mixed(name, config))
        together = measured[1] is None or failed is not None or len(self._keys[name]) == 1
        for key in list(self._keys[name]):
            # A failure that is not of one launch: each key by itself, with what has worked for the others.
            one = measured if together else self._run(self._mixed(name, config, key))
            self._take(name, key, config, one)

    def _mixed(self, name: str, config: Config, only: Key | None = None) -> dict[str, Any]:
        """Settings with ``config`` for all keys of a kernel, or one, for which it has not failed."""
        found = settings_of(name, config)
        for kernel, keys in self._keys.items():
            for key in keys:
                tried = kernel == name and only in (None, key) and self._failure(kernel, key, config) is None
                found |= settings_of(kernel, config if tried else self._worked(kernel, key), key)
        return found

    def _worked(self, kernel: str, key: Key) -> Config:
        """The best configuration for a key, else one that has worked, or at least has not failed."""
        good = [p for p in self.points if (p.kernel, p.key) == (kernel, key) and not p.error]
        if good:
            return max(good, key=lambda point: point.best).config
        return next(iter(self._left(kernel, key)), self._known[kernel].configs[0])

    def _left(self, kernel: str, key: Key) -> list[Config]:
        """The configurations that have not failed for a key."""
        return [one for one in self._known[kernel].configs if self._failure(kernel, key, one) is None]

    def _failure(self, kernel: str, key: Key, config: Config) -> Measured | None:
        """The run in which a configuration failed for a key."""
        return next((m for *which, m in self._failures if which == [kernel, key, config]), None)

    def _blamed(self, measured: Measured) -> Choice | None:
        """The choice of the launch that failed; it is noted, and None where the error is not of a launch."""
        _, error, choices = measured
        launch = getattr(error, "launch", -1)
        made = next((one for one in choices.made if one.launch == launch), None) if error else None
        if made is not None:
            self._failures.append((made.kernel.name, made.key, made.config, measured))
        return made

    def _take(self, name: str, key: Key, config: Config, measured: Measured) -> None:
        """Make a point of the run, or of the one in which the configuration failed for this key."""
        run, error, choices = self._failure(name, key, config) or measured
        launches = [c.launch for c in choices.made if c.kernel.name == name and c.key == key]
        latency = launch = energy = None
        if run is not None and error is None and launches:
            latency, launch = run_times(run.properties, launches).values()
            energy = self._energy(run, launches)
        missing = "not launched with this key" if error is None else headline(error)
        problem = "" if latency is not None else missing
        kept = run.id if run else ""
        point = Point(name, key, dict(config), latency, launch, kept, error=problem, energy_pj=energy)
        self.points.append(point)
        self.on_point(point)

    def _energy(self, run: Run, launches: Sequence[int]) -> float | None:
        if self.goal == "latency":
            return None
        from kernbench.api.energy_use import launches_pj

        each = launches_pj(run)
        return fsum(each[n] for n in launches)

    def _mark(self, name: str) -> None:
        """Mark the best point of each key, and let later launches take it."""
        kernel = self._known[name]
        for key in self._keys[name]:
            own = [i for i, p in enumerate(self.points) if (p.kernel, p.key) == (name, key)]
            good = [i for i in own if self.points[i].latency_ns is not None]
            if not good:
                continue
            best = min(good, key=self._cost)
            self.points[best] = replace(self.points[best], best=True)
            kernel.best[key] = self.points[best].config
            self._chosen |= settings_of(name, self.points[best].config, key)

    def _cost(self, index: int) -> float:
        cost = self.points[index].cost(self.goal)
        assert cost is not None
        return round(cost, 6)  # of equal ones the first, whatever the last bits are


def settings_of(name: str, config: Config, key: Key = ()) -> dict[str, Any]:
    """A configuration as settings of a run."""
    from kernbench.language.autotune import settings

    return settings(name, key, config)
