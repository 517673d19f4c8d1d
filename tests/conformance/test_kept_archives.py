"""A run of each version of the schema, kept for good, opens and answers every question.

``tests/archives/schema-<version>`` is a store in a folder with one run of ``gemm-single-pe`` on ``minimal``,
as the KernBench of its day wrote it. Never write one anew: add a folder when the version is raised.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.schema import READABLE

import kernbench as kb
from tests.conformance.generated_runs import expected

ARCHIVES = Path(__file__).parents[1] / "archives"
GIVEN: dict[str, Any] = {
    "resource": "sip0.cube0.pe0.pe_dma", "transaction": 5, "op": 3, "other": 2,
    "src": "sip0.cube0.pe0.pe_dma",
    "dst": "sip0.cube0.hbm_ctrl.pe0", "other_src": "host.cpu", "other_dst": "sip0.cube0.hbm_ctrl.pe0",
    "lost": "sip0.cube0.pe0", "within_ns": 100.0,
}  # fmt: skip


def opened(version: int, tmp_path: Path) -> str:
    place = tmp_path / str(version)
    shutil.copytree(ARCHIVES / f"schema-{version}", place)
    return str(place)


def test_there_is_one_of_every_version_that_is_read() -> None:
    assert sorted(path.name for path in ARCHIVES.iterdir()) == [f"schema-{n}" for n in sorted(READABLE)]


@pytest.mark.parametrize("version", sorted(READABLE))
def test_a_kept_run_is_what_it_was(version: int, tmp_path: Path) -> None:
    run = kb.open_run("last", opened(version, tmp_path))
    assert (run.bench, run.properties["status"], run.sim_ns) == ("gemm-single-pe", "ok", 987.9899999999998)
    assert run.critical_path("run").ns == pytest.approx(run.sim_ns)
    assert run.graph.number_of_nodes() > 100


@pytest.mark.slow
def test_every_question_has_the_same_rows_for_all_versions(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    for version in sorted(READABLE):
        with kb.open_store(opened(version, tmp_path)) as store:
            asked_of_runs = [question for question in kb.questions() if question["scope"] != "history"]
            expected(store, "last", (question["name"] for question in asked_of_runs))
            for question in asked_of_runs:
                given = {p["name"]: GIVEN[p["name"]] for p in question["params"] if p["default"] is None}
                asked = kb.ask(question["name"], "last", store, given).rows
                # Paths as they are printed, without the id of the machine, which is not the same in all.
                rows = [
                    tuple(str(one) if isinstance(one, kb.GraphPath) else one for one in row) for row in asked
                ]
                assert found.setdefault(question["name"], rows) == rows, (question["name"], version)
    assert sum(map(bool, found.values())) > 30
