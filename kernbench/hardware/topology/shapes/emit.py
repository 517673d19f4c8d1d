"""Compiles a topology into the property graph that the simulator is wired from.

One node per component, ``CONTAINS`` edges from tray to package to cube to PE to part and from HBM slice to
pseudo-channel, and one ``LINK`` edge per direction of every wire. The graph's own ``id`` is a hash of all
that was compiled: machines that differ in anything have different ids, by whatever version they were made.
"""

from __future__ import annotations

import json
from math import prod

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.hardware.topology import caches, faults, link_parts, overrides
from kernbench.hardware.topology.harvest import in_a_ring, shape
from kernbench.hardware.topology.loader import validate
from kernbench.hardware.topology.nodes import NOWHERE, TRAY, add_channels, common, put
from kernbench.hardware.topology.orders import in_order
from kernbench.hardware.topology.shapes.idle import refuse_idle_routing
from kernbench.hardware.topology.shapes.package import tray
from kernbench.hardware.topology.shapes.rows import Array, Rows
from kernbench.hardware.topology.shapes.sections import ORIGIN, Sections
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support import collector
from kernbench.support.pgraph import Edge, Node, Properties, PropertyGraph, topology_id


def compile_topology(spec: TopologySpec) -> PropertyGraph:
    """The property graph of a machine; :class:`ConfigError` if the spec does not hold."""
    validate(spec)
    with collector.paused():
        rows = _rows(spec)
        graph = PropertyGraph(_graph_properties(spec, rows))
        _add_nodes(graph, rows)
        _add_links(graph, rows, spec)
        link_parts.note(graph, spec)
        refuse_idle_routing(spec, rows)
        said = {"answers": spec.routing.answers, "spread": spec.routing.spread}
        graph.properties |= {key: value for key, value in said.items() if value}
        if spec.memory.interleave:
            graph.properties["interleave"] = spec.memory.interleave
            graph.properties["interleave_bytes"] = spec.memory.granule_bytes
        caches.describe(graph, spec)
        overrides.apply(graph, spec.overrides, spec.name)
        graph = faults.applied(graph, spec.faults, spec.located)
        add_channels(graph)
        link_parts.add_buffers(graph)
        graph.properties["id"] = topology_id(graph)
        if spec.components:
            graph.notes["components"] = json.dumps(spec.components, sort_keys=True)
    return graph


def _rows(spec: TopologySpec) -> Rows:
    """All parts and links of the machine; without ``parts`` it is a tray."""
    if not spec.parts:
        return tray(Sections(spec))
    from kernbench.hardware.topology.shapes.elaborate import Elaboration  # most machines have no parts

    return Elaboration(spec).machine()


def _add_nodes(graph: PropertyGraph, rows: Rows) -> None:
    kind = COMPONENT_KINDS["tray"]
    put(graph, Node(TRAY, kind.labels, common(TRAY, kind.kind, "", NOWHERE, *ORIGIN, 0.0)), None)
    columns = zip(rows.names, rows.sorts, rows.sip, rows.cube, rows.pe, rows.at, strict=True)
    for row, (name, sort, sip, cube, pe, at) in enumerate(columns):
        kind, said, parent = sort.kind, sort.properties, rows.parent[row]
        # Places of packages, and of what is in none, are up to whoever draws them.
        x, y = at if sip >= 0 and kind.kind != "sip" else ORIGIN
        own = common(name, kind.kind, "", (sip, cube, pe), x, y, 0.0)
        own.update(said)
        if rows.number[row] >= 0:
            own["slice"] = rows.number[row]
        if row in rows.cells and "row" in said:
            own["row"], own["col"] = rows.cells[row]
        put(graph, Node(name, kind.labels, own), rows.names[parent] if parent >= 0 else TRAY)


