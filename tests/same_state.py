"""What differs between two machines, attribute by attribute: for classes that are not compiled."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

LOOKED_UP = {
    "_credit_paths", "_direct", "_feeder", "_found", "_inward", "_location", "_nearest", "_of_stage",
    "_outward", "_paths", "_reached", "_reads", "_reverse", "_siblings", "_trees", "_weights", "_writes",
    "paths",
}  # fmt: skip
"""Attributes that keep what was looked up of the structure: a run may have filled them, no run changes it."""
SETTLED = {
    "custom_service", "hooks", "is_endpoint", "is_python_subclass", "is_transit", "reorders", "settled",
}  # fmt: skip
"""What a node is: it follows from its class, and is looked at when the first path over it is made."""


def differences(one: Any, other: Any) -> Iterator[str]:
    """A line for each attribute, however deep, in which two machines that were wired alike differ."""
    seen: set[tuple[int, int]] = set()
    left: list[tuple[str, Any, Any]] = [("machine", one, other)]
    while left:
        place, a, b = left.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if type(a) is not type(b):
            yield f"{place}: {a!r} and {b!r}"
        elif isinstance(a, types.FunctionType):
            left.append((f"{place}()", a.__code__, b.__code__))
        elif isinstance(a, int | float | str | bytes | type | types.CodeType):
            if a != b:
                yield f"{place}: {a!r} and {b!r}"
        elif isinstance(a, np.ndarray):
            if a.tobytes() != b.tobytes():
                yield f"{place}: other values"
        elif isinstance(a, types.MethodType):
            left += [(f"{place}()", a.__func__, b.__func__), (f"{place}()", a.__self__, b.__self__)]
        elif isinstance(a, dict):
            if len(a) != len(b):
                yield f"{place}: {len(a)} and {len(b)} entries"
            # Keys may be objects of the two machines: in the same order, as both were wired alike.
            for (k, v), (m, w) in zip(a.items(), b.items(), strict=False):
                left += [(f"{place} key", k, m), (f"{place}[{k!r}]", v, w)]
        elif isinstance(a, list | tuple | deque):
            if len(a) != len(b):
                yield f"{place}: {len(a)} and {len(b)} entries"
            left += [(f"{place}[{n}]", v, w) for n, (v, w) in enumerate(zip(a, b, strict=False))]
        elif isinstance(a, set | frozenset):
            if a != b:
                yield f"{place}: {a!r} and {b!r}"
        else:
            of_a, of_b = _attributes(a), _attributes(b)
            if of_a.keys() != of_b.keys():
                yield f"{place}: attributes {sorted(of_a.keys() ^ of_b.keys())}"
            left += [(f"{place}.{name}", v, of_b.get(name)) for name, v in of_a.items()]


def _attributes(thing: Any) -> dict[str, Any]:
    """The attributes that an object has of its own."""
    found = dict(getattr(thing, "__dict__", {}))
    for above in type(thing).__mro__:
        names = vars(above).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if hasattr(thing, name):
                found[name] = getattr(thing, name)
    return {name: value for name, value in found.items() if name not in LOOKED_UP | SETTLED}
