"""Utilisation and occupancy of a part are one number on every screen, in every table and in every picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.use.use_over_time import use_over_time
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.analysis.windows.time_window import WHOLE
from kernbench.api.contents.windows import windows
from kernbench.draw.colours import percent
from kernbench.draw.machine import VIEWS
from kernbench.draw.machine.model import role
from kernbench.page.answers import Answers
from kernbench.page.machine import machine_use
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.machine import MachineTree
from kernbench.tui.models.resource_page import resource_page, shares_of
from kernbench.tui.models.run_page import run_page
from tests.page_tables import records
from tests.small_machines import small

Figures = dict[str, tuple[float, float]]
"""Utilisation and occupancy by component and link."""


@pytest.fixture(scope="module", params=["launch", pytest.param("traffic", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest) -> kb.Run:
    """A kernel on one PE; and reads that begin late, so that the run lasts longer than they do."""
    if request.param == "launch":
        return kb.run("gemm-single-pe", "minimal", store="memory:")
    flows = [
        {"src": f"sip0.cube0.pe{pe}", "dst": "sip0.cube0.hbm_ctrl.pe0", "op": "read", "bytes": 4096,
         "start_ns": 200.0}
        for pe in range(2)
    ]  # fmt: skip
    return kb.traffic(flows, small("va"), store="memory:")


@pytest.fixture(params=["all", pytest.param("run", marks=pytest.mark.slow)])
def launch(request: pytest.FixtureRequest) -> str:
    """The windows that screens show."""
    return str(request.param)


def of_use(run: kb.Run, launch: str) -> Figures:
    used = run.use(launch)
    columns = (used[name].tolist() for name in ("resource", "utilisation", "occupancy"))
    return {name: (share, occupied) for name, share, occupied in zip(*columns, strict=True)}


def of_rows(rows: Iterable[Mapping[str, Any]], name: str = "resource") -> Figures:
    return {row[name]: (row["utilisation"], row["occupancy"]) for row in rows}


def of_table(table: Mapping[str, Any], name: str = "resource") -> Figures:
    """A table of the page."""
    return of_rows(records(table), name)


def busiest(overview: Mapping[str, Any]) -> dict[str, Any]:
    """The page's table of the busiest parts."""
    found: dict[str, Any] = next(one["table"] for one in overview["grids"] if one["key"] == "busiest")
    return found


def agree(found: Figures, wanted: Figures, least: int = 5) -> None:
    assert len(found) >= least
    for name, figures in found.items():
        assert figures == pytest.approx(wanted[name], abs=1e-9), name


