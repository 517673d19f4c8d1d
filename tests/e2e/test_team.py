"""A team's day on a real server: two projects, questions, a backup, thinning out, the backup brought back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Cli = Callable[..., Any]
LISTED = "MATCH (r:Run) RETURN r.project AS project, r.user AS user, count(*) AS runs ORDER BY project, user"
ASKED = (
    ("bottleneck/busiest-links",),
    ("contention/waits-by-resource",),
    ("routing/shortest-routes", "src=sip0.cube0.pe0", "dst=sip0.cube0.sram", "count=2"),
    ("routing/minimum-cut", "src=sip0.cube0.pe0", "dst=sip0.cube0.sram"),
)


def test_a_teams_day_on_a_server(cli: Cli, neo4j_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(*words: str) -> list[dict[str, object]]:
        done = cli(*words, "--format", "json")
        assert done.status == 0, done.err
        rows: list[dict[str, object]] = next(iter(json.loads(done.out).values()))
        return rows

    monkeypatch.setenv("KERNBENCH_STORE", neo4j_url)
    for user, project, k in (("ann", "attention", 16), ("ann", "attention", 32), ("bo", "moe", 16)):
        monkeypatch.setenv("KERNBENCH_USER", user)
        size = ("m=16", f"k={k}", "n=16")
        run = cli("run", "gemm-single-pe", *size, "--topology", "minimal", "--project", project)
        assert run.status == 0, run.err
    first, second = (str(row["run_id"]) for row in said("runs", "list", "--project", "attention"))
    assert [row["user"] for row in said("runs", "list", "--project", "moe")] == ["bo"]
    assert len(said("runs", "list")) == 3
    assert cli("query", "--cypher", LISTED, "--format", "csv").out.splitlines()[1:] == [
        "attention,ann,2",
        "moe,bo,1",
    ]
    monkeypatch.setenv("KERNBENCH_PROJECT", "attention")  # its last run is not that of the others
    compared = cli("compare", "last~1", "last")
    assert compared.status == 1  # slower
    assert first in compared.out
    assert second in compared.out
    assert cli("runs", "tag", "last", "cited").status == 0

    assert cli("runs", "export", first, second, "--store", neo4j_url, "--to", "backup").status == 0
    for words in ASKED:
        there, here = (
            cli("query", words[0], second, *words[1:], "--store", url) for url in (neo4j_url, "backup")
        )
        assert (there.status, there.out) == (0, here.out), (words, there.err, here.err)

    assert said("runs", "prune", "--keep", "0") == [first]  # the tagged one stays, and so does the others'
    monkeypatch.delenv("KERNBENCH_PROJECT")
    assert len(said("runs", "list")) == 2
    assert cli("runs", "import", "--store", neo4j_url, "--from", "backup").status == 0
    assert {str(row["run_id"]) for row in said("runs", "list", "--project", "attention")} == {first, second}
