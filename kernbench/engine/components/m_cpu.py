"""A cube's command processor: fans out to its PEs, reassembles their answers, moves data."""

from __future__ import annotations

from kernbench.engine.components.dma import DmaEngines, Job
from kernbench.engine.components.fan_out import FanOut
from kernbench.engine.core.transaction import Packet
from kernbench.engine.program.messages import LaunchMessage, QueueMessage, SetupMessage
from kernbench.hardware.kinds import TRANSLATORS
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.places import places


class MCpu(FanOut):
    """Commands for one cube, and a DMA of its own: one read and one write channel.

    The DMA is not a component: the waits of its transfers are recorded at the M_CPU. It knows physical
    addresses only. A channel is held for the dispatch of a transfer, and has up to ``outstanding`` of them in
    flight; an answer pays the M_CPU's overhead, as every message to it does.
    """

    def wired(self) -> None:
        """Set up the DMA."""
        self.dma = DmaEngines(
            self,
            Traffic.MCPU_DMA,
            self.system.addresses.requests,
            reading=1,
            writing=1,
            outstanding=self.integer("outstanding"),
        )
        self.parts = [self.dma]

    def submit(self, job: Job) -> None:
        """Queue a transfer of the DMA; ``job.done`` is called when it is over."""
        self.dma.submit(job)

    def receive(self, packet: Packet) -> None:
        """Receive a command, an answer to one, or the answer to a transfer of the DMA."""
        transaction = packet.transaction
        if transaction.message is None and transaction.src == self.resource:
            self.system.end(transaction)
        else:
            super().receive(packet)

    def waiting(self) -> list[str]:
        """Launches and transfers whose answers are not complete."""
        return [*super().waiting(), *self.dma.waiting()]

    def below(self, message: LaunchMessage) -> list[tuple[str, LaunchMessage]]:
        """The PE CPUs of this cube that take part."""
        (sip, cube, _), found = self.location, places(self.system.graph)
        pes = message.launch.pes(sip, cube)
        return [(found.part("pe_cpu", sip, cube, pe), message) for pe in pes]

    def split(self, message: SetupMessage) -> list[tuple[str, SetupMessage]]:
        """One share for each PE: for its translator, or for its queues."""
        sip, found = self.location[0], places(self.system.graph)
        part = TRANSLATORS[str(self.system.graph.properties["address_model"])]
        if isinstance(message, QueueMessage):
            part = "pe_cpu"
        return [(found.part(part, sip, *pe), message.share([pe])) for pe in message.pes]
