"""PE_DMA: moves data between the PE and every memory, over the fabric."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from kernbench.engine.components.base import is_users_class
from kernbench.engine.components.dma import DmaEngines, Job
from kernbench.engine.components.pe_component import PeComponent, Token, held_by
from kernbench.engine.components.pe_compute import ComputeEngine, PeGemm
from kernbench.engine.components.pe_translator import translator_of
from kernbench.engine.components.system import System
from kernbench.engine.core.node import TRANSIT, Link
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import LINK_START, Packet
from kernbench.hardware.routing import Traffic
from kernbench.support.pgraph import Node

if TYPE_CHECKING:
    from kernbench.engine.components.queue_channel import QueueChannel


class Transfers:
    """The transfers of a DMA stage of a tile."""

    def __init__(self, dma: PeDma, token: Token, left: int) -> None:
        self.dma = dma
        self.token = token
        self.left = left

    def one_done(self) -> None:
        """Called when one of them is over; after the last one the tile goes on."""
        self.left -= 1
        if not self.left:
            self.dma.pass_on(self.token)


class PeDma(PeComponent):
    """Read engines and write engines side by side, each with several jobs in flight."""

    role = TRANSIT  # on the way to its own PE's TCM; as a destination it takes whole messages
    sends = True

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        # With an overhead, flits that pass may be held back; the worker then takes every one of them.
        self.own_service = self.overhead_ns > 0.0
        said = node.properties.get
        self._issue_cycles = float(said("issue_load_cycles", 0.0))
        self._issue_bytes = float(said("issue_bytes_per_cycle", 0.0))
        self.issues = self._issue_cycles + self._issue_bytes > 0.0
        """Whether a kernel's loads cost the PE issue time."""
        self._rearrange_cycles = float(said("rearrange_cycles", 0.0))
        self._rearrange_bytes = float(said("rearrange_bytes_per_cycle", 0.0))
        self.rearranges = self._rearrange_cycles + self._rearrange_bytes > 0.0
        """Whether stores do, on a PE that has multiplied in its launch."""
        self.issue_slot = Server(f"{node.id}#issue")
        """The server that they occupy for that time."""
        self.queue_channel: QueueChannel | None = None
        """The third channel, for queues; opened by PE_IPCQ."""

    def wired(self) -> None:
        """Find the translator, and the links to TCM and router."""
        translator = translator_of(self)
        tcm = self._tcm_name = self.sibling("pe_tcm").resource
        self._tcm_out = self.system.link(tcm, self.resource)
        self._tcm_in = self.system.link(self.resource, tcm)
        self._router_gbs = _router_gbs(self.resource, self.system)
        self.dma = DmaEngines(
            self,
            Traffic.PE_DMA,
            translator.requests,
            gathered=translator.gathered,
            reading=self.integer("read_engines"),
            writing=self.integer("write_engines"),
            outstanding=self.integer("outstanding"),
            translation_ns=translator.delay_ns,
            used=self._engines_used,
            source=self._sent_from_tcm,
            sink=self._into_tcm,
            keeps=not is_users_class(type(translator)),
        )
        translator.remapped = self.dma.remapped
        self.parts = [self.dma, self.issue_slot]
        gemm = self.sibling("pe_gemm")
        assert isinstance(gemm, PeGemm)
        self._gemm = gemm
        self._cycle_ns = 1.0 / self.sibling("pe_cpu").number("clock_ghz")

    def _engines_used(self, write: bool, busy_ns: float) -> None:
        self.count_use(write, busy_ns)

    def from_tcm(self, nbytes: int) -> float:
        """When the first byte of data that cross from the TCM is here, ns."""
        head = max(self.clock.time, self._tcm_out.stream_free)
        self._tcm_out.stream(head, nbytes)
        return head

    def feeding_gbs(self) -> float:
        """What the link from the TCM carries, GB/s; 0 where no link to a router waits for it."""
        return self._tcm_out.bw_gbs if self._tcm_out.bw_gbs < self._router_gbs else 0.0

    def _sent_from_tcm(self, job: Job) -> float:
        """When the data of a write may be sent, ns; they may come later (``job.feeding_gbs``)."""
        if not self._is_local(job):
            head, job.feeding_gbs = self.from_tcm(job.nbytes), self.feeding_gbs()
            job.t_head = head if job.feeding_gbs > 0.0 else 0.0
        return job.t_issued

    def _into_tcm(self, job: Job) -> float:
        """When the data of a read that have come are in the TCM, ns; it takes them as they come."""
        now = self.clock.time
        if job.t_issued > now:
            now = job.t_issued
        if self._is_local(job):
            return now
        across = self._tcm_in.stream(job.t_first, job.nbytes)
        return max(now, across) if self._tcm_in.bw_gbs < self._router_gbs else now

    def _is_local(self, job: Job) -> bool:
        """Whether data stay in the PE's TCM: they cross its links as traffic of the fabric."""
        if not job.requests:
            return False
        first = job.requests[0]
        return first.component == self._tcm_name

    def accept(self, token: Token) -> None:
        """Carry out a DMA stage of a tile: its transfers in order, then pass the tile on."""
        stage = token.stage
        reading = stage.kind == "DMA_READ"
        kind = "dma_read" if reading else "dma_write"
        served = None if reading else token.pipeline.written
        moving = Transfers(self, token, len(stage.transfers))
        for op, transfer in zip(self.stage_ops(token, moving.left), stage.transfers, strict=True):
            op.nbytes = transfer.nbytes
            self.submit(Job(op, kind, transfer.runs, moving.one_done, served))

    def issue(self, job: Job) -> None:
        """Queue a kernel's load, counted from when the PE begins to issue it."""
        start = self._take_slot(job, self._issue_cycles, self._issue_bytes)
        if start > self.clock.time:
            self.clock.call_at(start, self.submit, job)
        else:
            self.submit(job)

    def store(self, job: Job) -> None:
        """Queue a kernel's store, whose data are sent when results of products are in the order of memory."""
        if self._gemm.multiplied:
            self._take_slot(job, self._rearrange_cycles, self._rearrange_bytes)
        self.submit(job)

    def _take_slot(self, job: Job, cycles: float, rate: float) -> float:
        """When the PE begins what it does itself for a job, which takes it until ``job.t_issued``, ns."""
        if rate > 0.0:
            cycles += job.nbytes / rate
        now, slot = self.clock.time, self.issue_slot
        if "issue_slot" in self.node.properties:
            math = self.sibling("pe_math")
            assert isinstance(math, ComputeEngine)
            slot = math.slot
        duration = cycles * self._cycle_ns * self._gemm.slowed
        if slot.free > now and (before := held_by(slot)) >= 0:
            job.op.after.append((before, "slot"))
        start = slot.occupy(now, duration, job.op)
        job.t_issued = start + duration
        return start

    def submit(self, job: Job) -> None:
        """Queue a job; ``job.done`` is called when it is over."""
        self.dma.submit(job)

    def receive(self, packet: Packet) -> None:
        """Receive the data of a read, the acknowledgement of a write, or a message of a queue."""
        if packet.transaction.message is None:
            hops = packet.path.hops
            link: Link = packet.path.links[hops - 1]
            packet.transaction.t_first = packet.time_at(LINK_START, hops - 1) + link.delay_ns
            self.system.end(packet.transaction)
        else:
            assert self.queue_channel is not None
            self.queue_channel.receive(packet)

    def waiting(self) -> list[str]:
        """Transfers that are not answered yet."""
        return self.dma.waiting()


def _router_gbs(dma: str, system: System) -> float:
    """Bandwidth of the links from a DMA engine to its router, GB/s."""
    out = system.graph.out_edges(dma, "LINK")
    return max(
        (float(e.properties["bw_gbs"]) for e in out if e.properties["kind"] == "pe_to_router"), default=inf
    )
