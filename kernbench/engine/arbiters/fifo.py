"""First come, first served."""

from __future__ import annotations

from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.port import Arbiter


class Fifo(Arbiter):
    """Serves flits in order of arrival; the default.

    Links do not call it: a flit's turn is known on arrival.
    """

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        best = 0
        least = -1
        for place, line in enumerate(lines):
            one = line.first.order
            if least < 0 or one < least:
                best, least = place, one
        return best
