"""Every screen, key and error of the terminal UI, through keys as a user presses them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, OptionList, Tree

from kernbench.api.contents import advice
from kernbench.draw.content import Grid
from kernbench.tui.models.screen_table import grid_table
from kernbench.tui.screens.choose import Choose, Line
from kernbench.tui.screens.cypher import CypherScreen, Editor
from kernbench.tui.screens.help import HelpScreen
from kernbench.tui.screens.page import PageScreen
from kernbench.tui.screens.questions import QuestionScreen, QuestionsScreen
from kernbench.tui.screens.runs import RunsScreen
from kernbench.tui.screens.timeline import TimelineScreen
from kernbench.tui.screens.topology import TopologyScreen
from kernbench.tui.widgets.bars import Bars
from kernbench.tui.widgets.mesh import MeshWidget
from kernbench.tui.widgets.rows import Rows
from tests.tui.driving import Driver, drive


def test_from_the_runs_every_row_leads_on_and_back(store: Path, ids: list[str]) -> None:
    async def steps(ui: Driver) -> None:
        assert isinstance(ui.screen, RunsScreen)
        assert ui.column("run_id") == ids[::-1]
        await ui.press("enter")
        assert ids[-1] in ui.text("#heading")
        assert "verified" in ui.text("#facts")
        assert ui.column("launch") == [0]
        await ui.press("right_square_bracket")
        cause = ui.column("name")[0]
        await ui.press("enter")
        assert set(ui.column("cause")) == {cause}
        await ui.press("escape")
        assert ui.column("name")[0] == cause
        await ui.seek("by", "location")
        await ui.press("enter")
        assert "kind" in ui.text("#facts")
        await ui.press("escape", "w", "w", "5")
        waiter = ui.column("waiter")[0]
        await ui.press("enter")
        assert ui.screen.title == f"transaction {waiter}"
        await ui.press("2", "enter")
        assert ui.screen.title != f"transaction {waiter}"
        await ui.press("4", "f")
        assert isinstance(ui.app.screen, Choose)
        await ui.press("escape", "r")
        assert isinstance(ui.screen, RunsScreen)
        await ui.press("escape")
        assert isinstance(ui.screen, RunsScreen)

    drive(store, steps)


@pytest.mark.slow
def test_filter_sort_window_and_export(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def steps(ui: Driver) -> None:
        await ui.press("6")
        every = len(ui.column("transaction"))
        await ui.press("w", "w")
        assert "the whole run" in ui.text("#facts")
        whole = len(ui.column("transaction"))
        assert whole > every
        await ui.press("slash")
        await ui.type("kind=dma_rea")
        await ui.press("d")
        kinds = ui.column("kind")
        assert set(kinds) == {"dma_read"}
        await ui.press("enter", "s", "s")
        assert ui.column("kind") == kinds
        assert ui.rows.table is not None
        assert ui.rows.table.sorted_by == ("kind", False)
        await ui.press("e", "enter")
        assert f"wrote {len(kinds)} rows" in ui.text("#message")
        files = list(tmp_path.iterdir())
        assert len(files) == 1
        assert len(files[0].read_text(encoding="utf-8").splitlines()) == len(kinds) + 1
        await ui.press("slash")
        ui.screen.query_one("#filter", Input).value = "nokind=3"
        await ui.settle()
        assert "there is no column 'nokind'" in ui.text("#message")
        await ui.press("escape")
        assert len(ui.column("transaction")) == whole
        await ui.press("W")
        assert isinstance(ui.app.screen, Line)
        ui.app.screen.query_one(Input).value = "9..1"
        await ui.press("enter")
        assert "the time range 9 to 1 ns is empty" in ui.text("#message")

    drive(store, steps, "last")


@pytest.mark.slow
def test_topology_tree_and_map(store: Path) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("t")
        assert isinstance(ui.screen, TopologyScreen)
        tree = ui.screen.query_one(Tree)
        assert str(tree.root.label).startswith("tray")
        assert "cubes" in ui.text("#map-title")
        await ui.press("tab", "enter")
        assert "routers" in ui.text("#map-title")
        mesh = ui.screen.query_one(MeshWidget)
        await ui.press("right", "down")
        assert mesh.cursor != (0, 0)
        assert mesh.map is not None
        cell = mesh.map.cells[mesh.cursor]
        await ui.press("enter")
        assert ui.screen.title == cell.name
        await ui.press("escape", "o")
        assert "cubes" in ui.text("#map-title")
        await ui.press("f")
        assert ui.screen.title == "sip0.cube0"
        await ui.press("5")
        assert "sip0.cube0.pe0" in ui.column("component")
        await ui.press("escape")
        await ui.press("w")
        assert "setup" in ui.text("#map-title")

    drive(store, steps, "last")


@pytest.mark.slow
def test_time_line_zooms_moves_and_opens(store: Path) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("i")
        assert isinstance(ui.screen, TimelineScreen)
        bars = ui.screen.query_one(Bars)
        whole = bars.span
        await ui.press("plus", "right")
        assert bars.span.end - bars.span.begin == pytest.approx((whole.end - whole.begin) / 2)
        await ui.press("minus", "0")
        assert bars.span == whole
        every = list(bars.tracks)
        await ui.press("v")
        components = list(bars.tracks)
        await ui.press("v")
        assert components
        assert set(bars.tracks).isdisjoint(components)
        assert sorted([*components, *bars.tracks]) == sorted(every)
        await ui.press("down", "enter")
        assert ui.screen.title == bars.tracks[0]
        await ui.press("escape", "up", "enter")
        assert ui.screen.title == "launch 0"

    drive(store, steps, "last")


@pytest.mark.slow
def test_questions_ask_at_once_or_for_what_is_needed(store: Path) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("a")
        assert isinstance(ui.screen, QuestionsScreen)
        await ui.seek("question", "bottleneck/busiest-links")
        await ui.press("enter")
        assert isinstance(ui.screen, QuestionScreen)
        assert len(ui.column("link")) > 0
        await ui.press("p")
        ui.screen.query_one("#param-limit", Input).value = "none"
        await ui.press("enter")
        assert "limit" in ui.text("#message")
        ui.screen.query_one("#param-limit", Input).value = "2"
        await ui.press("f5")
        assert len(ui.column("link")) == 2
        assert not ui.screen.failure
        await ui.press("enter")
        assert isinstance(ui.screen, PageScreen)
        await ui.press("escape", "escape")
        await ui.seek("question", "causes/behind-transaction")
        await ui.press("enter")
        assert "fill in the required parameters" in ui.text("#message")

    drive(store, steps, "last")


@pytest.mark.slow
def test_cypher_completes_asks_and_remembers(store: Path) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("c")
        assert isinstance(ui.screen, CypherScreen)
        editor = ui.screen.query_one(Editor)
        editor.text = "MATCH (r:Run {id: $run})-[:SENT]->(t:Transac"
        editor.move_cursor(editor.document.end)
        await ui.press("tab")
        assert editor.text.endswith("(t:Transaction")
        editor.insert(") RETURN t.numb")
        await ui.press("tab")
        assert editor.text.endswith("t.number")
        editor.insert(" AS transaction ORDER BY transaction LIMIT 3")
        await ui.press("f5")
        assert ui.column("transaction") == [0, 1, 2]
        first = editor.text
        await ui.press("enter")
        assert ui.screen.title == "transaction 0"
        await ui.press("escape", "p")
        editor.text = "RETURN 1 AS"
        await ui.press("ctrl+r")
        assert "Cypher does not allow" in ui.text("#message")
        await ui.press("ctrl+up")
        assert editor.text == first
        editor.text = "MATCH (t:"
        editor.move_cursor(editor.document.end)
        await ui.press("tab")
        assert isinstance(ui.app.screen, Choose)
        assert ui.app.screen.query_one(OptionList).option_count > 5

    drive(store, steps, "last")


def test_cypher_is_saved_and_has_the_schema_beside_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNBENCH_QUERIES", str(tmp_path))

    async def steps(ui: Driver) -> None:
        await ui.press("c")
        editor, tree = ui.screen.query_one(Editor), ui.screen.query_one(Tree)
        editor.text = ""
        await ui.press("ctrl+t")
        tree.move_cursor(tree.root.children[0])
        await ui.press("space", "down", "enter")
        assert editor.text == "(:Topology)-[:CONTAINS]->(:Component)"
        editor.text = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"
        await ui.press("ctrl+s")
        ui.app.screen.query_one(Input).value = "mine/count"
        await ui.press("enter")
        ui.app.screen.query_one(Input).value = "How many?"
        await ui.press("enter")
        assert "title: String should have" in ui.text("#message")
        await ui.press("ctrl+s")
        ui.app.screen.query_one(Input).value = "mine/count"
        await ui.press("enter")
        ui.app.screen.query_one(Input).value = "How many were sent?"
        await ui.press("enter")
        assert "saved as" in ui.text("#message")

    drive(store, steps, "last")
    assert (tmp_path / "mine" / "count.yaml").exists()


@pytest.mark.slow
def test_two_runs_are_compared(store: Path, ids: list[str]) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("d")
        assert ui.screen.title == "comparison"
        assert ids[1] in ui.text("#facts")
        await ui.press("1")
        assert ui.column("key") == ["m"]
        await ui.press("4", "enter")
        assert isinstance(ui.screen, PageScreen)
        await ui.press("r")
        await ui.seek("run_id", ids[0])
        await ui.press("d")
        assert "no earlier run of this bench" in ui.text("#message")
        await ui.press("m")
        await ui.seek("run_id", ids[1])
        await ui.press("d")
        assert ids[0] in ui.text("#facts")

    drive(store, steps)


def test_help_palette_and_an_empty_store(tmp_path: Path) -> None:
    async def steps(ui: Driver) -> None:
        assert any("no runs here" in line for line in ui.lines())
        await ui.press("t")
        assert "choose a run first" in ui.text("#message")
        await ui.press("question_mark")
        assert isinstance(ui.app.screen, HelpScreen)
        await ui.press("escape")
        names = [command.title for command in ui.app.get_system_commands(ui.app.screen)]
        assert {"Runs", "Topology", "Questions", "Cypher", "Theme"} <= set(names)

    drive(tmp_path / "empty", steps)


def test_a_newer_request_replaces_those_before_it(store: Path) -> None:
    async def steps(ui: Driver) -> None:
        answers: list[int] = []
        for number in range(3):
            ui.screen.ask(lambda number=number: number, answers.append, "same")  # type: ignore[misc]
        ui.screen.ask(lambda: 1 // 0, answers.append, "other")
        await ui.settle()
        assert answers == [2]
        assert "unexpected ZeroDivisionError" in ui.text("#message")

    drive(store, steps)


@pytest.mark.slow
def test_without_colours_figures_say_what_colours_said(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(ui: Driver) -> None:
        await ui.press("4")
        assert any("pe_gemm" in line for line in ui.lines())
        await ui.press("t")
        assert any("▸" in line and "%" in line for line in ui.lines())
        await ui.press("escape", "i")
        assert any("█" in line for line in ui.lines())
        await ui.press("c", "f5")
        assert ui.screen.failure == ""

    drive(store, steps, "last")


@pytest.mark.parametrize("height", [14, 40])
def test_no_letter_of_advice_is_cut_at_eighty_columns(height: int) -> None:
    """Nor where a scrollbar stands beside it."""
    words = [f"w{'o' * (number % 9)}{number}" for number in range(60)]
    row = {"saves_ns": 12345.678, "share": 0.052, "rule": "advice/streamed-again", "advice": " ".join(words)}
    table = grid_table(Grid("advice", "Advice", advice.COLUMNS, [row] * 2))

    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield Rows(table)

    async def steps() -> None:
        app = Alone()
        async with app.run_test(size=(80, height)) as pilot:
            await pilot.pause()
            rows = app.query_one(Rows)
            lines = [rows.render_line(y).text[: rows.scrollable_content_region.width] for y in range(height)]
        told = [word for line in lines[1:] for word in line[42:].split()]
        assert told == (words * 2)[: len(told)]
        assert len(told) > len(words) / 2

    asyncio.run(steps())


@pytest.mark.slow
def test_the_last_number_of_the_time_axis_is_whole(store: Path) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("i")
        bars = ui.screen.query_one(Bars)
        width = bars.scrollable_content_region.width
        assert bars.render_line(0).text[:width].rstrip().endswith(" ns")

    drive(store, steps, "last", (80, 14))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_small_and_large_terminals_show_the_table(store: Path, size: tuple[int, int]) -> None:
    async def steps(ui: Driver) -> None:
        lines = ui.lines()
        assert len(lines) == size[1]
        assert any("latency_ns" in line for line in lines)
        await ui.press("t")
        assert any("cube0" in line for line in ui.lines())

    drive(store, steps, "last", size)
