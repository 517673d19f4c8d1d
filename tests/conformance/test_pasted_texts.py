"""Every question that is a text of its own, printed and pasted into Neo4j through the plain driver.

Its rows are those of ``kernbench query`` on that server and in a folder. What these are held against is in
the other modules.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.asking import library, print_question
from kernbench.api.kept_runs import copy_runs
from tests.compiled import compiled
from tests.neo4j_server import Running
from tests.small_machines import TWO_PES

BENCHES = ("matmul-composite", "ipcq-allreduce")
_COMMAND = re.compile(r"^:param (\w+) => (.*)$", re.MULTILINE)


def parameters(run: kb.Run) -> dict[str, Any]:
    """Values for parameters without defaults, which name something in the run."""
    first = run.tables["Transaction"].slice(0, 1).to_pylist()[0]
    places = run.tables["Hop"]["resource"].to_pylist()
    return {
        "resource": max(sorted(set(places)), key=places.count), "transaction": 5, "op": 3, "other": 2,
        "src": first["src"], "dst": first["dst"], "other_src": first["src"], "other_dst": first["dst"],
        "lost": "sip0.cube0", "within_ns": 100.0, "bench": run.bench, "key": "seed",
    }  # fmt: skip


def windows(run: kb.Run, question: dict[str, Any]) -> list[dict[str, Any]]:
    """Windows that a question is asked about."""
    if not {"launch", "from_ns", "to_ns"} <= {param["name"] for param in question["params"]}:
        return [{}]
    return [{}, {"launch": "run", "from_ns": run.sim_ns / 4, "to_ns": run.sim_ns / 2}]


def asked(run: kb.Run) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, parameters and window of everything that is asked about a run."""
    known, found = parameters(run), []
    for question in kb.questions():
        given = {p["name"]: known[p["name"]] for p in question["params"] if p["default"] is None}
        if any(p["name"] == "limit" for p in question["params"]):
            given["limit"] = 1000
        found += [(question["name"], given, window) for window in windows(run, question)]
    return found


def same(first: Any, second: Any) -> bool:
    if hasattr(first, "nodes") and hasattr(second, "nodes"):  # paths, also those of the plain driver
        return [node["id"] for node in first.nodes] == [node["id"] for node in second.nodes]
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)
    return bool(first == second)


def differ(first: Any, second: Any) -> bool:
    return len(first) != len(second) or not all(
        all(map(same, one, other)) for one, other in zip(first, second, strict=True)
    )


@pytest.mark.slow
def test_a_printed_text_sets_its_parameters_and_names_its_run(tmp_path: Path) -> None:
    kb.run("qkv-gemm", compiled("minimal", TWO_PES), store=tmp_path)
    run = kb.run("qkv-gemm", compiled("minimal", TWO_PES), store=tmp_path)
    for name, given, window in asked(run):
        for form in ("neo4j", "cypher-shell"):
            text = print_question(name, run.id, tmp_path, given, form=form, **window)
            assert text.startswith((":param", "MATCH"))
            assert text.endswith(";")
            used = set(re.findall(r"\$(\w+)", text.partition("MATCH")[2]))
            assert used <= set(re.findall(r"(\w+)(?: =>|:) ", text.partition("MATCH")[0])), name


def test_a_text_that_rests_on_an_analysis_says_what_it_needs(tmp_path: Path) -> None:
    kb.run("gemm-single-pe", compiled("minimal", TWO_PES), store=tmp_path)
    run = kb.run("gemm-single-pe", compiled("minimal", TWO_PES), store=tmp_path)
    for name, given, window in asked(run):
        analysis = library()[name].works_out
        text = print_question(name, run.id, tmp_path, given, **window)
        assert (f"\n// No rows before the server has the analysis '{analysis}'" in text) == bool(analysis), (
            name
        )
        assert (f"'kernbench query {name} --store" in text) == bool(analysis)


def test_transactions_that_share_a_wire_cross_it_once_each(tmp_path: Path) -> None:
    """LadybugDB multiplies counts where one WHERE has conditions on a hop and on its transaction."""
    run = kb.run("ipcq-allreduce", compiled("minimal", TWO_PES), store=tmp_path)
    found = kb.ask("routing/wires-between-packages", run.id, tmp_path).rows
    hops = [
        (sent["kind"], hop["resource"], sent["bytes"])
        for sent in run.tables["Transaction"].to_pylist()
        for hop in run.tables["Hop"].to_pylist()
        if hop["txn"] == sent["number"] and hop["bytes"] and hop["resource"].startswith("fabric.switch0->")
    ]
    writes = [nbytes for kind, _, nbytes in hops if kind == "host_write"]
    assert len(writes) > 1
    assert tuple(found[0]) == ("host_write", 1, len(writes), sum(writes), 1.0)
    one = kb.ask("routing/wires-between-packages", run.id, tmp_path, {"kind": "map"}).rows
    assert [tuple(row)[:2] for row in one] == [("map", 1)]


@pytest.mark.neo4j
def test_a_pasted_text_has_the_rows_of_a_question(
    neo4j_url: str, neo4j_server: Running, tmp_path: Path
) -> None:
    from neo4j import GraphDatabase

    runs = [kb.run(bench, compiled("minimal", TWO_PES), store=tmp_path) for bench in BENCHES]
    compared, wrong = 0, list[Any]()
    with (
        kb.open_store(tmp_path) as folder,
        kb.open_store(neo4j_url) as server,
        GraphDatabase.driver(
            neo4j_url, auth=("neo4j", neo4j_server.password), notifications_min_severity="OFF"
        ) as driver,
    ):
        copy_runs([run.id for run in runs], folder, server)
        for run in runs:
            for name, given, window in asked(run):
                rows = kb.ask(name, run.id, folder, given, **window).rows
                text = print_question(name, run.id, server, given, form="cypher-shell", **window)
                values = {key: eval_literal(value) for key, value in _COMMAND.findall(text)}
                with driver.session(default_access_mode="READ") as session:
                    found = session.run(_COMMAND.sub("", text), values).values()
                asked_there = kb.ask(name, run.id, server, given, **window).rows
                wrong += [
                    (name, window, other[:2], rows[:2])
                    for other in (found, asked_there)
                    if differ(other, rows)
                ]
                compared += len(rows)
    assert not wrong
    assert compared > 1000


def eval_literal(text: str) -> Any:
    """The value of a literal of Cypher, as the client that it is pasted into reads it."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("'"):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return float(text) if set(".e") & set(text) else int(text)
