"""Running a bench: from a name and a topology to a :class:`Run`, kept whole or not at all."""

from __future__ import annotations

import inspect
import json
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from kernbench.api import team
from kernbench.api.active_runs import UnderWay
from kernbench.api.recording import Recording, RunProperties, config_hash, settings_of, tags_text
from kernbench.api.result import Run
from kernbench.api.stores import Store
from kernbench.api.topologies import Components, Topology, kept_machine
from kernbench.engine.run_options import Progress, RunOptions
from kernbench.errors import DeadlockError, KernBenchError, UsageError, VerificationError
from kernbench.hardware.topology.places import places
from kernbench.support import compiled
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.time_limit import limited
from kernbench.support.user_modules import hash_of_loaded, noted

if TYPE_CHECKING:
    from kernbench.engine.core.instrument import Instrument
    from kernbench.host.estimates import Estimate
    from kernbench.host.launching import LaunchRecord
    from kernbench.host.session import BenchOutcome
    from kernbench.language import Choices
    from kernbench.workloads.benches import BenchSpec


class RunVerificationError(VerificationError):
    """A run came to its end, but values are wrong, or accesses race.

    :attr:`run` is that run; when traced, it is kept.
    """

    def __init__(self, message: str, run: Run, *, launch: int = -1) -> None:
        super().__init__(message, launch=launch)
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.run), vars(self)


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run: a registered bench with checked parameters, or a bare function."""

    name: str
    run: Callable[[Any], Any]
    params: dict[str, Any]
    named: str = ""
    """How :func:`run` finds it again by name; empty for a function that it cannot."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Configurations of autotuned kernels, by ``kernel.parameter``."""
    reads: bool = False
    """Whether it is a script, whose host code looks at results: these are worked out, asked or not."""


def run(
    bench: str | Callable[[Any], Any],
    topology: Topology = None,
    verify: bool | Literal["ops"] = False,
    *,
    params: Mapping[str, object] | None = None,
    device: str | None = None,
    store: Store = None,
    trace: bool = True,
    tags: Sequence[str] = (),
    project: str | None = None,
    user: str | None = None,
    progress: Progress | None = None,
    components: Components = None,
    topo: Mapping[str, object] | None = None,
    check: bool | None = None,
    max_ns: float | None = None,
    max_events: int | None = None,
    timeout: float | None = None,
    detail: str = "full",
    keep_partial: bool = False,
    exact: bool = False,
    strict_device: bool = False,
    instruments: Sequence[Instrument | str] = (),
    **more_params: object,
) -> Run:
    """Run a bench and keep its trace.

    Args:
        bench: A name or index from ``kernbench list``, ``file.py``, ``file.py:name``, ``module:name``, or a
            function ``run(torch)``.
        topology: A file, the name of a shipped one, a compiled graph, or None for the default machine.
        verify: Check the computed values against the bench's reference. ``"ops"`` compares every operation as
            well, with its own inputs, and stops at the first that is off: ``info["ops_verified"]`` says how
            many were right.
        params: The bench's parameters, which may also be passed as keyword arguments where this function has
            none of that name. Configurations of autotuned kernels are parameters too: ``{"scale.BLOCK": 64}``
            for kernel ``scale``, or ``{"scale[n=100].BLOCK": 64}`` for one key. Without, launches take the
            best that :func:`tune` has found in this process, else the first.
        device: ``"all"`` or ``"sip:N"``; by default SIP 0.
        store: An open store, a URL, or None for the default one.
        trace: Whether to keep the run and record its hops; times are the same without.
        tags: Tags of the run.
        project: The project that it is of; None for that of ``KERNBENCH_PROJECT``, empty for none.
        user: Who runs it; None for ``KERNBENCH_USER``, or else the name of the login.
        progress: Called with simulated ns, events and the share done.
        components: Classes for the topology's ``impl`` names, or a file of them.
        topo: Changes of the topology's keys, such as ``{"cube.hbm.channel_gbs": 64}``.
        check: Check the rules that every run keeps as it goes. None: only where the environment variable
            ``KERNBENCH_CHECK`` is 1.
        max_ns: Simulated time after which a run that is not over ends in an error.
        max_events: Stop after this many events.
        timeout: Stop after so many seconds of wall time, the import of files included. Kernels, ranks,
            benches and files that do not end then are left where they stand.
        detail: What a server holds of the run as a graph: ``"summary"``, ``"operations"`` or ``"full"``, with
            every hop.
        keep_partial: Save the partial results of a run that raises or is interrupted, with status
            ``partial``: the transactions and operations that had ended. The error, or the
            ``KeyboardInterrupt``, then has that run as ``kept_run``. Without, such a run is not kept.
        exact: Simulate all ranks and all periods, also those that the bench says are alike
            (``torch.multiprocessing.spawn(alike=True)``, ``torch.repeat``), and all PEs. Without a trace one
            PE is simulated for those of a launch that are shown to do the same; times are equal.
        strict_device: An operation of a PyTorch model that the host would carry out is an error. Without,
            ``info["on_host"]`` says which did: their names, how often, and of how many bytes.
        instruments: Objects of subclasses of :class:`kernbench.Instrument`, or names of such classes
            (``file.py:Class``), whose methods are called as transactions, operations and launches end; the
            rows of their tables are kept with the run.
        more_params: More of the bench's parameters.

    Returns:
        The run, which answers questions about itself.

    Raises:
        RunVerificationError: With ``verify``: values are wrong, or accesses race; that run is kept, with
            status ``failed``.
        LimitError: The run was not over after ``max_ns``, ``max_events`` or ``timeout``; it says where every
            kernel stood: PE, call, source line.
        DeadlockError: Kernels wait for each other; it says who waits for what.
        LaunchError: A kernel raised.
        InvariantError: A rule was broken, with ``check``; it names transaction, place and time.
        ConfigError: The topology, a parameter or a component is wrong; it names file, line and remedy.
    """
    if text := compiled.reminder():
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    began = time.monotonic()
    with limited(timeout):
        program = program_of(bench, {**(params or {}), **more_params})
        graph, extra = kept_machine(topology, topo, components)
    options = RunOptions(
        verify=verify,
        device=device,
        trace=trace,
        tags=tags,
        project=project,
        user=user,
        progress=progress,
        check=check,
        max_ns=max_ns,
        max_events=max_events,
        timeout=timeout,
        spent_s=time.monotonic() - began,
        detail=detail,
        keep_partial=keep_partial,
        exact=exact,
        strict_device=strict_device,
        instruments=instruments,
    )
    return run_program(program, graph, extra, store, options)


