"""Driving the terminal UI without a terminal: start it, press keys, wait until it has drawn the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from kernbench.api.stores import borrowed
from kernbench.tui.app import KernBenchApp
from kernbench.tui.models.browser import Browser
from kernbench.tui.pictures import settled
from kernbench.tui.screens.base import BrowserScreen
from kernbench.tui.widgets.rows import Rows

LIMIT_S = 120.0
"""Far longer than anything here takes, also on a machine that does other things."""


class Driver:
    """Keys in, texts out."""

    def __init__(self, app: KernBenchApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> BrowserScreen:
        """The screen on top, dialogs aside."""
        return [one for one in self.app.screen_stack if isinstance(one, BrowserScreen)][-1]

    @property
    def rows(self) -> Rows:
        """Its table."""
        return self.screen.query_one(Rows)

    async def settle(self) -> None:
        """Wait until nothing is being worked out."""
        async with asyncio.timeout(LIMIT_S):
            await settled(self.app, self.pilot)

    async def press(self, *keys: str) -> None:
        """Press keys, each once the one before has had its effect."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """Type into the field that has the focus."""
        await self.pilot.press(*text)
        await self.settle()

    def text(self, selector: str) -> str:
        """The text of a static widget."""
        return str(self.screen.query_one(selector, Static).render())

    def column(self, name: str) -> list[object]:
        """A column of the table on the screen."""
        table = self.rows.table
        assert table is not None
        return [table.value(row, name) for row in range(len(table))]

    async def seek(self, name: str, value: object) -> None:
        """Move the cursor to the first row with that value."""
        self.rows.cursor = self.column(name).index(value)
        await self.pilot.pause()

    def lines(self) -> list[str]:
        """The lines that the terminal shows."""
        return [
            "".join(segment.text for segment in strip)
            for strip in self.app.screen._compositor.render_strips()
        ]


def drive(
    store: Path,
    steps: Callable[[Driver], Awaitable[None]],
    run: str | None = None,
    size: tuple[int, int] = (100, 30),
) -> None:
    """Start the app on a store, and take ``steps`` in it."""

    async def session() -> None:
        with borrowed(store) as opened:
            app = KernBenchApp(Browser(opened), run)
            async with app.run_test(size=size) as pilot:
                driver = Driver(app, pilot)
                await driver.settle()
                await steps(driver)

    asyncio.run(session())
