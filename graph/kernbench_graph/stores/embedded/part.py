"""The graph of a small run, as far as the library's questions have asked for it, for one process.

A question names the labels and types that it looks at. Copying only these into a copy of the topology's
graph takes a fraction of the time of the whole graph, which then need not be written, read again and kept.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernbench_graph.projection import Projection
from kernbench_graph.query.guard import tokens
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import Result, RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.engine import LadybugDatabase

SMALL_HOPS = 20_000
"""A run of more hops is projected whole, and kept in the cache for other processes."""

_OF_RUNS = (
    frozenset(
        [label.name for label in SCHEMA.labels if label.record == "run"]
        + [rel.type for rel in SCHEMA.relationships]
    )
    - SCHEMA.computed_names()
)
_CLAUSES = frozenset(("MATCH", "WHERE", "AND", "OR", "NOT", "XOR", "RETURN", "WITH", "BY"))


class PartialGraph:
    """A database of one run that gets what it lacks before a question is asked. Safe for several threads."""

    def __init__(self, base: Path, run: RunRecord, topology: TopologyRecord) -> None:
        """``base`` is the file of the topology's graph, with the empty tables of a run."""
        folder = Path(tempfile.mkdtemp(prefix="kernbench-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        try:
            shutil.copyfile(base, folder / base.name)
            self._database = LadybugDatabase(folder / base.name)
            for setting in ("threads=1", "auto_checkpoint=false", "force_checkpoint_on_close=false"):
                self._database.write(f"CALL {setting}", {})
        except BaseException:
            self._remove()
            raise
        self._projection = Projection(topology, run)
        self._there: set[str] = set()
        self._lock = threading.Lock()

    @property
    def is_closed(self) -> bool:
        """Whether it can no longer be asked."""
        return self._database.is_closed

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        """Rows of a query; see :meth:`kernbench_graph.store.GraphStore.query`."""
        with self._lock:
            missing = needed(cypher) - self._there
            if missing and not self.is_closed:
                self._database.write("BEGIN TRANSACTION", {})
                for part in self._projection.parts("run", tuple(sorted(missing))):
                    self._database.copy(part.name, part.data, part.ends)
                self._database.write("COMMIT", {})
                self._there |= missing
        return self._database.query(cypher, params, timeout_s)

    def close(self) -> None:
        """Let go of its file, and remove it."""
        with self._lock:
            self._database.close()
            self._remove()


def needed(cypher: str) -> frozenset[str]:
    """Labels and types of a run that a query looks at; all, where it has a pattern that names none.

    >>> sorted(needed("MATCH (r:Run {id: $run})-[:LAUNCHED]->(l) RETURN count(l) AS n"))
    ['LAUNCHED', 'Launch', 'Run']
    >>> needed("MATCH (n) RETURN n") == needed("MATCH (:Run)-[x]->() RETURN x")
    True
    """
    found = [token for token in tokens(cypher) if token[1] != ";"]
    if not _all_named(found):
        return _OF_RUNS
    names = {text.strip("`") for kind, text, _ in found if kind in ("word", "quoted")} & _OF_RUNS
    ends = {
        end
        for rel in SCHEMA.relationships
        if rel.type in names
        for pair in rel.pairs
        for end in pair
        if end in _OF_RUNS
    }
    return frozenset(names | ends)


def _all_named(found: Sequence[tuple[str, str, int]]) -> bool:
    """Whether every relationship has a type, and every node a label or a relationship beside it."""
    text = [token[1] for token in found] + ["", "", ""]
    for at, (kind, mark, _) in enumerate(found):
        if kind != "mark":
            continue
        if mark == "[" and at and text[at - 1] == "-":
            end = text.index("]", at)
            if ":" not in text[at:end]:
                return False
        elif mark == "-" and text[at + 1] == "-":
            return False
        elif mark == "(":
            before = found[at - 1] if at else ("mark", ",", 0)
            if before[0] == "word" and before[1].upper() not in _CLAUSES:
                continue  # a function's
            if not {text[at + 1], text[at + 2]} & {")", "{"}:
                continue  # a node with a label, or an expression
            end = _closing(text, at)
            joined = before[1] in ("-", ">") or text[end + 1] in ("-", "<")
            if ":" not in text[at : at + 2] and not joined:
                return False
    return True


def _closing(text: Sequence[str], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    return len(text) - 2
