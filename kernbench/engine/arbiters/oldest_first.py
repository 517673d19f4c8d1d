"""The oldest transaction goes first."""

from __future__ import annotations

from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.port import Arbiter


class OldestFirst(Arbiter):
    """Picks, of the flits at the heads of the queues, the one whose transaction was issued first.

    A message that has come a long way is not overtaken by one that has just been sent.
    """

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        best = 0
        least = -1
        for place, line in enumerate(lines):
            one = line.first.packet.transaction.id
            if least < 0 or one < least:
                best, least = place, one
        return best
