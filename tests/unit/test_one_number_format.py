"""A figure, and the colour of a cause, are the same on every surface and in every run."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.path.path_steps import CAUSES, CriticalPath, Step
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import SCREENS, Screen, critical_path, overview, roofline
from kernbench.draw import colours, roofs
from kernbench.draw.cells import number, plain
from kernbench.draw.content import SHARE, Column, Content, Grid, columns_of
from kernbench.draw.timeline.model import CATEGORIES
from kernbench.hardware.kinds.links import ORANGE
from kernbench.page.answers import Answers
from kernbench.page.tables import content, table
from kernbench.tui.models.screen_table import grid_table
from tests.page_tables import texts, values

COLUMNS = (
    *columns_of("name ns utilisation energy_pj launch bytes"),
    Column("change", SHARE, signed=True),
)
ROWS = [
    {"name": "a", "ns": 741574.1000000001, "utilisation": 0.825, "energy_pj": 123456789.123, "launch": -1,
     "bytes": 8240, "change": 0.5},
    {"name": "b", "ns": 12345.678, "utilisation": None, "energy_pj": 0.5, "launch": 3, "bytes": 10678,
     "change": None},
]  # fmt: skip
READ = [
    ["a", "741574.1", "82.5%", "123.457 uJ", "-", "8240", "+50.0%"],
    ["b", "12345.678", "-", "0.5 pJ", "3", "10678", "-"],
]


def test_page_terminal_notebook_and_command_line_write_figures_alike(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from kernbench.cli.output import emit

    grid = Grid("x", "X", COLUMNS, ROWS)
    page = content(Content([grid], ""))["grids"][0]["table"]
    assert texts(page) == READ
    assert values(page) == [list(plain(row).values()) for row in ROWS]
    shown = grid_table(grid)
    assert [shown.cells(row) for row in range(len(shown))] == READ
    html = Content([grid], "").html()
    assert all(f">{text}<" in html for row in READ for text in row)
    emit("table", ROWS, grid.columns, grid.values())
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "ns", "utilisation", "energy", "launch", "bytes", "change"]
    assert [line.replace(" uJ", "~uJ").replace(" pJ", "~pJ").split() for line in lines] == [
        [cell.replace(" ", "~") for cell in row] for row in READ
    ]
    emit("csv", ROWS, grid.columns, grid.values())
    assert "741574.1,0.825,123456789.123,-1" in capsys.readouterr().out


def test_a_query_has_shares_in_percent_as_other_tables_have(cli: Callable[..., Any]) -> None:
    assert cli("run", "gemm-single-pe", "--topology", "minimal").status == 0
    assert "27.8%" in cli("query", "bottleneck/busiest-links").out.splitlines()[1]
    rows = json.loads(cli("query", "bottleneck/busiest-links", "--format", "json").out)["rows"]
    assert rows[0][2] == pytest.approx(0.278, abs=5e-4)


def test_the_page_writes_its_own_figures_by_the_same_rule(tmp_path: Path) -> None:
    """Where node is there: ends of what is seen in a timeline are worked out by the page."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    given = [0.0, 12345.678, 741574.1000000001, 8240.0, 0.5, 1e-12, 0.000123, -3.25, 99999.9996]
    module = Path(kb.__file__).parent / "export/html/static/format.js"
    script = f"import {{ number }} from '{module.as_uri()}'; console.log(JSON.stringify({given}.map(number)))"
    run = subprocess.run(
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == [number(value) for value in given]


def test_each_cause_has_a_colour_of_its_own() -> None:
    assert set(colours.CAUSES) == set(CAUSES)
    assert len(set(colours.CAUSES.values())) == len(CAUSES)
    assert CATEGORIES["gemm"][0] == colours.CAUSES["compute"] == ORANGE
    assert (CATEGORIES["queue"][0], CATEGORIES["crossing"][0]) == tuple(
        colours.CAUSES[name] for name in ("queue", "link")
    )
    of = {name: colour for name, (_, colour, _) in roofs.LEVELS.items()}
    assert (of["tcm"], of["hbm"], of["link"]) == tuple(
        colours.CAUSES[name] for name in ("memory", "hbm", "link")
    )
    assert len(set(of.values())) == len(of)
    (column,) = table(["cause"], [["queue"]])["columns"]
    assert column["colours"] == dict(colours.CAUSES)


def path_of(lengths: list[tuple[str, float]]) -> CriticalPath:
    steps, at = [], 100.0
    for cause, ns in lengths:
        steps.append(Step(at, at + ns, cause, "x", "y"))
        at += ns
    return CriticalPath(100.0, at, tuple(steps))


@pytest.mark.parametrize("many", [3, 20_000])
def test_the_strip_of_a_path_adds_up_to_the_sums_of_the_table(many: int) -> None:
    """Short steps keep their time and their cause, however many there are."""
    path = path_of([("memory", 2.0), ("component", 0.25), ("compute", 1.0), ("component", 0.25)] * many)
    strip = critical_path.steps(path).drawn
    sums: dict[str, float] = {}
    for start, end, causes in strip:
        assert sum(causes.values()) == pytest.approx(end - start)
        for cause, ns in causes.items():
            sums[cause] = sums.get(cause, 0.0) + ns
    assert sums == pytest.approx(path.by_cause())
    assert len(strip) <= 1001
    assert [one[0] for one in strip[1:]] == [one[1] for one in strip[:-1]]
    if many == 3:
        assert [list(causes) for _, _, causes in strip][:4] == [
            ["memory"],
            ["component"],
            ["compute"],
            ["component"],
        ]


def test_a_roofline_opens_where_there_is_something_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest operations of a large kernel may all be without flops."""
    run = kb.run("flash-attention", store="memory:")
    assert roofline.of_run(run, ChosenWindow()).opens == "operation"
    plain, by_operation = roofs.drawn, run.roofline("operation", "all", 500)
    monkeypatch.setattr(roofs, "drawn", lambda rows: plain([] if len(rows) == len(by_operation) else rows))
    assert roofline.of_run(run, ChosenWindow()).opens == "pe"
    page = Answers(run.store).answer("roofline", {"run": run.id})
    assert (page["opens"], [bool(grid["drawn"]["work"]) for grid in page["grids"]]) == (
        "pe", [False, True, True],
    )  # fmt: skip


@pytest.mark.daily(but=("advice", "memory"))
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.key)
def test_each_screen_is_a_tab_or_part_of_the_overview(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A screen that moves into the overview is there with its tables."""
    run = kb.run("gemm-single-pe", "minimal", store="memory:")
    moved = tuple(replace(one, at_a_glance=True) if one is screen else one for one in SCREENS)
    monkeypatch.setattr(overview, "SCREENS", moved)
    keys = [grid.key for grid in overview.of_run(run, ChosenWindow()).grids]
    assert {grid.key for grid in screen.work_out(run, ChosenWindow()).grids} <= set(keys)
