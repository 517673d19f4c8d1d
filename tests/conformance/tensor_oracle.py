"""The traffic of each tensor, access by access, from the raw rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench_graph.store import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first, span_of


def tensor_traffic(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    span = span_of(run, params)
    begun = {op["number"] for op in run.tables["Op"].to_pylist() if span.holds(op["t_start"])}
    accesses = [access for access in run.tables["Access"].to_pylist() if access["op"] in begun]
    placed = run.tables["Placed"]["tensor"].to_pylist()
    rows: Rows = []
    for tensor in run.tables["Tensor"].to_pylist():
        number, nbytes = tensor["number"], tensor["bytes"]
        own = [access for access in accesses if access["tensor"] == number]
        read = [access["bytes"] for access in own if not access["is_write"]]
        written = [access["bytes"] for access in own if access["is_write"]]
        rows.append((
            number, tensor["name"], tensor["shape"], tensor["dtype"], tensor["memory"], placed.count(number),
            nbytes, len(read), sum(read), len(written), sum(written), sum(read) / nbytes,
            sum(written) / nbytes,
        ))  # fmt: skip
    return first(rows, lambda row: (-row[8] - row[10], row[0]), params)


TENSORS: dict[str, Oracle] = {"kernel/tensor-traffic": tensor_traffic}
