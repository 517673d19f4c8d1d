"""Two runs side by side, as they are described for every screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kernbench.api.comparing import compare
from kernbench.screens import comparison
from kernbench.tui.models.pages import Page, TabSection
from kernbench.tui.models.screen_table import grid_table

if TYPE_CHECKING:
    from kernbench.pgraph import GraphStore

_RESOURCES = 1000


def compare_page(store: GraphStore, before: str, after: str) -> Page:
    """The comparison; runs of different benches are compared as well. Rows lead into the later run."""
    found = comparison.content(compare(before, after, store, top=_RESOURCES, any_bench=True))
    facts = [*found.facts, *(("note", line) for line in found.wrong)]
    sections = [TabSection(grid.heading, partial(grid_table, grid)) for grid in found.grids]
    return Page("comparison", facts, sections, None, after)
