"""``kernbench run --watch``: a run as it goes, its end, and how it is stopped."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.tui.app import KernBenchApp
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.watch import Watched
from kernbench.tui.screens.runs import RunsScreen
from tests.tui.driving import LIMIT_S, Driver


def watched_session(store: Any, watched: Watched, steps: Callable[[Driver], Any]) -> None:
    async def session() -> None:
        app = KernBenchApp(Browser(store), watched=watched)
        async with app.run_test(size=(80, 24)) as pilot, asyncio.timeout(LIMIT_S):
            await steps(Driver(app, pilot))

    asyncio.run(session())


def test_a_run_is_shown_as_it_goes_and_then_browsed(store: Path, ids: list[str]) -> None:
    go_on, under_way = threading.Event(), threading.Event()

    with borrowed(store) as opened:

        def start(progress: Callable[[float, int], None]) -> kb.Run:
            progress(1250.0, 5000)
            under_way.set()
            assert go_on.wait(LIMIT_S)
            return kb.open_run(ids[-1], opened)

        async def steps(ui: Driver) -> None:
            await asyncio.to_thread(under_way.wait, LIMIT_S)
            await ui.pilot.pause()
            assert isinstance(ui.screen, RunsScreen)
            ui.screen.look()
            shown = ui.text("#under-way")
            assert "run gemm" in shown
            assert "simulated 1.250 us, 5.0 k events" in shown
            assert "50 % done" in shown
            go_on.set()
            await ui.settle()
            await ui.settle()
            assert ids[-1] in ui.text("#heading")

        watched_session(opened, Watched("gemm", start, max_ns=2500.0), steps)


@pytest.mark.slow
def test_leaving_stops_the_run_as_an_interrupt_does(tmp_path: Path) -> None:
    first = threading.Event()

    def start(progress: Callable[[float, int], None]) -> kb.Run:
        def slowly(sim_ns: float, events: int) -> None:
            first.set()
            while not watched.stopping:
                time.sleep(0.002)
            progress(sim_ns, events)

        # The first call comes after so many events that a short run is over before.
        return kb.run("gpt3-qkv", "default", progress=slowly, store=tmp_path / "store")

    watched = Watched("gpt3-qkv", start)

    async def steps(ui: Driver) -> None:
        await asyncio.to_thread(first.wait, LIMIT_S)
        await ui.pilot.press("q")
        while ui.app.is_running and watched.error is None:
            await asyncio.sleep(0.01)

    with borrowed(tmp_path / "store") as opened:
        watched_session(opened, watched, steps)
        assert isinstance(watched.error, KeyboardInterrupt)
        assert "ns" in str(watched.error)
        assert opened.runs() == []


def test_without_a_terminal_the_remedy_is_named(cli: Any) -> None:
    ended = cli("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--watch")
    assert (ended.status, ended.out) == (2, "")
    assert "leave out --watch" in ended.err


@pytest.mark.parametrize("stopping", [False, True])
def test_progress_is_seen_until_the_run_is_to_stop(stopping: bool) -> None:
    watched = Watched("x", lambda progress: progress(1.0, 2))  # type: ignore[arg-type, return-value, func-returns-value]
    if stopping:
        watched.stop()
    watched.work()
    assert isinstance(watched.error, KeyboardInterrupt) == stopping
    assert ("simulated 1 ns, 2 events" in watched.text) != stopping
