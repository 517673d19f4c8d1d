"""``tl`` calls of Triton that make blocks, and give them other shapes and types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from kernbench.engine.program.operations import Op
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import made_call, tl_call
from kernbench.operations import OPERATIONS, Operation
from kernbench.support import dtypes
from kernbench.support.dtypes import INDICES
from kernbench.triton.atomics import AnsweredAtomics
from kernbench.triton.pointers import Ptr
from kernbench.triton.values import (
    INTEGERS,
    Float,
    Int,
    KnownBlock,
    Number,
    PointerTo,
    combined,
    data_of,
    dtype,
    scalar,
)
from kernbench.values.semantics import means

Array = np.ndarray[Any, Any]


def _larger(row: Operation) -> Any:
    def call(self: BlockCalls, x: Any, y: Any, propagate_nan: object = None) -> Any:
        x, y = self._tensors(x, y)
        if data_of(x) is None or data_of(y) is None:
            return self._elementwise(row.nan if propagate_nan else row.name, ("x", "y"), (x, y))
        return combined(row.function, x, y, self)

    return made_call(call, row.name, row.meaning)


class BlockCalls(AnsweredAtomics):
    """arange, zeros, full, cast, views, where, maximum and minimum."""

    @tl_call
    def arange(self, start: int, end: int) -> KnownBlock:
        """The integers ``start, ..., end - 1``, known."""
        first, last = arguments.integer("start", start), arguments.integer("end", end)
        if last <= first:
            raise BadArgumentError("end", f"{last} is not above start {first}")
        return KnownBlock(np.arange(first, last, dtype=np.int32), self)

    @tl_call
    def zeros(self, shape: object, dtype: str = "f32") -> Any:
        """Zeros of ``shape``."""
        return self._zeros(shape, _stored(dtype))

    @tl_call
    def zeros_like(self, input: Any) -> Any:
        """Zeros of another's shape and type."""
        return self._zeros(input.shape, input.dtype)

    @tl_call
    def full(self, shape: object, value: Any, dtype: str = "f32") -> Any:
        """``shape`` filled with ``value``; a handle of one element is repeated."""
        if isinstance(value, TensorHandle):
            return self._repeated(self.cast(value, dtype), shape)
        name = arguments.dtype("dtype", _stored(dtype))
        if name == "f64" and set(shape if isinstance(shape, Sequence) else [shape]) <= {1}:
            return Float(value)  # what Inductor divides sizes with: no engine has to
        return self._full(shape, float(value) if dtypes.dtype(name).is_float else value, name)

    @tl_call
    def cast(self, input: Any, dtype: Any, fp_downcast_rounding: object = None, bitcast: bool = False) -> Any:
        """``input`` in another type; ``int1`` asks whether elements are not 0."""
        if fp_downcast_rounding not in (None, "rtne"):
            raise BadArgumentError("fp_downcast_rounding", "casts round to nearest even ('rtne')")
        if isinstance(input, KnownBlock | Int | Float | Ptr) and not bitcast:
            return input.to(dtype)
        handle = self._handle("input", input)
        if bitcast:
            return self._same_bits(handle, _stored(dtype))
        if isinstance(dtype, PointerTo):
            return self.loaded(handle, "a pointer of").to(dtype)
        name = _stored(dtype)
        if name in INDICES and handle.dtype in INTEGERS:
            self._wait_for(handle)
            if handle._value is not None:
                return self.loaded(handle, f"{name} of").to(dtype)
        return self._converted(handle, name)

    @tl_call
    def broadcast_to(self, input: Any, *shape: Any) -> Any:
        """``input`` repeated to a shape."""
        wanted = _extents(shape)
        if isinstance(input, KnownBlock):
            return input.made(np.broadcast_to(input.data, wanted))
        if isinstance(input, Ptr):
            return Ptr(input.base, np.broadcast_to(input.at, wanted), self)
        handle = self._handle("input", input)
        return handle if handle.shape == wanted else self._repeated(handle, wanted)

    @tl_call
    def broadcast(self, input: Any, other: Any) -> Any:
        """Both repeated to one shape."""
        shape = np.broadcast_shapes(input.shape, other.shape)
        return self.broadcast_to(input, shape), self.broadcast_to(other, shape)

    @tl_call
    def reshape(self, input: Any, *shape: Any, can_reorder: bool = False) -> Any:
        """``input`` under another shape, in row-major order."""
        if isinstance(input, KnownBlock):
            return input.made(input.data.reshape(_extents(shape)))
        return self._reshaped(self._handle("input", input), _extents(shape))

    view = reshape

    @tl_call
    def ravel(self, x: Any, can_reorder: bool = False) -> Any:
        """``x`` as one dimension."""
        return self.reshape(x, (int(np.prod(x.shape)),))

    @tl_call
    def expand_dims(self, input: Any, axis: Any) -> Any:
        """``input`` with new axes of size 1 at the places ``axis``."""
        places = arguments.integers("axis", axis)
        ndim = len(input.shape) + len(places)
        new = {arguments.axis("axis", one, ndim) for one in places}
        return input[tuple(None if n in new else slice(None) for n in range(ndim))]

    @tl_call
    def permute(self, input: Any, *dims: Any) -> Any:
        """``input`` with its axes in the order ``dims``."""
        if isinstance(input, KnownBlock):
            return input.made(np.transpose(input.data, _extents(dims)))
        return self._transposed(self._handle("input", input), dims)

    @tl_call
    def trans(self, input: Any, *dims: Any) -> Any:
        """``input`` with its last two axes exchanged, or all in the order ``dims``."""
        if isinstance(input, KnownBlock):
            return self.permute(input, *dims) if dims else input.T
        return self._transposed(self._handle("input", input), dims)

    @tl_call
    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """``x`` where ``condition`` is not 0, else ``y``."""
        if isinstance(x, Ptr) and isinstance(y, Ptr):
            return self._chosen_pointer(condition, x, y)
        keep = data_of(condition)
        if keep is not None and data_of(x) is not None and data_of(y) is not None:
            return combined(lambda a, b: np.where(keep, a, b), x, y, self)
        return self._elementwise(
            "where", ("condition", "x", "y"), (self._handle("condition", condition), x, y)
        )

    def _chosen_pointer(self, condition: Any, x: Ptr, y: Ptr) -> Ptr:
        if isinstance(condition, TensorHandle):
            condition = self.loaded(condition, "argument 'condition': it is")
        keep = data_of(condition)
        if not np.ndim(keep):
            return x if keep else y
        if (int(x.base), x.dtype) != (int(y.base), y.dtype):
            raise BadArgumentError("x", f"{x!r} and {y!r} are of two tensors; load both and pick")
        return Ptr(x.base, np.where(keep, x.at, y.at), self)

    maximum, minimum = _larger(OPERATIONS["maximum"]), _larger(OPERATIONS["minimum"])

    @tl_call
    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """``x * y + z``, rounded once; a number that is written has a type, i32 or f32."""
        given = [Int(one) if type(one) is Number else scalar(one) for one in (x, y, z)]
        return self._elementwise("fma", ("x", "y", "z"), tuple(given))

    def _tensors(self, *given: Any) -> list[Any]:
        """Operands as Triton compares them: a number that is written has a type too, bf16 becomes f32."""
        found = [Int(one) if type(one) is Number else scalar(one) for one in given]
        for place, one in enumerate(found):
            if isinstance(one, TensorHandle) and one.dtype == "bf16":
                found[place] = self._converted(one, "f32")
                break  # engines widen the others by themselves
        return found

    @tl_call
    def clamp(self, x: Any, min: Any, max: Any, propagate_nan: object = None) -> Any:
        """``x`` limited to ``[min, max]``; NaN becomes ``min``, unless ``propagate_nan``."""
        x, min, max = self._tensors(x, min, max)
        given = (self._handle("x", x), min, max)
        return self._elementwise("clamp_nan" if propagate_nan else "clamp", ("x", "min", "max"), given)

    @tl_call
    def logical_and(self, x: Any, y: Any) -> Any:
        """``x & y`` of masks."""
        return x & y

    @tl_call
    def logical_or(self, x: Any, y: Any) -> Any:
        """``x | y`` of masks."""
        return x | y


@means("view", "bitcast")
def _bitcast(op: Op, inputs: Sequence[Array]) -> Array:
    assert op.output is not None
    return np.ascontiguousarray(inputs[0]).view(dtypes.dtype(op.output.dtype).numpy)


def _stored(name: Any) -> str:
    """A type of Triton's by KernBench's name."""
    return str(dtype(name)) if isinstance(name, str) else name


def _extents(given: Sequence[Any]) -> tuple[int, ...]:
    """Extents given as separate numbers or as one sequence."""
    one = len(given) == 1 and isinstance(given[0], Iterable)
    return tuple(int(n) for n in cast("Iterable[Any]", given[0] if one else given))
