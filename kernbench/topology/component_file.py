"""Components files: which class carries out which ``impl`` of a topology."""

from __future__ import annotations

from pathlib import Path

from kernbench.errors import ConfigError
from kernbench.topology.marked_yaml import load_marked
from kernbench.topology.problems import show


def read_components(path: Path) -> dict[str, str]:
    """The ``impl: module:Class`` entries of one components file.

    A class in a Python file, ``file.py:Class``, is found relative to the components file; the path in the
    result is absolute. Raises :class:`ConfigError` naming file, line and entry.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; name a components file") from None
    except (OSError, ValueError) as error:  # a ValueError where the name has a null byte
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot be read ({reason}); name an existing components file") from None
    marked = load_marked(text, str(path))
    entries = marked.data
    if not isinstance(entries, dict):
        raise ConfigError(f"{path}:1: is {show(entries)}, expected lines of the form 'impl: module:Class'")
    found: dict[str, str] = {}
    for name, target in entries.items():
        if not isinstance(target, str) or target.count(":") != 1:
            line = marked.line((name,))
            raise ConfigError(f"{path}:{line}: {name}: is {show(target)}, expected 'module:Class'")
        file, _, class_name = target.partition(":")
        if file.endswith(".py"):
            target = f"{(path.parent / Path(file).expanduser()).resolve()}:{class_name}"
        found[str(name)] = target
    return found
