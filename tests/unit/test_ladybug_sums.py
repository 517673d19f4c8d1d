"""Sums of LadybugDB have the same last bits whenever a graph is loaded and asked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from kernbench_graph.stores.embedded.engine import LadybugDatabase

ROWS = 200_000
"""More than one thread takes at a time; a graph of that size is loaded in 0.1 s."""


def test_the_last_bits_of_a_sum_are_the_same_each_time() -> None:
    ns = np.random.default_rng(1).random(ROWS) * 1000
    data = pa.table({"id": np.arange(ROWS), "ns": ns})
    asked = "MATCH (h:Hop) RETURN sum(h.ns) AS sum, avg(h.ns) AS mean"
    found = set()
    for _ in range(3):
        with LadybugDatabase() as database:
            database.create(["CREATE NODE TABLE Hop(id INT64, ns DOUBLE, PRIMARY KEY(id))"])
            with database.filling():
                database.copy("Hop", data)
            found |= {tuple(database.query(asked, {}, 10.0).rows[0]) for _ in range(5)}
    assert len(found) == 1
