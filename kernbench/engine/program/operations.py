"""Data operations: the record that replay, dependencies and queries share.

An :class:`Op` is created by the issuer of the work (a kernel's ``tl`` call, the host, the tile
planner) with its meaning filled in: name, operands, parameters. The component that carries it out adds
location and time, and physical regions once addresses are translated. Handles are values that are
assigned once: a handle id never means two different arrays, so replay cannot read a value that a later
operation wrote over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kernbench.hardware.address.runs import Region as Region
from kernbench.support.dtypes import nbytes


class Operand:
    """An array that an operation reads or writes as a whole.

    Either the value of a handle (``handle`` is set) or bytes in memory, row-major, found by
    concatenating ``regions``. ``address`` is the address that the kernel used (virtual in the ``va``
    model, logical in ``la``); ``regions`` are physical and are filled in where the address is translated.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: str,
        handle: int | None = None,
        address: int | None = None,
        regions: Sequence[Region] = (),
    ) -> None:
        self.describe(shape, dtype, handle)
        self.address = address
        self.regions: Sequence[Region] = regions

    def describe(self, shape: tuple[int, ...], dtype: str, handle: int | None) -> None:
        """Make it the value of a handle."""
        self.shape = shape
        self.dtype = dtype
        self.handle = handle
        self.address = None
        self.regions = ()

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return nbytes(self.shape, self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operand) and self._fields() == other._fields()

    __hash__ = None  # type: ignore[assignment]  # regions are filled in

    def __repr__(self) -> str:
        shape, dtype, handle, address, regions = self._fields()
        return f"Operand({shape}, {dtype!r}, {handle=}, {address=}, {regions=})"

    def _fields(self) -> tuple[object, ...]:
        return self.shape, self.dtype, self.handle, self.address, self.regions


class HappensBefore(Protocol):
    """The epochs of other threads that come before a point of a thread."""

    def of(self, thread: tuple[int, tuple[int, ...]]) -> int:
        """The last epoch of ``thread`` that comes before that point, 0 for none."""


class Order:
    """The place of an operation among those of other PEs (``kernbench.values.races``).

    ``thread`` is (launch, PE), or (launch, PE and block of a grid), ``epoch`` counts in it. ``clock`` knows
    the epochs of other threads that come before, ``floor`` the number of the first launch that is not
    wholly before. ``completed`` is the epoch from which on the operation is over for others; ``None`` while a
    kernel has not waited for its composite.
    An ``atomic`` access to memory is no race with others that are; with ``releases``, who sees its value
    comes after all that its thread did before.
    """

    __slots__ = ("atomic", "clock", "completed", "epoch", "floor", "releases", "thread", "volatile")

    def __init__(
        self,
        thread: tuple[int, tuple[int, ...]],
        epoch: int,
        clock: HappensBefore,
        floor: int,
        volatile: bool = False,
        blocking: bool = True,
    ) -> None:
        self.thread = thread
        self.epoch = epoch
        self.clock = clock
        self.floor = floor
        self.volatile = volatile
        self.atomic = False
        self.releases = True
        self.completed: int | None = epoch if blocking else None


class Op:
    """One data operation. Times in ns, ids stable: the n-th operation issued has id n in every process.

    ``kind``: ``memory`` (dma_read, dma_write, host_write), ``gemm`` (dot, composite_gemm), ``math``
    (exp, add, sum, composite_exp ...), ``view`` (trans, zeros, full, arange: no time, no engine),
    ``tile`` (one stage of one tile of a composite: time only; ``parent`` is the composite's id).
    ``t_ready`` is when the component received it, ``t_start`` when it began, ``t_end`` when it was done and
    its issuer had the answer. ``t_effect`` is when memory had served the last of its bytes, -1 where it
    touches none: reads have been sampled, writes are visible from then on.
    """

    def __init__(
        self,
        id: int,
        kind: str,
        name: str,
        inputs: tuple[Operand, ...] = (),
        output: Operand | None = None,
        params: dict[str, Any] | None = None,
        nbytes: int = 0,
        **known: Any,
    ) -> None:
        self.prepare(id, kind, name, inputs, output, {} if params is None else params, nbytes)
        for field, value in known.items():
            setattr(self, field, value)

    def prepare(
        self,
        id: int,
        kind: str,
        name: str,
        inputs: tuple[Operand, ...],
        output: Operand | None,
        params: dict[str, Any],
        nbytes: int,
    ) -> None:
        """Make it one that has not begun."""
        self.id = id
        self.kind = kind
        self.name = name
        self.inputs = inputs
        self.output = output
        self.params = params
        self.component = ""
        self.launch = self.parent = -1
        self.stage = ""
        self.nbytes = nbytes
        self.t_ready = self.t_start = self.t_end = 0.0
        self.t_effect = -1.0
        self.transactions: list[int] = []
        self.after: list[tuple[int, str]] = []
        """Timing dependencies known when it ran, ``(op id, hazard)``: none began before the other had ended.

        ``stage``: the stage of the tile before it; ``slot``: held the compute slot; ``engine``: held the DMA
        engine; ``issue``: the kernel's command before it; ``wait``: waited for; ``buffer``: its end made
        room.
        """
        self.source = ""
        """``file.py:12``, the line of the kernel that asked for it; empty for the host's operations."""
        self.order: Order | None = None
        """Its place among the accesses of other PEs; ``None`` for operations of the host, or parts of one."""
        self.moved: tuple[Region, ...] = ()
        """Physical bytes that a DMA stage of a tile reads or writes, in place of an operand."""

    def __repr__(self) -> str:
        return f"Op({self.id}, {self.kind!r}, {self.name!r}, component={self.component!r})"


def computed(
    id: int,
    kind: str,
    name: str,
    inputs: tuple[Operand, ...],
    output: Operand,
    params: dict[str, Any],
    nbytes: int,
) -> Op:
    """An operation among handles, which has not begun."""
    op = Op.__new__(Op)
    Op.prepare(op, id, kind, name, inputs, output, params, nbytes)
    return op


def has_values(op: Op) -> bool:
    """Whether an operation moves or computes values, rather than taking time only."""
    return op.kind != "tile" and (op.output is not None or bool(op.inputs))
