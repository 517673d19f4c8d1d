"""Rules that every run keeps, checked while it runs.

=============== =====================================================================================
``bytes``       a message crosses every link of its route once, and a transaction's bytes are carried once
``order``       servers serve in order of arrival; engines take their jobs in order
``capacity``    no server or link serves two at a time, no link more than its bandwidth
``work``        no server or link that serves in order of arrival is idle while something waits for it
``times``       service and waits of a transaction add up to its time, hop after hop without a gap
``waits``       every wait names others that were there, for as long as it lasted
``credits``     no virtual channel has sent more flits than it had credits for
``outstanding`` when nothing is left to happen, nothing is unanswered
=============== =====================================================================================

A machine made with ``check=True`` (or with ``KERNBENCH_CHECK=1`` in the environment) is checked; the
first broken rule is an :class:`~kernbench.errors.InvariantError` with transaction, location and time. An
unchecked machine pays nothing for it.

It is an instrument: it looks at what transactions and operations were, as they end, and at each use of a
server (:mod:`kernbench.engine.core.fifo_monitor`). It is no second simulator; tests/exact/reference is one,
which says when every transaction must end.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapreplace
from math import inf
from typing import Any, NamedTuple

from kernbench.engine.core.clock import Clock
from kernbench.engine.core.fifo_monitor import FifoMonitor, PortMonitor, describe, slack, violation
from kernbench.engine.core.inputs import Buffer
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.node import TRANSFORM, FabricNode, Link
from kernbench.engine.core.records import Hop, HopRow, Wait
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Path, Transaction
from kernbench.engine.program.operations import Op
from kernbench.errors import InvariantError

VARIABLE = "KERNBENCH_CHECK"
"""Environment variable: ``1`` checks every machine that does not say otherwise."""


def wanted(check: bool | None) -> bool:
    """Whether a machine is checked: as its maker says, else as the environment does."""
    return os.environ.get(VARIABLE, "") not in ("", "0") if check is None else check


class EngineCounts(NamedTuple):
    """The DMA engines of a component: how many read and write, and the jobs that each has in flight."""

    reading: int
    writing: int
    outstanding: int
    translation_ns: float
    """Time for which an engine is busy with a job before it takes the next one, ns."""


class InvariantChecker(Instrument):
    """Checks one machine. It must be the first of its instruments."""

    def __init__(self, clock: Clock) -> None:
        self.checked = 0
        """Transactions checked so far."""
        self._clock = clock
        self._engines: Mapping[str, EngineCounts] = {}
        self._jobs: dict[tuple[str, bool], list[tuple[float, float, float, float | None, int]]] = defaultdict(
            list
        )
        self._sent: dict[int, float] = {}
        """When the operations under way were sent by their DMA engines, ns; of traced transactions."""
        self._resources: list[Server] = []
        self._in_flight: Mapping[int, Transaction] = {}
        self._ports: list[PortMonitor] = []
        self._monitors: list[FifoMonitor] = []
        self._traced = True
        self._within: dict[int, int] = {}
        """Number of the component that a resource is part of; hops are recorded at the component."""
        self._carried: dict[int, int] = defaultdict(int)
        """Bytes of messages that have crossed a link, by its number."""
        self._paths: dict[int, Path] = {}
        """Routes of transactions that have ended, by number."""
        self._reached: dict[Path, set[int]] = {}
        """Numbers of the resources on a route, there and back."""

    def attach(
        self,
        resources: list[Server],
        parts: Mapping[FabricNode, Iterable[Server]],
        engines: Mapping[str, EngineCounts],
        in_flight: Mapping[int, Transaction],
    ) -> None:
        """Begin to watch the machine, all of whose resources are numbered.

        Watches components with the servers that are ``parts`` of them, links, and the DMA ``engines`` by
        component. ``in_flight`` are the transactions that have not ended, by number.
        """
        self._resources = resources
        self._engines = engines
        self._in_flight = in_flight
        for node, servers in parts.items():
            for server in dict.fromkeys((node, *servers)):
                self._monitors.append(FifoMonitor(server))
                if server is not node:
                    self._within[server.index] = node.index
        for link in resources:
            if isinstance(link, Link):
                if link.port is None:
                    self._monitors.append(FifoMonitor(link))
                else:
                    self._ports.append(PortMonitor(link.port))

    def detach(self) -> None:
        """Watch nothing any more."""
        for monitor in self._monitors:
            monitor.detach()

    def transaction_done(self, transaction: Transaction) -> None:
        """Check a transaction's bytes, times and waits."""
        now = self._clock.now
        if not transaction.t_submit <= transaction.t_done == now:
            raise violation("times", describe(transaction), transaction.dst, now,
                            f"lasts from {transaction.t_submit} to {transaction.t_done} ns")  # fmt: skip
        if transaction.traced:
            hops = transaction.hops
            if hops and transaction.src in self._engines:
                self._sent[transaction.op] = hops[0][3]
            self._paths[transaction.id] = transaction.path
            self._bytes(transaction, hops, now)
            self._times(transaction, hops, now)
            self._waits(transaction, hops, now)
        else:
            self._traced = False
        self.checked += 1

    def _bytes(self, transaction: Transaction, hops: Sequence[Hop], now: float) -> None:
        """Each message has crossed each link of its route once, and the bytes went one way or the other."""
        path = transaction.path
        crossed = [hop for hop in hops if isinstance(self._resources[hop[0]], Link)]
        if not crossed:
            return  # it stayed within a PE, or a component answers itself
        out = [link.index for link in path.links]
        back = [link.index for link in path.reverse.links] if len(crossed) > len(out) else []
        if [hop[0] for hop in crossed] != [*out, *back]:
            here = next((a for a, (b, *_) in zip([*out, *back], crossed, strict=False) if a != b), out[0])
            what = f"ends with {len(crossed)} links crossed of {len(out)} there and as many back"
            raise self._wrong("bytes", transaction, here, now, what)
        carried = [crossed[0][6]] + ([crossed[len(out)][6]] if back else [])
        resized = any(node.hooks & TRANSFORM for node in path.nodes)
        if sum(carried) != transaction.nbytes and not resized:
            what = f"is answered with {sum(carried)} of its {transaction.nbytes} bytes carried"
            raise violation("bytes", describe(transaction), transaction.dst, now, what)
        for hop in crossed:
            self._carried[hop[0]] += hop[6]

    def _times(self, transaction: Transaction, hops: Sequence[Hop], now: float) -> None:
        """The last flit's journey has no gaps: each hop begins where the one before it ends."""
        allowed = slack(now)
        here = transaction.t_submit
        for resource, t_in, t_start, t_out, service_ns, wait_ns, nbytes in hops:
            begin = t_out - service_ns - wait_ns
            if abs(begin - here) > allowed:
                what = f"the hop begins at {begin:.6f} ns, the one before it ended at {here:.6f} ns"
                raise self._wrong("times", transaction, resource, now, what)
            in_order = t_in <= t_start + allowed and t_start <= t_out + allowed
            if not in_order or service_ns < -allowed or wait_ns < -allowed:
                row = HopRow(resource, t_in, t_start, t_out, service_ns, wait_ns, nbytes)
                raise self._wrong("times", transaction, resource, now, f"the hop runs backwards: {row}")
            link = self._resources[resource]
            if isinstance(link, Link) and t_out - t_start < nbytes / link.bw_gbs + link.delay_ns - allowed:
                what = f"{nbytes} bytes were across in {t_out - t_start:.6f} ns, faster than its bandwidth"
                raise self._wrong("capacity", transaction, resource, now, what)
            most = self._most_service(self._resources[resource], nbytes)
            if service_ns > most + allowed:
                what = f"{service_ns:.6f} ns of service where {most:.6f} are needed; a wait has no name"
                raise self._wrong("waits", transaction, resource, now, what)
            here = t_out
        if hops and abs(here - now) > allowed:
            what = f"its hops end at {here:.6f} ns: service and waits do not add up to its time"
            raise violation("times", describe(transaction), transaction.dst, now, what)

    def _most_service(self, resource: Server, nbytes: int) -> float:
        """Longest service of a message's last flit at a node or link, with its own earlier flits, ns."""
        if isinstance(resource, Link):
            if resource.port is not None and resource.port.by_message:
                return inf  # a channel to be allocated, a credit of its own on its way
            return nbytes / resource.bw_gbs + resource.delay_ns
        if isinstance(resource, FabricNode):
            plain = not (resource.custom_service or resource.takes_flits)
            if plain and resource.resource not in self._engines:
                return resource.overhead_ns
        return inf

    def _wrong(
        self, invariant: str, transaction: Transaction, resource: int, now: float, what: str
    ) -> InvariantError:
        return violation(invariant, describe(transaction), self._resources[resource].resource, now, what)

    def _waits(self, transaction: Transaction, hops: Sequence[Hop], now: float) -> None:
        """Each hop's wait is that of the holders named, who were at that location."""
        waited: dict[int, float] = defaultdict(float)
        for hop in hops:
            waited[hop[0]] += hop[5]
        for wait in transaction.waits:
            waited[self._place(transaction, wait)] -= wait.ns
            if wait.holder == transaction.id or not wait.ns > 0.0 or not self._was_at(wait):
                what = f"waits {wait.ns} ns for transaction {wait.holder}, which did not hold it"
                raise self._wrong("waits", transaction, wait.resource, now, what)
        allowed = slack(now)
        for resource, rest in waited.items():
            if abs(rest) > allowed:
                what = f"{rest:.6f} ns more of waiting than its holders account for"
                raise self._wrong("waits", transaction, resource, now, what)

    def _place(self, transaction: Transaction, wait: Wait) -> int:
        """Number of the node or link at whose hop a wait is counted."""
        if isinstance(self._resources[wait.resource], Buffer):
            return transaction.rows[wait.seq].resource
        return self._within.get(wait.resource, wait.resource)

    def _was_at(self, wait: Wait) -> bool:
        """Whether the route of the holder passes the place where it is said to have been.

        A transaction that waits for room may wait for one far away.
        """
        if isinstance(self._resources[wait.resource], Buffer):
            return True
        under_way = self._in_flight.get(wait.holder)
        path = self._paths.get(wait.holder) if under_way is None else under_way.path
        if path is None:
            return False
        reached = self._reached.get(path)
        if reached is None:
            ways = (path, path.reverse)
            reached = {one.index for way in ways for one in (*way.nodes, *way.links)}
            self._reached[path] = reached
        return self._within.get(wait.resource, wait.resource) in reached

    def op_done(self, op: Op) -> None:
        """Remember what the DMA engines have done."""
        word = (op.stage or op.name).lower()
        if op.component in self._engines and word.endswith(("read", "write")):
            jobs = self._jobs[op.component, word.endswith("write")]
            jobs.append((op.t_start, op.t_ready, op.t_end, self._sent.pop(op.id, None), op.id))

    def _engine_jobs(self, now: float) -> None:
        """Each group of engines took its jobs in order, never more than it has, and never let one wait."""
        for (component, writing), jobs in self._jobs.items():
            counts = self._engines[component]
            engines = counts.writing if writing else counts.reading
            free = [0.0] * (engines * counts.outstanding)
            issuing = [0.0] * engines
            # With several of each, the engine with a free slot may be the one that is issuing.
            exact = engines == 1 or counts.outstanding == 1 or counts.translation_ns == 0.0
            before = 0.0
            for start, ready, end, sent, number in sorted(jobs, key=lambda job: job[:3]):
                who, allowed = f"operation {number}", slack(end)
                if ready < before - allowed:
                    raise violation("order", who, component, start, f"was submitted after {before:.6f} ns")
                before = ready
                earliest = max(ready, free[0], issuing[0])
                if start < earliest - allowed:
                    what = f"begins while the engines are busy until {earliest:.6f} ns"
                    raise violation("capacity", who, component, start, what)
                if start > earliest + allowed and exact:
                    what = f"waits for an engine that is free from {earliest:.6f} ns on"
                    raise violation("work", who, component, start, what)
                heapreplace(free, end)
                # An engine issues until its job is sent: a write may wait for its data to leave the TCM.
                heapreplace(issuing, start + counts.translation_ns if sent is None else sent)
                exact = exact and (sent is not None or not writing)
        self._jobs.clear()

    def at_rest(self, in_flight: Iterable[Transaction], waiting: Iterable[str]) -> None:
        """Nothing is left to happen: ``in_flight`` are unanswered, ``waiting`` tells who waits for what."""
        now = self._clock.now
        for transaction in in_flight:
            raise violation("outstanding", describe(transaction), transaction.dst, now, "was never answered")
        self._conserved(now)
        for what in waiting:
            raise violation("outstanding", "an operation", "the end", now, what)
        self._engine_jobs(now)
        check_use(self._resources, now)

    def _conserved(self, now: float) -> None:
        """Links have counted what messages carried, and channels have had their credits."""
        for link in self._resources:
            if isinstance(link, Link):
                counted, carried = link.bytes - link.streamed_bytes, self._carried[link.index]
                if self._traced and counted != carried:
                    what = f"counted {counted} bytes, carried {carried}"
                    raise violation("bytes", "all traffic", link.resource, now, what)
        for port in self._ports:
            port.check_credits(now)
        for memory in self._resources:
            if hasattr(memory, "cache"):
                check_cache(memory, now)
        self._paths.clear()


