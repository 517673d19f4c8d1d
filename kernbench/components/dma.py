"""DMA engines, as a PE and an M_CPU have them (ADR-0014 D4, ADR-0035 D3): queues of transfers to memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from kernbench.address import PhysicalRequest
from kernbench.components import access
from kernbench.errors import AddressError
from kernbench.pgraph import PropertyGraph
from kernbench.routing import Traffic
from kernbench.sim.ops import Op, Region
from kernbench.sim.server import Server
from kernbench.sim.transaction import HopRow, Transaction

if TYPE_CHECKING:
    from kernbench.components.base import Component


class Job:
    """One transfer between a component and memory: all regions of it at once, done with the last.

    ``kind`` is that of its transactions; a write ends in ``_write``. ``address`` is as the engines' owner
    understands it. ``wait_ns`` is the longest time that one of its transactions stood behind others.
    """

    __slots__ = (
        "address", "done", "engine", "is_write", "kind", "nbytes", "op", "open", "t_ready", "t_start",
        "wait_ns",
    )  # fmt: skip

    def __init__(self, op: Op, kind: str, address: int, nbytes: int, done: Callable[[], None]) -> None:
        self.op = op
        self.kind = kind
        self.is_write = kind.endswith("_write")
        self.address = address
        self.nbytes = nbytes
        self.done = done
        self.open = 0
        self.t_ready = 0.0
        self.t_start = 0.0
        self.wait_ns = 0.0
        self.engine: Engine | None = None


class Engine(Server):
    """One engine. It is held from a job's start to its end, whose time nobody knows beforehand."""

    busy = False

    def hold(self, time: float, owner: Transaction, *, waited: bool) -> None:
        """``owner``'s job has it from ``time`` on; ``waited`` when others stood before it in the queue."""
        if not waited:
            self._runs.clear()
        elif self.holder is not None:
            self._runs.append((self.since, self.holder))
        self.holder = owner
        self.since = time


class EngineGroup:
    """Engines of one direction with one queue, first come first served."""

    def __init__(self, name: str, count: int) -> None:
        self.engines = [Engine(f"{name}{i}") for i in range(count)]
        self.queue: deque[Job] = deque()

    def free_engine(self) -> Engine | None:
        """An idle engine, the first by number, or None."""
        return next((e for e in self.engines if not e.busy), None)

    def jobs(self) -> int:
        """Jobs queued or running."""
        return len(self.queue) + sum(e.busy for e in self.engines)


