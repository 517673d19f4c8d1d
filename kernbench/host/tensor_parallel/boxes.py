"""Copies between tensors of one SIP on the device: parts of matrices, whatever the placement of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.host.placement import distinct
from kernbench.host.tensor_parallel.placing import bases

if TYPE_CHECKING:
    from kernbench.host import Context, LaunchHandle, Tensor, TensorShard
    from kernbench.language import Pointer

Corner = tuple[int, int]
"""(row, column); a vector is one row."""


@dataclass(frozen=True, slots=True)
class BoxCopy:
    """``shape`` (rows, columns) of ``source`` from ``start`` on, for ``target`` on of the destination."""

    source: Tensor
    start: Corner
    target: Corner
    shape: Corner


@dataclass(frozen=True, slots=True)
class _Move:
    """The copy of one PE: element offsets and strides of a block of ``rows`` x ``columns``.

    ``offset`` counts from address ``base``, or from the beginning of the source's device layout.
    """

    source: int
    base: int | None
    offset: int
    stride: int
    to: int
    to_stride: int
    rows: int
    columns: int


def copy_parts(torch: Context, name: str, destination: Tensor, parts: Sequence[BoxCopy]) -> LaunchHandle:
    """Start a launch in which every PE fills its shard of ``destination`` from ``parts``.

    The cubes that hold the tensors must be the same, and none may have more than two dimensions.

    Raises:
        UsageError: A tensor has more dimensions, or its shards cannot be reached.
    """
    sources = list({id(part.source): part.source for part in parts}.values())
    for tensor in (destination, *sources):
        if tensor.ndim > 2:
            raise UsageError(f"{name}: tensor '{tensor.name}' has {tensor.ndim} dimensions; use at most two")
    moves: dict[tuple[int, int], list[_Move]] = {}
    for shard in destination.shards:
        mine = moves.setdefault((shard.cube, shard.pe), [])
        for part in parts:
            number = next(i for i, source in enumerate(sources) if source is part.source)
            mine += _moves(number, part, shard)
    return torch.launch(name, _copy, moves, destination, *sources)


def _copy(moves: dict[tuple[int, int], list[_Move]], target: Pointer, *sources: Pointer, tl: Any) -> None:
    for move in moves.get((tl.device_id(1), tl.device_id(0)), ()):
        source = sources[move.source]
        itemsize = source.nbytes // max(1, _elements(source))
        value = tl.load(
            (int(source) if move.base is None else move.base) + move.offset * itemsize,
            (move.rows, move.columns),
            source.dtype,
            strides=(move.stride, 1),
        )
        tl.store(
            int(target.local) + move.to * itemsize, value, dtype=target.dtype, strides=(move.to_stride, 1)
        )


def _elements(pointer: Pointer) -> int:
    count = 1
    for size in pointer.shape:
        count *= size
    return count


def _moves(number: int, part: BoxCopy, shard: TensorShard) -> list[_Move]:
    """The share of ``part`` that goes into ``shard`` of the destination, block by block of the source."""
    (row, column), (rows, columns) = _corner(shard)
    found = []
    apart = isinstance(bases(part.source), list)
    for block in distinct(part.source.copy_of(None)):
        (block_row, block_column), (block_rows, block_columns) = _corner(block)
        # In coordinates of the destination.
        down, right = part.target[0] - part.start[0], part.target[1] - part.start[1]
        top = max(row, part.target[0], block_row + down)
        left = max(column, part.target[1], block_column + right)
        bottom = min(row + rows, part.target[0] + part.shape[0], block_row + block_rows + down)
        end = min(column + columns, part.target[1] + part.shape[1], block_column + block_columns + right)
        if top < bottom and left < end:
            itemsize = block.nbytes // (block_rows * block_columns)
            inner = (top - down - block_row) * block_columns + left - right - block_column
            found.append(
                _Move(
                    number,
                    block.pa if apart else None,
                    inner if apart else block.offset_bytes // itemsize + inner,
                    block_columns,
                    (top - row) * columns + left - column,
                    columns,
                    bottom - top,
                    end - left,
                )
            )
    return found


def _corner(shard: TensorShard) -> tuple[Corner, Corner]:
    """Start and shape of a shard as a block of a matrix."""
    start = tuple(part.start for part in shard.index)
    return (start if len(start) == 2 else (0, start[0])), (
        (shard.shape[0], shard.shape[1]) if len(start) == 2 else (1, shard.shape[0])
    )
