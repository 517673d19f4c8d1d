"""The meaning of every operation in numpy: the value of ``op.output`` from the values of ``op.inputs``.

Pure functions, no memory and no time. f16 and bf16 are computed in f32 and rounded once at the end;
integers in i64 and reduced to their low bits. The order of every sum is fixed, so that the same inputs
give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.operations import Op, Operand
from kernbench.errors import UsageError
from kernbench.operations import OPERATIONS, Operation
from kernbench.support import dtypes
from kernbench.support.dtypes import widen
from kernbench.values import epilogues
from kernbench.values.numeric import cast, product

Array = np.ndarray[Any, Any]
Rule = Callable[[Op, Sequence[Array]], Array]

DEFAULT_TILE = (32, 64, 32)
"""(M, K, N) of a composite whose ``tile`` is unset: the GEMM tile of the default configuration."""


def compute(op: Op, inputs: Sequence[Array]) -> Array:
    """The value of ``op``: an array of the shape and dtype of ``op.output``.

    ``inputs`` are the values of ``op.inputs``, in order and of the operands' dtypes. Data may be shared
    with an input, never modified. An operation without a value (``tile``, unknown) is a
    :class:`UsageError`.
    """
    output = op.output
    if output is None:
        raise UsageError(f"op {op.id} {op.kind}/{op.name} has no output to compute")
    arrays = [_in_shape(array, operand) for array, operand in zip(inputs, op.inputs, strict=True)]
    rule = _rule(op)
    if rule in _MOVES:
        value = rule(op, arrays)
    else:
        with np.errstate(all="ignore"):
            value = rule(op, arrays)
    return _in_shape(cast(value, output.dtype), output)


def _in_shape(array: Array, operand: Operand) -> Array:
    return array if array.shape == operand.shape else np.reshape(array, operand.shape)


def stacked_dot(ops: Sequence[Op], inputs: Sequence[Sequence[Array]]) -> list[Array]:
    """The values of several ``gemm/dot`` of one :func:`stack_of`, as one batched product.

    Bit for bit what :func:`compute` gives for each alone.
    """
    accumulator = _accumulator(ops[0])
    a, b = (_stack([pair[i] for pair in inputs], ops[0].inputs[i], accumulator) for i in (0, 1))
    values = cast(_round(_product(a, b, accumulator), accumulator), _output(ops[0]).dtype)
    return list(values)


def _stack(arrays: Sequence[Array], operand: Operand, accumulator: str) -> Array:
    """``arrays``, each of the operand's shape, one above the other, in the type of the product."""
    shaped = [np.reshape(array, operand.shape) for array in arrays]
    if not dtypes.dtype(accumulator).is_float:
        return np.stack(shaped)
    stack = np.empty((len(shaped), *operand.shape), np.float32)
    with np.errstate(all="ignore"):
        for place, array in zip(stack, shaped, strict=True):
            place[...] = array  # widened on its way: no stack of the narrow type in between
    return stack


def _rule(op: Op) -> Rule:
    if op.kind == "math" and op.name.startswith("composite_"):
        return _composite_math
    rule = _RULES.get((op.kind, op.name))
    if rule is not None:
        return rule
    if op.kind == "math" and op.name in OPERATIONS:
        return _math
    raise UsageError(f"op {op.id} {op.kind}/{op.name} has no value: no such data operation")


def _output(op: Op) -> Operand:
    assert op.output is not None
    return op.output


def _accumulator(op: Op) -> str:
    is_float = any(dtypes.dtype(operand.dtype).is_float for operand in op.inputs[:2])
    return str(op.params.get("acc_dtype") or ("f32" if is_float else "i32"))


def stack_of(op: Op) -> object:
    """What products have in common that :func:`stacked_dot` may work out together: shapes and types."""
    return tuple([(o.shape, o.dtype) for o in (*op.inputs, _output(op))]), _accumulator(op)


def _round(total: Array, accumulator: str) -> Array:
    """``total`` as the accumulator register holds it; the array itself stays in the compute type."""
    if not dtypes.dtype(accumulator).is_float:
        return total  # i32 sums are i32 already; a k_tile epilogue that made them f32 keeps them so
    return widen(cast(widen(total), accumulator))


