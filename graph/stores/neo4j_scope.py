"""Confines a reading query to one graph of a database that holds many.

A question says ``MATCH (t:Transaction)`` and knows nothing of other runs. In Neo4j every run's graph is a
component of its own (its topology's nodes included; no relationship leaves it), and all of its nodes carry
one more label, such as ``InRun7``. So a query sees that graph and no other exactly when every node pattern
asks for the label, and this module writes it there: ``(t:Transaction)`` becomes ``(t:(Transaction)&InRun7)``.
Intermediate nodes of variable-length patterns need none, as no path leads out. A property map gets the
graph's number as well, so that ``{id: $id}`` is answered from the index over both.

Where a ``(`` opens a node pattern follows from two rules that need no full parser: in the pattern part of a
MATCH, of ``EXISTS {``, ``COUNT {`` or ``shortestPath(``, every one does that does not open another group; in
an expression, one does when a relationship follows it or leads to it. A text whose tokens Neo4j might split
otherwise than the lexer here is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from graph.cypher_guard import tokens
from graph.schema import SCHEMA
from graph.store import QueryError

_ENDS = frozenset(
    ("WHERE", "RETURN", "WITH", "MATCH", "OPTIONAL", "UNWIND", "UNION", "USING", "ORDER", "SKIP", "LIMIT",
     "OFFSET", "FINISH", "CALL")
)  # fmt: skip
_PATHS = ("SHORTESTPATH", "ALLSHORTESTPATHS")
_BRACED = ("EXISTS", "COUNT", "COLLECT")
_CLOSE = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Scope:
    """A graph: the label of all its nodes, and its number (-1: the graph over all runs has none)."""

    label: str
    number: int = -1


@dataclass(slots=True)
class Confined:
    """A query that sees one graph only, and the labels that it asks for."""

    text: str
    labels: set[str] = field(default_factory=set)


def confine(cypher: str, scope: Scope) -> Confined:
    """``cypher``, which has passed the read-only check, with every node pattern confined to ``scope``."""
    if re.search(r"\\u", cypher, re.IGNORECASE):
        raise QueryError("the query has an escape '\\u', which Neo4j reads before anything else; write the "
                         "character itself, or pass a parameter")  # fmt: skip
    rewriting = _Rewriting(cypher, scope)
    rewriting.expression(0, len(rewriting.marks))
    return Confined(rewriting.result(), rewriting.labels)


class _Rewriting:
    def __init__(self, cypher: str, scope: Scope) -> None:
        self.cypher, self.scope = cypher, scope
        found = tokens(cypher)
        self.kinds = [kind for kind, _, _ in found]
        self.marks = [text for _, text, _ in found]
        self.starts = [start for _, _, start in found]
        self.partner = self._partners()
        self.edits: list[tuple[int, int, str]] = []
        self.labels: set[str] = set()

    def result(self) -> str:
        text, done = [], 0
        for start, end, new in sorted(self.edits):
            text += [self.cypher[done:start], new]
            done = end
        return "".join([*text, self.cypher[done:]])

    def expression(self, at: int, end: int) -> None:
        """Tokens ``at`` to ``end``, of which some may be patterns."""
        while at < end:
            mark = self.marks[at]
            if self._is_match(at):
                at = self.patterns(at + 1, end)
            elif mark == "(" and self._word(at - 1) in _PATHS:
                self.patterns(at + 1, self.partner[at])
                at = self.partner[at] + 1
            elif mark == "(" and self._is_node(at) and self._leads_on(self.partner[at] + 1):
                at = self._chain(at)
            elif mark == "{" and self._word(at - 1) in _BRACED:
                if self.patterns(at + 1, self.partner[at]) < self.partner[at]:
                    raise AssertionError("a pattern ends with its braces")
                at = self.partner[at] + 1
            elif mark in _CLOSE:
                self.expression(at + 1, self.partner[at])
                at = self.partner[at] + 1
            else:
                at += 1

    def patterns(self, at: int, end: int) -> int:
        """A list of path patterns; what follows its WHERE or belongs to the next clause is an expression."""
        while at < end:
            mark = self.marks[at]
            if self.kinds[at] == "word" and mark.upper() in _ENDS and self._mark(at + 1) != "=":
                self.expression(at, end)
                return end
            if mark == "(":
                if self._word(at - 1) in _PATHS or self._opens_path(at + 1):
                    self.patterns(at + 1, self.partner[at])
                else:
                    self._node(at)
            elif mark in _CLOSE:
                self.expression(at + 1, self.partner[at])
            at = self.partner[at] + 1 if mark in _CLOSE else at + 1
        return at

    def _chain(self, at: int) -> int:
        """A path pattern in an expression, from its first node to behind its last."""
        while True:
            self._node(at)
            at = self.partner[at] + 1
            after = self._leads_on(at)
            if not after:
                return at
            for inner in range(at, after):
                if self.marks[inner] == "[":
                    self.expression(inner + 1, self.partner[inner])
            if self._mark(after) == "{":  # a quantifier of the relationship
                after = self.partner[after] + 1
            elif self._mark(after) in ("+", "*"):
                after += 1
            if self._mark(after) != "(":
                return after
            at = after

    def _leads_on(self, at: int) -> int:
        """Where the relationship pattern at ``at`` ends; 0 when there is none."""
        if self._mark(at) == "<":
            at += 1
        if self._mark(at) != "-":
            return 0
        if self._mark(at + 1) == "[":
            at = self.partner[at + 1] + 1
            if self._mark(at) != "-":
                return 0
        elif self._mark(at + 1) == "-":
            at += 1
        else:
            return 0
        return at + 2 if self._mark(at + 1) == ">" else at + 1

    def _is_node(self, opening: int) -> bool:
        at = self._behind_name(opening)
        return self.marks[at] in (")", ":", "{") or self._word(at) in ("WHERE", "IS")

    def _behind_name(self, opening: int) -> int:
        """What follows the name in the node pattern that opens there, or the bracket where it has none."""
        at = opening + 1
        if self._word(at) in ("WHERE", "IS"):  # a name if nothing follows that would make it a keyword
            named = self.marks[at + 1] in (")", ":", "{") or self._word(at + 1) in ("WHERE", "IS")
        else:
            named = self.kinds[at] in ("word", "quoted")
        return at + named

    def _opens_path(self, at: int) -> bool:
        """Whether a group holds a path and is no node: ``((a)-->(b)){1,3}`` or ``(p = (a)-->(b))``."""
        if self._mark(at + 1) == "=" and self.kinds[at] in ("word", "quoted"):
            return True
        return self._mark(at) == "(" or (self._word(at) in _PATHS and self._mark(at + 1) == "(")

    def _node(self, opening: int) -> None:
        """Confine the node pattern that opens there."""
        closing, at = self.partner[opening], self._behind_name(opening)
        if not self._is_node(opening):
            raise QueryError(
                f"the query has a pattern that cannot be confined to one run, at '{self._near(opening)}'; "
                "write nodes as (name:Label {property: value})"
            )
        label = f"`{self.scope.label}`"
        if self.marks[at] == ":" or self._word(at) == "IS":
            begin = at + 1
            at = begin
            while at < closing and self.marks[at] != "{" and self._word(at) != "WHERE":
                if self.marks[at] == "$":
                    raise QueryError("a label in the query is a value; write the label itself")
                at += 1
            self._label_expression(begin, at)
            self._edit(self.starts[begin], self.starts[begin], "(")
            self._edit(self._stop(at - 1), self._stop(at - 1), f")&{label}")
        else:
            place = self._stop(at - 1)
            self._edit(place, place, f":{label}")
        if self.marks[at] == "{" and at + 1 < self.partner[at] and self.scope.number >= 0:
            place = self.starts[self.partner[at]]
            self._edit(place, place, f", _run: {self.scope.number}")
        if at < closing:
            self.expression(at, closing)

    def _label_expression(self, begin: int, end: int) -> None:
        """Write ``A:B`` as ``A&B`` and ``A|:B`` as ``A|B``, which may be joined with ``&``."""
        for at in range(begin, end):
            if self.marks[at] == ":":
                new = "" if self.marks[at - 1] == "|" else "&"
                self._edit(self.starts[at], self.starts[at] + 1, new)
            elif self.kinds[at] in ("word", "quoted"):
                self.labels.add(self.marks[at].strip("`"))

    def _is_match(self, at: int) -> bool:
        if self._word(at) != "MATCH":
            return False
        if self._mark(at - 1) in (".", ":"):
            raise QueryError(f"the query has a name 'match' at '{self._near(at)}'; write it as `match`")
        return True

    def _partners(self) -> dict[int, int]:
        """Closing bracket of each opening one."""
        stack: list[int] = []
        found: dict[int, int] = {}
        for at, mark in enumerate(self.marks):
            if self.kinds[at] != "mark":
                continue
            if mark in _CLOSE:
                stack.append(at)
            elif mark in _CLOSE.values():
                if not stack or _CLOSE[self.marks[stack[-1]]] != mark:
                    raise QueryError(
                        f"the query is not valid here: '{mark}' closes nothing, at '{self._near(at)}'"
                    )
                found[stack.pop()] = at
        if stack:
            raise QueryError(f"the query is not valid here: nothing closes '{self._near(stack[-1])}'")
        return found

    def _edit(self, start: int, end: int, new: str) -> None:
        self.edits.append((start, end, new))

    def _mark(self, at: int) -> str:
        return self.marks[at] if 0 <= at < len(self.marks) else ""

    def _word(self, at: int) -> str:
        return self._mark(at).upper() if 0 <= at < len(self.marks) and self.kinds[at] == "word" else ""

    def _stop(self, at: int) -> int:
        return self.starts[at] + len(self.marks[at])

    def _near(self, at: int) -> str:
        return " ".join(self.cypher[self.starts[at] : self.starts[at] + 20].split())


KNOWN = frozenset(
    [label.name for label in SCHEMA.labels]
    + [rel.type for rel in SCHEMA.relationships]
    + [prop.name for label in SCHEMA.labels for prop in label.properties]
    + [prop.name for rel in SCHEMA.relationships for prop in rel.properties]
)
"""Names of the schema: that the database has none of them yet is no error."""