def check_cache(memory: Any, now: float) -> None:
    """A memory behind a cache has moved what was missed and written back, and no set has more than fits."""
    who, use = "all traffic", memory.total
    moved, counted = sum(channel.bytes for channel in memory.channels[:-1]), use.misses + use.written_back
    if moved != counted * memory.burst_bytes:
        what = f"moved {moved} bytes, {counted} bursts of {memory.burst_bytes} were missed or written back"
        raise violation("bytes", who, memory.resource, now, what)
    if memory.cache.bytes + use.coalesced_bytes != memory.bytes:
        what = f"moved {memory.cache.bytes} bytes, {use.coalesced_bytes} were coalesced of {memory.bytes}"
        raise violation("bytes", who, memory.cache.resource, now, what)
    held = [line for lines in memory.sets.values() for line in lines.values()]
    dirty = sum(sum(line.dirty) for line in held)
    if memory.write_back and use.dirtied != use.written_back + dirty:
        what = f"{use.dirtied} bursts were written, {use.written_back} of them back, {dirty} are left"
        raise violation("bytes", who, memory.cache.resource, now, what)
    most = max(map(len, memory.sets.values()), default=0)
    if most > memory.ways:
        what = f"a set holds {most} lines, it has room for {memory.ways}"
        raise violation("capacity", who, memory.cache.resource, now, what)


def check_use(resources: list[Server], now: float) -> None:
    """Nothing was busy for longer than ``now``, ns, and each link for as long as its bytes take."""
    allowed = slack(now)
    for resource in resources:
        busy = resource.busy_ns
        if not isinstance(resource, Link):
            if busy > now + allowed:
                raise _overfull(resource, now)
            continue
        link = resource
        # Streams within a PE go beside the fabric's flits: each is within the link's capacity.
        streamed = link.streamed_bytes / link.bw_gbs
        if busy - streamed > now + allowed or streamed > now + allowed:
            raise _overfull(link, now)
        needed = link.bytes / link.bw_gbs + link.issue_ns * (link.transactions - link.streams)
        if abs(needed - busy) > 1e-6 + 1e-9 * needed:
            what = f"was busy for {busy:.6f} ns, its bytes take {needed:.6f} ns"
            raise violation("capacity", "all traffic", link.resource, now, what)


def _overfull(resource: Server, now: float) -> InvariantError:
    what = f"was busy for {resource.busy_ns:.6f} ns"
    return violation("capacity", "all traffic", resource.resource, now, what)
