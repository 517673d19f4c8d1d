"""The part of a PE that knows what its addresses mean: one interface, one class an address model."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kernbench.address import PhysicalRequest
from kernbench.components.messages import MapMessage
from kernbench.errors import AddressError
from kernbench.pe.part import PePart
from kernbench.sim.ops import Region
from kernbench.sim.transaction import Packet
from kernbench.topology import names


class Translator(PePart, ABC):
    """Takes map and unmap messages and translates for its siblings (ADR-0011, ADR-0039).

    Translating takes ``delay_ns`` of the caller's time, for every caller.
    """

    delay_ns: float

    def regions(self, address: int, nbytes: int) -> tuple[Region, ...]:
        """Physical regions behind ``nbytes`` at ``address``, cut where another memory begins: the data."""
        split = self.machine.addresses.split
        return tuple(
            Region(pa, length)
            for start, run in self.extents(address, nbytes)
            for pa, length in split(start, run)
        )

    @abstractmethod
    def extents(self, address: int, nbytes: int) -> list[tuple[int, int]]:
        """The physical runs ``(pa, nbytes)`` behind an address, in order."""

    @abstractmethod
    def requests(self, address: int, nbytes: int) -> list[PhysicalRequest]:
        """What to send to memory for ``nbytes`` at ``address``: the time."""

    @abstractmethod
    def install(self, message: MapMessage) -> None:
        """Install or remove the ranges of ``message``."""

    def receive(self, packet: Packet) -> None:
        """Install or remove ranges; the request is answered as soon as that is done."""
        transaction = packet.transaction
        self.machine.end(transaction)
        message: MapMessage = transaction.message
        error: Exception | None = None
        try:
            self.install(message)
        except AddressError as wrong:
            error = AddressError(f"{self.resource}: {wrong}")
        message.request.part_done(self.clock.now, error)


def translator_of(part: PePart) -> Translator:
    """The translator of the PE that ``part`` belongs to."""
    found = part.sibling(names.TRANSLATORS[str(part.machine.graph.properties["address_model"])])
    assert isinstance(found, Translator)
    return found
