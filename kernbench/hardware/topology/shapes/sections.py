"""Sections of a topology file as the built-in blocks need them: sorts of parts, figures of links."""

from __future__ import annotations

from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.hardware.topology.fields import Part
from kernbench.hardware.topology.part_keys import component
from kernbench.hardware.topology.shapes.rows import Sort
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.pgraph import Properties

SIDES = ("N", "S", "E", "W")
"""Sides of a chiplet or package; x grows to the east, y to the south."""
OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
"""The side that faces a side across a seam."""
ORIGIN = (0.0, 0.0)


class Sections:
    """The sections of one file. Links with equal figures share their properties."""

    def __init__(self, spec: TopologySpec) -> None:
        self.spec = spec
        self.layout = spec.layout()
        self._links: dict[tuple[str, float, float, float], Properties] = {}

    def sort(self, kind: str, section: Part, own: Properties | None = None) -> Sort:
        """The parts of ``kind`` that ``section`` describes."""
        record = COMPONENT_KINDS[kind]
        return Sort(record, component(record, section, self.spec, own))

    def link(self, kind: str, gbs: float, mm: float = 0.0, weight_mm: float | None = None) -> Properties:
        """The properties of a link; ``weight_mm`` is the routing weight, ``mm`` by default."""
        key = (kind, gbs, mm, mm if weight_mm is None else weight_mm)
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = {
                "kind": kind,
                "bw_gbs": gbs,
                "distance_mm": mm,
                "delay_ns": mm * self.spec.system.ns_per_mm,
                "routing_weight": key[3],
            }
        return found

    def crossing_weights(self) -> tuple[float, float]:
        """Routing weights in mm of (a link between a UCIe port and its connection, a link to an IO chiplet).

        Ports, connections and the IO chiplet's network are wires of no length to one another, so by distance
        alone a route would leave the mesh at one connection and come back by another, or pass from cube to
        cube through an IO chiplet. Hardware does neither. The first weight makes entering and leaving a port
        cost more than any path across the cube, the second makes a path through an IO chiplet cost more than
        any path over the cube mesh. Each is a constant per crossing, so that routes cross the fewest seams
        and, among those, are the shortest in mm.
        """
        size, mesh = self.spec.cube.size_mm, self.spec.sip.cube_mesh
        across_cube = size.w + size.h
        across_sip = (mesh.w + mesh.h) * (3 * across_cube + self.spec.cube.ucie.seam_mm)
        return across_cube, across_sip


def varied(sort: Sort, **numbers: int | str) -> Sort:
    """The same parts with other numbers, such as ``row`` and ``col``."""
    return Sort(sort.kind, {**sort.properties, **numbers})


def group(kind: str) -> Sort:
    """The sort of a level of the hierarchy: it contains others, has no time and no wires."""
    return Sort(COMPONENT_KINDS[kind], {"impl": "", "overhead_ns": 0.0})
