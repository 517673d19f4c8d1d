"""The reference page of the tables: rows, verdicts, what the model lacks, sources."""

from __future__ import annotations

from collections.abc import Iterator

from kernbench.report.cells import number
from kernbench.validation.running import Report, Row
from kernbench.validation.table_file import Table

_HEAD = """# The model beside references

Written by `kernbench validate --page docs/reference/validation.md`; do not edit.

Figures of silicon, of other simulators and of the records, and ours for the same cases. `kernbench validate`
measures ours anew; with `--strict` it exits 1 where one does not keep its limit. A row is within its limit
or **outside**; **explained** is outside for a reason that was checked for this very figure; what **cannot be
modelled yet** has no figure of ours. What the differences mean for results is in
[limits of the model](../explanation/limits.md).
"""


def page(report: Report) -> str:
    """The whole page as Markdown."""
    return "\n".join([_HEAD, f"{report.summary()}.\n", *_sections(report)])


def _sections(report: Report) -> Iterator[str]:
    for name, table in report.tables.items():
        rows = [row for row in report.rows if row.table == name]
        yield f"## {table.title}\n"
        yield f"`kernbench validate {name}`. {table.about.strip()}\n"
        yield from _rows(rows)
        yield ""
        yield from _remarks(rows, table)
        yield ""


def _rows(rows: list[Row]) -> Iterator[str]:
    yield "| | reference | ours | unit | difference | limit | verdict |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        cells = (row.row, number(row.reference), number(row.measured), row.unit, row.apart, row.limit)
        verdict = row.verdict if row.verdict == "within" else f"**{row.verdict}**"
        yield f"| {' | '.join(cells)} | {verdict} |"


def _remarks(rows: list[Row], table: Table) -> Iterator[str]:
    for text in dict.fromkeys(text for row in rows for text in row.remarks):
        yield f"- {text[0].upper()}{text[1:]}."
    for text in table.left_out:
        yield f"- Left out: {text}."
    for source in table.sources.values():
        note = f" {source.note.strip()}" if source.note else ""
        yield f"- Source: [{source.name}]({source.url}) {source.version}, {source.licence}.{note}"
