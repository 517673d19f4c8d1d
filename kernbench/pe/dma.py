"""PE_DMA: moves data between the PE and every memory, over the fabric (ADR-0014 D4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.components.dma import DmaEngines, Job
from kernbench.pe.part import PePart, Token
from kernbench.pe.translator import translator_of
from kernbench.pgraph import Node
from kernbench.routing import Traffic
from kernbench.sim.node import TRANSIT
from kernbench.sim.transaction import Packet

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PeDma(PePart):
    """Read engines and write engines side by side; within a direction one job at a time an engine."""

    role = TRANSIT  # on the way to its own PE's TCM; as a destination it takes whole messages
    sends = True

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        # With an overhead, flits that pass may be held back; the worker then takes every one of them.
        self.own_service = self.overhead_ns > 0.0

    def wired(self) -> None:
        """Find what translates for it."""
        translator = translator_of(self)
        self.engines = DmaEngines(
            self,
            Traffic.PE_DMA,
            translator.regions,
            translator.requests,
            reading=self.integer("read_engines"),
            writing=self.integer("write_engines"),
            translation_ns=translator.delay_ns,
            used=self.both_ways,
        )

    def accept(self, token: Token) -> None:
        """A DMA stage of a tile: its transfers in order, then on."""
        stage = token.stage
        kind = "dma_read" if stage.kind == "DMA_READ" else "dma_write"
        left = len(stage.transfers)

        def transfer_done() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self.pass_on(token)

        for address, nbytes in stage.transfers:
            op = self.stage_op(token)
            op.nbytes = nbytes
            self.submit(Job(op, kind, address, nbytes, transfer_done))

    def submit(self, job: Job) -> None:
        """Queue a job; ``job.done`` is called when it is over."""
        self.engines.submit(job)

    def check(self, address: int, nbytes: int) -> None:
        """Refuse a transfer that cannot be carried out; see :meth:`DmaEngines.check`."""
        self.engines.check(address, nbytes)

    def receive(self, packet: Packet) -> None:
        """The data of a read or the acknowledgement of a write."""
        self.machine.end(packet.transaction)

    def waiting(self) -> list[str]:
        """Transfers that are not answered."""
        return self.engines.waiting()
