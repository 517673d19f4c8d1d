"""``tl`` calls for math on handles: elementwise, softmax, reductions (blocking, results in scratch)."""

from __future__ import annotations

import math

import numpy as np

from kernbench.kernels import checks, promotion
from kernbench.kernels.checks import BadArgumentError
from kernbench.kernels.handles import TensorHandle
from kernbench.kernels.issue import Issuer, tl_call
from kernbench.pe.commands import Math
from kernbench.replay.math_ops import MATH_OPS
from kernbench.sim.ops import Operand


class MathCalls(Issuer):
    """Elementwise math, softmax, reductions; the operators of handles end up here."""

    @tl_call
    def exp(self, x: TensorHandle) -> TensorHandle:
        """e to the power of x."""
        return self._math("exp", x=x)

    @tl_call
    def log(self, x: TensorHandle) -> TensorHandle:
        """Natural logarithm."""
        return self._math("log", x=x)

    @tl_call
    def sqrt(self, x: TensorHandle) -> TensorHandle:
        """Square root."""
        return self._math("sqrt", x=x)

    @tl_call
    def abs(self, x: TensorHandle) -> TensorHandle:
        """Magnitude."""
        return self._math("abs", x=x)

    @tl_call
    def sigmoid(self, x: TensorHandle) -> TensorHandle:
        """``1 / (1 + exp(-x))``."""
        return self._math("sigmoid", x=x)

    @tl_call
    def cos(self, x: TensorHandle) -> TensorHandle:
        """Cosine of x in radians."""
        return self._math("cos", x=x)

    @tl_call
    def sin(self, x: TensorHandle) -> TensorHandle:
        """Sine of x in radians."""
        return self._math("sin", x=x)

    @tl_call
    def neg(self, x: TensorHandle) -> TensorHandle:
        """``-x``."""
        return self._math("neg", x=x)

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
    def softmax(self, x: TensorHandle, axis: int = -1) -> TensorHandle:
        """Softmax along ``axis``, the maximum subtracted first."""
        return self._along("softmax", x, axis)

    @tl_call
    def sum(self, x: TensorHandle, axis: int) -> TensorHandle:
        """Sum along ``axis``, which stays with size 1. Sums of i8 are i32."""
        return self._along("sum", x, axis)

    @tl_call
    def max(self, x: TensorHandle, axis: int) -> TensorHandle:
        """Largest element along ``axis``, which stays with size 1."""
        return self._along("max", x, axis)

    @tl_call
    def min(self, x: TensorHandle, axis: int) -> TensorHandle:
        """Smallest element along ``axis``, which stays with size 1."""
        return self._along("min", x, axis)

    def _math(self, name: str, **arguments: object) -> TensorHandle:
        scalars: dict[int, int | float] = {}
        handles: dict[str, TensorHandle] = {}
        for position, (argument, value) in enumerate(arguments.items()):
            if checks.is_scalar(value):
                scalars[position] = checks.scalar(argument, value)
            else:
                handles[argument] = self._handle(argument, value)
        if not handles:
            raise BadArgumentError(next(iter(arguments)), "at least one argument must be a tensor handle")
        shape: tuple[int, ...] = ()
        for argument, handle in handles.items():
            try:
                shape = np.broadcast_shapes(shape, handle.shape)
            except ValueError:
                raise BadArgumentError(
                    argument, f"shape {handle.shape} does not broadcast with {shape}"
                ) from None
        typed = [handle.dtype for argument, handle in handles.items() if argument != "cond"]
        dtype = promotion.math_result(MATH_OPS[name], typed, list(scalars.values()))
        labels = list(arguments)
        for position, number in scalars.items():
            checks.held(labels[position], number, dtype)
        operands = tuple(handle.operand() for handle in handles.values())
        in_bytes = sum(handle.nbytes for handle in handles.values())
        return self._issue(name, operands, shape, dtype, math.prod(shape), in_bytes, {"scalars": scalars})

    def _along(self, name: str, x: object, axis: object) -> TensorHandle:
        handle = self._handle("x", x)
        index = checks.axis("axis", axis, handle.ndim)
        rule = MATH_OPS[name]
        shape = list(handle.shape)
        if rule.kind == "reduce":
            shape[index] = 1
        dtype = promotion.math_result(rule, [handle.dtype])
        elements = math.prod(handle.shape)
        params: dict[str, object] = {"scalars": {}, "axis": index}
        return self._issue(name, (handle.operand(),), tuple(shape), dtype, elements, handle.nbytes, params)

    def _issue(
        self,
        name: str,
        inputs: tuple[Operand, ...],
        shape: tuple[int, ...],
        dtype: str,
        elements: int,
        in_bytes: int,
        params: dict[str, object],
    ) -> TensorHandle:
        out_bytes = checks.nbytes(shape, dtype)
        passes = MATH_OPS[name].passes
        return self._produce(
            "math",
            name,
            inputs,
            shape,
            dtype,
            lambda op: Math(op, elements, passes, in_bytes, out_bytes),
            params=params,
            size=in_bytes + out_bytes,
        )
