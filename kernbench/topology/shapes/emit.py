"""The property graph of a machine that a file describes part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from kernbench.kinds import COMPONENT_KINDS
from kernbench.pgraph import Edge, Node, Properties, PropertyGraph
from kernbench.topology import names
from kernbench.topology.builder import NOWHERE, Location, common, put
from kernbench.topology.shapes.elaborate import Elaboration
from kernbench.topology.shapes.rows import Rows, Sort
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
    graph.properties.update(_shape(rows), made_of="parts")
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


def _shape(rows: Rows) -> Properties:
    """How many packages, chiplets and PEs there are, and how they lie; with PEs if any has some."""
    computing = [row for row, pe in enumerate(rows.pe) if pe >= 0] or range(len(rows.pe))
    levels = ([column[row] for row in computing] for column in (rows.sip, rows.cube, rows.pe))
    sips, cubes, pes = (1 + max(numbers, default=-1) for numbers in levels)
    cube_w, cube_h = _grid(rows, "chiplet", cubes)
    sip_w, sip_h = _grid(rows, "package", sips)
    return {
        "sips": sips,
        "cubes_per_sip": cubes,
        "pes_per_cube": pes,
        "cube_mesh_w": cube_w,
        "cube_mesh_h": cube_h,
        "inter_sip_pattern": "ring_1d",
        "sip_grid_w": sip_w,
        "sip_grid_h": sip_h,
    }


def _grid(rows: Rows, level: str, count: int) -> tuple[int, int]:
    """Width and height of the array of a level; one row where it has not two axes."""
    sizes: Sequence[int] = rows.grids[level].sizes if level in rows.grids else ()
    return (sizes[0], sizes[1]) if len(sizes) == 2 and prod(sizes) == count else (count, 1)
