"""Figures that were measured before, in a file: long work goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from kernbench.support.data_files import data_dir

_SHOWS = tuple(f"{room}/" for room in ("cli", "draw", "export", "page", "api/contents", "api/sweeps", "tui"))
"""Folders of the package that no figure depends on."""


class KeptFigures:
    """Figures by what was measured, and the digest of the model and its machines; each is kept at once.

    One line is written with one call, so that several processes may share the file, and one that is stopped
    loses the case under way alone. Lines that are broken off, or of another model, are passed over. Without
    a file they are kept as long as this lives.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, Any] = {}
        for line in file.read_text(encoding="utf-8").splitlines() if file and file.exists() else ():
            try:
                kept = json.loads(line)
                self._known[kept["key"]] = kept["figure"]
            except (ValueError, KeyError, TypeError):
                continue

    def find(self, *what: object) -> Any:
        """The figure of what is named by plain data, if this model measured it before; else None."""
        return self._known.get(_key(what))

    def keep(self, *what: object, figure: Any, **said: str) -> None:
        """Write down a figure, plain data; ``said`` tells readers of the file whose it is."""
        key = _key(what)
        self._known[key] = figure
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as lines:
            # The line break comes first: what was broken off before stays a line of its own.
            lines.write("\n" + json.dumps({"key": key, **said, "figure": figure}))


def _key(what: tuple[object, ...]) -> str:
    text = json.dumps([*what, *_digests()], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@cache
def _digests() -> tuple[str, str]:
    """Of the code that a figure depends on, and of the machines, components and kernels that are shipped."""
    package = Path(__file__).resolve().parents[1]
    code = [
        path
        for path in package.rglob("*.p*")
        if path.suffix in (".py", ".pxd", ".pxi", ".pyx")
        and not path.relative_to(package).as_posix().startswith(_SHOWS)
    ]
    configs = data_dir("configs")
    machines = [
        path
        for path in configs.rglob("*")
        if path.suffix in (".yaml", ".py")
        and not (path.parent.name == "validation" and path.suffix == ".yaml")
    ]
    return _digest(package, code), _digest(configs, machines)


def _digest(root: Path, files: list[Path]) -> str:
    content = hashlib.sha256()
    for path in sorted(files):
        content.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes() + b"\0")
    return content.hexdigest()[:16]
