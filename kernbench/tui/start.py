"""Start of the terminal UI: everything that can be wrong is said before the screen is taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernbench.errors import MissingExtraError
from kernbench.pgraph import GraphStore


def browse(store: GraphStore, run: str | None = None) -> None:
    """Show the runs of an open store until the user leaves; ``run`` is opened at once.

    ``MissingExtraError`` when Textual is not installed, ``RunNotFoundError`` when there is no such run.
    """
    require()
    from kernbench.tui.app import KernBenchApp
    from kernbench.tui.models.browser import Browser

    browser = Browser(store)
    KernBenchApp(browser, None if run is None else browser.resolve(run)).run()


def draw(store: GraphStore, run: str | None, keys: Sequence[str], size: tuple[int, int], file: str) -> None:
    """Write the screen after ``keys`` into an SVG file, ``size`` in columns and rows; errors as above."""
    require()
    from kernbench.tui.models.browser import Browser
    from kernbench.tui.pictures import picture

    browser = Browser(store)
    text = picture(browser, None if run is None else browser.resolve(run), keys, size)
    Path(file).write_text(text, encoding="utf-8")


def require() -> None:
    """:class:`~kernbench.errors.MissingExtraError` when Textual is not installed."""
    try:
        import textual  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "the terminal UI needs textual, which is not installed; run: pip install 'kernbench[tui]'"
        ) from None
