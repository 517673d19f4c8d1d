"""Every error that KernBench raises on purpose.

All derive from :class:`KernBenchError` and, where one fits, from the builtin that a caller would
expect to catch (``ValueError`` for a bad value, ``LookupError`` for a missing name ...). A message is
one line: what is wrong, where, and what to do about it.
"""

from __future__ import annotations


class KernBenchError(Exception):
    """Root of all errors raised on purpose by KernBench."""

    during_run = False
    """True when a run had begun: its program or kernel is at fault, not how it was asked for."""


class ConfigError(KernBenchError, ValueError):
    """A configuration file or value is wrong; the message names file, line, key and what was expected."""


class UsageError(KernBenchError, ValueError):
    """The caller asked for something that does not exist or does not fit together (exit status 2)."""


class AddressError(KernBenchError, ValueError):
    """An address cannot be encoded, decoded or resolved; the message names the field."""


class AllocationError(KernBenchError, MemoryError):
    """No free block is large enough; the message gives the size wanted and the largest free block."""


class RoutingError(KernBenchError, LookupError):
    """No route exists; the message names both ends and the kind of traffic."""


class KernelError(KernBenchError, RuntimeError):
    """A kernel misused ``tl`` or raised; the message names the kernel, the PE and the simulated time."""


class PendingValueError(KernelError):
    """A computed value was looked at while time is simulated, before its numbers exist."""


class LaunchError(KernBenchError, RuntimeError):
    """A launch failed; carries component, correlation id and cause."""


class DeadlockError(KernBenchError, RuntimeError):
    """Nothing can happen any more while requests are unanswered; lists who waits for what."""


class VerificationError(KernBenchError, AssertionError):
    """Simulated data differ from the reference; names tensor, first index, both values, largest error."""


class BenchError(KernBenchError, RuntimeError):
    """A bench is registered or behaves wrongly (for instance it submits nothing: NO_REQUESTS)."""


class InvariantError(KernBenchError, AssertionError):
    """A run broke a rule that every run keeps; names the transaction, the place and the simulated time.

    ``invariant`` is one of ``bytes``, ``order``, ``capacity``, ``work``, ``times``, ``waits``,
    ``outstanding``; see :mod:`kernbench.sim.invariants`.
    """

    def __init__(self, message: str, invariant: str = "") -> None:
        super().__init__(message)
        self.invariant = invariant


class MissingExtraError(KernBenchError, ImportError):
    """An optional library is not installed; the message says how to install it."""
