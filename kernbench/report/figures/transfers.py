"""Runs scenarios and gives what was measured as rows of plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kernbench.components.hbm import HbmSlice
from kernbench.machine.machine import Machine
from kernbench.pgraph import PropertyGraph
from kernbench.report.figures.breakdown import PARTS, breakdown
from kernbench.report.figures.scenarios import Scenario, ScenarioLeftOut, find
from kernbench.sim.instrument import Instrument
from kernbench.sim.node import Link
from kernbench.sim.transaction import Transaction

OPS = ("write", "read")

LATENCY_COLUMNS = (
    "scenario", "contended", "op", "src", "dst", "bytes", "total_ns", *(f"{part}_ns" for part in PARTS),
    "slowest",
)  # fmt: skip
BANDWIDTH_COLUMNS = (
    "scenario", "contended", "op", "flows", "bytes_each", "makespan_ns", "achieved_gbs", "peak_gbs",
    "utilisation", "tightest",
)  # fmt: skip

_SIPS = 2

Row = dict[str, Any]
Done = Callable[[Machine], None]
"""Called after each run."""


class _Last(Instrument):
    """Keeps, for every source, its transaction that was answered last."""

    def __init__(self) -> None:
        self.by_source: dict[str, Transaction] = {}

    def transaction_done(self, transaction: Transaction) -> None:
        self.by_source[transaction.src] = transaction


def machine_for(graph: PropertyGraph) -> PropertyGraph:
    """``graph`` with its first two SIPs alone. All scenarios run there; the others would only stand by."""
    if int(graph.properties["sips"]) <= _SIPS:
        return graph
    small = PropertyGraph({**graph.properties, "sips": _SIPS})
    for node in graph.nodes():
        if int(node.properties["sip"]) < _SIPS:
            small.add_node(node)
    for edge in graph.edges():
        if edge.source in small and edge.target in small:
            small.add_edge(edge)
    return small


def scenarios(graph: PropertyGraph) -> tuple[list[Scenario], list[ScenarioLeftOut]]:
    """The scenarios that a topology has room for; see :func:`~kernbench.report.figures.scenarios.find`."""
    return find(Machine(graph, traced=False))


def play(graph: PropertyGraph, scenario: Scenario, op: str, nbytes: int) -> tuple[Machine, list[Transaction]]:
    """Run a scenario on a machine of its own; give it and each flow's deciding transaction, in flow order."""
    last = _Last()
    machine = Machine(graph, [last])
    flows = [
        machine.flow(flow.src, flow.dst, flow.place * nbytes, nbytes, is_write=op == "write")
        for flow in scenario.flows
    ]
    machine.wait(*flows)
    return machine, [last.by_source[flow.src] for flow in flows]


def latency_rows(
    graph: PropertyGraph, found: Sequence[Scenario], nbytes: int, done: Done | None = None
) -> list[Row]:
    """One row a flow, of :data:`LATENCY_COLUMNS`; ``slowest`` marks one flow of a scenario and direction."""
    rows = []
    for scenario, op, machine, sent in _play_all(graph, found, nbytes, done):
        times = [transaction.t_done - transaction.t_submit for transaction in sent]
        slowest = times.index(max(times))
        for number, (flow, transaction) in enumerate(zip(scenario.flows, sent, strict=True)):
            parts = breakdown(machine, transaction.rows)
            rows.append(
                {
                    "scenario": scenario.name,
                    "contended": scenario.contended,
                    "op": op,
                    "src": flow.src,
                    "dst": flow.dst,
                    "bytes": nbytes,
                    "total_ns": times[number],
                    **{f"{part}_ns": ns for part, ns in parts.items()},
                    "slowest": number == slowest,
                }
            )
    return rows


def bandwidth_rows(
    graph: PropertyGraph, found: Sequence[Scenario], nbytes: int, done: Done | None = None
) -> list[Row]:
    """One row a scenario and direction, of :data:`BANDWIDTH_COLUMNS`.

    ``peak_gbs`` is what all flows together would get if the link or memory that has most to do for its
    bandwidth (``tightest``) never stood still; ``utilisation`` is ``achieved_gbs`` of it.
    """
    rows = []
    for scenario, op, machine, sent in _play_all(graph, found, nbytes, done):
        total = nbytes * len(sent)
        makespan = max(t.t_done for t in sent) - min(t.t_submit for t in sent)
        least, tightest = _least_ns(machine)
        rows.append(
            {
                "scenario": scenario.name,
                "contended": scenario.contended,
                "op": op,
                "flows": len(sent),
                "bytes_each": nbytes,
                "makespan_ns": makespan,
                "achieved_gbs": total / makespan,
                "peak_gbs": total / least,
                "utilisation": least / makespan,
                "tightest": tightest,
            }
        )
    return rows


def _play_all(
    graph: PropertyGraph, found: Sequence[Scenario], nbytes: int, done: Done | None
) -> Iterator[tuple[Scenario, str, Machine, list[Transaction]]]:
    """Every scenario in both directions, as :func:`play` leaves it."""
    for scenario in found:
        for op in OPS:
            machine, sent = play(graph, scenario, op, nbytes)
            if done is not None:
                done(machine)
            yield scenario, op, machine, sent


def _least_ns(machine: Machine) -> tuple[float, str]:
    """The time that the busiest link or memory needs for its bytes alone, and which one that is."""
    least, name = 0.0, ""
    for resource in machine.resources:
        gbs = 0.0
        if isinstance(resource, Link):
            gbs = resource.bw_gbs
        elif isinstance(resource, HbmSlice):
            gbs = resource.number("slice_gbs")
        if gbs and resource.bytes / gbs > least:
            least, name = resource.bytes / gbs, resource.resource
    return least, name
