"""The context of the rank that is running, for calls that name none."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.host.context import Context

_RUNNING: ContextVar[Context] = ContextVar("kernbench_context")
"""Set at the start of each rank: a greenlet has variables of its own, which end with it."""


def enter(context: Context) -> None:
    """From here on the running rank belongs to ``context``."""
    _RUNNING.set(context)


def running() -> bool:
    """Whether a rank is running, in this thread."""
    return _RUNNING.get(None) is not None


def context_of(given: Context | None, what: str) -> Context:
    """``given``, else the context of the rank that is running.

    Raises:
        UsageError: Neither is there; ``what`` is the call.
    """
    found = _RUNNING.get(None) if given is None else given
    if found is None:
        raise UsageError(f"{what}: outside of a rank pass torch=, the context that the bench was given")
    return found
