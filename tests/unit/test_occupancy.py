"""Occupancy and utilisation: two figures with two names, each the same wherever a part is shown."""

from __future__ import annotations

import json
import math

import pytest

import kernbench as kb
from kernbench.analysis.run_view import RunView
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import overview
from kernbench.draw.cells import share
from kernbench.page.tables import content
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.resource_page import resource_page, shares_of
from kernbench.tui.models.run_page import run_page


@pytest.fixture(scope="module")
def run() -> kb.Run:
    """Reads of all PEs of a cube from one slice: their DMA engines are occupied while it serves others."""
    flows = [
        {"src": f"sip0.cube0.pe{pe}", "dst": "sip0.cube0.hbm_ctrl.pe0", "op": "read", "bytes": 8192}
        for pe in range(8)
    ]
    return kb.traffic(flows, store="memory:")


def shares(rows: list[dict[str, object]], name: str = "resource") -> dict[object, tuple[object, object]]:
    return {row[name]: (row["utilisation"], row["occupancy"]) for row in rows}


def test_a_part_is_occupied_while_it_waits_and_utilised_by_what_it_moves(run: kb.Run) -> None:
    use = {name: n for n, name in enumerate(run.used["resource"].tolist())}
    # 8 x 8192 bytes over the one link that leaves the slice, without a gap.
    link = use["sip0.cube0.hbm_ctrl.pe0->sip0.cube0.r0c0"]
    assert run.used["utilisation"][link] * run.sim_ns == pytest.approx(8 * 8192 / 256)
    # The last PE's link moves an eighth of that; its DMA engine waits for it all the time.
    last = next(n for name, n in use.items() if name.endswith("->sip0.cube0.pe7.pe_dma"))
    assert run.used["utilisation"][last] * run.sim_ns == pytest.approx(8192 / 256)
    assert run.used["occupancy"][use["sip0.cube0.pe7.pe_dma"]] > 3 * run.used["utilisation"][last]
    assert (run.used["occupancy"] >= run.used["utilisation"] - 1e-9).all()
    assert (run.used["occupancy"] <= 1.0 + 1e-9).all()


