"""Integers of the language itself, such as ``tl.program_id``: Python's, whose comparisons know ``~``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Truth(int):
    """What a comparison of scalars gives: 1 or 0. ``~`` is the other one, not Python's -2 or -1."""

    def __invert__(self) -> Truth:
        return Truth(not self)

    def __repr__(self) -> str:
        return str(bool(self))


class Scalar(int):
    """An integer whose sums, products and so on are such integers, and whose comparisons are truth values."""

    __hash__ = int.__hash__


class Scalars(Sequence[Any]):
    """The numbers of a ``range`` as values of the language, made as they are asked for."""

    def __init__(self, numbers: range, made: type[int] = Scalar) -> None:
        self._numbers = numbers
        self._made = made

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        found = self._numbers[place]
        return Scalars(found, self._made) if isinstance(found, range) else self._made(found)


_PLAIN, _LOGICAL = (int, bool, Scalar, Truth), (bool, Truth)


def _closed(of: type, name: str, made: type) -> None:
    plain, logical = getattr(int, name), of is Truth

    def call(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind not in _PLAIN and isinstance(other, int):
            return NotImplemented  # a pointer moves by it
        found = plain(self, other)
        return found if found is NotImplemented or (logical and kind not in _LOGICAL) else made(found)

    setattr(of, name, call)


for _name in ("and", "or", "xor"):
    _closed(Truth, f"__{_name}__", Truth)
    _closed(Truth, f"__r{_name}__", Truth)
for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    _closed(Scalar, f"__{_name}__", Scalar)
    _closed(Scalar, f"__r{_name}__", Scalar)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _closed(Scalar, f"__{_name}__", Truth)
Scalar.__neg__ = lambda self: Scalar(-int(self))  # type: ignore[method-assign]
