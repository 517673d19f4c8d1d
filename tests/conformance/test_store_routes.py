"""Questions about routes, on every store: the answers are the router's own, weak points are weak."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernbench import api
from kernbench.api.topologies import topology_record
from kernbench.errors import KernBenchError, RoutingError
from kernbench.pgraph import GraphStore, PropertyGraph, RunRecord
from kernbench.routing import Router, Traffic
from kernbench.routing.loss import members, without
from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import table

OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")
KINDS = ["pe_dma", "hbm_ctrl", "m_cpu", "host_cpu", "pe_cpu", "io_cpu", "sram", "pe_tcm", "router", "pcie_ep"]


@cache
def machine(topology: str, connection: str) -> tuple[PropertyGraph, Router]:
    graph = api.load_topology(topology, {"routing.connection": connection} if connection else None)
    return graph, Router(graph)


def keep(store: GraphStore, graph: PropertyGraph) -> None:
    store.keep(RunRecord({"bench": "none"}, {}), topology_record(graph))


@pytest.mark.parametrize("connection", ["nearest", "first"])
@pytest.mark.parametrize("topology", ["default", OBLONG], ids=["default", "oblong"])
@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_the_path_is_the_routers(
    new_store: NewStore, topology: str, connection: str, data: st.DataObject
) -> None:
    graph, router = machine(topology, connection)
    ends = st.sampled_from([n.id for n in graph.nodes() if n.properties["kind"] in KINDS])
    found = 0
    with new_store() as store:
        keep(store, graph)
        for traffic, _ in itertools.product(Traffic, range(12)):
            src, dst = data.draw(ends), data.draw(ends)
            params = {"src": src, "dst": dst, "traffic": traffic.value}
            if not _reaches(router, src, dst, traffic.value):
                with pytest.raises(RoutingError, match=f"no route from '{src}' to '{dst}'"):
                    api.ask("routing/path", store=store, params=params)
                continue
            route = router.route(src, dst, traffic)
            rows = api.ask("routing/path", store=store, params=params).dicts()
            assert [row["link"] for row in rows] == [link.id for link in route.links]
            assert [row["component"] for row in rows] == list(route.nodes[1:])
            assert all((row["path_weight"], row["hops"]) == (route.weight, len(route.links)) for row in rows)
            found += 1
    assert found


def test_what_two_routes_share_and_how_far_things_are(store: GraphStore) -> None:
    graph, router = machine(OBLONG, "")
    keep(store, graph)
    src, dst = "sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe1"
    first = [link.id for link in router.route(src, dst, Traffic.PE_DMA).links]
    pes = [n.id for n in graph.nodes() if n.properties["kind"] == "pe_dma"]
    for other in pes:
        second = [link.id for link in router.route(other, dst, Traffic.PE_DMA).links]
        rows = api.ask(
            "routing/shared-links",
            store=store,
            params={"src": src, "dst": dst, "other_src": other, "other_dst": dst},
        ).rows
        expected = [(first.index(x) + 1, second.index(x) + 1, x) for x in first if x in second]
        assert [row[:3] for row in rows] == expected

    everything = {"src": src, "kind": "hbm_ctrl", "limit": 10_000}
    far = api.ask("routing/distances", store=store, params=everything).dicts()
    slices = [n.id for n in graph.nodes() if n.properties["kind"] == "hbm_ctrl"]
    assert sorted(row["component"] for row in far) == sorted(slices)
    per_mm = float(graph.properties["ns_per_mm"])
    for row in far:
        route = router.route(src, row["component"], Traffic.PE_DMA)
        ns = sum(graph.node(n).properties["overhead_ns"] for n in route.nodes)
        ns += per_mm * sum(e.properties["distance_mm"] for e in route.links)
        assert (row["weight"], row["hops"]) == (route.weight, len(route.links))
        assert row["ns"] == pytest.approx(ns, abs=1e-9)
    limit = far[len(far) // 2]["ns"]
    near = api.ask("routing/within", store=store, params={**everything, "within_ns": limit}).dicts()
    assert near == [row for row in far if row["ns"] <= limit]


def test_a_loss_changes_the_routes_over_it(store: GraphStore) -> None:
    graph, router = machine(OBLONG, "")
    pes = [n.id for n in graph.nodes() if n.properties["kind"] == "pe_dma"]
    slices = [n.id for n in graph.nodes() if n.properties["kind"] == "hbm_ctrl"]
    pairs = list(itertools.product(pes[:3], slices[:6]))
    sent = [
        {"id": n, "kind": "dma_read", "src": a, "dst": b, "bytes": 1, "t_submit": 0.0, "t_done": 1.0,
         "service_ns": 1.0, "wait_ns": 0.0, "op": -1}
        for n, (a, b) in enumerate(pairs + pairs[:2])
    ]  # fmt: skip
    store.keep(
        RunRecord({"bench": "none"}, {"Transaction": table("Transaction", sent)}), topology_record(graph)
    )
    wire = next(
        e.id for e in router.route(*pairs[-1], Traffic.PE_DMA).links if "mesh" in e.properties["kind"]
    )
    for lost in (wire, slices[0], "sip0.cube0"):
        rest, gone = without(graph, lost)
        rows = {
            (r["src"], r["dst"]): r
            for r in api.ask("routing/loss", store=store, params={"lost": lost}).dicts()
        }
        broken = [p for p in pairs if gone & {e.id for e in router.route(*p, Traffic.PE_DMA).links}]
        assert broken
        assert sorted(rows) == sorted(broken)
        fresh = Router(rest)
        for pair, row in rows.items():
            assert row["transactions"] == (pairs + pairs[:2]).count(pair)
            try:
                weight = fresh.route(*pair, Traffic.PE_DMA).weight
            except RoutingError:
                assert not row["reachable"]
                continue
            assert (row["reachable"], row["new_weight"]) == (True, weight)


@pytest.mark.parametrize(
    ("src", "dst", "traffic"),
    [
        ("host.cpu", "sip0.cube0", "COMMAND"),
        ("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe1", "PE_DMA"),
        ("sip0", "sip0.cube0.sram", "PE_DMA"),
        ("host.cpu", "sip0", "HOST_MEMORY"),
    ],
)
def test_without_a_single_point_there_is_no_way(store: GraphStore, src: str, dst: str, traffic: str) -> None:
    graph, router = machine(OBLONG, "")
    keep(store, graph)
    params = {"src": src, "dst": dst, "traffic": traffic}
    points = [row[1] for row in api.ask("routing/single-points", store=store, params=params).rows]
    senders, takers = _ends(graph, src, traffic), _ends(graph, dst, traffic)
    route = router.route(senders[0], takers[0], Traffic(traffic))
    on_it = [place for link in route.links for place in (link.id, link.target)][:-1]
    assert set(points) <= set(on_it)
    assert points == sorted(points, key=on_it.index)
    for place in on_it:
        rest, _ = without(graph, place)
        fresh = Router(rest)
        assert (place in points) == all(not _reaches(fresh, a, b, traffic) for a in senders for b in takers)


def _reaches(router: Router, src: str, dst: str, traffic: str) -> bool:
    try:
        router.route(src, dst, Traffic(traffic))
    except RoutingError:
        return False
    return True


def _ends(graph: PropertyGraph, name: str, traffic: str) -> list[str]:
    inside = list(members(graph, name))
    if len(inside) == 1:
        return inside
    wanted = {
        "COMMAND": {"m_cpu", "pe_cpu", "io_cpu"},
        "PE_DMA": {"pe_dma"},
        "HOST_MEMORY": {"hbm_ctrl", "sram", "pe_tcm"},
    }
    return [n for n in inside if graph.node(n).properties["kind"] in wanted[traffic]]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("routing/path", {"src": "nowhere", "dst": "host.cpu"}),
        ("routing/path", {"src": "host.cpu", "dst": "host.cpu", "route": "[]"}),
        ("routing/loss", {"lost": "x' OR 1=1 //"}),
        ("routing/single-points", {"src": "sip0.cube0.pe0", "dst": "host.cpu", "traffic": "MCPU_DMA"}),
    ],
)
def test_what_is_not_there_is_said(store: GraphStore, name: str, params: dict[str, str]) -> None:
    keep(store, machine("minimal", "")[0])
    from kernbench.pgraph import QueryError

    with pytest.raises((KernBenchError, QueryError)) as told:
        api.ask(name, store=store, params=params)
    assert "\n" not in str(told.value)


def test_dominators_are_what_they_say() -> None:
    """The library's notion of what lies on every way is the one meant here."""
    above = nx.immediate_dominators(nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]), 0)
    assert (above[4], above[3]) == (3, 0)
