"""Which rows of a run are enough for a query, by its text and parameters."""

from __future__ import annotations

import pytest
from kernbench_graph.stores.embedded.enough import Between, Enough
from kernbench_graph.stores.embedded.needs import needs

HOPS = "MATCH (:Run {id: $run})-[:USED]->(u:Use)<-[h:HOP]-(t:Transaction) "
SENT = (
    "MATCH (:Run {id: $run})-[:USED]->(:Use {resource: $at})"
    "<-[:FROM]-(f:Transaction)-[:TO]->(:Use {resource: $to}) "
)
THEIRS = "MATCH (f)-[h:HOP]->(u:Use) RETURN count(h) AS n, coalesce(sum(h.bytes), 0) AS bytes"
SPANS = "MATCH (r:Run {id: $run}) UNWIND $spans AS span "
WAITS = SPANS + "MATCH (r)-[:SENT]->(a:Transaction)-[w:WAITED_FOR]->(b:Transaction) "
IN_SPAN = "WHERE w.t_from >= span.begin AND w.t_from < span.until "
COUNTED = "RETURN count(w) AS n, coalesce(sum(w.seq), 0) AS seqs"
_USED = "MATCH (r:Run)-[:USED]->(u:Use) "


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (HOPS + "WHERE u.resource = $at RETURN count(h) AS n", "x"),
        (HOPS + "WHERE u.resource = $at AND NOT h.bytes > 1 WITH t RETURN count(t) AS n", "x"),
        (HOPS.replace("[h", "[") + "WHERE u.resource = $at RETURN count(t) AS n", "x"),
        (HOPS + "WHERE u.resource = $number RETURN count(h) AS n", None),
        (HOPS + "WHERE u.resource = $at OR h.bytes > 1 RETURN count(h) AS n", None),
        (HOPS + "WHERE u.resource = $at = $number RETURN count(h) AS n", None),
        (HOPS + "WHERE t.resource = $at RETURN count(h) AS n", None),
        (HOPS + "WHERE u.kind = $at RETURN count(h) AS n", None),
        (HOPS + "RETURN count(h) AS n", None),
        (HOPS + "WHERE u.resource = $at MATCH (t)-[g:HOP]->(v:Use) RETURN count(g) AS n", None),
        (HOPS + "WHERE u.resource = $at MATCH (t)-[g:`HOP`]->(v:Use) RETURN count(g) AS n", None),
        (HOPS + "WHERE u.resource = $at MATCH (t)-[g]->(v:Use) RETURN count(g) AS n", None),
        ("MATCH (u:Use)<-[h:HOP*1..2]-(t) WHERE u.resource = $at RETURN t", None),
        ("MATCH (u:Use)<-[h:HOP|FROM]-(t) WHERE u.resource = $at RETURN t", None),
        ("RETURN '(u:Use)<-[h:HOP]-(t) WHERE u.resource = $at RETURN ' AS n", None),
    ],
)
def test_hops_of_one_resource_are_enough_where_nothing_else_decides(text: str, place: str | None) -> None:
    found = needs(text, {"run": "r", "at": "x", "number": 1}).enough
    assert found == (() if place is None else (Enough("HOP", "resource", "to", place),))


@pytest.mark.parametrize(
    ("text", "are_enough"),
    [
        (SENT + "WITH f " + THEIRS, True),
        (SENT + "WHERE $kind IN ['', f.kind] WITH f ORDER BY f.number LIMIT 1 " + THEIRS, True),
        (SENT + "WHERE f.bytes > 1 OR f.bytes < 1 WITH f " + THEIRS, False),
        (SENT + THEIRS, False),
        (SENT + "WITH f AS g " + THEIRS, False),
        (SENT + "WITH 1 AS one " + THEIRS, False),
        (SENT + "WITH f.number AS f " + THEIRS, False),
        (SENT + "WITH f WITH 1 AS one " + THEIRS, False),
        (SENT + "WITH f MATCH (g)-[x]->(f) WITH x " + THEIRS, False),
        (SENT.replace("[:FROM]", "[:TO]") + "WITH f " + THEIRS, False),
        (SENT.replace("$to", "$number") + "WITH f " + THEIRS, False),
        (SENT + "WITH f " + THEIRS.replace("(f)", "(g)"), False),
        (SENT + "WITH f MATCH (f)-[g:HOP]->(v:Use) " + THEIRS, False),
        ("MATCH (f:Transaction) WHERE NOT EXISTS {" + SENT + "RETURN 1} WITH f " + THEIRS, False),
    ],
)
def test_hops_between_two_resources_are_enough_where_nothing_else_decides(
    text: str, are_enough: bool
) -> None:
    found = needs(text, {"run": "r", "at": "x", "to": "y", "number": 1, "kind": ""}).enough
    assert found == ((Enough("HOP", "txn", "from", Between("x", "y")),) if are_enough else ())


@pytest.mark.parametrize(
    ("text", "are_enough"),
    [
        (WAITS + IN_SPAN + COUNTED, True),
        (WAITS + IN_SPAN + "AND w.ns > 0.0 " + COUNTED, True),
        (WAITS + IN_SPAN + "MATCH (b)-[:FROM]->(u:Use) RETURN u.resource, sum(w.ns) AS ns", True),
        (WAITS + "WHERE w.t_from >= span.begin " + COUNTED, False),
        (WAITS + IN_SPAN + "OR w.ns > 0.0 " + COUNTED, False),
        (WAITS + "WHERE NOT w.t_from >= span.begin AND w.t_from < span.until " + COUNTED, False),
        (WAITS + IN_SPAN.rstrip() + " + 1.0 " + COUNTED, False),
        (WAITS + "WHERE a.t_from >= span.begin AND w.t_from < span.until " + COUNTED, False),
        (WAITS.replace("WAITED_FOR", "WAITED_FOR*1..2") + IN_SPAN + "RETURN a", False),
        (WAITS.replace("WAITED_FOR", "WAITED_FOR|CAUSED_BY") + IN_SPAN + COUNTED, False),
        (WAITS + IN_SPAN + "MATCH (b)-[x:WAITED_FOR]->(c) " + COUNTED, False),
        (WAITS + IN_SPAN + "MATCH (b)-[x]->(c) " + COUNTED, False),
        (WAITS.replace("MATCH (r)-", "UNWIND $number AS span MATCH (r)-") + IN_SPAN + COUNTED, False),
        (WAITS.replace("MATCH (r)-", "WITH r, {begin: 0} AS span MATCH (r)-") + IN_SPAN + COUNTED, False),
    ],
)
def test_waits_within_a_window_are_enough_where_nothing_else_decides(text: str, are_enough: bool) -> None:
    found = needs(text, {"run": "r", "spans": [{"begin": -1, "until": 2.5}], "number": 1}).enough
    assert found == ((Enough("WAITED_FOR", "t_from", "t_from", ((-1.0, 2.5),)),) if are_enough else ())
