"""What a machine loses for good, with all that cannot work without it, and how what is left is numbered.

A PE of which a part is lost is lost as a whole, and so is one that has no launcher or no memory any more.
What the host reached before and reaches no longer is lost too. Packages, chiplets, PEs and slices that are
left are numbered without gaps, those that compute first: kernels take them as ranges. Names stay.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from kernbench.hardware.kinds import LINK_KINDS, Form, Traffic, component_kind, link_kind
from kernbench.hardware.topology.nodes import TRAY, Location, location
from kernbench.hardware.topology.reach import flood, lacking_pes, passes, reached_by_host
from kernbench.support.pgraph import Edge, Node, Properties, PropertyGraph

_KEY = "lost"
"""Note of a compiled graph: what is lost for good, as JSON."""
COUNTED = ("PEs", "parts", "links")
"""What is counted of what is lost; all else are bytes of memories."""
_BYTES = ("slice_bytes", "size_bytes")
"""Properties that say how large a memory is."""


def harvested(graph: PropertyGraph, links: Collection[str], parts: Iterable[str]) -> PropertyGraph:
    """``graph`` without ``links`` and ``parts``, and without what cannot work without these."""
    parents = {edge.target: edge.source for edge in graph.edges("CONTAINS")}
    reached, lacked = reached_by_host(graph), lacking_pes(graph)
    inner = [edge for edge in graph.edges("LINK") if edge.id in links and link_kind(edge).within_pe]
    more = {*parts, *(end for edge in inner for end in (edge.source, edge.target))}
    lost: set[str] = set()
    while True:
        lost |= _whole(graph, more, parents)
        rest = without(graph, links, lost)
        more = (reached - reached_by_host(rest) | lacking_pes(rest) - lacked) - lost
        if not more:
            break
    rest.notes[_KEY] = json.dumps(_counts(graph, rest))
    number_anew(rest)
    return rest


def without(graph: PropertyGraph, gone: Collection[str], parts: Collection[str] = ()) -> PropertyGraph:
    """``graph`` without the links ``gone`` and the ``parts`` with theirs; all else are the same objects."""
    rest = PropertyGraph(graph.properties)
    rest.notes.update(graph.notes)
    for node in graph.nodes():
        if node.id not in parts:
            rest.add_node(node)
    for edge in graph.edges():
        if edge.id not in gone and edge.source not in parts and edge.target not in parts:
            rest.add_edge(edge)
    return rest


def lost(graph: PropertyGraph) -> dict[str, dict[str, int]]:
    """What a compiled machine has lost for good: ``lost`` and ``of`` by :data:`COUNTED` and kind of memory.

    Empty where nothing is lost.
    """
    found: dict[str, dict[str, int]] = json.loads(graph.notes.get(_KEY, "{}"))
    return found


def consequences(graph: PropertyGraph) -> Iterator[str]:
    """Sentences: what memory PEs do not reach, and what losses take from what is left."""
    wired = {node.id: node for node in graph.nodes() if node.properties["impl"]}
    shared = str(graph.properties.get("interleave", ""))
    depth = 1 if shared == "package" else 2
    pes: dict[Location, str] = {location(node): name for name, node in wired.items() if _is(node, "pe_dma")}
    if lost(graph).get("PEs") and not pes:
        yield "no PE is left, so no kernel can run"
    near: dict[tuple[int, ...], set[str]] = defaultdict(set)
    alone = []
    for name, node in wired.items():
        if component_kind(node).sliced:
            near[location(node)[:depth]].add(name)
            if (
                lost(graph)
                and not shared
                and pes
                and (*location(node)[:2], int(node.properties["slice"])) not in pes
            ):
                alone.append(name)
    if alone:
        yield f"no tensor is placed in '{alone[0]}': it has no PE ({len(alone)} such)"
    for at, pe in pes.items():
        near[at[:depth]].add(pe)
    barred = {
        kind for kind, link in LINK_KINDS.items() if depth == 2 and Traffic.PE_DMA in link.barred_within
    }
    senders = set(pes.values())

    def goes_on(link: Edge) -> bool:
        near_enough = link.properties["kind"] not in barred and not link_kind(link).within_pe
        return near_enough and (link.source in senders or passes(wired, link))

    for group, pe in {at[:depth]: pe for at, pe in reversed(pes.items())}.items():
        if missed := sorted(near[group] - flood(graph, {pe}, goes_on)):
            way = "; over ports of UCIe it may not go within its chiplet" if barred else ""
            yield f"'{pe}' does not reach '{missed[0]}', so kernels may fail ({len(missed)} such){way}"


def _whole(graph: PropertyGraph, parts: Iterable[str], parents: Mapping[str, str]) -> set[str]:
    """``parts`` with all that is in them, the whole PE of each that is in one, and groups left empty."""
    within: dict[str, list[str]] = defaultdict(list)
    for part, group in parents.items():
        within[group].append(part)
    found: set[str] = set()
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if part in found:
            continue
        found.add(part)
        waiting += within[part]
        group = parents.get(part, TRAY)
        is_pe = graph.node(group).properties["kind"] == "pe"
        if is_pe or (group != TRAY and found.issuperset(within[group])):
            waiting.append(group)
    return found


def _counts(before: PropertyGraph, after: PropertyGraph) -> dict[str, dict[str, int]]:
    """How much of what ``before`` has ``after`` lacks, of what it lacks anything."""
    were, are = ({**_sizes(graph), "links": sum(1 for _ in graph.edges("LINK"))} for graph in (before, after))
    return {
        what: {"lost": size - are.get(what, 0), "of": size}
        for what, size in were.items()
        if size != are.get(what, 0)
    }


def _sizes(graph: PropertyGraph) -> Counter[str]:
    """PEs, bytes of each kind of memory, and other parts outside of PEs."""
    found: Counter[str] = Counter({"PEs": 0})
    for node in graph.nodes():
        kind, p = component_kind(node), node.properties
        if kind.memory:
            found[kind.memory] += next((int(p[key]) for key in _BYTES if key in p), 0)
        elif kind.kind == "pe":
            found["PEs"] += 1
        elif kind.form is Form.WIRED and int(p["pe"]) < 0:
            found["parts"] += 1
    return found


def number_anew(graph: PropertyGraph) -> None:
    """Number packages, chiplets, PEs and slices of ``graph`` without gaps, and say what there is of each."""
    nodes = list(graph.nodes())
    places = {location(node) for node in nodes}
    computing = {at[:depth] for at in places if at[2] >= 0 for depth in (1, 2, 3)}
    new: dict[tuple[int, ...], int] = {}
    for depth in (1, 2, 3):
        counts: Counter[tuple[int, ...]] = Counter()
        levels = {at[:depth] for at in places if min(at[:depth]) >= 0}
        for at in sorted(levels, key=lambda at: (at not in computing, at)):
            new[at] = counts[at[:-1]]
            counts[at[:-1]] += 1
    slices = _slices(nodes, places, own=not graph.properties.get("interleave"))
    for node in nodes:
        p, at = node.properties, location(node)
        if "slice" in p:
            p["slice"] = slices.get((*at[:2], int(p["slice"])), p["slice"])
        for depth, level in enumerate(("sip", "cube", "pe"), start=1):
            p[level] = new.get(at[:depth], -1)
    was = {key: graph.properties.get(key) for key in ("sips", "cubes_per_sip")}
    graph.properties.pop("pe_counts", None)
    graph.properties |= shape({location(node) for node in nodes})
    cubes = json.loads(str(graph.properties.get("pe_counts", "[]")))
    if graph.properties["sips"] != was["sips"]:
        for key in ("sip_grid_d", "sip_order"):
            graph.properties.pop(key, None)
        graph.properties |= in_a_ring(int(graph.properties["sips"]))
    if graph.properties["cubes_per_sip"] != was["cubes_per_sip"] or len({len(row) for row in cubes}) > 1:
        graph.properties |= {"cube_mesh_w": graph.properties["cubes_per_sip"], "cube_mesh_h": 1}


def _slices(
    nodes: Iterable[Node], places: Collection[Location], *, own: bool
) -> dict[tuple[int, int, int], int]:
    """New numbers of slices by place: where PEs have their ``own``, each PE has that of its new number."""
    of: dict[tuple[int, int], list[int]] = defaultdict(list)
    for node in nodes:
        if component_kind(node).sliced:
            of[location(node)[:2]].append(int(node.properties["slice"]))
    return {
        (*chiplet, number): i
        for chiplet, numbers in of.items()
        for i, number in enumerate(sorted(numbers, key=lambda n: (own and (*chiplet, n) not in places, n)))
    }


def shape(places: Collection[Location]) -> Properties:
    """How many packages, chiplets and PEs there are: those with PEs, if any has some."""
    computing = [place for place in places if place[2] >= 0]
    sips, cubes, pes = (1 + max(numbers) for numbers in zip(*(computing or places), strict=True))
    counts = Counter(place[:2] for place in computing)
    each = [[counts[sip, cube] for cube in range(cubes) if (sip, cube) in counts] for sip in range(sips)]
    uneven = len(set(map(tuple, each))) > 1 or len({n for one in each for n in one}) > 1
    return {
        **({"pe_counts": json.dumps(each)} if uneven else {}),
        "sips": sips,
        "cubes_per_sip": cubes,
        "pes_per_cube": pes,
    }


def in_a_ring(sips: int) -> Properties:
    """How collectives see packages where nothing says how these lie."""
    return {"inter_sip_pattern": "ring_1d", "sip_grid_w": sips, "sip_grid_h": 1}


def _is(node: Node, kind: str) -> bool:
    return bool(node.properties["kind"] == kind)
