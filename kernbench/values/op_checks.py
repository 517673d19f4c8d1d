"""Results compared operation by operation, each with what its own inputs give in f64.

Replay computes as the engines do: in f32, in a fixed order, many products at once. Here every operation is
computed again from the inputs that it had, by itself and in f64, with a bound on what rounding may have done.
What has no value of its own that rounding could not explain away (floats cut to integers, ``//`` and ``%`` of
floats, numbers that are not finite) is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.operations import Op
from kernbench.errors import VerificationError
from kernbench.operations import OPERATIONS
from kernbench.support import dtypes
from kernbench.support.bounded import Bounded, stack
from kernbench.values.epilogues import find
from kernbench.values.numeric import cast
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
    check = OPERATIONS[op.name].check if op.name in OPERATIONS else None
    if floats and not dtypes.dtype(output.dtype).is_float and (check is None or check.kind != "exact"):
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
        rule = find(name)
        found = None if rule is None else rule.check(x, value, step.get("zero_point") or 0.0)
        if found is None:
            return None
        x = found
    return x


def _math(name: str, op: Op, inputs: Sequence[Array]) -> Bounded | None:
    row = OPERATIONS.get(name)
    if row is None or row.check is None:
        return None
    scalars: dict[int, Any] = op.params.get("scalars") or {}
    tensors = iter(inputs)
    count = len(inputs) + len(scalars)
    given = [np.asarray(scalars[i] if i in scalars else next(tensors)) for i in range(count)]
    integers = all(array.dtype.kind in "iub" for array in given)
    # A number beside f32 tensors is an f32 number.
    wide = [array if integers or array.dtype.kind in "iub" else array.astype(np.float32) for array in given]
    assert op.output is not None
    logical = op.output.dtype == "i1" and all(a.dtype.kind == "b" for a in given)
    whole = np.uint64 if any(array.dtype == np.uint64 for array in given) else np.int64
    exact = [array.astype(bool if logical else whole if integers else np.float64) for array in wide]
    kind = dtypes.dtype(op.output.dtype)
    if integers and row.check.kind == "exact":  # whose low bits a bound, which is of floats, would not keep
        return Bounded(cast(np.asarray(row.check.function(*exact)), kind.name))
    found = row.check.of(exact, op.params.get("axis"), integers)
    low = found is not None and integers and not kind.is_float and kind.itemsize < 8
    return Bounded(cast(found.value.astype(np.int64), kind.name)) if found is not None and low else found
