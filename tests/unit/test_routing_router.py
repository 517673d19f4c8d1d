"""Routes of the default machine: the documented ones, the restrictions, and the choices among equals."""

# ruff: noqa: E501 - messages stand as users see them, in one line
from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise
from threading import Thread

import pytest

from kernbench.errors import RoutingError
from kernbench.hardware.routing import Route, Router, Traffic, router_of
from kernbench.hardware.topology import compile_topology, load
from kernbench.hardware.topology.mesh import layout
from kernbench.support.pgraph import PropertyGraph
from tests import names
from tests.compiled import compiled


@pytest.fixture(scope="module")
def default() -> PropertyGraph:
    return compiled()


@pytest.fixture(scope="module")
def router(default: PropertyGraph) -> Router:
    return Router(default)


def dma(sip: int, cube: int, pe: int) -> str:
    return names.pe_part(sip, cube, pe, "pe_dma")


def short(route: Route, prefix: str = "sip0.cube0.") -> str:
    return " ".join(name.removeprefix(prefix) for name in route.nodes)


def kinds(route: Route) -> list[str]:
    return [str(link.properties["kind"]) for link in route.links]


def test_documented_route_to_a_neighbours_slice(router: Router) -> None:
    route = router.route(dma(0, 0, 0), names.hbm(0, 0, 2), Traffic.PE_DMA)
    assert short(route) == "pe0.pe_dma r0c0 r0c1 r0c2 r0c3 r0c4 r1c4 hbm_ctrl.pe2"
    assert route.weight == 12.5
    assert [(e.source, e.target) for e in route.links] == list(pairwise(route.nodes))


def test_own_slice_is_one_router_away(router: Router) -> None:
    assert short(router.route(dma(0, 0, 5), names.hbm(0, 0, 5), Traffic.PE_DMA)) == (
        "pe5.pe_dma r4c1 hbm_ctrl.pe5"
    )


def test_in_a_cube_x_comes_before_y(router: Router) -> None:
    cells = layout(16, 14, 8, ("NW", "NE", "SW", "SE"), 4, (1.5, 5.5), (1.5, 9.0)).pe_cells
    for a, (row, col) in enumerate(cells):
        for b, (to_row, to_col) in enumerate(cells):
            step_x, step_y = (1 if to_col > col else -1), (1 if to_row > row else -1)
            expected = [(row, x) for x in range(col, to_col, step_x)]
            expected += [(y, to_col) for y in range(row, to_row, step_y)] + [(to_row, to_col)]
            route = router.route(dma(0, 7, a), names.hbm(0, 7, b), Traffic.PE_DMA)
            assert route.nodes[1:-1] == tuple(names.router(0, 7, *cell) for cell in expected)


def test_around_the_hbm_zone(router: Router) -> None:
    route = router.route("sip0.cube0.r2c1", "sip0.cube0.r2c4", Traffic.PE_DMA)
    assert short(route) == "r2c1 r1c1 r1c2 r1c3 r1c4 r2c4"


def test_to_the_next_cube(router: Router) -> None:
    route = router.route(dma(0, 0, 0), names.hbm(0, 1, 2), Traffic.PE_DMA)
    assert short(route, "sip0.") == (
        "cube0.pe0.pe_dma cube0.r0c0 cube0.r0c1 cube0.r0c2 cube0.r0c3 cube0.r0c4 cube0.r0c5"
        " cube0.ucie-E.conn0 cube0.ucie-E cube1.ucie-W cube1.ucie-W.conn1"
        " cube1.r1c0 cube1.r1c1 cube1.r1c2 cube1.r1c3 cube1.r1c4 cube1.hbm_ctrl.pe2"
    )


