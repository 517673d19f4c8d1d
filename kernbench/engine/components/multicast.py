"""The tree of links over which a multicast goes: each link carries it once, routers copy it where ways part.

A tree is made of legs. Each is a message of its own over one linear path, from where it leaves the tree to
one destination; the longest way there is the trunk, which begins at the sender.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernbench.engine.core.node import path_over
from kernbench.engine.core.transaction import Packet, Path, Transaction
from kernbench.errors import RoutingError


@dataclass(frozen=True, slots=True)
class Leg:
    """A path to the destination of number ``end``, and the legs that leave it, by hop."""

    end: int
    path: Path
    entered: Any
    """The link over which its first node gets what it copies; None at the sender."""
    branches: dict[int, list[Leg]]


def legs_of(paths: Sequence[Path]) -> list[Leg]:
    """The trunks of a multicast from one sender over ``paths``, one for each of its first links.

    Ways of equal weight may reach a component from two sides, which would get everything twice. So a way
    joins the tree at the last component of it that the tree has.

    Raises:
        RoutingError: A link has finite buffers; a router would have to hold a flit until all copies are gone.
    """
    ways: dict[int, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}
    found: list[Path] = []
    for path in paths:
        nodes, links = path.nodes, path.links
        at = max((i for i, node in enumerate(nodes) if node.index in ways), default=0)
        if at:
            before = ways[nodes[at].index]
            nodes, links = (*before[0], *nodes[at:]), (*before[1], *links[at:])
        for i, node in enumerate(nodes[:-1]):
            ways.setdefault(node.index, (nodes[:i], links[:i]))
        for link in links if len(paths) > 1 else ():
            if link.port is not None and link.port.buffer is not None:
                raise RoutingError(
                    f"a multicast cannot cross '{link.resource}', whose buffers are finite; "
                    "leave buffer_flits of its kind out, or send to each peer"
                )
        found.append(path if links == path.links else path_over(list(nodes), list(links)))
    ends = list(range(len(found)))
    firsts = dict.fromkeys(path.links[0].index for path in found)
    return [_leg(found, [i for i in ends if found[i].links[0].index == first], 0) for first in firsts]


def _leg(paths: Sequence[Path], ends: list[int], start: int) -> Leg:
    """The longest of the ways to ``ends``, which are one way up to node ``start``, and what leaves it."""
    trunk = max(ends, key=lambda end: (paths[end].hops, -end))
    links = paths[trunk].links
    off: dict[tuple[int, int], list[int]] = {}
    for end in ends:
        way, here = paths[end].links, start
        while here < len(way) and here < len(links) and way[here] is links[here]:
            here += 1
        if end != trunk:
            off.setdefault((here, way[here].index), []).append(end)
    branches: dict[int, list[Leg]] = {}
    for (here, _), group in sorted(off.items()):
        branches.setdefault(here - start, []).append(_leg(paths, group, here))
    path, entered = paths[trunk], links[start - 1] if start else None
    if start:
        path = path_over(list(path.nodes[start:]), list(links[start:]))
    return Leg(trunk, path, entered, branches)


def branches_of(
    leg: Leg, whole: Transaction, flit_bytes: int, begin: Callable[[Leg], Transaction]
) -> dict[int, list[Packet]] | None:
    """The packets that copy that of ``leg``, whose transaction is ``whole``, by hop; None for none."""
    if not leg.branches:
        return None
    found: dict[int, list[Packet]] = {}
    for hop, legs in leg.branches.items():
        for one in legs:
            transaction = begin(one)
            transaction.src, transaction.split_from = whole.src, whole.id
            packet = Packet(transaction, one.path, whole.nbytes, flit_bytes)
            packet.entered = one.entered
            packet.branches = branches_of(one, transaction, flit_bytes, begin)
            found.setdefault(hop, []).append(packet)
    return found
