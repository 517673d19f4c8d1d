"""Machines of any shape: what a file with ``parts`` is compiled to."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench import check_routes
from kernbench.errors import ConfigError
from kernbench.hardware.kinds import LINK_PROPERTIES, Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology import compile_topology, load, parse
from kernbench.hardware.topology.reach import lacking, unreached
from kernbench.support.data_files import shipped_topologies
from kernbench.support.pgraph import PropertyGraph, topology_graph, topology_record

DEFAULT = """
name: default
wires:
  pcie: {gbs: 128, mm: 50, weight: 50}
parts:
  host.cpu: host_cpu
  fabric.switch0: switch
  sip: {block: package, count: 2}
connect:
  - {pair: [host.cpu, fabric.switch0], wire: pcie}
  - {pair: [fabric.switch0, sip], wire: pcie}
"""
GRID = """
name: grid
system: {flit_bytes: 32, ns_per_mm: 0.0}
wires:
  hop: {gbs: 32, delay_ns: 2, buffer_flits: 8, vcs: 2}
  end: {gbs: 32, delay_ns: 1}
blocks:
  tile:
    parts: {r: router, src: source, mem: memory}
    connect:
      - {pair: [src, r], wire: end}
      - {pair: [r, mem], wire: end}
parts:
  tile: {block: tile, shape: {x: 4, y: 4}}
connect:
  - {mesh: tile.r, wire: hop}
"""


def machine(text: str) -> PropertyGraph:
    return compile_topology(parse(text, "f.yaml"))


def links(graph: PropertyGraph) -> set[str]:
    return {edge.id for edge in graph.edges("LINK")}


def rows(graph: PropertyGraph) -> tuple[object, object, object]:
    """All that a store keeps of nodes and links."""
    return (
        {node.id: (node.labels, node.properties) for node in graph.nodes()},
        {e.id: tuple(e.properties[key] for key in LINK_PROPERTIES) for e in graph.edges("LINK")},
        {edge.id for edge in graph.edges("CONTAINS")},
    )


def test_the_default_machine_is_blocks() -> None:
    default, blocks = compile_topology(load()), machine(DEFAULT)
    assert rows(blocks) == rows(default)
    own = {"id", "spec", "made_of"}
    assert {k: v for k, v in blocks.properties.items() if k not in own} == {
        k: v for k, v in default.properties.items() if k not in own
    }


def test_a_tray_is_a_block() -> None:
    assert rows(machine("name: t\nsystem: {sips: 1}\nparts: {tray: tray}\n")) == rows(
        machine("name: t\nsystem: {sips: 1}\n")
    )


@pytest.mark.daily("gemm-multi-pe-*")
@pytest.mark.parametrize(("bench", "params"), [("gemm-multi-pe", {}), ("ccl-allreduce", {"elements": 256})])
def test_the_default_machine_runs_as_blocks_do(bench: str, params: dict[str, int]) -> None:
    runs = [kb.run(bench, graph, params=params) for graph in (compile_topology(load()), machine(DEFAULT))]
    assert runs[0].sim_ns == runs[1].sim_ns
    first, second = (sorted(zip(*run.tables["Hop"].to_pydict().values(), strict=True)) for run in runs)
    assert len(first) > 1000
    assert first == second


def test_a_wire_is_faster_as_a_whole() -> None:
    graph = machine(GRID + "overrides: [{where: 'wire:hop', speed: 2}]\n")
    figures = {edge.properties["wire"]: edge.properties["bw_gbs"] for edge in graph.edges("LINK")}
    assert figures == {"hop": 64, "end": 32}
    with pytest.raises(ConfigError, match=r"'wire:hopp' matches nothing, did you mean 'wire:hop'\?"):
        machine(GRID + "overrides: [{where: 'wire:hopp', speed: 2}]\n")
    with pytest.raises(ConfigError, match=r"'wire:hop' matches nothing, .* names no wires"):
        machine("name: t\noverrides: [{where: 'wire:hop', speed: 2}]\n")


def test_parts_are_called_by_their_path() -> None:
    graph = machine(GRID)
    assert "tile3_0.mem" in graph
    assert graph.node("tile1_2.r").properties["sip"] == 0
    assert "tile0_0.r->tile1_0.r" in links(graph)
    assert "tile3_0.r->tile0_0.r" not in links(graph)
    assert "tile3_0.r->tile0_0.r" in links(machine(GRID.replace("mesh:", "torus:")))


def test_a_kept_machine_is_the_same() -> None:
    graph = machine(GRID.replace("mesh:", "torus:"))
    again = topology_graph(topology_record(graph))
    assert [(n.id, n.properties) for n in again.nodes()] == [(n.id, n.properties) for n in graph.nodes()]
    kept, made = ([(e.id, e.properties) for e in one.edges("LINK")] for one in (again, graph))
    assert kept == made
    assert again.properties == graph.properties
    assert machine(str(graph.properties["spec"])).properties["id"] == graph.properties["id"]


def route(graph: PropertyGraph, a: str, b: str) -> tuple[str, ...]:
    return router_of(graph).route(a, b, Traffic.MCPU_DMA).nodes


def test_routes_keep_the_order_of_dimensions_both_ways() -> None:
    graph = machine(GRID)
    found = router_of(graph).route("tile0_0.src", "tile2_1.mem", Traffic.MCPU_DMA)
    assert found.nodes[1:-1] == ("tile0_0.r", "tile1_0.r", "tile2_0.r", "tile2_1.r")
    assert found.back[1:-1] == ("tile2_1.r", "tile1_1.r", "tile0_1.r", "tile0_0.r")
    check_routes(graph)


def test_a_torus_has_its_datelines_where_there_are_channels() -> None:
    torus = GRID.replace("mesh:", "torus:")
    check_routes(machine(torus))
    with pytest.raises(ConfigError, match="give wire 'hop' vcs of 2 or more"):
        check_routes(machine(torus.replace("vcs: 2", "vcs: 1")))
    with pytest.raises(ConfigError, match="deadlock"):
        check_routes(machine(torus + "routing: {answers: same}\n"))


def test_the_two_ways_around_a_ring_are_both_taken() -> None:
    graph = machine(GRID.replace("mesh:", "torus:"))
    ways = {route(graph, "tile0_0.src", f"tile2_{y}.mem")[2] for y in range(4)}
    assert ways == {"tile1_0.r", "tile3_0.r"}


FABRIC = """
name: fabric
system: {ns_per_mm: 0.0}
wires: {w: {gbs: 50, delay_ns: 10}}
blocks:
  node:
    port: nic
    parts: {nic: router, src: source, mem: memory}
    connect:
      - {pair: [src, nic], wire: w}
      - {pair: [nic, mem], wire: w}