def test_to_another_package_passes_endpoints_and_switch(router: Router) -> None:
    route = router.route(dma(0, 0, 0), names.hbm(1, 0, 0), Traffic.PE_DMA)
    assert short(route, "") == (
        "sip0.cube0.pe0.pe_dma sip0.cube0.r0c0 sip0.cube0.ucie-N.conn0 sip0.cube0.ucie-N"
        " sip0.io0.io_ucie-P0 sip0.io0.io_ucie-P0.conn0 sip0.io0.io_noc sip0.io0.pcie_ep fabric.switch0"
        " sip1.io0.pcie_ep sip1.io0.io_noc sip1.io0.io_ucie-P0.conn0 sip1.io0.io_ucie-P0"
        " sip1.cube0.ucie-N sip1.cube0.ucie-N.conn0 sip1.cube0.r0c0 sip1.cube0.hbm_ctrl.pe0"
    )


def test_host_memory_passes_by_the_cpus(router: Router) -> None:
    route = router.route("host.cpu", names.hbm(0, 2, 3), Traffic.HOST_MEMORY)
    assert short(route, "sip0.") == (
        "host.cpu fabric.switch0 io0.pcie_ep io0.io_noc io0.io_ucie-P2.conn3 io0.io_ucie-P2"
        " cube2.ucie-N cube2.ucie-N.conn3 cube2.r0c5 cube2.r1c5 cube2.hbm_ctrl.pe3"
    )


def test_commands(router: Router) -> None:
    assert short(router.route("sip0.io0.pcie_ep", "sip0.io0.io_cpu", Traffic.COMMAND), "sip0.io0.") == (
        "pcie_ep io_noc io_cpu"
    )
    assert short(router.route("sip0.cube0.m_cpu", "sip0.cube0.pe6.pe_cpu", Traffic.COMMAND)) == (
        "m_cpu r2c0 r2c1 r3c1 r4c1 r4c2 r4c3 r4c4 r5c4 pe6.pe_cpu"
    )
    assert short(router.route("sip0.cube0.m_cpu", "sip0.cube0.pe3.pe_mmu", Traffic.COMMAND)).endswith(
        "r1c5 pe3.pe_mmu"
    )


def test_another_pes_tcm_is_reached_through_its_dma(router: Router) -> None:
    route = router.route(dma(0, 0, 0), names.pe_part(0, 0, 1, "pe_tcm"), Traffic.PE_DMA)
    assert short(route) == "pe0.pe_dma r0c0 r0c1 pe1.pe_dma pe1.pe_tcm"
    assert (
        short(router.route(dma(0, 0, 1), "sip0.cube0.pe1.pe_tcm", Traffic.PE_DMA)) == "pe1.pe_dma pe1.pe_tcm"
    )
    assert short(router.route("sip0.cube0.pe1.pe_ipcq", "sip0.cube0.pe1.pe_tcm", Traffic.COMMAND)) == (
        "pe1.pe_ipcq pe1.pe_dma pe1.pe_tcm"
    )


def test_to_itself(router: Router) -> None:
    route = router.route("sip0.cube0.sram", "sip0.cube0.sram", Traffic.PE_DMA)
    assert (route.nodes, route.links, route.weight) == (("sip0.cube0.sram",), (), 0.0)


def test_a_connection_is_no_shortcut_within_a_cube(default: PropertyGraph, router: Router) -> None:
    """By distance the ports are wires of no length between the rows; no traffic may use them so."""
    for traffic in Traffic:
        for row in (0, 1, 4, 5):
            route = router.route("sip0.cube5.r5c0", f"sip0.cube5.r{row}c0", traffic)
            assert set(kinds(route)) <= {"router_mesh"}


def test_the_host_reaches_a_tcm_through_its_pe(router: Router) -> None:
    route = router.route("host.cpu", names.pe_part(0, 0, 1, "pe_tcm"), Traffic.HOST_MEMORY)
    assert short(route).endswith("pe1.pe_dma pe1.pe_tcm")
    assert "command" not in kinds(route)


def test_an_io_chiplet_is_no_shortcut_between_cubes(router: Router) -> None:
    for traffic in Traffic:
        for cube in range(1, 16):
            a, b = (names.m_cpu(0, 0), names.m_cpu(0, cube))
            if traffic is Traffic.PE_DMA:
                a, b = dma(0, 0, 0), names.hbm(0, cube, 0)
            if traffic in (Traffic.MCPU_DMA, Traffic.HOST_MEMORY):
                a, b = names.sram(0, 0), names.sram(0, cube)
            used = Counter(kinds(router.route(a, b, traffic)))
            assert used["io_to_cube"] == 0
            assert used["ucie_mesh"] == cube % 4 + cube // 4


