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
    verified: Literal["yes", "no", "race", "nothing checked", "not asked"]
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
    verify, check, progress = options.verify, options.check, options.progress
    bits = address_bits(int(graph.properties["sips"]))
    recorded, check_ops = options.recorded or bool(check), verify == "ops"
    data = DataPlane(verify=bool(verify), recorded=recorded, address_bits=bits, check_ops=check_ops)
    began = time.monotonic()
    with limited(options.timeout, options.spent_s):  # it imports the classes of components
        machine = machine_for(graph, [data, *instruments], components, traced=options.recorded, check=check)
    if options.max_ns is not None:
        machine.clock.max_ns = options.max_ns
    if options.max_events is not None:
        machine.clock.max_events = options.max_events

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
    plain = not (verify or check or recorded or instruments or options.exact or machine.checker)
    if plain and machine.keepable:
        machine.alike = AlikePes(machine, context.scheduler.may_go_on)
    if progress is not None:
        machine.clock.on_progress = report
    error: KernBenchError | None = None
    interrupt: KeyboardInterrupt | None = None
    results: list[CheckResult] = []
    sim_ns = 0.0

    def program() -> None:
        enter(context)
        with paced_collector(machine.clock):
            _run(bench, context)
            machine.drain()
            context.choices.check_used()
        if verify == "ops":
            data.sync()
        if verify:
            for wanted in context.checks:
                results.extend(expectations.verify(wanted, context.storage, data))

    spent_s = options.spent_s + time.monotonic() - began
    limit = TimeLimit(machine.clock.interrupt, options.timeout, spent_s)
    with interruptible(limit.interrupt), limit.watched():
        try:
            with users_code():  # not within the program, which may be left where it stands
                run_user(program)
        except KeyboardInterrupt as stop:
            line = limit.left_at or raised_at(stop)
            at = [f"at {machine.clock.now:.3f} ns", *([f"in {line}"] if line else [])]
            stood = "; ".join([*at, *machine.unanswered()])
            machine.wired_from = None  # programs that are left where they stand still have it
            if limit.passed:
                before = "" if machine.failure is None else f", since {machine.failure}"
                error = LimitError(f"{limit.over}{before}; {stood}")
            else:
                interrupt = KeyboardInterrupt(stood)
                if not options.keep_partial:
                    raise interrupt from None
        except BaseException as failure:
            error = _error_of(bench.name, failure, machine)
            if isinstance(error, VerificationError) and isinstance(machine.failure, KernBenchError):
                error = machine.failure  # what is not there was not written because a kernel had failed
        finally:
            sim_ns = float(machine.clock.now)
            context.abandon()
            machine.close()
    if error is None and interrupt is None:
        try:
            machine.settle()
        except KeyboardInterrupt:
            raise
        except BaseException as failure:
            error = _error_of(bench.name, failure, machine)
    races = tuple(data.races.races)
    wrong = next((r.error for r in results if r.error is not None), None)
    error = error or wrong
    verdict: Literal["yes", "no", "race", "nothing checked", "not asked"] = "not asked"
    if wrong is not None or isinstance(error, VerificationError):
        verdict = "no"
    elif races and (verify or check):
        verdict = "race"
        if error is None and interrupt is None:
            error = race_error(races)
    elif verify and error is None and interrupt is None:
        verdict = "yes" if results or data.ops_checked > 0 else "nothing checked"
    return BenchOutcome(
        bench=bench.name,
        completion=_completion(error, interrupt),
        sim_ns=sim_ns,
        launches=tuple(handle.record for handle in context.launches),
        verified=verdict,
        interrupt=interrupt,
        checks=tuple(results),
        races=races,
        error=error,
        estimates=tuple(context.estimates),
        on_host=context.on_host,
        made_exact=context.made_exact,
        pes=machine.alike.counts if machine.alike is not None else {},
        machine=machine,
        data=data,
    )


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
