"""Operators of DTensor: the local product, sum or scaling on every rank, and how the result is placed.

The rules are PyTorch's. What PyTorch would carry out by moving tensors between ranks first is an error here
that names the placements: :meth:`DTensor.redistribute` then says what is moved, and when.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.host.tensor_parallel.mesh import Partial, Placement, Replicate, Shard
from kernbench.support import dtypes
from kernbench.support.hints import shown

if TYPE_CHECKING:
    from kernbench.host import DPPolicy, Tensor
    from kernbench.host.tensor_parallel.dtensor import DTensor
    from kernbench.language import Pointer

_BLOCK_BYTES = 64 << 10
"""Bytes of an operand in scratch at a time."""

_PRODUCTS: dict[tuple[Placement, Placement], Placement] = {
    (Replicate(), Replicate()): Replicate(),
    (Shard(0), Replicate()): Shard(0),
    (Replicate(), Shard(1)): Shard(1),
    (Shard(1), Shard(0)): Partial(),
}
"""Placement of ``a @ b`` along a dimension of the mesh."""


def matmul(a: DTensor, b: object) -> DTensor:
    """``a @ b`` of two matrices. Rows of a or columns of b may be split, or K of both: then it is Partial."""
    other = _other("@", a, b)
    if len(a.shape) != 2 or len(other.shape) != 2 or a.shape[1] != other.shape[0]:
        raise UsageError(
            f"DTensor @: shapes {a.shape} and {other.shape} do not fit; (M, K) @ (K, N) is needed"
        )
    found = []
    for left, right in zip(a.placements, other.placements, strict=True):
        if (left, right) not in _PRODUCTS:
            raise UsageError(
                f"DTensor @: {left} @ {right} is not a product of what each rank has; redistribute one"
            )
        found.append(_PRODUCTS[left, right])
    x, y = a.to_local(), other.to_local()
    made, dp = _product_of(a, other, x, y)
    a.device_mesh.torch.launch("matmul", _matmul, x, y, made)
    return a._with(made, tuple(found), (a.shape[0], other.shape[1]), dp)


def add(a: DTensor, b: object) -> DTensor:
    """``a + b``: a DTensor of a's shape, a vector for every row of it, or a number."""
    return _elementwise("+", a, b)


def multiply(a: DTensor, b: object) -> DTensor:
    """``a * b``, element by element; ``b`` as for :func:`add`."""
    return _elementwise("*", a, b)


def _elementwise(sign: str, a: DTensor, b: object) -> DTensor:
    if isinstance(b, int | float) and not isinstance(b, bool):
        if any(isinstance(placement, Partial) for placement in a.placements):
            raise UsageError(f"DTensor {sign}: {list(a.placements)} {sign} a number: redistribute it first")
        y: Any = b
    else:
        other = _other(sign, a, b)
        if other.shape not in (a.shape, a.shape[-1:]):
            raise UsageError(
                f"DTensor {sign}: shapes {a.shape} and {other.shape}; use equal ones, or a vector for b"
            )
        shift = len(a.shape) - len(other.shape)
        wanted = [_combine(sign, p, q, shift) for p, q in zip(a.placements, other.placements, strict=True)]
        a = a.redistribute(wanted)
        other = other.redistribute([_of_vector(placement, shift) for placement in wanted])
        y = other.to_local()
    x = a.to_local()
    if not isinstance(y, int | float):
        cut = {shard.place: shard.index for shard in x.shards}
        same = {shard.place: shard.index for shard in y.shards}
        if {place: index[-y.ndim :] for place, index in cut.items()} != same:
            raise UsageError(f"DTensor {sign}: '{x.name}' and '{y.name}' lie on other PEs; give both one dp=")
    made = a._made(x.shape)
    if [shard.index for shard in made.shards] != [shard.index for shard in x.shards]:
        raise UsageError(
            f"DTensor {sign}: '{x.name}' does not lie as its dp= says; give that dp to from_local"
        )
    a.device_mesh.torch.launch("add" if sign == "+" else "multiply", _rows, x, y, made, sign)
    return a._with(made, a.placements, a.shape, a._dp)


