"""Transit: routers, the switch, UCIe ports and connections, the IO chiplet's NoC (hardware.md, "Time")."""

from __future__ import annotations

from kernbench.components.base import Component
from kernbench.sim.node import TRANSIT


class Transit(Component):
    """Hands flits on in order of arrival; its one worker pays ``overhead_ns`` for a packet's first flit.

    A subclass that replaces ``service_ns(packet, flit)`` is asked for the time of every flit.
    """

    role = TRANSIT

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.own_service = cls.service_ns is not Transit.service_ns
