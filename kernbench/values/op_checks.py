"""Results compared operation by operation, each with what its own inputs give in f64.

Replay computes as the engines do: in f32, in a fixed order, many products at once. Here every operation is
computed again from the inputs that it had, by itself and in f64, with a bound on what rounding may have done.
What has no value of its own that rounding could not explain away (floats cut to integers, ``//`` and ``%`` of
floats, numbers that are not finite) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.operations import Op
from kernbench.errors import VerificationError
from kernbench.support import dtypes
from kernbench.support.bounded import Bounded, stack
from kernbench.values.math_ops import erf
from kernbench.values.semantics import DEFAULT_TILE
from kernbench.values.verification import describe, difference

Array = np.ndarray[Any, Any]


class OpChecks:
    """Compares operations as they are replayed; ``checked`` counts them."""

    def __init__(self) -> None:
        self.checked = 0

    def __call__(self, op: Op, inputs: Sequence[Array], value: Array) -> None:
        """Compare the value of one operation.

        Raises:
            VerificationError: It is off; names the operation, its line, the first wrong element.
        """
        with np.errstate(all="ignore"):
            expected = reference(op, inputs)
            if expected is None or op.output is None or expected.value.size != value.size:
                return
            self.checked += 1
            expected = expected.moved(lambda x: np.reshape(x, value.shape))
            found = difference(value, expected, op.output.dtype)
        if found is None:
            return
        allowed = f", rounding may have moved it by {found.allowed:.3g}" if found.allowed else ""
        raise VerificationError(
            f"{describe(op)} is off first at index {found.index} of its result: got {found.actual:.9g}, "
            f"expected {found.expected:.9g} of its inputs{allowed}; {found.count} of {found.size} elements "
            f"differ, largest absolute error {found.max_abs:.6g}; operations before it are right"
        )


def reference(op: Op, inputs: Sequence[Array]) -> Bounded | None:
    """The value of ``op`` in f64 with a bound; None where there is nothing to compare with."""
    output = op.output
    if output is None:
        return None
    floats = [array for array in inputs if array.dtype.kind not in "iub"]
    if not all(np.isfinite(array.astype(np.float32)).all() for array in floats):
        return None
    if op.kind in ("memory", "view", "queue"):
        return _move(op, inputs)
    if floats and not dtypes.dtype(output.dtype).is_float and op.name not in _EXACT:
        return None
    if op.kind == "gemm":
        found = _product(op, inputs)
        return found if found is None or op.name != "dot_acc" else found + Bounded(inputs[2])
    if op.kind == "math" and op.name.startswith("composite_"):
        found = _math(op.name.removeprefix("composite_"), op, inputs[:1])
        return None if found is None else _epilogue(op, found, inputs, ("output_tile", "kernel"))
    return _math(op.name, op, inputs) if op.kind == "math" else None


def _move(op: Op, inputs: Sequence[Array]) -> Bounded | None:
    """What was moved as it was; where it is picked, masked or cast there is no other way to say it."""
    whole = op.name in ("dma_read", "dma_write", "reshape", "ipcq_recv")
    whole = whole and op.params.keys().isdisjoint(("pieces", "take", "put"))
    if not whole or len(inputs) != 1 or op.output is None:
        return None
    same = inputs[0].dtype == dtypes.dtype(op.output.dtype).numpy
    return Bounded(inputs[0]) if same else None


def _product(op: Op, inputs: Sequence[Array]) -> Bounded | None:
    a, b = inputs[0], inputs[1]
    integers = a.dtype.kind in "biu" and b.dtype.kind in "biu"
    accumulator = str(op.params.get("acc_dtype") or ("i32" if integers else "f32"))
    if integers and accumulator != "i32":
        return None
    step = int((op.params.get("tile") or DEFAULT_TILE)[1]) if op.name == "composite_gemm" else a.shape[1]
    parts: list[Bounded] = []
    for k in range(0, a.shape[1], step):
        left, right = a[:, k : k + step], b[k : k + step]
        exact = Bounded(left.astype(np.int64) @ right.astype(np.int64)) if integers else None
        part = _epilogue(op, exact or Bounded(left) @ right, inputs, ("k_tile",), k)
        if part is None:
            return None
        parts.append(part)
    if integers and not op.params.get("epilogue"):
        total = Bounded(sum(part.value for part in parts))
        return total if np.abs(total.value).max(initial=0) < 2**31 else None
    if integers:
        return None
    whole = parts[0] if len(parts) == 1 else stack(parts).sum(0, accumulator)
    return _epilogue(op, whole.rounded(accumulator), inputs, ("output_tile", "kernel"))


def _epilogue(
    op: Op, x: Bounded, inputs: Sequence[Array], scopes: tuple[str, ...], k: int = 0
) -> Bounded | None:
    steps = [
        (scope, step)
        for scope in scopes
        for step in op.params.get("epilogue") or ()
        if step.get("scope", "output_tile") == scope
    ]
    for _scope, step in steps:
        name, index = step["op"], step.get("operand")
        value: Any = step.get("factor") if index is None else inputs[index]
        if "group" in step:
            value = value[k // step["group"]]
        if name in ("bias", "residual"):
            x = x + value
        elif name == "scale":
            x = x * value
        elif name == "dequant":
            x = (x - (step.get("zero_point") or 0.0)) * value
        elif name in _ACTIVATIONS:
            x = x.mapped(_ACTIVATIONS[name], np.abs(x.value))
        elif name in _SMOOTH and value is None:
            x = x.mapped(_SMOOTH[name], np.abs(x.value))
        elif name in _ARITHMETIC:
            x = _ARITHMETIC[name](x, Bounded(value))
        else:
            return None
    return x


def _math(name: str, op: Op, inputs: Sequence[Array]) -> Bounded | None:
    scalars: dict[int, Any] = op.params.get("scalars") or {}
    tensors = iter(inputs)
    count = len(inputs) + len(scalars)
    given = [np.asarray(scalars[i] if i in scalars else next(tensors)) for i in range(count)]
    integers = all(array.dtype.kind in "iub" for array in given)
    # A number beside f32 tensors is an f32 number.
    wide = [array if integers or array.dtype.kind in "iub" else array.astype(np.float32) for array in given]
    logical = op.output is not None and op.output.dtype == "i1" and all(a.dtype.kind == "b" for a in given)
    exact = [array.astype(bool if logical else np.int64 if integers else np.float64) for array in wide]
    axis = op.params.get("axis")
    if name in _EXACT:
        return Bounded(_EXACT[name](*exact))
    if name in ("max", "min", "argmax", "argmin"):
        function: Any = getattr(np, name)
        return Bounded(function(exact[0], axis=axis, keepdims=True))
    if name in ("sum", "cumsum", "cumprod", "softmax"):
        return _along(name, exact[0], axis, integers)
    if integers:
        return None
    if name in _ARITHMETIC:
        return _ARITHMETIC[name](Bounded(exact[0]), Bounded(exact[1]))
    if name in _SMOOTH:
        return Bounded(exact[0]).mapped(_SMOOTH[name], 1.0 if name in ("sin", "cos") else None)
    if name == "fma":
        return Bounded(exact[0] * exact[1] + exact[2])
    return None


def _along(name: str, x: Array, axis: int | None, integers: bool) -> Bounded | None:
    if name == "sum" and integers:
        return Bounded(x.sum(axis=axis, keepdims=True))
    if integers:
        return None
    if name == "sum":
        return Bounded(x.reshape(-1)).sum(0) if axis is None else Bounded(x).sum(axis, keepdims=True)
    if axis is None:
        return None
    if name == "cumsum":
        n, sizes = x.shape[axis], np.cumsum(np.abs(x), axis)
        return Bounded(np.cumsum(x, axis), n * 2.0**-24 * sizes)
    if name == "cumprod":
        n, products = x.shape[axis], np.cumprod(x, axis)
        return Bounded(products, n * 2.0**-23 * np.abs(products))
    weights = (Bounded(x) - x.max(axis=axis, keepdims=True)).mapped(np.exp)
    found: Bounded = weights / weights.sum(axis, keepdims=True)
    return found


_SMOOTH: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "tanh": np.tanh,
    "erf": erf,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "cos": np.cos,
    "sin": np.sin,
}
_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}
_ARITHMETIC: dict[str, Callable[[Bounded, Bounded], Bounded]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
_EXACT: dict[str, Callable[..., Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "abs": np.abs,
    "neg": np.negative,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
    "bitwise_not": np.invert,
    "logical_not": lambda x: x == 0,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": lambda c, a, b: np.where(c != 0, a, b),
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
}
"""Operations that round nothing but the type of their result."""
