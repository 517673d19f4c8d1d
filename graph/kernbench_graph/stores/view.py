"""The runs that a text sees, the same in every store.

A text about a run sees that run and its topology, and the runs that its other parameters name by their ids,
with theirs. It sees nothing of any other run that the store keeps. A text over all runs sees what the history
has of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kernbench_graph.errors import QueryError, UnknownNameError
from kernbench_graph.projection import HISTORY
from kernbench_graph.query.guard import parameter_names
from kernbench_graph.query.looked_at import ADDED, ALL, looked_at
from kernbench_graph.query.names import used_names
from kernbench_graph.records import is_id
from kernbench_graph.schema import SCHEMA

_WORKED_OUT = SCHEMA.computed_names() | SCHEMA.fact_names()
HISTORY_HAS = f"the graph over all runs has {', '.join(HISTORY)}: name a run for the rest"


def named_runs(
    cypher: str, run: str, params: Mapping[str, Any], is_kept: Callable[[str], bool]
) -> dict[str, str]:
    """The parameters of a text about ``run`` that name runs, ``run`` first, with the ids of these.

    ``is_kept`` says whether there is a run of an id.
    """
    named = {"run": run}
    for name in parameter_names(cypher):
        value = params.get(name)
        if isinstance(value, str) and (value in named.values() or (is_id(value) and is_kept(value))):
            named[name] = value
    return named


def check_computed(names: Iterable[str]) -> None:
    """``QueryError`` where ``names`` have what is worked out; for stores in which nothing does so."""
    if lacking := sorted(_WORKED_OUT.intersection(names)):
        what = ", ".join(lacking)
        raise QueryError(f"{what}: KernBench works that out; open the store with kernbench.open_store")


def check_history(cypher: str) -> None:
    """``QueryError`` where a text over all runs names or may see what only the graph of one run has."""
    used = used_names(cypher)
    for name in (*used.labels, *used.types, *used.either):
        if name in ALL and name not in HISTORY:
            raise UnknownNameError(f"the query asks for {name}, but {HISTORY_HAS}")
    if looked_at(cypher) >= ALL - ADDED:
        raise QueryError(
            "over all runs a query says what it looks at: give every node a label or a relationship beside "
            f"it, and every relationship a type; {HISTORY_HAS}"
        )