def _product(a: Array, b: Array, accumulator: str) -> Array:
    """``a @ b``, unrounded; integers that accumulate in a float type are multiplied as floats."""
    if dtypes.dtype(accumulator).is_float:
        a, b = widen(a), widen(b)
    return product(a, b)


def _dot(op: Op, inputs: Sequence[Array]) -> Array:
    accumulator = _accumulator(op)
    return _round(_product(inputs[0], inputs[1], accumulator), accumulator)


def _dot_acc(op: Op, inputs: Sequence[Array]) -> Array:
    """``a @ b`` added to an accumulator."""
    accumulator = _accumulator(op)
    wide = widen if dtypes.dtype(accumulator).is_float else np.asarray
    return _round(_product(inputs[0], inputs[1], accumulator) + wide(inputs[2]), accumulator)


def _composite_gemm(op: Op, inputs: Sequence[Array]) -> Array:
    # Tiles of M and N do not meet in any sum, so only the order over K is replayed tile by tile.
    a, b = inputs[0], inputs[1]
    steps, accumulator = op.params.get("epilogue", ()), _accumulator(op)
    tile_k = int((op.params.get("tile") or DEFAULT_TILE)[1])
    total: Array | None = None
    for k in range(0, a.shape[1], tile_k):
        partial = _product(a[:, k : k + tile_k], b[k : k + tile_k, :], accumulator)
        partial = epilogues.apply(steps, "k_tile", partial, inputs, k)
        total = _round(partial if total is None else total + partial, accumulator)
    assert total is not None
    total = epilogues.apply(steps, "output_tile", total, inputs)
    return epilogues.apply(steps, "kernel", total, inputs)


def _math(op: Op, inputs: Sequence[Array]) -> Array:
    return _evaluate(OPERATIONS[op.name], op, inputs)


def _composite_math(op: Op, inputs: Sequence[Array]) -> Array:
    name = op.name.removeprefix("composite_")
    if name not in OPERATIONS or OPERATIONS[name].kind not in ("elementwise", "cast"):
        raise UsageError(f"op {op.id} math/{op.name} has no value: {name!r} is not elementwise")
    value = _evaluate(OPERATIONS[name], op, inputs[:1])
    steps = op.params.get("epilogue", ())
    value = epilogues.apply(steps, "output_tile", value, inputs)
    return epilogues.apply(steps, "kernel", value, inputs)


def _evaluate(rule: Operation, op: Op, inputs: Sequence[Array]) -> Array:
    """Apply ``rule``: tensors in their order, scalars put back at the positions they were passed at."""
    scalars: dict[int, float | int] = op.params.get("scalars") or {}
    tensors = iter(inputs)
    given = [np.asarray(scalars[i] if i in scalars else next(tensors)) for i in range(rule.arity)]
    if rule.chooses:
        # Only whether it is zero counts; its type must not turn large integers into f32.
        given[0] = given[0] != 0
    floating = (
        rule.float_only
        or dtypes.dtype(_output(op).dtype).is_float
        or any(array.dtype.kind not in "biu" for array in given)
    )
    logical = _output(op).dtype == "i1" and all(array.dtype.kind == "b" for array in given)
    whole = np.uint64 if any(array.dtype == np.uint64 for array in given) else np.int64
    compute_type = np.dtype(np.float32 if floating else np.bool_ if logical else whole)
    arguments = [np.asarray(array, dtype=compute_type, order="C") for array in given]
    if rule.kind in ("elementwise", "cast"):
        return np.asarray(rule.function(*arguments))
    axis = op.params["axis"]
    return np.asarray(rule.function(arguments[0], None if axis is None else int(axis)))


def _read(op: Op, inputs: Sequence[Array]) -> Array:
    """The loaded block: pieces of memory at their places, ``other`` where nothing was read or let through."""
    pieces, take = op.params.get("pieces"), op.params.get("take")
    if take is not None:
        chosen, places = take
        block = _full_of(op, op.params["other"]).reshape(-1)
        block[chosen] = inputs[0].reshape(-1)[places]
        return block
    if pieces is None:
        return inputs[0]
    block = _full_of(op, op.params["other"]).reshape(-1)
    loaded, position = inputs[0].reshape(-1), 0
    for at, count in pieces:
        block[at : at + count] = loaded[position : position + count]
        position += count
    if len(inputs) == 1:
        return block
    mask = np.broadcast_to(inputs[1], _output(op).shape).reshape(-1)
    return np.where(mask != 0, block, _full_of(op, op.params["other"]).reshape(-1))


