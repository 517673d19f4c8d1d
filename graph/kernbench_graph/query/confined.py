"""Whether a text reaches nothing but the runs that it names: only then a server may be asked it.

Relationships never lead from a topology into a run, so whatever is found from a run by leaving nodes is that
run's or its topology's. Only a node that is found by itself, or one that is found from a topology against the
direction of a relationship, may be another run's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.items import is_clause, items_from
from kernbench_graph.query.patterns import Chain, PatternNode, PatternStep, UnreadPatternError, chains
from kernbench_graph.schema import SCHEMA

_RECORDS = {label.name: label.record for label in SCHEMA.labels}
_ENDS = {rel.type: rel.pairs for rel in SCHEMA.relationships}
_WITHIN = frozenset(
    type_ for type_, pairs in _ENDS.items() if all(_RECORDS[a] == _RECORDS[b] for a, b in pairs)
)
"""Types that join nodes of one run, or of one topology."""
_ENTERING = any(_RECORDS[a] == "topology" != _RECORDS[b] for pairs in _ENDS.values() for a, b in pairs)
Held = dict[str, str]
"""Variables whose nodes are of the runs that are named, with their side where it is known."""
_MATCHING = ("MATCH", "OPTIONAL")
_CLAUSES = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "UNION", "CALL")


@lru_cache(maxsize=512)
def not_reached(cypher: str, named: frozenset[str] = frozenset({"run"})) -> str:
    """What a text looks at that may be of other runs than those whose ids are the parameters ``named``.

    It names the remedy as well, and is empty where all is certainly of these runs.

    >>> not_reached("MATCH (:Run {id: $run})-[:USED]->(u)-[:OF]->(l:Link) RETURN l.kind, count(u) AS n")
    ''
    >>> not_reached("MATCH (:Run {id: $run})-[:USED]->(u)-[:OF]->(l:Link)<-[:OF]-(v) RETURN count(v) AS n")
    '(v) is not certain to be reached from its run; reach it as in MATCH (:Run {id: $run})-[...]->(v)'
    >>> not_reached("MATCH (t:Transaction) RETURN count(t) AS n").partition("; ")[2]
    'reach it as in MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)'
    """
    found = statement(cypher)
    if _ENTERING:
        return "a topology may lead to any run"
    try:
        return _looked_for(found, named, {}, {})
    except UnreadPatternError as error:
        return f"a pattern with '{error}' is not known here; write its conditions after WHERE"


def _looked_for(found: Sequence[Token], named: frozenset[str], held: Held, anew: Held) -> str:
    """What is not reached; ``held`` are the variables from before, ``anew`` those that a UNION leaves."""
    held = dict(held)
    patterns = list(chains(found))
    clauses = _clauses(found)
    at = 0
    while at < len(clauses):
        start, _, word = clauses[at]
        last = at
        # Clauses of one sort after each other are one: a row must have what each of them finds.
        while word == "MATCH" and last + 1 < len(clauses) and clauses[last + 1][2] == word:
            last += 1
        end = clauses[last][1]
        if word == "CALL":
            if missed := _called(found[start + 1 : end], named, held):
                return missed
            at = last + 1
            continue
        own = [chain for chain in patterns if start <= chain.start < end]
        matched = [chain for chain in own if word in _MATCHING and not _is_condition(found, chain, clauses)]
        before = dict(held)
        if missed := _missed(matched, held, named):
            return missed
        for chain in own:
            known = before if chain in matched else _known_at(chain, matched, clauses, before)
            if chain not in matched and (missed := _missed([chain], known, named)):
                return missed
        if word == "WITH":
            held = _passed_on(found[start + 1 : end], held)
        elif word == "UNWIND":
            names = [found[n + 1][1] for n in range(start, end - 1) if found[n][1].upper() == "AS"]
            held |= {name.strip("`"): "" for name in names[-1:]}
        elif word == "UNION":
            held = dict(anew)
        at = last + 1
    return ""


def _called(found: Sequence[Token], named: frozenset[str], held: Held) -> str:
    """What a subquery does not reach; what it returns is held from then on."""
    texts = [text for _, text, _ in found]
    opened = texts.index("{") if "{" in texts else len(texts)
    passed = {name: side for name, side in held.items() if "*" in texts[:opened] or name in texts[1:opened]}
    inner = list(found[opened + 1 : len(texts) - texts[::-1].index("}") - 1] if "}" in texts else ())
    if not inner:
        return "what a procedure finds is not known here; ask for nodes and relationships"
    before = passed if opened else held if inner[0][1].upper() == "WITH" else {}
    if missed := _looked_for(inner, named, before, passed):
        return missed
    for start, end, word in _clauses(inner):
        if word == "RETURN":
            held |= _passed_on(inner[start + 1 : end], {})
    return ""


def _known_at(
    chain: Chain, matched: Sequence[Chain], clauses: Sequence[tuple[int, int, str]], before: Held
) -> Held:
    """What is held where a pattern of a condition stands."""
    until = next(end for start, end, _ in clauses if start <= chain.start < end)
    there = [node.variable for other in matched if other.start < until for node in other.nodes]
    return before | {name: "" for name in there if name and name not in before}


def _clauses(found: Sequence[Token]) -> list[tuple[int, int, str]]:
    """Start, end and first word of the clauses of a text, those of subqueries within the one they are in."""
    starts: list[tuple[int, str]] = []
    depth = 0
    for at, (kind, text, _) in enumerate(found):
        if kind == "mark":
            depth += (text in "([{") - (text in ")]}")
        if not is_clause(found, at, *_CLAUSES):
            continue
        upper = text.upper()
        if upper == "CALL":
            depth = 0
        if not depth and not (upper == "MATCH" and at and found[at - 1][1].upper() == "OPTIONAL"):
            starts.append((at, upper))
    ends = [at for at, _ in starts[1:]] + [len(found)]
    return [(at, end, word) for (at, word), end in zip(starts, ends, strict=True)]


def _is_condition(found: Sequence[Token], chain: Chain, clauses: Sequence[tuple[int, int, str]]) -> bool:
    """Whether a pattern of a MATCH stands in its WHERE."""
    start = next(start for start, end, _ in clauses if start <= chain.start < end)
    return any(token[0] == "word" and token[1].upper() == "WHERE" for token in found[start : chain.start])


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


def _missed(group: Collection[Chain], held: Held, named: frozenset[str]) -> str:
    """The first node of patterns that are matched together that is not found from a run that is named.

    Their variables are ``held`` from then on.
    """
    nodes: dict[object, list[PatternNode]] = {}
    steps: list[tuple[object, PatternStep, object]] = []
    for chain in group:
        keys = [node.variable or (chain.start, number) for number, node in enumerate(chain.nodes)]
        for key, node in zip(keys, chain.nodes, strict=True):
            nodes.setdefault(key, []).append(node)
        steps += zip(keys, chain.steps, keys[1:], strict=False)
    sides = {key: _side(key, some, steps) or held.get(str(key), "") for key, some in nodes.items()}
    reached = {key for key, some in nodes.items() if key in held or any(_is_named(n, named) for n in some)}
    while more := {
        there
        for a, step, b in steps
        for here, there, away in ((a, b, ">"), (b, a, "<"))
        if here in reached and there not in reached and _leads(step, away, sides[here])
    }:
        reached |= more
    held |= {str(key): sides[key] for key in nodes if isinstance(key, str)}
    if missed := [some[0] for key, some in nodes.items() if key not in reached]:
        return _anchored(missed[0])
    for first, step, last in steps:  # what lies between the ends of a long one, too
        if step.is_long and not (_leads(step, ">", sides[first]) or _leads(step, "<", sides[last])):
            return "a pattern of variable length leads through any run; give it a type and an arrow"
    return ""


def _anchored(node: PatternNode) -> str:
    """That a node is not reached, and a pattern that reaches it.

    >>> _anchored(PatternNode("t", frozenset({"Transaction"}))).partition("; ")[2]
    'reach it as in MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)'
    """
    label = min(node.labels, default="")
    leading = [type_ for type_, pairs in _ENDS.items() if ("Run", label) in pairs]
    if label and _RECORDS.get(label, "topology") == "topology":
        leading = ["RAN_ON]->(:Topology)-[:CONTAINS*"] if label not in ("Topology", "Link") else []
    shown = f"({node.variable}{':' * bool(label)}{label})"
    way = f"[:{leading[0]}]" if leading else "[...]"
    anchor = (
        f"({node.variable}:Run {{id: $run}})" if label == "Run" else f"(:Run {{id: $run}})-{way}->{shown}"
    )
    return f"{shown} is not certain to be reached from its run; reach it as in MATCH {anchor}"


def _is_named(node: PatternNode, named: frozenset[str]) -> bool:
    return "Run" in node.labels and len(node.labels) == 1 and node.properties.get("id") in named


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
