"""A fixed priority of inputs."""

from __future__ import annotations

from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.port import Arbiter


class Priority(Arbiter):
    """Always picks the first input with a flit.

    The order is: the node's own messages, then links as the topology has them. Later inputs can starve.
    """

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        return 0
