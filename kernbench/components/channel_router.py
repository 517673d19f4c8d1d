"""The router of one pseudo-channel of an HBM slice (mapping ``one_to_one``; ADR-0017 D8)."""

from __future__ import annotations

from kernbench.components.transit import Transit
from kernbench.sim.transaction import Packet


class ChannelRouter(Transit):
    """Between its slice's router and controller; every request that passes pays its overhead."""

    def service_ns(self, packet: Packet, flit: int) -> float:
        """Unlike elsewhere, not once for an access: each of its requests has a channel to itself."""
        return self.overhead_ns if flit == 0 else 0.0
