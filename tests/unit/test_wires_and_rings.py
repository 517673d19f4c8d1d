"""Kinds of wires by name and by their ends, rings of blocks that face each other, what a file may name."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import kernbench as kb
from kernbench.api.topologies import topology_counts
from kernbench.cli.app import app
from kernbench.errors import ConfigError
from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS, Form, Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph

DIES = """
name: dies
system: {flit_bytes: 64, ns_per_mm: 0.0}
memory: interleaved
wires:
  noc: {gbs: 128, delay_ns: 1}
  d2d: {gbs: 64, delay_ns: 4}
  hbmphy: {gbs: 256, delay_ns: 3, kind: hbmphy}
blocks:
  die:
    level: chiplet
    parts:
      r: {kind: router, shape: {x: 4}}
      pe: {block: pe, count: 4}
      m_cpu: m_cpu
      W: ucie_port
      E: ucie_port
      N: ucie_port
      S: ucie_port
    connect:
      - {mesh: r, wire: noc}
      - {pair: [r, pe], wire: noc}
      - {pair: ["r[0]", m_cpu], wire: noc}
      - {all: ["r[0]", W], wire: noc}
      - {all: ["r[3]", W], wire: noc}
      - {all: ["r[3]", E], wire: noc}
      - {all: ["r[1]", N], wire: noc}
      - {all: ["r[2]", S], wire: noc}
parts:
  host.cpu: host_cpu
  io_cpu: io_cpu
  die: {block: die, shape: {x: 3, y: 2}}
  hbm: {kind: hbm_ctrl, n_channels: 4, channel_gbs: 64, slice_bytes: 1 GiB}
connect:
  - {pair: [host.cpu, "die[0,0].r[0]"], wire: noc}
  - {pair: [io_cpu, "die[0,0].r[0]"], wire: noc}
  - {pair: ["die[0,0].r[1]", hbm], wire: hbmphy}
  - {ring: die, wire: d2d, by: {x: [E, W], y: [S, N]}}
"""


def dies(*changes: tuple[str, str]) -> PropertyGraph:
    text = DIES
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return compile_topology(parse(text, "d.yaml"))


def seams(graph: PropertyGraph) -> set[str]:
    return {edge.id for edge in graph.edges("LINK") if edge.properties.get("wire") == "d2d"}


def both_ways(*pairs: str) -> set[str]:
    return {link for pair in pairs for a, b in (pair.split(),) for link in (f"{a}->{b}", f"{b}->{a}")}


def test_a_ring_goes_from_neighbour_to_neighbour_by_the_ports_that_face_each_other() -> None:
    assert seams(dies()) == both_ways(
        "die0_0.E die1_0.W",
        "die1_0.E die2_0.W",
        "die2_0.S die2_1.N",
        "die2_1.W die1_1.E",
        "die1_1.W die0_1.E",
        "die0_1.N die0_0.S",
    )
    line = dies(("shape: {x: 3, y: 2}", "shape: {x: 3}"), (", y: [S, N]", ""), ("die[0,0]", "die[0]"))
    assert seams(line) == both_ways("die0.E die1.W", "die1.E die2.W", "die2.E die0.W")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("y: 2}", "y: 3}"), "has no ring of neighbours"),
        ((", y: [S, N]", ""), "no port"),
        (("ring: die, wire: d2d, by: {x: [E, W], y: [S, N]}", "pair: [die, die], wire: d2d, by: {x: [E]}"),
         "has by with pair, expected it with mesh or torus or ring"),
        (("kind: hbmphy", "kind: ucie_mseh"), "did you mean 'ucie_mesh'"),
        (("kind: hbmphy", "kind: 'h b m'"), "expected letters, digits and _"),
        (("W: ucie_port", "W: ucie"), "did you mean 'ucie_port'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        dies(change)


def test_links_to_ports_are_ucie_and_the_dma_of_a_pe_keeps_to_its_mesh() -> None:
    graph = dies()
    kinds = {edge.id: edge.properties["kind"] for edge in graph.edges("LINK")}
    assert kinds["die0_0.r0->die0_0.W"] == "ucie_to_router"
    assert kinds["die0_0.E->die1_0.W"] == "ucie_mesh"
    route = router_of(graph).route("die0_0.pe0.pe_dma", "die0_0.pe3.pe_tcm", Traffic.PE_DMA)
    assert not [name for name in route.nodes if name.endswith(".W")]  # two hops, but over a port
    router_of(graph).route("die2_1.pe0.pe_dma", "hbm", Traffic.PE_DMA)


def test_a_wire_may_be_of_any_kind() -> None:
    graph = dies()
    assert topology_counts(graph)["links"]["hbmphy"] == 2
    assert topology_counts(graph)["wires"]["d2d"] == 12
    run = kb.run("gemm-multi-pe", graph, params={"n": 128}, verify=True, store="memory:")
    assert run.verdict == "yes"
    rows = run.query("bottleneck/bandwidth-by-kind").dicts()
    assert next(row for row in rows if row["kind"] == "hbmphy")["links"] == 2
    faster = compile_topology(parse(DIES, "d", {"overrides": [{"where": "kind:hbmphy", "speed": 2}]}))
    wires = {edge.properties["bw_gbs"] for edge in faster.edges("LINK") if "hbm" in edge.id}
    assert wires == {512.0}


def test_all_kinds_are_listed() -> None:
    done = CliRunner().invoke(app, ["topology", "kinds", "--format", "json"])
    rows = {(row["what"], row["kind"]) for row in json.loads(done.output)}
    assert {kind for what, kind in rows if what == "part"} == {
        kind.kind for kind in COMPONENT_KINDS.values() if kind.form is Form.WIRED
    }
    assert {kind for what, kind in rows if what == "wire"} == {*LINK_KINDS, "any other name"}


def test_a_file_of_parts_hears_of_its_own_keys() -> None:
    with pytest.raises(ConfigError) as of_parts:
        parse(DIES + "fooo: 1\n", "d.yaml")
    assert "wires, defaults, blocks, parts, connect" in str(of_parts.value)
    assert "cube" not in str(of_parts.value)
    with pytest.raises(ConfigError, match="made of parts"):
        parse("name: a\nfooo: 1\n", "d.yaml")


def test_a_pe_that_reaches_its_memory_over_a_port_alone_is_warned_of() -> None:
    from kernbench.hardware.topology.harvest import consequences

    slice_ = "{kind: hbm_ctrl, n_channels: 4, channel_gbs: 64, slice_bytes: 1 GiB}"
    at_port = '      - {all: ["r[0]", W], wire: noc}\n'
    own = dies(
        ("memory: interleaved", "memory: {interleave: chiplet}"),
        ("      m_cpu: m_cpu\n", f"      m_cpu: m_cpu\n      h: {slice_}\n"),
        (at_port, f"{at_port}      - {{pair: [W, h], wire: noc}}\n"),
    )
    assert any("over ports of UCIe" in sentence for sentence in consequences(own))
    assert not list(consequences(dies()))
