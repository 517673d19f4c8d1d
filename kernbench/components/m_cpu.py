"""A cube's command processor: fans out to its PEs, gathers their answers, moves data (ADR-0035)."""

from __future__ import annotations

from dataclasses import replace

from kernbench.components.dma import DmaEngines, Job
from kernbench.components.fan_out import FanOut
from kernbench.components.launch import Launch
from kernbench.components.messages import MapMessage
from kernbench.routing import Traffic
from kernbench.sim.ops import Region
from kernbench.sim.transaction import Packet
from kernbench.topology import names


class MCpu(FanOut):
    """Commands for one cube, and a DMA of its own: one read and one write channel (ADR-0035 D3).

    The DMA is no component: what its transfers wait for is told of the M_CPU. It knows physical addresses
    only. A channel is held from a transfer's start to its answer, as an engine of PE_DMA is; the answer
    pays the M_CPU's overhead, as every message to it does.
    """

    def wired(self) -> None:
        """Set up the DMA."""
        self.dma = DmaEngines(
            self, Traffic.MCPU_DMA, self._regions, self.machine.addresses.requests, reading=1, writing=1
        )

    def _regions(self, address: int, nbytes: int) -> tuple[Region, ...]:
        return tuple(Region(pa, length) for pa, length in self.machine.addresses.split(address, nbytes))

    def submit(self, job: Job) -> None:
        """Queue a transfer of the DMA; ``job.done`` is called when it is over."""
        self.dma.submit(job)

    def receive(self, packet: Packet) -> None:
        """A command, an answer to one, or the answer to a transfer of the DMA."""
        transaction = packet.transaction
        if transaction.message is None and transaction.src == self.resource:
            self.machine.end(transaction)
        else:
            super().receive(packet)

    def waiting(self) -> list[str]:
        """Launches and transfers with answers missing."""
        return [*super().waiting(), *self.dma.waiting()]

    def below(self, launch: Launch) -> list[str]:
        """The PE CPUs of this cube that take part."""
        sip, cube, _ = self.place
        return [names.pe_part(sip, cube, pe, "pe_cpu") for pe in launch.pes(sip, cube)]

    def split(self, message: MapMessage) -> list[tuple[str, MapMessage]]:
        """One share a PE: the part that translates there."""
        sip, cube, _ = self.place
        part = names.TRANSLATORS[str(self.machine.graph.properties["address_model"])]
        return [
            (names.pe_part(sip, cube, pe, part), replace(message, pes=((cube, pe),))) for _, pe in message.pes
        ]
