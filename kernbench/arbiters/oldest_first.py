"""The oldest transaction goes first."""

from __future__ import annotations

from kernbench.sim.port import Arbiter, Line


class OldestFirst(Arbiter):
    """Of the flits at the heads of the lines, that of the transaction that was issued first.

    A message that has come a long way is not passed by one that has just set out.
    """

    def pick(self, lines: list[Line], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        return min(range(len(lines)), key=lambda place: lines[place].first.packet.transaction.id)
