"""DMA engines, as a PE and an M_CPU have them: queues of transfers to memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from kernbench.engine.components.access import Requests, begin, regions_of, send, send_fed
from kernbench.engine.components.base import Component
from kernbench.engine.core.invariants import EngineCounts
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.program.operations import Op, Region
from kernbench.errors import AddressError
from kernbench.hardware.address.requests import PhysicalRequest
from kernbench.hardware.address.runs import Runs
from kernbench.hardware.routing import Traffic

_KEPT = 4096
"""So many ranges have their requests kept, at most."""


class Job(Requests):
    """One transfer between a component and memory: all of its regions at once, done with the last.

    Args:
        op: the operation that it is for.
        kind: kind of its transactions; that of a write ends in ``_write``.
        runs: ``(address, bytes)``, one for each row of a strided access; addresses as the engines' owner
            understands them.
        done: see :class:`Requests`, as ``served``.
        served: see there.
    """

    def __init__(
        self,
        op: Op,
        kind: str,
        runs: Sequence[tuple[int, int]],
        done: Callable[[], None],
        served: Callable[[], None] | None = None,
    ) -> None:
        Requests.__init__(self, done, served)
        self.op = op
        self.kind = kind
        self.is_write = kind.endswith("_write")
        self.runs = runs
        self.nbytes = 0
        if isinstance(runs, Runs):
            self.nbytes = runs.nbytes
        else:
            for _, nbytes in runs:
                self.nbytes += nbytes
        self.requests: list[PhysicalRequest] = []
        """Requests sent for the job, once its addresses are translated."""
        self.regions: Sequence[Region] | None = None
        """Its physical byte ranges, if they are many runs."""
        self.t_ready = 0.0
        self.t_start = 0.0
        self.t_issued = 0.0
        """When the PE has issued it, ns."""
        self.t_head = self.feeding_gbs = 0.0
        """The data of a write come to the engine from when on, ns, and how fast: 0 where nothing waits."""
        self.engines: DmaEngines | None = None
        self.engine: DmaEngine | None = None
        self.slot: Server | None = None

    def answered(self) -> None:
        """See :class:`Requests`."""
        assert self.engines is not None
        self.engines.answered(self)


class DmaEngine:
    """One engine: it issues one job at a time and has up to ``outstanding`` jobs in flight."""

    def __init__(self, name: str, outstanding: int) -> None:
        self.slots = [Server(f"{name}.{i}") for i in range(outstanding)]
        """Slots for jobs in flight, each held from a job's start to its last answer.

        ``present`` says whether a slot is held, ``free`` since when it has not been.
        """
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        for slot in self.slots:
            slot.reset()
        self.issuing = False
        self.issued: Transaction | None = None
        """A transaction of the job issued last."""
        self.in_flight = 0
        self.busy_since = 0.0

    def free_slot(self) -> Server | None:
        """The slot that has been idle longest, first by number; None if the engine cannot take a job now."""
        found: Server | None = None
        if not self.issuing:
            for slot in self.slots:
                if not slot.present and (found is None or slot.free < found.free):
                    found = slot
        return found


class EngineGroup:
    """Engines of one direction with one queue, first come first served."""

    def __init__(self, name: str, count: int, outstanding: int) -> None:
        self.engines = [DmaEngine(f"{name}{i}", outstanding) for i in range(count)]
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        for engine in self.engines:
            engine.reset()
        self.queue: deque[Job] = deque()
        self.jobs = 0
        """Jobs queued or in flight."""

    def free_engine(self) -> DmaEngine | None:
        """The engine with the fewest requests in flight that can take one more, first by number, or None."""
        found: DmaEngine | None = None
        for engine in self.engines:
            free = not engine.issuing and engine.in_flight < len(engine.slots)
            if free and (found is None or engine.in_flight < found.in_flight):
                found = engine
        return found


class DmaEngines:
    """The engines of one component: reading and writing in parallel, with a queue for each direction.

    An engine takes one job after the other, does not wait for answers, and has up to ``outstanding`` jobs in
    flight. A job that spans several memories sends one transaction to each, or one to each channel, all at
    once. It is done when the last is answered.

    Args:
        owner: the component that sends.
        traffic: kind of traffic of its transactions.
        requests: what to send for ``(address, nbytes)``.
        gathered: what to send for many runs in one access, and their physical bytes; None if never used.
        reading: engines for reads.
        writing: engines for writes.
        outstanding: jobs in flight of each engine.
        translation_ns: time an engine spends on each job before it is sent.
        used: called with each direction (True: write) and the share of its engines' time, ns, when busy.
        source: when the data of a write may be sent, ns; at once by default.
        sink: when the last byte of a read that has come is where it belongs, ns; at once by default.
        keeps: what ``requests`` gives holds until :meth:`remapped`; of a user's class that is not known.
    """

    def __init__(
        self,
        owner: Component,
        traffic: Traffic,
        requests: Callable[[int, int], list[PhysicalRequest]],
        *,
        reading: int,
        writing: int,
        outstanding: int,
        gathered: Callable[[Runs], tuple[list[PhysicalRequest], Sequence[Region]]] | None = None,
        translation_ns: float = 0.0,
        used: Callable[[bool, float], None] | None = None,
        source: Callable[[Job], float] | None = None,
        sink: Callable[[Job], float] | None = None,
        keeps: bool = True,
    ) -> None:
        self._source = source
        self._sink = sink
        self.owner = owner
        self.counts = EngineCounts(reading, writing, outstanding, translation_ns)
        self.traffic = traffic
        self.requests = requests
        self.gathered = gathered
        self.translation_ns = translation_ns
        self._used = used
        self._keeps = keeps
        self._known: dict[tuple[int, int], list[PhysicalRequest]] = {}
        """The requests of ranges checked so far; see :meth:`remapped`."""
        self._reading = EngineGroup(f"{owner.resource}#read", reading, outstanding)
        self._writing = EngineGroup(f"{owner.resource}#write", writing, outstanding)
        self.fed = -1
        """The transaction whose data the owner's memory fed last; -1 before the first."""

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self._reading.reset()
        self._writing.reset()
        self.fed = -1
        self.remapped()

    def remapped(self) -> None:
        """Addresses lead elsewhere from now on."""
        self._known.clear()

    def requests_for(self, address: int, nbytes: int) -> list[PhysicalRequest]:
        """What to send for a transfer of ``nbytes`` at ``address``; worked out and checked once.

        :class:`AddressError` for an address that leads to no memory and for a transfer of no bytes,
        :class:`RoutingError` for a memory that cannot be reached.
        """
        known = self._known.get((address, nbytes))
        if known is not None:
            return known
        system = self.owner.system
        if nbytes < 1:
            raise _no_bytes(self.owner, [(address, nbytes)])
        found = self.requests(address, nbytes)
        for request in found:
            if not system.component(request.component).takes_flits:
                raise AddressError(
                    f"address {request.pa:#x} leads to '{request.component}', which is not a memory; "
                    "read and write HBM, SRAM and TCM"
                )
            system.path(self.owner.resource, request.component, self.traffic, request.via)
        if len(self._known) >= _KEPT:
            self._known.clear()
        if self._keeps:
            self._known[address, nbytes] = found
        return found

    def submit(self, job: Job) -> None:
        """Queue a job; ``job.done`` is called when it is over. :meth:`requests_for` checks it.

        Raises:
            AddressError: it moves no bytes.
        """
        owner = self.owner
        if job.nbytes < 1:
            raise _no_bytes(owner, job.runs)
        job.t_ready = owner.clock.time
        job.engines = self
        group = self._group(job)
        group.queue.append(job)
        group.jobs += 1
        if group.jobs > owner.max_queue:
            owner.max_queue = group.jobs
        self._next(group)

    def _group(self, job: Job) -> EngineGroup:
        return self._writing if job.is_write else self._reading

    def _next(self, group: EngineGroup, freed_by: int = -1) -> None:
        """Start the oldest job if an engine can take it. ``freed_by``: the operation whose end made room."""
        if not group.queue:
            return
        engine = group.free_engine()
        if engine is None:
            return
        job = group.queue.popleft()
        slot = engine.free_slot()
        assert slot is not None
        clock = self.owner.clock
        job.engine = engine
        job.slot = slot
        job.t_start = clock.time
        slot.present = 1
        if not engine.in_flight:
            engine.busy_since = job.t_start
        engine.in_flight += 1
        if freed_by >= 0 and job.t_start > job.t_ready:
            job.op.after.append((freed_by, "engine"))
        if self.translation_ns > 0.0:
            engine.issuing = True
            clock.call_at(job.t_start + self.translation_ns, self._translated, job, engine, group)
        else:
            self._translated(job, engine, group)

    def _translated(self, job: Job, engine: DmaEngine, group: EngineGroup) -> None:
        clock = self.owner.clock
        if isinstance(job.runs, Runs):
            assert self.gathered is not None
            job.requests, job.regions = self.gathered(job.runs)
        elif len(job.runs) == 1:
            address, nbytes = job.runs[0]
            job.requests = self.requests_for(address, nbytes)
        else:
            job.requests = []
            for address, nbytes in job.runs:
                job.requests += self.requests_for(address, nbytes)
        if job.is_write and self._source is not None:
            ready = self._source(job)
            if ready > clock.time:
                engine.issuing = True
                clock.call_at(ready, self._sent, job, engine, group)
                return
        self._sent(job, engine, group)

    def _sent(self, job: Job, engine: DmaEngine, group: EngineGroup) -> None:
        issued_later = engine.issuing
        engine.issuing = False
        self._issue(job, engine)
        if issued_later:
            self._next(group)

    def _issue(self, job: Job, engine: DmaEngine) -> None:
        owner, op, slot = self.owner, job.op, job.slot
        assert slot is not None
        if op.kind == "memory":
            regions = regions_of(job.requests) if job.regions is None else job.regions
            _name_memory(op, job.is_write, regions)
        elif op.kind == "tile":
            op.moved = regions_of(job.requests)
        sent = begin(owner, self.traffic, job.kind, job.requests, job.t_ready, op.id, job.is_write)
        job.await_all(sent)
        leaves: list[float] = []
        if job.feeding_gbs > 0.0:
            leaves = send_fed(owner, sent, job.t_head, job.feeding_gbs)
        for i in range(len(sent)):
            transaction: Transaction = sent[i]
            op.transactions.append(transaction.id)
            if transaction.traced:
                self._engine_hop(transaction, job, engine, leaves[i] if leaves else owner.clock.time)
        if job.t_start > job.t_ready and slot.holder is not None and owner.remembers:
            slot._hand_over(job.t_ready, job.t_start)  # others stood before it in the queue
        elif slot.queued:
            slot._forget_log()
        slot.holder = sent[0]
        slot.since = job.t_start
        engine.issued = sent[0]
        if job.is_write:
            owner.bytes += job.nbytes
        if leaves:
            self.fed = sent[len(sent) - 1].id
        else:
            send(owner, sent)

    def _engine_hop(self, transaction: Transaction, job: Job, engine: DmaEngine, out: float) -> None:
        """Note the time until its last flit goes ``out``: waiting for the engine, translation, the TCM."""
        owner, slot = self.owner, job.slot
        assert slot is not None
        wait = 0.0
        if job.t_start > job.t_ready:
            idle = max(job.t_ready, slot.free)
            if idle > job.t_ready:
                wait = transaction.note_waits(owner.index, slot, job.t_ready, idle)
            if job.t_start > idle and engine.issued is not None:  # it was issuing another job
                wait += transaction.wait_for(engine.issued.id, owner.index, idle, job.t_start)
        wait += self._behind_fed(transaction, job.t_head)
        owner.wait_ns += wait
        service = out - job.t_ready - wait
        transaction.hop(owner.index, job.t_ready, job.t_start, out, service, wait, transaction.nbytes)

    def fed_hop(self, transaction: Transaction, head: float, out: float) -> None:
        """Note the time until the last flit of a message goes ``out``, whose data come from ``head`` on."""
        owner, now = self.owner, self.owner.clock.time
        wait = self._behind_fed(transaction, head)
        owner.wait_ns += wait
        self.fed = transaction.id
        if transaction.traced:
            transaction.hop(owner.index, now, head, out, out - now - wait, wait, transaction.nbytes)

    def _behind_fed(self, transaction: Transaction, head: float) -> float:
        """Note that it waits until ``head`` for data of the one before to come; return how long."""
        now = self.owner.clock.time
        return transaction.wait_for(self.fed, self.owner.index, now, head) if head > now else 0.0

    def answered(self, job: Job) -> None:
        """Called when the last transaction of ``job`` is answered."""
        clock = self.owner.clock
        if not job.is_write and self._sink is not None:
            over = self._sink(job)
            if over > clock.time:
                clock.call_at(over, self._over, job)
                return
        self._over(job)

    def _over(self, job: Job) -> None:
        engine, slot, group = job.engine, job.slot, self._group(job)
        assert engine is not None
        assert slot is not None
        now = self.owner.clock.time
        slot.present = 0
        slot.free = now
        engine.in_flight -= 1
        group.jobs -= 1
        if not engine.in_flight and self._used is not None:
            self._used(job.is_write, (now - engine.busy_since) / len(group.engines))
        self.owner.finish(job.op, job.t_ready, job.t_start, now)
        self._next(group, job.op.id)
        job.done()

    def waiting(self) -> list[str]:
        """Transfers that are not answered yet."""
        return [
            f"{self.owner.resource} has {group.jobs} unanswered {word} jobs"
            for group, word in ((self._reading, "read"), (self._writing, "write"))
            if group.jobs
        ]


def _no_bytes(owner: Component, runs: Sequence[tuple[int, int]]) -> AddressError:
    at = ", ".join(f"{address:#x}" for address, _ in runs) or "no address"
    return AddressError(f"'{owner.resource}': a transfer of 0 bytes ({at}); move at least one byte")


def _name_memory(op: Op, is_write: bool, regions: Sequence[Region]) -> None:
    """Note the memory of a kernel's loads and stores; plain traffic has no operand."""
    operand = op.output if is_write else next(iter(op.inputs), None)
    if operand is not None:
        operand.regions = regions
