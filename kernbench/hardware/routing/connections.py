"""The connection policy: which of a port's UCIe connections a route takes when their weights are equal.

A port's wires have no length among themselves, so many routes are equally short. Policy ``nearest`` takes the
connection nearest the destination's row (ports E and W) or column (ports N and S), so that traffic for
different destinations spreads over the connections; ``first`` takes the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernbench.errors import ConfigError
from kernbench.hardware.routing.containers import Wholes
from kernbench.hardware.routing.core import Core, IntArray
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import PropertyGraph

_TO_PORT = (("ucie_conn", "ucie_port"), ("io_ucie_conn", "io_ucie"))
_FROM_PORT = (("ucie_port", "ucie_conn"), ("io_ucie", "io_ucie_conn"))

Location = tuple[float, float]
"""(x, y) of a router in mm from its cube's corner."""


class Destination(NamedTuple):
    """The location of a destination's router in its cube, mm."""

    x: float
    y: float
    rotation_x: int
    """Rotates destinations of one row over the connections that meet the mesh at one router."""
    rotation_y: int
    """The same for destinations of one column."""


@dataclass(slots=True)
class _Ports:
    """All ports of one side and geometry: their links to connections, and which connection each leads to."""

    links: IntArray
    connections: IntArray


class ConnectionPolicy:
    """Costs, per link of the core, of departing from the preferred connection of each port."""

    def __init__(self, graph: PropertyGraph, core: Core) -> None:
        """Raises :class:`ConfigError` when the graph names a policy that is not known."""
        self._graph = graph
        self._core = core
        self._policy = graph.properties.get("routing_connection", "nearest")
        if self._policy not in ("nearest", "first"):
            raise ConfigError(f"routing policy '{self._policy}' is not known, expected nearest or first")
        routers = [
            graph.node(name).properties for name in core.index if core.kinds[core.index[name]] == "router"
        ]
        self._rows = 1 + max((int(p["row"]) for p in routers), default=0)
        self._cols = 1 + max((int(p["col"]) for p in routers), default=0)
        self._ports = self._collect()
        self._cache: dict[Destination | None, Wholes] = {}

    def destination(self, name: str) -> Destination | None:
        """The location of the core component ``name`` if it is a router."""
        p = self._graph.node(name).properties
        if p["kind"] != "router" or not self._ports:
            return None
        x, y = self._location(name)
        row, col = int(p["row"]), int(p["col"])
        # The PEs of a column sit one in each half, whatever the number of rows: the half counts first.
        return Destination(x, y, 2 * col + (2 * col >= self._cols), 2 * row + (2 * row >= self._rows))

    def costs(self, destination: Destination | None) -> Wholes:
        """Per link 0 where it leads to the preferred connection of its port, 1 to the next best ..."""
        known = self._cache.get(destination)
        if known is None:
            costs = np.zeros(len(self._core.links), dtype=np.int64)
            for (side, locations), ports in self._ports.items():
                rank = np.array(self._ranks(side, locations, destination), dtype=np.int64)
                costs[ports.links] = rank[ports.connections]
            known = self._cache[destination] = Wholes().of(costs)
        return known

    def _ranks(
        self, side: str, locations: tuple[Location, ...], destination: Destination | None
    ) -> list[int]:
        """Rank of each connection of a port. Those that meet the mesh at one router rotate by destination."""
        count = len(locations)
        if self._policy == "first":
            return list(range(count))
        if destination is None:
            return [0] * count
        if side in ("E", "W"):
            axis, wanted, rotation = 1, destination.y, destination.rotation_x
        else:
            axis, wanted, rotation = 0, destination.x, destination.rotation_y
        sharing = [[i for i in range(count) if locations[i][axis] == at[axis]] for at in locations]

        def key(i: int) -> tuple[float, float, int]:
            together = sharing[i]
            return (
                round(abs(locations[i][axis] - wanted), 6),
                locations[i][axis],
                (together.index(i) - rotation) % len(together),
            )

        ranks = [0] * count
        for rank, i in enumerate(sorted(range(count), key=key)):
            ranks[i] = rank
        return ranks

    def _location(self, router: str) -> Location:
        p = self._graph.node(router).properties
        name = places(self._graph).part("cube", int(p["sip"]), int(p["cube"]))
        cube = self._graph.node(name).properties
        x, y = float(p["x_mm"]) - float(cube["x_mm"]), float(p["y_mm"]) - float(cube["y_mm"])
        return round(x, 6), round(y, 6)

    def _collect(self) -> dict[tuple[str, tuple[Location, ...]], _Ports]:
        core = self._core
        meets: dict[str, Location] = {}
        served: dict[str, str] = {}
        inner: list[tuple[int, str, str]] = []  # (link, port or PHY, connection)
        members: dict[str, set[str]] = {}
        ends = zip(core.source.tolist(), core.target.tolist(), core.links, strict=True)
        for number, (source, target, link) in enumerate(ends):
            kinds = core.kinds[source], core.kinds[target]
            if kinds == ("ucie_conn", "router"):
                meets[link.source] = self._location(link.target)
            elif kinds == ("io_ucie", "ucie_port"):
                served[link.source] = link.target
            elif kinds in _TO_PORT:
                inner.append((number, link.target, link.source))
                members.setdefault(link.target, set()).add(link.source)
            elif kinds in _FROM_PORT:
                inner.append((number, link.source, link.target))
                members.setdefault(link.source, set()).add(link.target)

        # Names differ in the connection's number alone, and the core has them in order of numbers.
        order = {port: sorted(group, key=core.index.__getitem__) for port, group in members.items()}
        rank = {conn: i for group in order.values() for i, conn in enumerate(group)}
        geometry = {port: self._geometry(order, meets, port, served.get(port, port)) for port in order}
        ports: dict[tuple[str, tuple[Location, ...]], list[tuple[int, int]]] = {}
        for number, port, conn in inner:
            ports.setdefault(geometry[port], []).append((number, rank[conn]))
        return {same: _Ports(*np.array(links, dtype=np.int64).T) for same, links in ports.items()}

    def _geometry(
        self, order: dict[str, list[str]], meets: dict[str, Location], port: str, facing: str
    ) -> tuple[str, tuple[Location, ...]]:
        """Side of a port and where its connections meet the mesh.

        Those of an IO chiplet's PHY stand opposite to those of the cube's port that it serves.
        """
        # A machine with a part lost may have connections that lead nowhere; they are as good as each other.
        own, theirs = len(order[port]), [conn for conn in order.get(facing, ()) if conn in meets]
        if not theirs:
            return str(self._graph.node(facing).properties.get("side", "")), ((0.0, 0.0),) * own
        locations = tuple(meets[theirs[i * len(theirs) // own]] for i in range(own))
        return str(self._graph.node(facing).properties["side"]), locations