def _other(sign: str, a: DTensor, b: object) -> DTensor:
    if not isinstance(b, type(a)):
        raise UsageError(f"DTensor {sign}: {shown(b)} is not a DTensor; make it one with distribute_tensor")
    if b.device_mesh is not a.device_mesh:
        raise UsageError(f"DTensor {sign}: the two are on different meshes; use one DeviceMesh for both")
    if b.dtype != a.dtype:
        raise UsageError(f"DTensor {sign}: {a.dtype} and {b.dtype}; use one dtype")
    return b


def _combine(sign: str, a: Placement, b: Placement, shift: int) -> Placement:
    """How both are placed along a dimension of the mesh, b seen as a tensor of a's dimensions."""
    if isinstance(b, Shard):
        b = Shard(b.dim + shift)
    if isinstance(a, Partial) or isinstance(b, Partial):
        if sign == "+" and a == b == Partial() and not shift:
            return a  # what contributions add up to is the sum of the sums
    elif a == b or isinstance(b, Replicate):
        return a
    elif isinstance(a, Replicate):
        return b
    raise UsageError(f"DTensor {sign}: {a} {sign} {b} cannot be done by each rank; redistribute one of them")


def _of_vector(placement: Placement, shift: int) -> Placement:
    if not isinstance(placement, Shard):
        return placement
    return Shard(placement.dim - shift) if placement.dim >= shift else Replicate()


def _product_of(a: DTensor, b: DTensor, x: Tensor, y: Tensor) -> tuple[Tensor, DPPolicy | None]:
    """The tensor for ``x @ y`` within a SIP, placed as one of the two so that each PE has what it needs."""
    rows, columns = ({s.place: s.index[axis] for s in t.shards} for t, axis in ((x, 0), (y, 1)))
    whole = all(s.shape[1] == x.shape[1] for s in x.shards) and all(
        s.shape[0] == y.shape[0] for s in y.shards
    )
    for dp in (a._dp, b._dp):
        made = a.device_mesh.torch.empty((x.shape[0], y.shape[1]), dtype=a.dtype, dp=dp)
        cuts = {s.place: s.index for s in made.shards}
        both = {p: (rows[p], columns[p]) for p in rows.keys() & columns.keys()}
        if whole and cuts == both and len(both) == len(rows) == len(columns):
            return made, dp
        made.free()
    raise UsageError(
        f"DTensor @: within a SIP '{x.name}' may be split by rows and '{y.name}' copied, or that copied and "
        "this split by columns, on the same PEs; give such dp="
    )


def _matmul(a: Pointer, b: Pointer, out: Pointer, tl: Any) -> None:
    tl.wait(tl.composite("gemm", a.local, b.local, out_ptr=out.local))


def _rows(a: Pointer, b: Any, out: Pointer, sign: str, tl: Any) -> None:
    """``out = a + b`` or ``a * b`` for this PE's rows, some at a time."""
    columns = a.local_shape[-1]
    rows = 1 if len(a.local_shape) == 1 else a.local_shape[0]
    step = max(1, _BLOCK_BYTES // (columns * dtypes.dtype(a.dtype).itemsize))
    operate: Callable[[Any, Any], Any] = tl.add if sign == "+" else tl.mul
    number = type(b) in (int, float)  # a pointer is an int too
    every = not number and len(b.local_shape) == len(a.local_shape)
    row = b if number or every else tl.load(int(b.local), (1, columns), b.dtype)
    for first in range(0, rows, step):
        high = min(step, rows - first)

        def block(x: Pointer, at: int = first, high: int = high) -> Any:
            return tl.make_block_ptr(
                int(x.local), (rows, columns), (columns, 1), (at, 0), (high, columns), dtype=x.dtype
            )

        y = tl.load(block(b)) if every else row
        tl.store(block(out), operate(tl.load(block(a)), y))
