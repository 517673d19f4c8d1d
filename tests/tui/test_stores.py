"""Stores of every kind can be browsed; a mouse does what keys do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.tui.app import KernBenchApp
from kernbench.tui.models.browser import Browser
from kernbench.tui.screens.page import PageScreen
from kernbench.tui.widgets.rows import Rows
from tests.tui.driving import Driver, drive


def browse(url: str) -> None:
    """Keep a run, go from it to a transaction, and ask a question."""

    async def session() -> None:
        with borrowed(url) as store:
            run = kb.run("gemm-single-pe", "minimal", store=store)
            app = KernBenchApp(Browser(store), run.id)
            async with app.run_test(size=(100, 30)) as pilot:
                ui = Driver(app, pilot)
                await ui.settle()
                assert run.id in ui.text("#heading")
                await ui.press("6", "enter")
                assert len(ui.column("seq")) > 0
                await ui.press("a")
                await ui.seek("question", "critical-path/by-cause")
                await ui.press("enter")
                assert ui.column("cause") == list(run.critical_path("all").by_cause())
                assert ui.screen.failure == ""

    asyncio.run(session())


@pytest.mark.slow
def test_a_store_in_memory_is_browsed() -> None:
    browse("memory:")


def test_a_store_on_a_server_is_browsed(neo4j_url: str) -> None:
    browse(neo4j_url)


@pytest.mark.slow
def test_a_mouse_sorts_chooses_and_opens(store: Path, ids: list[str]) -> None:
    async def steps(ui: Driver) -> None:
        head = next(at for at, line in enumerate(ui.lines()) if "latency_ns" in line)
        left = ui.lines()[head].index("latency_ns")
        await ui.pilot.click(Rows, offset=(left + 1, 0))
        await ui.settle()
        latencies = ui.column("latency_ns")
        assert latencies == sorted(latencies, reverse=True)  # type: ignore[type-var]
        await ui.pilot.click(Rows, offset=(left + 1, 0))
        await ui.settle()
        assert ui.column("latency_ns") == latencies[::-1]
        await ui.pilot.click(Rows, offset=(2, 3))
        assert ui.rows.cursor == 2
        wanted = ui.column("run_id")[2]
        await ui.pilot.click(Rows, offset=(2, 3), times=2)
        await ui.settle()
        assert isinstance(ui.screen, PageScreen)
        assert ui.screen.run_id == wanted

    drive(store, steps)
