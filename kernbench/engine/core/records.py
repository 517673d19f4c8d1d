"""Records of a transaction that are passed to instruments, its hops and its waits, and how they are kept.

They have names for people. The engine keeps numbers in rows (:mod:`kernbench.engine.core.columns`) of the
layouts here, field after field of eight bytes each, and makes these when somebody asks.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints

import numpy as np


class HopRow(NamedTuple):
    """One node or link on a transaction's path. Times in ns; ``resource`` is its number in the machine."""

    resource: int
    t_in: float
    """First flit arrives."""
    t_start: float
    """First flit is served."""
    t_out: float
    """Last flit leaves."""
    service_ns: float
    """Time of the last flit here, less what it waited for others."""
    wait_ns: float
    """Time for which the last flit stood here behind other transactions."""
    bytes: int


Hop = tuple[int, float, float, float, float, float, int]
"""The fields of a :class:`HopRow`."""


class Wait(NamedTuple):
    """A wait of a transaction for ``holder`` at ``resource``, ``ns`` long; ``holders`` > 1: for so many.

    If parts of a component are resources themselves (pseudo-channels of an HBM slice), ``resource`` is the
    part. ``seq`` is the hop at which the transaction waited; the wait lies between ``t_from`` and ``t_to``,
    ns.
    """

    holder: int
    resource: int
    ns: float
    holders: int
    seq: int
    t_from: float
    t_to: float


def _layout(fields: dict[str, type]) -> np.dtype[Any]:
    return np.dtype([(name, "f8" if kind is float else "i8") for name, kind in fields.items()])


HOPS = _layout(get_type_hints(HopRow))
WAITS = _layout({"of": int, **get_type_hints(Wait)})
"""``of`` is the transaction that waited."""
NUMBERS = _layout(
    dict.fromkeys(("id", "parent", "op", "launch", "nbytes", "hops", "address", "channel"), int)
    | {"t_submit": float, "t_done": float}
)
"""Of a transaction that has ended: what is a number of its."""
