"""Source lines as hyperlinks of a terminal (OSC 8), where the file that was run lies there unchanged."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kernbench.support.input_files import read_text

if TYPE_CHECKING:
    from kernbench.api.result import Run

_FILES: dict[str, str] = {}
"""URIs of files by the names that lines have."""


def link_lines(run: Run) -> None:
    """Have the lines of a run's bench lead to its file from now on, in a terminal."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return
    from kernbench.analysis.path.source_lines import kept_source
    from kernbench.workloads import benches

    name, lines = kept_source(run.properties)
    place = str((run.properties.get("again") or {}).get("bench") or "").partition(":")[0]
    file = Path(place) if place.endswith(".py") else Path(benches.__file__).parent / name
    try:
        same = bool(name) and read_text(file).splitlines() == lines
    except (OSError, ValueError):
        return
    if same:
        _FILES[name] = file.resolve().as_uri()


def linked(text: str) -> str:
    """A line of output with links on the source lines in it."""
    for name, uri in _FILES.items():
        text = re.sub(
            rf"(?<![\w./-]){re.escape(name)}:(\d+)",
            lambda found, uri=uri: f"\x1b]8;;{uri}#L{found[1]}\x1b\\{found[0]}\x1b]8;;\x1b\\",  # type: ignore[misc]
            text,
        )
    return text
