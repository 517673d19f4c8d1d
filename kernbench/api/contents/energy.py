"""Energy on every screen: its levels, columns, the line above, and what is said without figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernbench.analysis.path.model_time import NONE_OF_MODEL, OF_MODEL
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.energy_use import HEADINGS, energy_levels
from kernbench.api.result import Run
from kernbench.draw.cells import joules, number
from kernbench.draw.content import SHARE, Column, Content, Grid

EMPTY = "no part of this machine has energy figures: give them under 'energy' in the topology"
NOTE = (
    "Counted from bytes, messages and operations of the whole run, using published figures for other "
    "chips unless the topology sets its own."
)
_NO_STATIC = "static energy is not in these figures: no part of the machine has static_mw"


def of_run(run: Run, _window: ChosenWindow) -> Content:
    """Where the energy of the whole run went, by each level."""
    return content(energy_levels(run))


def of_use(found: Mapping[str, Any]) -> Content:
    """One answer of :func:`kernbench.energy`."""
    shown = content([found])
    of, *more = shown.said
    return replace(shown, said=[f"{found['bench']} on {found['topology']}: {of}", *more])


def content(levels: Sequence[Mapping[str, Any]]) -> Content:
    """Answers of :func:`kernbench.energy`, each a table."""
    grids = [
        Grid(found["by"], HEADINGS[found["by"]], _columns(found), found["rows"] if found["energy_pj"] else (),
             bars="" if _of_model(found) else "energy_pj", total=found["energy_pj"])
        for found in levels
    ]  # fmt: skip
    return Content(grids, EMPTY, said=_said(levels[0]), note=NOTE, choice="by")


def _of_model(found: Mapping[str, Any]) -> bool:
    """Whether rows say what they carry out of a model: kernels of one name, which bars cannot tell apart."""
    return any(row.get(name) for row in found["rows"] for name in OF_MODEL)


def _columns(found: Mapping[str, Any]) -> list[Column]:
    """Dynamic and static energy stand apart where there are both."""
    known = ("launch", *OF_MODEL, "name", "parts")
    names = [name for name in known if any(row.get(name, "") != "" for row in found["rows"])]
    names += ["kind"] if found["by"] == "part" else []
    pj = ["energy_pj", *(["dynamic_pj", "static_pj"] if found["static_pj"] else [])]
    columns = [*map(Column, names), *(Column(name, "pJ") for name in pj)]
    if any("watts" in row for row in found["rows"]):
        columns += [Column("watts", "W"), Column("clock_share", SHARE)]
    columns.insert(len(names) + 1, Column("share", SHARE))
    return columns


def _said(found: Mapping[str, Any]) -> list[str]:
    """The energy of the run and of its launches, and what is not in it."""
    if not found["energy_pj"]:
        return [EMPTY]
    of = joules(found["energy_pj"])
    if found["latency_ns"] is not None:  # traffic has no launches
        kernels = number(found["latency_ns"] - found["launch_ns"])
        of += f"; its kernels took {joules(found['launches_pj'])} in {kernels} ns"
    told = [of, *([] if found["static_pj"] else [_NO_STATIC])]
    return [*told, NONE_OF_MODEL] if found["by"] == "model" and not _of_model(found) else told
