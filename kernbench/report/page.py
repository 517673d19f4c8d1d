"""The page of an evaluation: its facts, notes, pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from kernbench.report import html
from kernbench.report.cells import text


def page(
    title: str,
    facts: Mapping[str, str],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    pictures: Sequence[Path],
    notes: Sequence[str] = (),
) -> str:
    """The page: ``facts`` as lines under the title, then notes, PNG pictures and tables."""
    sections = []
    if notes:
        listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
        sections.append(html.PageSection("Notes", f"<ul>{listed}</ul>"))
    sections += [html.PageSection(file.stem, html.image(file.read_bytes(), file.stem)) for file in pictures]
    sections += [html.PageSection(name, _table(rows)) for name, rows in tables.items()]
    return html.page(title, facts, sections, "KernBench")


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "<p>no rows</p>"
    columns = list(rows[0])
    texts = {name for name in columns if any(isinstance(row[name], str | bool | dict) for row in rows)}
    head = "".join(f"<th{_class(name in texts)}>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr{_movement(row)}>"
        + "".join(f"<td{_class(name in texts)}>{escape(_cell(row[name]))}</td>" for name in columns)
        + "</tr>\n"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _class(text: bool) -> str:
    return ' style="text-align:left"' if text else ' style="text-align:right"'


def _movement(row: Mapping[str, Any]) -> str:
    return f' class="{row["moved"]}"' if row.get("moved") in ("slower", "faster") else ""


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={item}" for name, item in value.items())
    return text(value)
