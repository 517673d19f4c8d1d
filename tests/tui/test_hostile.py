"""Names that a user may choose freely, through every screen; screens that close while they are asked."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textual.widgets import Input, TextArea

import kernbench as kb
from kernbench.api import asking
from kernbench.api.active_runs import UnderWay
from kernbench.api.stores import borrowed
from kernbench.tui.screens import cypher as cypher_screen
from kernbench.tui.screens.choose import Choose
from kernbench.tui.screens.cypher import CypherScreen
from kernbench.tui.screens.page import PageScreen
from kernbench.tui.screens.questions import QuestionScreen
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench
from tests.tui.driving import LIMIT_S, Driver, drive

HOSTILE = [
    "a[",
    "[/b]",
    "[b]bold[/b] [@click=app.quit]x[/]",
    "[$accent on red",
    "\x1b[31mred\x07\x9b1m",
    "two\nlines\tand\rmore",
    "x" * 5000,
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    "",
    "'\"\\ ${HOME} :smile: %s {0}",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a folder with such a name; in it two runs whose launches, tensors and tags have them."""
    folder = tmp_path_factory.mktemp("hostile") / "d[" / "b] [i" / "s\x1b[1m"

    @bench(
        name="hostile-names",
        description="[/b] a[",
        params=[Param("text", str, HOSTILE[0], "any text"), Param("seed", int, 0, "a number")],
    )
    def launches(torch: Any) -> None:
        x = torch.from_numpy(_data(), name=HOSTILE[2])
        for name in filter(None, HOSTILE):
            torch.launch(name, _double, x)

    with borrowed(folder) as store:
        for seed in range(2):
            params = {"text": "".join(HOSTILE), "seed": seed}
            kb.run(launches, "minimal", store=store, params=params, tags=("[/b]", "a["))
    return folder


def _data() -> Any:
    return np.ones((4, 16), np.float16)


def _double(x: Any, tl: Any) -> None:
    value = tl.load(x.local)
    tl.store(x.local, value + value)


def check(ui: Driver) -> None:
    """The app is alive, no error is shown, and no line has a control character."""
    assert ui.app.return_code in (None, 0)
    assert "unexpected" not in ui.screen.failure
    for line in ui.lines():
        assert line.isprintable(), repr(line)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
def test_every_screen_shows_any_name_as_it_is(hostile: Path, size: tuple[int, int]) -> None:
    async def steps(ui: Driver) -> None:
        check(ui)
        assert "d[" in ui.text("#facts")
        await ui.press("m", "down", "d")
        check(ui)
        for _ in range(4):
            await ui.press("right_square_bracket")
            check(ui)
        await ui.press("escape", "enter")
        assert isinstance(ui.screen, PageScreen)
        assert "a[[/b][b]bold[/b]" in ui.text("#facts")
        assert HOSTILE[0] in ui.column("kernel")
        for tab in range(1, 8):
            await ui.press(str(tab))
            check(ui)
            if ui.rows.table is not None and len(ui.rows.table):
                await ui.press("f")
                check(ui)
                if isinstance(ui.app.screen, Choose):
                    await ui.press("escape")
        await ui.press("1")
        for row in range(len(HOSTILE) - 1):
            ui.rows.cursor = row
            await ui.press("enter")
            assert ui.screen.title == f"launch {row}"
            for tab in range(1, 5):
                await ui.press(str(tab))
                check(ui)
            await ui.press("escape")
        for key in ("i", "t", "a", "c", "question_mark"):
            await ui.press(key)
            check(ui)
            await ui.press("escape", "escape")
        await ui.press("slash")
        line = ui.screen.query_one("#filter", Input)
        for text in filter(str.isprintable, HOSTILE):
            line.value = text
            await ui.settle()
            check(ui)
        await ui.press("escape", "W")
        for text in HOSTILE[:4]:
            ui.app.screen.query_one(Input).value = text
            await ui.press("enter")
            check(ui)
            await ui.press("W")

    drive(hostile, steps, run="last", size=size)


