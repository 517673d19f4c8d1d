"""Start of the terminal UI: everything that can be wrong is said before the screen is taken."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kernbench.engine.run_options import Progress
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore
from kernbench.support.written_files import writing

if TYPE_CHECKING:
    from kernbench.api.result import Run
    from kernbench.tui.app import KernBenchApp


def browse(store: GraphStore, run: str | None = None) -> None:
    """Show the runs of an open store until the user leaves; ``run`` is opened at once.

    ``RunNotFoundError`` when there is no such run.
    """
    from kernbench.tui.app import KernBenchApp
    from kernbench.tui.models.browser import Browser

    browser = Browser(store)
    _show(KernBenchApp(browser, None if run is None else browser.resolve(run)))


def draw(store: GraphStore, run: str | None, keys: Sequence[str], size: tuple[int, int], file: str) -> None:
    """Write the screen after ``keys`` into an SVG file, ``size`` in columns and rows; errors as above."""
    from kernbench.tui.models.browser import Browser
    from kernbench.tui.pictures import picture

    browser = Browser(store)
    text = picture(browser, None if run is None else browser.resolve(run), keys, size)
    with writing(file) as partial:
        partial.write_text(text, encoding="utf-8")


def watch(name: str, start: Callable[[Progress], Run], store: GraphStore, max_ns: float | None = None) -> Run:
    """Show the run ``name`` that ``start`` makes as it goes, then browse it; return it when the user leaves.

    What ``start`` raises is raised here, once the terminal is as it was; ``KeyboardInterrupt`` where the user
    stopped the run.
    """
    from kernbench.tui.app import KernBenchApp
    from kernbench.tui.models.browser import Browser
    from kernbench.tui.models.watch import Watched

    watched = Watched(name, start, max_ns)
    _show(KernBenchApp(Browser(store), watched=watched))
    if watched.error is not None:
        raise watched.error
    assert watched.run is not None
    return watched.run


def _show(app: KernBenchApp) -> None:
    """Run the app; one that SIGTERM has ended ends the process too, once the terminal is as it was."""
    app.run()
    if app.return_code:
        raise SystemExit(app.return_code)


def require_terminal(instead: str) -> None:
    """``UsageError`` where there is no terminal to draw on; ``instead`` is the remedy."""
    # Textual draws on stderr.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(f"the terminal UI needs a terminal; {instead}")
