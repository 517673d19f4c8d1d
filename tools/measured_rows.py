"""Rows of questions that a page of measurements lacks, added to it: ``--missing`` of the tools for it.

The other rows stay as they were measured; the page says which ones are of another day.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path

_HEADING = "\n## Questions\n"


def lacking(page: Path, names: Collection[str]) -> list[str]:
    """Those of ``names`` that have no row under "Questions", or one without any figure."""
    _, rows, _ = _parts(page.read_text(encoding="utf-8"))
    return [name for name in names if not re.search(r"\d", rows.get(name, "").partition(name)[2])]


def with_rows(page: Path, rows: Mapping[str, str], measured: str) -> str:
    """The page's text with ``rows`` by question among the others; ``measured`` says when and where."""
    head, there, rest = _parts(page.read_text(encoding="utf-8"))
    table = {**there, **rows}
    header, rule = [line for line in head[-2:] if line.startswith("|")]
    before = "\n".join(head[:-2])
    busy = f"load average {os.getloadavg()[2]:.1f}"  # of a quarter of an hour: other work makes times longer
    later = textwrap.fill(f"Measured later, {measured}, {busy}: {', '.join(sorted(rows))}.", 110)
    lines = [before, header, rule, *(table[name] for name in sorted(table)), "", later, "", rest.strip()]
    return "\n".join(lines) + "\n"


def _parts(text: str) -> tuple[list[str], dict[str, str], str]:
    """What stands before the rows of the table of questions, these by name, and what follows them."""
    start, mark, section = text.partition(_HEADING)
    lines = section.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|---")) + 1
    last = next(number for number in range(first, len(lines) + 1)
                if number == len(lines) or not lines[number].startswith("| "))  # fmt: skip
    rows = {line.split("|")[1].strip(): line for line in lines[first:last]}
    return [*(start + mark).splitlines(), *lines[:first]], rows, "\n".join(lines[last:])
