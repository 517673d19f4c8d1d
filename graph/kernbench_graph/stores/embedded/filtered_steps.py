"""Conditions on a relationship both of whose ends lead on, which LadybugDB 0.22 gets wrong without an error.

Of ``MATCH (a)-[w:WAITED_FOR]->(b), (a)-[:FROM]->(u), (b)-[:FROM]->(v) WHERE w.ns > 0`` it returns
relationships that do not meet the condition, and leaves out some that do: what its filter selected is lost
where it extends from both ends in one pipeline. After a ``WITH`` it plans anew and joins the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kernbench_graph.query.guard import Token
from kernbench_graph.query.patterns import Chain, UnreadPatternError, chains
from kernbench_graph.stores.embedded.refusing import refusal


def check_filtered_steps(clauses: Sequence[Sequence[Token]]) -> None:
    """``QueryError`` where conditions are put on a relationship both of whose ends lead on."""
    for group in _groups(clauses):
        try:
            found = [chain for clause in group if _word(clause) == "MATCH" for chain in chains(clause)]
        except UnreadPatternError:
            raise refusal("a pattern of this form", "write its conditions after WHERE") from None
        conditions = [clause for clause in group if _word(clause) == "WHERE"]
        if name := _filter_steps(found, _of_properties(conditions)):
            raise refusal(
                f"conditions on the relationship {name}, both of whose ends lead on in the same MATCH",
                "write WITH after them, and a MATCH for what each end leads to, with WITH between the two",
            )


def _groups(clauses: Sequence[Sequence[Token]]) -> Iterator[list[Sequence[Token]]]:
    """The MATCH and WHERE clauses that the engine plans as one; an OPTIONAL MATCH is planned by itself."""
    group: list[Sequence[Token]] = []
    optional = False
    for clause in clauses:
        word = _word(clause)
        if word == "WHERE" or (word == "MATCH" and not optional):
            group.append(clause)
        else:
            yield group
            group = [clause]
        optional = word == "OPTIONAL"
    yield group


def _word(clause: Sequence[Token]) -> str:
    return clause[0][1].upper()


def _of_properties(conditions: Sequence[Sequence[Token]]) -> set[str]:
    """The variables whose properties appear in ``conditions``."""
    return {
        clause[at][1].strip("`")
        for clause in conditions
        for at in range(len(clause) - 1)
        if clause[at + 1][1] == "."
    }


def _filter_steps(found: Sequence[Chain], conditions: set[str]) -> str:
    """A relationship with conditions whose ends occur in others too; empty where there is none."""
    ends = [
        # A node without a name is another one each time.
        tuple(chain.nodes[at + by].variable or (number, at + by) for by in (0, 1))
        for number, chain in enumerate(found)
        for at in range(len(chain.steps))
    ]
    steps = [step for chain in found for step in chain.steps]
    touched = Counter(node for pair in ends for node in pair)
    for step, (one, other) in zip(steps, ends, strict=True):
        has_conditions = step.has_properties or step.variable in conditions
        if has_conditions and one != other and touched[one] > 1 and touched[other] > 1:
            return f"'{step.variable}'" if step.variable else "without a name"
    return ""
