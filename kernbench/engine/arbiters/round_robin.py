"""The inputs of a node take turns."""

from __future__ import annotations

from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.port import Arbiter


class RoundRobin(Arbiter):
    """Picks the next input after the one served last, flit by flit, and wraps around.

    The node's own messages are its first input; links follow in the order of the topology. Empty inputs are
    skipped.
    """

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        for place, line in enumerate(lines):
            if line.number > last:
                return place
        return 0
