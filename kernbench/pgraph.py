"""The one door from KernBench into the ``graph`` package.

The model is imported at once, for the engine is built from it. Stores and questions bring in pyarrow and
a Cypher engine; they are imported when first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kernbench_graph.model import Edge, Node, Properties, PropertyGraph, Value

if TYPE_CHECKING:
    from kernbench_graph.archive.atomic import ScratchFolder
    from kernbench_graph.archive.listing import run_names as archived_run_names
    from kernbench_graph.archive.manifest import not_utf_8
    from kernbench_graph.archive.record import launched_ns, new_run_id
    from kernbench_graph.entities import GraphNode, GraphPath, GraphRelationship, plain_entities
    from kernbench_graph.errors import (
        QueryCancelledError,
        QueryError,
        QuerySyntaxError,
        QueryTimeoutError,
        ReadOnlyError,
        RunNotFoundError,
        StoreError,
        StoreUrlError,
    )
    from kernbench_graph.networkx_view import run_graph
    from kernbench_graph.notebook import html_table
    from kernbench_graph.opening import open_store
    from kernbench_graph.query.guard import parameter_names
    from kernbench_graph.query.library import ask, load_library
    from kernbench_graph.query.library import find as find_question
    from kernbench_graph.query.plans import EXPLAIN, asked_for_plan
    from kernbench_graph.query.printed import printed
    from kernbench_graph.query.question import Question
    from kernbench_graph.running import RunningQuery, asked_by
    from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
    from kernbench_graph.schema_added import MARKED, NOTE
    from kernbench_graph.store import (
        QUERY_TIMEOUT_S,
        GraphStore,
        Result,
        RunRecord,
        TopologyRecord,
    )
    from kernbench_graph.topology import topology_graph, topology_id, topology_record

_LATER = {
    "EXPLAIN": "kernbench_graph.query.plans",
    "GraphNode": "kernbench_graph.entities",
    "GraphPath": "kernbench_graph.entities",
    "GraphRelationship": "kernbench_graph.entities",
    "plain_entities": "kernbench_graph.entities",
    "QUERY_TIMEOUT_S": "kernbench_graph.store",
    "Question": "kernbench_graph.query.question",
    "archived_run_names": "kernbench_graph.archive.listing:run_names",
    "ask": "kernbench_graph.query.library",
    "asked_by": "kernbench_graph.running",
    "asked_for_plan": "kernbench_graph.query.plans",
    "parameter_names": "kernbench_graph.query.guard",
    "printed": "kernbench_graph.query.printed",
    "find_question": "kernbench_graph.query.library:find",
    "launched_ns": "kernbench_graph.archive.record",
    "load_library": "kernbench_graph.query.library",
    "new_run_id": "kernbench_graph.archive.record",
    "not_utf_8": "kernbench_graph.archive.manifest",
    "MARKED": "kernbench_graph.schema_added",
    "NOTE": "kernbench_graph.schema_added",
    "SCHEMA": "kernbench_graph.schema",
    "settings": "kernbench_graph.described",
    "ScratchFolder": "kernbench_graph.archive.atomic",
    "SCHEMA_VERSION": "kernbench_graph.schema",
    "GraphStore": "kernbench_graph.store",
    "QueryCancelledError": "kernbench_graph.errors",
    "QueryError": "kernbench_graph.errors",
    "QuerySyntaxError": "kernbench_graph.errors",
    "QueryTimeoutError": "kernbench_graph.errors",
    "ReadOnlyError": "kernbench_graph.errors",
    "Result": "kernbench_graph.store",
    "RunNotFoundError": "kernbench_graph.errors",
    "RunRecord": "kernbench_graph.store",
    "RunningQuery": "kernbench_graph.running",
    "StoreError": "kernbench_graph.errors",
    "StoreUrlError": "kernbench_graph.errors",
    "TopologyRecord": "kernbench_graph.store",
    "html_table": "kernbench_graph.notebook",
    "open_store": "kernbench_graph.opening",
    "run_graph": "kernbench_graph.networkx_view",
    "topology_graph": "kernbench_graph.topology",
    "topology_id": "kernbench_graph.topology",
    "topology_record": "kernbench_graph.topology",
}

__all__ = [
    "EXPLAIN",
    "MARKED",
    "NOTE",
    "QUERY_TIMEOUT_S",
    "SCHEMA",
    "SCHEMA_VERSION",
    "Edge",
    "GraphNode",
    "GraphPath",
    "GraphRelationship",
    "GraphStore",
    "Node",
    "Properties",
    "PropertyGraph",
    "QueryCancelledError",
    "QueryError",
    "QuerySyntaxError",
    "QueryTimeoutError",
    "Question",
    "ReadOnlyError",
    "Result",
    "RunNotFoundError",
    "RunRecord",
    "RunningQuery",
    "ScratchFolder",
    "StoreError",
    "StoreUrlError",
    "TopologyRecord",
    "Value",
    "archived_run_names",
    "ask",
    "asked_by",
    "asked_for_plan",
    "find_question",
    "html_table",
    "launched_ns",
    "load_library",
    "new_run_id",
    "not_utf_8",
    "open_store",
    "parameter_names",
    "plain_entities",
    "printed",
    "run_graph",
    "topology_graph",
    "topology_id",
    "topology_record",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module, _, theirs = _LATER[name].partition(":")
    value = getattr(importlib.import_module(module), theirs or name)
    globals()[name] = value
    return value
