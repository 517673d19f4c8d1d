"""The compiled graph: nodes, links and figures of the default machine, and what a file may change."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest
from kernbench_graph.schema import TOPOLOGY_VERSION

from kernbench.hardware.kinds import COMMON, COMPONENT_KINDS, PE_PARTS, Form, component_kind
from kernbench.hardware.topology import compile_topology, load, parse
from kernbench.support.pgraph import Node, PropertyGraph
from tests import names


@pytest.fixture(scope="module")
def default() -> PropertyGraph:
    return compile_topology(load())


def own(node: Node) -> dict[str, object]:
    return {k: v for k, v in node.properties.items() if k not in COMMON}


def link(graph: PropertyGraph, a: str, b: str) -> tuple[object, ...]:
    forth, back = graph.edge(names.link(a, b)).properties, graph.edge(names.link(b, a)).properties
    assert forth == back
    return forth["kind"], forth["bw_gbs"], forth["distance_mm"]


def test_graph_properties(default: PropertyGraph) -> None:
    p = dict(default.properties)
    assert json.loads(str(p.pop("spec")))["system"]["sips"] == 2
    assert len(str(p.pop("id"))) == 16
    assert p == {
        "name": "default",
        "schema_version": 1,
        "ns_per_mm": 0.01,
        "flit_bytes": 256,
        "address_model": "va",
        "routing_connection": "nearest",
        "sips": 2,
        "cubes_per_sip": 16,
        "pes_per_cube": 8,
        "cube_mesh_w": 4,
        "cube_mesh_h": 4,
        "inter_sip_pattern": "ring_1d",
        "sip_grid_w": 2,
        "sip_grid_h": 1,
    }


def test_default_counts(default: PropertyGraph) -> None:
    per_cube = Counter(n.properties["kind"] for n in default.nodes() if n.properties["cube"] == 5)
    assert per_cube == {
        "cube": 2, "router": 64, "m_cpu": 2, "sram": 2, "hbm_ctrl": 16, "ucie_port": 8, "ucie_conn": 32,
        "pseudo_channel": 128, "pe": 16, **dict.fromkeys(PE_PARTS, 16),
    }  # fmt: skip


def test_every_node_has_its_kinds_properties_and_no_others(default: PropertyGraph) -> None:
    on_request = {"pe_baaw", "channel_router", "link_buffer", "source", "memory", "memory_cache"}
    assert {str(n.properties["kind"]) for n in default.nodes()} == set(COMPONENT_KINDS) - on_request
    for node in default.nodes():
        kind = component_kind(node)
        assert tuple(node.properties) == COMMON + kind.properties
        assert node.id == node.properties["name"]
        assert node.labels == kind.labels
        assert node.properties["impl"] == (f"builtin.{kind.kind}" if kind.form is Form.WIRED else "")


def test_pseudo_channels_are_parts_of_their_slice_without_wires(default: PropertyGraph) -> None:
    slice_ = names.hbm(1, 3, 2)
    parts = [edge.target for edge in default.out_edges(slice_, "CONTAINS")]
    assert parts == [names.pseudo_channel(names.hbm(1, 3, 2), channel) for channel in range(8)]
    for channel, part in enumerate(parts):
        node = default.node(part)
        assert own(node) == {"slice": 2, "channel": channel, "bw_gbs": 32.0}
        shared = ("sip", "cube", "pe", "x_mm", "y_mm")
        assert [node.properties[key] for key in shared] == [
            default.node(slice_).properties[key] for key in shared
        ]
        assert not [*default.out_edges(part, "LINK"), *default.out_edges(part, "CONTAINS")]


def test_a_faster_slice_has_faster_channels() -> None:
    twice = {"overrides": [{"where": names.hbm(0, 0, 0), "speed": 2.0}]}
    plain, fast = (compile_topology(load("minimal", extra)) for extra in ({}, twice))
    for channel in range(int(plain.node(names.hbm(0, 0, 0)).properties["n_channels"])):
        name = names.pseudo_channel(names.hbm(0, 0, 0), channel)
        assert fast.node(name).properties["bw_gbs"] == 2 * float(plain.node(name).properties["bw_gbs"])


def test_labels() -> None:
    assert COMPONENT_KINDS["router"].labels == ("Component", "Router")
    assert COMPONENT_KINDS["pe_fetch_store"].labels == ("Component", "PeFetchStore")
    assert COMPONENT_KINDS["hbm_ctrl"].labels == ("Component", "HbmCtrl")


def test_overheads_of_the_default(default: PropertyGraph) -> None:
    overheads = {str(n.properties["kind"]): n.properties["overhead_ns"] for n in default.nodes()}
    assert {kind: ns for kind, ns in overheads.items() if ns} == {
        "switch": 5.0, "pcie_ep": 5.0, "io_cpu": 10.0, "io_ucie": 8.0,
        "m_cpu": 5.0, "sram": 2.0, "router": 2.0, "ucie_port": 8.0,
    }  # fmt: skip
    assert {type(ns) for ns in overheads.values()} == {float}


def test_figures_of_the_default(default: PropertyGraph) -> None:
    pe = names.pe(0, 3, 2)
    assert own(default.node(names.hbm(0, 3, 2))) == {
        "slice": 2, "n_channels": 8, "burst_bytes": 256, "slice_gbs": 256.0, "channel_gbs": 32.0,
        "access_ns": 0.0, "switch_penalty_ns": 0.0, "slice_bytes": 6 << 30,
    }  # fmt: skip
    assert own(default.node(f"{pe}.pe_tcm")) == {
        "access_ns": 0.0,
        "size_bytes": 2 << 20, "read_gbs": 512.0, "write_gbs": 512.0,
        "scheduler_reserved_bytes": 256 << 10, "scratch_bytes": 1 << 20,
    }  # fmt: skip
    assert own(default.node(f"{pe}.pe_gemm")) == {
        "clock_ghz": 1.0, "tile_m": 32, "tile_k": 64, "tile_n": 32, "macs_per_cycle": 4096.0,
        "dataflow": "tile", "rows": 32, "cols": 32,
    }  # fmt: skip
    assert own(default.node(f"{pe}.pe_math")) == {
        "clock_ghz": 1.0, "lanes": 128, "passes": "softmax=5", "latency_cycles": 0.0,
    }  # fmt: skip
    assert own(default.node(f"{pe}.pe_dma")) == {
        "read_engines": 1, "write_engines": 1, "outstanding": 2,
    }  # fmt: skip
    assert own(default.node(f"{pe}.pe_mmu")) == {"page_bytes": 4096, "tlb_overhead_ns": 0.0}
    assert own(default.node(f"{pe}.pe_ipcq")) == {
        "slots": 4, "slot_bytes": 4096, "credit_bytes": 16, "buffer_kind": "tcm",
        "backpressure": "sleep", "poll_ns": 10.0, "protocol_ns": 0.0,
        "tcm_gbs": 512.0, "tcm_overhead_ns": 0.0, "sram_gbs": 512.0, "sram_overhead_ns": 2.0,
        "hbm_gbs": 256.0, "hbm_overhead_ns": 6.0,
    }  # fmt: skip
    assert own(default.node(f"{pe}.pe_cpu")) == {"clock_ghz": 1.0, "dispatch_cycles": 0.0}
    assert own(default.node(names.sram(0, 3))) == {"access_ns": 0.0, "size_bytes": 32 << 20}
    passes = {"issue_ns": 0.0, "worker": "pipelined"}
    assert own(default.node(names.pcie_ep(0, "io0"))) == {"cut_through": False, **passes}
    assert own(default.node(names.ucie_conn(0, 3, "E", 1))) == {"side": "E", "index": 1, **passes}


@pytest.mark.parametrize(
    ("a", "b", "kind", "gbs", "mm"),
    [
        ("host.cpu", "fabric.switch0", "pcie", 128.0, 50.0),
        ("fabric.switch0", "sip1.io0.pcie_ep", "pcie", 128.0, 50.0),
        ("sip0.io0.pcie_ep", "sip0.io0.io_noc", "io_internal", 256.0, 0.0),
        ("sip0.io0.io_cpu", "sip0.io0.io_noc", "io_internal", 256.0, 0.0),
        ("sip0.io0.io_noc", "sip0.io0.io_ucie-P3.conn2", "io_internal", 128.0, 0.0),
        ("sip0.io0.io_ucie-P3.conn2", "sip0.io0.io_ucie-P3", "io_internal", 128.0, 0.0),
        ("sip0.io0.io_ucie-P3", "sip0.cube3.ucie-N", "io_to_cube", 512.0, 2.0),
        ("sip0.cube3.ucie-S", "sip0.cube7.ucie-N", "ucie_mesh", 512.0, 1.0),
        ("sip0.cube5.ucie-E", "sip0.cube6.ucie-W", "ucie_mesh", 512.0, 1.0),
        ("sip0.cube5.ucie-E", "sip0.cube5.ucie-E.conn3", "ucie_internal", 128.0, 0.0),
        ("sip0.cube5.ucie-E.conn3", "sip0.cube5.r5c5", "ucie_to_router", 128.0, 0.0),
        ("sip0.cube5.r0c0", "sip0.cube5.r0c1", "router_mesh", 256.0, 3.0),
        ("sip0.cube5.r0c0", "sip0.cube5.r1c0", "router_mesh", 256.0, 2.5),
        ("sip0.cube5.r0c0", "sip0.cube5.hbm_ctrl.pe0", "router_to_hbm", 256.0, 0.0),
        ("sip0.cube5.r3c0", "sip0.cube5.sram", "router_to_sram", 128.0, 0.0),
        ("sip0.cube5.r2c0", "sip0.cube5.m_cpu", "command", 256.0, 0.0),
        ("sip0.cube5.pe0.pe_dma", "sip0.cube5.r0c0", "pe_to_router", 256.0, 0.0),
        ("sip0.cube5.pe2.pe_dma", "sip0.cube5.r1c4", "pe_to_router", 256.0, 2.5),
        ("sip0.cube5.pe2.pe_cpu", "sip0.cube5.r1c4", "command", 256.0, 0.0),
        ("sip0.cube5.pe2.pe_mmu", "sip0.cube5.r1c4", "command", 256.0, 0.0),
        ("sip0.cube5.pe2.pe_dma", "sip0.cube5.pe2.pe_tcm", "pe_internal", 512.0, 0.0),
    ],
)
def test_links_of_the_default(
    default: PropertyGraph, a: str, b: str, kind: str, gbs: float, mm: float
) -> None:
    assert link(default, a, b) == (kind, gbs, mm)


def test_parts_of_a_pe_are_wired_as_listed(default: PropertyGraph) -> None:
    pe = names.pe(1, 15, 7) + "."
    pairs = {
        (e.source.removeprefix(pe), e.target.removeprefix(pe))
        for e in default.edges("LINK")
        if e.source.startswith(pe) and e.target.startswith(pe)
    }
    expected = {
        ("pe_cpu", "pe_scheduler"), ("pe_cpu", "pe_ipcq"),
        *(("pe_scheduler", p) for p in ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math")),
        *(("pe_dma", p) for p in ("pe_fetch_store", "pe_tcm", "pe_mmu", "pe_ipcq")),
        *(("pe_fetch_store", p) for p in ("pe_gemm", "pe_math", "pe_tcm")),
        ("pe_gemm", "pe_math"),
    }  # fmt: skip
    assert pairs == expected | {(b, a) for a, b in expected}


def test_hierarchy_is_a_tree_over_everything(default: PropertyGraph) -> None:
    parents = {e.target: e.source for e in default.edges("CONTAINS")}
    assert len(parents) == len(default) - 1 == sum(1 for _ in default.edges("CONTAINS"))
    assert parents["sip1.cube3.pe2.pe_dma"] == "sip1.cube3.pe2"
    assert parents["sip1.cube3.pe2"] == parents["sip1.cube3.r0c0"] == "sip1.cube3"
    assert parents["sip1.cube3"] == parents["sip1.io0.io_noc"] == "sip1"
    assert parents["sip1"] == parents["host.cpu"] == parents["fabric.switch0"] == "tray"
    wired = {end for e in default.edges("LINK") for end in (e.source, e.target)}
    assert wired == {n.id for n in default.nodes() if component_kind(n).form is Form.WIRED}


def test_places_are_those_of_the_package(default: PropertyGraph) -> None:
    def at(name: str) -> tuple[object, object]:
        p = default.node(name).properties
        return p["x_mm"], p["y_mm"]

    assert at("sip0.cube6") == (34.0, 15.0)  # cube (2, 1): 2 * (16 + 1), 1 * (14 + 1)
    assert at("sip0.cube6.r0c1") == (38.5, 16.5)
    assert at("sip0.cube6.pe3.pe_dma") == (48.5, 16.5)
    assert at("sip0.cube6.m_cpu") == (35.5, 20.5)
    assert at("sip0.io0.io_ucie-P2") == (42.0, -2.0)
    assert at("sip0.io0.pcie_ep") == (33.5, -2.0)


def test_links_of_a_sort_share_their_properties(default: PropertyGraph) -> None:
    assert len({id(e.properties) for e in default.edges()}) < 30


def test_implementation_and_attributes_are_the_files() -> None:
    graph = compile_topology(
        parse(
            "name: t\n"
            "system: {sips: 1}\n"
            "sip: {cube_mesh: {w: 1, h: 1}}\n"
            "cube: {router: {overhead_ns: 3, impl: mine.router, attributes: {vcs: 4}}}\n"
            "pe: {pe_gemm: {impl: mine.gemm, attributes: {mode: systolic, depth: 2.5, sparse: true}}}\n"
        )
    )
    router, gemm = graph.node("sip0.cube0.r0c0").properties, graph.node("sip0.cube0.pe0.pe_gemm").properties
    assert (router["impl"], router["overhead_ns"], router["vcs"]) == ("mine.router", 3.0, 4)
    assert (gemm["impl"], gemm["mode"], gemm["depth"], gemm["sparse"]) == ("mine.gemm", "systolic", 2.5, True)
    assert graph.node("sip0.cube0.pe0.pe_math").properties["impl"] == "builtin.pe_math"


def test_efficiency_scales_the_slice_and_its_link() -> None:
    graph = compile_topology(load("minimal", {"cube.hbm.efficiency": 0.5}))
    p = graph.node("sip0.cube0.hbm_ctrl.pe0").properties
    assert (p["slice_gbs"], p["channel_gbs"]) == (128.0, 32.0)
    assert link(graph, "sip0.cube0.r0c0", "sip0.cube0.hbm_ctrl.pe0")[1] == 128.0


@pytest.mark.parametrize(
    ("side", "cubes", "toward", "cube_side"),
    [
        ("N", (0, 1), None, "N"),
        ("S", (4, 5), None, "S"),
        ("E", (1, 3, 5), None, "E"),
        ("W", (0, 2, 4), None, "W"),
        ("S", (5,), [5], "S"),
    ],
)
def test_io_chiplets_stand_on_any_side(
    side: str, cubes: tuple[int, ...], toward: list[int] | None, cube_side: str
) -> None:
    graph = compile_topology(
        load(
            None,
            {
                "system.sips": 1,
                "sip.cube_mesh": {"w": 2, "h": 3},
                "sip.io_chiplets": [{"name": "edge", "side": side, "cubes": toward}],
            },
        )
    )
    joined = [(e.source, e.target) for e in graph.edges("LINK") if e.properties["kind"] == "io_to_cube"]
    expected = [(f"sip0.edge.io_ucie-P{i}", names.ucie_port(0, c, cube_side)) for i, c in enumerate(cubes)]
    assert sorted(joined) == sorted([*expected, *((b, a) for a, b in expected)])


def test_several_io_chiplets_hang_on_the_one_switch() -> None:
    chiplets = [{"name": "north"}, {"name": "south", "side": "S", "cubes": [13, 14]}]
    graph = compile_topology(load(None, {"sip.io_chiplets": chiplets}))
    assert sorted(e.target for e in graph.out_edges("fabric.switch0", "LINK")) == [
        "host.cpu",
        "sip0.north.pcie_ep",
        "sip0.south.pcie_ep",
        "sip1.north.pcie_ep",
        "sip1.south.pcie_ep",
    ]


def test_id_depends_on_content_alone() -> None:
    first = compile_topology(load("minimal")).properties["id"]
    assert compile_topology(parse("name: minimal\n" + MINIMAL_BODY)).properties["id"] == first
    assert compile_topology(load("minimal", {"cube.sram.overhead_ns": 3})).properties["id"] != first


def test_an_id_takes_texts_with_any_punctuation() -> None:
    """Ids are made of the JSON of all nodes in one piece, cut where one ends and the next begins."""
    ids = set()
    for note in ("plain", "} and {", '"}, {"', "}, {", "}, {}"):
        graph = compile_topology(load("minimal", {"cube.sram.attributes": {"note": note}}))
        own = {key: value for key, value in graph.properties.items() if key != "id"}
        lines = [f"schema {TOPOLOGY_VERSION}", json.dumps(own, sort_keys=True)]
        lines += [
            f"{n.id}\t{' '.join(n.labels)}\t{json.dumps(n.properties, sort_keys=True)}" for n in graph.nodes()
        ]
        lines += [
            f"{e.id}\t{e.source}\t{e.target}\t{e.type}\t{json.dumps(e.properties, sort_keys=True)}"
            for e in (*graph.edges("CONTAINS"), *graph.edges("LINK"))
        ]
        expected = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
        assert graph.properties["id"] == expected
        ids.add(expected)
    assert len(ids) == 5


MINIMAL_BODY = """
cube: {hbm: {pseudo_channels: 8, capacity_bytes: 6442450944}, pes: {corners: [NW], count: 1}}
sip: {cube_mesh: {h: 1, w: 1}}
system: {sips: 1}
"""


def test_phys_serve_the_ports_that_the_file_lists() -> None:
    """ADR-0016's ``cube_ports``: cube, side of the cube and distance of each PHY."""
    ports = [{"cube": 0}, {"cube": 3, "side": "E", "distance_mm": 3.5}]
    graph = compile_topology(load(None, {"sip.io_chiplets": [{"name": "io0", "ports": ports}]}))
    seams = {
        (e.source, e.target): e.properties
        for e in graph.edges("LINK")
        if e.properties["kind"] == "io_to_cube"
    }
    assert {ends for ends in seams if ends[0].startswith("sip0.io0")} == {
        ("sip0.io0.io_ucie-P0", "sip0.cube0.ucie-N"),
        ("sip0.io0.io_ucie-P1", "sip0.cube3.ucie-E"),
    }
    near, far = (
        seams["sip0.io0.io_ucie-P0", "sip0.cube0.ucie-N"],
        seams["sip0.io0.io_ucie-P1", "sip0.cube3.ucie-E"],
    )
    assert (near["distance_mm"], far["distance_mm"]) == (2.0, 3.5)
    assert far["delay_ns"] == 3.5 * 0.01
    assert far["routing_weight"] - near["routing_weight"] == 1.5
    phy = graph.node("sip0.io0.io_ucie-P1").properties
    assert (phy["x_mm"], phy["y_mm"]) == (3 * 17.0 + 16.0 + 3.5, 7.0)


@pytest.mark.parametrize(
    ("zone", "holes"),
    [
        ({}, [(2, 2), (2, 3), (3, 2), (3, 3)]),
        ({"rows": 1, "cols": 3, "row": 3, "col": 1}, [(3, 1), (3, 2), (3, 3)]),
        ({"cols": 4}, [(r, c) for r in (2, 3) for c in (1, 2, 3, 4)]),
        ({"rows": 0}, []),
    ],
)
def test_the_hbm_zone_has_the_location_and_size_of_the_file(
    zone: dict[str, int], holes: list[tuple[int, int]]
) -> None:
    graph = compile_topology(load("minimal", {f"cube.hbm.zone.{key}": value for key, value in zone.items()}))
    routers = {
        (n.properties["row"], n.properties["col"]) for n in graph.nodes("Router") if n.properties["cube"] == 0
    }
    assert sorted({(r, c) for r in range(6) for c in range(6)} - routers) == holes
