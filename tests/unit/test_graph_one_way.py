"""HOP is stored from its transactions alone: found from either end, and not followed both ways at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernbench_graph.errors import QueryError

import kernbench as kb
from kernbench.support.pgraph import GraphStore


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    """A store with one run."""
    with kb.open_store("memory:") as opened:
        kb.run("gemm-single-pe", "minimal", store=opened)
        yield opened


def test_hops_are_found_from_either_end(store: GraphStore) -> None:
    counted = "count(*) AS hops, sum(h.bytes) AS bytes"
    ahead = store.query(
        f"MATCH (:Transaction)-[h:HOP]->(:Use) RETURN {counted}", run="last", engine="ladybug", proved=True
    )
    back = store.query(
        f"MATCH (:Use)<-[h:HOP]-(:Transaction) RETURN {counted}", run="last", engine="ladybug", proved=True
    )
    hops = store.load(store.resolve("last")).tables["Hop"]
    assert ahead.rows == back.rows == [(hops.num_rows, sum(hops["bytes"].to_pylist()))]


def test_an_end_is_found_by_what_lies_at_the_other(store: GraphStore) -> None:
    hops = store.load(store.resolve("last")).tables["Hop"].to_pylist()
    place = hops[-1]["resource"]
    asked = "MATCH (u:Use {resource: $place})<-[:HOP]-(t:Transaction) RETURN DISTINCT t.number AS number"
    found = store.query(asked, {"place": place}, run="last", engine="ladybug", proved=True)
    assert {row[0] for row in found.rows} == {hop["txn"] for hop in hops if hop["resource"] == place}


@pytest.mark.parametrize(
    "pattern", ["(t)-[:HOP]-(u)", "(u:Use)-[:HOP]-(t:Transaction)", "(t:Transaction)--(u)"]
)
def test_following_them_both_ways_is_refused_with_the_remedy(store: GraphStore, pattern: str) -> None:
    with pytest.raises(
        QueryError, match=r"HOP in both directions; write \(t:Transaction\)-\[:HOP\]->\(u:Use\)"
    ):
        store.query(f"MATCH {pattern} RETURN count(*)", run="last", engine="ladybug", proved=True)