def _packs_tiles(graph: PropertyGraph) -> bool:
    """Whether composites move tiles in one piece, as if each were stored by itself."""
    return any(
        node.properties["tile_transfers"] == "packed" for node in islice(graph.nodes("PeScheduler"), 1)
    )


def run_program(
    program: Program,
    graph: PropertyGraph,
    components: Mapping[str, str] | None,
    store: Store,
    options: RunOptions,
    *,
    choices: Choices | None = None,
    mark_asked: bool = False,
    run_id: str = "",
) -> Run:
    """Run a program on a compiled machine, as :func:`run` does; ``choices`` is filled as it launches.

    With ``mark_asked`` the kept run has ``asked_hash`` where its kernels chose configurations of their own:
    the hash of what was asked for, by which the same request finds it. ``run_id`` is the id that a traced run
    is kept under; empty takes a new one.
    """
    from kernbench.engine.machine.kept import give_back
    from kernbench.host import run_bench
    from kernbench.language import Choices

    tags_text(options.tags)
    choices = Choices(program.settings) if choices is None else choices
    recording = Recording(store, options, run_id)
    with noted() as code, UnderWay(recording.folder, f"run {program.name}") as going:
        outcome = run_bench(
            graph,
            program,
            program.params,
            replace(
                options,
                verify=options.verify or program.reads,
                progress=going.progress(recording.watched(options.progress)),
            ),
            instruments=recording.instruments,
            components=components,
            choices=choices,
        )
    if program.reads and not options.verify and outcome.verified == "nothing checked":
        outcome = replace(outcome, verified="not asked")
    assert outcome.machine is not None
    try:
        return _finished(program, graph, components, options, choices, recording, outcome, code, mark_asked)
    finally:
        if not options.instruments:  # those may look at the machine for as long as they like
            give_back(outcome.machine)


