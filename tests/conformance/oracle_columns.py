"""The raw columns of records, as the oracles read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from kernbench_graph.records import RunRecord, TopologyRecord

Rows = list[tuple[Any, ...]]
Oracle = Callable[[RunRecord, TopologyRecord, Mapping[str, Any]], Rows]


def columns(table: pa.Table) -> dict[str, np.ndarray[Any, Any]]:
    """A table's columns by name: numbers as they are, everything else as objects."""
    return {
        name: table[name].to_numpy()
        if pa.types.is_floating(table[name].type) or pa.types.is_integer(table[name].type)
        else np.array(table[name].to_pylist(), dtype=object)
        for name in table.column_names
    }


def kinds_of(topology: TopologyRecord) -> dict[str, str]:
    """Name of each link and component -> its kind."""
    pairs: dict[str, str] = {}
    for name in ("Link", "Component"):
        part = topology.tables[name]
        pairs |= dict(zip(part["name"].to_pylist(), part["kind"].to_pylist(), strict=True))
    return pairs


def first(rows: Rows, key: Callable[[tuple[Any, ...]], Any], params: Mapping[str, Any]) -> Rows:
    """The rows in order, at most ``limit`` of them where that is a parameter."""
    return sorted(rows, key=key)[: params.get("limit", len(rows))]


def of_model(run: RunRecord, launch: int) -> tuple[str, str]:
    """What the record says that a launch carries out of a model: nodes and line."""
    one = dict(enumerate(run.info.get("launches") or ())).get(launch, {})
    return one.get("model_nodes", ""), one.get("model_line", "")


@dataclass(frozen=True)
class Span:
    """The one stretch of time that the parameters ``from_ns`` and ``to_ns`` choose of a whole run."""

    begin: float
    until: float
    ns: float

    def holds(self, time: float) -> bool:
        """Whether something that happened then counts."""
        return self.begin <= time < self.until


def span_of(run: RunRecord, params: Mapping[str, Any]) -> Span:
    """The window of a question that was asked with ``launch`` ``run``; open where nothing is left out."""
    sim_ns, begin = float(run.info["sim_ns"]), params["from_ns"]
    until = sim_ns if params["to_ns"] < 0 else min(params["to_ns"], sim_ns)
    opened = (begin if begin > 0 else -math.inf, until if until < sim_ns else math.inf)
    return Span(*opened, until - max(begin, 0.0))
