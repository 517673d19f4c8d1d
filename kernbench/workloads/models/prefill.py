"""The kernels of a prefill: the tokens of one sequence pass a layer together.

An activation is a list of groups of rows, one for each PE of a cube, and each group a list of strips of
columns, (rows, width) and row-major. A PE computes the rows of its group, for the strips of its cube.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.workloads.models.decode import by_loads
from kernbench.workloads.models.layout import Strips, depth

if TYPE_CHECKING:
    from kernbench.language import Pointer


def add(x: Pointer, y: Pointer | None, squares: Pointer, at_once: int, tl: Any) -> None:
    """``x += y`` in own rows, and the sum of the squares of each."""
    rows, width = tl.local_shape(x)
    for first in range(0, rows, at_once):
        shape = (min(at_once, rows - first), width)
        at = first * width * 2
        h = tl.load(x.local + at, shape, "f16")
        if y is not None:
            h = h + tl.load(y.local + at, shape, "f16")
            tl.store(x.local + at, h)
        wide = h.to(tl.float32)
        tl.store(squares.local + first * 4, tl.reshape(tl.sum(wide * wide, axis=1), (shape[0], 1)))


def project(
    x: Pointer,
    given: Strips,
    w: Pointer,
    gate: Pointer | None,
    out: Pointer,
    made: Strips,
    squares: Pointer | None,
    bias: Pointer | None,
    eps: float,
    at_once: int,
    deep: int,
    sums: Pointer,
    block: int,
    tl: Any,
) -> None:
    """This PE's strips of ``x @ w``, which pass ``at_once`` rows of ``deep`` strips of x in TCM.

    With ``squares``, x is normed: its rows are divided by their root mean square, after the product. Then
    ``bias`` is added. With ``gate`` the strips are those of ``silu(x @ gate) * (x @ w)``. ``sums``: where
    partial sums wait for the next strips of x. ``block``: as in
    :func:`kernbench.workloads.models.decode.project`.
    """
    cubes, pe = tl.num_programs(1), tl.program_id(0)
    group, width = made.group_of(pe), made.width
    strips = turned(made.of(tl.program_id(1), cubes, pe), group, made.groups)
    for row in range(0, given.filled(group), at_once):
        n = min(at_once, given.filled(group) - row)
        scale: Any = None
        if squares is not None:
            at = squares + (group * given.count * given.rows + row) * 4
            parts = tl.load(at, (given.count, n), "f32", strides=(given.rows, 1))
            scale = tl.reshape(tl.rsqrt(tl.sum(parts, axis=0) * (1 / given.columns) + eps), (n, 1))
        places = [
            (
                made.weights_at(strip, given.columns, cubes),
                out + made.at(group, strip, row),
                None if bias is None else tl.ref(bias + strip * width * 2, (width,), "f16"),
            )
            for strip in strips
        ]
        if block:
            rows = rows_of(x, given, group, 0, given.count, row, n, tl)
            for at, target, added in places:
                weights = [w + at] if gate is None else [w + at, gate + at]
                _strip_by_loads(rows, weights, target, scale, added, width, block, tl)
            continue
        # Each cube begins elsewhere in x, since all read the same.
        chunks = turned(range(0, given.count, deep), tl.program_id(1), cubes)
        for turn, first in enumerate(chunks):
            count = min(deep, given.count - first)
            rows = rows_of(x, given, group, first, count, row, n, tl)
            last = turn == len(chunks) - 1
            for slot, of in enumerate((w,) if gate is None else (w, gate)):
                final = last and slot == (gate is not None)
                if not slot or final:
                    tl.wait()  # for the sums so far
                for i, (at, target, added) in enumerate(places):
                    up = sums.local + i * n * width * 4
                    own = tl.ref(up + slot * len(places) * n * width * 4, (n, width), "f32")
                    steps: list[dict[str, Any]] = []
                    if turn:
                        steps.append({"op": "residual", "residual": own})
                    if last and scale is not None:
                        steps.append({"op": "mul", "value": scale})
                    if last and added is not None:
                        steps.append({"op": "bias", "bias": added})
                    if final and gate is not None:
                        steps += [{"op": "silu"}, {"op": "mul", "value": tl.ref(up, (n, width), "f32")}]
                    shape = (count * given.width, width)
                    tl.composite(
                        "gemm",
                        rows,
                        tl.ref(of + at + first * given.width * width * 2, shape, "f16"),
                        out_ptr=target if final else own.address,
                        epilogue=steps,
                        tile_shape=(n, depth(width), width),
                        out_dtype="f16" if final else "f32",
                    )
            del rows
        tl.wait()


def turned(strips: range, reader: int, readers: int) -> list[int]:
    """The strips, beginning with another one for each reader: what they read at a time lies apart."""
    first = len(strips) * reader // readers
    return [*strips[first:], *strips[:first]]


def rows_of(x: Pointer, strips: Strips, group: int, first: int, count: int, row: int, n: int, tl: Any) -> Any:
    """``n`` rows of ``count`` strips from ``first`` on, as (n, count * width)."""
    shape = (count, n, strips.width)
    block = tl.load(
        x + strips.at(group, first, row), shape, "f16", strides=(strips.rows * strips.width, strips.width, 1)
    )
    return tl.reshape(tl.trans(block, 1, 0, 2), (n, count * strips.width))


def _strip_by_loads(
    rows: Any, weights: list[int], target: int, scale: Any, bias: Any, width: int, block: int, tl: Any
) -> None:
    """``rows @ w``, or with a second weight ``silu(rows @ gate) * (rows @ w)``; blocks are loaded."""
    products = [by_loads(rows, at, width, block, None, tl) for at in weights]
    if scale is not None:
        products = [product * scale for product in products]
    if bias is not None:
        products[0] = products[0] + tl.load(bias.address, bias.shape, bias.dtype).to(tl.float32)
    if len(products) > 1:
        up, gate = products
        products = [gate * tl.sigmoid(gate) * up]
    tl.store(target, products[0].to(tl.float16))