def _finished(
    program: Program,
    graph: PropertyGraph,
    components: Mapping[str, str] | None,
    options: RunOptions,
    choices: Choices,
    recording: Recording,
    outcome: BenchOutcome,
    code: dict[str, str],
    mark_asked: bool,
) -> Run:
    """The run of :func:`run_program` once time has stood still: kept, or its error raised."""
    from kernbench.workloads.benches.user import place_of

    if place := place_of(program.named):
        code[place] = hash_of_loaded(program.run.__module__)
    topology_id = str(graph.properties["id"])
    exact = outcome.made_exact
    asked_hash = bench_hash(program, topology_id, options.device, components, exact)
    program = replace(program, settings=choices.settings)
    configured = bench_hash(program, topology_id, options.device, components, exact)
    recording.stop_clock()
    partial = outcome.interrupt is not None or (
        outcome.error is not None and not isinstance(outcome.error, VerificationError)
    )
    if partial and not (options.keep_partial and recording.traced_any):
        if outcome.interrupt is not None:
            raise outcome.interrupt
        assert outcome.error is not None
        raise failed(outcome.error, kept=recording.discarded)
    ended = outcome.error or outcome.interrupt
    assert outcome.machine is not None
    assert outcome.data is not None
    properties = RunProperties(
        bench=outcome.bench,
        status="partial" if partial else "ok" if outcome.ok else "failed",
        sim_ns=outcome.sim_ns,
        verified=outcome.verified,
        params=json.dumps({**program.params, **program.settings}, sort_keys=True, default=repr),
        config_hash=configured,
        again=settings_of(
            graph,
            code,
            bench=program.named,
            device=options.device,
            components=components,
            **({"exact": True} if exact else {}),
        ),
        source_text=source_of(program),
        seed=program.params.get("seed", -1),
        tags=tags_text(options.tags),
        launches=[
            _launch(number, launch, outcome.sim_ns, graph) for number, launch in enumerate(outcome.launches)
        ],
        extra={
            "races": [race.as_dict() for race in outcome.races],
            "project": team.project(options.project),
            "user": team.user(options.user),
            **({"problem": str(ended)} if ended is not None else {}),
            **({"ops_verified": outcome.data.ops_checked} if options.verify == "ops" else {}),
            **({"repeats": _repeats(outcome.estimates)} if outcome.estimates else {}),
            **({"on_host": _on_host(outcome.on_host)} if outcome.on_host else {}),
            **({"pes": dict(outcome.pes)} if outcome.pes else {}),
            **({"collectives": found} if (found := _collectives(outcome.estimates)) else {}),
            **({"tile_transfers": "packed"} if _packs_tiles(graph) else {}),
            **({"asked_hash": asked_hash} if mark_asked and asked_hash != configured else {}),
        },
    )
    try:
        result = recording.finish(
            Run, properties, graph, outcome.machine, outcome.data.log, outcome.estimates
        )
    except KernBenchError as lost:
        if outcome.error is None:
            raise
        # The fault of the program comes first, whatever else went wrong because of it.
        raise failed(outcome.error, kept=f"; the run is not saved: {lost}") from outcome.error.__cause__
    if partial:
        _raise_partial(outcome.interrupt, outcome.error, result)
    if outcome.error is not None:
        kept = f"; saved as run {result.id}" if result.id else ""
        launch = getattr(outcome.error, "launch", -1)
        raise RunVerificationError(f"{outcome.error}{kept}", result, launch=launch) from outcome.error
    recording.check_instruments(result)
    return result


def program_of(bench: str | Callable[[Any], Any], values: Mapping[str, object]) -> Program:
    """The program that ``bench`` means, its parameters and its kernels' configurations from ``values``."""
    from kernbench.workloads.benches.registry import registered_in

    settings = {name: value for name, value in values.items() if "." in name}
    values = {name: value for name, value in values.items() if name not in settings}
    if callable(bench):
        known = registered_in(getattr(bench, "__module__", "")).values()
        spec = next((spec for spec in known if spec.run is bench), None)
        if spec is None:
            name = re.sub(r"[^a-z0-9]+", "-", getattr(bench, "__name__", "").lower()).strip("-")
            return Program(name or "function", bench, dict(values), settings=settings)
        named = spec.name if spec.module.startswith("kernbench.workloads.benches.") else ""
    else:
        spec = _bench_called(str(bench).strip())
        named = spec.name if str(bench).strip().isdigit() else str(bench).strip()
    return Program(spec.name, spec.run, spec.resolve_params(values), named, settings, spec.script)


def _bench_called(name: str) -> BenchSpec:
    """The bench; an evaluation's name is an error that names the command which runs it."""
    from kernbench.workloads.benches import resolve

    try:
        return resolve(name)
    except UsageError:
        from kernbench.api.names import evaluation_names

        if name not in evaluation_names():
            raise
        raise UsageError(
            f"'{name}' is an evaluation, many runs with tables and figures; run 'kernbench evaluate {name}'"
        ) from None


def failed(error: KernBenchError, kept: str) -> KernBenchError:
    """``error`` itself, as an error of a run that had begun, its first line saying what became of the run."""
    error.during_run = True
    first, *lines = str(error).split("\n") if isinstance(error, DeadlockError) else [str(error)]
    error.args = ("\n".join([f"{first}{kept}", *lines]), *error.args[1:])
    return error


