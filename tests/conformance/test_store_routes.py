"""Questions about routes, on every store, over generated machines, against networkx on the graph.

What a route may use is written down in tests/property/test_routing_properties.py, without the router.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import strategies as st

import kernbench as kb
from kernbench.errors import KernBenchError
from kernbench.support.pgraph import GraphStore, PropertyGraph, QueryError, RunRecord, topology_record
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import SIZES, Plan, examples, planned
from tests.conformance.graph_records import table
from tests.conformance.routes_oracle import Asked, Asking, Machine, left_without, transactions_of

OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")
ROUTES = ("routing/path", "routing/shared-links", "routing/distances", "routing/within",
          "routing/fault-impact", "routing/equal-routes", "routing/single-points",
          "routing/minimum-cut", "routing/bisection", "routing/shortest-routes")  # fmt: skip
EQUAL, IMPACT = "routing/equal-routes", "routing/fault-impact"
PER_MACHINE = 12
LEAST = 3
"""Answers with rows to each question about many pairs."""
FURTHER = 20
"""Most links more that are lost until so many of them had an equal route."""
ENDS = {
    "PE_DMA": (["pe_dma"], ["hbm_ctrl", "sram", "pe_tcm"]),
    "MCPU_DMA": (["m_cpu"], ["hbm_ctrl", "sram", "pe_tcm"]),
    "HOST_MEMORY": (["host_cpu"], ["hbm_ctrl", "sram", "pe_tcm"]),
    "COMMAND": (["host_cpu", "io_cpu", "m_cpu"], ["io_cpu", "m_cpu", "pe_cpu"]),
}
"""Senders and receivers of each kind of traffic."""


@st.composite
def _asked(draw: st.DrawFn) -> Asked:
    name = draw(st.sampled_from(["minimal", "minimal", "minimal", "minimal", OBLONG]))
    sides = draw(st.lists(st.sampled_from("NSEW"), min_size=1, max_size=2, unique=True))
    overrides = {
        "system.sips": draw(st.integers(1, 2)),
        "sip.cube_mesh": {"w": draw(st.integers(1, 2)), "h": draw(st.integers(1, 2))},
        "sip.io_chiplets": [{"name": f"io{n}", "side": side} for n, side in enumerate(sides)],
        "cube.ucie.n_connections": draw(st.integers(1, 3)),
        "routing.connection": draw(st.sampled_from(["nearest", "first"])),
    }
    graph = kb.load_topology(name, overrides if name == "minimal" else None)
    by_kind: dict[str, list[str]] = {}
    for node in graph.nodes():
        by_kind.setdefault(str(node.properties["kind"]), []).append(node.id)
    links = [edge.id for edge in graph.edges("LINK")]
    pairs, lost = [], []
    for _ in range(PER_MACHINE):
        traffic = draw(st.sampled_from(list(ENDS)))
        src, dst = (
            draw(st.sampled_from([n for kind in kinds for n in by_kind[kind]])) for kinds in ENDS[traffic]
        )
        pairs.append((src, dst, traffic))
        whole = draw(st.sampled_from(["link", "link", "router", "ucie_port", "cube", "pe", "hbm_ctrl"]))
        lost.append(draw(st.sampled_from(links if whole == "link" else by_kind[whole])))
    return Asked(graph, pairs, lost)


@cache
def generated(count: int) -> list[Asked]:
    return examples(_asked(), count)


@pytest.mark.parametrize("size", SIZES)
def test_routes_are_those_of_the_graph(new_store: NewStore, size: str) -> None:
    asked, found = Counter[str](), Counter[str]()
    with new_store() as store:
        plan = planned(size, store, every=6) if size == "many" else Plan(1, PER_MACHINE)
        count = -(-plan.runs // PER_MACHINE)
        runs = []
        for case in generated(count):
            record = {
                "Transaction": table("Transaction", transactions_of(case)),
                "Use": table("Use", _ends(case)),
            }
            runs.append(store.keep(RunRecord({"bench": "none"}, record), topology_record(case.graph)))
        pairs = itertools.count()
        for case, run in zip(generated(count), runs, strict=True):
            machine = Machine(case.graph)
            asking = Asking(store, run, machine)
            for number, pair in enumerate(case.pairs):
                at = next(pairs)
                questions: dict[str, Callable[[], list[Any]]] = {
                    "routing/path": partial(asking.path, *pair, case.lost[number] * (at % 2)),
                    "routing/shared-links": partial(
                        asking.shared, pair, case.pairs[number - 1], case.lost[number] * (at % 2)
                    ),
                    "routing/distances": partial(asking.distances, *pair),
                    "routing/within": partial(asking.within, *pair, case.lost[number] * (at % 2)),
                    "routing/single-points": partial(asking.points, *pair),
                    IMPACT: partial(asking.loss, case, case.lost[number]),
                    EQUAL: partial(asking.equal, case.lost[number]),
                    "routing/minimum-cut": partial(asking.minimum_cut, *pair, case.lost[number]),
                    "routing/bisection": asking.bisection,
                    "routing/shortest-routes": partial(asking.shortest, pair, case.lost[number]),
                }
                for question, (name, rows) in enumerate(questions.items()):
                    if plan.asks(at, question):
                        asked[name] += 1
                        found[name] += bool(rows())
        if size == "many":
            for asking, case, link in itertools.islice(on_the_way(store, runs, generated(count)), FURTHER):
                if min(found[EQUAL], found[IMPACT]) >= LEAST:
                    break
                found[EQUAL] += bool(asking.equal(link))
                found[IMPACT] += bool(asking.loss(case, link))
    assert dict.fromkeys(ROUTES, count * PER_MACHINE // plan.every) == asked
    if size == "many":
        assert min(asked.values()) >= plan.times
        assert min(found[name] for name in ROUTES) >= LEAST


def on_the_way(store: GraphStore, runs: list[str], cases: list[Asked]) -> Iterator[tuple[Asking, Asked, str]]:
    """Links without which a pair has another way of the same weight; a drawn one is seldom such a link."""
    for case, run in zip(cases, runs, strict=True):
        machine = Machine(case.graph)
        asking = Asking(store, run, machine)
        for src, dst, traffic in case.pairs:
            ways = machine.ways(src, dst, traffic)
            best = machine.best(ways, src, dst)
            for a, b in itertools.pairwise(nx.shortest_path(ways, src, dst, weight="nm") if best else ()):
                without = ways.copy()
                without.remove_edge(a, b)
                other = machine.best(without, src, dst)
                if best and other and other[0] == best[0]:
                    yield asking, case, f"{a}->{b}"


@pytest.mark.daily("embedded-PE_DMA")
@pytest.mark.parametrize("traffic", ["PE_DMA", "COMMAND"])
def test_what_cannot_be_reached_is_said(store: GraphStore, traffic: str) -> None:
    """Among all components of a machine; a limit leaves out the unreachable first."""
    graph = kb.load_topology("minimal")
    src = "sip0.cube0.pe0.pe_dma" if traffic == "PE_DMA" else "host.cpu"
    run = store.keep(RunRecord({"bench": "none"}, {}), topology_record(graph))
    asking = Asking(store, run, Machine(graph))
    given: dict[str, object] = {"src": src, "kind": "", "traffic": traffic}
    rows = asking.ask("distances", **given, limit=10_000)
    reachable = [row["reachable"] for row in rows]
    assert {True, False} == set(reachable)
    asking.check_distances(rows, src, traffic, "")
    assert asking.ask("distances", **given, limit=reachable.count(True)) == rows[: reachable.count(True)]
    near = asking.ask("within", **given, within_ns=1e6, limit=10_000)
    assert [row["component"] for row in near] == [row["component"] for row in rows if row["reachable"]]


def _ends(case: Asked) -> list[dict[str, Any]]:
    """The use of the components between which something was sent."""
    names = dict.fromkeys(name for src, dst, _ in case.pairs for name in (src, dst))
    return [
        {"resource": name, "is_link": False, "kind": "", "bytes": 0, "busy_ns": 0.0, "wait_ns": 0.0,
         "utilisation": 0.0, "transactions": 0, "max_queue": 0}
        for name in names
    ]  # fmt: skip


@pytest.mark.daily("embedded-sip0.cube0.pe0-*-PE_DMA", "embedded-host.cpu-sip0.cube0.pe1-HOST_MEMORY")
@pytest.mark.parametrize(
    ("src", "dst", "traffic"),
    [
        ("host.cpu", "sip0.cube0", "COMMAND"),
        ("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe1", "PE_DMA"),
        ("sip0", "sip0.cube0.sram", "PE_DMA"),
        ("sip0.cube0.m_cpu", "sip0.cube0.pe0.pe_tcm", "MCPU_DMA"),
        ("sip0.cube0.m_cpu", "sip0.cube0.pe0", "MCPU_DMA"),
        ("host.cpu", "sip0.cube0.pe1", "HOST_MEMORY"),
        pytest.param("host.cpu", "sip0", "HOST_MEMORY", marks=pytest.mark.slow),
    ],
)
def test_points_of_sets_lie_on_every_way(store: GraphStore, src: str, dst: str, traffic: str) -> None:
    graph = kb.load_topology(OBLONG)
    run = store.keep(RunRecord({"bench": "none"}, {}), topology_record(graph))
    machine = Machine(graph)
    rows = Asking(store, run, machine).ask("single-points", src=src, dst=dst, traffic=traffic)
    senders = _inside(graph, src, ENDS[traffic][0] + (["pe_cpu"] if traffic == "COMMAND" else []))
    takers = _inside(graph, dst, ["m_cpu", "pe_cpu", "io_cpu"] if traffic == "COMMAND" else
                     ["hbm_ctrl", "sram", "pe_tcm"])  # fmt: skip
    pairs = [(a, b) for a in senders for b in takers if nx.has_path(machine.ways(a, b, traffic), a, b)]
    way = nx.shortest_path(machine.ways(*pairs[0], traffic), *pairs[0])
    passed = [place for a, b in itertools.pairwise(way) for place in (f"{a}->{b}", b)][:-1]
    expected = [p for p in passed if not _reaches(machine, pairs, traffic, p)]
    assert [row["resource"] for row in rows] == expected
    kinds = [machine.links[p].properties["kind"] if "->" in p else graph.node(p).properties["kind"]
             for p in expected]  # fmt: skip
    assert [row["kind"] for row in rows] == kinds


def _reaches(machine: Machine, pairs: Iterable[tuple[str, str]], traffic: str, less: str) -> bool:
    """Whether any of the pairs does without ``less``."""
    for a, b in pairs:
        rest = left_without(machine.ways(a, b, traffic), less)
        if a in rest and b in rest and nx.has_path(rest, a, b):
            return True
    return False


def _inside(graph: PropertyGraph, name: str, kinds: list[str]) -> list[str]:
    inside, todo = [], [name]
    while todo:
        here = todo.pop()
        inside.append(here)
        todo += [edge.target for edge in graph.out_edges(here, "CONTAINS")]
    return inside if len(inside) == 1 else [n for n in inside if graph.node(n).properties["kind"] in kinds]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("routing/path", {"src": "nowhere", "dst": "host.cpu"}),
        ("routing/path", {"src": "host.cpu", "dst": "host.cpu", "route": "[]"}),
        ("routing/fault-impact", {"lost": "x' OR 1=1 //"}),
        (
            "routing/shortest-routes",
            {"src": "sip0.cube0.pe0", "dst": "host", "traffic": "PE_DMA", "lost": "x"},
        ),
        ("routing/single-points", {"src": "sip0.cube0.pe0", "dst": "host.cpu", "traffic": "MCPU_DMA"}),
    ],
)
def test_what_is_not_there_is_said(store: GraphStore, name: str, params: Mapping[str, str]) -> None:
    store.keep(RunRecord({"bench": "none"}, {}), topology_record(kb.load_topology("minimal")))
    with pytest.raises((KernBenchError, QueryError)) as caught:
        kb.ask(name, store=store, params=params)
    assert "\n" not in str(caught.value)
