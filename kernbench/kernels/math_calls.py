"""``tl`` calls for math on handles: elementwise, comparisons, reductions (blocking, results in scratch)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench import dtypes
from kernbench.kernels import arguments, promotion
from kernbench.kernels.arguments import BadArgumentError
from kernbench.kernels.handles import TensorHandle
from kernbench.kernels.issue import Issuer, tl_call
from kernbench.kernels.pointer import Pointer
from kernbench.program.commands import Math
from kernbench.program.operations import Op
from kernbench.replay.math_ops import MATH_OPS, MathOp
from kernbench.replay.semantics import compute

KNOWN_ELEMENTS = 1 << 16
"""Largest result of index arithmetic that is computed at once, so that kernels may branch on it."""

TENSOR_OF_POINTERS = (
    "is a pointer: an address in bytes, and there are no tensors of pointers; add a number of bytes to it "
    "(tl.load(ptr + n * 4, shape=...)), or name rows and columns with tl.make_block_ptr"
)


class MathCalls(Issuer):
    """Elementwise math, comparisons, softmax, reductions; the operators of handles end up here."""

    @tl_call
    def exp(self, x: TensorHandle) -> TensorHandle:
        """e to the power of x. Integers give f32, here and in all functions of this kind."""
        return self._math("exp", x=x)

    @tl_call
    def exp2(self, x: TensorHandle) -> TensorHandle:
        """2 to the power of x."""
        return self._math("exp2", x=x)

    @tl_call
    def log(self, x: TensorHandle) -> TensorHandle:
        """Natural logarithm."""
        return self._math("log", x=x)

    @tl_call
    def log2(self, x: TensorHandle) -> TensorHandle:
        """Logarithm to base 2."""
        return self._math("log2", x=x)

    @tl_call
    def sqrt(self, x: TensorHandle) -> TensorHandle:
        """Square root."""
        return self._math("sqrt", x=x)

    @tl_call
    def rsqrt(self, x: TensorHandle) -> TensorHandle:
        """``1 / sqrt(x)``."""
        return self._math("rsqrt", x=x)

    @tl_call
    def abs(self, x: TensorHandle) -> TensorHandle:
        """Magnitude."""
        return self._math("abs", x=x)

    @tl_call
    def sigmoid(self, x: TensorHandle) -> TensorHandle:
        """``1 / (1 + exp(-x))``."""
        return self._math("sigmoid", x=x)

    @tl_call
    def tanh(self, x: TensorHandle) -> TensorHandle:
        """Hyperbolic tangent."""
        return self._math("tanh", x=x)

    @tl_call
    def erf(self, x: TensorHandle) -> TensorHandle:
        """Gauss error function."""
        return self._math("erf", x=x)

    @tl_call
    def cos(self, x: TensorHandle) -> TensorHandle:
        """Cosine of x in radians."""
        return self._math("cos", x=x)

    @tl_call
    def sin(self, x: TensorHandle) -> TensorHandle:
        """Sine of x in radians."""
        return self._math("sin", x=x)

    @tl_call
    def floor(self, x: TensorHandle) -> TensorHandle:
        """Largest integer not above x, in x's type."""
        return self._math("floor", x=x)

    @tl_call
    def ceil(self, x: TensorHandle) -> TensorHandle:
        """Smallest integer not below x, in x's type."""
        return self._math("ceil", x=x)

    @tl_call
    def neg(self, x: TensorHandle) -> TensorHandle:
        """``-x``."""
        return self._math("neg", x=x)

    @tl_call
    def bitwise_not(self, x: TensorHandle) -> TensorHandle:
        """``~x``: every bit inverted; integers only."""
        return self._math("bitwise_not", x=x)

    @tl_call
    def logical_not(self, x: TensorHandle) -> TensorHandle:
        """1 where x is zero, else 0 (i8)."""
        return self._math("logical_not", x=x)

    @tl_call
    def add(self, a: object, b: object) -> TensorHandle:
        """``a + b``; one of the two may be a Python number. Shapes broadcast, here and below."""
        return self._math("add", a=a, b=b)

    @tl_call
    def sub(self, a: object, b: object) -> TensorHandle:
        """``a - b``."""
        return self._math("sub", a=a, b=b)

    @tl_call
    def mul(self, a: object, b: object) -> TensorHandle:
        """``a * b``."""
        return self._math("mul", a=a, b=b)

    @tl_call
    def div(self, a: object, b: object) -> TensorHandle:
        """``a / b``; f32 for integers."""
        return self._math("div", a=a, b=b)

    @tl_call
    def floordiv(self, a: object, b: object) -> TensorHandle:
        """``a // b``, rounded down."""
        return self._math("floordiv", a=a, b=b)

    @tl_call
    def mod(self, a: object, b: object) -> TensorHandle:
        """``a % b``, with the sign of b."""
        return self._math("mod", a=a, b=b)

    @tl_call
    def pow(self, a: object, b: object) -> TensorHandle:
        """``a ** b``; f32 for integers."""
        return self._math("pow", a=a, b=b)

    @tl_call
    def bitwise_and(self, a: object, b: object) -> TensorHandle:
        """``a & b``; integers and masks only."""
        return self._math("bitwise_and", a=a, b=b)

    @tl_call
    def bitwise_or(self, a: object, b: object) -> TensorHandle:
        """``a | b``; integers and masks only."""
        return self._math("bitwise_or", a=a, b=b)

    @tl_call
    def bitwise_xor(self, a: object, b: object) -> TensorHandle:
        """``a ^ b``; integers and masks only."""
        return self._math("bitwise_xor", a=a, b=b)

    @tl_call
    def equal(self, a: object, b: object) -> TensorHandle:
        """``a == b``: 1 or 0 (i8), a mask for ``where``, ``load`` and ``store``."""
        return self._math("equal", a=a, b=b)

    @tl_call
    def not_equal(self, a: object, b: object) -> TensorHandle:
        """``a != b``, a mask."""
        return self._math("not_equal", a=a, b=b)

    @tl_call
    def less(self, a: object, b: object) -> TensorHandle:
        """``a < b``, a mask."""
        return self._math("less", a=a, b=b)

    @tl_call
    def less_equal(self, a: object, b: object) -> TensorHandle:
        """``a <= b``, a mask."""
        return self._math("less_equal", a=a, b=b)

    @tl_call
    def greater(self, a: object, b: object) -> TensorHandle:
        """``a > b``, a mask."""
        return self._math("greater", a=a, b=b)

    @tl_call
    def greater_equal(self, a: object, b: object) -> TensorHandle:
        """``a >= b``, a mask."""
        return self._math("greater_equal", a=a, b=b)

    @tl_call
    def maximum(self, a: object, b: object) -> TensorHandle:
        """The larger of a and b, elementwise."""
        return self._math("maximum", a=a, b=b)

    @tl_call
    def minimum(self, a: object, b: object) -> TensorHandle:
        """The smaller of a and b, elementwise."""
        return self._math("minimum", a=a, b=b)

    @tl_call
    def fma(self, a: object, b: object, c: object) -> TensorHandle:
        """``a * b + c``, rounded once."""
        return self._math("fma", a=a, b=b, c=c)

    @tl_call
    def clamp(self, x: TensorHandle, min: object, max: object) -> TensorHandle:
        """``x`` limited to ``[min, max]``."""
        return self._math("clamp", x=self._handle("x", x), min=min, max=max)

    @tl_call
    def where(self, cond: TensorHandle, a: object, b: object) -> TensorHandle:
        """``a`` where ``cond`` is not zero, else ``b``; the type is that of a and b."""
        return self._math("where", cond=self._handle("cond", cond), a=a, b=b)

    @tl_call
    def cast(self, x: TensorHandle, dtype: str) -> TensorHandle:
        """``x`` in another type, also ``x.to(dtype)``.

        To floats it rounds to nearest even; float to integer cuts towards zero and saturates; integers keep
        their low bits. One pass; ``x`` itself when it has that type already.
        """
        handle = self._handle("x", x)
        name = arguments.dtype("dtype", dtype)
        if name == handle.dtype:
            return handle
        elements = math.prod(handle.shape)
        params: dict[str, object] = {"scalars": {}}
        return self._issue("cast", (handle,), handle.shape, name, elements, handle.nbytes, params)

    @tl_call
    def broadcast_to(self, x: TensorHandle, shape: object) -> TensorHandle:
        """``x`` repeated to ``shape``, by numpy's rules; one pass over the result.

        Elementwise operations broadcast by themselves, without it.
        """
        handle = self._handle("x", x)
        wanted = arguments.shape("shape", shape)
        try:
            fits = np.broadcast_shapes(handle.shape, wanted) == wanted
        except ValueError:
            fits = False
        if not fits:
            raise BadArgumentError("shape", f"{handle.shape} cannot be broadcast to {wanted}")
        params: dict[str, object] = {"scalars": {}}
        return self._issue(
            "broadcast_to", (handle,), wanted, handle.dtype, math.prod(wanted), handle.nbytes, params
        )

    @tl_call
    def softmax(self, x: TensorHandle, axis: int = -1) -> TensorHandle:
        """Softmax along ``axis``, the maximum subtracted first; five passes by default."""
        return self._along("softmax", x, axis)

    @tl_call
    def cumsum(self, x: TensorHandle, axis: int = 0) -> TensorHandle:
        """Running sum along ``axis``. Sums of i8 are i32."""
        return self._along("cumsum", x, axis)

    @tl_call
    def sum(self, x: TensorHandle, axis: int | None = None, keep_dims: bool = True) -> TensorHandle:
        """Sum along ``axis``, or of all elements. Sums of i8 are i32.

        The axis stays with size 1, so that the result broadcasts against ``x``; with ``keep_dims=False`` it
        goes, as in Triton. So do all reductions.
        """
        return self._along("sum", x, axis, keep_dims)

    @tl_call
    def max(self, x: TensorHandle, axis: int | None = None, keep_dims: bool = True) -> TensorHandle:
        """Largest element along ``axis``, or of all."""
        return self._along("max", x, axis, keep_dims)

    @tl_call
    def min(self, x: TensorHandle, axis: int | None = None, keep_dims: bool = True) -> TensorHandle:
        """Smallest element along ``axis``, or of all."""
        return self._along("min", x, axis, keep_dims)

    @tl_call
    def argmax(self, x: TensorHandle, axis: int, keep_dims: bool = True) -> TensorHandle:
        """Index of the largest element along ``axis`` (the first of equals), i32."""
        return self._along("argmax", x, arguments.integer("axis", axis), keep_dims)

    @tl_call
    def argmin(self, x: TensorHandle, axis: int, keep_dims: bool = True) -> TensorHandle:
        """Index of the smallest element along ``axis`` (the first of equals), i32."""
        return self._along("argmin", x, arguments.integer("axis", axis), keep_dims)

    def _math(self, name: str, **given: object) -> TensorHandle:
        scalars: dict[int, int | float] = {}
        handles: list[TensorHandle] = []
        known: list[_Argument] = []
        for position, (argument, value) in enumerate(given.items()):
            if isinstance(value, Pointer):
                raise BadArgumentError(argument, f"'{value.name}' {TENSOR_OF_POINTERS}")
            if arguments.is_scalar(value):
                number = scalars[position] = arguments.scalar(argument, value)
                known.append((argument, None, type(number).__name__, number))
            else:
                handle = self._handle(argument, value)
                handles.append(handle)
                known.append((argument, handle.shape, handle.dtype, 0))
        shape, dtype, in_bytes = _elementwise(name, tuple(known))
        params: dict[str, object] = {"scalars": scalars}
        return self._issue(name, tuple(handles), shape, dtype, math.prod(shape), in_bytes, params)

    def _along(self, name: str, x: object, axis: object, keep_dims: bool = True) -> TensorHandle:
        handle = self._handle("x", x)
        index = None if axis is None else arguments.axis("axis", axis, handle.ndim)
        rule = MATH_OPS[name]
        shape = list(handle.shape)
        if rule.kind == "reduce":
            for reduced in range(handle.ndim) if index is None else (index,):
                shape[reduced] = 1
            if not keep_dims:
                shape = [] if index is None else [*shape[:index], *shape[index + 1 :]]
                shape = shape or [1]
        dtype = promotion.math_result(rule, [handle.dtype])
        elements = math.prod(handle.shape)
        params: dict[str, object] = {"scalars": {}, "axis": index}
        return self._issue(name, (handle,), tuple(shape), dtype, elements, handle.nbytes, params)

    def _issue(
        self,
        name: str,
        handles: tuple[TensorHandle, ...],
        shape: tuple[int, ...],
        dtype: str,
        elements: int,
        in_bytes: int,
        params: dict[str, object],
    ) -> TensorHandle:
        out_bytes = arguments.nbytes(shape, dtype)
        rule = MATH_OPS[name]
        operands = tuple(handle.operand() for handle in handles)
        known = functools.partial(_known, [handle._value for handle in handles], rule, dtype)
        return self._produce(
            "math",
            name,
            operands,
            shape,
            dtype,
            lambda op: Math(op, elements, in_bytes, out_bytes),
            params=params,
            size=in_bytes + out_bytes,
            value=known,
        )


