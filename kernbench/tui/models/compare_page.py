"""Two runs side by side: what was configured differently, what got slower, where, by how much."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kernbench import api
from kernbench.report.cells import text
from kernbench.report.content import Column
from kernbench.tui.models.pages import Page, Section
from kernbench.tui.models.table import Table

if TYPE_CHECKING:
    from kernbench.pgraph import GraphStore

_RESOURCES = 1000
_FIGURES = (
    Column("name"),
    Column("before", "ns"),
    Column("after", "ns"),
    Column("change_ns", "ns"),
    Column("change", percent=True),
    Column("slower"),
    Column("launch"),
)
_CAUSES = (Column("cause"), *_FIGURES[1:4])
_CONFIGURED = (Column("what"), Column("key"), Column("before"), Column("after"))
_PLACES = (
    Column("resource"),
    Column("kind"),
    *(Column(f"{what}_ns_{when}", "ns") for what in ("busy", "wait") for when in ("before", "after")),
    Column("change_ns", "ns"),
)


def compare_page(store: GraphStore, before: str, after: str) -> Page:
    """The comparison; runs of different benches are compared as well. Rows lead into the later run."""
    found = api.compare(before, after, store, top=_RESOURCES, any_bench=True)
    facts = [(end, _identity(found[end])) for end in ("before", "after")]
    slower = [f"{one['name']} {one['change']:+.1%}" for one in found["figures"] if one["slower"]]
    share = f"{found['threshold']:.0%}"
    facts.append(
        (
            "result",
            f"slower: {', '.join(slower)}" if slower else f"nothing slower by more than {share}",
        )
    )
    alike = "configured alike" if found["same_config"] else "the difference was not kept"
    sections = [
        Section("Times", lambda: Table.of_dicts(_times(found["figures"]), _FIGURES)),
        Section("Configured", lambda: Table.of_dicts(found["configured"], _CONFIGURED, alike)),
        Section("Causes", lambda: Table.of_dicts(found["causes"], _CAUSES, "no critical path")),
        Section("Slower where", lambda: Table.of_dicts(found["resources"], _PLACES, "nothing took longer")),
    ]
    return Page("comparison", facts, sections, None, after)


def _times(figures: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The figures, those of a launch with its number, by which they lead to it."""
    launches = ((figure, re.match(r"launch (\d+) ", figure["name"])) for figure in figures)
    return [{**figure, "launch": int(found[1]) if found else -1} for figure, found in launches]


def _identity(run: Mapping[str, Any]) -> str:
    params = " ".join(f"{key}={text(value)}" for key, value in run["params"].items())
    return f"{run['run_id']}, {run['bench']} {params} on {run['topology']}"
