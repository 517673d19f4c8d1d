"""The PCIe endpoint: store and forward by default, a transit component with ``cut_through: true``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.components.base import Component
from kernbench.pgraph import Node
from kernbench.sim.node import STORE_AND_FORWARD, TRANSIT

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PcieEndpoint(Component):
    """Boundary between the tray's switch and a SIP; pays its overhead once a message (ADR-0038)."""

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self.role = TRANSIT if node.properties.get("cut_through") else STORE_AND_FORWARD