def _pick_written(op: Op, inputs: Sequence[Array]) -> Array:
    """The elements that a store writes, in the order of memory."""
    return pieces_of(op, inputs[0])


def pieces_of(op: Op, block: Array) -> Array:
    """The elements of ``block``, or of a mask of its shape, that a store has an address for."""
    pieces, put = op.params.get("pieces"), op.params.get("put")
    if put is not None:
        return np.asarray(block.reshape(-1)[put])
    if pieces is None:
        return block
    flat = np.broadcast_to(block, op.inputs[0].shape).reshape(-1)
    parts = [flat[at : at + count] for at, count in pieces]
    return np.concatenate(parts) if parts else flat[:0]


def _reshape(_op: Op, inputs: Sequence[Array]) -> Array:
    return inputs[0]


def _broadcast(op: Op, inputs: Sequence[Array]) -> Array:
    return np.broadcast_to(inputs[0], _output(op).shape)


def _slice(op: Op, inputs: Sequence[Array]) -> Array:
    return np.asarray(inputs[0][op.params["index"]])


def _bytes_moved(op: Op, inputs: Sequence[Array]) -> Array:
    """The inputs' bytes in turn, from ``params["offset"]`` on, as what the output says they are."""
    output = _output(op)
    parts = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in inputs]
    data = parts[0] if len(parts) == 1 else np.concatenate(parts)
    dtype = dtypes.dtype(output.dtype).numpy
    offset, size = int(op.params.get("offset", 0)), math.prod(output.shape) * dtype.itemsize
    taken = data[offset : offset + size]
    if offset % dtype.itemsize:
        taken = taken.copy()
    return taken.view(dtype)


def _constant(op: Op, _inputs: Sequence[Array]) -> Array:
    return np.asarray(op.params["data"])


def _transpose(op: Op, inputs: Sequence[Array]) -> Array:
    dims = op.params.get("dims")
    return np.swapaxes(inputs[0], -1, -2) if dims is None else np.transpose(inputs[0], dims)


def _arange(op: Op, _inputs: Sequence[Array]) -> Array:
    return np.arange(op.params["start"], op.params["stop"], dtype=np.int64)


def _zeros(op: Op, _inputs: Sequence[Array]) -> Array:
    return np.zeros(_output(op).shape, dtypes.dtype(_output(op).dtype).numpy)


def _full(op: Op, _inputs: Sequence[Array]) -> Array:
    return _full_of(op, op.params["value"])


def _full_of(op: Op, number: float) -> Array:
    value = cast(np.asarray(number), _output(op).dtype)
    return np.full(_output(op).shape, value, value.dtype)


_RULES: dict[tuple[str, str], Rule] = {
    ("memory", "dma_read"): _read,
    ("memory", "atomic_old"): _read,
    ("memory", "dma_write"): _pick_written,
    ("memory", "host_write"): _constant,
    ("queue", "ipcq_copy"): _bytes_moved,
    ("queue", "ipcq_recv"): _bytes_moved,
    ("gemm", "dot"): _dot,
    ("gemm", "dot_acc"): _dot_acc,
    ("gemm", "composite_gemm"): _composite_gemm,
    ("math", "cast"): _reshape,
    ("math", "broadcast_to"): _broadcast,
    ("view", "trans"): _transpose,
    ("view", "reshape"): _reshape,
    ("view", "slice"): _slice,
    ("view", "arange"): _arange,
    ("view", "zeros"): _zeros,
    ("view", "full"): _full,
    ("view", "known"): _constant,
}


def means(kind: str, name: str) -> Callable[[Rule], Rule]:
    """Decorator of the function that is the meaning of operations ``kind`` and ``name``: as :func:`compute`.

    For an operation whose meaning stands in the file that issues it.
    """

    def known(rule: Rule) -> Rule:
        _RULES[kind, name] = rule
        return rule

    return known


_MOVES = frozenset({_read, _pick_written, _bytes_moved, _reshape, _transpose, _slice})
"""Rules without arithmetic, about which numpy has nothing to warn."""