def inside(report: Path) -> dict[str, Any]:
    """The answers in a report's file."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', report.read_text(), re.S)
    assert found is not None
    answers: dict[str, Any] = json.loads(found[1])["answers"]
    return answers


def test_tables_agree(run: kb.Run, launch: str, tmp_path: Path) -> None:
    """Those of Python, the questions, the page, the report and the terminal UI."""
    wanted = of_use(run, launch)
    store = run.store
    kept = kb.open_run(run.id, store)
    summary = kept.summary(1000, launch)
    for key in ("busiest", "busiest_links", "busiest_engines", "most_waited_for"):
        agree(of_rows(summary.get(key, ())), wanted, 0)
    assert len(summary["busiest"]) > 5
    agree(of_rows(run.summary(1000)["busiest"]), of_use(run, "all"))
    if isinstance(run, kb.TrafficRun):
        agree(of_rows(run.busiest(1000)), of_use(run, "all"))
        used = run.use("all")
        for row in run.link_kinds:
            share = max(used["utilisation"][used["kind"] == row["kind"]], default=0.0)
            assert share == pytest.approx(row["max_utilisation"], abs=1e-9), row["kind"]

    answers, asked = Answers(store), {"run": run.id, "launch": launch}
    agree(of_table(busiest(answers.answer("overview", asked))), wanted)
    if isinstance(run, kb.TrafficRun) == (
        launch == "all"
    ):  # each run and each window once: a report asks all
        report = inside(Path(kb.write_report(run, tmp_path / "report.html", launch=launch)))
        agree(of_table(busiest(report["overview"])), wanted)
    for name, column in (("busiest-links", "link"), ("busiest-engines", "component")):
        agree(of_rows(run.query(name, launch=launch, limit=1000).dicts(), column), wanted)
        cut = {"from_ns": 0.0, "to_ns": run.sim_ns}  # worked out by the database from hops and operations
        agree(of_rows(run.query(name, launch=launch, limit=1000, **cut).dicts(), column), wanted)
        question = {"question": f"bottleneck/{name}", "params": {"limit": 1000}}
        unfolded = answers.answer("ask", {**asked, **question})["table"]
        agree({n: f for n, f in of_table(unfolded, column).items() if n in wanted}, wanted, 1)

    opened, window = Browser(store).run(run.id), ChosenWindow(launch)
    table = next(one.load() for one in run_page(opened, window).sections if one.name == "Parts")
    agree(of_rows(table.record(row) for row in range(len(table))), wanted)
    shares = shares_of(opened, window)
    agree({name: (one.utilisation, one.occupancy) for name, one in shares.items()}, wanted)
    for name in list(wanted)[:4]:
        said = dict(resource_page(opened, name, window).facts)["used"]
        assert said.startswith(str(shares[name])), name


def test_timelines_agree(run: kb.Run, launch: str) -> None:
    wanted = of_use(run, launch)
    drawn = run.timeline(launch, links=True, rows=0, fold=False).to_dict()
    rows = {row["place"]: row["occupancy"] for group in drawn["groups"] for row in group["rows"]}
    assert len(rows.keys() & wanted.keys()) > 5
    for name in rows.keys() & wanted.keys():
        assert rows[name] == pytest.approx(wanted[name][1], abs=1e-9), name


@pytest.mark.parametrize("view", VIEWS)
def test_pictures_agree(run: kb.Run, launch: str, view: str) -> None:
    """A box or wire has the share of the busiest part in it: on the page, over time, and as a file."""
    wanted = of_use(run, launch)
    graph = Answers(run.store).run({"run": run.id}).graph
    drawn = VIEWS[view](graph, None)
    most: dict[str, float] = {}
    for name, (share, _) in wanted.items():
        key = role(name, drawn.name, drawn.instance)
        most[key] = max(share, most.get(key, 0.0))
    owned = {wire.id: wire.links for wire in drawn.wires}
    owned |= {box.id: box.components + box.links for box in drawn.boxes}
    shown = {key: max((most.get(one, 0.0) for one in of), default=0.0) for key, of in owned.items()}
    shown = {key: share for key, share in shown.items() if share > 0}

    use = machine_use(run, graph, view, None, ChosenWindow(launch))
    assert use["whole"] == pytest.approx(shown, abs=5.1e-5)
    for rows in use["busiest"].values():
        for name, share in rows:
            assert share == pytest.approx(wanted.get(name, (0.0, 0.0))[0], abs=5.1e-5), name
    text = kb.diagram(graph, view, run=run, store=run.store, launch=launch)
    said = set(re.findall(r"utilisation ([^<&\n,]+)", text)) - {percent(0.0)}
    assert said == {percent(share) for share in shown.values()} - {percent(0.0)}


def test_the_terminal_ui_map_agrees(run: kb.Run, launch: str) -> None:
    wanted = of_use(run, launch)
    opened, window = Browser(run.store).run(run.id), ChosenWindow(launch)
    machine = MachineTree(opened, shares_of(opened, window), "")
    for name in ("sip0", "sip0.cube0.r0c0"):
        found = machine.map(name)
        assert found is not None
        busy = [cell for cell in found.cells.values() if cell.share > 0]
        assert busy
        for cell in busy:
            assert cell.share == pytest.approx(wanted[cell.busiest or cell.name][0], abs=1e-9), cell


def test_one_stretch_of_time_is_the_window(run: kb.Run, launch: str) -> None:
    """The frames of the page's picture are worked out apart from everything else."""
    wanted = of_use(run, launch)
    names, _, shares = use_over_time(run.tables, run.window(launch), 1)
    for name, share in zip(names, shares[0].tolist(), strict=True):
        assert share == pytest.approx(wanted.get(name, (0.0, 0.0))[0], abs=1e-9), name


def test_screens_offer_the_windows_that_differ(run: kb.Run) -> None:
    """Traffic from the start on lasts as long as its run: one window."""
    opened = Browser(run.store).run(run.id).run
    offered = [name for name, _ in windows(opened)]
    if isinstance(run, kb.TrafficRun):
        assert offered == ["all", "run"]
        flow = {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 4096}
        assert windows(kb.traffic([flow], "minimal", store="memory:")) == [["run", WHOLE]]
    else:
        assert offered == ["0", "setup", "run"]
