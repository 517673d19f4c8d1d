"""Which PE a direction leads to: the neighbourhoods that queues are set up for.

A neighbourhood says for each PE which other PE each of its directions leads to. Shipped patterns:

``intercube_mesh``     ``N S E W``: the same PE of the cube next to this one in the package's mesh, no wrap
``intracube_pe_ring``  ``pe_E pe_W``: the next higher and the next lower PE of the cube, closed to a ring
``inter_sip``          ``global_N global_S global_E global_W``: the same PE of another package, as the
                       topology's ``system.inter_sip`` or its wires have it (``ring_1d``: E and W alone;
                       ``torus_3d``: ``global_U global_D`` along its third axis)
``mesh_rows``          ``row0 row1 ...``: the other PEs of the cube whose routers are in this one's row of its
                       mesh, numbered along the row, this one included
``mesh_columns``       ``column0 column1 ...``: the same of its column

``tl.multicast`` sends to several of a row or column at once; the directions of both reach a rectangle.

Directions of different patterns have different names, so that a PE can use several patterns at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kernbench.errors import UsageError
from kernbench.hardware.topology.nodes import Location
from kernbench.hardware.topology.orders import in_order
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import PropertyGraph

Neighbours = dict[Location, dict[str, Location]]
"""By PE and direction, the PE that the direction leads to."""

_OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E", "U": "D", "D": "U"}
_STEPS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
AXES = (("E", "W"), ("S", "N"), ("U", "D"))
"""For each axis of a grid of packages, the directions to the next along it and to the one before."""


@dataclass(frozen=True)
class MachineShape:
    """A machine as patterns need it: its packages and how they are joined, cubes, PEs a cube."""

    sips: int
    cube_mesh: tuple[int, int]
    pes: int
    inter_sip: str = "ring_1d"
    sip_grid: tuple[int, ...] = (1, 1)
    """(w, h) of the packages, and the depth of a ``torus_3d``; without meaning for ``ring_1d``."""
    sip_order: str = "index"
    """How packages are numbered over the grid: ``index``, the first axis fastest, or ``snake``."""
    uneven: tuple[tuple[int, ...], ...] = ()
    """By package and cube how many PEs there are, where these differ; empty where they do not."""
    graph: PropertyGraph | None = field(default=None, compare=False, repr=False)
    """The machine itself, for patterns of its meshes; None where there is none."""

    @classmethod
    def of(cls, graph: PropertyGraph) -> MachineShape:
        """The shape of a compiled topology."""
        p = graph.properties
        return cls(
            int(p["sips"]),
            (int(p["cube_mesh_w"]), int(p["cube_mesh_h"])),
            int(p["pes_per_cube"]),
            str(p["inter_sip_pattern"]),
            tuple(int(p[key]) for key in ("sip_grid_w", "sip_grid_h", "sip_grid_d") if key in p),
            str(p.get("sip_order", "index")),
            tuple(map(tuple, json.loads(str(p.get("pe_counts", "[]"))))),
            graph,
        )

    @cached_property
    def sip_places(self) -> list[tuple[int, ...]]:
        """Where each package is in the grid."""
        return list(in_order(self.sip_grid, self.sip_order))

    def locations(self) -> list[Location]:
        """Every PE, ascending."""
        return [
            (s, c, p)
            for s in range(self.sips)
            for c, count in enumerate(self.pes_of(s))
            for p in range(count)
        ]

    def pes_of(self, sip: int) -> tuple[int, ...]:
        """How many PEs each cube of a package has."""
        w, h = self.cube_mesh
        return self.uneven[sip] if self.uneven else (self.pes,) * (w * h)

    def cell(self, location: Location) -> tuple[int, int]:
        """Row and column of the router that the PE is at; :class:`UsageError` where there is none."""
        if self.graph is not None:
            for link in self.graph.out_edges(places(self.graph).part("pe_dma", *location), "LINK"):
                properties = self.graph.node(link.target).properties
                if properties["kind"] == "router":
                    return int(properties["row"]), int(properties["col"])
        raise UsageError(f"PE {location} is at no router of a mesh, as patterns of rows and columns need")

    @property
    def even(self) -> tuple[int, ...]:
        """As :meth:`pes_of`, of what every package has, and of PEs that every cube has."""
        each = [self.pes_of(sip) for sip in range(self.sips)]
        return (min(map(min, each)),) * min(map(len, each))


def neighbours(
    patterns: str | Sequence[str], shape: MachineShape, among: Iterable[Location] | None = None
) -> Neighbours:
    """The neighbourhood that ``patterns`` make together.

    Args:
        patterns: one name of :data:`PATTERNS` or several.
        shape: the machine.
        among: the PEs that take part, by default all. Directions that would leave them do not exist, and
            rings are closed over those that take part.

    Returns:
        The PEs that take part, ascending, each with its directions; empty where it has no neighbour.

    Raises:
        UsageError: an unknown pattern, one named twice, or a PE that the machine lacks.
    """
    wanted = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    everyone = shape.locations()
    members = everyone if among is None else sorted(set(among))
    if unknown := sorted(set(members) - set(everyone)):
        raise UsageError(f"the topology has no such PE as {unknown[0]}; name PEs as (sip, cube, pe)")
    found: Neighbours = {location: {} for location in members}
    for name in wanted:
        if name not in PATTERNS:
            raise UsageError(f"'{name}' is not a pattern of neighbours; use one of {', '.join(PATTERNS)}")
        if wanted.count(name) > 1:
            raise UsageError(f"pattern '{name}' is named twice; name it once")
        PATTERNS[name](found, shape)
    return found


def ring(members: Sequence[Location], forward: str = "E", back: str = "W") -> Neighbours:
    """``members`` in a ring in the order given: ``forward`` leads to the next, ``back`` to the one before.

    A ring of one has no neighbours. :class:`UsageError` when a PE is named twice.
    """
    if len(set(members)) != len(members):
        raise UsageError("a ring names a PE twice; name each PE once")
    found: Neighbours = {location: {} for location in members}
    _close(found, list(members), forward, back)
    return found


def merge(*parts: Neighbours) -> Neighbours:
    """Several neighbourhoods as one. :class:`UsageError` when two give one direction of a PE."""
    found: Neighbours = {}
    for part in parts:
        for location, directions in part.items():
            mine = found.setdefault(location, {})
            for direction, peer in directions.items():
                if direction in mine:
                    raise UsageError(
                        f"direction '{direction}' of PE {location} is given twice, to {mine[direction]} and "
                        f"{peer}; use names of their own for the directions of each pattern"
                    )
                mine[direction] = peer
    return found


def opposite(direction: str) -> str | None:
    """The opposite of a direction that ends in a point of the compass (``pe_E``: ``pe_W``), else None."""
    prefix, point = direction[:-1], direction[-1:]
    return prefix + _OPPOSITE[point] if point in _OPPOSITE else None


def reverse(table: Neighbours, location: Location, direction: str) -> str | None:
    """The direction of the peer in which what is sent in ``direction`` arrives.

    The opposite direction where that points back, else the first one that does; None when none does.
    """
    peer = table[location][direction]
    back = table.get(peer, {})
    facing = opposite(direction)
    if facing is not None and back.get(facing) == location:
        return facing
    return next((name for name, to in back.items() if to == location), None)


def pairs(table: Neighbours) -> dict[tuple[Location, str], tuple[Location, str]]:
    """For each PE and direction, the PE and direction in which it is heard.

    Raises:
        UsageError: a direction leads to its own PE, is heard nowhere, or is heard in the same direction as
            another one: its ring would have two senders.
    """
    found: dict[tuple[Location, str], tuple[Location, str]] = {}
    heard: dict[tuple[Location, str], tuple[Location, str]] = {}
    for location, directions in table.items():
        for direction, peer in directions.items():
            if peer == location:
                raise UsageError(f"direction '{direction}' of PE {location} leads to that PE itself")
            facing = reverse(table, location, direction)
            if facing is None:
                raise UsageError(
                    f"direction '{direction}' of PE {location} leads to PE {peer}, which has no direction "
                    "back; give it one, for messages arrive in it"
                )
            end = (peer, facing)
            if end in heard:
                raise UsageError(
                    f"directions {heard[end]} and {(location, direction)} are both heard in direction "
                    f"'{facing}' of PE {peer}; give that PE a direction for each of them"
                )
            heard[end] = (location, direction)
            found[location, direction] = end
    return found


def _intercube_mesh(found: Neighbours, shape: MachineShape) -> None:
    w, h = shape.cube_mesh
    for (sip, cube, pe), mine in found.items():
        for direction, (dx, dy) in _STEPS.items():
            x, y = cube % w + dx, cube // w + dy
            peer = (sip, y * w + x, pe)
            if 0 <= x < w and 0 <= y < h and peer in found:
                mine[direction] = peer


def _intracube_pe_ring(found: Neighbours, shape: MachineShape) -> None:
    cubes: dict[tuple[int, int], list[Location]] = {}
    for location in found:
        cubes.setdefault(location[:2], []).append(location)
    for members in cubes.values():
        _close(found, members, "pe_E", "pe_W")


def _inter_sip(found: Neighbours, shape: MachineShape) -> None:
    if shape.inter_sip == "ring_1d":
        same: dict[tuple[int, int], list[Location]] = {}
        for location in found:
            same.setdefault(location[1:], []).append(location)
        for members in same.values():
            _close(found, members, "global_E", "global_W")
        return
    wraps = shape.inter_sip != "mesh_2d_no_wrap"
    number = {place: sip for sip, place in enumerate(shape.sip_places)}
    for (sip, cube, pe), mine in found.items():
        place = shape.sip_places[sip]
        for axis, size in enumerate(shape.sip_grid):
            for direction, step in zip(AXES[axis], (1, -1), strict=True):
                beside = place[axis] + step
                if wraps:
                    beside %= size
                peer = (number.get((*place[:axis], beside, *place[axis + 1 :]), sip), cube, pe)
                if peer in found and peer[0] != sip:
                    mine[f"global_{direction}"] = peer


def _mesh_rows(found: Neighbours, shape: MachineShape) -> None:
    _lines(found, shape, "row", 0)


def _mesh_columns(found: Neighbours, shape: MachineShape) -> None:
    _lines(found, shape, "column", 1)


def _lines(found: Neighbours, shape: MachineShape, name: str, axis: int) -> None:
    """Join all PEs of a cube that are alike along one axis of its mesh."""
    lines: dict[tuple[int, int, int], list[tuple[int, Location]]] = {}
    for location in found:
        cell = shape.cell(location)
        lines.setdefault((*location[:2], cell[axis]), []).append((cell[1 - axis], location))
    for line in lines.values():
        members = [location for _, location in sorted(line)]
        for location in members:
            mine = {f"{name}{i}": peer for i, peer in enumerate(members) if peer != location}
            found[location] |= mine


def _close(found: Neighbours, members: Sequence[Location], forward: str, back: str) -> None:
    """Join ``members`` to a ring; a single one has no neighbours."""
    if len(members) < 2:
        return
    for i, location in enumerate(members):
        found[location][forward] = members[(i + 1) % len(members)]
        found[location][back] = members[i - 1]


PATTERNS: Mapping[str, Callable[[Neighbours, MachineShape], None]] = {
    "intercube_mesh": _intercube_mesh,
    "intracube_pe_ring": _intracube_pe_ring,
    "inter_sip": _inter_sip,
    "mesh_rows": _mesh_rows,
    "mesh_columns": _mesh_columns,
}
"""The shipped patterns by name."""
