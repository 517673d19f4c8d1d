"""Every error that KernBench raises on purpose.

All derive from :class:`KernBenchError` and, where one fits, from the builtin that a caller would
expect to catch (``ValueError`` for a bad value, ``LookupError`` for a missing name ...). A message is
one line: what is wrong, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernbench_graph.errors import KernBenchError as KernBenchError
from kernbench_graph.errors import shorten as shorten


class ConfigError(KernBenchError, ValueError):
    """A configuration file or value is wrong; a line for each names file, line, key and what was expected."""


class UsageError(KernBenchError, ValueError):
    """The caller asked for something that does not exist or does not fit together (exit status 2)."""


class EmptyGridError(UsageError):
    """The grid of a launch has no blocks: there is nothing to launch."""


class AddressError(KernBenchError, ValueError):
    """An address cannot be encoded, decoded or resolved; the message names the field."""


class AllocationError(KernBenchError, MemoryError):
    """No free block is large enough; the message gives the size wanted and the largest free block."""


class RoutingError(KernBenchError, LookupError):
    """No route exists; the message names both ends and the kind of traffic."""


class KernelError(KernBenchError, RuntimeError):
    """A kernel misused ``tl`` or raised; the message names the kernel, the PE and the simulated time.

    ``problem`` is the message without these, where the message begins with them; else it is empty.
    """

    def __init__(self, message: str, problem: str = "") -> None:
        super().__init__(message)
        self.problem = problem


class StarvedError(KernelError):
    """A kernel was stopped: the kernel at the other end of a queue that it waited for has failed.

    ``root`` is the failure that began it, the :class:`LaunchError` of another PE.
    """

    def __init__(self, message: str, root: Exception) -> None:
        super().__init__(message)
        self.root = root


class PendingValueError(KernelError):
    """A computed value was looked at while time is simulated, before its numbers exist."""


class LaunchError(KernBenchError, RuntimeError):
    """A kernel of a launch failed, or the launch could not be made.

    ``kernel`` is the kernel's name, ``pe`` the PE where it failed, ``time_ns`` the simulated time,
    ``launch`` the number of the launch, ``source`` the ``file.py:line`` of the kernel's own code and
    ``cause`` the exception that it raised; empty, -1 or None where the launch never began.
    """

    def __init__(
        self,
        message: str,
        *,
        kernel: str = "",
        pe: str = "",
        time_ns: float = -1.0,
        launch: int = -1,
        source: str = "",
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(message)
        self.kernel = kernel
        self.pe = pe
        self.time_ns = time_ns
        self.launch = launch
        self.source = source
        self.cause = self.__cause__ = cause

    @classmethod
    def of_kernel(
        cls, kernel: str, pe: str, time_ns: float, launch: int, source: str, cause: BaseException
    ) -> LaunchError:
        """The error of a launch whose kernel raised ``cause`` on ``pe`` at ``time_ns``."""
        problem = cause.problem if isinstance(cause, KernelError) else ""
        problem = problem or f"{type(cause).__name__}: {cause}"
        at = f" ({source})" if source else ""
        return cls(
            f"kernel '{kernel}' failed on {pe} at {time_ns:.3f} ns (launch-{launch}): {problem}{at}",
            kernel=kernel,
            pe=pe,
            time_ns=time_ns,
            launch=launch,
            source=source,
            cause=cause,
        )


class CollectiveError(KernBenchError, RuntimeError):
    """A collective cannot be carried out: its ranks disagree, or it is used before it is set up."""


class DeadlockError(KernBenchError, RuntimeError):
    """Nothing can happen any more while requests are unanswered.

    The first line says when and what cannot finish; below stand the cycle of waits, what would end it, and
    who waits for what, with those that are alike in one line. ``waiting`` has a line for each of them.
    """

    def __init__(self, message: str, waiting: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.waiting = tuple(waiting)


class LimitError(KernBenchError, TimeoutError):
    """A run went past the time or the number of events that it was given; says where every kernel stood."""


class VerificationError(KernBenchError, AssertionError):
    """Simulated data differ from the reference, or accesses race.

    The message names tensor, first index, both values and the largest error, or both accesses of the race.
    ``launch`` is the number of the launch that wrote the first wrong value, or came second; -1 if unknown.
    """

    def __init__(self, message: str, *, launch: int = -1) -> None:
        super().__init__(message)
        self.launch = launch


def nothing_checked(bench: str) -> VerificationError:
    """The error of a bench that was to be verified and gives nothing to compare."""
    return VerificationError(
        f"bench '{bench}' checks nothing, so nothing was verified; say what its tensors should hold with "
        "torch.check(name, tensor, expected)"
    )


class ComponentError(KernBenchError, RuntimeError):
    """A component of the machine raised an error; names it, its class, the time and the line."""


class BenchError(KernBenchError, RuntimeError):
    """A bench is registered or behaves wrongly (for instance it submits nothing: NO_REQUESTS)."""


class InvariantError(KernBenchError, AssertionError):
    """A run broke a rule that every run keeps; names the transaction, the place and the simulated time.

    ``invariant`` is one of ``bytes``, ``order``, ``capacity``, ``work``, ``times``, ``waits``,
    ``outstanding``; see :mod:`kernbench.engine.core.invariants`.
    """

    def __init__(self, message: str, invariant: str = "") -> None:
        super().__init__(message)
        self.invariant = invariant


class MissingExtraError(KernBenchError, ImportError):
    """An optional library is not installed; the message says how to install it."""


def headline(error: BaseException) -> str:
    """The first line of an error's message: where errors are cells of a table, as in a sweep."""
    return str(error).partition("\n")[0]