parts:
  node: {block: node, count: 8}
  leaf: {kind: switch, count: 2}
  spine: {kind: switch, count: 4}
connect:
  - {pair: [leaf, node], wire: w}
  - {all: [leaf, spine], wire: w}
"""


def test_destinations_are_dealt_to_equal_links() -> None:
    graph = machine(FABRIC)
    assert "leaf1->node4" not in links(graph)
    assert "leaf1->node4.nic" in links(graph)
    spines = [route(graph, "node0.src", f"node{to}.mem")[3] for to in range(4, 8)]
    assert sorted(spines) == ["spine0", "spine1", "spine2", "spine3"]
    first = machine(FABRIC + "routing: {spread: first}\n")
    assert {route(first, "node0.src", f"node{to}.mem")[3] for to in range(4, 8)} == {"spine0"}


def test_a_choice_of_routes_that_changes_none_is_refused() -> None:
    tray = "name: t\nsystem: {sips: 1}\n"
    for spread in ("first", "destination"):
        with pytest.raises(ConfigError, match=r"f.yaml:3: routing.spread: .* equal ways .* left out"):
            machine(tray + f"routing: {{spread: {spread}}}\n")
        with pytest.raises(ConfigError, match=r"routing.spread"):
            machine(GRID + f"routing: {{spread: {spread}}}\n")
        machine(GRID.replace("mesh:", "torus:") + f"routing: {{spread: {spread}}}\n")
    machine(tray + "routing: {connection: first}\n")
    with pytest.raises(ConfigError, match=r"routing.connection: .* it chooses among UCIe connections"):
        machine(GRID + "routing: {connection: first}\n")


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("cube: {ucie: {seam_gbs: 9}}", "cube.ucie.seam_gbs"),
        ("cube: {router: {link_gbs: 9}}", "cube.router.link_gbs"),
        ("pe: {pe_gemm: {tile: {m: 64}}}", "pe.pe_gemm.tile.m"),
        ("sip: {io_chiplets: [{name: io0, side: S}]}", "sip.io_chiplets.0.side"),
        ("system: {inter_sip: {pattern: torus_2d, w: 1, h: 2}}", "system.inter_sip"),
    ],
)
def test_a_section_that_no_part_takes_is_refused(said: str, key: str) -> None:
    text = GRID.replace("system: {flit_bytes: 32, ns_per_mm: 0.0}\n", "") + said + "\n"
    with pytest.raises(
        ConfigError, match=rf"f.yaml:\d+: {key}: changes nothing of this machine: .* left out"
    ):
        machine(text)


def test_defaults_of_no_part_are_refused() -> None:
    text = "name: t\nparts: {tray: tray}\ndefaults: {router: {overhead_ns: 9}}\n"
    with pytest.raises(ConfigError, match=r"f.yaml:3: defaults.router: no part .* section cube.router"):
        machine(text)


CHIPS = """
name: chips
wires: {w: {gbs: 32, delay_ns: 2}}
blocks:
  chip:
    level: package
    port: PORT
    parts: {r: router, io_cpu: io_cpu, m_cpu: m_cpu, mem: memory}
    connect:
      - {pair: [r, io_cpu], wire: w}
      - {pair: [r, m_cpu], wire: w}
      - {pair: [r, mem], wire: w}