def _raise_partial(interrupt: KeyboardInterrupt | None, error: KernBenchError | None, run: Run) -> NoReturn:
    """Raise what ended a run that is partly kept."""
    kept = f"; saved as run {run.id}, which is partial"
    if interrupt is not None:
        stopped = KeyboardInterrupt(f"{interrupt}{kept}")
        stopped.kept_run = run  # type: ignore[attr-defined]
        raise stopped
    assert error is not None
    error.kept_run = run
    raise failed(error, kept)


def _launch(number: int, launch: LaunchRecord, until: float, graph: PropertyGraph) -> dict[str, Any]:
    """The properties of a launch; one that was not over when the run ended, ``until``, is ``unfinished``."""
    t_start = until if launch.t_start < 0 else launch.t_start
    t_done = until if launch.t_done < 0 else launch.t_done
    named = places(graph)
    sips = dict.fromkeys(sip for sip, _, _ in sorted(launch.pe_times))
    return {
        "launch": number,
        "kernel": launch.name,
        "package": ", ".join(named.find("sip", sip) or "" for sip in sips),
        "sips": list(sips),
        "source": launch.source,
        "pes": launch.pes,
        "t_submit": launch.t_submit,
        "t_start": t_start,
        "t_done": t_done,
        "pe_ns": launch.pe_ns,
        "late_ns": launch.late_ns,
        "pe_times": {named.pe(*pe): asdict(times) for pe, times in sorted(launch.pe_times.items())},
        **({} if launch.rank is None else {"rank": launch.rank}),
        **({"call": launch.call} if launch.call else {}),
        **({"for_pes": launch.for_pes} if launch.for_pes else {}),
        **(
            {"language": launch.language, "blocks": launch.blocks, **launch.settings} if launch.blocks else {}
        ),
        **({"first_of": launch.first_of} if launch.first_of else {}),
        **({"follows": launch.follows} if launch.follows >= 0 else {}),
        **({"model_nodes": launch.model_nodes} if launch.model_nodes else {}),
        **({"model_line": launch.model_line} if launch.model_line else {}),
        **({"model_kind": launch.model_kind} if launch.model_kind else {}),
        **({"times": launch.times} if launch.times > 1 else {}),
        **({"unfinished": True} if launch.t_done < 0 else {}),
    }


def _repeats(estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
    """What a run has accounted for, in the order in which that was over."""
    names = ("kind", "name", "from_ns", "to_ns", "simulated", "times", "period_ns", "before_ns", "least_ns")
    return [
        {"number": number, **{name: getattr(one, name) for name in names}}
        for number, one in enumerate(estimates)
    ]


def _collectives(estimates: Sequence[Estimate]) -> dict[str, Any]:
    """How many collectives of packages that are alike were ``folded`` ``of`` all, and ``why`` not others."""
    found = [one.collectives for one in estimates if one.collectives.get("of")]
    if not found:
        return {}
    why = sum((Counter(one["why"]) for one in found), Counter[str]())
    return {
        "folded": sum(one["folded"] for one in found),
        "of": sum(one["of"] for one in found),
        "why": dict(why),
    }


def _on_host(found: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """What the host carried out of a model, most often first."""
    rows = [{"name": name, "times": times, "nbytes": nbytes} for name, (times, nbytes) in found.items()]
    return sorted(rows, key=lambda one: (-int(str(one["times"])), str(one["name"])))


def source_of(program: Program) -> str:
    """The text of the file or function that ``program`` comes from; empty if typed into an interpreter."""
    try:
        code = inspect.unwrap(program.run)
        return inspect.getsource(inspect.getmodule(code) or code)
    except (OSError, TypeError):
        return ""


def bench_hash(
    program: Program,
    topology_id: str,
    device: str | None,
    components: Mapping[str, str] | None,
    exact: bool = False,
) -> str:
    """The configuration's hash: over version, topology, the bench with its source, and all settings."""
    return config_hash(
        topology_id,
        components,
        program.name,
        source=source_of(program),
        params={**program.params, **program.settings},
        device=device,
        **({"exact": True} if exact else {}),
    )


def benches() -> list[dict[str, Any]]:
    """The shipped benches: ``index name description params``.

    Each parameter has ``name type default help env choices minimum``.
    """
    from kernbench.workloads.benches import list_all
    from kernbench.workloads.benches.params import described

    return [
        {"index": index, **described(spec, "description")} for index, spec in enumerate(list_all(), start=1)
    ]
