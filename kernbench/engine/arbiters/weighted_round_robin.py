"""The inputs of a node take turns, some of them several in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.port import Arbiter
from kernbench.errors import ConfigError

if TYPE_CHECKING:
    from kernbench.engine.core.node import Link
    from kernbench.engine.core.server import Server


class WeightedRoundRobin(Arbiter):
    """Like ``round_robin``, but an input sends as many flits in a row as its attribute ``weight`` says.

    ``weight`` belongs to the links that lead to the node, one or all of a kind; the node's own messages have
    the ``own_weight`` of the link that the arbiter decides about. Both default to 1. An input with nothing
    more to send gives up the rest of its turn.
    """

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self._weights: dict[Server, int] = {}
        self.reset()

    def reset(self) -> None:
        """See :meth:`Arbiter.reset`."""
        self._left = 0
        """Flits that the last input served may still send in this turn."""

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """See :meth:`Arbiter.pick`."""
        following = 0
        for place, line in enumerate(lines):
            if line.number == last and self._left > 0:
                self._left -= 1
                return place
            if line.number > last:
                following = place
                break
        self._left = self._weight(lines[following].source) - 1
        return following

    def _weight(self, source: Server) -> int:
        weight = self._weights.get(source)
        if weight is None:
            own, key = (self.link, "own_weight") if source is self.inputs[0] else (source, "weight")
            weight = own.edge.properties.get(key, 1)  # type: ignore[attr-defined]
            if not isinstance(weight, int) or weight < 1:
                raise ConfigError(
                    f"link '{own.resource}': attribute '{key}' is {weight!r}, expected an integer from 1 on"
                )
            self._weights[source] = weight
        return weight
