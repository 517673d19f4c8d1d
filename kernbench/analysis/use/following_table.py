"""What followed what on each engine and memory, and for how long it was idle between, as the graph has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernbench.analysis.trace_tables import RowsOf
from kernbench.support.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa


def followed_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The table ``Followed``: operations on the component that carried them out, transactions at their ends.

    They follow each other in the order in which they began there; ``gap_ns`` is the time before one began in
    which none of those before it was under way.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    op, hop, sent = (run.tables[name] for name in ("Op", "Hop", "Transaction"))
    ops = op.filter(pc.not_equal(op["component"], ""))
    src, dst = (np.asarray(sent[name].to_numpy(zero_copy_only=False), object) for name in ("src", "dst"))
    row = RowsOf(sent["number"].to_numpy()).of(hop["txn"].to_numpy())
    place = np.asarray(hop["resource"].to_numpy(zero_copy_only=False), object)
    hops = hop.filter(pa.array((place == src[row]) | (place == dst[row])))
    found = [
        _pair_neighbours(ops, "op", "component", "number", "t_end"),
        _pair_neighbours(hops, "txn", "resource", "txn", "t_out"),
    ]
    return {"Followed": pa.concat_tables(found)}


def _pair_neighbours(rows: pa.Table, what: str, place: str, number: str, end: str) -> pa.Table:
    """Each of ``rows`` but the first at its place, and the one before it; ``what`` is ``op`` or ``txn``."""
    import pyarrow as pa

    where = rows[place].to_numpy(zero_copy_only=False)
    places, at = np.unique(where.astype(str), return_inverse=True)
    begin, until, numbers = (rows[name].to_numpy() for name in ("t_start", end, number))
    order = np.lexsort((numbers, until, begin, at))
    busy_until = until[order]
    edges = np.flatnonzero(np.diff(at[order])) + 1
    for part in np.split(np.arange(len(order)), edges):
        busy_until[part] = np.maximum.accumulate(busy_until[part])
    later = np.flatnonzero(np.diff(at[order]) == 0) + 1
    one, before = order[later], order[later - 1]
    found = {name: np.full(len(one), -1) for name in ("op", "op_before", "txn", "txn_before")}
    found |= {what: numbers[one], f"{what}_before": numbers[before]}
    return pa.table({
        **{name: pa.array(column, pa.int64()) for name, column in found.items()},
        "resource": pa.array(places[at[one]].tolist(), pa.string()),
        "t_from": pa.array(begin[one], pa.float64()),
        "gap_ns": pa.array(np.maximum(begin[one] - busy_until[later - 1], 0.0), pa.float64()),
    })  # fmt: skip
