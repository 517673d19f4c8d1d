"""Channels that wait for each other are those of all routes, each asked for by itself."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kernbench import load_topology
from kernbench.errors import RoutingError
from kernbench.hardware.kinds import Passage, Traffic, component_kind
from kernbench.hardware.routing import Router
from kernbench.hardware.routing.fault_impact import entrances
from kernbench.hardware.routing.waits import Channel, Parts, Waits
from kernbench.hardware.topology.link_parts import LinkParts, ring_of
from kernbench.support.pgraph import PropertyGraph

SMALL = {
    "system.sips": 2,
    "sip.cube_mesh": {"w": 2, "h": 1},
    "cube.pes": {"count": 2, "corners": ["NW", "SE"]},
    "cube.hbm.pseudo_channels": 4,
}
ONE_TO_ONE = {**SMALL, "system.address_model": "la", "cube.hbm.mapping": "one_to_one"}
OWN = {"routing.answers": "own"}


def asked(graph: PropertyGraph, parts: Parts, limited: set[str]) -> set[tuple[Channel, Channel]]:
    """The same, route by route."""
    router, found = Router(graph), set()
    nodes = [node for node in graph.nodes() if node.properties["impl"]]
    for a in nodes:
        for b in nodes:
            sender, to = component_kind(a), component_kind(b)
            traffics = [sender.sends] if sender.sends is not None and to.memory else []
            traffics += [Traffic.COMMAND] if sender.commands and to.commands else []
            for traffic in traffics if a is not b else ():
                for via in entrances(graph, b.id) if to.memory else ("",):
                    try:
                        route = router.route(a.id, b.id, traffic, via)
                    except RoutingError:
                        continue
                    for way in (route.nodes, route.back):
                        found |= set(pairs(graph, way, parts, limited))
    return found


def pairs(
    graph: PropertyGraph, way: tuple[str, ...], parts: Parts, limited: set[str]
) -> list[tuple[Channel, Channel]]:
    found: list[tuple[Channel, Channel]] = []
    before: Channel | None = None
    crossed: set[str] = set()
    for source, target in pairwise(way):
        name = f"{source}->{target}"
        part, ring = parts[name]
        if part.dateline:
            crossed.add(ring)
        here = (name, int(ring in crossed)) if name in limited else None
        if before and here:
            found.append((before, here))
        before, kind = here, component_kind(graph.node(target))
        if kind.passage is Passage.MESSAGES and not graph.node(target).properties.get("cut_through"):
            before, crossed = None, set()
    return found


@pytest.mark.daily("*-two-kinds-*", "*-torus-8x8-*", "-default-changes3")
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("default", SMALL),
        ("default", {**SMALL, **OWN}),
        ("default", ONE_TO_ONE),
        ("default", {**ONE_TO_ONE, **OWN}),
        ("default", {**SMALL, "sip.io_chiplets.0.pcie_ep.cut_through": True}),
        ("torus-8x8", {"parts.tile.shape": {"x": 4, "y": 3}}),
        ("torus-8x8", {"parts.tile.shape": {"x": 4, "y": 3}, "routing.answers": "same"}),
        ("two-kinds", {}),
        pytest.param("wormhole", {}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("kind", ["", "router_mesh"])
def test_waits_are_those_of_all_routes(name: str, changes: dict[str, object], kind: str) -> None:
    graph = load_topology(name, changes)
    said = LinkParts(graph)
    parts = {edge.id: (said.part(edge), ring_of(edge)) for edge in graph.edges("LINK")}
    limited = {edge.id for edge in graph.edges("LINK") if kind in ("", edge.properties["kind"])}
    waits, expected = Waits(Router(graph), graph, parts, limited), asked(graph, parts, limited)
    assert expected
    assert set(waits.channels().edges) == expected
    assert set(waits.links().edges) == {(before[0], after[0]) for before, after in expected}
