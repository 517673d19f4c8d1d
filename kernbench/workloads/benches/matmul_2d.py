"""One product on a grid of PEs whose blocks go along rows and columns by multicast, as in tt-metal's matmul.

A step takes a block of ``a`` for each row of the grid and one of ``b`` for each column. One PE of the row, or
column, has it and sends it to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.host.placement import grid_of
from kernbench.language import autotune
from kernbench.language.queue_calls import Future
from kernbench.support import dtypes
from kernbench.workloads.benches._inputs import DTYPE, SEED, activations, matmul, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.hardware.topology.neighbours import Neighbours
    from kernbench.host import Context
    from kernbench.language import Pointer

STAGES = 3
"""Stages of the loop along k: its buffers hold two blocks, in use or on their way."""


def matmul_2d(
    a: Pointer,
    b: Pointer,
    out: Pointer,
    grid: tuple[int, int],
    shape: tuple[int, int, int],
    near: tuple[bool, bool],
    precision: str | None,
    many: bool,
    stored: bool,
    depth: int,
    down: int,
    across: int,
    ahead: int,
    tl: Any,
) -> None:
    """Own tile of ``out = a @ b``.

    Args:
        a, b, out: Each PE has a tile of the matrix, in the order of rows; see ``near`` for another way.
        grid: Rows and columns of PEs.
        shape: m, k and n of the whole product.
        near: Whether a, and b, lie in the PEs. Else the first PE of a row, or column, reads from memory,
            where its blocks lie one after another: for each of its blocks of the output those along k.
        precision: That of ``tl.dot``.
        many: By multicast; else a message to each.
        stored: Whether the product is stored to out; else sums stay where they are.
        depth: Columns of a block of a, rows of one of b.
        down, across: Blocks of the output that a PE makes. For each of them it takes its operands again.
        ahead: Steps whose blocks are under way, or there, before the first of them is multiplied.
    """
    (rows, columns), (height, whole, width) = grid, shape
    parts = rows * down, depth * lcm(columns if near[0] else 1, rows if near[1] else 1), columns * across
    for name, size, part in zip("mkn", shape, parts, strict=True):
        tl.static_assert(size % part == 0, f"{name}={size} is not a multiple of {part}, as blocks need")
    m, steps, n = height // parts[0], whole // depth, width // parts[2]
    y, x = divmod(tl.program_id(0), columns)

    def left(step: int, i: int) -> Any:
        share = steps // columns
        if near[0]:
            at = (i * m * share + step % share) * depth, share * depth
            return block(a.local, "row", step // share, x, columns, at, (m, depth))
        return block(
            a, "row", 0, x, columns, (((y * down + i) * steps + step) * m * depth, depth), (m, depth)
        )

    def right(step: int, j: int) -> Any:
        share = steps // rows
        if near[1]:
            at = (step % share * depth * across + j) * n, across * n
            return block(b.local, "column", step // share, y, rows, at, (depth, n))
        first = ((x * across + j) * steps + step) * depth * n
        return block(b, "column", 0, y, rows, (first, n), (depth, n))

    def block(
        base: Any, to: str, owner: int, me: int, count: int, at: tuple[int, int], size: tuple[int, int]
    ) -> Any:
        """A block, or the future of one that another PE sends."""
        if me != owner:
            return tl.recv_async(f"{to}{owner}", size, a.dtype)
        first, pitch = at
        strides = None if pitch == size[1] else (pitch, 1)
        found = tl.load(base + dtypes.nbytes((first,), a.dtype), size, a.dtype, strides=strides)
        others = [f"{to}{(me + i) % count}" for i in range(1, count)]
        for some in [others] if many and others else [[one] for one in others]:
            tl.multicast(some, found)
        return found

    def there(block: Any) -> Any:
        return tl.wait(block) if isinstance(block, Future) else block

    for i, j in product(range(down), range(across)):
        coming: list[tuple[Any, Any]] = []
        total = None
        for step in tl.range(0, steps, 1, num_stages=STAGES):
            later = range(step + ahead - 1 if step else 0, min(step + ahead, steps))
            coming += [(left(one, i), right(one, j)) for one in later]
            one, other = (there(block) for block in coming.pop(0))
            if total is None:
                total = tl.dot(one, other, out_dtype=tl.float32, precision=precision)
            else:
                total = tl.dot(one, other, acc=total, precision=precision)
            del one, other
        if stored:
            first = dtypes.nbytes((i * m * across * n + j * n,), a.dtype)
            tl.store(out.local + first, total, dtype=a.dtype, strides=(across * n, 1))


tuned = autotune(
    configs=[
        {"depth": depth, "down": down, "across": 1, "ahead": ahead}
        for depth in (32, 64, 128, 256)
        for down in (1, 2)
        for ahead in (1, 2)
    ],
    key=["shape"],
)(matmul_2d)


def neighbours(rows: int, columns: int, sips: Sequence[int] = (0,)) -> Neighbours:
    """The other PEs of a row, ``row0 ...``, and column, ``column0 ...``, of a grid in each first cube."""
    return {
        (sip, 0, y * columns + x): {
            **{f"row{i}": (sip, 0, y * columns + i) for i in range(columns) if i != x},
            **{f"column{i}": (sip, 0, i * columns + x) for i in range(rows) if i != y},
        }
        for sip, y, x in product(sips, range(rows), range(columns))
    }


@bench(
    name="matmul-2d",
    description="One product on the grid of a cube's PEs, blocks sent along rows and columns by multicast.",
    params=[
        Param("m", int, 64, "rows of a", minimum=1),
        Param("k", int, 256, "columns of a, rows of b", minimum=1),
        Param("n", int, 256, "columns of b", minimum=1),
        Param("cast", str, "multicast", "how blocks are sent", choices=("multicast", "unicast")),
        Param("memory", str, "tcm", "where PEs hold a, b and the product", choices=("tcm", "hbm")),
        Param("slots", int, 2, "slots of a queue", minimum=1),
        Param("slot_bytes", int, 16 << 10, "bytes of a slot; larger blocks go in parts", minimum=1),
        Param("precision", str, "", "one of the machine's pe_gemm.phases; empty: one pass"),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Each PE holds a tile of a, of b, and of the product."""
    p = torch.params
    rows, columns = grid = grid_of(torch.pes_per_cube)
    for name, of, parts in (("m", p.m, rows), ("n", p.n, columns), ("k", p.k, lcm(rows, columns))):
        if of % parts:
            raise UsageError(f"{name}={of} is not a multiple of {parts}, as {rows} x {columns} PEs need")
    rng = np.random.default_rng(p.seed)
    a, b = activations(rng, (p.m, p.k), p.dtype), weights(rng, (p.k, p.n), p.dtype)
    own: dict[str, Any] = {"dp": DPPolicy(pe="tiled_row_major", num_cubes=1), "memory": p.memory}
    left, right = torch.from_numpy(a, name="a", **own), torch.from_numpy(b, name="b", **own)
    out = torch.empty(p.m, p.n, dtype=p.dtype, name="out", **own)
    how = (p.m, p.k, p.n), (True, True), p.precision or None, p.cast == "multicast", True
    with torch.install_ipcq(neighbours(rows, columns, left.sips), slots=p.slots, slot_bytes=p.slot_bytes):
        torch.launch("matmul", tuned, left, right, out, grid, *how)
    torch.check("out", out, lambda: matmul(a, b))
