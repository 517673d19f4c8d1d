"""Triton kernels of the library calls in Inductor's files: products, convolution, attention, topk."""

from typing import Any

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.inductor.helpers import sort_with_index


@triton.jit
def product(
    a: Any, b: Any, bias: Any, out: Any, M: Any, N: Any, K: Any,
    sab: Any, sam: Any, sak: Any, sbb: Any, sbk: Any, sbn: Any, sib: Any, sim: Any, sin: Any,
    sob: Any, som: Any, son: Any, alpha: tl.constexpr, beta: tl.constexpr, BIAS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
) -> None:  # fmt: skip
    """A block of ``alpha * a @ b + beta * bias`` of each of a batch; strides of each in elements."""
    batch = tl.program_id(2)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        rows = tl.load(
            a + batch * sab + m[:, None] * sam + k[None, :] * sak,
            mask=(m[:, None] < M) & (k[None, :] < K), other=0.0,
        )  # fmt: skip
        columns = tl.load(
            b + batch * sbb + k[:, None] * sbk + n[None, :] * sbn,
            mask=(k[:, None] < K) & (n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(rows, columns, acc)
    inside = (m[:, None] < M) & (n[None, :] < N)
    if alpha != 1:
        acc = acc * alpha
    if BIAS:
        more = tl.load(bias + batch * sib + m[:, None] * sim + n[None, :] * sin, mask=inside, other=0.0)
        more = more.to(tl.float32)
        if beta != 1:
            more = more * beta
        acc = acc + more
    tl.store(
        out + batch * sob + m[:, None] * som + n[None, :] * son, acc.to(out.dtype.element_ty), mask=inside
    )


@triton.jit
def convolution(
    x: Any, w: Any, bias: Any, out: Any, PIXELS: Any, H: Any, W: Any, OH: Any, OW: Any, C: Any, OUT: Any,
    sxn: Any, sxc: Any, sxh: Any, sxw: Any, swo: Any, swc: Any, swh: Any, sww: Any,
    son: Any, soc: Any, soh: Any, sow: Any, swg: Any,
    KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PH: tl.constexpr,
    PW: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr, UH: tl.constexpr, UW: tl.constexpr,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
) -> None:  # fmt: skip
    """Output channels of a group at some pixels: a product of what the filter sees of x with the filter.

    ``C`` and ``OUT``: input and output channels of a group, the axis 2 of the grid. The filter sees rows of x
    ``UH`` apart and columns ``UW``, with zeros between them.
    """
    group = tl.program_id(2)
    pixel = tl.program_id(1) * BM + tl.arange(0, BM)
    o = tl.program_id(0) * BN + tl.arange(0, BN)
    image = pixel // (OH * OW)
    row = (pixel // OW) % OH
    column = pixel % OW
    acc = tl.zeros((BM, BN), tl.float32)
    for y in tl.static_range(KH):
        for z in tl.static_range(KW):
            h = row * SH - PH + y * DH
            v = column * SW - PW + z * DW
            seen = (pixel < PIXELS) & (h >= 0) & (h < H * UH) & (v >= 0) & (v < W * UW)
            if UH * UW > 1:
                seen = seen & (h % UH == 0) & (v % UW == 0)
                h = h // UH
                v = v // UW
            for first in range(0, C, BK):
                c = first + tl.arange(0, BK)
                at = image * sxn + h * sxh + v * sxw
                part = tl.load(
                    x + at[:, None] + (group * C + c)[None, :] * sxc,
                    mask=seen[:, None] & (c[None, :] < C), other=0.0,
                )  # fmt: skip
                weights = tl.load(
                    w + y * swh + z * sww + group * swg + c[:, None] * swc + o[None, :] * swo,
                    mask=(c[:, None] < C) & (o[None, :] < OUT), other=0.0,
                )  # fmt: skip
                acc = tl.dot(part, weights, acc)
    if BIAS:
        acc = acc + tl.load(bias + group * OUT + o, mask=o < OUT, other=0.0).to(tl.float32)[None, :]
    to = image * son + row * soh + column * sow
    tl.store(
        out + to[:, None] + (group * OUT + o)[None, :] * soc, acc.to(out.dtype.element_ty),
        mask=(pixel[:, None] < PIXELS) & (o[None, :] < OUT),
    )  # fmt: skip


@triton.jit
def filter_gradient(
    x: Any, g: Any, out: Any, PIXELS: Any, H: Any, W: Any, OH: Any, OW: Any, C: Any, OUT: Any, KW: Any,
    PLACES: Any, sxn: Any, sxc: Any, sxh: Any, sxw: Any, sgn: Any, sgc: Any, sgh: Any, sgw: Any,
    soo: Any, soc: Any, soh: Any, sow: Any, SH: tl.constexpr, SW: tl.constexpr, PH: tl.constexpr,
    PW: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
) -> None:  # fmt: skip
    """A place of filters of a group: a product of the gradients at all pixels with what that place saw of x.

    The axis 2 of the grid: groups, and in each the ``PLACES`` of a filter.
    """
    group = tl.program_id(2) // PLACES
    place = tl.program_id(2) % PLACES
    o = tl.program_id(1) * BM + tl.arange(0, BM)
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, PIXELS, BK):
        pixel = first + tl.arange(0, BK)
        image = pixel // (OH * OW)
        row = (pixel // OW) % OH
        column = pixel % OW
        h = row * SH - PH + (place // KW) * DH
        v = column * SW - PW + (place % KW) * DW
        seen = (pixel < PIXELS) & (h >= 0) & (h < H) & (v >= 0) & (v < W)
        at = image * sgn + row * sgh + column * sgw
        gradients = tl.load(
            g + (group * OUT + o)[:, None] * sgc + at[None, :],
            mask=(o[:, None] < OUT) & (pixel[None, :] < PIXELS), other=0.0,
        )  # fmt: skip
        at = image * sxn + h * sxh + v * sxw
        part = tl.load(
            x + at[:, None] + (group * C + c)[None, :] * sxc,
            mask=seen[:, None] & (c[None, :] < C), other=0.0,
        )  # fmt: skip
        acc = tl.dot(gradients, part, acc)
    to = (place // KW) * soh + (place % KW) * sow
    tl.store(
        out + to + (group * OUT + o)[:, None] * soo + c[None, :] * soc, acc.to(out.dtype.element_ty),
        mask=(o[:, None] < OUT) & (c[None, :] < C),
    )  # fmt: skip


@triton.jit
def channel_sums(
    g: Any, out: Any, PIXELS: Any, OH: Any, OW: Any, CHANNELS: Any, sgn: Any, sgc: Any, sgh: Any, sgw: Any,
    BM: tl.constexpr, BK: tl.constexpr,
) -> None:  # fmt: skip
    """The sums of some channels over all pixels."""
    o = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BK), tl.float32)
    for first in range(0, PIXELS, BK):
        pixel = first + tl.arange(0, BK)
        at = (pixel // (OH * OW)) * sgn + ((pixel // OW) % OH) * sgh + (pixel % OW) * sgw
        inside = (o[:, None] < CHANNELS) & (pixel[None, :] < PIXELS)
        acc += tl.load(g + o[:, None] * sgc + at[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(out + o, tl.sum(acc, 1).to(out.dtype.element_ty), mask=o < CHANNELS)


@triton.jit
def attention(
    q: Any, k: Any, v: Any, mask: Any, out: Any, sums: Any, QUERIES: Any, KEYS: Any, HEADS: Any, SHARE: Any,
    sqb: Any, sqh: Any, sqm: Any, sqd: Any, skb: Any, skh: Any, skn: Any, skd: Any,
    svb: Any, svh: Any, svn: Any, svd: Any, smb: Any, smh: Any, smm: Any, smn: Any,
    sob: Any, soh: Any, som: Any, sod: Any, scale: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
) -> None:  # fmt: skip
    """Some queries of a head attend to all keys; ``SHARE`` heads of q have one of k and v."""
    head = tl.program_id(1) % HEADS
    batch = tl.program_id(1) // HEADS
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    rows = (m[:, None] < QUERIES) & (d[None, :] < D)
    asked = tl.load(q + batch * sqb + head * sqh + m[:, None] * sqm + d[None, :] * sqd, mask=rows, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, BD), tl.float32)
    for first in range(0, KEYS, BN):
        n = first + tl.arange(0, BN)
        there = (n[:, None] < KEYS) & (d[None, :] < D)
        of_keys = k + batch * skb + (head // SHARE) * skh
        of_values = v + batch * svb + (head // SHARE) * svh
        keys = tl.load(of_keys + n[:, None] * skn + d[None, :] * skd, mask=there, other=0.0)
        values = tl.load(of_values + n[:, None] * svn + d[None, :] * svd, mask=there, other=0.0)
        score = tl.dot(asked, tl.trans(keys)) * scale
        seen = (m[:, None] < QUERIES) & (n[None, :] < KEYS)
        if MASK:
            more = tl.load(
                mask + batch * smb + head * smh + m[:, None] * smm + n[None, :] * smn, mask=seen, other=0.0
            )
            score = score + more.to(tl.float32)
        if CAUSAL:
            seen = seen & (n[None, :] <= m[:, None])
        score = tl.where(seen, score, float("-inf"))
        higher = tl.maximum(top, tl.max(score, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        power = tl.exp(score - base[:, None])
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(power, 1)
        acc = acc * shrink[:, None] + tl.dot(power.to(values.dtype), values)
        top = higher
    acc = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(
        out + batch * sob + head * soh + m[:, None] * som + d[None, :] * sod, acc.to(out.dtype.element_ty),
        mask=rows,
    )  # fmt: skip
    tl.store(sums + tl.program_id(1) * QUERIES + m, tl.log(total) + top, mask=m < QUERIES)


@triton.jit
def topk(
    x: Any, values: Any, indices: Any, ROWS: Any, N: Any, K: Any, sxr: Any, sxn: Any, INNER: Any,
    LARGEST: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
) -> None:  # fmt: skip
    """The K largest, or smallest, of rows, in order, and where they were.

    ``INNER`` rows lie beside each other, their elements as far apart; the results too.
    """
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    inside = (row[:, None] < ROWS) & (n[None, :] < N)
    outer = (row // INNER)[:, None]
    block = tl.load(x + outer * sxr + (row % INNER)[:, None] + n[None, :] * sxn, mask=inside, other=0.0)
    at = n[None, :] + tl.zeros((BM, BN), tl.int32)
    found, place = sort_with_index(block, at, N, 1, stable=True, descending=LARGEST)
    to = outer * K * INNER + (row % INNER)[:, None] + n[None, :] * INNER
    chosen = (row[:, None] < ROWS) & (n[None, :] < K)
    tl.store(values + to, found, mask=chosen)
    tl.store(indices + to, place.to(tl.int64), mask=chosen)
