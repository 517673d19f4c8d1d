"""A run from beginning to end: build the machine, run the bench, wait, verify."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine.alike_pes import AlikePes
from kernbench.engine.machine.blame import fault_of_part
from kernbench.engine.machine.kept import machine_for
from kernbench.engine.machine.machine import Machine
from kernbench.engine.run_options import RunOptions, tell
from kernbench.errors import (
    AllocationError,
    BenchError,
    CollectiveError,
    ComponentError,
    DeadlockError,
    InvariantError,
    KernBenchError,
    KernelError,
    LaunchError,
    LimitError,
    UsageError,
    VerificationError,
)
from kernbench.hardware.address import address_bits
from kernbench.host import expectations, standing
from kernbench.host.context import Context
from kernbench.host.current import enter
from kernbench.host.estimates import Estimate
from kernbench.host.expectations import CheckResult
from kernbench.host.launching import LaunchRecord
from kernbench.host.messages import Completion
from kernbench.host.process import paced_collector
from kernbench.host.spawn import SpawnException
from kernbench.language import Choices
from kernbench.support.host_memory import lacks, needed
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.stand_ins import standing_aside
from kernbench.support.time_limit import TimeLimit, interruptible, limited
from kernbench.support.user_code import raised, raised_at
from kernbench.support.user_greenlets import run_user
from kernbench.support.user_modules import users_code
from kernbench.values import DataPlane
from kernbench.values.races import Race, race_error

_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (VerificationError, "VERIFICATION_FAILED"),
    (InvariantError, "INVARIANT_BROKEN"),
    (LaunchError, "LAUNCH_FAILED"),
    (KernelError, "KERNEL_FAILED"),
    (DeadlockError, "DEADLOCK"),
    (LimitError, "LIMIT"),
    (CollectiveError, "COLLECTIVE_FAILED"),
    (AllocationError, "OUT_OF_MEMORY"),
    (UsageError, "USAGE"),
    (ComponentError, "COMPONENT_FAILED"),
    (BenchError, "BENCH_FAILED"),
)


Verdict = Literal["yes", "no", "race", "nothing checked", "not asked"]


class NoRequestsError(BenchError):
    """A bench submitted nothing: no tensor, no launch."""

    code = "NO_REQUESTS"


class Bench(Protocol):
    """The part of a bench that a run needs."""

    @property
    def name(self) -> str:
        """The bench's name."""

    @property
    def run(self) -> Callable[[Context], Any]:
        """The program; it gets the context."""


@dataclass(frozen=True)
class BenchOutcome:
    """How a run went.

    ``completion`` says whether it is good, ``error`` is what ended it or what verification found.
    ``sim_ns`` is the simulated time when everything submitted was answered. ``verified``: ``"yes"`` when
    checks were made and all held, ``"no"`` when values are wrong, ``"race"`` when accesses race (with
    verification or with checks of the rules), ``"nothing checked"`` when verification was asked for and
    there was nothing to compare, else ``"not asked"``. ``"no"`` and ``"race"`` are errors. ``machine`` and
    ``data`` stay available for keeping the trace.
    """

    bench: str
    completion: Completion
    sim_ns: float
    launches: tuple[LaunchRecord, ...]
    verified: Verdict
    checks: tuple[CheckResult, ...]
    races: tuple[Race, ...] = ()
    error: KernBenchError | None = None
    interrupt: KeyboardInterrupt | None = None
    """Ctrl-C, with a message that says where the kernels stood."""
    estimates: tuple[Estimate, ...] = ()
    """What was accounted for without being simulated."""
    on_host: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of a model of PyTorch's what the host carried out: how often, and of how many bytes, by name."""
    made_exact: bool = False
    """Whether what the bench says to be alike was simulated nevertheless."""
    pes: Mapping[str, Any] = field(default_factory=dict)
    """PEs that were simulated, of how many, and why not fewer; empty where all were."""
    machine: Machine | None = field(default=None, repr=False, compare=False)
    data: DataPlane | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """True when the run and its checks succeeded."""
        return self.completion.ok

    def raise_for_error(self) -> BenchOutcome:
        """Raise the run's error if there is one; otherwise return the outcome."""
        if self.error is not None:
            raise self.error
        return self


