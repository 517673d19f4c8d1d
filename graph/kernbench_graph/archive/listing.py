"""Which runs a folder of archives has, for those who only want their names: without pyarrow."""

from __future__ import annotations

from pathlib import Path

from kernbench_graph.archive import manifest
from kernbench_graph.archive.atomic import is_temporary
from kernbench_graph.errors import ArchiveError
from kernbench_graph.json_text import parse


def archived_run_names(store: Path) -> list[tuple[str, tuple[str, ...]]]:
    """(id, tags) of every readable run in the store in folder ``store``, in the order they were kept in."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for file in store.glob(f"runs/*/{manifest.NAME}"):
        if not is_temporary(file.parent):
            try:
                wall = manifest.read(file.parent, "run")["wall"]
                tags = tuple(map(str, parse(wall["tags"] or "[]")))
                found.append((int(wall.get("kept_at_ns", 0)), file.parent.name, tags))
            except (ArchiveError, ValueError, KeyError, TypeError):
                continue  # left out, as from the list of runs
    return [(run_id, tags) for _, run_id, tags in sorted(found)]
