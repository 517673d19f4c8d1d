"""Address translation of a PE: one interface, one class for each address model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.system import System
from kernbench.engine.core.transaction import Packet
from kernbench.engine.program.messages import MapMessage
from kernbench.engine.program.operations import Region
from kernbench.errors import AddressError
from kernbench.hardware.address import Baaw, PageTable, PhysicalRequest
from kernbench.hardware.address.runs import Runs, joined
from kernbench.hardware.kinds import TRANSLATORS
from kernbench.support.pgraph import Node


class Translator(PeComponent, ABC):
    """Takes map and unmap messages and translates for its siblings.

    Translating takes ``delay_ns`` of the caller's time, for every caller.
    """

    delay_ns: float
    table: PageTable | Baaw
    remapped: Callable[[], None] = staticmethod(lambda: None)
    """Called when addresses lead elsewhere; set by the PE's DMA."""

    def regions(self, address: int, nbytes: int) -> tuple[Region, ...]:
        """Physical regions behind ``nbytes`` at ``address``, cut where another memory begins: the data."""
        split = self.system.addresses.split
        return tuple([
            Region(*piece) for run in self.extents(address, nbytes) for piece in split(*run)
        ])  # fmt: skip

    def extents(self, address: int, nbytes: int) -> list[tuple[int, int]]:
        """The physical runs ``(pa, nbytes)`` behind an address, in order."""
        return self.table.extents(address, nbytes)

    @abstractmethod
    def requests(self, address: int, nbytes: int) -> list[PhysicalRequest]:
        """The requests to memory for ``nbytes`` at ``address``: they determine the time."""

    def gathered(self, runs: Runs) -> tuple[list[PhysicalRequest], Sequence[Region]]:
        """Requests of one access to many runs, one for each controller or channel, and their physical bytes.

        Bytes between the runs belong to the same tensor, and are mapped alike.
        """
        addresses, (at, end) = self.system.addresses, runs.span
        found: dict[int, list[Runs]] = {}
        parts: list[Runs] = []
        for pa, nbytes in self.extents(at, end - at):
            for start, size in addresses.split(pa, nbytes):
                begin = at - runs.at
                form = runs.form.between(begin, begin + size)
                if form is not None:
                    parts.append(Runs(form, start - begin))
                    found.setdefault(addresses.memory_at(start), []).append(parts[-1])
                at += size
        requests = [request for mine in found.values() for request in addresses.gathered(joined(mine))]
        if len(parts) == 1:
            return requests, parts[0]
        return requests, tuple([region for part in parts for region in part])

    @abstractmethod
    def install(self, message: MapMessage) -> None:
        """Install or remove the ranges of ``message``."""

    def receive(self, packet: Packet) -> None:
        """Install or remove ranges; the request is answered as soon as that is done."""
        transaction = packet.transaction
        self.system.end(transaction)
        message: MapMessage = transaction.message
        error: Exception | None = None
        try:
            self.install(message)
        except AddressError as wrong:
            error = AddressError(f"{self.resource}: {wrong}")
        self.remapped()
        message.request.part_done(self.clock.now, error)


class PeMmu(Translator):
    """The MMU of the ``va`` and ``pa`` models: the page table of one PE.

    An address that is not mapped is taken as physical.
    In the ``pa`` model nothing is ever mapped and an address is its own translation.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.delay_ns = self.number("tlb_overhead_ns")
        PeMmu.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Translator.reset(self)
        self.table: PageTable = PageTable(self.integer("page_bytes"), self.system.addresses.bits)

    def requests(self, address: int, nbytes: int) -> list[PhysicalRequest]:
        """See :meth:`Translator.requests`."""
        requests, extents = self.system.addresses.requests, self.extents(address, nbytes)
        if len(extents) == 1:
            return [*requests(*extents[0])]
        return [request for pa, run in extents for request in requests(pa, run)]

    def install(self, message: MapMessage) -> None:
        """See :meth:`Translator.install`."""
        if message.install:
            self.table.map_all(message.entries)
        else:
            for va, _, nbytes in message.entries:
                self.table.unmap(va, nbytes)


class PeBaaw(Translator):
    """The BAAW of the ``la`` model: the segment table of one PE, in front of PE_DMA.

    A look-up costs its caller ``lookup_ns``.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.delay_ns = self.number("lookup_ns")
        PeBaaw.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Translator.reset(self)
        self.table: Baaw = Baaw(self.system.addresses)

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


def translator_of(part: PeComponent) -> Translator:
    """The translator of the PE that ``part`` belongs to."""
    found = part.sibling(TRANSLATORS[str(part.system.graph.properties["address_model"])])
    assert isinstance(found, Translator)
    return found
