"""Routers and ports on the way of other components' messages: transit, channel routers, the PCIe endpoint."""

from __future__ import annotations

from kernbench.engine.components.base import Component
from kernbench.engine.components.system import System
from kernbench.engine.core.node import STORE_AND_FORWARD, TRANSIT
from kernbench.engine.core.transaction import Packet
from kernbench.support.pgraph import Node


class Transit(Component):
    """Routers, the switch, UCIe ports and connections, the IO chiplet's NoC.

    Forwards flits as they come; the first flit of a packet takes ``overhead_ns``. With ``worker: pipelined``
    any number of messages pass through it at the same time, and flits queue for an output when they are
    ready.
    With ``worker: serial`` one worker serves all flits in order of arrival. Where a subclass replaces
    ``service_ns(packet, flit)``, it is called for every flit.
    """

    role = TRANSIT


class ChannelRouter(Transit):
    """The router of one pseudo-channel of an HBM slice (mapping ``one_to_one``).

    It lies between its slice's router and controller; every request that passes pays its overhead.
    """

    own_service = True

    def service_ns(self, packet: Packet, flit: int) -> float:
        """Each request pays, even within one access: every request has a channel to itself."""
        return self.overhead() if flit == 0 else 0.0


class PcieEndpoint(Component):
    """Boundary between the tray's switch and a SIP; pays its overhead once a message.

    Stores and forwards messages by default; with ``cut_through: true`` it is a transit component.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.role = TRANSIT if node.properties.get("cut_through") else STORE_AND_FORWARD