def test_an_io_chiplet_carries_cube_traffic_when_nothing_else_does() -> None:
    """Two cubes side by side with the seam cut: the way left is through the chiplet."""
    graph = compiled(None, {"system.sips": 1, "sip.cube_mesh": {"w": 2, "h": 1}})
    cut = PropertyGraph(graph.properties)
    for node in graph.nodes():
        cut.add_node(node)
    for edge in graph.edges():
        if edge.properties.get("kind") != "ucie_mesh":
            cut.add_edge(edge)
    route = Router(cut).route(dma(0, 0, 0), names.hbm(0, 1, 0), Traffic.PE_DMA)
    assert Counter(kinds(route))["io_to_cube"] == 2


@pytest.mark.parametrize(("src_cube", "dst_cube"), [(0, 3), (3, 0), (12, 0), (0, 12)])
def test_traffic_spreads_over_the_connections(router: Router, src_cube: int, dst_cube: int) -> None:
    """From one PE to every slice of a far cube: each seam's far port uses all four of its connections."""
    used: dict[str, set[str]] = {}
    for pe in range(8):
        nodes = router.route(dma(0, src_cube, 0), names.hbm(0, dst_cube, pe), Traffic.PE_DMA).nodes
        for before, after in pairwise(nodes):
            port, conn = names.parse(before), names.parse(after)
            if (port.kind, conn.kind) == ("ucie_port", "ucie_conn"):
                used.setdefault(before, set()).add(after)
    assert [len(connections) for connections in used.values()] == [4, 4, 4]


def test_transit_keeps_to_the_destinations_row(router: Router) -> None:
    for pe, row in ((0, 0), (2, 1), (4, 4), (6, 5)):
        nodes = router.route(dma(0, 0, 0), names.hbm(0, 3, pe), Traffic.PE_DMA).nodes
        passed = [names.parse(n) for n in nodes]
        assert {n.row for n in passed if n.kind == "router" and n.cube in (1, 2)} == {row}


def test_host_traffic_spreads_over_the_phys_connections(router: Router) -> None:
    used = {
        name
        for pe in range(8)
        for name in router.route("host.cpu", names.hbm(0, 1, pe), Traffic.HOST_MEMORY).nodes
        if names.parse(name).kind == "io_ucie_conn"
    }
    assert used == {names.io_ucie_conn(0, "io0", "P1", i) for i in range(4)}


def test_policy_first_takes_the_first_connection() -> None:
    router = Router(compiled(None, {"routing.connection": "first", "system.sips": 1}))
    for pe, row in ((0, 0), (6, 5)):
        nodes = router.route(dma(0, 0, 0), names.hbm(0, 3, pe), Traffic.PE_DMA).nodes
        entered = [n for n in nodes if names.parse(n).side == "W" and names.parse(n).kind == "ucie_conn"]
        assert entered[:2] == ["sip0.cube1.ucie-W.conn0", "sip0.cube2.ucie-W.conn0"]
        assert entered[2] == names.ucie_conn(0, 3, "W", (0, 1, 4, 5).index(row))  # shorter, so not a tie


def test_connections_that_meet_in_one_place_share_the_traffic() -> None:
    """Eight connections over four columns: both of a column are used."""
    router = Router(compiled(None, {"cube.ucie.n_connections": 8, "system.sips": 1}))
    used = {
        name
        for pe in range(8)
        for name in router.route(dma(0, 0, 0), names.hbm(0, 12, pe), Traffic.PE_DMA).nodes
        if name.startswith("sip0.cube12.ucie-N.conn")
    }
    assert used == {names.ucie_conn(0, 12, "N", i) for i in range(8)}


def test_same_question_same_object(router: Router) -> None:
    route = router.route(dma(0, 0, 0), names.hbm(1, 9, 4), Traffic.PE_DMA)
    assert router.route(dma(0, 0, 0), names.hbm(1, 9, 4), Traffic.PE_DMA) is route


