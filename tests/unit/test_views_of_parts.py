"""Pictures of machines of parts: places of blocks and memory, ways and colours of wires."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.open_runs import OpenRun
from kernbench.api.topologies import load_topology
from kernbench.draw.inks import inks, kind_of
from kernbench.draw.legend import legend
from kernbench.draw.machine import View
from kernbench.draw.machine.blocks import blocks_view
from kernbench.draw.machine.facts import is_tray
from kernbench.draw.svg import svg
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.data_files import data_dir
from kernbench.support.pgraph import PropertyGraph
from kernbench.tui.models.machine import MachineTree
from kernbench.tui.models.resource_page import shares_of
from tests.unit.test_views_layout import crosses

PACKAGE = """
schema_version: 1
name: dies
memory: interleaved
wires:
  noc: {gbs: 128}
  edge: {gbs: 128}
  ucie: {gbs: 64, kind: ucie_mesh}
  phy: {gbs: 256, kind: ucie_mesh}
  chan: {gbs: 64}
blocks:
  compute:
    level: chiplet
    parts:
      r: {kind: router, shape: {x: 4, y: 4}}
      pe: {block: pe, count: 16}
      m_cpu: m_cpu
      W: ucie_port
      E: ucie_port
      N: ucie_port
      S: ucie_port
    connect:
      - {mesh: r, wire: noc}
      - {pair: [r, pe], wire: noc}
      - {pair: ["r[0,0]", m_cpu], wire: noc}
      - {all: [W, "r[0,1:3]"], wire: edge}
      - {all: [E, "r[3,1:3]"], wire: edge}
      - {all: [N, "r[1:3,0]"], wire: edge}
      - {all: [S, "r[1:3,3]"], wire: edge}
  io:
    level: chiplet
    port: x
    parts: {x: router, io_cpu: io_cpu, W: ucie_port, E: ucie_port, N: ucie_port, S: ucie_port}
    connect:
      - {pair: [x, io_cpu], wire: noc}
      - {each: {i: 1}, all: [x, W], wire: edge}
      - {all: [x, E], wire: edge}
      - {all: [x, N], wire: edge}
      - {all: [x, S], wire: edge}
  stack:
    port: base
    parts: {base: router, ch: {kind: hbm_ctrl, count: 4, n_channels: 2, channel_gbs: 32, slice_bytes: 1 GiB}}
    connect: [{pair: [base, ch], wire: chan}]
  package:
    level: package
    parts:
      die: {shape: {x: 3, y: 2}, map: "C I C C I C", legend: {C: compute, I: io}}
      hbm: {block: stack, shape: {x: 2, y: 2}}
    connect:
      - {mesh: die, wire: ucie, by: {x: [E, W], y: [S, N]}}
      - {pair: ["die[0,*].W", "hbm[0,*]"], wire: phy}
      - {pair: ["die[2,*].E", "hbm[1,*]"], wire: phy}