parts:
  host.cpu: host_cpu
  chip: {block: chip, count: 2}
connect:
  - {all: [host.cpu, chip], wire: w}
"""


def test_what_nothing_reaches_is_named_with_the_part_where_the_way_ends() -> None:
    assert unreached(machine(CHIPS.replace("PORT", "r"))) == []
    assert unreached(machine(CHIPS.replace("PORT", "io_cpu"))) == [
        f"'chip{i}.io_cpu' passes nothing on; wire what leads to it to 'chip{i}.r'" for i in (0, 1)
    ]
    alone = CHIPS.replace("PORT", "r").replace("  host.cpu: host_cpu", "  host.cpu: host_cpu\n  lone: router")
    assert unreached(machine(alone)) == ["'lone' has no wires"]
    apart = alone.replace("lone: router", "lone: {kind: router, count: 2}") + "  - {ring: lone, wire: w}\n"
    assert unreached(machine(apart)) == [f"nothing that sends reaches 'lone{i}'" for i in (1, 0)]


@pytest.mark.daily(but=("six-package-torus", "six-sip-torus"))
@pytest.mark.parametrize("name", [name for name in shipped_topologies() if name not in ("tray-8", "tray-16")])
def test_everything_of_a_shipped_machine_is_reached(name: str) -> None:
    assert unreached(compile_topology(load(name))) == []


def test_what_kernels_lack_is_said_of_the_first_pe_without_it() -> None:
    assert [lacking(compile_topology(load(name))) for name in ("a100", "two-kinds", "wormhole")] == [
        [],
        [],
        [],
    ]
    own = CHIPS.replace("PORT", "r").replace("mem: memory}", "mem: memory, pe: {block: pe, count: 2}}")
    own = own.replace("[r, mem], wire: w}", "[r, mem], wire: w}\n      - {pair: [r, pe], wire: w}")
    memory = "no kernel can run on 'chip0.pe0': there is no hbm_ctrl for it"
    (said,) = lacking(machine(own))
    assert said.startswith(memory)
    for part, why in {
        "io_cpu": "its package has no io_cpu",
        "m_cpu": "its chiplet has no m_cpu",
    }.items():
        bare = own.replace(f"{part}: {part}, ", "").replace(f"      - {{pair: [r, {part}], wire: w}}\n", "")
        assert lacking(machine(bare))[0] == f"no kernel can run on 'chip0.pe0': {why}"
    alone = own.replace("  host.cpu: host_cpu\n", "").replace("all: [host.cpu, chip]", "ring: chip")
    assert lacking(machine(alone))[-1].endswith("the host CPU has no wires; join it to each package")


def wired(connect: str, parts: str = "r: {kind: router, count: 8}") -> set[str]:
    text = f"name: p\nparts:\n  {parts}\nconnect:\n  - {{{connect}, wire: {{gbs: 1, delay_ns: 1}}}}\n"
    return {name for name in links(machine(text)) if not name.startswith("host")}


@pytest.mark.parametrize(
    ("connect", "parts", "expected"),
    [
        ("ring: r", "r: {kind: router, count: 3}", {"r0-r1", "r1-r2", "r2-r0"}),
        ("ring: [a, b]", "{a: router, b: router}", {"a-b"}),
        ("all_to_all: r", "r: {kind: router, count: 3}", {"r0-r1", "r0-r2", "r1-r2"}),
        ("all_to_all: r, axes: [x]", "r: {kind: router, shape: {x: 2, y: 2}}", {"r0_0-r1_0", "r0_1-r1_1"}),
        ("all: ['r[0:2]', 'r[2:4]']", "r: {kind: router, count: 4}", {"r0-r2", "r0-r3", "r1-r2", "r1-r3"}),
        ("torus: r", "r: {kind: router, shape: {x: 2, y: 1}}", {"r0_0-r1_0"}),
        ("mesh: 'r[*,1]'", "r: {kind: router, shape: {x: 2, y: 2}}", {"r0_1-r1_1"}),
        ("each: {i: 4}, pair: ['r[i]', 'r[(i+1) % 4]']", "r: {kind: router, count: 4}",
         {"r0-r1", "r1-r2", "r2-r3", "r3-r0"}),
        ("mesh: r", "r: {kind: router, shape: {x: 2, y: 1}, name: 'n{x + 1}'}", {"n1-n2"}),
    ],
)  # fmt: skip
def test_patterns(connect: str, parts: str, expected: set[str]) -> None:
    both = {f"{a}->{b}" for pair in expected for a, b in (pair.split("-"), pair.split("-")[::-1])}
    parts = parts.removeprefix("{").removesuffix("}").replace(", b:", "\n  b:") if parts[0] == "{" else parts
    assert wired(connect, parts) == both


def test_one_way_and_reverse() -> None:
    three = "r: {kind: router, count: 3}"
    assert wired("ring: r, one_way: true", three) == {"r0->r1", "r1->r2", "r2->r0"}
    assert wired("ring: r, one_way: true, reverse: true", three) == {"r1->r0", "r2->r1", "r0->r2"}


def test_a_dragonfly_joins_each_group_to_each_other() -> None:
    text = """
