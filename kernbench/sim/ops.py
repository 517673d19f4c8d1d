"""What an operation did to data, and when: the record that replay, dependencies and queries share.

An :class:`Op` is created by whoever issues the work (a kernel's ``tl`` call, the host, the tile
planner) with its meaning filled in: name, operands, parameters. The component that carries it out adds
place and time, and physical regions once addresses are translated. Handles are values that are
assigned once: a handle id never means two different arrays, so replay cannot read a value that a later
operation wrote over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Region(NamedTuple):
    """A run of bytes at a physical address (51-bit, ADR-0001)."""

    addr: int
    nbytes: int


@dataclass(slots=True)
class Operand:
    """An array that an operation reads or writes as a whole.

    Either the value of a handle (``handle`` is set) or bytes in memory, row-major, found by
    concatenating ``regions``. ``address`` is the address that the kernel used (virtual in the ``va``
    model, logical in ``la``); ``regions`` are physical and are filled in where the address is translated.
    """

    shape: tuple[int, ...]
    dtype: str
    handle: int | None = None
    address: int | None = None
    regions: tuple[Region, ...] = ()


@dataclass(slots=True)
class Op:
    """One data operation. Times in ns, ids stable: the n-th operation issued has id n in every process.

    ``kind``: ``memory`` (dma_read, dma_write, host_write), ``gemm`` (dot, composite_gemm), ``math``
    (exp, add, sum, composite_exp ...), ``view`` (trans, zeros, full, arange: no time, no engine),
    ``tile`` (one stage of one tile of a composite: time only; ``parent`` is the composite's id).
    ``t_ready`` is when the component received it, ``t_start`` when it began, ``t_end`` when it was done.
    """

    id: int
    kind: str
    name: str
    inputs: tuple[Operand, ...] = ()
    output: Operand | None = None
    params: dict[str, Any] = field(default_factory=dict)
    component: str = ""
    launch: int = -1
    parent: int = -1
    stage: str = ""
    nbytes: int = 0
    t_ready: float = 0.0
    t_start: float = 0.0
    t_end: float = 0.0
    transactions: list[int] = field(default_factory=list)
    after: list[tuple[int, str]] = field(default_factory=list)
    """Timing dependencies known when it ran: ``(op id, "stage" | "slot" | "issue" | "wait" | "buffer")``."""