def _add_links(graph: PropertyGraph, rows: Rows, spec: TopologySpec) -> None:
    names, add_edge = rows.names, graph.add_edge
    for source, target, link in zip(rows.sources, rows.targets, rows.links, strict=True):
        a, b = names[source], names[target]
        try:
            add_edge(Edge(f"{a}->{b}", a, b, "LINK", link))
        except ValueError:
            again = f"connect: joins '{a}' to '{b}' again, expected each link once"
            raise ConfigError(f"{spec.located(('connect',))}: {again}") from None


def _graph_properties(spec: TopologySpec, rows: Rows) -> Properties:
    """What a compiled machine says of itself."""
    found: Properties = {
        "id": "",
        "name": spec.name,
        "schema_version": spec.schema_version,
        "ns_per_mm": spec.system.ns_per_mm,
        "flit_bytes": spec.system.flit_bytes,
        "address_model": spec.system.address_model,
        "routing_connection": spec.routing.connection,
        **_shape(spec, rows),
        "spec": spec.canonical(),
    }
    if not spec.parts:
        return found
    found["made_of"] = "parts"
    pairs = set(zip(rows.sources, rows.targets, strict=True))
    if one_way := sum((target, source) not in pairs for source, target in pairs):
        found["one_way_links"] = one_way
    wires = {link.get("wire") for link in rows.links if "ring" in link}
    if any(spec.wires[wire].buffer_flits is not None for wire in wires if wire in spec.wires):
        found["answers"] = "own"  # the way back would break dimension order, and so could deadlock
    return found


def _shape(spec: TopologySpec, rows: Rows) -> Properties:
    """How many packages, chiplets and PEs there are, and how they lie."""
    places = set(zip(rows.sip, rows.cube, rows.pe, strict=True))
    counted = shape(places)
    sips, cubes = int(counted["sips"]), int(counted["cubes_per_sip"])
    cubes_in = _array(rows, "chiplet", cubes)
    w, h = cubes_in.sizes if cubes_in and len(cubes_in.sizes) == 2 else (cubes, 1)
    return {
        **counted,
        "cube_mesh_w": w,
        "cube_mesh_h": h,
        **_between_packages(spec, rows, sips),
    }


def _array(rows: Rows, level: str, count: int) -> Array | None:
    """The array that all of a level, or all of it with PEs, are the elements of; None where there is none."""
    array = rows.grids.get(level)
    return array if array and prod(array.sizes) == count else None


def _between_packages(spec: TopologySpec, rows: Rows, sips: int) -> Properties:
    """How collectives see the packages: what the wires along the axes of their array make of them."""
    array = _array(rows, "package", sips)
    if array and not array.elements:  # the tray's, which says itself how they are seen
        w, h = array.sizes
        return {"inter_sip_pattern": spec.system.inter_sip.pattern, "sip_grid_w": w, "sip_grid_h": h}
    sizes = array.sizes if array else (sips,)
    order = array.order if array else "index"
    wired = {(rows.sip[a], rows.sip[b]) for a, b in zip(rows.sources, rows.targets, strict=True)}
    number = {place: sip for sip, place in enumerate(in_order(sizes, order))}
    steps = [
        (at + 1 == size, (sip, number[*place[:axis], (at + 1) % size, *place[axis + 1 :]]) in wired)
        for place, sip in number.items()
        for axis, size in enumerate(sizes)
        for at in (place[axis],)
        if size > 1
    ]
    inner = all(joined for closes, joined in steps if not closes)
    wraps = all(joined for closes, joined in steps if closes)
    pattern = ""
    if inner and min(sizes, default=1) > 1:
        pattern = {(2, True): "torus_2d", (2, False): "mesh_2d_no_wrap", (3, True): "torus_3d"}.get(
            (len(sizes), wraps), ""
        )
    if not pattern:
        return in_a_ring(sips)
    found: Properties = {"inter_sip_pattern": pattern, "sip_grid_w": sizes[0], "sip_grid_h": sizes[1]}
    if len(sizes) > 2:
        found["sip_grid_d"] = sizes[2]
    if order != "index":
        found["sip_order"] = order
    return found