name: d
blocks:
  group: {parts: {router: {kind: router, shape: {r: 4}}}}
parts:
  group: {block: group, shape: {g: 9}}
connect:
  - {dragonfly: group.router, per_router: 2, wire: {gbs: 1, delay_ns: 1}}
"""
    found = [tuple(end.partition(".")[0] for end in link.split("->")) for link in links(machine(text))]
    assert len(found) == len(set(found)) == 72
    ports = [link.split("->")[0] for link in links(machine(text))]
    assert max(map(ports.count, ports)) == 2


def test_unlike_parts_are_a_picture() -> None:
    text = """
name: two
blocks:
  c:
    level: chiplet
    port: r
    parts: {r: router, hbm: {kind: hbm_ctrl, count: 2, n_channels: 4, slice_bytes: 1 MiB}}
  m: {level: chiplet, port: r, params: {n: 1}, parts: {r: {kind: router, overhead_ns: "{n * 2}"}}}
  package:
    level: package
    parts:
      die: {shape: {x: 2, y: 2}, order: snake, map: "C M  M C", legend: {C: c, M: {block: m, n: 3}}}
    connect:
      - {mesh: die, wire: {gbs: 10, delay_ns: 1}}
parts:
  p: {block: package, count: 2}
"""
    graph = machine(text)
    assert graph.node("p0.die1_0.r").properties["overhead_ns"] == 6
    assert graph.node("p1.die0_0.hbm1").properties["slice"] == 1
    numbers = [graph.node(f"p1.die{at}").properties["cube"] for at in ("0_0", "1_0", "1_1", "0_1")]
    assert numbers == [0, 1, 2, 3]
    assert graph.node("p1.die0_1.r").properties["sip"] == 1
    assert graph.properties["cube_mesh_h"] == 2


def test_by_says_which_ports_face() -> None:
    text = """
