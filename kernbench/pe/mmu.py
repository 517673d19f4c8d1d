"""The PE's MMU, which translates in the ``va`` and ``pa`` models (ADR-0039)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.address import PageTable, PhysicalRequest
from kernbench.components.messages import MapMessage
from kernbench.pe.translator import Translator
from kernbench.pgraph import Node

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PeMmu(Translator):
    """Page table of one PE. An address that is not mapped is taken as physical.

    In the ``pa`` model nothing is ever mapped and an address is its own translation.
    """

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self.delay_ns = self.number("tlb_overhead_ns")
        self.table = PageTable(self.integer("page_bytes"))

    def extents(self, address: int, nbytes: int) -> list[tuple[int, int]]:
        """See :meth:`Translator.extents`."""
        return self.table.extents(address, nbytes)

    def requests(self, address: int, nbytes: int) -> list[PhysicalRequest]:
        """See :meth:`Translator.requests`."""
        requests = self.machine.addresses.requests
        return [request for pa, run in self.extents(address, nbytes) for request in requests(pa, run)]

    def install(self, message: MapMessage) -> None:
        """See :meth:`Translator.install`."""
        if message.install:
            self.table.map_all(message.entries)
        else:
            for va, _, nbytes in message.entries:
                self.table.unmap(va, nbytes)
