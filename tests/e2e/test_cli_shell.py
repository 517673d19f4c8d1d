"""The shell: help everywhere, completion, own questions, names of runs, rows that are alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.cli.output import fold

Cli = Callable[..., Any]
RUN = ("run", "--bench", "gemm-single-pe", "--topology", "minimal")
QUESTION = """
name: mine/writes
title: How many writes went to each memory of the machine?
scope: run
params:
  limit: {type: int, default: 3, help: Rows at most.}
returns:
  - {name: memory, type: string, help: Name of the memory.}
  - {name: writes, type: int}
cypher: |
  MATCH (:Run {id: $run})-[:SENT]->(t:Transaction {kind: 'dma_write'})-[:TO]->(u:Use)
  RETURN u.resource AS memory, count(t) AS writes
  ORDER BY memory
  LIMIT $limit
"""


@pytest.mark.parametrize("command", [(), ("runs",), ("topology",)])
def test_without_a_command_there_is_help(cli: Cli, command: tuple[str, ...]) -> None:
    bare, short, long = cli(*command), cli(*command, "-h"), cli(*command, "--help")
    assert bare.status == short.status == 0
    assert bare.out == short.out == long.out
    assert bare.out.startswith("Usage: kernbench")


def test_help_of_one_question(cli: Cli) -> None:
    for argv in (("busiest-links", "--help"), ("-h", "bottleneck/busiest-links")):
        shown = cli("query", *argv)
        assert (shown.status, shown.err) == (0, "")
        assert shown.out.startswith("bottleneck/busiest-links\n")
        assert "limit=20" in shown.out
        assert "utilisation" in shown.out
    assert "Usage: kernbench query" in cli("query", "--help").out
    unknown = cli("query", "busiest-link", "--help")
    assert (unknown.status, "did you mean" in unknown.err) == (2, True)


def test_questions_of_ones_own(cli: Cli, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workdir / "own" / "mine").mkdir(parents=True)
    (workdir / "own" / "mine" / "writes.yaml").write_text(QUESTION, encoding="utf-8")
    assert cli(*RUN).status == 0
    asked = cli("query", "mine/writes", "--queries", "own", "--format", "json")
    assert (asked.status, asked.err) == (0, "")
    assert json.loads(asked.out)["rows"] == [["sip0.cube0.hbm_ctrl.pe0", 1]]
    assert "mine/writes" in cli("query", "--list", "--queries", "own").out
    assert cli("query", "writes").status == 2
    monkeypatch.setenv("KERNBENCH_QUERIES", str(workdir / "own"))
    assert json.loads(cli("query", "writes", "--format", "json").out) == json.loads(asked.out) | {
        "name": "writes"
    }
    taken = QUESTION.replace("mine/writes", "history/runs")
    (workdir / "own" / "history").mkdir()
    (workdir / "own" / "history" / "runs.yaml").write_text(taken, encoding="utf-8")
    twice = cli("query", "writes", "--queries", str(workdir / "own") + os.sep)
    assert (twice.status, "a question 'history/runs' already" in twice.err) == (2, True)


def test_a_folder_of_questions_is_found_from_where_one_is(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("here", "there"):
        (workdir / place / "own" / "mine").mkdir(parents=True)
        text = QUESTION.replace("mine/writes", f"mine/{place}")
        (workdir / place / "own" / "mine" / f"{place}.yaml").write_text(text, encoding="utf-8")
    for place in ("here", "there"):
        monkeypatch.chdir(workdir / place)
        own = [found["name"] for found in kb.questions("own") if found["name"].startswith("mine/")]
        assert own == [f"mine/{place}"]


def test_a_question_outside_of_a_group_is_an_error(cli: Cli, workdir: Path) -> None:
    (workdir / "own").mkdir()
    (workdir / "own" / "writes.yaml").write_text(QUESTION, encoding="utf-8")
    asked = cli("query", "writes", "--queries", "own")
    assert (asked.status, "own/writes.yaml" in asked.err) == (2, True)


def test_a_run_is_named_alike_everywhere(cli: Cli) -> None:
    first = json.loads(cli(*RUN, "--tag", "baseline", "--format", "json").out)["run_id"]
    cli(*RUN, "m=16")
    for name in (first, first[:-2], "baseline", "last~1"):
        for command in (("why",), ("show",), ("what-if", "--no-rerun")):
            for how in ((name,),):
                shown = json.loads(cli(*command, *how, "--format", "json").out)
                assert shown["run_id"] == first, (command, how)
        compared = cli("compare", name, "last", "--format", "json", "--threshold", "900%")
        assert json.loads(compared.out)["before"]["run_id"] == first
        rows = json.loads(cli("query", "path", name, *PATH, "--format", "json").out)["rows"]
        assert rows
        where = (f"before={name}", "after=last")
        assert cli("query", "slower-where", *where).status == 0
    assert cli("runs", "rm", "baseline").out.strip() == first


PATH = ("src=host", "dst=sip0.cube0.sram")

UNKNOWN = [
    (("busiest-links", "kind=pci"), "no link kind 'pci'; did you mean 'pcie'?"),
    (("met-on-link", "resource=sip0.cube0.srm"), "did you mean 'sip0.cube0.sram'?"),
    (("path", *PATH, "via=sip0.cube0.r0c0"), "is not a channel router of 'sip0.cube0.sram'"),
    (("cone", "transaction=4711"), "no transaction 4711; it has 0 to"),
    (("steps", "cause=lnk"), "did you mean 'link'?"),
    (("bench-over-time", "bench=gem"), "no bench 'gem'"),
    (("slower-where", "before=last", "after=none"), "'none'"),
    (("slower-where", "before="), "parameter 'before' is empty; name a run"),
    (("slower-where",), "run 'last~1' does not exist: the store holds 1"),
    (("busiest-links", "--launch", "4"), "no launch 4"),
    (("distances", *PATH[:2], "--launch", "0"), "takes no 'launch'"),
]


def test_what_does_not_exist_is_an_error_with_a_hint(cli: Cli) -> None:
    cli(*RUN)
    for argv, message in UNKNOWN:
        ended = cli("query", *argv)
        assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1), argv
        assert message in ended.err


MISTAKES = {
    "MATCH (t:Transaction) RETRUN t": "Cypher does not allow 'RETRUN' at column 23",
    "MATCH (t:Transaction RETURN t": "Cypher does not allow 'RETURN' at column 22; something is missing "
    "before RETURN",
    "MATCH (t:Transaction)\nWHERE t.bytes > 5 AN t.bytes < 9\nRETURN t": "Cypher does not allow 'AN' "
    "at line 2, column 19",
    "MATCH (t:Transactio) RETURN t.kind AS k": "there is no label 'Transactio' in this graph; did you mean "
    "'Transaction'?",
    "MATCH (t:Transaction) RETURN t.knd AS k": "nothing in this graph has a property 'knd'; did you mean "
    "'kind'?",
}


def test_mistakes_in_cypher_are_marked(cli: Cli) -> None:
    cli(*RUN)
    for text, message in MISTAKES.items():
        ended = cli("query", "last", "--cypher", text)
        first, *marked = ended.err.splitlines()
        assert (ended.status, first) == (2, f"kernbench: error: {message}")
        if "column" in message:
            column = int(message.partition("column ")[2].partition(";")[0])
            line = next(line for line in text.splitlines() if line[column - 1 :].startswith(("RET", "AN ")))
            assert marked == [f"  {line}", " " * (column + 1) + "^"]
        else:
            assert marked == []
    ended = cli("query", "last", "--engine", "ladybug", "--cypher", "MATCH (t:Transaction) RETRUN t")
    assert ended.err.splitlines()[1:] == ["  MATCH (t:Transaction) RETRUN t", " " * 24 + "^"]
    for engine in ("arcadedb", "ladybug"):
        text = "explain  MATCH (t:Transaction)\nRETURN t LIMT 3"
        ended = cli("query", "last", "--engine", engine, "--cypher", text)
        assert ended.err.splitlines()[1:] == ["  RETURN t LIMT 3", " " * 11 + "^"]
        text = "explain  MATCH (t:Transaction) RETRUN t"
        ended = cli("query", "last", "--engine", engine, "--cypher", text)
        assert ended.err.splitlines()[1:] == [f"  {text}", " " * 33 + "^"]


def test_runs_that_differ_in_more_than_one_way(cli: Cli, workdir: Path) -> None:
    cli(*RUN)
    cli(*RUN, "m=16", "--topo", "cube.hbm.pseudo_channels=4")
    found = json.loads(cli("compare", "last~1", "last", "--format", "json").out)
    changed = {(row["what"], row["key"]): (row["before"], row["after"]) for row in found["configured"]}
    assert changed[("parameter", "m")] == (64, 16)
    assert changed[("topology", "cube.hbm.pseudo_channels")] == (8, 4)
    rows = json.loads(cli("runs", "list", "--format", "json").out)["runs"]
    assert rows[0]["changed"] is None
    assert "m=16" in rows[1]["changed"]
    assert "topology cube.hbm.pseudo_channels=4" in rows[1]["changed"]
    cli("run", "--bench", "qkv-gemm", "--topology", "minimal")
    refused = cli("compare", "last~1", "last")
    assert (refused.status, "two different benches" in refused.err) == (2, True)
    assert cli("compare", "last~1", "last", "--any", "--threshold", "9000%").status == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_kernbench(cli: Cli, shell: str) -> None:
    script = cli("completion", shell)
    assert (script.status, script.err) == (0, "")
    assert f"_KERNBENCH_COMPLETE={shell}_complete" in script.out


def completed(words: str, *, cwd: Path) -> list[str]:
    """The completions of a command line, as the script for bash asks for them."""
    env = {**os.environ, "_KERNBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words}
    env["COMP_CWORD"] = str(len(words.split(" ")) - 1)
    done = subprocess.run(
        [str(Path(sys.executable).parent / "kernbench")],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.split()]


def test_names_are_completed(cli: Cli, workdir: Path) -> None:
    cli(*RUN, "--tag", "baseline")
    assert sorted(completed("kernbench wh", cwd=workdir)) == ["what-if", "why"]
    assert completed("kernbench run --bench gemm-s", cwd=workdir) == ["gemm-single-pe"]
    assert completed("kernbench why base", cwd=workdir) == ["baseline"]
    assert "m=" in completed("kernbench run gemm-single-pe ", cwd=workdir)


@pytest.mark.slow
def test_names_of_all_kinds_are_completed(workdir: Path) -> None:
    assert completed("kernbench query bottleneck/busiest-l", cwd=workdir) == ["bottleneck/busiest-links"]
    assert completed("kernbench query busiest-links l", cwd=workdir) == ["last", "launch=", "limit="]
    assert completed("kernbench run gemm-s", cwd=workdir) == ["gemm-single-pe"]
    assert completed("kernbench export perf", cwd=workdir) == ["perfetto"]
    keys = completed("kernbench run gemm-single-pe --topo cube.hbm.ch", cwd=workdir)
    assert keys == ["cube.hbm.channel_gbs="]
    parts = completed("kernbench topology show minimal --from sip0.cube0.pe0.pe_d", cwd=workdir)
    assert parts == ["sip0.cube0.pe0.pe_dma"]
    assert completed("kernbench topology show minimal --from sip", cwd=workdir) == ["sip0."]
    assert completed("kernbench topology check mini", cwd=workdir) == ["minimal"]
    assert completed("kernbench why --store nowhere/at/all x", cwd=workdir) == []


def test_rows_of_symmetric_parts_are_folded() -> None:
    rows = [("sip0.pe0", 1.0), ("sip0.pe1", 1.0 + 1e-12), ("sip0.pe2", 2.0), ("sip0.dma2", 2.0)]
    assert fold(("name", "ns"), rows, ["name"]) == (
        ["name", "ns", "count"],
        [["sip0.pe0", 1.0, 2], ["sip0.pe2", 2.0, 1], ["sip0.dma2", 2.0, 1]],
    )
    mixed = [("a0->b0", 1.0), ("c0->d0", 1.0), ("a1->b1", 1.0), ("c1->d1", 1.0)]
    assert fold(("name", "ns"), mixed, ["name"])[1] == [["a0->b0", 1.0, 2], ["c0->d0", 1.0, 2]]
    assert fold(("name", "ns"), rows[2:], ["name"]) == (["name", "ns"], rows[2:])


def test_nothing_but_names_of_parts_makes_rows_alike() -> None:
    """Ids, texts of JSON, source lines, shapes and cells of any type tell rows apart."""
    columns = ("link", "run", "params", "line", "found")
    rows: list[tuple[object, ...]] = [
        ("a0->b0", "20260101-1", '{"m": 1}', "k.py:7", ["x"]),
        ("a1->b1", "20260101-2", '{"m": 1}', "k.py:7", ["x"]),
        ("a2->b2", "20260101-1", '{"m": 2}', "k.py:7", ["x"]),
        ("a3->b3", "20260101-1", '{"m": 1}', "k.py:8", ["x"]),
        ("a4->b4", "20260101-1", '{"m": 1}', "k.py:7", {"x": 1}),
    ]
    assert fold(columns, rows, ["link"]) == (list(columns), rows)
    again = [*rows, ("a5->b5", *rows[0][1:])]
    assert [row[-1] for row in fold(columns, again, ["link"])[1]] == [2, 1, 1, 1, 1]


def test_rows_that_are_the_answer_stay(cli: Cli) -> None:
    """Four runs are four rows, steps of a path each a row, and so is every row of free Cypher."""
    for m in (32, 64):
        kb.run("gemm-single-pe", "minimal", m=m, k=32, n=32)
    kb.sweep("gemm-single-pe", "minimal", params={"m": [32, 64], "k": 32, "n": 32}, fresh=True)
    listed = cli("query", "history/runs").out.splitlines()
    assert (len(listed), "count" in listed[0]) == (5, False)
    best = cli("query", "history/best-of-sweep", "bench=gemm-single-pe").out.splitlines()
    assert (len(best), "count" in best[0]) == (3, False)
    counted = "MATCH (r:Run)-[:USED]->(u:Use) WHERE r.id = $run RETURN u.kind AS kind, 1 AS one"
    found = json.loads(cli("query", "last", "--cypher", counted, "--format", "json").out)
    shown = cli("query", "last", "--cypher", counted).out.splitlines()
    assert len(shown) == 1 + len(found["rows"])
    assert {name for name, one in all_folds().items() if one} == {
        *("bottleneck/busiest-engines", "bottleneck/busiest-links", "bottleneck/saturation"),
        *("bottleneck/seam-senders", "contention/costly-pairs", "contention/outstanding"),
        *("contention/waits-by-resource", "history/slower-where", "kernel/pe-time"),
        "kernel/engine-follows",
        "energy/by-part",
        "memory/cache-use",
        "memory/row-hits",
    }


def all_folds() -> dict[str, list[str]]:
    return {one["name"]: one["folds"] for one in kb.questions()}


def test_an_empty_answer_says_that_it_is_empty(cli: Cli) -> None:
    assert cli("run", "--bench", "gemm-single-pe", "--topology", "minimal").status == 0
    asked = ("query", "contention/slowest-transactions", "kind=dma_read", "--launch", "setup")
    ended = cli(*asked)
    assert ended.status == 0
    assert len(ended.out.splitlines()) == 1
    assert ended.err == "kernbench: note: no matching rows\n"
    assert cli(*asked, "--format", "json").err == ""
