"""Whether a block fits the tensor that it is read from or written to: extents, not bytes."""

from __future__ import annotations

import math

import numpy as np

from kernbench.language.arguments import BadArgumentError
from kernbench.language.pointer import Pointer

Shape = tuple[int, ...]

_PART = "name a part of it with tl.make_block_ptr or strides="


def check_read(argument: str, ptr: object, shape: Shape) -> None:
    """Refuse a block without strides that is not the tensor's own elements in the tensor's order.

    Fine are a run of elements (one dimension), whole rows, all of the tensor under another shape, and any
    shape of a tensor of one dimension or at a plain address. A corner of a matrix is not one of these: its
    rows do not follow each other in memory.
    """
    if not isinstance(ptr, Pointer) or shape == ptr.shape:
        return
    block, tensor = _without_ones(shape), _without_ones(ptr.shape)
    if len(block) < 2 or len(tensor) < 2 or math.prod(block) == math.prod(tensor):
        return
    padded = (1,) * (len(ptr.shape) - len(shape)) + shape
    if len(padded) == len(ptr.shape) and all(a <= b for a, b in zip(padded, ptr.shape, strict=True)):
        first = next(axis for axis, extent in enumerate(padded) if extent > 1)
        if padded[first + 1 :] == ptr.shape[first + 1 :]:
            return
    elif any(math.prod(block[axis:]) % tensor[-1] == 0 for axis in range(1, len(block))):
        return
    raise BadArgumentError(
        argument,
        f"a block of shape {shape} is not consecutive in tensor '{ptr.name}' of shape {ptr.shape}; {_PART}",
    )


def stored_shape(value: Shape, target: Shape | None, mask: Shape | None, named: str) -> Shape:
    """The shape under which a value is stored: its own, or the one that it broadcasts to.

    Axes of size 1 may be more or fewer. ``target`` is None where the address says no shape. With a mask the
    block may leave the target, as in Triton; ``named`` is the target in words.
    """
    lean = (1,) if math.prod(value) == 1 else value
    if target is None:
        return mask if mask is not None and lean == (1,) else value
    if mask is None and _without_ones(value) == _without_ones(target):
        return target
    block = broadcast(lean, mask or (1,))
    if block is None:
        raise BadArgumentError("mask", f"shape {mask} does not broadcast with the value's, {value}")
    if broadcast(block, target) == target:
        return target
    leaves = len(block) == len(target) and block[0] > target[0] and block[1:] == target[1:]
    if mask is not None and leaves:
        return block
    masked = mask is not None and broadcast(lean, target) == target
    argument, shape = ("mask", block) if masked else ("value", value)
    raise BadArgumentError(
        argument,
        f"shape {shape} is not that of {named}, {target}, and does not broadcast to it; {_PART}, or store to "
        "the address of its first element, pointer + bytes",
    )


def check_result(argument: str, ptr: object, shape: Shape) -> None:
    """Refuse a tensor argument as the target of a result that has another shape; axes of 1 do not count."""
    if isinstance(ptr, Pointer) and _without_ones(shape) != _without_ones(ptr.shape):
        raise BadArgumentError(
            argument,
            f"the result has shape {shape}, tensor '{ptr.name}' has {ptr.shape}; pass a tensor of that "
            "shape, or the address of its first element, pointer + bytes",
        )


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that both broadcast to by numpy's rules; None where they do not."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


def _without_ones(shape: Shape) -> Shape:
    return tuple([extent for extent in shape if extent != 1])
