"""The property graph of a machine that a file describes part by part."""

from __future__ import annotations

from collections import Counter
from math import prod

from kernbench.kinds import COMPONENT_KINDS
from kernbench.pgraph import Edge, Node, Properties, PropertyGraph
from kernbench.topology import names
from kernbench.topology.builder import NOWHERE, Location, common, put
from kernbench.topology.orders import in_order
from kernbench.topology.shapes.elaborate import Elaboration
from kernbench.topology.shapes.rows import Array, Rows, Sort
from kernbench.topology.spec import TopologySpec

_HOST = COMPONENT_KINDS["host_cpu"]


def emit(spec: TopologySpec, graph: PropertyGraph) -> None:
    """Add all nodes and links of the machine of ``spec``, and what holds of it as a whole."""
    made = Elaboration(spec)
    rows = made.machine()
    if len(set(rows.names)) < len(rows.names):
        name = Counter(rows.names).most_common(1)[0][0]
        raise made.wrong(("parts",), f"two parts are called '{name}', expected different names")
    tray = COMPONENT_KINDS["tray"]
    put(graph, Node(names.TRAY, tray.labels, common(names.TRAY, tray.kind, "", NOWHERE, 0.0, 0.0, 0.0)), None)
    hosts = [row for row, sort in enumerate(rows.sorts) if sort.kind is _HOST]
    if len(hosts) > 1:
        both = " and ".join(f"'{rows.names[row]}'" for row in hosts[:2])
        raise made.wrong(("parts",), f"{both} are host CPUs, expected one of them")
    is_host = names.HOST_CPU in (rows.names[row] for row in hosts)
    if is_host != (names.HOST_CPU in rows.names) or (hosts and not is_host):
        other = rows.names[hosts[0]] if hosts else names.HOST_CPU
        expected = f"the host CPU to be called '{names.HOST_CPU}', and nothing else"
        raise made.wrong(("parts",), f"'{other}' is {'' if hosts else 'not '}a host CPU, expected {expected}")
    if not hosts:
        _put(graph, names.HOST_CPU, made.sort((), _HOST.kind, {}), NOWHERE, (0.0, 0.0), {}, names.TRAY)
    for row, (name, sort) in enumerate(zip(rows.names, rows.sorts, strict=True)):
        at = rows.sip[row], rows.cube[row], rows.pe[row]
        own: Properties = {}
        if rows.number[row] >= 0:
            own["slice"] = rows.number[row]
        if row in rows.cells and "row" in sort.properties:
            own["row"], own["col"] = rows.cells[row]
        parent = rows.parent[row]
        # Places of packages, and of what is in none, are up to whoever draws them.
        spot = rows.at[row] if at[0] >= 0 and sort.kind.kind != "sip" else (0.0, 0.0)
        _put(graph, name, sort, at, spot, own, rows.names[parent] if parent >= 0 else names.TRAY)
    for source, target, link in zip(rows.sources, rows.targets, rows.links, strict=True):
        a, b = rows.names[source], rows.names[target]
        try:
            graph.add_edge(Edge(names.link(a, b), a, b, "LINK", link))
        except ValueError:
            raise made.wrong(("connect",), f"joins '{a}' to '{b}' again, expected each link once") from None
    graph.properties.update(_shape(spec, rows), made_of="parts")
    pairs = set(zip(rows.sources, rows.targets, strict=True))
    if one_way := sum((target, source) not in pairs for source, target in pairs):
        graph.properties["one_way_links"] = one_way
    wires = {link.get("wire") for link in rows.links if "ring" in link}
    if any(spec.wires[wire].buffer_flits is not None for wire in wires if wire in spec.wires):
        graph.properties["answers"] = "own"  # the way back would break dimension order, and so could deadlock


def _put(
    graph: PropertyGraph,
    name: str,
    sort: Sort,
    at: Location,
    spot: tuple[float, float],
    own: Properties,
    parent: str,
) -> None:
    said = sort.properties
    found = common(name, sort.kind.kind, str(said["impl"]), at, *spot, float(said["overhead_ns"]))
    put(graph, Node(name, sort.kind.labels, {**found, **said, **own}), parent)


def _shape(spec: TopologySpec, rows: Rows) -> Properties:
    """How many packages, chiplets and PEs there are, and how they lie; with PEs if any has some."""
    computing = [row for row, pe in enumerate(rows.pe) if pe >= 0] or range(len(rows.pe))
    levels = ([column[row] for row in computing] for column in (rows.sip, rows.cube, rows.pe))
    sips, cubes, pes = (1 + max(numbers, default=-1) for numbers in levels)
    cubes_in = _array(rows, "chiplet", cubes)
    w, h = cubes_in.sizes if cubes_in and len(cubes_in.sizes) == 2 else (cubes, 1)
    return {
        "sips": sips,
        "cubes_per_sip": cubes,
        "pes_per_cube": pes,
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
        return {"inter_sip_pattern": "ring_1d", "sip_grid_w": sips, "sip_grid_h": 1}
    found: Properties = {"inter_sip_pattern": pattern, "sip_grid_w": sizes[0], "sip_grid_h": sizes[1]}
    if len(sizes) > 2:
        found["sip_grid_d"] = sizes[2]
    if order != "index":
        found["sip_order"] = order
    return found
