"""Writes the page of the model beside references: ``python -m tools.reference.validation FILE [TABLE]...``.

Tables that are not measured stay as they are. With ``--all`` every case is measured, as by the command's
option of that name: it takes hours, and goes on where it stopped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from kernbench.cli.progress import running
from kernbench.draw.cells import number
from kernbench.validation.compared import ComparedFigure, Report
from kernbench.validation.running import tables, validate
from kernbench.validation.table_file import FigureTable

_HEAD = """# The model beside references

Written by `make validation`; do not edit.

Figures of silicon, of other simulators and of the records, and ours for the same cases. `kernbench validate`
measures ours anew; with `--strict` it exits 1 where one does not keep its limit. A row is within its limit
or **outside**. **Outside with a reason**: a mechanism that the model lacks accounts for a deviation of this
size; how far that goes is said below the table with its source, and beyond it a row is outside. Of limits
**for 9 in 10** nine in ten rows of a group are to be within, else no reason excuses the others. What
**cannot be modelled yet** has no figure of ours. A row is **fitted** where something was chosen so that ours
comes close, else predicted. What the differences mean for results is in
[limits of the model](../explanation/limits.md).
"""
LIMITS = "../explanation/limits.md"
"""The page that explains differences, as seen from the page of the tables."""
_SECTION = re.compile(r"^## .+?(?=^## |\Z)", re.M | re.S)


def page(report: Report, before: str = "") -> str:
    """The page as Markdown. Sections of ``before`` about tables that ``report`` lacks stay as they are."""
    kept = {section.partition("\n")[0][3:]: section for section in _SECTION.findall(before)}
    sections = []
    for name, table in tables().items():
        if name in report.tables:
            sections.append("\n".join(_section(report.part(name), name, table)))
        elif table.title in kept:
            sections.append(kept[table.title].rstrip("\n"))
    return "\n\n".join([_HEAD.rstrip("\n"), *sections]) + "\n"


def anchor(heading: str) -> str:
    """The link target of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _section(report: Report, name: str, table: FigureTable) -> Iterator[str]:
    yield f"## {table.title}\n"
    yield f"`kernbench validate {name}`. {table.about.strip()}\n"
    yield f"{report.summary()}.\n"
    yield from _rows(report.rows)
    yield ""
    yield from (f"- {sample}." for sample in report.samples)
    yield from _remarks(report.rows, table)


def _rows(rows: list[ComparedFigure]) -> Iterator[str]:
    yield "| | reference | ours | unit | difference | limit | basis | verdict |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        cells = (row.title, number(row.reference), number(row.measured), row.unit, row.apart, row.limit)
        basis = "**fitted**" if row.fitted else row.basis
        verdict = row.verdict if row.verdict == "within" else f"**{row.verdict}**"
        yield f"| {' | '.join(cells)} | {basis} | {verdict} |"


def _remarks(rows: list[ComparedFigure], table: FigureTable) -> Iterator[str]:
    for text in dict.fromkeys(text for row in rows for text in row.remarks):
        yield f"- {text[0].upper()}{text[1:].rstrip('.')}."
    for heading in dict.fromkeys(row.see for row in rows if row.see):
        yield f"- What it means for results: [{heading}]({LIMITS}#{anchor(heading)})."
    for text in table.left_out:
        yield f"- Left out: {text}."
    for source in table.sources.values():
        note = f" {source.note.strip()}" if source.note else ""
        yield f"- Source: [{source.name}]({source.url}) {source.version}, {source.licence}.{note}"


if __name__ == "__main__":
    everything = "--all" in sys.argv
    file, *named = (one for one in sys.argv[1:] if one != "--all")
    with running() as progress:
        measured = validate(*named, short=not everything, everything=everything, progress=progress.of_pieces)
    before = Path(file).read_text(encoding="utf-8") if Path(file).exists() else ""
    Path(file).write_text(page(measured, before), encoding="utf-8")
