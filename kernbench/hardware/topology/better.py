"""Whether one machine is better than another: in each figure in which they differ."""

from __future__ import annotations

from collections.abc import Iterable

from kernbench.hardware.kinds import component_kind, link_kind
from kernbench.hardware.kinds.records import ComponentKind, Form, LinkKind
from kernbench.support.pgraph import Properties, PropertyGraph

SLOWER = "requests are served in another order, or meet refreshes elsewhere"
"""How a run can be slower on a better machine: a flow alone never is."""
_OWN = ("id", "name", "spec", "ns_per_mm")
"""Properties of a graph that say nothing of how it works, beyond what its parts say."""


def only_better(before: PropertyGraph, after: PropertyGraph) -> bool:
    """Whether the parts are the same, and all that differs of them is better on ``after``.

    Their kinds say what is: more of ``rates`` and ``counts``, less of ``times``. Figures of which that is not
    known, such as lengths, weights of routes, capacities and buffers, have to be equal.
    """
    if _said(before) != _said(after):
        return False
    pairs = _pairs(before, after)
    return pairs is not None and _all_better(pairs)


def _said(graph: PropertyGraph) -> Properties:
    return {key: value for key, value in graph.properties.items() if key not in _OWN}


Pair = tuple[ComponentKind | LinkKind, Properties, Properties]


def _pairs(before: PropertyGraph, after: PropertyGraph) -> list[Pair] | None:
    """Each part with its properties on both; None where one has parts that the other lacks."""
    nodes, others = (
        {node.id: node for node in graph.nodes() if component_kind(node).form is Form.WIRED}
        for graph in (before, after)
    )
    links, wires = ({link.id: link for link in graph.edges("LINK")} for graph in (before, after))
    if nodes.keys() != others.keys() or links.keys() != wires.keys():
        return None
    found: list[Pair] = [
        (component_kind(node), node.properties, others[name].properties) for name, node in nodes.items()
    ]
    return found + [
        (link_kind(link), link.properties, wires[name].properties) for name, link in links.items()
    ]


def _all_better(pairs: Iterable[Pair]) -> bool:
    some = False
    for kind, old, new in pairs:
        if old is new or old == new:
            continue
        some = True
        for key in old.keys() | new.keys():
            a, b = old.get(key), new.get(key)
            if a == b:
                continue
            if a is None or b is None or not _is_better(kind, key, a, b):
                return False
    return some


def _is_better(kind: ComponentKind | LinkKind, key: str, before: object, after: object) -> bool:
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return False
    more = key in kind.rates or key in kind.counts
    return (more and after > before) or (key in kind.times and after < before)
