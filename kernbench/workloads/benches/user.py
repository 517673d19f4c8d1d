"""What users call their own benches: a Python file or an importable module, and a name in it."""

from __future__ import annotations


def names_user_bench(identifier: str) -> bool:
    """True for ``file.py``, ``file.py:name`` and ``package.module:name``."""
    place, _, _ = parts(identifier)
    return place.endswith(".py") or ":" in identifier


def file_of(identifier: str) -> tuple[str, str] | None:
    """The file of ``file.py`` or ``file.py:name``, and ``:name`` or nothing; None for other names."""
    place, colon, name = parts(identifier)
    return (place, f"{colon}{name}") if place.endswith(".py") else None


def place_of(identifier: str) -> str:
    """The file or module of a user's bench; empty for other names."""
    return parts(identifier)[0] if names_user_bench(identifier) else ""


def parts(identifier: str) -> tuple[str, str, str]:
    """The file or module, the colon if there is one, and the name after it."""
    if identifier.endswith(".py"):
        return identifier, "", ""
    place, colon, name = identifier.rpartition(":")
    return (place, colon, name) if colon else (identifier, "", "")
