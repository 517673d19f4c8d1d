"""The legend of a diagram: one entry for each kind of link, or for each step of utilisation."""

from __future__ import annotations

from dataclasses import dataclass

from kernbench.kinds import LINK_KINDS
from kernbench.report.colours import STEPS, colour, percent
from kernbench.report.views import Overlay, View


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
    figures: dict[tuple[str, str], tuple[set[float], set[float]]] = {}
    for wire in view.wires:
        gbs, mm = figures.setdefault((wire.kind, wire.name), (set(), set()))
        gbs.add(wire.gbs)
        mm.add(wire.mm)
    entries = []
    for (kind, name), (gbs, mm) in figures.items():
        record = LINK_KINDS[kind]
        words = [name or record.title, f"{_span(gbs)} GB/s"]
        if max(mm) > 0:
            words.append(f"{_span(mm)} mm")
        entries.append(LegendEntry(record.colour, record.thick, record.dashed, ", ".join(words)))
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
