"""What the levels of the compiler share: adding components and pairs of links, and routing weights."""

from __future__ import annotations

from kernbench.pgraph import Edge, Node, Properties, PropertyGraph
from kernbench.topology import names
from kernbench.topology.mesh import CubeLayout, layout
from kernbench.topology.spec import TopologySpec

_NO_PROPERTIES: Properties = {}


class Builder:
    """A graph under construction, with the figures that the levels have in common.

    Links with equal properties share one dictionary (and containment edges an empty one): a tray has
    a hundred thousand links of a few dozen sorts. Treat the properties of a compiled edge as read-only.
    """

    def __init__(self, spec: TopologySpec, graph: PropertyGraph) -> None:
        self.spec = spec
        self.graph = graph
        cube = spec.cube
        self.layout: CubeLayout = layout(
            cube.size_mm.w,
            cube.size_mm.h,
            cube.pes.count,
            cube.pes.corners,
            cube.ucie.n_connections,
            (cube.m_cpu.position_mm.x, cube.m_cpu.position_mm.y),
            (cube.sram.position_mm.x, cube.sram.position_mm.y),
        )
        self.port_weight_mm, self.phy_weight_mm = crossing_weights(spec)
        self._links: dict[tuple[str, float, float, float], Properties] = {}

    def add(self, node: Node, parent: str | None) -> str:
        """Add a component as a part of ``parent`` and return its name."""
        self.graph.add_node(node)
        if parent is not None:
            edge_id = names.contains(parent, node.id)
            self.graph.add_edge(Edge(edge_id, parent, node.id, "CONTAINS", _NO_PROPERTIES))
        return node.id

    def link(
        self, a: str, b: str, kind: str, gbs: float, mm: float = 0.0, weight_mm: float | None = None
    ) -> None:
        """Wire two components both ways; ``weight_mm`` is what routing counts, ``mm`` by default."""
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
    entering and leaving a port cost more than any way across the cube, the second makes the way through
    an IO chiplet cost more than any way over the cube mesh. Each is a constant per crossing, so that
    routes cross the fewest seams and, among those, are the shortest in mm.
    """
    size, mesh = spec.cube.size_mm, spec.sip.cube_mesh
    across_cube = size.w + size.h
    across_sip = (mesh.w + mesh.h) * (3 * across_cube + spec.cube.ucie.seam_mm)
    return across_cube, across_sip
