"""The filter of a table: words that rows must hold, and comparisons with a column.

``dma cube3`` keeps rows in which both texts occur, in any columns, whatever their case. ``kind=dma_read``
looks in one column for exactly that, ``kind=dma*`` for a beginning; ``wait_ns>100``, ``wait_ns<=2.5`` and
``kind!=dma_read`` compare.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.draw.cells import is_number, text
from kernbench.errors import UsageError
from kernbench.support.hints import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

Values = Any
"""The values of a column: an Arrow array, or a plain list."""
Mask = NDArray[np.bool_]

_COMPARISON = re.compile(r"(\w+)(>=|<=|!=|=|>|<)(.*)", re.DOTALL)
_ORDER: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}


def matching(words: str, columns: Mapping[str, Values]) -> Mask:
    """Which rows match all of ``words``; ``UsageError`` for a column that there is not, or no number."""
    length = len(next(iter(columns.values()), []))
    keep: Mask = np.ones(length, dtype=bool)
    for word in words.split():
        found = _COMPARISON.fullmatch(word)
        if found is None:
            keep &= _anywhere(word, columns, length)
        else:
            keep &= _compare(found[1], found[2], found[3], columns)
    return keep


def _anywhere(word: str, columns: Mapping[str, Values], length: int) -> Mask:
    keep: Mask = np.zeros(length, dtype=bool)
    for values in columns.values():
        if isinstance(values, list):
            keep |= np.array([word.lower() in text(value).lower() for value in values], dtype=bool)
        else:
            keep |= _holds(values, word)
    return keep


def _holds(values: pa.ChunkedArray, word: str) -> Mask:
    """Texts with ``word`` in them; whole numbers that are that number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(values.type):
        return _mask(pc.match_substring(values, word, ignore_case=True))
    if pa.types.is_integer(values.type) and re.fullmatch(r"\d{1,18}", word):
        return _mask(pc.equal(values, int(word)))
    return np.zeros(len(values), dtype=bool)


def _compare(name: str, sign: str, wanted: str, columns: Mapping[str, Values]) -> Mask:
    if name not in columns:
        raise UsageError(f"there is no column '{name}' here; {did_you_mean(name, columns)}")
    values = columns[name]
    listed = values if isinstance(values, list) else None
    if sign in _ORDER:
        limit = _number(name, sign, wanted)
        if listed is not None:
            return np.array([is_number(v) and bool(_ORDER[sign](v, limit)) for v in listed], dtype=bool)
        numbers = values.to_numpy()
        if numbers.dtype.kind not in "iuf":
            raise UsageError(f"column '{name}' has no numbers; compare it with {name}=TEXT")
        return np.asarray(_ORDER[sign](numbers, limit), dtype=bool)
    equal = np.array([_equal(value, wanted) for value in listed or ()], dtype=bool)
    if listed is None:
        equal = _equal_in(values, wanted)
    return ~equal if sign == "!=" else equal


def _equal_in(values: Any, wanted: str) -> Mask:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(values.type):
        if wanted.endswith("*"):
            return _mask(pc.starts_with(values, wanted[:-1], ignore_case=True))
        return _mask(pc.equal(pc.utf8_lower(values), wanted.lower()))
    return np.array([_equal(value, wanted) for value in values.to_numpy().tolist()], dtype=bool)


def _equal(value: Any, wanted: str) -> bool:
    if is_number(value):
        try:
            return bool(abs(value - float(wanted)) <= 1e-9)
        except ValueError:
            return False
    found = text(value).lower()
    return found.startswith(wanted[:-1].lower()) if wanted.endswith("*") else found == wanted.lower()


def _number(name: str, sign: str, wanted: str) -> float:
    try:
        return float(wanted)
    except ValueError:
        raise UsageError(f"'{name}{sign}{wanted}' needs a number; write {name}{sign}100") from None


def _mask(values: Any) -> Mask:
    return np.asarray(values.fill_null(False).to_numpy(), dtype=bool)
