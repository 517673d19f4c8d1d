"""Where a row leads: the runs, launches, transactions, operations and resources that its cells name.

One rule for all tables, those of questions and of free Cypher among them: a column's name says to which sort
of thing its values belong, and nodes of the graph say it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kernbench.support.pgraph import GraphNode, GraphPath

Sort = Literal["run", "launch", "transaction", "operation", "resource", "question", "line"]

_COLUMNS: Mapping[str, Sort] = {
    **dict.fromkeys(("run_id", "run"), "run"),
    "launch": "launch",
    **dict.fromkeys(
        ("transaction", "txn", "waiter", "holder", "caused_by", "first", "second"), "transaction"
    ),
    **dict.fromkeys(("op", "operation", "parent", "first_op", "second_op"), "operation"),
    **dict.fromkeys(
        ("resource", "location", "link", "component", "place", "src", "dst", "node", "seam", "pe", "cube",
         "waiter_src", "holder_src", "busiest_link", "bottleneck"),
        "resource",
    ),
    **dict.fromkeys(("question", "rule"), "question"),
    **dict.fromkeys(("line", "source", "first_line", "second_line"), "line"),
}  # fmt: skip
_LABELS: Mapping[str, tuple[Sort, str]] = {
    "Run": ("run", "id"),
    "Launch": ("launch", "number"),
    "Transaction": ("transaction", "number"),
    "Op": ("operation", "number"),
    "Use": ("resource", "resource"),
    "Component": ("resource", "name"),
    "Link": ("resource", "name"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that can be opened: a run by id, a resource by name, the others by number in their run."""

    sort: Sort
    key: str | int

    def __str__(self) -> str:
        return f"{self.sort} {self.key}"


def sort_of(column: str) -> Sort | None:
    """The sort of thing that a column of this name holds; None for nothing that opens."""
    return _COLUMNS.get(column)


def targets_of(row: Mapping[str, Any]) -> list[Target]:
    """Everything that a row leads to, in the order of its columns, each once."""
    return list(dict.fromkeys(_targets(row)))


def target_of(node: GraphNode) -> Target | None:
    """What a node of the graph opens."""
    return next(_of_value(node), None)


def _targets(row: Mapping[str, Any]) -> Iterator[Target]:
    # Tables of different things say in a column to which sort each row belongs.
    number_of, name_of = _COLUMNS.get(str(row.get("what", ""))), _COLUMNS.get(str(row.get("by", "")))
    for name, value in row.items():
        if name == "number" and number_of in ("operation", "transaction"):
            yield from _target(number_of, value)
        elif name == "name" and name_of in ("resource", "line"):
            yield from _target(name_of, value)
        elif (sort := _COLUMNS.get(name)) is not None:
            yield from _target(sort, value)
        else:
            yield from _of_value(value)


def _target(sort: Sort, value: Any) -> Iterator[Target]:
    """The target itself; none for -1, an empty text, or a value of the wrong type."""
    if isinstance(value, GraphNode):
        yield from _of_value(value)
    elif sort == "line":
        if isinstance(value, str) and value.rpartition(":")[2].isdigit():
            yield Target(sort, value)
    elif sort in ("run", "resource", "question"):
        if isinstance(value, str) and value:
            yield Target(sort, value)
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        yield Target(sort, value)


def _of_value(value: Any) -> Iterator[Target]:
    """The nodes that a cell of free Cypher holds, those of paths and lists among them."""
    if isinstance(value, GraphNode):
        for label in value.labels:
            if label in _LABELS:
                sort, key = _LABELS[label]
                yield from _target(sort, value.properties.get(key))
                return
    elif isinstance(value, GraphPath):
        yield from _of_value(list(value.nodes))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _of_value(item)
