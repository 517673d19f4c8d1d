"""Library calls in Inductor's files, ``extern_kernels`` and ``torch.ops.aten``, by kernels of our own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.inductor import kernels
from kernbench.inductor.buffers import Strided, context, empty_strided, like
from kernbench.inductor.heuristics import launched
from kernbench.inductor.sources import refused
from kernbench.support import dtypes
from kernbench.support.dtypes import row_major
from kernbench.triton import cdiv, next_power_of_2

host_calls: ContextVar[Callable[[str, tuple[Any, ...], dict[str, Any]], Any] | None] = ContextVar(
    "kernbench_host_calls", default=None
)
"""Has PyTorch carry out calls that have no kernel here, on the host; None where that is not there."""
BUFFERS = 2
"""Blocks of each operand of a product in scratch at a time; its block of sums is there once."""


@cache
def tiles(
    m: int, n: int, k: int, batch: int, itemsize: int, workers: int, scratch: int
) -> tuple[int, int, int]:
    """The block size of a product: the largest such that every PE gets a block.

    Blocks fit in three quarters of a PE's scratch. Where all sizes give too few, it is the smallest.

    Args:
        m: Rows of the product.
        n: Its columns.
        k: Its depth.
        batch: Number of such products.
        itemsize: Bytes of an element of the operands.
        workers: Number of PEs.
        scratch: Bytes of a PE's scratch.

    Returns:
        Rows, columns and depth of a block.
    """
    depth = min(64, max(16, next_power_of_2(k)))
    sides = [(a, b) for a in (128, 64, 32, 16) for b in (128, 64, 32, 16)]
    sides = [(a, b) for a, b in sides if a < 2 * max(16, m) and b < 2 * max(16, n)]
    fitting = [
        (a, b) for a, b in sides if BUFFERS * (a + b) * depth * itemsize + 4 * a * b <= 3 * scratch // 4
    ] or [(16, 16)]  # fmt: skip
    enough = [(a, b) for a, b in fitting if cdiv(m, a) * cdiv(n, b) * batch >= workers]
    best = max(enough or fitting, key=lambda one: one[0] * one[1] / (one[0] + one[1]) * (1 if enough else -1))
    return *best, depth


def _tiles(m: int, n: int, k: int, batch: int, dtype: str) -> tuple[int, int, int]:
    run = context()
    workers = sum(MachineShape.of(run.graph).pes_of(0))
    return tiles(m, n, k, batch, dtypes.SIZES[dtype], workers, run.scratch_bytes)


def mm(a: Strided, b: Strided, *, out: Strided | None = None) -> Strided:
    """``a @ b`` of two matrices."""
    return _product(a, b, None, out)


def addmm(
    bias: Strided, a: Strided, b: Strided, *, alpha: float = 1, beta: float = 1, out: Strided | None = None
) -> Strided:
    """``beta * bias + alpha * a @ b``; so is ``baddbmm`` of each of a batch."""
    return _product(a, b, bias, out, alpha, beta)


def _product(
    a: Strided, b: Strided, bias: Strided | None, out: Strided | None, alpha: float = 1, beta: float = 1
) -> Strided:
    *batch, m, k = a.shape
    n = b.shape[-1]
    made = out if out is not None else like(a, (*batch, m, n))
    count = math.prod(batch)
    bm, bn, bk = _tiles(m, n, k, count, a.dtype)
    bias = None if beta == 0 else bias
    added = made if bias is None else bias
    arguments = {
        "a": a, "b": b, "bias": added, "out": made, "M": m, "N": n, "K": k,
        **_steps("sa", "bmk", a), **_steps("sb", "bkn", b),
        **_steps("si", "bmn", added), **_steps("so", "bmn", made),
        "alpha": alpha, "beta": beta, "BIAS": bias is not None, "BM": bm, "BN": bn, "BK": bk,
    }  # fmt: skip
    launched(kernels.product, (cdiv(n, bn), cdiv(m, bm), count), arguments, "addmm" if bias else "mm")
    return made


def _steps(prefix: str, axes: str, tensor: Strided) -> dict[str, int]:
    """Strides of ``tensor`` along the last of ``axes``; 0 along others and where it is repeated."""
    steps = [0 if n == 1 else step for n, step in zip(tensor.shape, tensor.strides, strict=True)]
    wide = [*[0] * (len(axes) - len(steps)), *steps]
    return {f"{prefix}{axis}": step for axis, step in zip(axes, wide, strict=True)}


def convolution(
    x: Strided, weight: Strided, bias: Strided | None, *given: Any, out: Strided | None = None, **named: Any
) -> Strided:
    """A convolution along one or two axes, of groups of channels; not a transposed one."""
    names = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
    how = dict(zip(names, given, strict=False)) | named
    if how.get("transposed"):
        raise refused("aten.convolution with transposed=True has no kernel here")
    plane = len(x.shape) - 2
    if plane not in (1, 2):
        raise refused(f"aten.convolution along {plane} axes has no kernel here; 1 and 2 have")
    stride, padding, dilation = (_pair(how[name], plane) for name in names[:3])
    images, _, *area = x.shape
    channels, depth, *seen = weight.shape
    groups = int(how.get("groups", 1))
    size = [
        (n + 2 * p - d * (f - 1) - 1) // s + 1
        for n, f, s, p, d in zip(
            area, seen, stride[-plane:], padding[-plane:], dilation[-plane:], strict=True
        )
    ]
    made = out
    if made is None:
        shape = (images, channels, *size)
        last = any(
            one.shape[1] > 1 and one.strides[1] == 1 and math.prod(one.shape[2:]) > 1 for one in (x, weight)
        )
        steps = row_major(shape)
        if last:
            inner = row_major((images, *size, channels))
            steps = (inner[0], inner[-1], *inner[1:-1])
        made = empty_strided(shape, steps, x.dtype)
    pixels = images * math.prod(size)
    bm, bn, bk = _tiles(pixels, channels // groups, depth, groups, x.dtype)
    high, wide = (1, *area)[-2:]
    deep, broad = (1, *seen)[-2:]
    down, across = (1, *size)[-2:]

    def steps_of(prefix: str, axes: str, one: Strided) -> dict[str, int]:
        four = one.strides if plane == 2 else (*one.strides[:2], 0, one.strides[2])
        return {f"{prefix}{axis}": step for axis, step in zip(axes, four, strict=True)}

    arguments = {
        "x": x, "w": weight, "bias": bias if bias is not None else made, "out": made, "PIXELS": pixels,
        "H": high, "W": wide, "OH": down, "OW": across, "C": depth, "OUT": channels // groups,
        **steps_of("sx", "nchw", x), **steps_of("sw", "ochw", weight), **steps_of("so", "nchw", made),
        "KH": deep, "KW": broad, "SH": stride[0], "SW": stride[1], "PH": padding[0], "PW": padding[1],
        "DH": dilation[0], "DW": dilation[1], "BIAS": bias is not None, "BM": bm, "BN": bn, "BK": bk,
    }  # fmt: skip
    launched(kernels.convolution, (cdiv(channels // groups, bn), cdiv(pixels, bm), groups), arguments)
    return made


def _pair(value: Any, plane: int) -> tuple[int, int]:
    """Two numbers, down and across: of a convolution along one axis the first does nothing."""
    given = list(value) if isinstance(value, Sequence) else [value] * plane
    return (given[-2], given[-1]) if plane == 2 else (0, given[-1])


def flash_attention(
    q: Strided,
    k: Strided,
    v: Strided,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    attn_mask: Strided | None = None,
    scale: float | None = None,
) -> list[Any]:
    """Attention as flash attention is called, on a GPU or a CPU."""
    found = _attention(q, k, v, attn_mask, dropout_p, is_causal, scale)
    return [*found, None, None, q.shape[2], k.shape[2], None, None, None]


def efficient_attention(
    q: Strided,
    k: Strided,
    v: Strided,
    attn_bias: Strided | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> list[Any]:
    """Attention as memory-efficient attention is called."""
    return [*_attention(q, k, v, attn_bias, dropout_p, is_causal, scale), None, None]


def _attention(
    q: Strided,
    k: Strided,
    v: Strided,
    mask: Strided | None,
    dropout_p: float,
    causal: bool,
    scale: float | None,
) -> list[Strided]:
    """Of (batch, heads, queries, width) to keys and values: the result, and log sums of powers."""
    if dropout_p:
        raise refused("attention with dropout has no kernel here; compile the model in eval()")
    batch, heads, queries, width = q.shape
    made = like(q)
    sums = like(q, (batch, heads, queries), "f32")
    bm, bn, _depth = _tiles(queries, k.shape[2], width, batch * heads, q.dtype)
    bm, bn = min(bm, 64), min(bn, 64)
    arguments = {
        "q": q, "k": k, "v": v, "mask": q if mask is None else mask, "out": made, "sums": sums,
        "QUERIES": queries, "KEYS": k.shape[2], "HEADS": heads, "SHARE": heads // k.shape[1],
        **_steps("sq", "bhmd", q), **_steps("sk", "bhnd", k), **_steps("sv", "bhnd", v),
        **_steps("sm", "bhmn", q if mask is None else mask), **_steps("so", "bhmd", made),
        "scale": width**-0.5 if scale is None else scale, "D": width, "CAUSAL": causal,
        "MASK": mask is not None, "BM": bm, "BN": bn, "BD": max(16, next_power_of_2(width)),
    }  # fmt: skip
    launched(kernels.attention, (cdiv(queries, bm), batch * heads), arguments)
    return [made, sums]


def topk(x: Strided, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> list[Strided]:
    """The ``k`` largest of each row, in order, and their indices."""
    if dim % len(x.shape) != len(x.shape) - 1:
        raise refused(f"aten.topk along axis {dim} has no kernel here; along the last one it has")
    *outer, n = x.shape
    if len(outer) > 1 and any(a != b for a, b in zip(x.strides[:-1], row_major(x.shape)[:-1], strict=True)):
        raise refused("aten.topk of a tensor with gaps between its rows has no kernel here")
    rows, block = math.prod(outer), max(2, next_power_of_2(n))
    values, indices = like(x, (*outer, k)), like(x, (*outer, k), "i64")
    together = max(1, 1024 // block)
    arguments = {
        "x": x, "values": values, "indices": indices, "ROWS": rows, "N": n, "K": k,
        "sxr": x.strides[-2] if outer else 0, "sxn": x.strides[-1], "LARGEST": largest,
        "BM": together, "BN": block,
    }  # fmt: skip
    launched(kernels.topk, (cdiv(rows, together),), arguments)
    return [values, indices]


class Call:
    """A library call under PyTorch's names, ``topk.default`` as well as ``topk``."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Carry it out."""
        return self._fn(*args, **named)

    def __getattr__(self, overload: str) -> Call:
        return self


_CALLS: dict[str, Callable[..., Any]] = {
    "mm": mm, "bmm": mm, "addmm": addmm, "baddbmm": addmm, "bias_addmm": addmm, "convolution": convolution,
    "_scaled_dot_product_flash_attention": flash_attention,
    "_scaled_dot_product_flash_attention_for_cpu": flash_attention,
    "_scaled_dot_product_efficient_attention": efficient_attention, "topk": topk,
}  # fmt: skip
TABLE = {name: Call(fn) for name, fn in _CALLS.items()}
"""By PyTorch's names."""
