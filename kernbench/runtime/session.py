"""A run from beginning to end: build the machine, run the bench, wait, verify."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from kernbench.components.machine import Machine
from kernbench.errors import (
    AllocationError,
    BenchError,
    DeadlockError,
    InvariantError,
    KernBenchError,
    KernelError,
    LaunchError,
    UsageError,
    VerificationError,
)
from kernbench.pgraph import PropertyGraph
from kernbench.replay import DataPlane
from kernbench.runtime import checks
from kernbench.runtime.checks import CheckResult
from kernbench.runtime.collection import seldom_collected
from kernbench.runtime.context import Context
from kernbench.runtime.interrupt import interruptible
from kernbench.runtime.launches import LaunchRecord
from kernbench.runtime.messages import Completion
from kernbench.sim.instrument import Instrument

Progress = Callable[[float, int], None]
"""Called now and then with (simulated ns, events so far)."""

_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (VerificationError, "VERIFICATION_FAILED"),
    (InvariantError, "INVARIANT_BROKEN"),
    (LaunchError, "LAUNCH_FAILED"),
    (KernelError, "KERNEL_FAILED"),
    (DeadlockError, "DEADLOCK"),
    (AllocationError, "OUT_OF_MEMORY"),
    (UsageError, "USAGE"),
    (BenchError, "BENCH_FAILED"),
)


class NoRequestsError(BenchError):
    """A bench submitted nothing: no tensor, no launch."""

    code = "NO_REQUESTS"


class Bench(Protocol):
    """What a run needs of a bench."""

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
    checks were made and all held, ``"no"`` when one did not, ``"not asked"`` without verification or checks.
    ``machine`` and ``data`` are left for whoever keeps the trace.
    """

    bench: str
    completion: Completion
    sim_ns: float
    launches: tuple[LaunchRecord, ...]
    verified: Literal["yes", "no", "not asked"]
    checks: tuple[CheckResult, ...]
    error: KernBenchError | None = None
    machine: Machine | None = field(default=None, repr=False, compare=False)
    data: DataPlane | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """True when the run and its checks succeeded."""
        return self.completion.ok

    def raise_for_error(self) -> BenchOutcome:
        """Raise what went wrong, if anything did; otherwise return the outcome."""
        if self.error is not None:
            raise self.error
        return self


def run_bench(
    graph: PropertyGraph,
    bench: Bench,
    params: Mapping[str, object] | None = None,
    *,
    device: str = "all",
    verify: bool = False,
    instruments: Sequence[Instrument] = (),
    progress: Progress | None = None,
    components: Mapping[str, str] | None = None,
    traced: bool = True,
    check: bool | None = None,
) -> BenchOutcome:
    """Run ``bench`` on a machine made from ``graph``; ``params`` are resolved already.

    Errors of the run (a failed launch, a deadlock, wrong numbers, no requests) are in the outcome, so that
    its trace can be kept; a device selector that fits nothing is raised at once. ``components``, ``traced``
    and ``check`` are the machine's.
    """
    data = DataPlane(verify=verify)
    machine = Machine(graph, [data, *instruments], components, traced=traced, check=check)
    machine.clock.on_progress = progress
    context = Context(
        machine,
        data,
        device=device,
        params=params,
        correlation_id=bench.name,
        on_wait=None if progress is None else lambda: progress(machine.clock.now, machine.clock.events),
    )
    error: KernBenchError | None = None
    results: list[CheckResult] = []
    sim_ns = 0.0
    try:
        with seldom_collected(), interruptible(machine.clock):
            _run(bench, context)
        if verify:
            for wanted in context.checks:
                results += checks.verify(wanted, context.storage, data)
    except KernBenchError as failure:
        error = failure
    except (Exception, SystemExit) as failure:
        error = BenchError(f"bench '{bench.name}' {_raised(failure)}{_where(failure)}")
        error.__cause__ = failure
    finally:
        sim_ns = float(machine.clock.now)
        context.abandon()
    if error is None:
        try:
            machine.settle()
        except InvariantError as failure:
            error = failure
    wrong = [r.error for r in results if r.error is not None]
    if error is None and wrong:
        error = wrong[0]
    failed = bool(wrong) or isinstance(error, VerificationError)
    return BenchOutcome(
        bench=bench.name,
        completion=Completion(ok=True) if error is None else Completion(False, error_code(error), str(error)),
        sim_ns=sim_ns,
        launches=tuple(handle.record for handle in context.launches),
        verified="no" if failed else "yes" if results and error is None else "not asked",
        checks=tuple(results),
        error=error,
        machine=machine,
        data=data,
    )


def _run(bench: Bench, context: Context) -> None:
    """The bench and all that it submitted, to the end."""
    bench.run(context)
    if context.submitted == 0:
        raise NoRequestsError(
            f"NO_REQUESTS: bench '{bench.name}' submitted nothing; make a tensor or launch a kernel"
        )
    context.wait_all()


def _raised(error: BaseException) -> str:
    if isinstance(error, SystemExit):  # it would end the program as if the run had gone well
        return f"exits with {error.code!r}; return from run(torch) instead"
    return f"raised {type(error).__name__}: {error}"


def _where(error: BaseException) -> str:
    """`` (file:line)`` of the innermost frame that is the user's: neither of this package nor installed."""
    ours = str(Path(__file__).parents[1])
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if "site-packages" not in path.parts and (
            not frame.filename.startswith(ours) or path.parent.name == "benches"
        ):
            return f" ({path.name}:{frame.lineno})"
    return ""


def error_code(error: BaseException) -> str:
    """The code under which ``error`` appears in a completion, such as ``LAUNCH_FAILED``."""
    if isinstance(error, NoRequestsError):
        return error.code
    return next((code for kind, code in _CODES if isinstance(error, kind)), "FAILED")