@pytest.mark.parametrize(
    ("src", "dst", "traffic", "message"),
    [
        (
            "sip0.cube0.pe0.pe_dam",
            "sip0.cube0.sram",
            Traffic.PE_DMA,
            "'sip0.cube0.pe0.pe_dam' is not a component of this topology, did you mean 'sip0.cube0.pe0.pe_dma'?",
        ),
        (
            "host.cpu",
            "x",
            Traffic.HOST_MEMORY,
            "'x' is not a component of this topology, the topology lists its components",
        ),
        (
            "sip0.cube0",
            "host.cpu",
            Traffic.COMMAND,
            "'sip0.cube0' has no wires, name a component that has",
        ),
        (
            "host.cpu",
            "sip0.cube0.pe0.pe_dma",
            Traffic.HOST_MEMORY,
            "no route from 'host.cpu' to 'sip0.cube0.pe0.pe_dma' for HOST_MEMORY traffic, which may not use links"
            " of kind pe_internal, pe_to_router",
        ),
        (
            "sip0.cube0.pe0.pe_dma",
            "sip0.cube1.m_cpu",
            Traffic.PE_DMA,
            "no route from 'sip0.cube0.pe0.pe_dma' to 'sip0.cube1.m_cpu' for PE_DMA traffic, which may not use links"
            " of kind command",
        ),
        (
            "sip0.cube0.pe0.pe_gemm",
            "sip0.cube1.sram",
            Traffic.COMMAND,
            "no route from 'sip0.cube0.pe0.pe_gemm' to 'sip0.cube1.sram' for COMMAND traffic",
        ),
    ],
)
def test_no_route(router: Router, src: str, dst: str, traffic: Traffic, message: str) -> None:
    with pytest.raises(RoutingError) as caught:
        router.route(src, dst, traffic)
    assert str(caught.value) == message


def test_tables_are_dropped_when_they_take_too_much(
    default: PropertyGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernbench.hardware.routing.router.TABLE_BYTES", 0)
    small, large = Router(default), Router(default)
    for cube in range(16):
        for pe in range(8):
            a, b = dma(1, 3, 1), names.hbm(0, cube, pe)
            assert small.route(a, b, Traffic.PE_DMA).nodes == large.route(a, b, Traffic.PE_DMA).nodes
    assert len(small._tables) == 16


def test_host_traffic_takes_the_io_chiplet_nearest_to_the_cube() -> None:
    chiplets = [{"name": "north"}, {"name": "south", "side": "S"}]
    router = Router(compiled(None, {"sip.io_chiplets": chiplets}))
    taken = {}
    for cube in range(16):
        route = router.route("host.cpu", names.hbm(0, cube, 0), Traffic.HOST_MEMORY)
        (endpoint,) = (name for name in route.nodes if name.endswith(".pcie_ep"))
        taken[cube] = endpoint.split(".")[1]
    assert {taken[cube] for cube in range(8)} == {"north"}
    assert {taken[cube] for cube in range(8, 16)} == {"south"}


def test_runs_on_one_machine_share_a_router_until_the_machine_is_changed() -> None:
    graph = compile_topology(load("default"))
    kept = router_of(graph)
    question = dma(0, 0, 0), names.hbm(0, 0, 7), Traffic.PE_DMA
    before = kept.route(*question)
    assert router_of(graph) is kept
    assert router_of(graph).route(*question) is before
    longer = before.links[2]
    longer.properties["routing_weight"] = 1000.0
    now = router_of(graph).route(*question)
    assert now.weight == Router(graph).route(*question).weight > before.weight


@pytest.mark.slow
def test_a_thread_has_a_router_of_its_own_and_none_is_pickled() -> None:
    graph = compile_topology(load("default"))
    found: list[Router] = []
    other = Thread(target=lambda: found.append(router_of(graph)))
    other.start()
    other.join()
    assert found[0] is not router_of(graph)
    assert not pickle.loads(pickle.dumps(graph)).worked_out
