"""The kernels of a decode step: one new token of each of ``m`` sequences passes a layer.

Weights, keys and values are streamed: whatever their size, a PE holds a block of them. An activation is a
list of blocks of columns, ``m`` rows each (see :mod:`kernbench.workloads.models.layout`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.workloads.models.layout import depth
from kernbench.workloads.models.online import Softmax
from kernbench.workloads.models.rotary import rotated

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
    w0: Pointer,
    out0: Pointer,
    w1: Pointer | None,
    out1: Pointer | None,
    w2: Pointer | None,
    out2: Pointer | None,
    bias0: Pointer | None,
    bias1: Pointer | None,
    bias2: Pointer | None,
    tl: Any,
) -> None:
    """Own columns of ``x @ w`` for each weight, which passes ``at_once`` of the ``count`` blocks of x in TCM.

    Weights are streamed by composites, or where ``block`` is given loaded, so many bytes of ``wide`` columns
    at a time. With ``squares``, x is normed: each token's row is divided by its root mean square, after the
    product. A bias is added last. ``sums``: where partial sums of composites wait for the next blocks of x,
    if not in the output.
    """
    scale: Any = None
    if squares is not None:
        scale = tl.reshape(tl.rsqrt(tl.sum(tl.load(squares), axis=0) * (1 / hidden) + eps), (m, 1))
    pairs = [(w, out) for w, out in ((w0, out0), (w1, out1), (w2, out2)) if w is not None and out is not None]
    biases = (bias0, bias1, bias2)[: len(pairs)]
    most = max(tl.local_shape(w)[1] for w, _ in pairs)
    for column in range(0, most, wide or most):
        totals: list[Any] = [None for _ in pairs]
        for first in range(0, count, at_once):
            n = min(at_once, count - first)
            part = tl.load(x + first * m * width * 2, (n, m, width), "f16")
            rows = tl.reshape(tl.trans(part, 1, 0, 2), (m, n * width))
            last = first + n == count
            tl.wait()
            for i, (w, out) in enumerate(pairs):
                columns = tl.local_shape(w)[1]
                at = w.local + (first * width * columns + column) * 2
                if block:
                    own = min(wide, columns - column)
                    if own > 0:
                        totals[i] = by_loads(rows, at, own, block, totals[i], tl, columns)
                    continue
                steps: list[dict[str, Any]] = []
                if first:
                    steps.append({"op": "residual", "residual": (out if sums is None else sums).local})
                if last and scale is not None:
                    steps.append({"op": "mul", "value": scale})
                if last and (bias := biases[i]) is not None:
                    steps.append({"op": "bias", "bias": tl.ref(bias.local, (columns,))})
                target = out if last or sums is None else sums
                weights = tl.ref(at, (n * width, columns), "f16")
                tile = (m, depth(columns), columns)
                tl.composite("gemm", rows, weights, out_ptr=target.local, epilogue=steps, tile_shape=tile)
        tl.wait()
        for total, (_, out), bias in zip(totals, pairs, biases, strict=True):
            if total is not None:
                total = total if scale is None else total * scale
                n, pitch = total.shape[1], tl.local_shape(out)[1]
                if bias is not None:
                    total = total + tl.load(bias.local + column * 2, (n,), "f16").to(tl.float32)
                at = out.local + column * (out.nbytes // (out.shape[0] * out.shape[1]))
                tl.store(at, total.to(out.dtype), strides=(pitch, 1))


def by_loads(rows: Any, at: int, columns: int, block: int, total: Any, tl: Any, pitch: int = 0) -> Any:
    """``total + rows @ weights``, some rows of the weights at a time, which lie ``pitch`` columns apart."""
    pitch = pitch or columns
    step = max(1, block // (columns * 2))
    for row in tl.range(0, rows.shape[1], step, num_stages=2):
        height = min(step, rows.shape[1] - row)
        part = tl.load(at + row * pitch * 2, (height, columns), "f16", strides=(pitch, 1))
        product = tl.dot(rows[:, row : row + height], part, out_dtype=tl.float32)
        total = product if total is None else total + product
    return total


def _columns(x: Pointer, width: int, m: int, row: int, first: int, n: int) -> tuple[int, Any, Any]:
    """Address, shape and strides of ``n`` columns of a token's row, in blocks of ``width`` columns."""
    block, column = divmod(first, width)
    at = x + ((block * m + row) * width + column) * (x.nbytes // (x.shape[0] * x.shape[1]))
    return (at, (n // width, width), (m * width, 1)) if n > width else (at, (1, n), (n, 1))


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
    m: int,
    group: int,
    units: int,
    parts: int,
    keys: int,
    chunk: int,
    each: int,
    block: int,
    rope: float,
    tl: Any,
) -> None:
    """Own keys of own sequences: the new token's are put into the cache first; ``block`` keys in TCM at once.

    The token is the last of ``keys``; ``rope``: the base of its rotary embedding.

    A unit is a head of keys of a sequence; with ``parts`` above 1 that many PEs share one, and leave sums,
    highest scores and totals for :func:`combine`.
    """
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    d = key_cache.shape[1]
    for slot in range(each):
        unit, part = divmod(me * each + slot, parts)
        if unit >= units:
            return
        head, row = divmod(unit, m)
        here = min(chunk, keys - part * chunk)
        begin = slot * chunk * d * 2
        if part == parts - 1:
            for new, cache in ((k, key_cache), (v, value_cache)):
                at, shape, strides = _columns(new, tl.local_shape(new)[1], m, row, head * d, d)
                token = tl.reshape(tl.load(at, shape, "f32", strides=strides), (1, d))
                if new is k:
                    token = rotated(token, keys - 1, rope, tl, 0)
                tl.store(cache.local + begin + (here - 1) * d * 2, token.to(tl.float16))
        span = group * d
        place = _columns(q, tl.local_shape(q)[1], m, row, head * span, span)
        query = tl.reshape(tl.load(place[0], place[1], "f32", strides=place[2]), (group, d))
        softmax = Softmax(rotated(query, keys - 1, rope, tl, 0).to(tl.float16), tl)
        for n in tl.range(0, here, block, num_stages=2):
            shape = (min(block, here - n), d)
            scores = softmax.scores(tl.load(key_cache.local + begin + n * d * 2, shape, "f16"))
            softmax.take(scores, tl.load(value_cache.local + begin + n * d * 2, shape, "f16"))
        if sums is not None and highest is not None and totals is not None:
            tl.store(sums.local, tl.reshape(softmax.values, (1, span)))
            tl.store(highest.local, tl.reshape(softmax.highest, (1, group)))
            tl.store(totals.local, tl.reshape(softmax.total, (1, group)))
        else:
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
