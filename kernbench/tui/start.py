"""Start of the terminal UI: everything that can be wrong is said before the screen is taken."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore
from kernbench.support.written_files import writing


def browse(store: GraphStore, run: str | None = None) -> None:
    """Show the runs of an open store until the user leaves; ``run`` is opened at once.

    ``RunNotFoundError`` when there is no such run.
    """
    from kernbench.tui.app import KernBenchApp
    from kernbench.tui.models.browser import Browser

    browser = Browser(store)
    app = KernBenchApp(browser, None if run is None else browser.resolve(run))
    app.run()
    if app.return_code:  # of one that SIGTERM has ended, which ends the process too
        raise SystemExit(app.return_code)


def draw(store: GraphStore, run: str | None, keys: Sequence[str], size: tuple[int, int], file: str) -> None:
    """Write the screen after ``keys`` into an SVG file, ``size`` in columns and rows; errors as above."""
    from kernbench.tui.models.browser import Browser
    from kernbench.tui.pictures import picture

    browser = Browser(store)
    text = picture(browser, None if run is None else browser.resolve(run), keys, size)
    with writing(file) as partial:
        partial.write_text(text, encoding="utf-8")


def require_terminal() -> None:
    """``UsageError`` where there is no terminal to draw on."""
    # Textual draws on stderr.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError("the terminal UI needs a terminal; draw a screen with --svg FILE instead")
