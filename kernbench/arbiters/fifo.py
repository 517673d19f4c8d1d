"""First come, first served."""

from __future__ import annotations

from kernbench.sim.inputs import InputQueue
from kernbench.sim.port import Arbiter


class Fifo(Arbiter):
    """Flits go in the order in which they came.

    The default. Links do not ask it: when a flit comes it is known when its turn will be.
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
