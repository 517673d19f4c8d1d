"""A tab by its key, its title, and the function that works out what it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernbench.report.content import Content


@dataclass(frozen=True, slots=True)
class Screen:
    """A tab of a run.

    ``work_out`` takes a :class:`kernbench.Run` and a window as ``launch``, ``from_ns`` and ``to_ns``, as
    :meth:`kernbench.Run.window` has them; it raises ``UsageError`` for a window that the tab is not about.
    """

    key: str
    title: str
    work_out: Callable[..., Content]
