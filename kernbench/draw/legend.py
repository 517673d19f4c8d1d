"""The legend of a diagram: one entry for each kind of wire, or for each step of utilisation."""

from __future__ import annotations

from dataclasses import dataclass

from kernbench.draw.colours import STEPS, colour, percent
from kernbench.draw.inks import inks, kind_of
from kernbench.draw.machine import Overlay, View


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A sample of a line and what it stands for."""

    colour: str
    thick: float
    dashed: bool
    text: str


def legend(view: View, overlay: Overlay | None = None) -> list[LegendEntry]:
    """Entries in the order in which the view has them."""
    return _kinds(view) if overlay is None else _steps()


def _kinds(view: View) -> list[LegendEntry]:
    entries = []
    for name, ink in inks(view).items():
        wires = [wire for wire in view.wires if kind_of(wire) == name]
        words = [ink.text, f"{_span({wire.gbs for wire in wires})} GB/s"]
        if any(wire.mm > 0 for wire in wires):
            words.append(f"{_span({wire.mm for wire in wires})} mm")
        entries.append(LegendEntry(ink.colour, ink.thick, ink.dashed, ", ".join(words)))
    return entries


def _span(values: set[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _steps() -> list[LegendEntry]:
    entries = [LegendEntry(*colour(0.0), False, "idle")]
    for number in range(len(STEPS)):
        upper = (number + 1) / len(STEPS)
        lower = "over 0" if number == 0 else f"{number / len(STEPS) * 100:.3g}"
        share = upper - 0.5 / len(STEPS)
        entries.append(LegendEntry(*colour(share), False, f"{lower} to {percent(upper)} utilisation"))
    return entries


def remarks(view: View, overlay: Overlay | None = None, run: str = "") -> list[str]:
    """Further remarks for the reader, one per line."""
    lines = []
    if view.stretched:
        lines.append("True to scale except where labels or lines need more room.")
    if overlay is not None:
        lines.append(
            f"Utilisation in {run or 'the run'}: the share of what a link or part could have done; where "
            "several are drawn as one, that of its busiest member: a part or a link within."
        )
    return lines
