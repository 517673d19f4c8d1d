"""Advice: what it says is right about runs that follow it, and how it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as triton_tl
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api import advice
from kernbench.api.contents import overview
from kernbench.cli.main import main
from kernbench.errors import UsageError
from kernbench.support.pgraph import QueryError
from tests.advice_pairs import PAIRS, Pair
from tests.advice_shapes import SHAPES, Shape, experts, squared


@triton.jit
def narrow(x: Any, out: Any, WIDTH: triton_tl.constexpr) -> None:
    """A block copies a few elements."""
    at = triton_tl.program_id(0) * WIDTH + triton_tl.arange(0, WIDTH)
    triton_tl.store(out + at, triton_tl.load(x + at))


RULE = """\
name: mine/stores
title: Which lines write at all?
scope: run
advice: "{line} writes {bytes} bytes: perhaps it need not."
params:
  launch: {type: string, default: all, help: Number of a launch.}
returns:
  - {name: line, type: string}
  - {name: bytes, type: int, unit: bytes}
  - {name: saves_ns, type: float, unit: ns}
cypher: |
  MATCH (:Run {id: $run})-[:LAUNCHED]->(l:Launch)-[:DID]->(o:Op {name: 'dma_write'})
  WHERE $launch IN ['all', toString(l.number)]
  RETURN o.source AS line, sum(o.bytes) AS bytes, 1000000.0 AS saves_ns
  ORDER BY line
"""


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=[pair.rule for pair in PAIRS])
def test_following_advice_saves_what_it_said(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = f"advice/{pair.rule}"
    alone = [one for one in advice.rules() if one.name == rule]  # the others are asked of other runs
    monkeypatch.setattr(advice, "rules", lambda queries=(): alone)
    worse = kb.run(pair.worse, pair.topology, topo=dict(pair.topo))
    better = kb.run(
        pair.better,
        pair.topology,
        topo=dict(pair.topo if pair.better_topo is None else pair.better_topo),
    )
    said = next(one for one in worse.advice() if one["rule"] == rule)
    saved = worse.latency_ns - better.latency_ns
    assert saved == pytest.approx(said["saves_ns"], rel=0.25), said
    assert [one["advice"] for one in better.advice() if one["rule"] == rule and one["share"] > 0.05] == []


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_kernels_as_users_write_them_get_advice_that_holds_or_none(shape: Shape) -> None:
    run = kb.run(shape.program, shape.topology, topo=dict(shape.topo))
    promised: dict[str, float] = {}
    for one in run.advice():
        rule = one["rule"].removeprefix("advice/")
        promised[rule] = promised.get(rule, 0.0) + one["saves_ns"]
    assert promised.keys() == shape.followed.keys()
    for rule, followed in shape.followed.items():
        better = kb.run(followed, shape.topology, topo=dict(shape.topo))
        assert run.latency_ns - better.latency_ns == pytest.approx(promised[rule], rel=0.25), rule


@pytest.mark.slow
def test_pes_that_a_launch_is_not_for_are_not_idle() -> None:
    small = {"system.sips": 1, "sip.cube_mesh": {"w": 2, "h": 2}}
    said = [one for one in kb.run(squared(0), topo=small).advice() if one["rule"] == "advice/idle-pes"]
    assert [one["evidence"]["all_pes"] for one in said] == [32]
    assert "8 of 32 PEs work in launch 0, squares" in said[0]["advice"]
    assert "for_pes=8" in said[0]["advice"]
    assert kb.run(squared(for_pes=8), topo=small).advice() == []
    assert [one["evidence"]["all_pes"] for one in kb.run(squared(for_pes=16), topo=small).advice()] == [16]
    with pytest.raises(
        UsageError, match=r"launch 'squares': for_pes is -1; give how many PEs the job is for"
    ):
        kb.run(squared(for_pes=-1), topo=small)


@pytest.mark.slow
def test_the_time_of_collectives_is_that_of_the_lines_that_call_them() -> None:
    run = kb.run(experts())
    by_line = run.critical_path("all").by_line()
    text = Path(__file__).parents[1].joinpath("advice_shapes.py").read_text(encoding="utf-8").splitlines()
    calls = [f"advice_shapes.py:{n}" for n, line in enumerate(text, 1) if "dist.all_to_all(" in line]
    assert len(calls) == 2
    assert all(by_line[call] > 0.1 * run.kernels_ns for call in calls)
    assert by_line[""] < 0.2 * run.latency_ns
    rows = run.query("critical-path/by-line").dicts()
    assert {row["line"] for row in rows} >= set(calls)
    of_calls = {one.get("call") for one in run.launches if one["kernel"].startswith("all_to_all")}
    assert of_calls == set(calls)
    assert not any(one.get("call") for one in run.launches if one["kernel"] == "expert")
    spoken = {one["evidence"].get("line") for one in run.advice()}
    assert not spoken & set(calls)  # what a collective does within is not the user's to change


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with a run that moves short runs of bytes."""
    store = str(tmp_path_factory.mktemp("advice"))
    kb.run(PAIRS[0].worse, PAIRS[0].topology, store=store)
    return store


