"""Simulates single transfers and sets what the engine says beside what the formula says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from kernbench.analysis.routes.zero_load import Prediction, ZeroLoadHop, ZeroLoadModel
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.node import Link
from kernbench.engine.core.records import HopRow
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.blame import blamed
from kernbench.engine.machine.kept import give_back, machine_for
from kernbench.engine.machine.machine import Machine
from kernbench.engine.run_options import ShareProgress
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.cases import Case

TOLERANCE_NS = 1e-9
"""How far simulation and formula may lie apart."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One transfer of ``nbytes``, simulated and predicted. Times in ns since its start."""

    nbytes: int
    flits: int
    actual_ns: float
    prediction: Prediction
    hops: tuple[ZeroLoadHop, ...]
    """The places that the simulated transfer passed."""
    service_ns: float
    """Time at all hops together, without waits for others."""
    wait_ns: float
    """Waits for others; there are none."""
    unfinished: int
    """Events and transactions left over when it was answered."""
    tolerance_ns: float
    """:data:`TOLERANCE_NS`, or where that is more, the rounding of one addition a flit at this time."""

    @property
    def difference_ns(self) -> float:
        """Simulation less formula."""
        return self.actual_ns - self.prediction.ns

    @property
    def effective_gbs(self) -> float:
        """Bytes over time, GB/s."""
        return self.nbytes / self.actual_ns if self.actual_ns > 0 else math.inf

    @property
    def utilisation(self) -> float:
        """Effective bandwidth as a share of the bottleneck's."""
        return self.effective_gbs / self.prediction.bottleneck_gbs


@dataclass(frozen=True, slots=True)
class CaseRow:
    """All measurements of one case, by size, smallest first."""

    case: Case
    by_size: Mapping[int, Measurement]


class _Watch(Instrument):
    """Keeps the transactions that have ended."""

    def __init__(self) -> None:
        self.ended: list[Transaction] = []

    def transaction_done(self, transaction: Transaction) -> None:
        self.ended.append(transaction)


class ProbeBench:
    """Measures cases of one compiled topology."""

    def __init__(
        self,
        graph: PropertyGraph,
        components: Mapping[str, str] | None = None,
        *,
        check: bool | None = None,
    ) -> None:
        self._graph = graph
        self._components = components
        self._check = check
        self._formula = ZeroLoadModel(graph)
        self._parts: dict[frozenset[object], PropertyGraph] = {}

    def measure(
        self, cases: Sequence[Case], sizes: Sequence[int], progress: ShareProgress | None = None
    ) -> list[CaseRow]:
        """Every case with every size, the sizes of a case one after the other on a machine of its own.

        Where there are caches, each size has one of its own: they are empty.
        """
        ordered = sorted(set(sizes))
        total = len(cases) * sum(ordered)
        done = before = 0
        simulated_ns = 0.0
        rows = []
        for case in cases:
            machine, watch = self._machine(case)
            by_size: dict[int, Measurement] = {}
            for nbytes in ordered:
                if by_size and has_cache(self._graph):
                    before += machine.clock.events
                    give_back(machine)
                    machine, watch = self._machine(case)
                with blamed(machine):
                    by_size[nbytes] = self._transfer(machine, watch, case, nbytes)
                done += nbytes
                simulated_ns += by_size[nbytes].actual_ns
                if progress is not None:
                    progress(simulated_ns, before + machine.clock.events, done / total)
            before += machine.clock.events
            rows.append(CaseRow(case, by_size))
            give_back(machine)
        return rows

    def _machine(self, case: Case) -> tuple[Machine, _Watch]:
        """A machine for one case, without what the case does not touch."""
        watch = _Watch()
        ends = (self._graph.node(end).properties for end in (case.src, case.dst))
        sips = frozenset(properties["sip"] for properties in ends)
        if sips not in self._parts:
            self._parts[sips] = packages(self._graph, sips)
        return machine_for(self._parts[sips], [watch], self._components, check=self._check), watch

    def _transfer(self, machine: Machine, watch: _Watch, case: Case, nbytes: int) -> Measurement:
        watch.ended.clear()
        transfer = machine.flow(case.src, case.dst, 0, nbytes, is_write=case.is_write)
        machine.wait(transfer)
        unfinished = 0 if machine.clock.idle() else len(machine.clock.entries)
        unfinished += len(machine.in_flight)
        rows = [row for transaction in watch.ended for row in transaction.rows]
        flits = self._formula.flits(nbytes)
        hops = [_hop(machine, row, transfer.t_submit) for row in rows]
        service_ns = [row.service_ns for row in rows]
        if hops and hops[-1].kind == "pe_dma" and not case.is_write:
            # It is done when all that came has crossed to the TCM, of which its transactions tell nothing.
            service_ns.append(transfer.ns - hops[-1].t_out)
            hops[-1] = replace(hops[-1], t_out=transfer.ns)
        return Measurement(
            nbytes,
            flits,
            transfer.ns,
            case.predict(self._formula, nbytes),
            tuple(hops),
            fsum(service_ns),
            fsum(row.wait_ns for row in rows),
            unfinished,
            max(TOLERANCE_NS, flits * math.ulp(machine.clock.now)),
        )


def has_cache(graph: PropertyGraph) -> bool:
    """Whether any memory is behind a cache."""
    return any(node.properties["kind"] == "memory_cache" for node in graph.nodes())


def _hop(machine: Machine, row: HopRow, begun: float) -> ZeroLoadHop:
    server = machine.resources[row.resource]
    if isinstance(server, Link):
        kind, gbs = server.kind, server.bw_gbs
    else:
        kind, gbs = str(machine.component(server.resource).node.properties["kind"]), None
    return ZeroLoadHop(server.resource, kind, row.t_in - begun, row.t_out - begun, row.bytes, gbs)


def packages(graph: PropertyGraph, sips: Iterable[object]) -> PropertyGraph:
    """The packages ``sips`` of ``graph`` and what is outside of packages; the same nodes and edges.

    A machine of it is as good as the whole for transfers among its parts: the others would stand idle.
    """
    wanted = {-1, *sips}
    part = PropertyGraph(graph.properties)
    for node in graph.nodes():
        if node.properties["sip"] in wanted:
            part.add_node(node)
    for edge in graph.edges():
        if edge.source in part and edge.target in part:
            part.add_edge(edge)
    return part
