"""What the fabric sees of the machine: nodes and links, each a FIFO server."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    it (memories); others are told of the whole message.
    """

    role = STORE_AND_FORWARD
    takes_flits = False
    sends = False
    """Set where a transit node also puts packets of its own onto the links that it passes others on to."""
    own_service = False
    """Set where a subclass replaces :meth:`service_ns`; the fabric then asks it for every flit."""

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

    def __init__(self, resource: str, kind: str, bw_gbs: float, delay_ns: float, flit_bytes: int) -> None:
        super().__init__(resource)
        self.kind = kind
        self.bw_gbs = bw_gbs
        self.delay_ns = delay_ns
        self.flit_ns = flit_bytes / bw_gbs