class DmaEngines:
    """The engines of one component: reading and writing side by side, one job at a time an engine.

    A job that spans several memories sends one transaction to each, or one to each channel, all at once. It
    is done when the last is answered, and holds its engine until then. ``regions`` gives the physical
    regions behind an address, ``requests`` what to send for them; that takes ``translation_ns`` of a job's
    time. ``used`` is told of each job's direction and its share of its engines' time, ns.
    """

    def __init__(
        self,
        owner: Component,
        traffic: Traffic,
        regions: Callable[[int, int], tuple[Region, ...]],
        requests: Callable[[int, int], list[PhysicalRequest]],
        *,
        reading: int,
        writing: int,
        translation_ns: float = 0.0,
        used: Callable[[bool, float], None] | None = None,
    ) -> None:
        self.owner = owner
        self.traffic = traffic
        self.regions = regions
        self.requests = requests
        self.translation_ns = translation_ns
        self._used = used
        self._reading = EngineGroup(f"{owner.resource}#read", reading)
        self._writing = EngineGroup(f"{owner.resource}#write", writing)

    def check(self, address: int, nbytes: int) -> None:
        """Refuse a transfer of ``nbytes`` at ``address`` that cannot be carried out.

        :class:`AddressError` for an address that leads to no memory, :class:`RoutingError` for a memory that
        cannot be reached.
        """
        machine = self.owner.machine
        for request in self.requests(address, nbytes):
            if not machine.component(request.component).takes_flits:
                raise AddressError(
                    f"address {request.pa:#x} leads to '{request.component}', which is no memory; "
                    "read and write HBM, SRAM and TCM"
                )
            machine.path(self.owner.resource, request.component, self.traffic, request.via)

    def submit(self, job: Job) -> None:
        """Queue a job; ``job.done`` is called when it is over. :meth:`check` it first."""
        owner = self.owner
        job.t_ready = owner.clock.now
        group = self._group(job)
        group.queue.append(job)
        owner.max_queue = max(owner.max_queue, group.jobs())
        self._next(group)

    def _group(self, job: Job) -> EngineGroup:
        return self._writing if job.is_write else self._reading

    def _next(self, group: EngineGroup) -> None:
        engine = group.free_engine()
        if engine is None or not group.queue:
            return
        job = group.queue.popleft()
        engine.busy = True
        job.engine = engine
        clock = self.owner.clock
        job.t_start = clock.now
        if self.translation_ns > 0.0:
            clock.call_at(job.t_start + self.translation_ns, self._issue, job, engine)
        else:
            self._issue(job, engine)

    def _issue(self, job: Job, engine: Engine) -> None:
        owner, op = self.owner, job.op
        if op.kind == "memory":
            _name_memory(op, job.is_write, self.regions(job.address, job.nbytes))
        requests = self.requests(job.address, job.nbytes)
        sent = access.begin(
            owner, self.traffic, job.kind, requests, job.t_ready, op=op.id, is_write=job.is_write
        )
        job.open = len(sent)
        for transaction in sent:
            transaction.on_done = lambda answered: self._answered(job, answered)
            op.transactions.append(transaction.id)
            self._engine_hop(transaction, job, engine)
        engine.hold(job.t_start, sent[0], waited=job.t_start > job.t_ready)
        if job.is_write:
            owner.bytes += job.nbytes
        access.send(owner, sent)

    def _engine_hop(self, transaction: Transaction, job: Job, engine: Engine) -> None:
        """The time between submission and the first link: waiting for the engine, then translation."""
        owner = self.owner
        wait = 0.0
        if job.t_start > job.t_ready:
            wait = transaction.blame(owner.index, engine.waited_for(transaction, job.t_ready, job.t_start))
        owner.wait_ns += wait
        if transaction.traced:
            now = owner.clock.now
            service = now - job.t_ready - wait
            transaction.rows.append(
                HopRow(owner.index, job.t_ready, job.t_start, now, service, wait, transaction.nbytes)
            )

    def _answered(self, job: Job, transaction: Transaction) -> None:
        job.wait_ns = max(job.wait_ns, transaction.wait_ns)
        job.open -= 1
        if job.open:
            return
        engine, group = job.engine, self._group(job)
        assert engine is not None
        now = self.owner.clock.now
        engine.busy = False
        if self._used is not None:
            self._used(job.is_write, (now - job.t_start) / len(group.engines))
        self.owner.finish(job.op, job.t_ready, job.t_start, now)
        self._next(group)
        job.done()

    def waiting(self) -> list[str]:
        """Transfers that are not answered."""
        return [
            f"{self.owner.resource} has {group.jobs()} unanswered {word} jobs"
            for group, word in ((self._reading, "read"), (self._writing, "write"))
            if group.jobs()
        ]


def _name_memory(op: Op, is_write: bool, regions: tuple[Region, ...]) -> None:
    """Loads and stores of a kernel name their memory; plain traffic has no operand to name."""
    operand = op.output if is_write else next(iter(op.inputs), None)
    if operand is not None:
        operand.regions = regions


def dma_engines(graph: PropertyGraph) -> dict[str, tuple[int, int]]:
    """How many engines each component with a DMA has for (reads, writes)."""
    return {
        node.id: (int(node.properties.get("read_engines", 1)), int(node.properties.get("write_engines", 1)))
        for node in graph.nodes()
        if node.properties["kind"] in ("pe_dma", "m_cpu")
    }
