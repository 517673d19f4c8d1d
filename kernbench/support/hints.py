"""Parts of error messages: suggestions for misspelt names, and values in few characters."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from itertools import islice

_LONGEST = 80
"""Characters of a value in a message."""


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that begins with the word ``name`` or is spelt most like it; None when none is close."""
    known = list(known)
    same = [one for one in known if one.lower() == name.lower()]
    same = same or [one for one in known if len(name) > 2 and one.lower().startswith(f"{name.lower()}_")]
    found = same or difflib.get_close_matches(name, known, n=1)
    return found[0] if found else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'? `` with a space behind it, or nothing when no known name is close."""
    found = closest(name, known)
    return f"did you mean '{found}'? " if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?``, or the list of known names when none is close."""
    choices = list(known)
    return suggestion(name, choices).rstrip() or f"expected one of {', '.join(choices)}"


def shown(value: object) -> str:
    """A value in a message: of an array its type, shape and first numbers, of the rest a short ``repr``."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    flat = getattr(value, "flat", None)
    if shape and dtype is not None and flat is not None:
        first = [f"{number:.6g}" for number in islice(flat, 3)]
        more = ", ..." if math.prod(shape) > len(first) else ""
        return f"an array {dtype}{list(shape)} ({', '.join(first)}{more})"
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def no_attribute(
    what: str, name: str, known: Iterable[str], instead: Mapping[str, str] | None = None
) -> AttributeError:
    """The error for attribute ``name`` that ``what`` lacks; ``instead`` has the way in place of some."""
    if name.startswith("__"):
        return AttributeError(name)
    if instead and name in instead:
        return AttributeError(f"{what} has no '{name}': {instead[name]}", name=name)
    public = sorted({one for one in known if not one.startswith("_")})
    return AttributeError(f"{what} has no '{name}'; {did_you_mean(name, public)}", name=name)
