"""Which nodes of a pattern are certainly of the runs that a text names: those reached from them.

Relationships never lead from a topology into a run, so whatever is found from a run by leaving nodes is that
run's or its topology's. Only a node that is found by itself, or one that is found from a topology against the
direction of a relationship, may be another run's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kernbench_graph.query.patterns import Chain, Part, PatternNode, PatternStep
from kernbench_graph.schema import SCHEMA

RECORDS = {label.name: label.record for label in SCHEMA.labels}
"""By label the record that its nodes are of: a run or a topology."""
_ENDS = {rel.type: rel.pairs for rel in SCHEMA.relationships}
_WITHIN = frozenset(
    type_ for type_, pairs in _ENDS.items() if all(RECORDS[a] == RECORDS[b] for a, b in pairs)
)
"""Types that join nodes of one run, or of one topology."""
assert not any(RECORDS[a] == "topology" != RECORDS[b] for pairs in _ENDS.values() for a, b in pairs)
Held = dict[str, str]
"""Variables whose nodes are of the runs that are named, with their side where it is known."""


class PatternGraph:
    """Patterns that are matched together: nodes by variable or place, steps, and parts that are repeated."""

    def __init__(self, paths: Sequence[Part] = ()) -> None:
        self.nodes: dict[object, list[PatternNode]] = {}
        self.steps: list[tuple[object, PatternStep, object]] = []
        self.parts: list[tuple[object, PatternGraph, object]] = []
        self._after: dict[int, PatternNode] = {}
        self.first: object = None
        self.last: object = None
        for path in paths:
            keys = [self._add(piece) if isinstance(piece, Chain) else None for piece in path.chains]
            for at, piece in enumerate(path.chains):
                if isinstance(piece, Part):
                    before = keys[at - 1] if at else None
                    after = keys[at + 1] if at + 1 < len(keys) else None
                    self.parts.append((before and before[1], PatternGraph([piece]), after and after[0]))
            ends = keys or [None]
            self.first, self.last = ends[0] and ends[0][0], ends[-1] and ends[-1][1]

    def _add(self, chain: Chain) -> tuple[object, object]:
        keys: list[object] = [node.variable or node.at.start for node in chain.nodes]
        for key, node in zip(keys, chain.nodes, strict=True):
            self.nodes.setdefault(key, []).append(node)
        self.steps += zip(keys, chain.steps, keys[1:], strict=False)
        self._after |= {step.at.start: node for step, node in zip(chain.steps, chain.nodes[1:], strict=True)}
        return keys[0], keys[-1]

    def sides(self, held: Held) -> dict[object, str]:
        """The side of each node, by its labels or the types that lead to it; empty if unknown."""
        return {
            key: _side(key, some, self.steps) or held.get(str(key), "") for key, some in self.nodes.items()
        }

    def closure(self, known: set[object], sides: dict[object, str]) -> set[object]:
        """The nodes that are certainly of the runs that those ``known`` are of."""
        reached = set(known)
        while more := {
            there
            for a, step, b in self.steps
            for here, there, away in ((a, b, ">"), (b, a, "<"))
            if here in reached and there not in reached and _leads(step, away, sides[here])
        } | {
            there
            for first, part, last in self.parts
            for here, there, end in ((first, last, part.first), (last, first, part.last))
            if here in reached and there is not None and there not in reached and part.is_all_from(end)
        }:
            reached |= more
        return reached

    def is_all_from(self, end: object) -> bool:
        """Whether all of a repeated part is reached from the node at one end of it, each time."""
        sides = self.sides({})
        reached = self.closure({end}, sides) if end is not None else set()
        return not self.parts and reached >= self.nodes.keys() and not any(self.open_steps(reached, sides))

    def open_steps(
        self, reached: set[object], sides: dict[object, str]
    ) -> Iterator[tuple[PatternStep, PatternNode]]:
        """Steps of variable length on whose way other runs may lie, and the node after each."""
        for a, step, b in self.steps:
            leads = (a in reached and _leads(step, ">", sides[a])) or (
                b in reached and _leads(step, "<", sides[b])
            )
            if step.is_long and not leads:
                yield step, self._after[step.at.start]


def variables(path: Part) -> Iterator[str]:
    """The names of the nodes of a pattern."""
    for piece in path.chains:
        if isinstance(piece, Part):
            yield from variables(piece)
        else:
            yield from (node.variable for node in piece.nodes if node.variable)


def is_named(node: PatternNode, named: Collection[str]) -> bool:
    """Whether a node is a run whose id must equal one of the parameters ``named``."""
    return node.labels == {"Run"} and node.properties.get("id") in named


def _leads(step: PatternStep, away: str, side: str) -> bool:
    """Whether a step from a node that is held leads to held ones alone; ``away`` is the way that it goes."""
    if step.types and step.types <= _WITHIN:
        return True
    if step.direction == away:
        return True
    return side == "run" and (not step.is_long or step.direction != "")


def _side(
    key: object, nodes: Collection[PatternNode], steps: Collection[tuple[object, PatternStep, object]]
) -> str:
    """``run`` or ``topology``, by the labels of a node or by the types that lead to it; empty if unknown."""
    found: set[str] = set()
    for node in nodes:
        sides = {RECORDS.get(label, "topology") for label in node.labels}
        if len(sides) == 1:
            found |= sides
    for a, step, b in steps:
        for end, place in ((a, 0), (b, 1)):
            if end == key and step.types and step.types <= _ENDS.keys() and step.direction:
                place = place if step.direction == ">" else 1 - place
                of = {RECORDS[pair[place]] for type_ in step.types for pair in _ENDS[type_]}
                if len(of) == 1:
                    found |= of
    return found.pop() if len(found) == 1 else ""
