"""What the manifests of a store's runs say, without reading each of them again.

A file beside the projections remembers it. It is a cache as they are: an entry counts only as long as the
run's manifest has not been changed since, and the others are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kernbench_graph.archive import manifest
from kernbench_graph.archive.atomic import is_temporary, replace_file
from kernbench_graph.archive.brief import brief_version
from kernbench_graph.errors import ArchiveError
from kernbench_graph.input_files import read_file
from kernbench_graph.json_text import parse
from kernbench_graph.stores.embedded.recent import state_of


class Remembered:
    """What ``read`` gives for each run in the folder ``runs``; ``file`` remembers it.

    That is a list for JSON, whose first item is when the run was kept.
    """

    def __init__(
        self,
        runs: Path,
        file: Path,
        read: Callable[[Path], list[Any]],
        failed: Callable[[str, ArchiveError], None] | None = None,
    ) -> None:
        """``failed`` is told of each run whose manifest cannot be read."""
        self._runs, self._file, self._read, self._failed = runs, file, read, failed
        self._known: dict[str, list[Any]] | None = None
        """State of the manifest and what is remembered, by run."""

    def all(self) -> dict[str, list[Any]]:
        """What is read for each run, by its id, oldest first, without those whose manifest cannot be read."""
        known = self._from_file() if self._known is None else self._known
        found: dict[str, list[Any]] = {}
        for name in self.ids():
            state = [*(state_of(self._runs / name / manifest.NAME) or ())]
            entry = known.get(name)
            if entry is None or entry[0] != state:
                try:
                    entry = [state, self._read(self._runs / name)]
                except ArchiveError as error:
                    if self._failed is not None and (self._runs / name).is_dir():  # else removed meanwhile
                        self._failed(name, error)
                    continue
            found[name] = entry
        if found.keys() != known.keys() or any(found[name] is not known[name] for name in found):
            with suppress(OSError):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                content = {"of": brief_version(), "runs": found}
                replace_file(self._file, json.dumps(content).encode(), durable=False)
        self._known = found
        return {name: found[name][1] for name in sorted(found, key=lambda name: (found[name][1][0], name))}

    def ids(self) -> list[str]:
        """The names of all runs, readable or not."""
        with suppress(FileNotFoundError), os.scandir(self._runs) as entries:
            return sorted(
                entry.name for entry in entries if not is_temporary(Path(entry.name)) and entry.is_dir()
            )
        return []

    def _from_file(self) -> dict[str, list[Any]]:
        try:
            content = parse(read_file(self._file))
            whole = content["of"] == brief_version()
            return {name: [state, said] for name, (state, said) in content["runs"].items() if whole}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
