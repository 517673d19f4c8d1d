"""Two runs side by side on every screen: what was configured differently, what got slower and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.draw.cells import number, text
from kernbench.draw.content import SHARE, Column, Content, Grid

_CHANGE = tuple(Column(name, "ns") for name in ("before", "after", "change_ns"))
_SHARE = Column("change", SHARE, signed=True)
_FIGURES = (Column("name"), *_CHANGE, _SHARE, *map(Column, ("slower", "launch")))
_PLACES = (
    *map(Column, ("resource", "kind")),
    *(Column(f"{what}_ns_{when}", "ns") for what in ("busy", "wait") for when in ("before", "after")),
    Column("change_ns", "ns"),
)
_FIRST = 200
_NAMED = 4
"""Figures that are named above the tables."""
_LONGEST = 60
"""Characters of a setting, such as changed lines of a file."""


def content(found: Mapping[str, Any]) -> Content:
    """What :func:`kernbench.api.comparing.compare` has found."""
    alike = "alike" if found["same_config"] else "differently in a way that was not kept"
    facts = [(end, _identity(found[end])) for end in ("before", "after")]
    facts += [] if found["configured"] else [("configured", alike)]
    causes = [
        [row["cause"], *([row[when], number(row[when])] for when in ("before", "after"))]
        for row in found["causes"]
    ]
    grids = [
        Grid("configured", "Configured differently", [*map(Column, ("what", "key", "before", "after"))],
             [{key: _short(value) for key, value in row.items()} for row in found["configured"]],
             f"configured {alike}", in_summary=None),
        Grid("figures", "Times", _FIGURES, found["figures"], in_summary=None),
        Grid("causes", "Where the time went", (Column("cause"), *_CHANGE), found["causes"],
             "no critical path", drawn=causes, only_bars=True, in_summary=None),
        Grid("locations", "Most changed on the critical path", (Column("location"), *_CHANGE),
             found["locations"], "nothing on it changed", parts=("location",), first=_FIRST, in_summary=10),
        Grid("resources", "Slower where", _PLACES, found["resources"], "nothing took longer",
             parts=("resource",), first=_FIRST, in_summary=10),
    ]  # fmt: skip
    wrong = []
    if found["before"]["bench"] != found["after"]["bench"]:
        wrong.append("Two different benches: their times say little about each other.")
    facts.append(("window", found["window"]))
    if found["slower"]:
        wrong.append(_result(found))
    else:
        facts.append(("result", _result(found)))
    return Content(grids, "", facts=facts, wrong=wrong)


def _identity(run: Mapping[str, Any]) -> str:
    params = "".join(f" {key}={text(value)}" for key, value in run["params"].items())
    status = "" if run["status"] == "ok" else f" ({run['status']})"
    return f"{run['run_id']}: {run['bench']}{params} on {run['topology']}{status}"


def _short(value: Any) -> Any:
    return f"{value[: _LONGEST - 4]} ..." if isinstance(value, str) and len(value) > _LONGEST else value


def _result(found: Mapping[str, Any]) -> str:
    """How much each figure changed; those beyond the threshold where there are any."""
    changed = [one for one in found["figures"] if one["change"] is not None]
    changed = [one for one in changed if one["slower"]] or changed
    named = ", ".join(f"{one['name']} {one['change']:+.1%}" for one in changed[:_NAMED])
    more = f", and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    limit = f"{100 * found['threshold']:g}%"
    if found["slower"]:
        return f"slower: {named}{more} (more than {limit} counts)"
    return f"nothing slower by more than {limit}: {named}{more}"
