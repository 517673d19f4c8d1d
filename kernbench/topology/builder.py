"""Shared by the levels of the compiler: nodes, the hierarchy, pairs of links, routing weights."""

from __future__ import annotations

from kernbench.kinds import COMMON, COMPONENT_KINDS
from kernbench.pgraph import Edge, Node, Properties, PropertyGraph
from kernbench.topology import names
from kernbench.topology.fields import Part, Section
from kernbench.topology.spec import TopologySpec

_NO_PROPERTIES: Properties = {}

Location = tuple[int, int, int]
"""(sip, cube, pe); -1 for a level that a component is above."""
NOWHERE: Location = (-1, -1, -1)


class Builder:
    """A graph under construction, with the figures that the levels have in common.

    Links with equal properties share one dictionary (and containment edges an empty one): a tray has
    a hundred thousand links of a few dozen sorts. Treat the properties of a compiled edge as read-only.
    """

    def __init__(self, spec: TopologySpec, graph: PropertyGraph) -> None:
        self.spec = spec
        self.graph = graph
        self.layout = spec.layout()
        self.port_weight_mm, self.phy_weight_mm = crossing_weights(spec)
        self._links: dict[tuple[str, float, float, float], Properties] = {}
        self._sections: dict[tuple[str, int], Properties] = {}

    def add(
        self,
        kind: str,
        name: str,
        parent: str,
        section: Part,
        own: Properties | None = None,
        *,
        at: Location = NOWHERE,
        x: float = 0.0,
        y: float = 0.0,
    ) -> str:
        """Add a wired component as a part of ``parent`` and return its name.

        ``section`` describes its kind in the topology file. Its keys are the properties of the same names;
        ``own`` are the properties that no key has, or that are not what the key says. The file's
        ``attributes`` follow them. ``at`` is its (sip, cube, pe).
        """
        impl = section.impl or f"builtin.{kind}"
        properties = common(name, kind, impl, at, x, y, section.overhead_ns)
        keys = self._keys(kind, section)
        for key in COMPONENT_KINDS[kind].properties:
            properties[key] = own[key] if own and key in own else keys[key]
        properties.update(own or {})
        properties.update(section.attributes)
        return put(self.graph, Node(name, COMPONENT_KINDS[kind].labels, properties), parent)

    def add_group(
        self,
        kind: str,
        name: str,
        parent: str | None,
        *,
        at: Location = NOWHERE,
        x: float = 0.0,
        y: float = 0.0,
    ) -> str:
        """Add a level of the hierarchy and return its name: it contains others, has no time and no wires."""
        properties = common(name, kind, "", at, x, y, 0.0)
        return put(self.graph, Node(name, COMPONENT_KINDS[kind].labels, properties), parent)

    def _keys(self, kind: str, section: Part) -> Properties:
        """The keys of a section; made once, for thousands of components have the same."""
        key = (kind, id(section))
        if key not in self._sections:
            self._sections[key] = properties_of(section, self.spec)
        return self._sections[key]

    def link(
        self, a: str, b: str, kind: str, gbs: float, mm: float = 0.0, weight_mm: float | None = None
    ) -> None:
        """Wire two components both ways; ``weight_mm`` is the routing weight, ``mm`` by default."""
        key = (kind, gbs, mm, mm if weight_mm is None else weight_mm)
        shared = self._links.get(key)
        if shared is None:
            shared = {
                "kind": kind,
                "bw_gbs": gbs,
                "distance_mm": mm,
                "delay_ns": mm * self.spec.system.ns_per_mm,
                "routing_weight": key[3],
            }
            self._links[key] = shared
        add_edge = self.graph.add_edge
        add_edge(Edge(names.link(a, b), a, b, "LINK", shared))
        add_edge(Edge(names.link(b, a), b, a, "LINK", shared))

    def cube_origin(self, cube: int) -> tuple[float, float]:
        """(x, y) in mm of a cube's north-west corner in its package."""
        y, x = divmod(cube, self.spec.sip.cube_mesh.w)
        size, seam = self.spec.cube.size_mm, self.spec.cube.ucie.seam_mm
        return x * (size.w + seam), y * (size.h + seam)


def crossing_weights(spec: TopologySpec) -> tuple[float, float]:
    """Routing weights in mm of (a link between a UCIe port and its connection, a link to an IO chiplet).

    Ports, connections and the IO chiplet's network are wires of no length to one another, so by distance
    alone a route would leave the mesh at one connection and come back by another, or pass from cube to
    cube through an IO chiplet. Hardware does neither (ADR-0017 D7, ADR-0051 D2). The first weight makes
    entering and leaving a port cost more than any path across the cube, the second makes a path through
    an IO chiplet cost more than any path over the cube mesh. Each is a constant per crossing, so that
    routes cross the fewest seams and, among those, are the shortest in mm.
    """
    size, mesh = spec.cube.size_mm, spec.sip.cube_mesh
    across_cube = size.w + size.h
    across_sip = (mesh.w + mesh.h) * (3 * across_cube + spec.cube.ucie.seam_mm)
    return across_cube, across_sip


def flat(section: Section) -> Properties:
    """The keys of a section as properties; those of a section within it are ``outer_inner``."""
    found: Properties = {}
    for key in type(section).model_fields:
        value = getattr(section, key)
        if isinstance(value, Section):
            found |= {f"{key}_{inner}": item for inner, item in flat(value).items()}
        else:
            found[key] = value
    return found


def properties_of(section: Part, spec: TopologySpec) -> Properties:
    """The keys of a component's section as properties, those that are empty as the machine has them."""
    found = flat(section)
    if "worker" in found:
        found["worker"] = found["worker"] or spec.system.worker
    return found


def put(graph: PropertyGraph, node: Node, parent: str | None) -> str:
    """Add ``node`` as a part of ``parent`` and return its name."""
    graph.add_node(node)
    if parent is not None:
        graph.add_edge(Edge(names.contains(parent, node.id), parent, node.id, "CONTAINS", _NO_PROPERTIES))
    return node.id


def add_part(graph: PropertyGraph, kind: str, name: str, whole: Node, own: Properties) -> str:
    """Add a part of the wired component ``whole``: at its location, without wires or time of its own."""
    properties = {**whole.properties, "name": name, "kind": kind, "impl": "", "overhead_ns": 0.0}
    node = Node(name, COMPONENT_KINDS[kind].labels, {key: properties[key] for key in COMMON} | own)
    return put(graph, node, whole.id)


def common(
    name: str, kind: str, impl: str, at: Location, x: float, y: float, overhead_ns: float
) -> Properties:
    """The properties that every node has."""
    return {
        "name": name,
        "kind": kind,
        "impl": impl,
        "sip": at[0],
        "cube": at[1],
        "pe": at[2],
        "x_mm": x,
        "y_mm": y,
        "overhead_ns": overhead_ns,
    }
