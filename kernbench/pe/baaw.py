"""The PE's BAAW, which resolves logical addresses in front of PE_DMA in the ``la`` model (ADR-0011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.address import Baaw, PhysicalRequest
from kernbench.components.messages import MapMessage
from kernbench.pe.translator import Translator
from kernbench.pgraph import Node

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PeBaaw(Translator):
    """Segment table of one PE. A look-up costs its caller ``lookup_ns``."""

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self.delay_ns = self.number("lookup_ns")
        self.table = Baaw(machine.addresses)

    def extents(self, address: int, nbytes: int) -> list[tuple[int, int]]:
        """See :meth:`Translator.extents`."""
        return self.table.extents(address, nbytes)

    def requests(self, address: int, nbytes: int) -> list[PhysicalRequest]:
        """See :meth:`Translator.requests`."""
        return self.table.resolve(address, nbytes)

    def install(self, message: MapMessage) -> None:
        """See :meth:`Translator.install`."""
        if message.install:
            self.table.install(message.entries)
        else:
            for la, _, nbytes in message.entries:
                self.table.remove(la, nbytes)
