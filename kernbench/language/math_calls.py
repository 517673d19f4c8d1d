"""``tl`` calls for math on handles: elementwise, comparisons, reductions (blocking, results in scratch)."""

from __future__ import annotations

from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.extents import broadcast
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import Issuer, tl_call
from kernbench.language.issue import call_of_one as _of_one
from kernbench.language.issue import call_of_two as _of_two
from kernbench.language.sites import along, moving


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
    bitwise_not = _of_one("bitwise_not", "``~x``: bits of integers inverted; of a mask where it is false.")
    logical_not = _of_one("logical_not", "True where x is zero: a mask (i1).")
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
    left_shift = _of_two("left_shift", "``a << b``; integers only.")
    right_shift = _of_two("right_shift", "``a >> b``, which copies the sign bit; integers only.")
    equal = _of_two("equal", "``a == b``: truth values (i1), a mask for ``where``, ``load`` and ``store``.")
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
        return self._elementwise("fma", ("a", "b", "c"), (a, b, c))

    @tl_call
    def clamp(self, x: TensorHandle, min: object, max: object) -> TensorHandle:
        """``x`` limited to ``[min, max]``; NaN becomes ``min``."""
        return self._elementwise("clamp", ("x", "min", "max"), (self._handle("x", x), min, max))

    @tl_call
    def where(self, cond: TensorHandle, a: object, b: object) -> TensorHandle:
        """``a`` where ``cond`` is not zero, else ``b``; the type is that of a and b."""
        return self._elementwise("where", ("cond", "a", "b"), (self._handle("cond", cond), a, b))

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
        return self._compute(moving("cast", handle.shape, handle.dtype, handle.shape, name), [handle])

    @tl_call
    def broadcast_to(self, x: TensorHandle, shape: object) -> TensorHandle:
        """``x`` repeated to ``shape``, by numpy's rules; one pass over the result.

        Elementwise operations broadcast by themselves, without it.
        """
        handle = self._handle("x", x)
        wanted = arguments.shape("shape", shape)
        if broadcast(handle.shape, wanted) != wanted:
            raise BadArgumentError("shape", f"{handle.shape} cannot be broadcast to {wanted}")
        site = moving("broadcast_to", handle.shape, handle.dtype, wanted, handle.dtype)
        return self._compute(site, [handle])

    @tl_call
    def softmax(self, x: TensorHandle, axis: int = -1) -> TensorHandle:
        """Softmax along ``axis``, the maximum subtracted first; five passes by default."""
        return self._along("softmax", x, axis)

    @tl_call
    def cumsum(self, x: TensorHandle, axis: int = 0) -> TensorHandle:
        """Running sum along ``axis``. Sums of i8 are i32, those of bf16 f32, as in Triton."""
        return self._along("cumsum", x, axis)

    @tl_call
    def cumprod(self, x: TensorHandle, axis: int = 0) -> TensorHandle:
        """Running product along ``axis``. Products of i8 are i32, of bf16 f32."""
        return self._along("cumprod", x, axis)

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

    def _along(self, name: str, x: object, axis: object, keep_dims: bool = True) -> TensorHandle:
        handle = self._handle("x", x)
        index = None if axis is None else arguments.axis("axis", axis, handle.ndim)
        site = along(name, handle.shape, handle.dtype, index, bool(keep_dims))
        return self._compute(site, [handle])
