"""A run that accounts for periods and packages says the same as one that has simulated them, wherever asked.

Here periods are equal to the last bit, so that what is estimated and what was simulated can be compared.
"""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.analysis.use.use_over_time import use_over_time
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.comparing import compare
from kernbench.api.contents import launches, overview
from tests.unit.test_alike_ranks import topo
from tests.unit.test_repeats import repeated

COUNT = 9


@pytest.fixture(scope="module")
def store() -> kb.GraphStore:
    return kb.open_store("memory:")


@pytest.fixture(scope="module")
def whole(store: kb.GraphStore) -> kb.Run:
    return kb.run(repeated(COUNT, COUNT, ranks=True, alike=True), topo=topo(2), store=store)


@pytest.fixture(scope="module")
def part(store: kb.GraphStore) -> kb.Run:
    return kb.run(repeated(COUNT, 3, ranks=True, alike=True), topo=topo(2), store=store)


@pytest.fixture(scope="module")
def exact(store: kb.GraphStore) -> kb.Run:
    return kb.run(repeated(COUNT, 3, ranks=True, alike=True), topo=topo(2), store=store, exact=True)


def test_times_are_those_of_all_periods(part: kb.Run, whole: kb.Run) -> None:
    assert part.sim_ns == pytest.approx(whole.sim_ns, rel=1e-9)
    assert part.latency_ns == pytest.approx(whole.latency_ns, rel=1e-9)


@pytest.mark.parametrize("window", ["run", "all", "setup"])
def test_use_in_windows(part: kb.Run, whole: kb.Run, window: str) -> None:
    found, expected = part.use(window), whole.use(window)
    assert part.window(window).ns == pytest.approx(whole.window(window).ns, rel=1e-9)
    assert found["resource"].tolist() == expected["resource"].tolist()
    for column, rel in (("bytes", 1e-6), ("occupied_ns", 1e-6), ("wait_ns", 0.01)):
        assert found[column].sum() == pytest.approx(expected[column].sum(), rel=rel), column
    for column in ("busy_ns", "utilisation", "transactions"):
        assert found[column].sum() == pytest.approx(expected[column].sum(), rel=0.1), column


@pytest.mark.parametrize("window", ["run", "all", "setup"])
def test_the_critical_path_adds_up_with_the_causes_of_the_last_period(
    part: kb.Run, whole: kb.Run, window: str
) -> None:
    found, expected = part.critical_path(window), whole.critical_path(window)
    assert found.by_cause() == pytest.approx(expected.by_cause(), rel=1e-3, abs=0.1)
    assert sum(step.ns for step in found.steps) == pytest.approx(part.window(window).ns)
    assert any(step.activity == f"{COUNT - 3} more of layer" for step in found.steps)


def test_energy_is_that_of_all_launches(part: kb.Run, whole: kb.Run, exact: kb.Run) -> None:
    for by in ("part", "kind", "line", "launch"):
        sums = [sum(row["energy_pj"] for row in run.energy(by)["rows"]) for run in (part, whole)]
        assert sums[0] == pytest.approx(sums[1], rel=1e-6), by
    parts = [{row["name"]: row["dynamic_pj"] for row in run.energy("part")["rows"]} for run in (part, exact)]
    assert parts[0] == pytest.approx(parts[1], rel=1e-6, abs=1.0)


def test_work_has_the_launches_of_all_packages(part: kb.Run) -> None:
    rows = part.roofline("launch")
    of = {row["launch"]: row for row in rows}
    follows = {one["launch"]: one["follows"] for one in part.launches if "follows" in one}
    assert follows
    for launch, led in follows.items():
        assert of[launch]["flops"] == of[led]["flops"]
        assert of[launch]["tcm_bytes"] == of[led]["tcm_bytes"] > 0


def test_the_same_is_answered_in_cypher(part: kb.Run) -> None:
    text = "MATCH (:Run {id: $run})-[:USED]->(u:Use) RETURN sum(u.bytes) AS bytes"
    assert part.cypher(text).dicts() == [{"bytes": int(part.used["bytes"].sum())}]
    text = (
        "MATCH (:Run {id: $run})-[:IN_WINDOW]->(:Window {name: 'all'})-[t:TOUCHED]->(u:Use) "
        "RETURN sum(t.bytes) AS bytes"
    )
    assert part.cypher(text).dicts() == [{"bytes": int(part.use("all")["bytes"].sum())}]
    text = (
        "MATCH (:Run {id: $run})-[:IN_WINDOW]->(:Window {name: 'all'})-[:HAS_PATH]->(:Path)"
        "-[:HAS_STEP]->(s:Step) RETURN sum(s.ns) AS ns"
    )
    assert part.cypher(text).dicts()[0]["ns"] == pytest.approx(part.kernels_ns)


def test_a_picture_over_time_has_all_of_it(part: kb.Run) -> None:
    names, _, shares = use_over_time(part.tables, part.window("run"), 1)
    used = dict(zip(part.used["resource"].tolist(), part.used["utilisation"].tolist(), strict=True))
    assert dict(zip(names, shares[0].tolist(), strict=True)) == pytest.approx(used, abs=1e-9)


def test_what_was_simulated_is_said(part: kb.Run, exact: kb.Run) -> None:
    said = [text for name, text in overview.facts(part, ChosenWindow()) if name == "estimated"]
    assert said[0].startswith(f"simulated layers 0 to 2 of {COUNT}, package 0 of 2; totals are of all")
    assert said[1].startswith(f"each of the other {COUNT - 3} takes ")
    assert said[1].endswith(" ns or more without the waits of an estimate")
    facts = dict(overview.facts(part, ChosenWindow()))
    assert f" in {6 * COUNT} launches (launch " in facts["latency"]
    assert part.info["accounted"] == said
    assert "accounted" not in exact.info


def test_launches_say_what_was_simulated_for_them_and_how_often_they_happen(
    part: kb.Run, exact: kb.Run
) -> None:
    (grid,) = launches.of_run(part, ChosenWindow()).grids
    names = [column.name for column in grid.columns]
    assert names[:6] == ["launch", "kernel", "rank", "package", "follows", "times"]
    assert {row.get("times") for row in grid.rows} == {None, COUNT - 2}
    assert [row["rank"] for row in grid.rows if row.get("follows") is not None] == [1] * 6
    (plain,) = launches.of_run(exact, ChosenWindow()).grids
    assert not {"follows", "times"} & {column.name for column in plain.columns}


def test_comparisons_say_where_runs_differ_in_it(part: kb.Run, exact: kb.Run, store: kb.GraphStore) -> None:
    found = compare(exact.id, part.id, store=store)
    (more,) = [one for one in found["figures"] if one["name"] == f"{COUNT - 3} more of layer"]
    (one,) = part.table("Repeat").filter([True, False]).to_pylist()
    assert not more["slower"]
    assert (more["before"], more["after"]) == (0.0, pytest.approx(one["to_ns"] - one["from_ns"]))


def test_a_timeline_has_periods_that_were_not_simulated_as_one_bar(part: kb.Run, exact: kb.Run) -> None:
    rows = {row.label: row for row in part.timeline().groups[0].rows}
    assert rows["not simulated"].names == (f"{COUNT - 3} more of layer",)
    (one,) = [one for one in part.info["repeats"] if one["kind"] == "repeat"]
    assert rows["not simulated"].end[0] - rows["not simulated"].begin[0] <= one["to_ns"] - one["from_ns"]
    assert "not simulated" in str(part.timeline())
    assert "not simulated" not in str(exact.timeline())
