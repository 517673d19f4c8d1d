"""A run of each version of the schema, kept for good, opens and answers every question.

``tests/archives/schema-<version>`` is a store in a folder with one run of ``gemm-single-pe`` on ``minimal``,
as the KernBench of its day wrote it. Never write one anew: add a folder when the version is raised.
``repeats-before-least-ns`` has a run that repeats a layer and one with alike packages, kept before runs said
what the waits of an estimate cost.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.schema import READABLE

import kernbench as kb
from kernbench.api.comparing import compare
from tests.conformance.generated_runs import expected

ARCHIVES = Path(__file__).parents[1] / "archives"
TIMES = {2: (987.9899999999998, 461.0999999999999), 3: (987.9899999999998, 461.0999999999999),
         4: (974.1149999999998, 461.0999999999999)}  # fmt: skip
"""Of the run of each version the whole, and that of its kernel, ns; times of the model changed between."""
GIVEN: dict[str, Any] = {
    "resource": "sip0.cube0.pe0.pe_dma", "transaction": 5, "op": 3, "other": 2,
    "src": "sip0.cube0.pe0.pe_dma",
    "dst": "sip0.cube0.hbm_ctrl.pe0", "other_src": "host.cpu", "other_dst": "sip0.cube0.hbm_ctrl.pe0",
    "lost": "sip0.cube0.pe0", "within_ns": 100.0,
}  # fmt: skip


def opened(version: int, tmp_path: Path) -> str:
    return copied(f"schema-{version}", tmp_path)


def copied(name: str, tmp_path: Path) -> str:
    place = tmp_path / name
    shutil.copytree(ARCHIVES / name, place)
    return str(place)


def test_there_is_one_of_every_version_that_is_read() -> None:
    assert sorted(path.name for path in ARCHIVES.glob("schema-*")) == [
        f"schema-{n}" for n in sorted(READABLE)
    ]


@pytest.mark.parametrize("version", sorted(READABLE))
def test_a_kept_run_is_what_it_was(version: int, tmp_path: Path) -> None:
    run = kb.open_run("last", opened(version, tmp_path))
    sim_ns, kernels_ns = TIMES[version]
    assert (run.bench, run.properties["status"], run.sim_ns) == ("gemm-single-pe", "ok", sim_ns)
    (launch,) = run.launches
    assert run.latency_ns == pytest.approx(launch["t_done"] - launch["t_submit"])
    assert run.kernels_ns == pytest.approx(kernels_ns) == launch["t_done"] - launch["t_start"]
    assert run.cypher("MATCH (r:Run) RETURN r.latency_ns AS ns").rows == [(run.latency_ns,)]
    assert run.cypher("MATCH (l:Launch) RETURN l.sip AS sip").rows == [(0,)]
    assert run.critical_path("run").ns == pytest.approx(run.sim_ns)
    assert run.graph.number_of_nodes() > 100


@pytest.mark.slow
def test_every_question_has_the_same_rows_for_all_versions_of_a_run(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    for version in sorted(READABLE):
        with kb.open_store(opened(version, tmp_path)) as store:
            asked_of_runs = [
                question
                for question in kb.questions()
                # Their machine has one PE, which cannot be halved.
                if question["scope"] != "history" and question["name"] != "routing/bisection"
            ]
            expected(store, "last", (question["name"] for question in asked_of_runs))
            for question in asked_of_runs:
                given = {p["name"]: GIVEN[p["name"]] for p in question["params"] if p["default"] is None}
                asked = kb.ask(question["name"], "last", store, given).rows
                # Paths as they are printed, without the id of the machine, which is not the same in all.
                rows = [
                    tuple(str(one) if isinstance(one, kb.GraphPath) else one for one in row) for row in asked
                ]
                first = found.setdefault((question["name"], TIMES[version]), rows)
                assert [tuple(map(_like, row)) for row in first] == rows, (question["name"], version)
    for times in set(TIMES.values()):
        assert sum(bool(rows) for (_, of), rows in found.items() if of == times) > 30


def _like(value: Any) -> Any:
    """A sum over rows may be made in another order."""
    return pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ref", "said", "times"),
    [
        ("last~1", "each of the other 5 takes 167.9 ns", 5),
        ("last", "packages take 1357.1 ns", 1),
    ],
)
def test_a_repeat_from_before_its_waits_were_measured_has_a_bar_that_is_not_known(
    ref: str, said: str, times: int, tmp_path: Path
) -> None:
    place = copied("repeats-before-least-ns", tmp_path)
    run = kb.open_run(ref, place)
    bar = f"{said}, +-1.0 % or more: the cost of waits was not measured in this run; run it again"
    assert run.accounted[1] == bar
    assert run.table("Repeat").select(["times", "least_ns"]).to_pylist() == [{"times": times, "least_ns": 0}]
    assert run.critical_path("run").ns == pytest.approx(run.sim_ns)
    assert run.cypher("MATCH (r:Repeat) RETURN r.times, r.least_ns").rows == [(times, 0.0)]
    assert not compare(ref, ref, place)["slower"]
    run.export("csv", tmp_path / "tables")
    assert '"least_ns"' in (tmp_path / "tables" / "Repeat.csv").read_text(encoding="utf-8")
    kb.write_report(run, tmp_path / "page.html")
    assert bar in (tmp_path / "page.html").read_text(encoding="utf-8")