@pytest.mark.slow
def test_what_no_rule_speaks_of_is_said_with_the_longest_part_of_the_path(
    kept: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.open_run("last", kept)
    assert run.advice().uncovered is None  # short-runs are about most of it
    monkeypatch.setattr(advice, "rules", lambda queries=(): [])
    left = run.advice().uncovered
    assert left is not None
    path = run.critical_path("all")
    of = [one.ns for one in path.steps if (one.cause, one.location) == (left["cause"], left["location"])]
    assert left["share"] == 1.0
    assert left["ns"] == pytest.approx(sum(of))
    assert left["longest_share"] == pytest.approx(left["ns"] / run.kernels_ns)
    assert all(sum(one.ns for one in path.steps if one.cause == c and one.location == p) <= left["ns"] + 1e-6
               for c, p in {(one.cause, one.location) for one in path.steps})  # fmt: skip
    line = f"its longest part is {left['cause']} at {left['location']}, {left['longest_share']:.0%}"
    assert main(["advise", "--store", kept]) == 0
    assert line in capsys.readouterr().out
    assert run.screen("advice").said == [f"100% of the critical path is covered by no rule; {line}"]


@pytest.mark.slow
def test_kernels_of_triton_get_advice_in_its_words() -> None:
    here = {"sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1}

    def bench(torch: Any) -> None:
        x, out = (torch.from_numpy(np.ones((64, 256), np.float16), name=name) for name in ("x", "out"))
        narrow[(8,)](x, out, WIDTH=16)

    run = kb.run(bench, "default", topo=here)
    assert [(one["language"], one["blocks"]) for one in run.launches] == [("triton", 8)]
    said = {one["rule"]: one for one in run.advice()}
    runs, few = said["advice/short-runs"], said["advice/few-pes"]
    assert runs["evidence"]["language"] == "triton"
    assert "tile_shape" not in runs["advice"]
    assert (few["evidence"]["pes"], few["evidence"]["all_pes"], few["evidence"]["blocks"]) == (1, 8, 8)
    assert not any("for_pes" in one["advice"] or "composite" in one["advice"] for one in said.values())
    assert "advice/idle-pes" not in said


def test_a_run_says_that_its_kernel_took_the_first_configuration() -> None:
    tuned = triton.autotune(configs=[triton.Config({"WIDTH": n}) for n in (16, 32)], key=[])(narrow)

    def bench(torch: Any) -> None:
        x, out = (torch.from_numpy(np.ones((64, 256), np.float16), name=name) for name in ("x", "out"))
        tuned[(8,)](x, out)

    try:
        run = kb.run(bench, "minimal")
        assert [one.get("first_of") for one in run.launches] == [2]
        told = dict(overview.of_run(run, ChosenWindow()).facts)["autotune"]
        assert told == "narrow runs the first of 2 configurations; 'kernbench tune' finds the best"
        chosen = kb.run(bench, "minimal", **{"narrow.WIDTH": 32})
        assert [one.get("first_of") for one in chosen.launches] == [None]
        assert "autotune" not in dict(overview.of_run(chosen, ChosenWindow()).facts)
    finally:
        narrow.tuned = None


def test_advice_is_sorted_and_within_the_critical_path(kept: str) -> None:
    run = kb.open_run("last", kept)
    found = kb.advise(run, least=0.0)
    assert found["run_id"] == run.id
    saves = [one["saves_ns"] for one in found["advice"]]
    assert saves == sorted(saves, reverse=True)
    assert 0.0 <= min(saves) <= max(saves) <= found["ns"] == pytest.approx(run.kernels_ns)
    best = found["advice"][0]
    assert best["rule"] == "advice/short-runs"
    assert "runs of 128 bytes" in best["advice"]
    assert best["evidence"]["runs"] == 256


def test_the_command_prints_what_to_do(
    tmp_path: Path, kept: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNBENCH_STORE", kept)
    (tmp_path / "own" / "mine").mkdir(parents=True)
    (tmp_path / "own" / "mine" / "stores.yaml").write_text(RULE, encoding="utf-8")
    every, few = advice.rules, ("mine/stores", "advice/short-runs")  # all are asked by the test above
    monkeypatch.setattr(
        advice, "rules", lambda queries=(): [one for one in every(queries) if one.name in few]
    )
    assert main(["advise", "--queries", "own", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["advice"][0]["rule"] == "mine/stores"
    assert found["advice"][0]["saves_ns"] == found["ns"]  # never more than there is
    assert main(["advise", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "saves_ns,share,rule,advice"
    assert main(["advise"]) == 0
    assert "[advice/short-runs]" in capsys.readouterr().out
    assert kb.advise("last", kept, least=0.99)["advice"] == []
    assert main(["advise", "--launch", "7"]) == 2
    assert "launch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{line} writes", "{place} writes", r"stores\.yaml: .*advice names \['place'\]"),
        ("saves_ns", "saved_ns", r"stores\.yaml: .*a question with advice takes a launch, and returns"),
    ],
)
def test_a_rule_that_cannot_be_said_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "stores.yaml").write_text(RULE.replace(old, new), encoding="utf-8")
    with pytest.raises(QueryError, match=message):
        kb.questions(queries=[str(tmp_path)])


@pytest.mark.slow
def test_every_question_has_an_answer_about_a_machine_without_pes_and_without_hbm() -> None:
    run = kb.traffic("pattern:neighbour", "mesh-8x8", store="memory:", params={"bytes": 64})
    for question in kb.questions():
        needed = [param for param in question["params"] if param["default"] is None]
        if question["scope"] == "run" and not needed:
            run.query(str(question["name"]))
