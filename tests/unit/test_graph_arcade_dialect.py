"""A WITH that orders by what it does not pass on is written so that ArcadeDB keeps the order."""

from __future__ import annotations

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.stores.arcade.dialect import dialect

WRITTEN = {
    "MATCH (t)-[h:HOP]->(u) WITH u ORDER BY h.seq LIMIT 3 RETURN u": "MATCH (t)-[h:HOP]->(u) WITH u, h.seq "
    "AS `order 0` ORDER BY `order 0` LIMIT 3 RETURN u",
    "MATCH (t) WITH t.kind AS k, count(*) > 1 AS x ORDER BY -count(*) WHERE x RETURN k": "MATCH (t) WITH "
    "t.kind AS `value 0`, count(*) AS `value 1` WITH `value 0` AS k, `value 1` > 1 AS x, -`value 1` AS "
    "`order 0` ORDER BY `order 0` WHERE x RETURN k",
    "MATCH (t)-[h]->(u) WITH t, u.name AS n ORDER BY t.x, h.a + h.b DESC, n WHERE n > '' RETURN n": "MATCH "
    "(t)-[h]->(u) WITH t, u.name AS n, h.a + h.b AS `order 0` ORDER BY t.x, `order 0` DESC, n WHERE n > '' "
    "RETURN n",
}
AS_IT_IS = (
    "MATCH (t)-[h]->(u) WITH u, h ORDER BY h.seq RETURN u",
    "MATCH (t)-[h]->(u) WITH * ORDER BY h.seq RETURN u",
    "MATCH (t)-[h]->(u) WITH u.kind AS k, count(*) AS n ORDER BY u.kind RETURN k, n",
    "MATCH (t)-[h]->(u) WHERE t.name STARTS WITH 'a' RETURN u ORDER BY h.seq",
    "MATCH (t) WITH t ORDER BY size(t.name) DESC, t.kind IS NULL, $x RETURN t",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_keys_are_passed_on(text: str) -> None:
    assert dialect(text) == WRITTEN[text]


@pytest.mark.parametrize("text", AS_IT_IS)
def test_what_is_right_stays(text: str) -> None:
    assert dialect(text) == text


def test_where_it_would_be_seen_it_is_refused() -> None:
    with pytest.raises(QueryError, match="pass 'h' on there"):
        dialect("MATCH (t)-[h]->(u) WITH u ORDER BY h.seq RETURN *")
