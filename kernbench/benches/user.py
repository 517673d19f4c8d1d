"""Benches of users: from a Python file, or from an importable module."""

from __future__ import annotations

from pathlib import Path

from kernbench.benches.registry import BenchSpec, forget, registered_in
from kernbench.errors import UsageError
from kernbench.user_modules import load_file, load_module, module_name


def names_user_bench(identifier: str) -> bool:
    """True for ``file.py``, ``file.py:name`` and ``package.module:name``."""
    place, _, _ = _parts(identifier)
    return place.endswith(".py") or ":" in identifier


def file_of(identifier: str) -> tuple[str, str] | None:
    """The file of ``file.py`` or ``file.py:name``, and ``:name`` or nothing; None for other names."""
    place, colon, name = _parts(identifier)
    return (place, f"{colon}{name}") if place.endswith(".py") else None


def place_of(identifier: str) -> str:
    """The file or module of a user's bench; empty for other names."""
    return _parts(identifier)[0] if names_user_bench(identifier) else ""


def load_user_bench(identifier: str) -> BenchSpec:
    """Import the file or module that ``identifier`` names and return its bench.

    Errors are :class:`UsageError`: no such file or module, no ``@bench`` in it, no bench of that name,
    or several where none was named. Errors raised by the module itself are reported with its file.
    """
    place, colon, name = _parts(identifier)
    if place.endswith(".py"):
        forget(module_name(Path(place)))
        module = load_file(place, "bench")
    else:
        module = load_module(place, "bench")
    benches = registered_in(module)
    if not benches:
        raise UsageError(f"'{place}' registers no bench; decorate a function run(torch) with @bench")
    if colon:
        if name not in benches:
            raise UsageError(f"'{place}' has no bench '{name}'; it has {', '.join(benches)}")
        return benches[name]
    if len(benches) > 1:
        raise UsageError(f"'{place}' has several benches; add one of {', '.join(f':{b}' for b in benches)}")
    return next(iter(benches.values()))


def _parts(identifier: str) -> tuple[str, str, str]:
    if identifier.endswith(".py"):
        return identifier, "", ""
    place, colon, name = identifier.rpartition(":")
    return (place, colon, name) if colon else (identifier, "", "")
