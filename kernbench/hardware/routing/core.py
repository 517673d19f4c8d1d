"""The part of the compiled graph that forwards traffic, as arrays.

Routes pass only through transit components, so shortest paths are computed over these alone; whatever
hangs on them (memories, CPUs, PE parts) is an end and is joined on afterwards. That leaves a third of
the components, and one table serves all that sit at the same router.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernbench.hardware.kinds import component_kind, link_kind
from kernbench.support.pgraph import Edge, Node, PropertyGraph

NM_PER_MM = 1_000_000

IntArray = NDArray[np.int64]


def weight_nm(edge: Edge) -> int:
    """Routing weight of a link in whole nanometres: sums are exact, so equal paths compare equal."""
    return round(float(edge.properties["routing_weight"]) * NM_PER_MM)


@dataclass(frozen=True, slots=True)
class Core:
    """Transit components and the links among them.

    Links are ordered by source and, within a source, as routing prefers them among equals: east and west
    before north and south, then by name, with numbers compared as numbers.
    """

    names: list[str]
    index: dict[str, int]
    """Position of a component in ``names``."""
    kinds: list[str]
    """Kind of each component."""
    links: list[Edge]
    source: IntArray
    """Per link, the index of its source; likewise ``target``."""
    target: IntArray
    weight: IntArray
    """nm per link."""
    is_ucie: NDArray[np.bool_]
    """Per link: it may not carry PE_DMA traffic within a cube."""


def build_core(graph: PropertyGraph) -> Core:
    """Extract the core of a compiled topology."""
    nodes = [n for n in graph.nodes() if component_kind(n).transit]
    nodes.sort(key=lambda n: _natural(n.id))
    index = {n.id: i for i, n in enumerate(nodes)}
    among = (e for e in graph.edges("LINK") if e.source in index and e.target in index)
    ends = [(index[e.source], index[e.target], e) for e in among]
    ends.sort(key=lambda s: (s[0], not _is_x_move(nodes[s[0]], nodes[s[1]]), s[1]))
    links = [e for _, _, e in ends]
    return Core(
        [n.id for n in nodes],
        index,
        [str(n.properties["kind"]) for n in nodes],
        links,
        np.array([source for source, _, _ in ends], dtype=np.int64),
        np.array([target for _, target, _ in ends], dtype=np.int64),
        np.array([weight_nm(e) for e in links], dtype=np.int64),
        np.array([link_kind(e).ucie for e in links], dtype=np.bool_),
    )


def _natural(name: str) -> list[str | int]:
    """Sort key that compares numbers in names as numbers; texts and numbers alternate in it."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _is_x_move(source: Node, target: Node) -> bool:
    a, b = source.properties, target.properties
    if a["kind"] == b["kind"] == "router":
        return a["row"] == b["row"]
    side = a.get("side", b.get("side"))
    return side in ("E", "W")
