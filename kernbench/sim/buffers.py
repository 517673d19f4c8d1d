"""Finite buffers at the far end of links, virtual channels, and their credits.

A link with buffers has, at its far end, room for so many flits in each of its virtual channels. A message
takes a channel with its first flit and gives it up with its last. A flit needs a credit of its channel, that
is room at the far end; the credit comes back over the wire when the flit has left the buffer.

Credits on their way are times in a heap and no events: a port counts those that are back when it decides, and
is woken for one only where a flit waits for it. Also tried: a message back for each credit (an event a flit,
nearly always for nobody), and room counted at the receiver (a sender would know it before the wire tells).

All of this is asked for by a topology (``links``); ports of links without it know nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.sim.holding import Departures
from kernbench.sim.inputs import InputQueue
from kernbench.sim.server import Server

if TYPE_CHECKING:
    from kernbench.sim.node import Link
    from kernbench.sim.port import Port


class VirtualChannel:
    """One channel of a link: who has it, its credits, and the ``queue`` of those in its buffer."""

    def __init__(self, buffer: Buffer, number: int) -> None:
        self.buffer = buffer
        self.number = number
        self.queue = InputQueue(buffer.link, buffer.link.index * buffer.spread + number, self, True)
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self.queue.reset()
        self.taken = False
        self.holder: Any = None
        """The transaction that has it, or had it last."""
        self.free_from = 0.0
        """From when on another packet can have it, once it is not taken."""
        self.left = self.buffer.flits
        """Credits that have come back."""
        self.coming = Departures()
        """When those come back that are on their way."""
        self.wanted = False
        """Whether a flit stands that needs a credit of it and does not know when one comes."""

    def credits(self, now: float) -> int:
        """Credits that the sender has at ``now``."""
        self.left += self.coming.gone(now)
        return self.left

    def give_back(self, time: float) -> None:
        """A credit reaches the sender at ``time``."""
        self.coming.add(time)
        if self.wanted:
            self.wanted = False
            port: Port = self.buffer.link.port
            port.wake(time)


class Buffer(Server):
    """The input buffers at the far end of ``link``: ``vcs`` virtual channels of ``flits`` flits each.

    Args:
        resource: Its name.
        link: The link that fills them.
        flits: Room of each.
        vcs: How many there are.
        credit_ns: Time from when a flit has left until the sender knows it.
        allocation_ns: Time that a message at its turn takes to get a channel.
        dateline: Messages go on in the upper half of the channels from this link on, in the lower half before
            any such link.
        spread: Numbers between the inputs of one link and those of the next.
    """

    def __init__(
        self,
        resource: str,
        link: Link,
        flits: int,
        vcs: int,
        *,
        credit_ns: float,
        allocation_ns: float = 0.0,
        dateline: bool = False,
        spread: int = 0,
    ) -> None:
        super().__init__(resource)
        self.link = link
        self.flits = flits
        self.credit_ns = credit_ns
        self.allocation_ns = allocation_ns
        self.dateline = dateline
        self.spread = spread or vcs
        self.node: Any = None
        """Its node of the compiled graph."""
        self.channels: list[VirtualChannel] = [None] * vcs  # type: ignore[list-item]
        for number in range(vcs):
            self.channels[number] = VirtualChannel(self, number)
        Buffer.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Server.reset(self)
        self.reading = 0.0
        """When the flit that leaves any of its channels has done so: they are read one at a time."""
        for channel in self.channels:
            channel.reset()
