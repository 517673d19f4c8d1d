"""Components files: which class carries out which ``impl`` of a topology."""

from __future__ import annotations

from pathlib import Path

from kernbench.errors import ConfigError
from kernbench.hardware.topology.marked_yaml import load_mapping
from kernbench.support.input_files import input_text


def read_components(path: Path) -> dict[str, str]:
    """The ``impl: module:Class`` entries of one components file.

    A class in a Python file, ``file.py:Class``, is found relative to the components file; the path in the
    result is absolute. Raises :class:`ConfigError` naming file, line and entry.
    """
    text = input_text(path, "a file of lines 'impl: module:Class'")
    entries, marked = load_mapping(text, str(path), "lines of the form 'impl: module:Class'")
    found: dict[str, str] = {}
    for name, target in entries.items():
        if not isinstance(target, str) or target.count(":") != 1:
            line = marked.line((name,))
            raise ConfigError(f"{path}:{line}: {name}: expected 'module:Class'")
        file, _, class_name = target.partition(":")
        if file.endswith(".py"):
            target = f"{(path.parent / Path(file).expanduser()).resolve()}:{class_name}"
        found[str(name)] = target
    return found
