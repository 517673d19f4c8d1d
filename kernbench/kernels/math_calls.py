"""``tl`` calls for math on handles: elementwise, comparisons, reductions (blocking, results in scratch)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, NamedTuple, ParamSpec

import numpy as np

from kernbench import dtypes
from kernbench.kernels import arguments, promotion
from kernbench.kernels.arguments import BadArgumentError
from kernbench.kernels.handles import TensorHandle
from kernbench.kernels.issue import Issuer, tl_call
from kernbench.kernels.pointer import Pointer
from kernbench.program.commands import Math
from kernbench.program.operations import Op, Operand
from kernbench.replay.math_ops import MATH_OPS, ZERO_DIVISOR, MathOp
from kernbench.replay.semantics import compute

P = ParamSpec("P")

KNOWN_ELEMENTS = 1 << 16
"""Largest result of index arithmetic that is computed at once, so that kernels may branch on it."""

TENSOR_OF_POINTERS = (
    "is a pointer: an address in bytes, and there are no tensors of pointers; add a number of bytes to it "
    "(tl.load(ptr + n * 4, shape=...)), or name rows and columns with tl.make_block_ptr"
)


def _of_one(name: str, meaning: str) -> Callable[[MathCalls, TensorHandle], TensorHandle]:
    """The ``tl`` call of the elementwise operation ``name`` of one argument; ``meaning`` is its docstring."""

    def call(self: MathCalls, x: TensorHandle) -> TensorHandle:
        return self._math(name, ("x",), (x,))

    return _name_call(call, name, meaning)


def _of_two(name: str, meaning: str) -> Callable[[MathCalls, object, object], TensorHandle]:
    """The ``tl`` call of the elementwise operation ``name`` of two arguments; one may be a number."""

    def call(self: MathCalls, a: object, b: object) -> TensorHandle:
        return self._math(name, ("a", "b"), (a, b))

    return _name_call(call, name, meaning)


def _name_call(
    call: Callable[Concatenate[MathCalls, P], TensorHandle], name: str, meaning: str
) -> Callable[Concatenate[MathCalls, P], TensorHandle]:
    """``call`` as kernels see it: errors, help and the reference page show its name and docstring."""
    call.__name__, call.__qualname__, call.__doc__ = name, f"MathCalls.{name}", meaning
    return tl_call(call)


class MathCalls(Issuer):
    """Elementwise math, comparisons, softmax, reductions; the operators of handles end up here."""

    _title = "Math"

    exp = _of_one("exp", "e to the power of x. Integers give f32, here and in all functions of this kind.")
    exp2 = _of_one("exp2", "2 to the power of x.")
    log = _of_one("log", "Natural logarithm.")
    log2 = _of_one("log2", "Logarithm to base 2.")
    sqrt = _of_one("sqrt", "Square root.")
    rsqrt = _of_one("rsqrt", "``1 / sqrt(x)``.")
    abs = _of_one("abs", "Magnitude.")
    sigmoid = _of_one("sigmoid", "``1 / (1 + exp(-x))``.")
    tanh = _of_one("tanh", "Hyperbolic tangent.")
    erf = _of_one("erf", "Gauss error function.")
    cos = _of_one("cos", "Cosine of x in radians.")
    sin = _of_one("sin", "Sine of x in radians.")
    floor = _of_one("floor", "Largest integer not above x, in x's type.")
    ceil = _of_one("ceil", "Smallest integer not below x, in x's type.")
    neg = _of_one("neg", "``-x``.")
    bitwise_not = _of_one("bitwise_not", "``~x``: every bit inverted; integers only.")
    logical_not = _of_one("logical_not", "1 where x is zero, else 0 (i8).")
    add = _of_two(
        "add", "``a + b``; one of the two may be a Python number. Shapes broadcast, here and below."
    )
    sub = _of_two("sub", "``a - b``.")
    mul = _of_two("mul", "``a * b``.")
    div = _of_two("div", "``a / b``; f32 for integers.")
    floordiv = _of_two(
        "floordiv", "``a // b``, rounded down. Integers by 0 are an error where values are known."
    )
    mod = _of_two("mod", "``a % b``, with the sign of b. Integers by 0 are an error where values are known.")
    pow = _of_two("pow", "``a ** b``; f32 for integers.")
    bitwise_and = _of_two("bitwise_and", "``a & b``; integers and masks only.")
    bitwise_or = _of_two("bitwise_or", "``a | b``; integers and masks only.")
    bitwise_xor = _of_two("bitwise_xor", "``a ^ b``; integers and masks only.")
    equal = _of_two("equal", "``a == b``: 1 or 0 (i8), a mask for ``where``, ``load`` and ``store``.")
    not_equal = _of_two("not_equal", "``a != b``, a mask.")
    less = _of_two("less", "``a < b``, a mask.")
    less_equal = _of_two("less_equal", "``a <= b``, a mask.")
    greater = _of_two("greater", "``a > b``, a mask.")
    greater_equal = _of_two("greater_equal", "``a >= b``, a mask.")
    maximum = _of_two("maximum", "The larger of a and b, elementwise; where one is NaN, the other.")
    minimum = _of_two("minimum", "The smaller of a and b, elementwise; where one is NaN, the other.")

    @tl_call
    def fma(self, a: object, b: object, c: object) -> TensorHandle:
        """``a * b + c``, rounded once."""
        return self._math("fma", ("a", "b", "c"), (a, b, c))

    @tl_call
    def clamp(self, x: TensorHandle, min: object, max: object) -> TensorHandle:
        """``x`` limited to ``[min, max]``; NaN becomes ``min``."""
        return self._math("clamp", ("x", "min", "max"), (self._handle("x", x), min, max))

    @tl_call
    def where(self, cond: TensorHandle, a: object, b: object) -> TensorHandle:
        """``a`` where ``cond`` is not zero, else ``b``; the type is that of a and b."""
        return self._math("where", ("cond", "a", "b"), (self._handle("cond", cond), a, b))

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
        plan = _plan_move("cast", handle.shape, handle.dtype, handle.shape, name)
        return self._carry_out("cast", [handle], plan, {"scalars": {}})

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
        plan = _plan_move("broadcast_to", handle.shape, handle.dtype, wanted, handle.dtype)
        return self._carry_out("broadcast_to", [handle], plan, {"scalars": {}})

    @tl_call
    def softmax(self, x: TensorHandle, axis: int = -1) -> TensorHandle:
        """Softmax along ``axis``, the maximum subtracted first; five passes by default."""
        return self._along("softmax", x, axis)

    @tl_call
    def cumsum(self, x: TensorHandle, axis: int = 0) -> TensorHandle:
        """Running sum along ``axis``. Sums of i8 are i32, those of bf16 f32, as in Triton."""
        return self._along("cumsum", x, axis)

    @tl_call
    def sum(self, x: TensorHandle, axis: int | None = None, keep_dims: bool = True) -> TensorHandle:
        """Sum along ``axis``, or of all elements. Sums of i8 are i32, those of f16 and bf16 f32.

        The axis stays with size 1, so that the result broadcasts against ``x``; with ``keep_dims=False`` it
        goes, as in Triton. So do all reductions.
        """
        return self._along("sum", x, axis, keep_dims)

    @tl_call
    def max(self, x: TensorHandle, axis: int | None = None, keep_dims: bool = True) -> TensorHandle:
        """Largest element along ``axis``, or of all; NaN is skipped, here and in the next three."""
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

    def _math(self, name: str, names: tuple[str, ...], given: tuple[object, ...]) -> TensorHandle:
        scalars: dict[int, int | float] = {}
        handles: list[TensorHandle] = []
        known: list[_Argument] = []
        for place, value in enumerate(given):
            if isinstance(value, TensorHandle) and value._tl is self:
                handles.append(value)
                known.append((names[place], value.shape, value.dtype, 0))
            elif isinstance(value, Pointer):
                raise BadArgumentError(names[place], f"'{value.name}' {TENSOR_OF_POINTERS}")
            elif arguments.is_scalar(value):
                number = scalars[place] = arguments.scalar(names[place], value)
                known.append((names[place], None, type(number).__name__, number))
            else:
                self._handle(names[place], value)  # says what is wrong with it
        return self._carry_out(name, handles, _elementwise(name, tuple(known)), {"scalars": scalars})

    def _along(self, name: str, x: object, axis: object, keep_dims: bool = True) -> TensorHandle:
        handle = self._handle("x", x)
        index = None if axis is None else arguments.axis("axis", axis, handle.ndim)
        plan = _reduction(name, handle.shape, handle.dtype, index, bool(keep_dims))
        return self._carry_out(name, [handle], plan, {"scalars": {}, "axis": index})

    def _carry_out(
        self, name: str, handles: list[TensorHandle], plan: _Plan, params: dict[str, object]
    ) -> TensorHandle:
        shape, dtype, elements, in_bytes, out_bytes, knowable = plan
        block = self._scratch.take(out_bytes)
        operands = tuple([handle.operand() for handle in handles])
        op_id = self._pe.next_op_id()
        output = Operand(shape, dtype, op_id)
        op = self._op(op_id, "math", name, operands, output, params, in_bytes + out_bytes, 4)
        self._send(Math(op, elements, in_bytes, out_bytes))
        return self._result(op, block, functools.partial(_known_value, handles) if knowable else None)


class _Plan(NamedTuple):
    """The result of a call and the bytes that it moves, by the shapes and types of its arguments."""

    shape: tuple[int, ...]
    dtype: str
    elements: int
    """Elements that PE_MATH works on."""
    in_bytes: int
    out_bytes: int
    knowable: bool
    """Whether the value is known where those of the operands are: see :func:`_known_value`."""


def _plan_by_rule(
    rule: MathOp, inputs: Iterable[str], shape: tuple[int, ...], dtype: str, elements: int, in_bytes: int
) -> _Plan:
    """The plan of a call by ``rule`` on operands of types ``inputs``."""
    integers = not any(dtypes.dtype(one).is_float for one in (*inputs, dtype))
    knowable = math.prod(shape) <= KNOWN_ELEMENTS and (integers or rule.result == "mask")
    return _Plan(shape, dtype, elements, in_bytes, arguments.nbytes(shape, dtype), knowable)


@functools.lru_cache(maxsize=1024)
def _plan_move(name: str, of: tuple[int, ...], of_dtype: str, shape: tuple[int, ...], dtype: str) -> _Plan:
    """The plan of a call that gives elements another type or place."""
    in_bytes = arguments.nbytes(of, of_dtype)
    return _plan_by_rule(MATH_OPS[name], [of_dtype], shape, dtype, math.prod(shape), in_bytes)


@functools.lru_cache(maxsize=1024)
def _reduction(name: str, of: tuple[int, ...], of_dtype: str, index: int | None, keep_dims: bool) -> _Plan:
    """The plan of a call along axis ``index`` of a tensor, or over all of it."""
    rule = MATH_OPS[name]
    shape = list(of)
    if rule.kind == "reduce":
        for reduced in range(len(of)) if index is None else (index,):
            shape[reduced] = 1
        if not keep_dims:
            shape = [] if index is None else [*shape[:index], *shape[index + 1 :]]
            shape = shape or [1]
    dtype = promotion.math_result(rule, [of_dtype])
    return _plan_by_rule(rule, [of_dtype], tuple(shape), dtype, math.prod(of), arguments.nbytes(of, of_dtype))


_Argument = tuple[str, tuple[int, ...] | None, str, int | float]
"""An argument: name, shape, type, 0; of a number its name, None, Python's type, the number itself."""


