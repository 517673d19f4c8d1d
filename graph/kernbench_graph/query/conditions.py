"""The conditions that a text gets, and where in it they are written."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kernbench_graph.errors import QueryError, UnknownNameError
from kernbench_graph.query.anchors import RECORDS, PatternGraph
from kernbench_graph.query.guard import Token
from kernbench_graph.query.items import has_star
from kernbench_graph.query.looked_at import ADDED
from kernbench_graph.query.patterns import Chain, PatternNode, PatternStep, text_at
from kernbench_graph.schema import SCHEMA

_TYPES = [rel.type for rel in SCHEMA.relationships]
_ANY_BUT_ADDED = "|".join(type_ for type_ in _TYPES if type_ not in ADDED)
_WITH_ADDED = "|".join(type_ for type_ in _TYPES if type_ in ADDED)
_AT_RUN = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)"
_OWN = "kernbench_"
"""How variables and parameters begin that a text gets."""
TOPOLOGY = f"{_OWN}topology_of_"
"""The parameter with the id of the topology of a run that a text names, before the name of its parameter."""


def refusal(what: str) -> QueryError:
    """The error where ``what`` may be of any run."""
    return QueryError(
        f"the server has all runs in one graph, and {what}; begin at the run, as in {_AT_RUN}, and give "
        "relationships a type and an arrow"
    )


def _whose(what: str, sides: Collection[str], named: Sequence[str]) -> str:
    """The condition that a node is of the runs that are named, or of their topologies.

    >>> _whose("u", {"run"}, ("run", "b"))
    "(u.id STARTS WITH $run + '/' OR u.id STARTS WITH $b + '/')"
    >>> _whose("r", {"Run"}, ("run", "b"))
    'r.id IN [$run, $b]'
    """
    runs = [f"${_quoted(name)}" for name in named]
    topologies = [f"${_quoted(TOPOLOGY + name)}" for name in named]
    owners = {"run": runs, "Run": runs, "topology": topologies, "Topology": topologies}
    some = owners["".join(sides)] if len(sides) == 1 else [*runs, *topologies]
    ways = [f"{what}.id STARTS WITH {owner} + '/'" for owner in some]
    itself = f"{what}.id IN [{', '.join(some)}]"
    if {*sides} & {"Run", "Topology"}:
        return itself
    if {*sides} != {"run"}:
        ways.insert(0, itself)
    return ways[0] if len(ways) == 1 else f"({' OR '.join(ways)})"


def _where(condition: str) -> str:
    """A condition in the brackets of a node.

    >>> _where("n.id = $run")
    ' WHERE n.id = $run'
    """
    return f" WHERE {condition}"


def _whole_way(relationships: str, named: Sequence[str]) -> str:
    """The condition that relationships lie between nodes of the runs that are named.

    >>> _whole_way("r", ("run",)).partition(" OR ")[0]
    'all(kernbench_way IN r WHERE (startNode(kernbench_way).id IN [$run, $kernbench_topology_of_run]'
    """
    whose = (_whose(f"{end}Node({_OWN}way)", (), named) for end in ("start", "end"))
    return f"all({_OWN}way IN {relationships} WHERE {' AND '.join(whose)})"


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


class Conditions:
    """Collects conditions on nodes and steps of a text, and writes them into it.

    ``UnknownNameError`` where the text names a label of the store's own nodes.
    """

    def __init__(self, cypher: str, found: Sequence[Token], named: Sequence[str]) -> None:
        self._cypher, self._found, self._named = cypher, found, named
        words = {text.strip("`") for kind, text, _ in found if kind in ("word", "quoted")}
        if own := [word for word in words if word.startswith("Kernbench")]:
            raise UnknownNameError(f"there is no label '{min(own)}' in this graph")
        # The store's own nodes have ids of runs, too. What was added is seen by texts that name some of it.
        hidden = set() if words & ADDED else ADDED & RECORDS.keys()
        self._others = "|".join(["KernbenchRun", "KernbenchTopology", "KernbenchLane", *sorted(hidden)])
        self._of_nodes: dict[int, tuple[PatternNode, list[str]]] = {}
        self._edits: list[tuple[int, int, int, str]] = []
        """Where, in which order at one place, how many characters go, and what comes instead."""
        self._has_star = has_star(found)

    def __len__(self) -> int:
        return len(self._of_nodes) + len(self._edits)

    def written(self) -> str:
        """The text with its conditions."""
        edits = list(self._edits)
        for node, conditions in self._of_nodes.values():
            text = " AND ".join(dict.fromkeys(conditions))
            if not node.variable:
                edits.append((self._offset(node.at.start) + 1, 0, 0, self._name(node)))
            if node.at.where:
                edits.append((self._offset(node.at.where), 0, len("WHERE"), f"{_where(text)} AND ("))
                edits.append((self._offset(node.at.end), 1, 0, ")"))
            else:
                edits.append((self._offset(node.at.end), 1, 0, _where(text)))
        cypher = self._cypher
        for offset, _, gone, text in sorted(edits, reverse=True):
            cypher = cypher[:offset] + text + cypher[offset + gone :]
        return cypher

    def hold(self, node: PatternNode, side: str) -> None:
        """The node must be of the runs that are named; ``side`` is run or topology, empty if unknown."""
        own = node.labels if node.labels in ({"Run"}, {"Topology"}) else {side} if side else ()
        text = _whose(self._name(node), own, self._named)
        if not own:
            text = f"{text} AND NOT {self._name(node)}:{self._others}"
        self._of_nodes.setdefault(node.at.start, (node, []))[1].append(text)

    def hold_ways(self, graph: PatternGraph, reached: set[object], sides: dict[object, str]) -> None:
        """Conditions on all that lies on the way of steps of variable length."""
        for step, node in graph.open_steps(reached, sides):
            place = step.at
            if not (step.variable and not step.quantifier):
                self._check_no_star()
            if step.quantifier:  # --+ becomes (()--())+
                start = place.start - 2 if text_at(self._found, place.start - 2) == "<" else place.start - 1
                ends = [f"{_OWN}{end}{place.start}" for end in ("from", "to")]
                ends = [f"({name}{_where(_whose(name, (), self._named))})" for name in ends]
                self._edits.append((self._offset(start), 0, 0, f" ({ends[0]}"))
                self._edits.append((self._offset(step.quantifier), 0, 0, f"{ends[1]})"))
                continue
            name = _quoted(step.variable) if step.variable else f"{_OWN}{place.start}"
            if not step.variable:
                self._edits.append((self._offset(place.start) + 1, 0, 0, name))
            text = _whole_way(name, self._named)
            self._of_nodes.setdefault(node.at.start, (node, []))[1].append(text)

    def close(self, step: PatternStep) -> None:
        """Leave out what was added to runs since they were kept, where a step has no type."""
        if step.types:
            return
        place = step.at
        if place.after_names > place.names:  # an expression
            self._edits.append((self._offset(place.names) + 1, 1, 0, f"!({_WITH_ADDED})&("))
            self._edits.append((self._offset(place.after_names), 1, 0, ")"))
            return
        types = f":{_ANY_BUT_ADDED}" if step.is_long and not step.quantifier else f":!({_WITH_ADDED})"
        at = place.names or place.start
        self._edits.append((self._offset(at), 1, 0, types if place.names else f"[{types}]"))

    def as_subquery(self, chain: Chain) -> None:
        """``(a)-->(b)`` in an expression cannot have conditions; EXISTS {(a)-->(b)} can."""
        start, end = self._offset(chain.start), self._offset(chain.end)
        if text_at(self._found, chain.start - 2).upper() == "EXISTS":
            self._edits += [(self._offset(chain.start - 1), 0, 1, "{"), (end, 0, 1, "}")]
        else:
            end = self._offset(chain.end - 1) + 1
            self._edits += [(start, 1, 0, "EXISTS {"), (end, 0, 0, "}")]

    def _name(self, node: PatternNode) -> str:
        if not node.variable:
            self._check_no_star()
        return _quoted(node.variable) if node.variable else f"{_OWN}{node.at.start}"

    def _check_no_star(self) -> None:
        if self._has_star:
            raise refusal("with '*' every pattern needs a variable")

    def _offset(self, at: int) -> int:
        return self._found[at][2] if at < len(self._found) else len(self._cypher)
