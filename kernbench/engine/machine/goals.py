"""Goals that a machine lets time run for, beside answers to requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kernbench.engine.core.clock import Finishable
from kernbench.engine.core.transaction import Transaction


class Answered:
    """Reached when no transaction is under way. ``in_flight`` are those that are, by id."""

    def __init__(self, in_flight: Mapping[int, Transaction]) -> None:
        self._in_flight = in_flight

    @property
    def done(self) -> bool:
        """See :class:`Finishable`."""
        return not self._in_flight


class _Never:
    done = False


NEVER: Final[Finishable] = _Never()
"""Not reached: everything happens that can."""