@functools.lru_cache(maxsize=1024)
def _elementwise(name: str, given: tuple[_Argument, ...]) -> _Plan:
    """The plan of an elementwise call.

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
    operand_type = promotion.promote(typed, values)
    for argument, number in numbers.items():
        arguments.held(argument, number, operand_type)
        if name in ("floordiv", "mod") and not number and argument == "b" and dtype in ("i8", "i32"):
            raise BadArgumentError(argument, ZERO_DIVISOR)
    in_bytes = sum(arguments.nbytes(shape, dtype) for _, shape, dtype in tensors)
    types = [dtype for _, _, dtype in tensors]
    return _plan_by_rule(rule, types, result, dtype, math.prod(result), in_bytes)


def _known_value(handles: list[TensorHandle], op: Op) -> Callable[[], np.ndarray[Any, Any]] | None:
    """The value of index arithmetic: comparisons and integer operations on values that are known.

    All else stays pending, so that no kernel depends on floating-point results while time is simulated.
    """
    values = [handle._value for handle in handles if handle._value is not None]
    if len(values) < len(handles):
        return None
    try:
        result = compute(op, [value() if callable(value) else value for value in values])
    except ZeroDivisionError as problem:
        raise BadArgumentError("b", str(problem)) from None
    return lambda: result
