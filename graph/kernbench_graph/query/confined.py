"""Texts that reach nothing but the runs that they name, as a server with all runs in one graph needs them.

Relationships never lead from a topology into a run, so whatever is found from a run by leaving nodes is that
run's or its topology's. Only a node that is found by itself, or one that is found from a topology against the
direction of a relationship, may be another run's: there the text gets a condition that says whose it must be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from kernbench_graph.errors import QueryError, UnknownNameError
from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.items import is_clause, items_from
from kernbench_graph.query.looked_at import ADDED
from kernbench_graph.query.patterns import (
    Chain,
    Part,
    PatternNode,
    PatternStep,
    UnreadPatternError,
    chain_from,
    closing,
    opens_node,
    path_from,
    text_at,
)
from kernbench_graph.schema import SCHEMA

_RECORDS = {label.name: label.record for label in SCHEMA.labels}
_ENDS = {rel.type: rel.pairs for rel in SCHEMA.relationships}
_WITHIN = frozenset(
    type_ for type_, pairs in _ENDS.items() if all(_RECORDS[a] == _RECORDS[b] for a, b in pairs)
)
"""Types that join nodes of one run, or of one topology."""
assert not any(_RECORDS[a] == "topology" != _RECORDS[b] for pairs in _ENDS.values() for a, b in pairs)
_ANY_BUT_ADDED = "|".join(type_ for type_ in _ENDS if type_ not in ADDED)
_WITH_ADDED = "|".join(type_ for type_ in _ENDS if type_ in ADDED)
Held = dict[str, str]
"""Variables whose nodes are of the runs that are named, with their side where it is known."""
_CLAUSES = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "UNION", "CALL")
_SUBQUERIES = ("EXISTS", "COUNT", "COLLECT")
_SHORTEST = ("shortestpath", "allshortestpaths")
_AT_RUN = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)"
_OWN = "kernbench_"
"""How variables and parameters begin that a text gets."""
TOPOLOGY = f"{_OWN}topology_of_"
"""The parameter with the id of the topology of a run that a text names, before the name of its parameter."""


@lru_cache(maxsize=512)
def confined(cypher: str, named: tuple[str, ...] = ("run",), closed: bool = False) -> str:
    """The text with a condition wherever it may reach other runs than those of the parameters ``named``.

    Args:
        cypher: a text that only reads.
        named: the parameters that are ids of runs.
        closed: a relationship without a type gets all types but those of what was added to runs.

    Returns:
        The text as it is where all is certainly of these runs. The conditions in it use parameters
        :data:`TOPOLOGY` and the name of each of ``named``.

    Raises:
        QueryError: it may reach other runs, and no condition can be written there.

    >>> confined("MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(t) AS n")
    'MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(t) AS n'
    >>> confined("MATCH (t:Transaction) RETURN count(t) AS n")
    "MATCH (t:Transaction WHERE t.id STARTS WITH $run + '/') RETURN count(t) AS n"
    """
    found = statement(cypher)
    reader = _Reader(cypher, found, named, closed)
    try:
        reader.clauses(0, len(found), {}, {})
    except UnreadPatternError as error:
        raise reader.refusal(f"a pattern with '{error}' is not known here") from error
    return reader.written()


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


class _Graph:
    """Patterns that are matched together: nodes by variable or place, steps, and parts that are repeated."""

    def __init__(self, paths: Sequence[Part] = ()) -> None:
        self.nodes: dict[object, list[PatternNode]] = {}
        self.steps: list[tuple[object, PatternStep, object]] = []
        self.parts: list[tuple[object, _Graph, object]] = []
        self._after: dict[int, PatternNode] = {}
        self.first: object = None
        self.last: object = None
        for path in paths:
            keys = [self._add(piece) if isinstance(piece, Chain) else None for piece in path.chains]
            for at, piece in enumerate(path.chains):
                if isinstance(piece, Part):
                    before = keys[at - 1] if at else None
                    after = keys[at + 1] if at + 1 < len(keys) else None
                    self.parts.append((before and before[1], _Graph([piece]), after and after[0]))
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


class _Reader:
    """Reads a text clause by clause, and notes what is to be written into it."""

    def __init__(self, cypher: str, found: Sequence[Token], named: Sequence[str], closed: bool) -> None:
        self._cypher, self._found, self._named, self._closed = cypher, found, named, closed
        words = {text.strip("`") for kind, text, _ in found if kind in ("word", "quoted")}
        if own := [word for word in words if word.startswith("Kernbench")]:
            raise UnknownNameError(f"there is no label '{min(own)}' in this graph")
        # The store's own nodes have ids of runs, too. What was added is seen by texts that name some of it.
        hidden = set() if words & ADDED else ADDED & _RECORDS.keys()
        self._others = "|".join(["KernbenchRun", "KernbenchTopology", "KernbenchLane", *sorted(hidden)])
        self._conditions: dict[int, tuple[PatternNode, list[str]]] = {}
        self._edits: list[tuple[int, int, int, str]] = []
        """Where, in which order at one place, how many characters go, and what comes instead."""
        self._has_star = any(
            text == "*" and self._upper(at - 1) in ("WITH", "RETURN", "DISTINCT")
            for at, (_, text, _) in enumerate(found)
        )

    def refusal(self, what: str) -> QueryError:
        """The error where ``what`` may be of any run."""
        return QueryError(
            f"the server has all runs in one graph, and {what}; begin at the run, as in {_AT_RUN}, and give "
            "relationships a type and an arrow"
        )

    def written(self) -> str:
        """The text with its conditions."""
        edits = list(self._edits)
        for node, conditions in self._conditions.values():
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

    def _offset(self, at: int) -> int:
        return self._found[at][2] if at < len(self._found) else len(self._cypher)

    def _upper(self, at: int) -> str:
        return text_at(self._found, at).upper()

    def _outer(self, start: int, end: int) -> Iterator[int]:
        """The tokens that stand in no bracket."""
        at = start
        while at < end:
            yield at
            kind, text, _ = self._found[at]
            at = closing(self._found, at) + 1 if kind == "mark" and text in "([{" else at + 1

    def clauses(self, start: int, end: int, held: Held, anew: Held) -> Held:
        """Read clauses; return what the last RETURN passes on.

        Args:
            start: their first token.
            end: the token after them.
            held: the variables from before.
            anew: those that a UNION leaves.
        """
        held, passed = dict(held), Held()
        starts = [at for at in self._outer(start, end) if self._opens_clause(at, start)]
        if starts[:1] != [start]:
            starts.insert(0, start)  # EXISTS { (a)-->(b) }
        group: list[tuple[int, int]] = []
        for at, until in zip(starts, [*starts[1:], end], strict=True):
            word = self._upper(at)
            if word == "OPTIONAL":
                at, word = at + 1, f"OPTIONAL {self._upper(at + 1)}"
            if word.endswith("CALL"):
                held |= self._call(at + 1, until, held)
            elif word in ("WITH", "RETURN"):
                items_end = min(items_from(self._found, at + 1)[1], until)
                self._expression(at + 1, items_end, held)
                passed = _passed_on(self._found[at + 1 : items_end], held)
                held = dict(passed) if word == "WITH" else held | passed
                self._expression(items_end, until, held)
            elif word == "UNWIND":
                self._expression(at + 1, until, held)
                held[text_at(self._found, until - 1).strip("`")] = ""
            elif word == "UNION":
                held = dict(anew)
            else:
                # Clauses of one sort after each other are one: a row must have what each of them finds.
                group.append((at, until))
                if word != "MATCH" or self._upper(until) != "MATCH" or until == end:
                    self._match(group, held)
                    group = []
        return passed

    def _opens_clause(self, at: int, start: int) -> bool:
        """Whether a clause begins there; CALL is one before a subquery alone."""
        if not is_clause(self._found, at, *_CLAUSES) or (at > start and self._upper(at - 1) == "OPTIONAL"):
            return False
        return self._upper(at) != "CALL" or self._upper(at + 1) in ("{", "(")

    def _call(self, at: int, end: int, held: Held) -> Held:
        opened = next((n for n in self._outer(at, end) if self._upper(n) == "{"), 0)
        if not opened:
            raise UnreadPatternError("CALL")
        scope = [text.strip("`") for _, text, _ in self._found[at:opened]]
        passed = {name: side for name, side in held.items() if "*" in scope or name in scope}
        old = not scope and self._upper(opened + 1) == "WITH"
        return self.clauses(opened + 1, closing(self._found, opened), held if old else passed, passed)

    def _match(self, group: Sequence[tuple[int, int]], held: Held) -> None:
        """Read MATCH clauses that are matched together; their variables are held from then on."""
        clauses: list[tuple[list[Part], int, int]] = []
        for at, end in group:
            paths: list[Part] = []
            while at < end and self._upper(at) != "WHERE":
                opened = self._found[at][1] == "(" and self._upper(at - 1).lower() not in _SHORTEST
                paths += [path_from(self._found, at)] if opened else []
                at = paths[-1].end if opened else at + 1
            clauses.append((paths, at, end))
        scope = dict(held)
        self._hold([path for paths, _, _ in clauses for path in paths], held)
        for paths, at, end in clauses:  # its conditions know nothing of later clauses
            scope |= {name: held[name] for path in paths for name in _variables(path)}
            for path in paths:
                self._within(path, scope)
            self._expression(at, end, scope)

    def _hold(self, paths: Sequence[Part], held: Held) -> None:
        """See that all nodes of patterns are of the runs that are named; their variables are held then."""
        graph = _Graph(paths)
        sides = graph.sides(held)
        named = [key for key, some in graph.nodes.items() if any(_is_named(one, self._named) for one in some)]
        reached = graph.closure({*named, *(graph.nodes.keys() & held.keys())}, sides)
        for key, some in graph.nodes.items():
            if key not in reached:
                self._condition(some[0], sides[key])
                reached = graph.closure({*reached, key}, sides)
        self._hold_ways(graph, reached, sides)
        for first, part, last in graph.parts:
            inner = part.sides({})
            if not any(
                outer in reached and part.is_all_from(end)
                for outer, end in ((first, part.first), (last, part.last))
            ):
                for key, some in part.nodes.items():
                    self._condition(some[0], inner[key])
                self._hold_ways(part, {*part.nodes}, inner)
                if part.parts:
                    raise UnreadPatternError("{")
            held |= {key: side for key, side in inner.items() if isinstance(key, str)}
        held |= {key: side for key, side in sides.items() if isinstance(key, str)}

    def _within(self, path: Part, held: Held) -> None:
        """Read the properties and conditions in the brackets of patterns."""
        for piece in path.chains:
            if isinstance(piece, Part):
                self._within(piece, held)
                continue
            for step in piece.steps if self._closed else ():
                self._close(step)
            for place in (*(node.at for node in piece.nodes), *(step.at for step in piece.steps)):
                if place.names:
                    self._expression(place.after_names, place.end, held)
        if path.where:
            self._expression(path.where, path.end, held)

    def _condition(self, node: PatternNode, side: str) -> None:
        own = node.labels if node.labels in ({"Run"}, {"Topology"}) else {side} if side else ()
        text = _whose(self._name(node), own, self._named)
        if not own:
            text = f"{text} AND NOT {self._name(node)}:{self._others}"
        self._conditions.setdefault(node.at.start, (node, []))[1].append(text)

    def _hold_ways(self, graph: _Graph, reached: set[object], sides: dict[object, str]) -> None:
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
            self._conditions.setdefault(node.at.start, (node, []))[1].append(text)

    def _close(self, step: PatternStep) -> None:
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

    def _name(self, node: PatternNode) -> str:
        if not node.variable:
            self._check_no_star()
        return _quoted(node.variable) if node.variable else f"{_OWN}{node.at.start}"

    def _check_no_star(self) -> None:
        if self._has_star:
            raise self.refusal("with '*' a pattern without a name may be of any of them")

    def _expression(self, at: int, end: int, held: Held) -> None:
        """Read the patterns and subqueries in an expression."""
        while at < end:
            kind, text, _ = self._found[at]
            if kind != "mark" or text not in "([{":
                at += 1
                continue
            until = closing(self._found, at)
            scope = dict(held)
            if text == "{" and self._upper(at - 1) in _SUBQUERIES:
                self.clauses(at + 1, until, held, held)
                at = until + 1
                continue
            if text != "{" and self._upper(at + 2) == "IN":  # [x IN xs | ...], any(x IN xs WHERE ...)
                scope[text_at(self._found, at + 1).strip("`")] = ""
            start = at + 1 if text == "[" else at
            start += 2 if text == "[" and self._upper(at + 2) == "=" else 0
            chain = chain_from(self._found, start) if opens_node(self._found, start) else None
            if chain and (chain.steps or (text == "[" and self._upper(chain.end) in ("|", "WHERE"))):
                before = len(self._conditions) + len(self._edits)
                path = Part([chain], chain.start, chain.end, 0)
                self._hold([path], scope)
                self._within(path, scope)
                changed = before != len(self._conditions) + len(self._edits)
                if text == "(":
                    if changed:
                        self._as_subquery(chain)
                    at = chain.end
                    continue
                at = chain.end - 1
            self._expression(at + 1, until, scope)
            at = until + 1

    def _as_subquery(self, chain: Chain) -> None:
        """``(a)-->(b)`` in an expression cannot have conditions; EXISTS {(a)-->(b)} can."""
        start, end = self._offset(chain.start), self._offset(chain.end)
        if self._upper(chain.start - 2) == "EXISTS":
            self._edits += [(self._offset(chain.start - 1), 0, 1, "{"), (end, 0, 1, "}")]
        else:
            end = self._offset(chain.end - 1) + 1
            self._edits += [(start, 1, 0, "EXISTS {"), (end, 0, 0, "}")]


def _passed_on(items: Sequence[Token], held: Held) -> Held:
    """Names that a WITH passes on: all that they stand for is held."""
    passed: Held = {}
    for item in items_from(items, 0)[0]:
        words = [text.strip("`") for _, text, _ in item if text.upper() != "DISTINCT"]
        if words == ["*"]:
            passed |= held
        elif words:
            passed[words[-1]] = held.get(words[0], "") if len(words) in (1, 3) else ""
    return passed


def _variables(path: Part) -> Iterator[str]:
    for piece in path.chains:
        if isinstance(piece, Part):
            yield from _variables(piece)
        else:
            yield from (node.variable for node in piece.nodes if node.variable)


def _is_named(node: PatternNode, named: Collection[str]) -> bool:
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
        sides = {_RECORDS.get(label, "topology") for label in node.labels}
        if len(sides) == 1:
            found |= sides
    for a, step, b in steps:
        for end, place in ((a, 0), (b, 1)):
            if end == key and step.types and step.types <= _ENDS.keys() and step.direction:
                place = place if step.direction == ">" else 1 - place
                of = {_RECORDS[pair[place]] for type_ in step.types for pair in _ENDS[type_]}
                if len(of) == 1:
                    found |= of
    return found.pop() if len(found) == 1 else ""
