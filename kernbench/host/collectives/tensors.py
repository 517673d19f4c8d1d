"""How the tensors of one call must be placed: alike, for every PE works on its own shards alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.host import Tensor, TensorShard


def lanes_of(tensor: Tensor) -> tuple[tuple[int, int], ...]:
    """The PEs ``(cube, pe)`` that hold a shard, ascending."""
    return tuple((shard.cube, shard.pe) for shard in tensor.shards)


def placement_of(tensor: Tensor) -> tuple[object, ...]:
    """Which PE holds which part; equal for tensors of one shape that are placed alike."""
    return tuple((shard.cube, shard.pe, _bounds(shard)) for shard in tensor.shards)


def check_alike(what: str, tensors: Sequence[Tensor], *, one_shape: bool) -> None:
    """See that each PE holds the same part of every tensor (of different shapes: a part of each).

    Raises:
        UsageError: A tensor is of another shape or placed otherwise than the first.
    """
    first = tensors[0]
    for tensor in tensors[1:]:
        if one_shape and tensor.shape != first.shape:
            raise UsageError(
                f"{what}: tensor '{tensor.name}' has shape {tensor.shape}, '{first.name}' {first.shape}; "
                "use one shape"
            )
        same = (
            placement_of(tensor) == placement_of(first) if one_shape else lanes_of(tensor) == lanes_of(first)
        )
        if not same:
            raise UsageError(
                f"{what}: tensor '{tensor.name}' is placed otherwise than '{first.name}'; use one DPPolicy"
            )


def check_whole(what: str, part: Tensor, whole: Tensor, size: int) -> None:
    """See that ``whole`` is ``size`` parts along its first dimension, which lies whole on each PE.

    Raises:
        UsageError: The shapes do not fit, or the first dimension is split over PEs.
    """
    wanted = (size * part.shape[0], *part.shape[1:])
    if whole.shape != wanted:
        raise UsageError(
            f"{what}: tensor '{whole.name}' has shape {whole.shape}; for {size} ranks with "
            f"'{part.name}' of {part.shape} it must have {wanted}"
        )
    for tensor in (part, whole):
        if any(_bounds(shard)[0] != (0, tensor.shape[0]) for shard in tensor.shards):
            raise UsageError(
                f"{what}: tensor '{tensor.name}' is split along its first dimension, along which the ranks' "
                "parts lie; split it column_wise, or use a list of tensors"
            )
    if [(s.cube, s.pe, _bounds(s)[1:]) for s in part.shards] != [
        (s.cube, s.pe, _bounds(s)[1:]) for s in whole.shards
    ]:
        raise UsageError(
            f"{what}: tensor '{whole.name}' is placed otherwise than '{part.name}'; use one DPPolicy"
        )


def _bounds(shard: TensorShard) -> tuple[tuple[int, int], ...]:
    return tuple((part.start, part.stop) for part in shard.index)
