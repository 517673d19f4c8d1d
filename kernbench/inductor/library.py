"""Library calls in Inductor's files, ``extern_kernels`` and ``torch.ops.aten``, by kernels of our own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from kernbench.errors import UsageError
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


class NoKernelError(UsageError):
    """No kernel here carries a call out."""


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
    """A convolution along one or two axes, of groups of channels; a transposed one, too."""
    names = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
    how = dict(zip(names, given, strict=False)) | named
    steps, plane = _steps_of(x, *(how[name] for name in names[:3])), len(x.shape) - 2
    groups, back = int(how.get("groups", 1)), bool(how.get("transposed"))
    numbers = [one[-plane:] for one in (*steps, _pair(how.get("output_padding") or 0, plane))]
    area = [
        (n - 1) * s - 2 * p + d * (f - 1) + e + 1 if back else (n + 2 * p - d * (f - 1) - 1) // s + 1
        for n, f, s, p, d, e in zip(x.shape[2:], weight.shape[2:], *numbers, strict=True)
    ]
    channels = weight.shape[1] * groups if back else weight.shape[0]
    made = out if out is not None else _image(x, weight, (x.shape[0], channels, *area))
    (_transposed if back else _convolved)(x, weight, bias, made, steps, groups)
    return made


def convolution_backward(
    g: Strided, x: Strided, weight: Strided, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, output_mask: Sequence[bool],
) -> list[Strided | None]:  # fmt: skip
    """The gradients of x, the filters and the bias that ``output_mask`` asks for."""
    steps = _steps_of(x, stride, padding, dilation)
    of_x = of_filters = of_bias = None
    if output_mask[0]:
        of_x = _image(x, weight, x.shape)
        (_convolved if transposed else _transposed)(g, weight, None, of_x, steps, groups)
    if output_mask[1]:
        of_filters = _image(x, weight, weight.shape)
        made, fine, coarse = _plane(of_filters), *map(_plane, (g, x) if transposed else (x, g))
        (images, _, down, across), (outs, depth, deep, broad) = coarse.shape, made.shape
        outs, pixels, places = outs // groups, images * down * across, deep * broad
        bm, bn, bk = _tiles(outs, depth, pixels, groups * places, x.dtype)
        arguments = {
            "x": fine, "g": coarse, "out": made, "PIXELS": pixels, "OH": down, "OW": across, "C": depth,
            "OUT": outs, "KW": broad, "PLACES": places, **_area(fine, steps), **_steps("sg", "nchw", coarse),
            **_steps("so", "ochw", made), "BM": bm, "BN": bn, "BK": bk,
        }  # fmt: skip
        launched(kernels.filter_gradient, (cdiv(depth, bn), cdiv(outs, bm), groups * places), arguments)
    if output_mask[2]:
        grads = _plane(g)
        images, channels, down, across = grads.shape
        of_bias = like(g, (channels,))
        arguments = {
            "g": grads, "out": of_bias, "PIXELS": images * down * across, "OH": down, "OW": across,
            "CHANNELS": channels, **_steps("sg", "nchw", grads), "BM": 16, "BK": 64,
        }  # fmt: skip
        launched(kernels.channel_sums, (cdiv(channels, 16),), arguments)
    return [of_x, of_filters, of_bias]


Pair = tuple[int, int]


def _convolved(
    x: Strided, weight: Strided, bias: Strided | None, made: Strided, steps: Sequence[Pair], groups: int,
    apart: Pair = (1, 1), of_group: int | None = None,
) -> None:  # fmt: skip
    """Launch a convolution with filters (output channels, input channels of a group, ...).

    ``apart``: how far rows and columns of x are, with zeros between them; ``of_group``: elements from the
    filters of a group to those of the next.
    """
    x, weight, made = map(_plane, (x, weight, made))
    (images, _, down, across), (outs, depth, deep, broad) = made.shape, weight.shape
    outs, pixels = outs // groups, images * down * across
    bm, bn, bk = _tiles(pixels, outs, depth, groups, x.dtype)
    arguments = {
        "x": x, "w": weight, "bias": bias if bias is not None else made, "out": made, "PIXELS": pixels,
        "OH": down, "OW": across, "C": depth, "OUT": outs, **_area(x, steps), **_steps("sw", "ochw", weight),
        **_steps("so", "nchw", made), "swg": outs * weight.strides[0] if of_group is None else of_group,
        "KH": deep, "KW": broad, "UH": apart[0], "UW": apart[1], "BIAS": bias is not None,
        "BM": bm, "BN": bn, "BK": bk,
    }  # fmt: skip
    launched(kernels.convolution, (cdiv(outs, bn), cdiv(pixels, bm), groups), arguments)


def _transposed(
    x: Strided, weight: Strided, bias: Strided | None, made: Strided, steps: Sequence[Pair], groups: int
) -> None:
    """The same the other way, with filters (input channels, output channels of a group, ...).

    Each filter is turned round, and sees x spread out by what were its steps.
    """
    filters, (stride, padding, dilation) = _plane(weight), steps
    channels, outs, *seen = filters.shape
    first, second, *inner = filters.strides
    around = [(n - 1) * step for n, step in zip(seen, inner, strict=True)]
    turned = filters.viewed(
        (outs * groups, channels // groups, *seen), (second, first, *(-step for step in inner)), sum(around)
    )
    beyond = [d * (n - 1) - p for d, n, p in zip(dilation, seen, padding, strict=True)]
    apart = max(1, stride[0]), stride[1]
    within = (1, 1), (beyond[0], beyond[1]), dilation
    _convolved(x, turned, bias, made, within, groups, apart, channels // groups * first)


def _steps_of(x: Strided, *how: Any) -> list[Pair]:
    """Stride, padding and dilation of a convolution, each down and across."""
    plane = len(x.shape) - 2
    if plane not in (1, 2):
        raise NoKernelError(f"aten.convolution along {plane} axes has no kernel here; 1 and 2 have")
    return [_pair(one, plane) for one in how]


def _area(x: Strided, steps: Sequence[Pair]) -> dict[str, Any]:
    """What a kernel is told of the image that filters see, and of their steps in it."""
    names = ("SH", "SW", "PH", "PW", "DH", "DW")
    return {
        "H": x.shape[2], "W": x.shape[3], **_steps("sx", "nchw", x),
        **dict(zip(names, [n for pair in steps for n in pair], strict=True)),
    }  # fmt: skip


def _plane(tensor: Strided) -> Strided:
    """A tensor with two axes behind its channels, if it has one there."""
    if len(tensor.shape) == 4:
        return tensor
    (a, b, n), (first, second, step) = tensor.shape, tensor.strides
    return tensor.viewed((a, b, 1, n), (first, second, 0, step))


def _image(x: Strided, weight: Strided, shape: Sequence[int]) -> Strided:
    """An empty result of a convolution: channels last where x or the filters have them so."""
    steps = row_major(shape)
    if any(one.shape[1] > 1 and one.strides[1] == 1 and math.prod(one.shape[2:]) > 1 for one in (x, weight)):
        inner = row_major((shape[0], *shape[2:], shape[1]))
        steps = (inner[0], inner[-1], *inner[1:-1])
    return empty_strided(shape, steps, x.dtype)


def _pair(value: Any, plane: int) -> Pair:
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
        raise NoKernelError("attention with dropout has no kernel here; compile the model in eval()")
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
    """The ``k`` largest along an axis, in order, and their indices."""
    axis = dim % len(x.shape)
    *outer, n = x.shape[: axis + 1]
    inner = math.prod(x.shape[axis + 1 :])
    whole = row_major(x.shape)
    gaps = x.strides[:-1] != whole[:-1] if len(outer) > 1 or inner > 1 else False
    if gaps or (inner > 1 and x.strides[-1] != 1):
        raise NoKernelError("aten.topk of a tensor with gaps between its rows has no kernel here")
    rows, block = math.prod(outer) * inner, max(2, next_power_of_2(n))
    shape = (*outer, k, *x.shape[axis + 1 :])
    values, indices = like(x, shape), like(x, shape, "i64")
    together = max(1, 1024 // block)
    arguments = {
        "x": x, "values": values, "indices": indices, "ROWS": rows, "N": n, "K": k, "INNER": inner,
        "sxr": x.strides[axis - 1] if outer else 0, "sxn": x.strides[axis], "LARGEST": largest,
        "BM": together, "BN": block,
    }  # fmt: skip
    launched(kernels.topk, (cdiv(rows, together),), arguments)
    return [values, indices]


class Call:
    """A library call under PyTorch's names, ``topk.default`` as well as ``topk``."""

    def __init__(self, name: str, fn: Callable[..., Any]) -> None:
        self._name, self._fn = name, fn

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Carry it out; on the host, if PyTorch is there, where no kernel does."""
        try:
            return self._fn(*args, **named)
        except NoKernelError as problem:
            if (on_host := host_calls.get()) is None:
                raise refused(str(problem)) from None
            return on_host(f"ops.aten.{self._name}.default", args, named)

    def __getattr__(self, overload: str) -> Call:
        return self


_CALLS: dict[str, Callable[..., Any]] = {
    "mm": mm, "bmm": mm, "addmm": addmm, "baddbmm": addmm, "bias_addmm": addmm, "convolution": convolution,
    "convolution_backward": convolution_backward,
    "_scaled_dot_product_flash_attention": flash_attention,
    "_scaled_dot_product_flash_attention_for_cpu": flash_attention,
    "_scaled_dot_product_efficient_attention": efficient_attention, "topk": topk,
}  # fmt: skip
TABLE = {name: Call(name, fn) for name, fn in _CALLS.items()}
"""By PyTorch's names."""
