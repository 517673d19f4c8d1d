"""Where the parts of a tensor lie inside one SIP.

A :class:`DPPolicy` splits a tensor twice: first over cubes, then each cube's part over that cube's PEs.
It never crosses a SIP: which SIPs hold the tensor is the device selection's business.

The *device layout* of a tensor is the concatenation of its distinct blocks, each row-major, in
(cube, PE) order; a shard's ``offset_bytes`` is its block's place in it. Copies made by ``replicate``
share one offset: every copy answers to the same virtual range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kernbench.errors import UsageError
from kernbench.support import dtypes
from kernbench.support.hints import shown

Split = Literal["replicate", "column_wise", "row_wise", "tiled_column_major", "tiled_row_major"]
SPLITS: tuple[str, ...] = get_args(Split)


@dataclass(frozen=True, slots=True)
class DPPolicy:
    """How a tensor is split over the cubes of a SIP and over the PEs of a cube.

    ``replicate``: every part is the whole. ``column_wise``: slices of the last dimension.
    ``row_wise``: slices of the first dimension. Slices are equal where they can be; else the last ones are
    smaller or empty, as with PyTorch's ``DTensor``. ``tiled_row_major`` and ``tiled_column_major``: a
    grid of tiles over the last two dimensions, as near to square as the number of parts allows
    (rows = its largest divisor not above its square root); tiles are assigned along the rows, or down the
    columns. ``num_cubes`` and ``num_pes`` (PEs per cube) default to all that the topology has; a smaller
    number takes the first ones. ``even``: where SIPs or cubes differ, only as many cubes as every SIP has and
    as many PEs as every cube has.
    """

    cube: Split = "replicate"
    pe: Split = "replicate"
    num_cubes: int | None = None
    num_pes: int | None = None
    even: bool = False

    def __post_init__(self) -> None:
        for level, split in (("cube", self.cube), ("pe", self.pe)):
            if split not in SPLITS:
                raise UsageError(f"DPPolicy({level}={shown(split)}): use one of {', '.join(SPLITS)}")
        for name, count in (("num_cubes", self.num_cubes), ("num_pes", self.num_pes)):
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise UsageError(
                    f"DPPolicy({name}={shown(count)}): give a whole number of 1 or more, or None for all"
                )

    def __str__(self) -> str:
        """As one writes it, without what is left at its default."""
        given = {"cube": self.cube, "pe": self.pe, "num_cubes": self.num_cubes, "num_pes": self.num_pes}
        shown = [f"{k}={v!r}" for k, v in given.items() if v is not None]
        shown += ["even=True"] if self.even else []
        return f"DPPolicy({', '.join(shown)})"


SINGLE_PE = DPPolicy(num_cubes=1, num_pes=1)
"""The whole tensor on PE 0 of cube 0: where a tensor lies that was given no policy."""


@dataclass(frozen=True, slots=True)
class TensorShard:
    """One part of a tensor on one PE: ``index`` cuts it from the whole, ``shape`` is its local shape.

    ``offset_bytes`` and ``nbytes`` place it in the device layout. The identity of a shard is the tuple
    (sip, cube, pe); ``cube`` counts within the SIP, ``pe`` within the cube. ``pa`` is the physical address
    of its first byte once memory is allocated for it.
    """

    sip: int
    cube: int
    pe: int
    offset_bytes: int
    nbytes: int
    shape: tuple[int, ...]
    index: tuple[slice, ...]
    pa: int | None = None

    @property
    def place(self) -> tuple[int, int, int]:
        """``(sip, cube, pe)``."""
        return (self.sip, self.cube, self.pe)


@dataclass(frozen=True, slots=True)
class _Block:
    start: tuple[int, ...]
    shape: tuple[int, ...]


def _cut(block: _Block, dim: int, parts: int) -> list[_Block]:
    """``parts`` slices of ``block`` along ``dim``, each of as many as the first, until none are left."""
    size = block.shape[dim]
    step = -(-size // parts)
    cuts = [min(i * step, size) for i in range(parts + 1)]
    return [
        _Block(
            (*block.start[:dim], block.start[dim] + a, *block.start[dim + 1 :]),
            (*block.shape[:dim], b - a, *block.shape[dim + 1 :]),
        )
        for a, b in pairwise(cuts)
    ]


def grid_of(parts: int) -> tuple[int, int]:
    """(rows, columns) of the tile grid for ``parts`` parts; rows is the largest divisor <= sqrt(parts)."""
    rows = max(r for r in range(1, math.isqrt(parts) + 1) if parts % r == 0)
    return rows, parts // rows


def _split(block: _Block, split: str, parts: int, what: str) -> list[_Block]:
    if split == "replicate":
        return [block] * parts
    if split == "row_wise":
        return _cut(block, 0, parts)
    last = len(block.shape) - 1
    if split == "column_wise":
        return _cut(block, last, parts)
    if last < 1:
        raise UsageError(f"{what}: {split} needs two dimensions; use row_wise or column_wise")
    rows, columns = grid_of(parts)
    bands = _cut(block, last - 1, rows)
    tiles = [_cut(band, last, columns) for band in bands]
    if split == "tiled_row_major":
        return [tiles[r][c] for r in range(rows) for c in range(columns)]
    return [tiles[r][c] for c in range(columns) for r in range(rows)]


def _count(asked: int | None, there: int, name: str, unit: str, what: str) -> int:
    if asked is not None and asked > there:
        raise UsageError(f"{what}: {name}={asked}, but the topology has {there} {unit}")
    return asked if asked is not None else there


def pes_used(policy: DPPolicy, cubes: int, pes: int | Sequence[int], what: str) -> list[int]:
    """How many PEs of each of the first ``cubes`` cubes ``policy`` asks for."""
    there = [pes] * cubes if isinstance(pes, int) else pes[:cubes]
    return [_count(policy.num_pes, count, "num_pes", "PEs per cube", what) for count in there]


def idle(
    policy: DPPolicy, shards: Sequence[TensorShard], *, sip: int, cubes: int, pes: int | Sequence[int]
) -> set[tuple[int, int, int]]:
    """The PEs among which ``policy`` splits a tensor and whose part of it is empty."""
    counts = pes_used(policy, policy.num_cubes or cubes, pes, "")
    asked = {(sip, cube, pe) for cube, count in enumerate(counts) for pe in range(count)}
    return asked - {shard.place for shard in shards}


def check_shape(shape: Sequence[int], what: str) -> tuple[int, ...]:
    """``shape`` as a tuple of positive ints; anything else is a :class:`UsageError` that names ``what``."""
    try:
        sizes = tuple(shape)
    except TypeError:
        raise UsageError(f"{what}: shape {shown(shape)}; give numbers or a tuple of them") from None
    if not sizes:
        raise UsageError(f"{what}: a tensor needs at least one dimension; use shape (1,) for a scalar")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise UsageError(f"{what}: shape {sizes} must hold whole numbers of 1 or more")
    return tuple(int(size) for size in sizes)


def place(
    policy: DPPolicy,
    shape: Sequence[int],
    dtype: str,
    *,
    sip: int,
    cubes: int,
    pes: int | Sequence[int],
    name: str = "tensor",
) -> tuple[TensorShard, ...]:
    """The shards of a tensor on ``sip``, in (cube, PE) order; PEs whose part is empty have none.

    ``cubes`` and ``pes`` are what the topology has per SIP and per cube (of each cube, if they differ).
    A policy that cannot place the shape is a :class:`UsageError`.
    """
    sizes = check_shape(shape, f"tensor '{name}'")
    what = f"tensor '{name}' of shape {sizes}"
    n_cubes = _count(policy.num_cubes, cubes, "num_cubes", "cubes per SIP", what)
    counts = pes_used(policy, n_cubes, pes, what)
    whole = _Block((0,) * len(sizes), sizes)
    offsets: dict[tuple[int, ...], int] = {}
    shards: list[TensorShard] = []
    used = 0
    for cube, part in enumerate(_split(whole, policy.cube, n_cubes, what)):
        for pe, block in enumerate(_split(part, policy.pe, counts[cube], what)):
            if not all(block.shape):
                continue
            nbytes = dtypes.nbytes(block.shape, dtype)
            if block.start not in offsets:
                offsets[block.start] = used
                used += nbytes
            index = tuple(slice(s, s + n) for s, n in zip(block.start, block.shape, strict=True))
            shards.append(TensorShard(sip, cube, pe, offsets[block.start], nbytes, block.shape, index))
    return tuple(shards)


def distinct(shards: Sequence[TensorShard]) -> list[TensorShard]:
    """The first copy of every distinct block, in layout order: together they are the whole tensor."""
    first: dict[int, TensorShard] = {}
    for shard in shards:
        first.setdefault(shard.offset_bytes, shard)
    return [first[offset] for offset in sorted(first)]


def nearest(shards: Sequence[TensorShard], cube: int, pe: int) -> list[TensorShard]:
    """The blocks that a PE maps of a tensor: of each the copy nearest to it, in layout order.

    Its own copy, else one in its cube, else the one on the same PE of another cube, else the first.
    """

    def distance(shard: TensorShard) -> tuple[bool, bool, int, int]:
        return (shard.cube != cube, shard.pe != pe, shard.cube, shard.pe)

    best: dict[int, TensorShard] = {}
    for shard in shards:
        held = best.get(shard.offset_bytes)
        if held is None or distance(shard) < distance(held):
            best[shard.offset_bytes] = shard
    return [best[offset] for offset in sorted(best)]


def cut(array: NDArray[np.generic], shard: TensorShard) -> NDArray[np.generic]:
    """The block of ``array`` (global shape) that ``shard`` holds, as row-major bytes of its own."""
    return np.array(array[shard.index], order="C", copy=True)