def test_routers_stand_among_the_busiest_and_have_what_waited_for_them() -> None:
    """Where the path waits in queues, the summary says at what."""
    run = kb.run(
        "va-offset-verify",
        store="memory:",
        topo={"sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "system.sips": 1, "system.worker": "serial"},
    )
    causes, summary = run.critical_path("all").by_cause(), run.summary(8)
    assert causes["queue"] > 0.1 * sum(causes.values())
    assert summary["most_waited_for"][0]["kind"] in ("ucie_port", "router", "io_ucie", "ucie_conn")
    waited = run.frame("WaitedFor")
    found = run.used
    for row in summary["most_waited_for"]:
        at = found["resource"] == row["resource"]
        assert math.isclose(
            float(found["wait_ns"][at][0]),
            math.fsum(waited["ns"][waited["resource"] == row["resource"]].tolist()),
            abs_tol=1e-6,
        )


def test_one_part_has_one_figure_wherever_it_is_shown(run: kb.Run) -> None:
    """Summary, questions, page, terminal UI and timeline, over the same window."""
    wanted = dict(
        zip(
            run.used["resource"].tolist(),
            zip(run.used["utilisation"].tolist(), run.used["occupancy"].tolist(), strict=True),
            strict=True,
        )
    )
    store = run.store
    found = [shares(kb.open_run(run.id, store).summary(1000, None)["busiest"])]
    for name, column in (("busiest-links", "link"), ("busiest-engines", "component")):
        found.append(shares(run.query(name, launch="run", limit=1000).dicts(), column))
    shown = content(overview.of_run(kb.open_run(run.id, store), ChosenWindow("run")))["grids"]
    page = next(grid["table"] for grid in shown if grid["key"] == "busiest")
    names = [column["name"] for column in page["columns"]]
    values = [[cell[0] if isinstance(cell, list) else cell for cell in row] for row in page["rows"]]
    found.append(shares([dict(zip(names, row, strict=True)) for row in values]))
    opened = Browser(store).run(run.id)
    table = next(one.load() for one in run_page(opened, ChosenWindow("run")).sections if one.name == "Parts")
    found.append(shares([table.record(row) for row in range(len(table))]))
    found.append({n: (s.utilisation, s.occupancy) for n, s in shares_of(opened, ChosenWindow("run")).items()})
    for answer in found:
        assert len(answer) > 10
        for name, figures in answer.items():
            assert figures == pytest.approx(wanted[name], abs=1e-9), name
    drawn = run.timeline("run", links=True, rows=0, fold=False).to_dict()
    rows = {row["place"]: row["occupancy"] for group in drawn["groups"] for row in group["rows"]}
    parts = [name for name in rows if name in wanted]
    assert {"sip0.cube0.hbm_ctrl.pe0", "sip0.cube0.r0c0"} <= set(parts)
    for name in parts:
        assert rows[name] == pytest.approx(wanted[name][1], abs=1e-9), name
    facts = dict(resource_page(opened, "sip0.cube0.r0c0", ChosenWindow("run")).facts)
    said = [share(figure) for figure in wanted["sip0.cube0.r0c0"]]
    assert facts["used"] == f"utilisation {said[0]}, occupancy {said[1]} of the whole run"


def test_a_timeline_of_several_launches_counts_no_time_between_them() -> None:
    """Its percentages are shares of the window, as those of tables are."""
    run = kb.run("va-offset-verify", "minimal", store="memory:")
    edges = [0.0, 0.2 * run.sim_ns, 0.8 * run.sim_ns, run.sim_ns]
    for window in ({"launch": "setup"}, {"from_ns": edges[1], "to_ns": edges[2], "launch": "run"}):
        use = run.use(**window)
        wanted = dict(zip(use["resource"].tolist(), use["occupancy"].tolist(), strict=True))
        drawn = run.timeline(**window, links=True, rows=0, fold=False).to_dict()
        rows = {row["place"]: row["occupancy"] for group in drawn["groups"] for row in group["rows"]}
        assert len(rows.keys() & wanted.keys()) > 10
        for name in rows.keys() & wanted.keys():
            assert rows[name] == pytest.approx(wanted[name], abs=1e-9), name
    assert json.loads(run.to_json())["busiest"]
    assert RunView(run.store, run.id).tables["Hop"].num_rows


@pytest.mark.slow
def test_messages_that_pass_a_router_together_keep_it_busy_once_in_every_window() -> None:
    """Commands to all PEs reach their routers at one moment: a router is not busier than it is occupied."""
    graph = kb.load_topology("default")
    run = kb.run("tp-mlp", graph, store="memory:")
    hops = run.tables["Hop"]
    names, starts = hops["resource"].to_pylist(), hops["t_start"].to_pylist()
    for chosen in (0, 4, "all", "setup"):
        window, found = run.window(chosen), run.use(chosen)
        assert (found["busy_ns"] <= found["occupied_ns"] + 1e-6).all()
        routers = {
            name: busy
            for name, kind, busy in zip(found["resource"], found["kind"], found["busy_ns"], strict=True)
            if kind == "router"
        }
        begun: dict[str, list[float]] = {name: [] for name in routers}
        for name, start in zip(names, starts, strict=True):
            if name in begun:
                begun[name].append(start)
        overheads = {name: graph.node(name).properties["overhead_ns"] for name in routers}
        assert routers == pytest.approx(
            {name: once(begun[name], overheads[name], window.spans) for name in routers}, abs=1e-6
        )


def once(starts: list[float], overhead: float, spans: tuple[tuple[float, float], ...]) -> float:
    """ns within ``spans`` for which any of the services was under way."""
    found, free = 0.0, -math.inf
    for start in sorted(starts):
        begin, free = max(start, free), max(free, start + overhead)
        found += sum(max(0.0, min(free, last) - max(begin, first)) for first, last in spans)
    return found
