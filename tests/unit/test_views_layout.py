"""The views of any topology: everything is in them, to scale, and nothing lies on anything else."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest

from kernbench.draw.machine import VIEWS, Box, View, overlay
from kernbench.draw.machine.model import role
from kernbench.errors import UsageError
from kernbench.support.pgraph import Node, PropertyGraph
from tests import names
from tests.unit.drawn_topologies import ALL, OBLONG, PLAIN, graph, label

SLOW = {"tray-16": pytest.mark.slow}
EVERY = [pytest.param(t, v, id=f"{label(t)}-{v}", marks=SLOW.get(t, ())) for t in ALL for v in VIEWS]


def view(topology: str, name: str, instance: str | None = None) -> View:
    return VIEWS[name](graph(topology), instance)


def apart(a: Box, b: Box) -> bool:
    return a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y


@pytest.mark.daily(
    but=(
        "crowded-system",
        "six-sip-torus-system",
        "crowded-sip",
        "six-sip-torus-sip",
        "narrow-system",
    )
)
@pytest.mark.parametrize(("topology", "name"), EVERY)
def test_boxes_lie_apart_inside_the_sheet(topology: str, name: str) -> None:
    drawn = view(topology, name)
    solid = [box for box in drawn.boxes if not box.is_frame]
    for a, b in combinations(solid, 2):
        assert apart(a, b), f"{a.id} lies on {b.id}"
    frames = [box for box in drawn.boxes if box.kind in ("cube", "sip", "io")]
    for a, b in combinations(frames, 2):
        assert apart(a, b), f"{a.id} lies on {b.id}"
    for box in drawn.boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.right <= drawn.width + 1e-6
        assert box.bottom <= drawn.height + 1e-6


@pytest.mark.parametrize(("topology", "name"), EVERY)
def test_wires_begin_and_end_at_their_boxes(topology: str, name: str) -> None:
    drawn = view(topology, name)
    assert len({wire.id for wire in drawn.wires}) == len(drawn.wires)
    for wire in drawn.wires:
        for box, point in ((drawn.box(wire.a), wire.points[0]), (drawn.box(wire.b), wire.points[-1])):
            ends = [wire.points[0], wire.points[-1]]
            assert any(on_edge(box, end) for end in ends), f"{wire.id} does not touch {box.id} at {point}"


def on_edge(box: Box, point: tuple[float, float]) -> bool:
    x, y = point
    inside = box.x - 1e-6 <= x <= box.right + 1e-6 and box.y - 1e-6 <= y <= box.bottom + 1e-6
    return inside and (
        min(abs(x - box.x), abs(x - box.right)) < 1e-6 or min(abs(y - box.y), abs(y - box.bottom)) < 1e-6
    )


@pytest.mark.daily(
    but=(
        "tray-16-system",
        "tray-16-sip",
    )
)
@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("topology", PLAIN, ids=label)
def test_no_wire_passes_behind_a_box_of_others(topology: str, name: str) -> None:
    drawn = view(topology, name)
    solid = [box for box in drawn.boxes if not box.is_frame]
    for wire in drawn.wires:
        for start, end in pairwise(wire.points):
            for box in solid:
                if box.id not in (wire.a, wire.b):
                    assert not crosses(start, end, box), f"{wire.id} passes behind {box.id}"


def crosses(start: tuple[float, float], end: tuple[float, float], box: Box) -> bool:
    """Whether a piece of a line has a part inside a box (Liang and Barsky's clipping)."""
    enter, leave = 0.0, 1.0
    for at, to, low, high in ((start[0], end[0], box.x, box.right), (start[1], end[1], box.y, box.bottom)):
        if to == at:
            if not low < at < high:
                return False
            continue
        one, two = sorted(((low - at) / (to - at), (high - at) / (to - at)))
        enter, leave = max(enter, one), min(leave, two)
    return leave - enter > 1e-9


def inside(g: PropertyGraph, group: str) -> list[Node]:
    return [node for node in g.nodes() if node.properties["impl"] and node.id.startswith(f"{group}.")]


def to_show(g: PropertyGraph, name: str) -> list[Node]:
    """The components that a view has to show, found without it."""
    if name == "system":
        return [n for n in g.nodes() if n.properties["kind"] in ("host_cpu", "switch", "pcie_ep")]
    if name == "cube":
        return inside(g, "sip0.cube0")
    if name == "pe":
        parts = [n for n in inside(g, "sip0.cube0.pe0") if n.properties["kind"] != "channel_router"]
        own = {n.id for n in parts}
        routers = {e.target for e in g.edges("LINK") if e.source in own} - own
        return [*parts, *(g.node(router) for router in sorted(routers))]
    seams = ("ucie_mesh", "io_to_cube")
    used = {e.source for e in g.edges("LINK") if e.properties["kind"] in seams}
    return [n for n in inside(g, "sip0") if names.parse(n.id).io or n.id in used]


@pytest.mark.parametrize(("topology", "name"), EVERY)
def test_every_component_and_link_is_drawn(topology: str, name: str) -> None:
    g, drawn = graph(topology), view(topology, name)
    box_of = {part: box.id for box in drawn.boxes for part in box.components}
    shown = to_show(g, name)
    assert set(box_of) == {role(node.id, name) for node in shown}

    here = {node.id for node in shown}
    links = [e for e in g.edges("LINK") if e.source in here and e.target in here]
    if name == "sip":
        links += [e for e in g.edges("LINK") if e.properties["kind"] == "pcie" and "sip0." in e.id]
    apart = {
        role(e.id, name)
        for e in links
        if box_of.get(role(e.source, name)) != box_of.get(role(e.target, name))
    }
    assert {link for wire in drawn.wires for link in wire.links} == apart


def test_cube_is_true_to_scale_where_nothing_needs_room() -> None:
    drawn = view("default", "cube")
    assert not drawn.stretched
    a, b = drawn.box("r0c0"), drawn.box("r5c4")
    assert (b.centre[0] - a.centre[0]) / drawn.scale == pytest.approx(10.0)
    assert (b.centre[1] - a.centre[1]) / drawn.scale == pytest.approx(11.0)
    frame = drawn.box("cube")
    assert (frame.w / drawn.scale, frame.h / drawn.scale) == pytest.approx((16.0, 14.0))


def test_cramped_gaps_are_stretched_and_keep_their_order() -> None:
    drawn = view("crowded", "cube")
    assert drawn.stretched
    rows = [drawn.box(f"r{row}c0").centre[1] for row in range(12)]
    assert rows == sorted(rows)


def test_wires_of_the_tray_are_as_long_as_in_the_machine() -> None:
    drawn = view("crowded", "system")
    for wire in drawn.wires:
        (x1, y1), (x2, y2) = wire.points
        length = abs(x2 - x1) + abs(y2 - y1)
        assert length == pytest.approx(min(wire.mm * drawn.scale, 480.0))


def test_bundles_add_up_what_runs_side_by_side() -> None:
    drawn = view("default", "sip")
    wire = next(w for w in drawn.wires if {w.a, w.b} == {"io0.io_noc", "io0.P0"})
    assert wire.gbs == 4 * 128
    assert len(wire.links) == 8
    pe = next(w for w in view("default", "cube").wires if "pe0" in (w.a, w.b))
    assert (pe.kind, pe.gbs, len(pe.links)) == ("pe_to_router", 256.0, 6)


def test_one_of_many_is_shown_by_name() -> None:
    drawn = view("default", "cube", "sip1.cube5")
    assert drawn.title == "sip1.cube5"
    assert drawn.box("r0c0").components == ("sip1.cube5.r0c0",)
    assert drawn.box("r0c0").x_mm == pytest.approx(17 + 1.5)
    with pytest.raises(UsageError, match=r"has no cube 'sip0\.cube16'; expected one such as 'sip0\.cube0'"):
        view("default", "cube", "sip0.cube16")
    with pytest.raises(UsageError, match=r"has no pe 'sip0\.cube1'"):
        view("default", "pe", "sip0.cube1")


def test_overlay_takes_the_busiest_of_what_is_drawn_as_one() -> None:
    used = {
        "sip0.cube0.r0c0->sip0.cube0.r0c1": 0.2,
        "sip0.cube0.r0c1->sip0.cube0.r0c0": 0.1,
        "sip1.cube3.r0c0->sip1.cube3.r0c1": 0.5,
        "sip1.cube3.pe2.pe_gemm": 0.25,
        "sip1.cube3.pe2.pe_dma": 0.75,
        "fabric.switch0->sip0.io0.pcie_ep": 0.9,
    }
    cube = overlay(view("default", "cube"), used)
    assert cube.wires == {"r0c0--r0c1": 0.5}
    assert cube.boxes == {"pe2": 0.75}
    one = overlay(view("default", "cube", "sip0.cube0"), used)
    assert one.wires == {"r0c0--r0c1": 0.2}
    assert overlay(view("default", "system"), used).wires == {"fabric.switch0--sip0.io0.pcie_ep": 0.9}
    assert overlay(view("default", "pe"), used).boxes == {"pe_gemm": 0.25, "pe_dma": 0.75}


def test_equal_topologies_give_equal_views() -> None:
    from kernbench.hardware.topology import compile_topology, load

    again = compile_topology(load(OBLONG))
    for name in VIEWS:
        assert VIEWS[name](again, None) == view(OBLONG, name)


@pytest.mark.daily(but=("crowded-*", "six-sip-torus-*"))
@pytest.mark.parametrize(("topology", "name"), EVERY)
def test_what_stands_for_no_component_is_in_the_machine_too(topology: str, name: str) -> None:
    """Frames and labels: packages, cubes and chiplets by their names, with the counts of the machine."""
    g, drawn = graph(topology), view(topology, name)
    places = [names.parse(node.id) for node in g.nodes() if node.properties["impl"]]
    sips = {f"sip{place.sip}" for place in places if place.sip >= 0}
    cubes = {f"cube{place.cube}" for place in places if place.sip == 0 and place.cube >= 0}
    chiplets = {str(place.io) for place in places if place.sip == 0 and place.io}
    ways_out = {
        f"{names.parse(e.source).io}.switch"
        for e in g.edges("LINK")
        if e.properties["kind"] == "pcie" and e.source.startswith("sip0.")
    }
    zone = {"hbm_zone"} if any("hbm" in node.id for node in inside(g, "sip0.cube0")) else set()
    frames = {"system": sips, "sip": cubes | chiplets | ways_out, "cube": {"cube"} | zone, "pe": set()}[name]
    bare = [box for box in drawn.boxes if not box.components]
    assert {box.id.removesuffix(".label") for box in bare} == frames

    pes = [node for node in g.nodes() if node.properties["kind"] == "pe_cpu"]
    a_sip = sum(node.id.startswith("sip0.") for node in pes)
    a_cube = sum(node.id.startswith("sip0.cube0.") for node in pes)
    slices = [node for node in inside(g, "sip0.cube0") if node.properties["kind"] == "hbm_ctrl"]
    gib = sum(int(node.properties["slice_bytes"]) for node in slices) / 2**30
    said = [line for box in bare for line in box.lines] + list(drawn.facts)
    for line in said:
        for count, what in re.findall(r"([\d.]+) (PEs|GiB|slices|SIPs)\b", line):
            found = {"PEs": a_sip if name == "system" else a_cube, "GiB": gib, "slices": len(slices),
                     "SIPs": len(sips)}[what]  # fmt: skip
            assert float(count) == found, line
        for w, h in re.findall(r"(\d+) x (\d+) cubes", line):
            assert int(w) * int(h) == len(cubes), line
    assert name == "pe" or said


@pytest.mark.parametrize("name", ["sip", "cube", "pe"])
@pytest.mark.parametrize("topology", ["minimal", "crowded"])
def test_every_one_of_a_machine_is_drawn_from_its_own_parts(topology: str, name: str) -> None:
    """By name nothing is folded: each box and wire holds components and links of the very graph."""
    g = graph(topology)
    last = {"sip": "sip0", "cube": "sip0.cube0", "pe": "sip0.cube0.pe0"}[name]
    drawn = view(topology, name, last)
    parts = {node.id for node in g.nodes()}
    links = {edge.id for edge in g.edges("LINK")}
    assert drawn.instance == last
    assert {part for box in drawn.boxes for part in box.components} <= parts
    assert {link for wire in drawn.wires for link in wire.links} <= links
    assert drawn.wires or topology == "minimal"
