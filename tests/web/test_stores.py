"""The page of stores of all three kinds, and of one without a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.page.server.app import App
from kernbench.support.pgraph import GraphStore

BASE = "http://127.0.0.1:8765"
ANSWERS = ("overview", "advice", "machine", "timeline", "path", "waits", "roofline", "runs")


def answers(store: GraphStore) -> dict[str, Any]:
    """All answers about a store with two runs, and one to a question."""
    client = Client(App(store))
    runs = [kb.run("gemm-single-pe", "minimal", params={"m": m}, store=store).id for m in (16, 32)]
    found = {name: client.get(f"/api/{name}?run={runs[1]}", base_url=BASE) for name in ANSWERS}
    found["compare"] = client.get(f"/api/compare?before={runs[0]}&after={runs[1]}", base_url=BASE)
    asked = {"question": "bottleneck/busiest-links", "run": runs[1]}
    found["ask"] = client.post("/api/ask", base_url=BASE, json=asked)
    assert {name: answer.status_code for name, answer in found.items()} == dict.fromkeys(found, 200)
    return {name: answer.json for name, answer in found.items()}


@pytest.fixture(scope="module")
def of_folder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with borrowed(tmp_path_factory.mktemp("stores") / "store") as store:
        return answers(store)


TIMES = ("advice", "machine", "timeline", "path", "waits", "roofline", "ask")


@pytest.mark.slow
def test_a_store_in_memory(of_folder: dict[str, Any]) -> None:
    with borrowed("memory:") as store:
        found = answers(store)
    assert {name: found[name] for name in TIMES} == {name: of_folder[name] for name in TIMES}


@pytest.mark.neo4j
def test_a_store_on_a_server(of_folder: dict[str, Any], neo4j_url: str) -> None:
    with borrowed(neo4j_url) as store:
        found = answers(store)
    assert found["ask"]["engine"] == "neo4j"
    found["ask"]["engine"] = of_folder["ask"]["engine"]
    assert {name: found[name] for name in TIMES} == {name: of_folder[name] for name in TIMES}


def test_a_store_without_runs_says_so(tmp_path: Path) -> None:
    with borrowed(tmp_path / "empty") as store:
        client = Client(App(store))
        found = client.get("/api/overview", base_url=BASE)
        assert found.status_code == 400
        assert "no runs" in found.json["error"]
        assert str(tmp_path) not in found.text
        assert client.get("/api/runs", base_url=BASE).json["runs"] == []
