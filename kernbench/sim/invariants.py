"""Rules that every run keeps, checked while it runs.

=============== =====================================================================================
``bytes``       every flit gets over every hop once, and a transaction's bytes are carried once
``order``       time does not fall, and servers serve in order of arrival; arbiters, each input's flits
``capacity``    no server serves two at a time, no link more than its bandwidth
``work``        no server is idle while something waits for it alone
``times``       service and waits of a transaction add up to its time, hop after hop without a gap
``waits``       every wait names others that were there, for as long as it lasted
``credits``     no virtual channel has more flits under way than its buffer has room for
``outstanding`` when nothing is left to happen, nothing is unanswered
=============== =====================================================================================

A machine made with ``check=True`` (or with ``KERNBENCH_CHECK=1`` in the environment) is checked; the
first broken rule is an :class:`~kernbench.errors.InvariantError` with transaction, location and time. An
unchecked machine pays nothing for it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapreplace
from typing import NamedTuple

from kernbench.program.operations import Op
from kernbench.sim.clock import Clock
from kernbench.sim.fifo_monitor import describe, slack, violation
from kernbench.sim.instrument import Instrument
from kernbench.sim.lanes import Buffer
from kernbench.sim.node import FabricNode, Link
from kernbench.sim.records import HopRow, Wait
from kernbench.sim.scoreboard import ScoreboardFabric
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction

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

    def __init__(self, clock: Clock, flit_bytes: int) -> None:
        self.fabric = ScoreboardFabric(clock, flit_bytes)
        """The fabric of the machine that it checks."""
        self.checked = 0
        """Transactions checked so far."""
        self._clock = clock
        self._engines: Mapping[str, EngineCounts] = {}
        self._jobs: dict[tuple[str, bool], list[tuple[float, float, float, float | None, int]]] = defaultdict(
            list
        )
        self._sent: dict[int, float] = {}
        """When the operations under way were sent by their DMA engines, ns; of traced transactions."""
        self._resources: Sequence[Server] = ()

    def attach(
        self,
        resources: Sequence[Server],
        parts: Mapping[FabricNode, Iterable[Server]],
        engines: Mapping[str, EngineCounts],
    ) -> None:
        """All resources exist and are numbered.

        Watch the components among them with the servers that are ``parts`` of them, and the DMA ``engines``
        by component.
        """
        self._resources = resources
        self._engines = engines
        for node, servers in parts.items():
            self.fabric.watch(node, servers)

    def transaction_done(self, transaction: Transaction) -> None:
        """Check a transaction's bytes, times and waits."""
        now = self._clock.now
        if not transaction.t_submit <= transaction.t_done == now:
            raise violation("times", describe(transaction), transaction.dst, now,
                            f"lasts from {transaction.t_submit} to {transaction.t_done} ns")  # fmt: skip
        self.fabric.finished(transaction, now)
        if transaction.traced:
            rows = transaction.rows
            if rows and transaction.src in self._engines:
                self._sent[transaction.op] = rows[0].t_out
            self._times(transaction, rows, now)
            self._waits(transaction, rows, now)
        self.checked += 1

    def _times(self, transaction: Transaction, rows: Sequence[HopRow], now: float) -> None:
        """The last flit's journey has no gaps: each hop begins where the one before it ends."""
        allowed = slack(now)
        here = transaction.t_submit
        for row in rows:
            location = self._resources[row.resource].resource
            begin = row.t_out - row.service_ns - row.wait_ns
            if abs(begin - here) > allowed:
                what = f"the hop begins at {begin:.6f} ns, the one before it ended at {here:.6f} ns"
                raise violation("times", describe(transaction), location, now, what)
            in_order = row.t_in <= row.t_start + allowed and row.t_start <= row.t_out + allowed
            if not in_order or min(row.service_ns, row.wait_ns) < -allowed:
                raise violation(
                    "times", describe(transaction), location, now, f"the hop runs backwards: {row}"
                )
            most = self._most_service(row)
            if row.service_ns > most + allowed:
                what = f"{row.service_ns:.6f} ns of service where {most:.6f} are needed; a wait has no name"
                raise violation("waits", describe(transaction), location, now, what)
            here = row.t_out
        if rows and abs(here - now) > allowed:
            what = f"its hops end at {here:.6f} ns: service and waits do not add up to its time"
            raise violation("times", describe(transaction), transaction.dst, now, what)

    def _most_service(self, row: HopRow) -> float:
        """Longest service of a message's last flit at a node or link, with its own earlier flits, ns."""
        resource = self._resources[row.resource]
        if isinstance(resource, Link):
            if resource.port is not None and resource.port.buffered:
                return float("inf")  # a channel to be allocated, a credit of its own on its way
            return row.bytes / resource.bw_gbs + resource.delay_ns
        if isinstance(resource, FabricNode):
            plain = not (resource.own_service or resource.takes_flits)
            if plain and resource.resource not in self._engines:
                return resource.overhead_ns
        return float("inf")

    def _waits(self, transaction: Transaction, rows: Sequence[HopRow], now: float) -> None:
        """Each hop's wait is that of the holders named, who were at that location."""
        waited: dict[int, float] = defaultdict(float)
        for row in rows:
            waited[row.resource] += row.wait_ns
        for wait in transaction.waits:
            waited[self._place(transaction, wait)] -= wait.ns
            users = self.fabric.users.get(wait.resource, set())
            if wait.holder == transaction.id or wait.holder not in users or not wait.ns > 0.0:
                location = self._resources[wait.resource].resource
                what = f"waits {wait.ns} ns for transaction {wait.holder}, which did not hold it"
                raise violation("waits", describe(transaction), location, now, what)
        for resource, rest in waited.items():
            if abs(rest) > slack(now):
                location = self._resources[resource].resource
                what = f"{rest:.6f} ns more of waiting than its holders account for"
                raise violation("waits", describe(transaction), location, now, what)

    def _place(self, transaction: Transaction, wait: Wait) -> int:
        """Number of the node or link at whose hop a wait is counted."""
        if isinstance(self._resources[wait.resource], Buffer):
            return transaction.rows[wait.seq].resource
        return self.fabric.within.get(wait.resource, wait.resource)

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
        self.fabric.at_rest(now)
        for what in waiting:
            raise violation("outstanding", "an operation", "the end", now, what)
        self._engine_jobs(now)
        for resource in self._resources:
            # Streams within a PE go beside the fabric's flits: each is within the link's capacity.
            streamed = resource.streamed_bytes / resource.bw_gbs if isinstance(resource, Link) else 0.0
            if max(resource.busy_ns - streamed, streamed) > now + slack(now):
                what = f"was busy for {resource.busy_ns:.6f} ns"
                raise violation("capacity", "all traffic", resource.resource, now, what)
            if isinstance(resource, Link):
                needed = resource.bytes / resource.bw_gbs
                needed += resource.issue_ns * (resource.transactions - resource.streams)
                if abs(needed - resource.busy_ns) > 1e-6 + 1e-9 * needed:
                    what = f"was busy for {resource.busy_ns:.6f} ns, its bytes take {needed:.6f} ns"
                    raise violation("capacity", "all traffic", resource.resource, now, what)