def run_bench(
    graph: PropertyGraph,
    bench: Bench,
    params: Mapping[str, object] | None = None,
    options: RunOptions | None = None,
    *,
    instruments: Sequence[Instrument] = (),
    components: Mapping[str, str] | None = None,
    choices: Choices | None = None,
) -> BenchOutcome:
    """Run ``bench`` on a machine made from ``graph``.

    Args:
        graph: The compiled topology.
        bench: The bench.
        params: Its parameters, resolved already.
        options: How it is run.
        instruments: Those of the options, made.
        components: Which class implements which ``impl``, beside the topology's own.
        choices: Which configurations launches of autotuned kernels take.

    Returns:
        The outcome. Errors of the run (a failed launch, a deadlock, wrong numbers, no requests) are in it, so
        that its trace can be kept; with ``keep_partial`` a KeyboardInterrupt as well.

    Raises:
        UsageError: The options' device selector fits nothing, or the machine has no PEs.
    """
    if not any(True for _ in graph.nodes("PeTcm")):
        raise UsageError(
            f"topology '{graph.properties['name']}' has no PEs, so no bench can run on it; choose another "
            "--topology, or run traffic on it: kernbench traffic"
        )
    options = RunOptions() if options is None else options
    began = time.monotonic()
    machine, data = _wired(graph, options, instruments, components)
    context = _context(bench, params or {}, options, machine, data, choices)
    observed = options.verify or options.check or options.recorded or instruments or machine.checker
    if machine.keepable and not (observed or options.exact):
        machine.alike = AlikePes(machine, context.scheduler.may_go_on)
    spent_s = options.spent_s + time.monotonic() - began
    end = _carry_out(bench, options, context, machine, data, spent_s)
    if end.error is None and end.interrupt is None:
        try:
            machine.settle()
        except KeyboardInterrupt:
            raise
        except BaseException as failure:
            end.error = _error_of(bench.name, failure, machine)
    verdict = _judge(end, options, data)
    return BenchOutcome(
        bench=bench.name,
        completion=_completion(end.error, end.interrupt),
        sim_ns=end.sim_ns,
        launches=tuple(handle.record for handle in context.launches),
        verified=verdict,
        interrupt=end.interrupt,
        checks=tuple(end.checks),
        races=data.races.found(),
        error=end.error,
        estimates=tuple(context.estimates),
        on_host=context.on_host,
        made_exact=context.made_exact,
        pes=machine.alike.counts if machine.alike is not None else {},
        machine=machine,
        data=data,
    )


@dataclass(slots=True)
class _End:
    """How a program ended: what was checked, and what stopped it."""

    checks: list[CheckResult] = field(default_factory=list)
    error: KernBenchError | None = None
    interrupt: KeyboardInterrupt | None = None
    sim_ns: float = 0.0


def _wired(
    graph: PropertyGraph,
    options: RunOptions,
    instruments: Sequence[Instrument],
    components: Mapping[str, str] | None,
) -> tuple[Machine, DataPlane]:
    """The machine, with its limits, and the values beside it."""
    check = options.check
    recorded, check_ops = options.recorded or bool(check), options.verify == "ops"
    bits = address_bits(int(graph.properties["sips"]))
    data = DataPlane(verify=bool(options.verify), recorded=recorded, address_bits=bits, check_ops=check_ops)
    with limited(options.timeout, options.spent_s):  # it imports the classes of components
        machine = machine_for(graph, [data, *instruments], components, traced=options.recorded, check=check)
    if options.max_ns is not None:
        machine.clock.max_ns = options.max_ns
    if options.max_events is not None:
        machine.clock.max_events = options.max_events
    return machine, data


def _context(
    bench: Bench,
    params: Mapping[str, object],
    options: RunOptions,
    machine: Machine,
    data: DataPlane,
    choices: Choices | None,
) -> Context:
    """The program's context, which says how far the program is."""
    progress = options.progress

    def report(now: float, events: int) -> None:
        if progress is not None:
            tell(progress, now, events, standing.of(context))

    context = Context(
        machine,
        data,
        device=options.device,
        params=params,
        correlation_id=bench.name,
        on_wait=None if progress is None else lambda: report(machine.clock.now, machine.clock.events),
        choices=choices,
        exact=options.exact,
        strict_device=options.strict_device,
    )
    if progress is not None:
        machine.clock.on_progress = report
    return context


