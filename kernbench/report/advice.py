"""Advice as every screen shows it: its columns, a summary's line, and what is said where there is none."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kernbench.report.cells import number, share

COLUMNS = (("saves_ns", "ns"), ("share", ""), ("rule", ""), ("advice", ""))
"""Columns with their units; ``share`` is of the window's time, and ``rule`` a question with the evidence."""
EMPTY = "no rule has anything to say"
NOTE = (
    "Savings are estimates from the critical path, and those of two pieces of advice may overlap: "
    "follow one, run again, and ask again."
)


def one_line(advice: Sequence[Mapping[str, Any]]) -> str:
    """How many pieces there are and what the first saves, such as a summary says it."""
    if not advice:
        return "advice: none"
    return f"advice: {len(advice)}, the first saves about {share_of(advice[0])}; see 'kernbench advise'"


def share_of(one: Mapping[str, Any]) -> str:
    """What a piece saves as a share of the window's time, in whole percent."""
    return f"{one['share']:.0%}"


def lines(advice: Sequence[Mapping[str, Any]], width: int) -> list[dict[str, Any]]:
    """Rows for screens whose rows are single lines: the text of a piece goes on in rows without figures."""
    rows = []
    for one in advice:
        first, *rest = textwrap.wrap(one["advice"], width)
        rows.append({**one, "advice": first})
        rows += [{"saves_ns": "", "share": "", "advice": text, "rule": ""} for text in rest]
    return rows


class Advice(list[dict[str, Any]]):
    """Pieces of advice; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        from kernbench.pgraph import html_table

        if not self:
            return f"<p>{escape(EMPTY)}</p>"
        rows = [(number(one["saves_ns"]), share(one["share"]), one["rule"], one["advice"]) for one in self]
        return html_table(tuple(name for name, _ in COLUMNS), rows, NOTE)
