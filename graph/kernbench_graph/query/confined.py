"""Texts that reach nothing but the runs that they name, as a server with all runs in one graph needs them.

A text is read clause by clause. A node that may be another run's (:mod:`kernbench_graph.query.anchors`) gets
a condition that says whose it must be (:mod:`kernbench_graph.query.conditions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kernbench_graph.query.anchors import Held, PatternGraph, is_named, variables
from kernbench_graph.query.conditions import Conditions, refusal
from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.items import is_clause, items_from
from kernbench_graph.query.patterns import (
    SHORTEST,
    SUBQUERIES,
    Part,
    UnreadPatternError,
    chain_from,
    closing,
    opens_node,
    outer,
    path_from,
    text_at,
)

_CLAUSES = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "UNION", "CALL")


@lru_cache(maxsize=512)
def confined(cypher: str, named: tuple[str, ...] = ("run",), closed: bool = False) -> str:
    """The text with a condition wherever it may reach other runs than those of the parameters ``named``.

    Args:
        cypher: a text that only reads.
        named: the parameters that are ids of runs.
        closed: a relationship without a type gets all types but those of what was added to runs.

    Returns:
        The text as it is where all is certainly of these runs. The conditions in it use parameters
        :data:`~kernbench_graph.query.conditions.TOPOLOGY` and the name of each of ``named``.

    Raises:
        QueryError: it may reach other runs, and no condition can be written there.

    >>> confined("MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(t) AS n")
    'MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(t) AS n'
    >>> confined("MATCH (t:Transaction) RETURN count(t) AS n")
    "MATCH (t:Transaction WHERE t.id STARTS WITH $run + '/') RETURN count(t) AS n"
    """
    found = statement(cypher)
    conditions = Conditions(cypher, found, named)
    reader = _Reader(found, named, closed, conditions)
    try:
        reader.clauses(0, len(found), {}, {})
    except UnreadPatternError as error:
        raise refusal(f"'{error}' in a pattern is not supported") from error
    return conditions.written()


class _Reader:
    """Reads a text clause by clause, and notes the conditions that it needs."""

    def __init__(
        self, found: Sequence[Token], named: Sequence[str], closed: bool, conditions: Conditions
    ) -> None:
        self._found, self._named, self._closed, self._conditions = found, named, closed, conditions

    def _upper(self, at: int) -> str:
        return text_at(self._found, at).upper()

    def clauses(self, start: int, end: int, held: Held, at_union: Held) -> Held:
        """Read clauses; return what the last RETURN passes on.

        Args:
            start: their first token.
            end: the token after them.
            held: the variables from before.
            at_union: the variables that are known after a UNION.
        """
        held, passed = dict(held), Held()
        starts = [at for at in outer(self._found, start, end) if self._opens_clause(at, start)]
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
                held = dict(at_union)
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
        opened = next((n for n in outer(self._found, at, end) if self._upper(n) == "{"), 0)
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
                opened = self._found[at][1] == "(" and self._upper(at - 1).lower() not in SHORTEST
                paths += [path_from(self._found, at)] if opened else []
                at = paths[-1].end if opened else at + 1
            clauses.append((paths, at, end))
        scope = dict(held)
        self._hold([path for paths, _, _ in clauses for path in paths], held)
        for paths, at, end in clauses:  # its conditions know nothing of later clauses
            scope |= {name: held[name] for path in paths for name in variables(path)}
            for path in paths:
                self._within(path, scope)
            self._expression(at, end, scope)

    def _hold(self, paths: Sequence[Part], held: Held) -> None:
        """See that all nodes of patterns are of the runs that are named; their variables are held then."""
        graph = PatternGraph(paths)
        sides = graph.sides(held)
        named = [key for key, some in graph.nodes.items() if any(is_named(one, self._named) for one in some)]
        reached = graph.closure({*named, *(graph.nodes.keys() & held.keys())}, sides)
        for key, some in graph.nodes.items():
            if key not in reached:
                self._conditions.hold(some[0], sides[key])
                reached = graph.closure({*reached, key}, sides)
        self._conditions.hold_ways(graph, reached, sides)
        for first, part, last in graph.parts:
            inner = part.sides({})
            if not any(
                outer in reached and part.is_all_from(end)
                for outer, end in ((first, part.first), (last, part.last))
            ):
                for key, some in part.nodes.items():
                    self._conditions.hold(some[0], inner[key])
                self._conditions.hold_ways(part, {*part.nodes}, inner)
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
                self._conditions.close(step)
            for place in (*(node.at for node in piece.nodes), *(step.at for step in piece.steps)):
                if place.names:
                    self._expression(place.after_names, place.end, held)
        if path.where:
            self._expression(path.where, path.end, held)

    def _expression(self, at: int, end: int, held: Held) -> None:
        """Read the patterns and subqueries in an expression."""
        while at < end:
            kind, text, _ = self._found[at]
            if kind != "mark" or text not in "([{":
                at += 1
                continue
            until = closing(self._found, at)
            scope = dict(held)
            if text == "{" and self._upper(at - 1) in SUBQUERIES:
                self.clauses(at + 1, until, held, held)
                at = until + 1
                continue
            if text != "{" and self._upper(at + 2) == "IN":  # [x IN xs | ...], any(x IN xs WHERE ...)
                scope[text_at(self._found, at + 1).strip("`")] = ""
            start = at + 1 if text == "[" else at
            start += 2 if text == "[" and self._upper(at + 2) == "=" else 0
            chain = chain_from(self._found, start) if opens_node(self._found, start) else None
            if chain and (chain.steps or (text == "[" and self._upper(chain.end) in ("|", "WHERE"))):
                before = len(self._conditions)
                path = Part([chain], chain.start, chain.end, 0)
                self._hold([path], scope)
                self._within(path, scope)
                changed = before != len(self._conditions)
                if text == "(":
                    if changed:
                        self._conditions.as_subquery(chain)
                    at = chain.end
                    continue
                at = chain.end - 1
            self._expression(at + 1, until, scope)
            at = until + 1


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
