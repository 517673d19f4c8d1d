"""Queries and runs that are going on, listed in the terminal UI; queries are cancelled there."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import TextArea

import kernbench as kb
from kernbench.api.active_runs import UnderWay
from kernbench.tui.screens.running import RunningScreen
from tests.tui.driving import LIMIT_S, Driver, drive

ENDLESS = """UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b UNWIND range(1, 4000) AS c
             WITH a, b, c WHERE (a * b) % 7 = c % 5 RETURN sum(a) AS n"""


async def until(driver: Driver, holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():
            await driver.pilot.pause(0.02)


async def ask(driver: Driver) -> None:
    """Ask for something without an end, of the run under the cursor."""
    await driver.press("c")
    driver.screen.query_one(TextArea).text = ENDLESS
    await driver.pilot.press("f5")
    await until(driver, lambda: bool(running(driver)))


def running(driver: Driver) -> list[str]:
    return [query.asker.name for query in driver.app.browser.store.queries.listed()]


@pytest.mark.slow
def test_one_is_listed_and_cancelled(store: Path, ids: list[str]) -> None:
    async def steps(driver: Driver) -> None:
        await ask(driver)
        await driver.pilot.press("f4")
        await until(
            driver, lambda: isinstance(driver.screen, RunningScreen) and len(driver.screen.rows.table or ())
        )
        assert driver.column("run") == [ids[-1]]
        assert driver.column("asker") == ["terminal UI"]
        assert str(driver.column("text")[0]).startswith("UNWIND range(1, 4000) AS a UNWIND")
        await driver.pilot.press("x")
        await until(driver, lambda: not running(driver))
        await until(driver, lambda: not len(driver.screen.rows.table or ()))
        assert "is cancelled" in driver.text("#message")
        await driver.pilot.press("x")
        assert driver.text("#message") == "no query is running"
        await driver.press("escape")
        assert driver.text("#message") == "error: the query was cancelled"

    drive(store, steps)


@pytest.mark.slow
def test_a_query_ends_with_its_screen(store: Path) -> None:
    async def steps(driver: Driver) -> None:
        await ask(driver)
        await driver.pilot.press("escape", "escape")
        await until(driver, lambda: not running(driver))
        assert driver.screen.title == "runs"

    drive(store, steps)


@pytest.mark.slow
def test_a_query_ends_where_another_is_asked_instead(store: Path) -> None:
    async def steps(driver: Driver) -> None:
        await ask(driver)
        driver.screen.query_one(TextArea).text = "MATCH (r:Run) RETURN count(r) AS n"
        await driver.press("f5")
        assert driver.column("n") == [1]
        await until(driver, lambda: not running(driver))

    drive(store, steps)


@pytest.mark.slow
def test_leaving_ends_all(store: Path) -> None:
    async def steps(driver: Driver) -> None:
        await ask(driver)
        await driver.pilot.press("escape", "q")
        await until(driver, lambda: not running(driver))

    drive(store, steps)


@pytest.mark.slow
def test_the_list_of_runs_follows_a_run_of_another_process(
    store: Path, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernbench.api.active_runs.FIRST_S", 0.0)
    own = shutil.copytree(store, tmp_path / "store")

    async def steps(driver: Driver) -> None:
        await driver.press("down")
        chosen = driver.screen.run_id
        with UnderWay(own, "sweep softmax") as going:
            going.tell(lambda _: "3 of 8 points")
            await until(driver, lambda: "sweep softmax  3 of 8 points" in driver.text("#under-way"))
            new = await asyncio.to_thread(kb.run, "gemm-single-pe", "minimal", store=str(own))
            await until(driver, lambda: driver.column("run_id")[0] == new.id)
        assert driver.screen.run_id == chosen
        await until(driver, lambda: not driver.text("#under-way"))

    drive(own, steps)
