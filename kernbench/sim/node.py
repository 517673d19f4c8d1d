"""The machine as the fabric sees it: nodes and links, each a FIFO server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.compiled import core
from kernbench.pgraph import Edge
from kernbench.sim.server import Server

if TYPE_CHECKING:
    from kernbench.sim.transaction import Packet

TRANSIT = 0
STORE_AND_FORWARD = 1


class FabricNode(Server):
    """A component as the fabric sees it.

    ``role``: a ``TRANSIT`` node hands every flit on as it comes, its serial worker paying
    ``overhead_ns`` for the first flit of a packet; a ``STORE_AND_FORWARD`` node waits for the whole
    message and pays once. A node whose ``takes_flits`` is set gets every flit of a packet that ends at
    it (memories); others receive the whole message at once.
    """

    role = STORE_AND_FORWARD
    takes_flits = False
    sends = False
    """Set where a transit node also puts packets of its own onto the links that it passes others on to."""
    own_service = False
    """Set where a subclass replaces :meth:`service_ns`; the fabric then asks it for every flit."""

    plain_service = True
    """Whether :meth:`service_ns` is the one below, which the fabric then works out itself."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.plain_service = cls.service_ns is FabricNode.service_ns

    def __init__(self, resource: str, overhead_ns: float) -> None:
        super().__init__(resource)
        self.overhead_ns = overhead_ns

    def service_ns(self, packet: Packet, flit: int) -> float:
        """Time that the worker of a transit node spends on flit number ``flit`` of ``packet``, ns."""
        return self.overhead_ns if flit == 0 and packet.pays else 0.0

    def receive(self, packet: Packet) -> None:
        """A whole message has arrived here and its overhead is paid."""
        raise TypeError(f"'{self.resource}' is no destination, but a message of kind "
                        f"'{packet.transaction.kind}' ended there")  # fmt: skip

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """A flit has arrived at a node whose ``takes_flits`` is set."""
        raise TypeError(f"'{self.resource}' takes no flits")


class Link(Server):
    """A directed wire: ``bytes / bw_gbs`` ns of occupancy a flit, then ``delay_ns`` of flight."""

    def __init__(self, edge: Edge, flit_bytes: int) -> None:
        super().__init__(edge.id)
        self.edge = edge
        self.kind = str(edge.properties["kind"])
        self.bw_gbs = float(edge.properties["bw_gbs"])
        self.delay_ns = float(edge.properties["delay_ns"])
        self.flit_ns = flit_bytes / self.bw_gbs
        self.streams = 0
        """Messages that crossed it within a PE, without the fabric (:meth:`stream`)."""
        self.streamed_bytes = 0
        self._stream_free = 0.0

    def stream(self, head: float, nbytes: int) -> float:
        """A message within a PE crosses, cut through: its bytes leave as they come.

        Streams go one after the other. They do not queue behind flits of the fabric that cross the same
        link, nor these behind them.

        Args:
            head: when the first byte stands before the link, ns.
            nbytes: size of the message.

        Returns:
            When the last byte would be across if all bytes stood before the link at ``head``. A sender or
            receiver that is slower than the link determines the time itself.
        """
        start = max(head, self._stream_free)
        end = self._stream_free = start + nbytes / self.bw_gbs
        self.streams += 1
        self.streamed_bytes += nbytes
        self.arrive(start)
        self.leave(end + self.delay_ns, nbytes, nbytes / self.bw_gbs, 0.0)
        return end


if core is not None:
    del Link.stream  # the compiled server has it