@pytest.mark.slow
def test_any_text_may_be_asked_and_any_alias_be_a_heading(hostile: Path) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("c")
        assert isinstance(ui.screen, CypherScreen)
        editor = ui.screen.query_one(TextArea)
        for name in filter(str.isprintable, HOSTILE):
            quoted = name.replace("\\", "\\\\").replace("'", "\\'")[:200]
            for text in (name, f"RETURN '{quoted}' AS `{name.replace('`', '')[:60] or 'x'}`"):
                editor.text = text
                editor.focus()
                await ui.press("f5")
                check(ui)

    drive(hostile, steps, run="last")


@pytest.mark.slow
def test_a_question_with_any_title_and_note(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = asking.question("bottleneck/busiest-links")
    params = [{**one, "help": HOSTILE[0], "name": one["name"]} for one in real["params"]]

    async def steps(ui: Driver) -> None:
        for name in HOSTILE[:3]:
            odd = {**real, "title": name, "notes": name, "params": params}
            monkeypatch.setattr(asking, "question", lambda _name, odd=odd: odd)
            ui.app.push_screen(QuestionScreen("bottleneck/busiest-links", ui.screen.run_id))
            await ui.settle()
            check(ui)

    drive(store, steps)


@pytest.mark.daily("leaving0")
@pytest.mark.parametrize("leaving", [("escape", "escape"), ("escape", "r"), ("escape", "r", "enter", "c")])
def test_a_screen_that_closes_while_it_is_asked_ends_nothing(
    store: Path, ids: list[str], monkeypatch: pytest.MonkeyPatch, leaving: tuple[str, ...]
) -> None:
    go_on, ended = threading.Event(), []
    real = cypher_screen.ask

    def slowly(*args: Any) -> Any:
        assert go_on.wait(LIMIT_S)
        try:
            return real(*args)
        finally:
            ended.append(1)

    monkeypatch.setattr(cypher_screen, "ask", slowly)

    async def steps(ui: Driver) -> None:
        await ui.press("c")
        await ui.pilot.press("f5")
        await ui.pilot.press(*leaving)
        go_on.set()
        while not ended:
            await asyncio.sleep(0.005)
        await ui.settle()
        assert ui.app.return_code in (None, 0)
        assert not any(isinstance(one, CypherScreen) and one.asking for one in ui.app.screen_stack)

    drive(store, steps, run=ids[0])


@pytest.mark.slow
def test_keys_that_end_it_do_so_wherever_they_are_pressed(
    store: Path, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in dialogs and text fields, where ``q`` is a letter; in the help ``q`` closes the help."""
    called: list[str] = []

    async def steps(ui: Driver) -> None:
        monkeypatch.setattr(ui.app, "exit", lambda **_: called.append("exit"))
        monkeypatch.setattr(ui.app, "action_suspend_process", lambda: called.append("suspend"))
        deep = len(ui.app.screen_stack)
        for where in ("", "f", "question_mark", "W", "c"):
            if where:
                await ui.press(where)
            for key in ("ctrl+c", "ctrl+q", "ctrl+z", "q"):  # the last may close it
                called.clear()
                await ui.pilot.press(key)
                await ui.pilot.pause()
                letter = key == "q" and where in ("W", "c", "question_mark")
                wanted = [] if letter else ["suspend" if key == "ctrl+z" else "exit"]
                assert called == wanted, (where, key)
            while len(ui.app.screen_stack) > deep:
                await ui.press("escape")

    drive(store, steps, run=ids[0])


@pytest.mark.slow
def test_ctrl_c_copies_what_is_selected_in_the_editor(store: Path, ids: list[str]) -> None:
    async def steps(ui: Driver) -> None:
        await ui.press("c")
        editor = ui.screen.query_one(TextArea)
        editor.select_all()
        await ui.pilot.press("ctrl+c")
        await ui.pilot.pause()
        assert not ui.app._exit
        assert ui.app.clipboard == editor.text
        editor.move_cursor((0, 0))
        await ui.pilot.press("ctrl+c")
        await ui.pilot.pause()
        assert ui.app._exit

    drive(store, steps, run=ids[0])


@pytest.mark.slow
def test_a_run_under_way_may_have_any_name(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernbench.api.active_runs.FIRST_S", 0.0)

    async def steps(ui: Driver) -> None:
        with UnderWay(store, "run [/b] a[") as going:
            going.tell(lambda _: "1 ns")
            ui.screen.look()
            await ui.pilot.pause()
            assert ui.text("#under-way") == "run [/b] a[  1 ns"

    drive(store, steps)
