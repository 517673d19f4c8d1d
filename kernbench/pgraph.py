"""The one door from KernBench into the ``graph`` package.

The model is imported at once, for the engine is built from it. Stores and questions bring in pyarrow and
a Cypher engine; they are imported when first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from graph.model import Edge, Node, Properties, PropertyGraph, Value

if TYPE_CHECKING:
    from graph.question import Question
    from graph.questions import ask, load_library
    from graph.questions import find as find_question
    from graph.schema import SCHEMA_VERSION
    from graph.store import (
        GraphStore,
        QueryError,
        QueryTimeoutError,
        ReadOnlyError,
        Result,
        RunNotFoundError,
        RunRecord,
        StoreError,
        StoreUrlError,
        TopologyRecord,
        open_store,
    )
    from graph.stores.networkx_view import run_graph

_LATER = {
    "Question": "graph.question",
    "ask": "graph.questions",
    "find_question": "graph.questions:find",
    "load_library": "graph.questions",
    "SCHEMA_VERSION": "graph.schema",
    "GraphStore": "graph.store",
    "QueryError": "graph.store",
    "QueryTimeoutError": "graph.store",
    "ReadOnlyError": "graph.store",
    "Result": "graph.store",
    "RunNotFoundError": "graph.store",
    "RunRecord": "graph.store",
    "StoreError": "graph.store",
    "StoreUrlError": "graph.store",
    "TopologyRecord": "graph.store",
    "open_store": "graph.store",
    "run_graph": "graph.stores.networkx_view",
}

__all__ = [
    "SCHEMA_VERSION",
    "Edge",
    "GraphStore",
    "Node",
    "Properties",
    "PropertyGraph",
    "QueryError",
    "QueryTimeoutError",
    "Question",
    "ReadOnlyError",
    "Result",
    "RunNotFoundError",
    "RunRecord",
    "StoreError",
    "StoreUrlError",
    "TopologyRecord",
    "Value",
    "ask",
    "find_question",
    "load_library",
    "open_store",
    "run_graph",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module, _, theirs = _LATER[name].partition(":")
    value = getattr(importlib.import_module(module), theirs or name)
    globals()[name] = value
    return value
