"""The PE's MMU: takes map and unmap messages, translates for its siblings (ADR-0039)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.address import PageTable
from kernbench.components.messages import MapMessage
from kernbench.errors import AddressError
from kernbench.pe.part import PePart
from kernbench.pgraph import Node
from kernbench.sim.ops import Region
from kernbench.sim.transaction import Packet

if TYPE_CHECKING:
    from kernbench.components.machine import Machine


class PeMmu(PePart):
    """Page table of one PE. Translating takes ``tlb_overhead_ns`` of the caller's time, for every caller.

    In the ``pa`` model nothing is ever mapped and an address is its own translation.
    """

    def __init__(self, node: Node, machine: Machine) -> None:
        super().__init__(node, machine)
        self.tlb_overhead_ns = self.number("tlb_overhead_ns")
        self.table = PageTable(self.integer("page_bytes"))

    def regions(self, address: int, nbytes: int) -> tuple[Region, ...]:
        """Physical regions behind ``nbytes`` at ``address``, cut where another memory begins.

        An address that is not mapped is taken as physical.
        """
        split = self.machine.addresses.split
        return tuple(
            Region(pa, length)
            for start, run in self.table.extents(address, nbytes)
            for pa, length in split(start, run)
        )

    def receive(self, packet: Packet) -> None:
        """Install or remove ranges; the request is answered as soon as that is done."""
        transaction = packet.transaction
        self.machine.end(transaction)
        message: MapMessage = transaction.message
        error: Exception | None = None
        try:
            if message.install:
                self.table.map_all(message.entries)
            else:
                for va, _, nbytes in message.entries:
                    self.table.unmap(va, nbytes)
        except AddressError as wrong:
            error = AddressError(f"{self.resource}: {wrong}")
        message.request.part_done(self.clock.now, error)
