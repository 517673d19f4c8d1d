"""The longest waits of transactions for each other, picked without sorting all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from kernbench.api.deriving.asked import Asked, Rows


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``waiter holder at wait_ns holders`` per wait at ``resource`` of ``min_ns`` or more.

    Longest first, ``limit`` at most; equally long ones by waiter, holder and place.
    """
    waits, limit = asked.tables["WaitedFor"], params["limit"]
    wanted = pc.greater_equal(waits["ns"], params["min_ns"])
    if params["resource"]:
        wanted = pc.and_(wanted, pc.equal(waits["resource"], params["resource"]))
    waits = waits.filter(wanted)
    if 0 < limit < waits.num_rows:
        ns = waits["ns"].to_numpy()
        waits = waits.filter(ns >= np.partition(ns, -limit)[-limit])
    order = [("ns", "descending"), ("txn", "ascending"), ("holder", "ascending"), ("resource", "ascending")]
    # Table.sort_by would leave threads behind: see graph.archive.
    first = pc.sort_indices(waits, sort_keys=order).slice(0, limit)
    return [
        {
            "waiter": wait["txn"],
            "holder": wait["holder"],
            "at": wait["resource"],
            "wait_ns": wait["ns"],
            "holders": wait["holders"],
        }
        for wait in waits.take(first).to_pylist()
    ]
