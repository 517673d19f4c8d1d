"""The order in which runs were kept, without reading the manifest of each of them.

A file beside the projections remembers when each run was kept. It is a cache as they are: an entry counts
only as long as the run's folder has not been changed since, and the others are read from the manifests.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from kernbench_graph.archive import record as archive
from kernbench_graph.archive.atomic import is_temporary, replace_file
from kernbench_graph.errors import ArchiveError
from kernbench_graph.input_files import read_file
from kernbench_graph.json_text import parse

Stamp = list[int]
"""Inode and time of change (ns) of a run's folder, and when the run was kept (ns since the epoch)."""


class RunOrder:
    """The runs in the folder ``runs``; ``file`` remembers their order."""

    def __init__(self, runs: Path, file: Path) -> None:
        self._runs, self._file = runs, file

    def ids(self) -> list[str]:
        """Ids of the runs, oldest first, without those whose manifest cannot be read."""
        known = self._remembered()
        found: dict[str, Stamp] = {}
        for name, inode, changed in self._folders():
            stamp = known.get(name)
            if stamp is None or stamp[:2] != [inode, changed]:
                with suppress(ArchiveError):
                    _, kept_at, _ = archive.read_info(self._runs / name)
                    found[name] = [inode, changed, kept_at]
            else:
                found[name] = stamp
        if found != known:
            with suppress(OSError):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                replace_file(self._file, json.dumps(found).encode(), durable=False)
        return sorted(found, key=lambda name: (found[name][2], name))

    def _folders(self) -> list[tuple[str, int, int]]:
        found = []
        with suppress(FileNotFoundError), os.scandir(self._runs) as entries:
            for entry in entries:
                if not is_temporary(Path(entry.name)) and entry.is_dir():
                    with suppress(FileNotFoundError):  # removed meanwhile
                        state = entry.stat()
                        found.append((entry.name, state.st_ino, state.st_ctime_ns))
        return found

    def _remembered(self) -> dict[str, Stamp]:
        try:
            content = parse(read_file(self._file))
            return {str(name): [int(n) for n in stamp] for name, stamp in content.items() if len(stamp) == 3}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