_Argument = tuple[str, tuple[int, ...] | None, str, int | float]
"""An argument: name, shape, type, 0; of a number its name, None, Python's type, the number itself."""


@functools.lru_cache(maxsize=1024)
def _elementwise(name: str, given: tuple[_Argument, ...]) -> tuple[tuple[int, ...], str, int]:
    """Shape and type of an elementwise result, and the bytes that are read for it.

    ``BadArgumentError`` for arguments that do not go together. Kernels make the same few calls over and over.
    """
    rule = MATH_OPS[name]
    tensors = [(argument, shape, dtype) for argument, shape, dtype, _ in given if shape is not None]
    if not tensors:
        raise BadArgumentError(given[0][0], "at least one argument must be a tensor handle")
    result: tuple[int, ...] = ()
    for argument, shape, dtype in tensors:
        if rule.integer_only and dtypes.dtype(dtype).is_float:
            raise BadArgumentError(argument, f"{dtype} has no bits to work on; use integers or masks")
        if not result or result == shape:
            result = shape
            continue
        try:
            result = np.broadcast_shapes(result, shape)
        except ValueError:
            raise BadArgumentError(argument, f"shape {shape} does not broadcast with {result}") from None
    typed = [dtype for argument, _, dtype in tensors if argument != "cond"]
    numbers = {argument: number for argument, shape, _, number in given if shape is None}
    for argument, number in numbers.items():
        if rule.integer_only and isinstance(number, float):
            raise BadArgumentError(argument, "must be an integer")
    values = list(numbers.values())
    dtype = promotion.math_result(rule, typed, values)
    operand_type = promotion.promoted(typed, values)
    for argument, number in numbers.items():
        arguments.held(argument, number, operand_type)
    return result, dtype, sum(arguments.nbytes(shape, dtype) for _, shape, dtype in tensors)


def _known(values: list[Any], rule: MathOp, dtype: str, op: Op) -> Callable[[], np.ndarray[Any, Any]] | None:
    """The value of index arithmetic: comparisons and integer operations on values that are known.

    All else stays pending, so that no kernel depends on floating-point results while time is simulated.
    """
    assert op.output is not None
    for value in values:
        if value is None:
            return None
    integers = not any(dtypes.dtype(o.dtype).is_float for o in (*op.inputs, op.output))
    small = math.prod(op.output.shape) <= KNOWN_ELEMENTS
    if not small or not (integers or rule.result == "mask"):
        return None
    value = compute(op, [value() if callable(value) else value for value in values])
    return lambda: value
