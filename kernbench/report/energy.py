"""Energy as every screen shows it: its levels, columns, the line above, and what is said without figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kernbench.report.cells import number, share

LEVELS = (
    ("kind", "By kind of part"),
    ("part", "By part"),
    ("line", "By source line"),
    ("launch", "By launch"),
)
"""What rows may be, with a heading; the rows of each add up to the energy of the run."""
EMPTY = "no part of this machine has energy figures: give them under 'energy' in the topology"
NOTE = (
    "Counted from bytes, messages and operations of the whole run, with figures per byte and operation "
    "that are published ones of other chips unless the topology gives its own."
)
_NO_STATIC = "static energy is not in these figures: no part of the machine has static_mw"
_UNITS = {"energy_pj": "pJ", "dynamic_pj": "pJ", "static_pj": "pJ"}
_SIZES = (("J", 1e12), ("mJ", 1e9), ("uJ", 1e6), ("nJ", 1e3))


def columns(rows: Sequence[Mapping[str, Any]], by: str, static: float) -> list[tuple[str, str]]:
    """Columns of the rows of a level with their units; dynamic and static apart where there are both."""
    names = [name for name in ("launch", "name", "parts") if any(name in row for row in rows)]
    names += [*(["kind"] if by == "part" else []), "energy_pj", "share"]
    names += ["dynamic_pj", "static_pj"] if static else []
    return [(name, _UNITS.get(name, "")) for name in names]


def headline(found: Mapping[str, Any]) -> list[str]:
    """The energy of the run and of its launches, and what is not in it: lines for people."""
    if not found["energy_pj"]:
        return [EMPTY]
    of = f"{joules(found['energy_pj'])}, of which launches took {joules(found['launches_pj'])}"
    return [f"{of} in {number(found['latency_ns'])} ns", *([] if found["static_pj"] else [_NO_STATIC])]


def joules(pj: float) -> str:
    """An energy in the unit that suits it."""
    unit, size = next(((unit, size) for unit, size in _SIZES if pj >= size), ("pJ", 1.0))
    return f"{number(pj / size)} {unit}"


class EnergyUse(dict[str, Any]):
    """Where the energy of a run went; a notebook shows it as a table."""

    def _repr_html_(self) -> str:
        from kernbench.pgraph import html_table

        said = f"<p>{escape('; '.join(headline(self)))}</p>"
        if not self["energy_pj"]:
            return said
        names = [name for name, _ in columns(self["rows"], self["by"], self["static_pj"])]
        rows = [
            tuple(share(row[name]) if name == "share" else row[name] for name in names)
            for row in self["rows"]
        ]
        return said + html_table(tuple(names), rows, NOTE)
