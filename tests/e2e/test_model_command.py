"""``kernbench model``: tokens a second by batch and context, the first token, memory, what if, comparison."""

from __future__ import annotations

import json

import pytest

import kernbench as kb
from kernbench.api.models.model import TWICE, faster
from kernbench.api.models.step_time import step
from kernbench.errors import UsageError
from tests.e2e.test_model_steps import SMALL

ASKED = ["model", "small", "--topology", "minimal", "--batch", "1,4", "--context", "64", "--prompt", "32"]


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("store"))
    return kb.model("small", ["minimal", "minimal"], (1, 4), (64,), (32,), what_if=True, store=store)


def test_each_row_is_a_step(answer, tmp_path):
    assert [(row["phase"], row["batch"], row["context"]) for row in answer.steps[:3]] == [
        ("decode", 1, 64),
        ("decode", 4, 64),
        ("prefill", 1, 32),
    ]
    found = step("small", "minimal", "decode", 4, 64, store=str(tmp_path))
    assert answer.steps[1]["ns"] == found.ns
    assert answer.steps[1]["tokens_per_s"] == 4e9 / found.ns
    tokens = answer.content().grids[0].rows[1]
    assert tokens["tokens_s_user"] == 1e9 / found.ns
    assert tokens["mj_token"] == answer.steps[1]["energy_pj"] / 4 / 1e9


def test_a_machine_does_not_differ_from_itself(answer):
    assert [row["change"] for row in answer.steps] == [None] * 3 + [0.0] * 3


def test_what_if_is_simulated_on_a_machine_with_twice_of_it(answer, tmp_path):
    assert len(answer.twice) == 6
    graph = kb.load_topology("minimal")
    for what in TWICE:
        again = step("small", faster(graph, what), "decode", 1, 64, store=str(tmp_path))
        assert answer.twice[0][what] == again.ns
    rates = {n.id: n.properties["slice_gbs"] for n in graph.nodes() if "slice_gbs" in n.properties}
    doubled = faster(graph, "memory")
    assert {doubled.node(name).properties["slice_gbs"] / gbs for name, gbs in rates.items()} == {2.0}


def test_the_command_prints_writes_and_agrees(cli, tmp_path):
    store = ["--store", str(tmp_path / "store")]
    page = tmp_path / "answer.html"
    shown = cli(*ASKED, *store, "--no-energy", "--out", str(page))
    for text in ("token_ms", "first_token_ms", "tokens_s_user", "1 of 1", "activations"):
        assert text in shown.out
        assert text in page.read_text()
    told = json.loads(cli(*ASKED, *store, "--no-energy", "--format", "json").out)
    assert told["machines"] == ["minimal"]
    found = kb.model("small", "minimal", (1, 4), (64,), (32,), energy=False, store=str(tmp_path / "store"))
    assert [row["ns"] for row in told["steps"]] == pytest.approx([row["ns"] for row in found.steps])
    csv = cli(*ASKED, *store, "--no-energy", "--format", "csv").out.splitlines()
    assert len(csv) == 4
    assert "weights_bytes" in csv[0]


def test_what_does_not_fit_is_said_beside_what_does(tmp_path):
    small = {"cube.hbm.capacity_bytes": 3 << 20}
    found = kb.model("small", "minimal", (1, 64), (64,), (), energy=False, topo=small, store=str(tmp_path))
    assert [row["batch"] for row in found.steps] == [1]
    assert [row["batch"] for row in found.refused] == [64]
    assert "does not fit" in found.content().wrong[0]
    with pytest.raises(UsageError, match="does not fit"):
        kb.model("small", "minimal", (64,), (64,), (), topo=small, store=str(tmp_path))


def test_what_does_not_fit_is_answered_where_that_is_asked_and_says_so(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    small = {"cube.hbm.capacity_bytes": 4 << 20}  # room for a layer
    given = {"topo": small, "energy": False, "store": str(tmp_path)}
    with pytest.raises(UsageError, match="does not fit"):
        kb.model(str(tmp_path), "minimal", (1,), (64,), (), **given)
    found = kb.model(str(tmp_path), "minimal", (1,), (64,), (), ignore_capacity=True, **given)
    assert "ignored" in found.content().said[0]
    assert found.steps[0]["memory"]["free"] < 0
