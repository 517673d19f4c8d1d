"""Properties of routes over any topology: generated machines against an independent shortest path."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kernbench.errors import RoutingError
from kernbench.hardware.kinds import PE_PARTS
from kernbench.hardware.routing import Route, Router, Traffic
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph
from tests import names
from tests.compiled import compiled
from tests.examples import examples

MANY = examples(20, suppress_health_check=[HealthCheck.too_slow])

UCIE = {"ucie_internal", "ucie_to_router", "ucie_mesh", "io_to_cube"}
PASSABLE = {"router", "switch", "ucie_port", "ucie_conn", "io_noc", "io_ucie", "io_ucie_conn", "pcie_ep"}


@st.composite
def overrides(draw: st.DrawFn) -> dict[str, object]:
    """A small machine: few cubes when it has many packages, and the other way round."""
    sips = draw(st.sampled_from([1, 1, 2, 3, 5, 16]))
    w, h = draw(
        st.sampled_from([(1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (4, 1)] if sips < 3 else [(1, 1), (2, 1)])
    )
    pes = draw(st.integers(1, 16 if sips < 3 else 4))
    corners = draw(st.lists(st.sampled_from(["NW", "NE", "SW", "SE"]), min_size=1, unique=True))
    channels = pes * draw(st.sampled_from([1, 2, 8, 16]))
    width, height = draw(st.floats(4, 30)), draw(st.floats(30, 60))
    sides = draw(st.lists(st.sampled_from("NSEW"), min_size=1, max_size=2, unique=True))
    # Whole micrometers: floats from 0 to 30 are 1e-180 now and then, which a file may not have.
    x, y = (st.integers(0, int(size * 1000)).map(lambda um: um / 1000) for size in (width, height))
    at = st.fixed_dictionaries({"x": x, "y": y})
    return {
        "system.sips": sips,
        "sip.cube_mesh": {"w": w, "h": h},
        "sip.io_chiplets": [
            {"name": f"io{i}", "side": side, "io_ucie": {"n_connections": draw(st.integers(1, 5))}}
            for i, side in enumerate(sides)
        ],
        "cube.size_mm": {"w": width, "h": height},
        "cube.pes": {"count": pes, "corners": corners},
        "cube.m_cpu.position_mm": draw(at),
        "cube.sram.position_mm": draw(at),
        "cube.hbm.pseudo_channels": channels,
        "cube.hbm.capacity_bytes": pes << 30,
        "cube.ucie.n_connections": draw(st.integers(1, 6)),
        "routing.connection": draw(st.sampled_from(["nearest", "first"])),
    }


def machines() -> st.SearchStrategy[PropertyGraph]:
    return overrides().map(lambda o: compiled(None, o))


def allowed(graph: PropertyGraph, src: str, dst: str, traffic: Traffic) -> nx.DiGraph[str]:
    """The graph that a route may use, written down independently of the router."""
    a, b = graph.node(src).properties, graph.node(dst).properties
    same_cube = a["cube"] >= 0 and (a["sip"], a["cube"]) == (b["sip"], b["cube"])  # type: ignore[operator]
    # The TCM of a PE is behind that PE's own links.
    within_pes = set() if "pe_tcm" in (a["kind"], b["kind"]) else {"pe_internal", "pe_to_router"}
    banned = {
        Traffic.PE_DMA: UCIE if same_cube else {"command"},
        Traffic.MCPU_DMA: within_pes,
        Traffic.HOST_MEMORY: within_pes,
        Traffic.COMMAND: set(),
    }[traffic]
    passable = {n.id for n in graph.nodes() if n.properties["kind"] in PASSABLE}
    if b["kind"] == "pe_tcm":
        passable.add(dst.removesuffix("pe_tcm") + "pe_dma")
    own_dma = src.removesuffix("pe_tcm") + "pe_dma" if a["kind"] == "pe_tcm" else ""
    transit = set(passable)
    if own_dma:
        passable.add(own_dma)
    out: nx.DiGraph[str] = nx.DiGraph()
    out.add_nodes_from([src, dst])
    for edge in graph.edges("LINK"):
        p = edge.properties
        leaves = edge.source == src or edge.source in passable
        enters = edge.target == dst or edge.target in passable
        into_tcms_dma = b["kind"] == "pe_tcm" and edge.source == dst.removesuffix("pe_tcm") + "pe_dma"
        # A route from a TCM passes its own DMA, and goes on from there to what passes on.
        out_of_tcms_dma = edge.source == own_dma and edge.target not in transit
        into_own_dma = edge.target == own_dma and edge.source != src
        if (
            p["kind"] in banned
            or out_of_tcms_dma
            or (into_own_dma and edge.target != dst)
            or not (leaves and enters)
            or (into_tcms_dma and edge.target != dst and edge.source != src)
        ):
            continue
        out.add_edge(edge.source, edge.target, nm=round(float(p["routing_weight"]) * 1e6))
    return out


def check(graph: PropertyGraph, router: Router, src: str, dst: str, traffic: Traffic) -> None:
    paths = allowed(graph, src, dst, traffic)
    try:
        best = nx.dijkstra_path_length(paths, src, dst, weight="nm")
    except nx.NetworkXNoPath:
        with pytest.raises(RoutingError, match=f"no route from '{src}' to '{dst}' for {traffic}"):
            router.route(src, dst, traffic)
        return
    route = router.route(src, dst, traffic)
    assert route.weight == best / 1e6
    assert (route.nodes[0], route.nodes[-1]) == (src, dst)
    assert len(set(route.nodes)) == len(route.nodes)
    assert [(e.source, e.target) for e in route.links] == list(pairwise(route.nodes))
    assert all(paths.has_edge(e.source, e.target) for e in route.links)
    assert sum(round(float(e.properties["routing_weight"]) * 1e6) for e in route.links) == best


@given(machines(), st.data())
@MANY
def test_routes_are_shortest_simple_and_allowed(graph: PropertyGraph, data: st.DataObject) -> None:
    router = Router(graph)
    wired = sorted({e.source for e in graph.edges("LINK")})
    by_kind: dict[str, list[str]] = {}
    for name in wired:
        by_kind.setdefault(names.parse(name).kind, []).append(name)
    useful = {
        Traffic.PE_DMA: (["pe_dma"], ["hbm_ctrl", "sram", "pe_tcm", "pe_dma"]),
        Traffic.MCPU_DMA: (["m_cpu"], ["hbm_ctrl", "sram", "pe_tcm"]),
        Traffic.HOST_MEMORY: (["host_cpu", "pcie_ep"], ["hbm_ctrl", "sram", "pe_tcm"]),
        Traffic.COMMAND: (["host_cpu", "io_cpu", "m_cpu"], ["io_cpu", "m_cpu", "pe_cpu", "pe_mmu"]),
    }
    for traffic, (sources, targets) in useful.items():
        for _ in range(3):
            src = data.draw(st.sampled_from([n for k in sources for n in by_kind[k]]))
            dst = data.draw(st.sampled_from([n for k in targets for n in by_kind[k]]))
            check(graph, router, src, dst, traffic)
        check(graph, router, data.draw(st.sampled_from(wired)), data.draw(st.sampled_from(wired)), traffic)


@given(machines())
@MANY
def test_everything_that_must_be_reached_is(graph: PropertyGraph) -> None:
    router = Router(graph)
    p = graph.properties
    ends: dict[str, list[str]] = {}
    for node in graph.nodes():
        ends.setdefault(str(node.properties["kind"]), []).append(node.id)
    shuffled = random.Random(0)
    memories = ends["hbm_ctrl"] + ends["sram"]
    for dma in shuffled.sample(ends["pe_dma"], min(4, len(ends["pe_dma"]))):
        for memory in memories:
            route = router.route(dma, memory, Traffic.PE_DMA)
            overhead = sum(float(graph.node(n).properties["overhead_ns"]) for n in route.nodes)
            assert overhead + sum(float(e.properties["distance_mm"]) for e in route.links) > 0
        router.route(dma, "fabric.switch0", Traffic.PE_DMA)
    for memory in memories:
        router.route("host.cpu", memory, Traffic.HOST_MEMORY)
        sip, cube = graph.node(memory).properties["sip"], graph.node(memory).properties["cube"]
        router.route(names.m_cpu(int(sip), int(cube)), memory, Traffic.MCPU_DMA)
    for io_cpu in ends["io_cpu"]:
        router.route("host.cpu", io_cpu, Traffic.COMMAND)
        sip = int(graph.node(io_cpu).properties["sip"])
        for cube in range(int(p["cubes_per_sip"])):
            router.route(io_cpu, names.m_cpu(sip, cube), Traffic.COMMAND)
    for pe_part in ends["pe_cpu"] + ends["pe_mmu"]:
        place = graph.node(pe_part).properties
        router.route(names.m_cpu(int(place["sip"]), int(place["cube"])), pe_part, Traffic.COMMAND)


@given(machines())
@MANY
def test_every_link_has_its_twin_and_the_counts_add_up(graph: PropertyGraph) -> None:
    p = graph.properties
    for edge in graph.edges("LINK"):
        assert edge.id == names.link(edge.source, edge.target)
        assert graph.edge(names.link(edge.target, edge.source)).properties is edge.properties
        assert float(edge.properties["routing_weight"]) >= float(edge.properties["distance_mm"]) >= 0
        assert float(edge.properties["bw_gbs"]) > 0
    cubes = int(p["sips"]) * int(p["cubes_per_sip"])
    counts: dict[str, int] = {}
    for node in graph.nodes():
        counts[str(node.properties["kind"])] = counts.get(str(node.properties["kind"]), 0) + 1
    assert counts["sip"] == p["sips"]
    assert counts["cube"] == counts["m_cpu"] == counts["sram"] == cubes
    assert counts["ucie_port"] == 4 * cubes
    for part in ("pe", *PE_PARTS):
        assert counts[part] == cubes * int(p["pes_per_cube"])
    w, h, sips = int(p["cube_mesh_w"]), int(p["cube_mesh_h"]), int(p["sips"])
    seams = sum(e.properties["kind"] == "ucie_mesh" for e in graph.edges("LINK"))
    assert seams == 2 * sips * ((w - 1) * h + w * (h - 1))
    # each slice's share of the cube's memory and channels
    for sip in range(sips):
        for cube in range(int(p["cubes_per_sip"])):
            own = [
                n.properties
                for n in graph.nodes("HbmCtrl")
                if (n.properties["sip"], n.properties["cube"]) == (sip, cube)
            ]
            assert [s["slice"] for s in own] == list(range(len(own)))
            assert len({s["slice_bytes"] for s in own}) == 1
            assert all(int(s["n_channels"]).bit_count() == 1 for s in own)


def some_routes() -> list[Route]:
    """Routes that must be the same in every process; see ``tests/e2e/test_determinism.py``."""
    graph = compiled(None, {"sip.cube_mesh": {"w": 3, "h": 2}, "cube.ucie.n_connections": 6})
    router = Router(graph)
    ends = [(s, c, p) for s in range(2) for c in range(6) for p in (0, 3, 6)]
    return [
        router.route(names.pe_part(*a, "pe_dma"), names.hbm(*b), Traffic.PE_DMA) for a in ends for b in ends
    ]


def test_the_order_of_questions_does_not_matter() -> None:
    graph = compiled(None, {"sip.cube_mesh": {"w": 2, "h": 2}, "system.sips": 1})
    questions = [
        (names.pe_part(0, a, p, "pe_dma"), names.hbm(0, b, q), Traffic.PE_DMA)
        for a in range(4) for b in range(4) for p in (0, 7) for q in (0, 3, 6)
    ]  # fmt: skip
    forwards, backwards = Router(graph), Router(graph)
    first = {q: forwards.route(*q).nodes for q in questions}
    assert {q: backwards.route(*q).nodes for q in reversed(questions)} == first


def test_ties_are_exact_where_floats_are_not() -> None:
    """Columns at thirds of a millimetre: both ways round the HBM zone are equally long, the name decides."""
    graph = compile_topology(parse("name: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"))
    router = Router(graph)
    expected = {
        ("r2c1", "r3c4"): "r2c1 r1c1 r1c2 r1c3 r1c4 r2c4 r3c4",
        ("r3c1", "r2c4"): "r3c1 r2c1 r1c1 r1c2 r1c3 r1c4 r2c4",
    }
    for (a, b), path in expected.items():
        route = router.route(f"sip0.cube0.{a}", f"sip0.cube0.{b}", Traffic.PE_DMA)
        assert " ".join(n.rpartition(".")[2] for n in route.nodes) == path
