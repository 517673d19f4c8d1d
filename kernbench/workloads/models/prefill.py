"""The kernels of a prefill: the tokens of one sequence pass a layer together.

An activation is a list of groups of rows, one for each PE of a cube, and each group a list of strips of
columns, (rows, width) and row-major. A PE computes the rows of its group, for the strips of its cube.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.workloads.models.decode import by_loads, item_bytes, scaled
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
    scale: Pointer | None,
    gate_scale: Pointer | None,
    group_rows: int,
    tl: Any,
) -> None:
    """This PE's strips of ``x @ w``, which pass ``at_once`` rows of ``deep`` strips of x in TCM.

    With ``squares``, x is normed: its rows are divided by their root mean square, after the product. Then
    ``bias`` is added. With ``gate`` the strips are those of ``silu(x @ gate) * (x @ w)``. ``sums``: where
    partial sums wait for the next strips of x. ``block``: as in
    :func:`kernbench.workloads.models.decode.project`, as are scales, one for every ``group_rows`` rows.
    """
    cubes, pe = tl.num_programs(1), tl.program_id(0)
    group, width = made.group_of(pe), made.width
    strips = turned(made.of(tl.program_id(1), cubes, pe), group, made.groups)
    for row in range(0, given.filled(group), at_once):
        n = min(at_once, given.filled(group) - row)
        norm: Any = None
        if squares is not None:
            at = squares + (group * given.count * given.rows + row) * 4
            parts = tl.load(at, (given.count, n), "f32", strides=(given.rows, 1))
            norm = tl.reshape(tl.rsqrt(tl.sum(parts, axis=0) * (1 / given.columns) + eps), (n, 1))
        places = [
            (
                made.weights_at(strip, given.columns, cubes) * item_bytes(w) // (2 * per_item(w)),
                out + made.at(group, strip, row),
                None if bias is None else tl.ref(bias + strip * width * 2, (width,), "f16"),
                made.weights_at(strip, -(-given.columns // (group_rows or given.columns)), cubes),
            )
            for strip in strips
        ]
        if block:
            rows = rows_of(x, given, group, 0, given.count, row, n, tl)
            pairs = [(w, scale)] if gate is None else [(w, scale), (gate, gate_scale)]
            for at, target, added, above in places:
                products = [
                    _strip_by_loads(
                        rows, of + at, None if its is None else its + above, width, block, group_rows, tl
                    )
                    for of, its in pairs
                ]
                _finish(products, target, norm, added, width, tl)
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
                for i, (at, target, added, _) in enumerate(places):
                    up = sums.local + i * n * width * 4
                    own = tl.ref(up + slot * len(places) * n * width * 4, (n, width), "f32")
                    steps: list[dict[str, Any]] = []
                    if turn:
                        steps.append({"op": "residual", "residual": own})
                    if last and norm is not None:
                        steps.append({"op": "mul", "value": norm})
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
    rows: Any, at: Any, scale: int | None, width: int, block: int, group: int, tl: Any
) -> list[Any]:
    """``rows @ w`` of a strip, as :func:`kernbench.workloads.models.decode.by_loads` has it, scaled."""
    packed = width // per_item(at)
    products = by_loads(rows, at, packed, block, [], tl, packed, scale, group)
    return scaled(products, scale, packed, group, tl)


def per_item(w: Any) -> int:
    """Weights in an element."""
    return 2 if w.dtype == "u8" else 1


def _finish(products: list[list[Any]], target: int, norm: Any, bias: Any, width: int, tl: Any) -> None:
    """Store a strip of what products make, or with gates ``silu(x @ gate) * (x @ w)``, in one part or two."""
    first = 0
    for parts in zip(*products, strict=True):
        up, *gates = parts if norm is None else [part * norm for part in parts]
        n = up.shape[1]
        if bias is not None:
            up = up + tl.load(bias.address + first * 2, (n,), bias.dtype).to(tl.float32)
        for gate in gates:
            up = gate * tl.sigmoid(gate) * up
        tl.store(target + first * 2, up.to(tl.float16), strides=(width, 1))
        first += n
