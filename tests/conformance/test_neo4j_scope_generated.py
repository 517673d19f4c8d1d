"""Whatever a query looks like, its answer of one run does not change when other runs are kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from graph.store import QueryError, open_store
from tests.conformance.graph_records import sample
from tests.property.generated_cypher import queries


@pytest.mark.slow
def test_answers_of_a_run_do_not_change_when_others_are_kept(neo4j_url: str) -> None:
    answers: dict[str, Any] = {}
    refused: dict[str, str] = {}
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="a"))

        @settings(
            max_examples=300,
            derandomize=True,
            database=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
        @given(queries())
        def ask(cypher: str) -> None:
            try:
                ((answers[cypher],),) = store.query(cypher, run="a").rows
            except QueryError as error:
                refused[cypher] = str(error)

        ask()
        assert refused == {}
        assert sum(answer > 0 for answer in answers.values()) > len(answers) / 5
        for name in ("b", "c"):
            store.keep(*sample(id=name, bench="other"))
        again = {cypher: store.query(cypher, run="a").rows[0][0] for cypher in answers}
    assert again == answers
