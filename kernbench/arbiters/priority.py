"""A fixed priority of inputs."""

from __future__ import annotations

from kernbench.sim.inputs import InputQueue
from kernbench.sim.port import Arbiter


class Priority(Arbiter):
    """The first input where anything stands, always: the node's own messages, then links in their order.

    The order is that of the topology. Later inputs wait for as long as earlier ones go on.
    """

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        return 0
