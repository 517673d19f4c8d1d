"""Results of a user's own on the nodes of a kept run's graph, where Cypher sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kernbench.analysis.annotations import Key, annotation_tables
from kernbench.api.readings import own_value
from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, run_id
from kernbench.errors import UsageError
from kernbench.support.hints import suggestion
from kernbench.support.pgraph import MARKED, NOTE, SCHEMA, GraphNode, GraphStore, RunRecord, TopologyRecord

_LONGEST = 200
_OWN = ("betweenness", "pagerank", "community")
"""Annotations that questions make."""


def annotate(run: str | Run, name: str, values: Mapping[Any, Any], store: Store = None) -> int:
    """Put a result of your own onto nodes of a run's graph: a number, or a text, for each.

    They are kept beside the run and are in its graph from then on, in every store that it is copied to:
    ``MATCH (:Run {id: $run})-[:ANNOTATED]->(:Annotation {name: 'heat'})-[m:MARKS]->(c:Component) RETURN
    c.name AS component, m.value AS heat``; of texts ``m.text``. What had the name before is replaced.

    Args:
        run: a run, its id, or a reference such as ``last``.
        name: what the result is called.
        values: numbers (or truths), or texts, by node. A node is a key of :attr:`Run.graph` such as
            ``("Op", 7)``, a node from a query, an ``id`` of one, or the name of a component or link. Without
            any, what has the name is removed.
        store: a store, its URL, or None for the default one; that of ``run`` where it is one.

    Returns:
        The number of nodes that have a value now.

    Raises:
        UsageError: a node does not exist, a value is not a finite number or a text, or numbers and texts are
            mixed.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST or not name.isprintable():
        raise UsageError(f"name: {name!r} cannot be a name; give one of 1 to {_LONGEST} printable characters")
    if name in _OWN:
        raise UsageError(f"name: '{name}' is reserved for results of questions; give another name")
    given = run.store if isinstance(run, Run) and store is None else store
    with borrowed(given) as opened:
        target = run.id if isinstance(run, Run) else run_id(opened, run)
        found = _values(opened, target, values)
        opened.add(target, f"{NOTE}{name}", annotation_tables(name, found) if found else {})
        return len(found)


def _values(store: GraphStore, run: str, values: Mapping[Any, Any]) -> dict[Key, float | str]:
    """The values by label and key."""
    nodes = _Nodes(store.load(run), store)
    found = {nodes.key(node): _value(node, value) for node, value in values.items()}
    if len({isinstance(value, str) for value in found.values()}) > 1:
        raise UsageError("values: some are numbers and some are texts; annotate with each under its own name")
    if len(found) < len(values):
        raise UsageError("values: a node is given twice, by two of its names; leave one out")
    return found


def _value(node: object, value: object) -> float | str:
    plain = own_value(value, f"values: that of {node!r}")
    return plain if isinstance(plain, str) else float(plain)


class _Nodes:
    """Finds the nodes of a run that users name."""

    def __init__(self, run: RunRecord, store: GraphStore) -> None:
        self._run = run
        self._machine: TopologyRecord = store.load_topology(str(run.info["topology"]))
        self._known: dict[str, set[Any]] = {}

    def key(self, node: object) -> Key:
        """Label and key of the node that is meant; ``UsageError`` where there is none."""
        for label, key in self._meant(node):
            if key in self._keys(label):
                return label, key
        names = self._keys("Component") | self._keys("Link")
        hint = suggestion(str(node), sorted(names)).rstrip() if isinstance(node, str) else ""
        raise UsageError(
            f"values: the run has no node {node!r} that can be annotated; "
            + (hint or f"labels of those that can are {', '.join(MARKED)}")
        )

    def _meant(self, node: object) -> Iterable[Key]:
        if isinstance(node, GraphNode) and node.labels and node.labels[0] in MARKED:
            label = SCHEMA.label(node.labels[0])
            if node.id.startswith(f"{self._owner(label.name)}/"):
                yield label.name, node.get(label.key)
        elif isinstance(node, tuple) and len(node) == 2 and node[0] in MARKED:
            yield node[0], node[1]
        elif isinstance(node, str):
            yield from (("Component", node), ("Link", node))
            for name in MARKED:
                label = SCHEMA.label(name)
                begin = f"{self._owner(name)}/{label.prefix}"
                if node.startswith(begin):
                    key = node.removeprefix(begin)
                    number = label.property(label.key).type != "string"
                    if not number or key.isdecimal():
                        yield name, int(key) if number else key

    def _owner(self, label: str) -> str:
        return self._machine.id if SCHEMA.label(label).record == "topology" else str(self._run.info["id"])

    def _keys(self, label: str) -> set[Any]:
        if label not in self._known:
            described = SCHEMA.label(label)
            tables = self._machine.tables if described.record == "topology" else self._run.tables
            self._known[label] = set(tables[label][described.key].to_pylist())
        return self._known[label]
