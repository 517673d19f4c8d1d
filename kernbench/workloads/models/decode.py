"""The kernels of a decode step: one new token of each of ``m`` sequences passes a layer.

Weights, keys and values are streamed: whatever their size, a PE holds a block of them. An activation is a
list of blocks of columns, ``m`` rows each (see :mod:`kernbench.workloads.models.layout`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kernbench.support import dtypes
from kernbench.workloads.models.layout import depth
from kernbench.workloads.models.online import Softmax
from kernbench.workloads.models.rotary import normed, rotated

if TYPE_CHECKING:
    from kernbench.language import Pointer


def add(x: Pointer, y: Pointer | None, squares: Pointer, m: int, at_once: int, some: int, tl: Any) -> None:
    """``x += y`` in own blocks of this cube's copy, and the sum of its squares for each token.

    ``some`` tokens at a time, all of them where there is room.
    """
    rows, width = tl.local_shape(x)
    for token in range(0, m, some):
        wide = min(some, m - token)
        total: Any = None
        for first in range(0, rows // m, at_once):
            shape = (min(at_once, rows // m - first), wide, width)
            at = (first * m + token) * width * 2
            h = tl.load(x.local + at, shape, "f16")
            if y is not None:
                own = tl.program_id(0) * rows * width * 2
                h = h + tl.load(y + own + at, shape, "f16")
                tl.store(x.local + at, h)
            exact = h.to(tl.float32)
            part = tl.sum(tl.sum(exact * exact, axis=2), axis=0)
            total = part if total is None else total + part
        tl.store(squares.local + token * 4, tl.reshape(total, (1, wide)))


def spread(x: Pointer, copy: Pointer, m: int, count: int, at_once: int, tl: Any) -> None:
    """Own blocks of this cube's copy of the ``count`` blocks of ``x``."""
    rows, width = tl.local_shape(copy)
    own = tl.program_id(0) * (rows // m)
    for first in range(own, min(count, own + rows // m), at_once):
        n = min(at_once, count - first, own + rows // m - first)
        values = tl.load(x + first * m * width * 2, (n * m, width), "f16")
        tl.store(copy.local + (first - own) * m * width * 2, values)


def project(
    x: Pointer,
    width: int,
    count: int,
    squares: Pointer | None,
    m: int,
    at_once: int,
    block: int,
    wide: int,
    hidden: int,
    eps: float,
    sums: Pointer | None,
    group: int,
    *products: Any,
    tl: Any,
) -> None:
    """Own columns of ``x @ w`` for each weight, which passes ``at_once`` of the ``count`` blocks of x in TCM.

    Weights are streamed by composites, or where ``block`` is given loaded, so many bytes of ``wide`` columns
    at a time. With ``squares``, x is normed: each token's row is divided by its root mean square, after the
    product. A bias is added last. ``sums``: where partial sums of composites wait for the next blocks of x,
    if not in the output. ``products``: of each its weight, its output, and a bias and scales or None. Weights
    that are not f16 have scales, one a column for every ``group`` rows.
    """
    norm: Any = None
    if squares is not None:
        norm = tl.reshape(tl.rsqrt(tl.sum(tl.load(squares), axis=0) * (1 / hidden) + eps), (m, 1))
    weights, outs, biases, scales = (products[i::4] for i in range(4))
    pairs = list(zip(weights, outs, strict=True))
    most = max(tl.local_shape(w)[1] for w, _ in pairs)
    for column in range(0, most, wide or most):
        totals: list[list[Any]] = [[] for _ in pairs]
        above = [None if scale is None else scale.local + column * 2 for scale in scales]
        for first in range(0, count, at_once):
            n = min(at_once, count - first)
            part = tl.load(x + first * m * width * 2, (n, m, width), "f16")
            rows = tl.reshape(tl.trans(part, 1, 0, 2), (m, n * width))
            last = first + n == count
            tl.wait()
            for i, (w, out) in enumerate(pairs):
                columns = tl.local_shape(w)[1]
                at = w.local + (first * width * columns + column) * item_bytes(w)
                if block:
                    own = min(wide, columns - column)
                    if own > 0:
                        row = first * width
                        totals[i] = by_loads(
                            rows, at, own, block, totals[i], tl, columns, above[i], group, row
                        )
                    continue
                steps: list[dict[str, Any]] = []
                if first:
                    steps.append({"op": "residual", "residual": (out if sums is None else sums).local})
                if last and norm is not None:
                    steps.append({"op": "mul", "value": norm})
                if last and (bias := biases[i]) is not None:
                    steps.append({"op": "bias", "bias": tl.ref(bias.local, (columns,))})
                target = out if last or sums is None else sums
                own_columns = tl.ref(at, (n * width, columns), "f16")
                tile = (m, depth(columns), columns)
                tl.composite("gemm", rows, own_columns, out_ptr=target.local, epilogue=steps, tile_shape=tile)
        tl.wait()
        for i, (w, out) in enumerate(pairs):
            totals[i] = scaled(totals[i], above[i], tl.local_shape(w)[1], group, tl)
            _write(totals[i], out, column, tl.local_shape(w)[1], norm, biases[i], tl)


def _write(parts: list[Any], out: Pointer, column: int, pitch: int, norm: Any, bias: Any, tl: Any) -> None:
    """Store sums of own columns from ``column`` on, in one part or in two that lie ``pitch`` apart."""
    for half, total in enumerate(parts):
        total = total if norm is None else total * norm
        n, at = total.shape[1], column + half * pitch
        if bias is not None:
            total = total + tl.load(bias.local + at * 2, (n,), "f16").to(tl.float32)
        target = out.local + at * item_bytes(out)
        tl.store(target, total.to(out.dtype), strides=(tl.local_shape(out)[1], 1))


def item_bytes(x: Pointer) -> int:
    """Bytes of an element of ``x``."""
    return x.nbytes // math.prod(x.shape)


def by_loads(
    rows: Any,
    at: Any,
    columns: int,
    block: int,
    totals: list[Any],
    tl: Any,
    pitch: int = 0,
    scale: int | None = None,
    group: int = 0,
    before: int = 0,
) -> list[Any]:
    """``totals + rows @ weights``, some rows of the weights at a time, which lie ``pitch`` elements apart.

    Two results where an element has two columns. With ``group`` the parts between rows that share a ``scale``
    are multiplied by it; ``before``: rows of the weights before these.
    """
    pitch = pitch or columns
    itemsize = dtypes.SIZES[at.dtype]
    step = max(1, block // (columns * itemsize))
    depth, first = rows.shape[1], [0]
    while first[-1] < depth:
        end = first[-1] + step
        if group:
            end = min(end, first[-1] + group - (before + first[-1]) % group)
        first.append(min(depth, end))
    for i in tl.range(0, len(first) - 1, num_stages=2):
        row, end = first[i], first[i + 1]
        part = tl.load(at + row * pitch * itemsize, (end - row, columns), at.dtype, strides=(pitch, 1))
        products = [tl.dot(rows[:, row:end], weights, out_dtype=tl.float32) for weights in as_f16(part, tl)]
        if group and scale is not None:
            whole = pitch * len(products)
            above = scale + (before + row) // group * whole * 2
            products = scaled(products, above, pitch, 0, tl)
        totals = [a + b for a, b in zip(totals, products, strict=True)] if totals else products
    return totals


def as_f16(part: Any, tl: Any) -> list[Any]:
    """Weights as products take them, scales apart; of 4 bits the lower ones, then the upper ones."""
    if part.dtype == "u8":
        return [(bits.to(tl.float16) - 8.0) for bits in (part & 15, part >> 4)]
    return [part if part.dtype == "f16" else part.to(tl.float16)]


def scaled(totals: list[Any], scale: int | None, pitch: int, group: int, tl: Any) -> list[Any]:
    """``totals`` times the scales of their columns, unless their parts were; a second's lie ``pitch`` on."""
    if scale is None or group:
        return totals
    return [
        total * tl.load(scale + half * pitch * 2, (1, total.shape[1]), "f16").to(tl.float32)
        for half, total in enumerate(totals)
    ]


def _columns(
    x: Pointer, width: int, m: int, row: int, first: int, n: int, count: int = 1
) -> tuple[int, Any, Any]:
    """Address, shape and strides of ``n`` columns of ``count`` tokens' rows, in blocks of ``width``."""
    block, column = divmod(first, width)
    at = x + ((block * m + row) * width + column) * item_bytes(x)
    return at, (max(1, n // width), count, min(n, width)), (m * width, width, 1)


def _rows(x: Pointer, m: int, row: int, first: int, n: int, count: int, tl: Any) -> Any:
    """These columns of ``count`` tokens, (count, n)."""
    at, shape, strides = _columns(x, tl.local_shape(x)[1], m, row, first, n, count)
    found = tl.load(at, shape, "f32", strides=strides)
    if shape[0] > 1 and count > 1:
        found = tl.trans(found, 1, 0, 2)
    return tl.reshape(found, (count, n))


def attend(
    q: Pointer,
    k: Pointer,
    v: Pointer,
    key_cache: Pointer,
    value_cache: Pointer,
    out: Pointer,
    sums: Pointer | None,
    highest: Pointer | None,
    totals: Pointer | None,
    norms: Pointer | None,
    m: int,
    group: int,
    units: int,
    parts: int,
    keys: int,
    chunk: int,
    each: int,
    block: int,
    some: int,
    stages: int,
    rope: float,
    eps: float,
    tl: Any,
) -> None:
    """Own keys of own sequences: the new tokens' are put into the cache first; ``block`` keys in TCM at once.

    The token is the last of ``keys``; ``rope``: the base of its rotary embedding. ``norms``: what heads of q
    and of k are multiplied with where they are normed.

    A unit is a head of keys of a sequence; with ``parts`` above 1 that many PEs share one, and leave sums,
    highest scores and totals for :func:`combine`. The new tokens of ``some`` units are taken together, then
    their keys pass, of which ``stages`` blocks are under way.
    """
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    d = key_cache.shape[1]
    span, row_bytes = group * d, d * item_bytes(key_cache)
    begin, part = divmod(me * each, parts)
    end, here = min(units, begin + each), min(chunk, keys - part * chunk)
    of = None if norms is None or begin >= units else tl.load(norms.local)
    for first in range(begin, end, some):
        queries: list[Any] = []
        unit, last = first, min(end, first + some)
        while unit < last:
            head, row = divmod(unit, m)
            count = min(m - row, last - unit)
            if part == parts - 1:
                at = ((unit - begin) * chunk + here - 1) * row_bytes
                for new, cache in ((k, key_cache), (v, value_cache)):
                    token = _rows(new, m, row, head * d, d, count, tl)
                    if new is k:
                        token = rotated(normed(token, of, 1, eps, tl), keys - 1, rope, tl, 0)
                    tl.store(cache.local + at, token.to(cache.dtype), strides=(chunk * d, 1))
            query = tl.reshape(_rows(q, m, row, head * span, span, count, tl), (count * group, d))
            query = rotated(normed(query, of, 0, eps, tl), keys - 1, rope, tl, 0).to(tl.float16)
            queries += [query[i * group : (i + 1) * group] for i in range(count)] if count > 1 else [query]
            unit += count
        pieces = [(unit, n) for unit in range(first, last) for n in range(0, here, block)]
        softmax: Any = None
        for i in tl.range(0, len(pieces), num_stages=stages):
            unit, n = pieces[i]
            if n == 0:
                softmax = Softmax(queries[unit - first], tl)
            at, wide = ((unit - begin) * chunk + n) * row_bytes, min(block, here - n)
            key = tl.load(key_cache.local + at, (wide, d), key_cache.dtype)
            scores = softmax.scores(key.to(tl.float16))
            value = tl.load(value_cache.local + at, (wide, d), value_cache.dtype)
            softmax.take(scores, value.to(tl.float16))
            if n + wide < here:
                continue
            if sums is not None and highest is not None and totals is not None:
                tl.store(sums.local, tl.reshape(softmax.values, (1, span)))
                tl.store(highest.local, tl.reshape(softmax.highest, (1, group)))
                tl.store(totals.local, tl.reshape(softmax.total, (1, group)))
            else:
                head, row = divmod(unit, m)
                _keep(out, m, row, head * span, (softmax.values / softmax.total).to(tl.float16), tl)


def combine(
    sums: Pointer,
    highest: Pointer,
    totals: Pointer,
    out: Pointer,
    m: int,
    group: int,
    units: int,
    parts: int,
    at_once: int,
    tl: Any,
) -> None:
    """The first PE of each unit puts the results of its parts together, some of them at a time."""
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    unit, part = divmod(me, parts)
    if part or unit >= units:
        return
    head, row = divmod(unit, m)
    span = sums.shape[1]
    first = unit * parts
    best: Any = None
    values: Any = None
    wholes: Any = None
    for at in range(first, first + parts, at_once):
        n = min(at_once, first + parts - at)
        high = tl.reshape(tl.load(highest + at * group * 4, (n, group), "f32"), (n, group, 1))
        total = tl.reshape(tl.load(totals + at * group * 4, (n, group), "f32"), (n, group, 1))
        acc = tl.reshape(tl.load(sums + at * span * 4, (n, span), "f32"), (n, group, span // group))
        higher = tl.max(high, axis=0) if best is None else tl.maximum(best, tl.max(high, axis=0))
        weight = tl.exp(high - higher)
        value, whole = tl.sum(acc * weight, axis=0), tl.sum(total * weight, axis=0)
        if best is not None:
            shrink = tl.exp(best - higher)
            value, whole = value + values * shrink, whole + wholes * shrink
        best, values, wholes = higher, value, whole
    _keep(out, m, row, head * span, (values / wholes).to(tl.float16), tl)


def _keep(out: Pointer, m: int, row: int, first: int, value: Any, tl: Any) -> None:
    """Write the columns of a token's row from ``first`` on."""
    n = value.shape[-1] * value.shape[-2]
    at, shape, strides = _columns(out, tl.local_shape(out)[1], m, row, first, n)
    tl.store(at, tl.reshape(value, shape), strides=strides)


def gated(gate: Pointer, up: Pointer, out: Pointer, at_once: int, tl: Any) -> None:
    """``silu(gate) * up``: own columns, some tokens at a time."""
    m, width = tl.local_shape(gate)
    for row in range(0, m, at_once):
        shape = (min(at_once, m - row), width)
        g = tl.load(gate.local + row * width * 4, shape, "f32")
        u = tl.load(up.local + row * width * 4, shape, "f32")
        tl.store(out.local + row * width * 2, (g * tl.sigmoid(g) * u).to(tl.float16))
