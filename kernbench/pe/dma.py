"""PE_DMA: moves data between the PE and every memory, over the fabric (ADR-0014 D4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.pe.engine import Engine, EngineGroup, Job
from kernbench.pe.mmu import PeMmu
from kernbench.pe.part import PePart, Token
from kernbench.pgraph import Node
from kernbench.routing import Traffic
from kernbench.sim.node import TRANSIT
from kernbench.sim.ops import Region
from kernbench.sim.transaction import HopRow, Packet, Transaction

if TYPE_CHECKING:
    from kernbench.components.machine import Machine


class PeDma(PePart):
    """Read engines and write engines side by side; within a direction one job at a time an engine.

    A job that spans several memories sends one transaction to each, all at once. It is done when the last
    is answered.
    """

    role = TRANSIT  # on the way to its own PE's TCM; as a destination it takes whole messages

    def __init__(self, node: Node, machine: Machine) -> None:
        super().__init__(node, machine)
        self._reading = EngineGroup(f"{node.id}#read", self.integer("read_engines"))
        self._writing = EngineGroup(f"{node.id}#write", self.integer("write_engines"))

    def wired(self) -> None:
        """Find the MMU."""
        mmu = self.sibling("pe_mmu")
        assert isinstance(mmu, PeMmu)
        self._mmu = mmu

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
        job.t_ready = self.clock.now
        group = self._writing if job.is_write else self._reading
        group.queue.append(job)
        self.max_queue = max(self.max_queue, group.jobs())
        self._next(group)

    def _next(self, group: EngineGroup) -> None:
        engine = group.free_engine()
        if engine is None or not group.queue:
            return
        job = group.queue.popleft()
        engine.busy = True
        job.engine = engine
        job.t_start = self.clock.now
        overhead = self._mmu.tlb_overhead_ns
        if overhead > 0.0:
            self.clock.call_at(job.t_start + overhead, self._issue, job, engine)
        else:
            self._issue(job, engine)

    def _issue(self, job: Job, engine: Engine) -> None:
        machine = self.machine
        op = job.op
        regions = self._mmu.regions(job.address, job.nbytes)
        self._translated(job, regions)
        job.open = len(regions)
        sent: list[tuple[Transaction, int]] = []
        for region in regions:
            target = machine.addresses.resolve(region.addr)
            path = machine.path(self.resource, target.component, Traffic.PE_DMA)
            transaction = machine.begin(
                job.kind,
                path,
                region.nbytes,
                job.t_ready,
                op=op.id,
                address=target.offset,
                is_write=job.is_write,
            )
            transaction.on_done = lambda _, job=job: self._answered(job)
            op.transactions.append(transaction.id)
            self._engine_hop(transaction, job, engine)
            sent.append((transaction, region.nbytes))
        engine.hold(job.t_start, sent[0][0], waited=job.t_start > job.t_ready)
        if job.is_write:
            self.bytes += job.nbytes
        for transaction, nbytes in sent:
            data = nbytes if job.is_write else 0
            machine.fabric.send(Packet(transaction, transaction.path, data, machine.flit_bytes))

    @staticmethod
    def _translated(job: Job, regions: tuple[Region, ...]) -> None:
        """Loads and stores of a kernel name their memory; tiles do not."""
        op = job.op
        if op.kind == "memory":
            operand = op.output if job.is_write else op.inputs[0]
            assert operand is not None
            operand.regions = regions

    def _engine_hop(self, transaction: Transaction, job: Job, engine: Engine) -> None:
        """The time between submission and the first link: waiting for the engine, then the TLB."""
        wait = 0.0
        if job.t_start > job.t_ready:
            wait = transaction.blame(self.index, engine.waited_for(transaction, job.t_ready, job.t_start))
        self.wait_ns += wait
        if transaction.traced:
            now = self.clock.now
            service = now - job.t_ready - wait
            transaction.rows.append(
                HopRow(self.index, job.t_ready, job.t_start, now, service, wait, transaction.nbytes)
            )

    def receive(self, packet: Packet) -> None:
        """The data of a read or the acknowledgement of a write."""
        self.machine.end(packet.transaction)

    def _answered(self, job: Job) -> None:
        job.open -= 1
        if job.open:
            return
        engine = job.engine
        assert engine is not None
        now = self.clock.now
        engine.busy = False
        group = self._writing if job.is_write else self._reading
        self.both_ways(job.is_write, (now - job.t_start) / len(group.engines))
        self.finish(job.op, job.t_ready, job.t_start, now)
        self._next(group)
        job.done()

    def waiting(self) -> list[str]:
        """Transfers that are not answered."""
        lines = []
        for group, word in ((self._reading, "read"), (self._writing, "write")):
            if group.jobs():
                lines.append(f"{self.resource} has {group.jobs()} unanswered {word} jobs")
        return lines
