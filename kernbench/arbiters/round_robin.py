"""The inputs of a node take turns."""

from __future__ import annotations

from kernbench.sim.inputs import InputQueue
from kernbench.sim.port import Arbiter


class RoundRobin(Arbiter):
    """The next input after the one that was served last, flit by flit, and after the last input the first.

    The node's own messages are its first input; links follow in the order of the topology. Inputs where
    nothing stands are passed over.
    """

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        for place, line in enumerate(lines):
            if line.number > last:
                return place
        return 0
