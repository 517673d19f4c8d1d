"""Pictures of screens without a terminal: keys are pressed, and what is seen then becomes an SVG."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernbench.tui.app import KernBenchApp
from kernbench.tui.models.browser import Browser
from kernbench.tui.screens.base import BrowserScreen

if TYPE_CHECKING:
    from textual.pilot import Pilot


def picture(browser: Browser, run: str | None, keys: Sequence[str], size: tuple[int, int]) -> str:
    """The screen as SVG text after ``keys`` (Textual's names, such as ``enter``) in columns and rows."""

    async def session() -> str:
        app = KernBenchApp(browser, run)
        async with app.run_test(size=size) as pilot:
            await settled(app, pilot)
            for key in keys:
                await pilot.press(key)
                await settled(app, pilot)
            return app.export_screenshot()

    return asyncio.run(session())


async def settled(app: KernBenchApp, pilot: Pilot[None]) -> None:
    """Wait until a screen is there and nothing more is being worked out."""
    while True:
        await pilot.pause()
        screens = [one for one in app.screen_stack if isinstance(one, BrowserScreen)]
        if screens and not any(one.asking for one in screens):
            break
        await asyncio.sleep(0.005)
    await pilot.pause()