def _carry_out(
    bench: Bench, options: RunOptions, context: Context, machine: Machine, data: DataPlane, spent_s: float
) -> _End:
    """Run the program to its end, or until it fails or is stopped; ``spent_s`` of its time is spent."""
    end = _End()

    def program() -> None:
        enter(context)
        with paced_collector(machine.clock):
            _run(bench, context)
            machine.drain()
            context.choices.check_used()
        if options.verify == "ops" or (options.verify and data.races.races):
            data.sync()
        if options.verify:
            for wanted in context.checks:
                end.checks.extend(expectations.verify(wanted, context.storage, data))

    limit = TimeLimit(machine.clock.interrupt, options.timeout, spent_s)
    with interruptible(limit.interrupt), limit.watched():
        try:
            with users_code():  # not within the program, which may be left where it stands
                run_user(program)
        except KeyboardInterrupt as stop:
            stood = _stood(machine, limit.left_at or raised_at(stop))
            machine.wired_from = None  # programs that are left where they stand still have it
            if limit.passed:
                before = "" if machine.failure is None else f", since {machine.failure}"
                end.error = LimitError(f"{limit.over}{before}; {stood}")
            else:
                end.interrupt = KeyboardInterrupt(stood)
                if not options.keep_partial:
                    raise end.interrupt from None
        except BaseException as failure:
            end.error = _error_of(bench.name, failure, machine)
            if isinstance(end.error, VerificationError) and isinstance(machine.failure, KernBenchError):
                end.error = machine.failure  # what is not there was not written because a kernel had failed
        finally:
            end.sim_ns = float(machine.clock.now)
            context.abandon()
            machine.close()
    return end


def _stood(machine: Machine, line: str) -> str:
    """Where a program stood that was stopped."""
    at = [f"at {machine.clock.now:.3f} ns", *([f"in {line}"] if line else [])]
    return "; ".join([*at, *machine.unanswered()])


def _judge(end: _End, options: RunOptions, data: DataPlane) -> Verdict:
    """What verification says of a program; values that are wrong and races become its error.

    Blocks of a grid that write the same values race and are named, and are not an error.
    """
    races = [race for race in data.races.found() if not race.same]
    wrong = next((r.error for r in end.checks if r.error is not None), None)
    end.error = end.error or wrong
    if wrong is not None or isinstance(end.error, VerificationError):
        return "no"
    if races and (options.verify or options.check):
        if end.error is None and end.interrupt is None:
            end.error = race_error(races)
        return "race"
    if options.verify and end.error is None and end.interrupt is None:
        return "yes" if end.checks or data.ops_checked > 0 else "nothing checked"
    return "not asked"


def _completion(error: KernBenchError | None, interrupt: KeyboardInterrupt | None) -> Completion:
    if interrupt is not None:
        return Completion(False, "INTERRUPTED", str(interrupt))
    return Completion(ok=True) if error is None else Completion(False, error_code(error), str(error))


def _run(bench: Bench, context: Context) -> None:
    """The bench and all that it submitted, to the end."""
    with _pytorch(bench):
        bench.run(context)
    if context.submitted == 0:
        compiled = "have torch.compile(model) called, for PyTorch itself worked on the host"
        remedy = compiled if getattr(bench.run, "with_pytorch", False) else "make a tensor or launch a kernel"
        raise NoRequestsError(f"NO_REQUESTS: bench '{bench.name}' submitted nothing; {remedy}")
    context.multiprocessing.join_all()
    context.wait_all()


def _pytorch(bench: Bench) -> AbstractContextManager[None]:
    """Counts what PyTorch does on the host: for scripts with it, and where models are compiled for us."""
    # By name: the backend is built on the runtime, and needs PyTorch.
    backend = sys.modules.get("kernbench.inductor.backend")
    if backend is None and getattr(bench.run, "with_pytorch", False):
        with standing_aside():
            backend = importlib.import_module("kernbench.inductor.backend")
    return nullcontext() if backend is None else backend.attached()


def _error_of(bench: str, failure: BaseException, machine: Machine) -> KernBenchError:
    """The error of a run that ``failure`` ended: itself, or that of the users' code which raised it."""
    if isinstance(failure, KernBenchError):
        return failure
    error = fault_of_part(failure, machine) or _of_bench(bench, failure)
    error.__cause__ = failure
    return error


def _of_bench(bench: str, failure: BaseException) -> KernBenchError:
    line = raised_at(failure)
    at = f" ({line})" if line else ""
    if isinstance(failure, MemoryError):
        return AllocationError(f"bench '{bench}': {lacks(needed(failure))}{at}")
    remedy = "" if isinstance(failure, Exception) else "; return from run(torch) instead"
    return BenchError(f"bench '{bench}' {raised(failure)}{remedy}{at}")


def error_code(error: BaseException) -> str:
    """The code under which ``error`` appears in a completion, such as ``LAUNCH_FAILED``."""
    if isinstance(error, NoRequestsError):
        return error.code
    if isinstance(error, SpawnException):
        return error_code(next(iter(error.errors.values())))
    return next((code for kind, code in _CODES if isinstance(error, kind)), "FAILED")