parts: {host.cpu: host_cpu, package: package}
connect: [{pair: [host.cpu, "package.die[1,0].x"], wire: {gbs: 32, weight: 1000}}]
"""
ZOO = [path.stem for path in sorted((data_dir("configs") / "topologies" / "zoo").glob("*.yaml"))]
LARGE = {"six-package-torus", "tpu-v4-64", "wormhole"}
"""Trays, and a machine with thousands of parts: their pictures have other rules, or take long."""
LOST = "faults: [{part: package.die0_1}]\n"


@cache
def graph(name: str) -> PropertyGraph:
    if name in ZOO:
        return load_topology(name)
    return compile_topology(parse(PACKAGE + (LOST if name == "lost" else ""), name))


def views(name: str) -> list[View]:
    """The machine, and each sort of block in it once."""
    found = graph(name)
    shapes: dict[tuple[str, ...], str] = {}
    for node in found.nodes():
        block = node.id.rpartition(".")[0] if node.properties["impl"] else ""
        if block and len(shapes) < 40:
            inner = tuple(n.id[len(block) :] for n in found.nodes() if n.id.startswith(f"{block}."))
            shapes.setdefault(inner, block)
    return [blocks_view(found), *(blocks_view(found, block) for block in shapes.values())]


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_all_but_the_large_machines_of_the_zoo_are_drawn_here(name: str) -> None:
    assert (is_tray(graph(name)) or len(list(graph(name).nodes())) >= 1500) == (name in LARGE)


@pytest.mark.daily("dies", "lost", "mesh-8x8", "two-kinds", "h100-8-nvswitch")
@pytest.mark.parametrize("name", ["dies", "lost", *(name for name in ZOO if name not in LARGE)])
def test_no_wire_is_behind_a_box_and_each_has_its_own_colour(name: str) -> None:
    for drawn in views(name):
        behind = [
            (wire.id, box.id)
            for wire in drawn.wires
            for box in drawn.boxes
            if box.id not in (wire.a, wire.b)
            and any(crosses(start, end, box) for start, end in pairwise(wire.points))
        ]
        assert behind == [], drawn.title
        found = inks(drawn)
        named = [wire.name for wire in drawn.wires if wire.name]
        assert len({found[one].colour for one in named}) == len({*named}), "one colour a name"
        assert {*found} == {kind_of(wire) for wire in drawn.wires}
        assert len({entry.text.partition(",")[0] for entry in legend(drawn)}) == len(found)


def test_unlike_dies_have_their_names_and_stacks_are_beside_them() -> None:
    drawn = blocks_view(graph("dies"))
    dies = {box.lines: box for box in drawn.boxes if "die" in box.id}
    assert {lines[1] for lines in dies} == {"compute", "io"}
    assert ("die1_0", "io") in dies
    for row in (0, 1):
        order = [f"package.{name}_{row}" for name in ("hbm0", "die0", "die1", "die2", "hbm1")]
        at = [drawn.box(name) for name in order]
        assert len({box.y for box in at}) == 1
        assert all(a.right < b.x for a, b in pairwise(at))


def test_what_a_die_has_inside_is_at_its_place() -> None:
    drawn = blocks_view(graph("dies"), "package.die0_0")
    inside = {
        name: drawn.box(f"package.die0_0.{name}") for name in ("W", "E", "N", "S", "r0_0", "r3_3", "m_cpu")
    }
    west, east, north, south = (inside[side] for side in "WENS")
    assert west.right <= inside["r0_0"].x < inside["r3_3"].right <= east.x
    assert north.bottom <= inside["r0_0"].y < inside["r3_3"].bottom <= south.y
    assert inside["m_cpu"].y == inside["r0_0"].y
    for number in range(16):
        router = drawn.box(f"package.die0_0.r{number % 4}_{number // 4}")
        pe = drawn.box(f"package.die0_0.pe{number}")
        assert abs(pe.x - router.x) < 2 * router.w
        assert router.bottom < pe.y < router.bottom + 2 * router.h
    io = blocks_view(graph("dies"), "package.die1_0")
    x, *sides = (io.box(f"package.die1_0.{name}") for name in ("x", "W", "E", "S"))
    assert sides[0].right <= x.x
    assert x.right <= sides[1].x
    assert x.bottom <= sides[2].y


def test_a_lost_die_is_an_empty_box_at_its_place() -> None:
    drawn, whole = blocks_view(graph("lost")), blocks_view(graph("dies"))
    lost = drawn.box("package.die0_1")
    assert (lost.kind, lost.components, lost.lines) == ("lost", (), ("die0_1", "compute", "lost"))
    assert lost.x == drawn.box("package.die0_0").x
    assert lost.y == drawn.box("package.die1_1").y
    assert "stroke-dasharray:4 3;opacity" in svg(drawn)
    assert "stroke-dasharray:4 3;opacity" not in svg(whole)


def test_the_terminal_ui_has_memory_on_its_map_and_in_its_tree(tmp_path: Path) -> None:
    flow = {"src": "package.die0_0.pe0", "dst": "package.hbm1_1.ch2", "bytes": 4096, "op": "read"}
    run = kb.traffic([flow], graph("dies"), store=str(tmp_path / "store"))
    opened = OpenRun(run)
    tree = MachineTree(opened, shares_of(opened, ChosenWindow()), "the window")
    assert tree.parts("package")[-4:] == [f"package.hbm{x}_{y}" for y in (0, 1) for x in (0, 1)]
    assert tree.parts("package.hbm1_1")[0] == "package.hbm1_1.base"
    assert tree.describe("package.hbm1_1") == {"parts": 5}
    found = tree.map("package")
    assert found is not None
    assert [cell.label for _, cell in sorted(found.cells.items())][:5] == [
        "hbm0_0", "die0_0", "die1_0", "die2_0", "hbm1_0",
    ]  # fmt: skip
    stack = next(cell for cell in found.cells.values() if cell.name == "package.hbm1_1")
    assert f"hbm1_1 {stack.share:.0%}" == tree.label("package.hbm1_1")
    assert stack.share > 0
    inside = tree.map("package.hbm1_1")
    assert inside is not None
    assert {cell.label for cell in inside.cells.values()} == {"base", "ch0", "ch1", "ch2", "ch3"}
    die = tree.map("package.die0_0")
    assert die is not None
    assert die.title.endswith("routers")