name: sides
parts:
  die: {block: chiplet, shape: {x: 2, y: 2}}
connect:
  - {mesh: die, by: {x: [ucie-E, ucie-W], y: [ucie-S, ucie-N]}, wire: {gbs: 512, mm: 1, kind: ucie_mesh}}
"""
    found = {name for name in links(machine(text)) if name.count("ucie") == 2 and "conn" not in name}
    assert "die0_0.ucie-E->die1_0.ucie-W" in found
    assert "die0_0.ucie-S->die0_1.ucie-N" in found
    assert len(found) == 8


def test_defaults_and_keys_of_a_kind() -> None:
    text = """
name: d
defaults: {router: {overhead_ns: 3}}
cube: {router: {issue_ns: 1}}
parts:
  a: router
  b: {kind: router, overhead_ns: 5}
"""
    graph = machine(text)
    assert [graph.node(name).properties["overhead_ns"] for name in "ab"] == [3, 5]
    assert graph.node("a").properties["issue_ns"] == 1


def test_it_is_varied_by_keys(tmp_path: Path) -> None:
    file = tmp_path / "grid.yaml"
    file.write_text(GRID)
    graph = kb.load_topology(file, {"parts.tile.shape.x": 2, "wires.hop.gbs": 64, "links.hop.vcs": 4})
    assert "tile1_0.r" in graph
    assert "tile2_0.r" not in graph
    assert graph.edge("tile0_0.r->tile1_0.r").properties["bw_gbs"] == 64
    assert '"vcs": 4' in str(graph.properties["links"])


def test_answers_of_a_tcm_have_a_route_of_their_own() -> None:
    graph = machine("name: t\nsystem: {sips: 1}\nrouting: {answers: own}\n")
    found = router_of(graph).route("host.cpu", "sip0.cube0.pe0.pe_tcm", Traffic.HOST_MEMORY)
    assert found.own_back[:2] == ("sip0.cube0.pe0.pe_tcm", "sip0.cube0.pe0.pe_dma")
    assert found.own_back[-1] == "host.cpu"


def test_router_meshes_have_buffers_where_answers_have_routes_of_their_own() -> None:
    text = (
        "name: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "links: {router_mesh: {buffer_flits: 4}}\n"
    )
    with pytest.raises(ConfigError, match=r"in a cycle: .*; set routing\.answers to own"):
        check_routes(machine(text))
    check_routes(machine(text + "routing: {answers: own}\n"))


BOARD = """
name: board
sip: {cube_mesh: {w: 1, h: 1}}
wires: {board: {gbs: 128, mm: 50, weight: 50}, other: {gbs: 128}}
parts: {host.cpu: host_cpu, fabric.switch0: switch, sip: {block: package, count: 1}}
connect:
  - {pair: [host.cpu, fabric.switch0], wire: board}
  - {pair: [fabric.switch0, sip], wire: board}
"""


def test_energy_is_said_of_wires() -> None:
    def spent(said: str, figures: dict[str, object] | None = None) -> object:
        return kb.run("gemm-single-pe", machine(BOARD + said)).energy(figures=figures)["energy_pj"]

    by_wire = spent("energy: {board: {pj_per_byte: 7, pj_per_byte_mm: 0}}\n")
    assert by_wire == spent("energy: {pcie: {pj_per_byte: 7, pj_per_byte_mm: 0}}\n")
    assert by_wire == spent("", {"board.pj_per_byte": 7, "board.pj_per_byte_mm": 0})
    usual = spent("")
    assert by_wire != usual
    assert spent("energy: {other: {pj_per_byte: 7}}\n") == usual
    with pytest.raises(ConfigError, match=r"energy.bord: is not a kind .* did you mean 'board'"):
        machine(BOARD + "energy: {bord: {pj_per_byte: 7}}\n")
    with pytest.raises(ConfigError, match=r"energy.board.area_mm2: is not a figure of board"):
        machine(BOARD + "energy: {board: {area_mm2: 7}}\n")
