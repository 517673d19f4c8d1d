"""One self-contained page of HTML: headings, tables, and pictures with their data inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933 }
body { max-width: 1150px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
.scroll { overflow-x: auto } img { max-width: 100% }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
td, th { padding: .2rem .6rem; border-bottom: 1px solid #e4e7eb; text-align: right; white-space: nowrap }
td.text, th.text { text-align: left } .slower { color: #b42318; font-weight: 600 } .faster { color: #1a7f37 }
"""


def page(
    title: str,
    facts: Mapping[str, str],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    pictures: Sequence[Path],
    notes: Sequence[str] = (),
) -> str:
    """The page: ``facts`` as lines under the title, then notes, PNG pictures and tables."""
    parts = [f"<h1>{escape(title)}</h1>"]
    lines = "<br>".join(f"{escape(name)}: {escape(value)}" for name, value in facts.items())
    parts.append(f"<p>{lines}</p>")
    if notes:
        parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>")
    for picture in pictures:
        data = base64.b64encode(picture.read_bytes()).decode("ascii")
        name = escape(picture.stem)
        parts.append(f'<h2>{name}</h2><img alt="{name}" src="data:image/png;base64,{data}">')
    for name, rows in tables.items():
        parts.append(f"<h2>{escape(name)}</h2>{_table(rows)}")
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "<p>no rows</p>"
    columns = list(rows[0])
    texts = {name for name in columns if any(isinstance(row[name], str | bool | dict) for row in rows)}
    head = "".join(f"<th{_class(name in texts)}>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr{_moved(row)}>"
        + "".join(f"<td{_class(name in texts)}>{escape(_cell(row[name]))}</td>" for name in columns)
        + "</tr>\n"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _class(text: bool) -> str:
    return ' class="text"' if text else ""


def _moved(row: Mapping[str, Any]) -> str:
    return f' class="{row["moved"]}"' if row.get("moved") in ("slower", "faster") else ""


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) >= 0.001 or value == 0 else f"{value:.3g}"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={item}" for name, item in value.items())
    return str(value)
