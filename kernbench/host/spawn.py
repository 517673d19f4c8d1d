"""``torch.multiprocessing``: ranks, as processes are started in PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from greenlet import GreenletExit

from kernbench.errors import KernBenchError, StarvedError, UsageError
from kernbench.host.alike import EXACT, Alike
from kernbench.host.current import enter
from kernbench.host.meeting import Meeting
from kernbench.host.scheduler import Event, HostProgram, Scheduler
from kernbench.support.hints import shown
from kernbench.support.user_code import ends, raised_at

if TYPE_CHECKING:
    from kernbench.host.context import Context


class SpawnException(KernBenchError, RuntimeError):  # noqa: N818, the name of PyTorch's callers
    """Ranks have failed. ``errors`` holds, by rank, what each raised in code of its own.

    Ranks that were ended because another failed are not among them.
    """

    def __init__(self, errors: Mapping[int, BaseException], ranks: int) -> None:
        causes = {  # without those that came of the failure of a kernel at the other end of a queue
            rank: error
            for rank, error in errors.items()
            if not any(isinstance(one, StarvedError) for one in (error, error.__cause__))
        }
        self.errors = dict(sorted((causes or errors).items()))
        lines = [f"rank {rank} of {ranks} {_raised(error)}" for rank, error in self.errors.items()]
        different = list(dict.fromkeys(line.partition(" of ")[2] for line in lines))
        if len(different) == 1 and len(lines) > 1:
            numbers = ", ".join(map(str, self.errors))
            super().__init__(f"ranks {numbers} of {different[0]}")
        else:
            super().__init__("; ".join(lines))


def _raised(error: BaseException) -> str:
    if not isinstance(error, Exception):
        return f"{ends(error)}; return from its function instead"
    line = raised_at(error)
    at = f" ({line})" if line else ""
    if isinstance(error, KernBenchError):
        return f"failed{at}: {error}"
    return f"raised {type(error).__name__}: {error}{at}"


class SpawnContext(Event):
    """Ranks that were started together; ``done`` when all of them have ended or were ended."""

    def __init__(self, scheduler: Scheduler, ranks: int) -> None:
        super().__init__(f"{ranks} ranks")
        self.joined = False
        self.errors: dict[int, BaseException] = {}
        self.programs = [HostProgram(rank, ranks) for rank in range(ranks)]
        self.meeting = Meeting(scheduler, ranks)
        for program in self.programs:
            program.meeting = self.meeting
        self._scheduler = scheduler

    def join(self) -> None:
        """Wait until all ranks have ended.

        Raises:
            SpawnException: Ranks have failed.
            DeadlockError: Ranks wait and nothing can happen any more.
        """
        self.joined = True
        try:
            self._scheduler.wait(self)
        except BaseException as error:
            # A launch may have failed that its rank has not waited for yet: then this is what came of it.
            failed = {
                p.rank: e for p in self.programs if p.rank is not None and (e := p.failure()) is not None
            }
            self.stop()
            if failed and isinstance(error, Exception):
                raise SpawnException(failed, len(self.programs)) from error
            raise
        if self.errors:
            raised = SpawnException(self.errors, len(self.programs))
            raise raised from next(iter(raised.errors.values()))

    def stop(self) -> None:
        """End every rank where it stands."""
        for program in self.programs:
            if not program.ended:
                program.stop()
                self._scheduler.ended(program)
        self.happen()

    def start(self, fn: Callable[..., Any], args: Sequence[Any], settle: Callable[[], None]) -> None:
        """Start ``fn(rank, *args)`` for each rank; ``settle`` waits for what the current rank submitted."""
        for program in self.programs:
            self._scheduler.start(program, partial(self._run, program, fn, args, settle))

    def _run(
        self, program: HostProgram, fn: Callable[..., Any], args: Sequence[Any], settle: Callable[[], None]
    ) -> None:
        assert program.rank is not None
        try:
            fn(program.rank, *args)
            settle()
            if program.alike is None:
                self.meeting.leave()
            else:
                program.alike.meet(program.rank, "ends")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if program.stopping and isinstance(error, GreenletExit):
                raise
            # The others end with it, once those that can go on without time passing have done so: what they
            # raise themselves until then is a root cause too.
            self.errors[program.rank] = error
            self._scheduler.at_pause(self.stop)
        self._scheduler.ended(program)
        if all(program.ended for program in self.programs):
            self.happen()


class Multiprocessing:
    """``torch.multiprocessing`` of one context."""

    SpawnException = SpawnException

    def __init__(self, context: Context) -> None:
        self._context = ref(context)
        self._scheduler = context.scheduler
        self._settle = context.wait_all
        self._started: list[SpawnContext] = []

    def spawn(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        nprocs: int = 1,
        join: bool = True,
        *,
        alike: bool = False,
    ) -> SpawnContext | None:
        """Run ``fn(rank, *args)`` for every rank below ``nprocs``; the ranks overlap in simulated time.

        All ranks are greenlets of one process and share its memory; rank, device and open requests are each
        rank's own. A rank ends when ``fn`` has returned and all that it submitted is answered.

        Args:
            fn: The program of a rank.
            args: Its arguments after the rank.
            nprocs: Number of ranks.
            join: Wait until all have ended; otherwise return a context with ``join()``. Without a call of it
                the end of the bench joins.
            alike: All ranks do the same, each on its own package: rank 0 is simulated for all of them, and
                the others take part in collectives. A rank waits for its launches before a collective. With
                ``--exact`` all are simulated.

        Raises:
            UsageError: ``fn`` or ``nprocs`` do not fit, or ranks are running already; ranks that are said to
                be alike are not, or their results are to be verified.
            SpawnException: Ranks have failed; ``errors`` holds what each raised.
            DeadlockError: Ranks wait for each other.
        """
        if isinstance(nprocs, bool) or not isinstance(nprocs, int) or nprocs < 1:
            raise UsageError(f"spawn(nprocs={shown(nprocs)}): give the number of ranks, 1 or more")
        if not callable(fn):
            raise UsageError(f"spawn({shown(fn)}): give a function that takes the rank, and args")
        try:
            inspect.signature(fn).bind(0, *args)
        except (TypeError, ValueError) as problem:
            name = getattr(fn, "__name__", repr(fn))
            raise UsageError(f"spawn: {name}(rank, *args) cannot be called so: {problem}") from None
        if self._scheduler.current.rank is not None:
            raise UsageError("spawn: called inside a rank; start all ranks from the bench's own program")
        if self._scheduler.alive:
            raise UsageError("spawn: ranks of an earlier spawn are running; join() them first")
        started = SpawnContext(self._scheduler, nprocs)
        if alike and nprocs > 1:
            self._say_alike(started)
        self._started = [context for context in self._started if not context.joined]
        self._started.append(started)
        started.start(partial(self._ranked, fn), args, self._settle)
        if not join:
            return started
        started.join()
        return None

    def _say_alike(self, started: SpawnContext) -> None:
        """The first of the ranks is simulated for all of them, unless all are to be."""
        context = self._context()
        if context is None:
            return
        if context.exact:
            context.made_exact = True
            return
        if context.storage.data.verify:
            raise UsageError(
                f"spawn(alike=True): rank 0 is simulated for all, so there are no values to verify; {EXACT}"
            )
        context.queues.refuse_crossing("spawn(alike=True)")
        sips = [context.ahbm.sip_of(rank) for rank, _ in enumerate(started.programs)]
        alike = Alike(self._scheduler.machine, self._scheduler, started.meeting, sips)
        for program in started.programs:
            program.alike = alike

        def ended() -> None:
            led = [one for one in context.launches[first:] if one.rank == 0]
            context.estimates.append(alike.estimate(led))

        first = len(context.launches)
        started.when_done(ended)

    def _ranked(self, fn: Callable[..., Any], rank: int, *args: Any) -> None:
        if (context := self._context()) is not None:
            enter(context)
        fn(rank, *args)

    def join_all(self) -> None:
        """Join whatever was started without ``join``."""
        for context in self._started:
            if not context.joined:
                context.join()

    def stop_all(self) -> None:
        """End every rank that is running."""
        for context in self._started:
            context.stop()
