"""Rotary embedding (Su et al., 2021), as Hugging Face has it: it turns the halves of a head."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kernbench.workloads.models.layout import Array


def rotated(x: Any, first: int, base: float, tl: Any, step: int = 1) -> Any:
    """Rows of a head, (rows, d), at the positions from ``first`` on, or with ``step`` 0 all at that one."""
    rows, d = x.shape
    frequencies = tl.exp2(tl.arange(0, d // 2).to(tl.float32) * (-2 * math.log2(base) / d))
    if step:
        positions = tl.reshape((tl.arange(0, rows) + first).to(tl.float32), (rows, 1, 1))
        angles = positions * tl.reshape(frequencies, (1, 1, d // 2))
    else:
        angles = tl.reshape(frequencies * first, (1, 1, d // 2))
    halves = tl.reshape(x.to(tl.float32), (rows, 2, d // 2))
    second = tl.reshape(tl.arange(0, 2).to(tl.float32), (1, 2, 1))
    turned = halves[:, 0:1, :] * second + halves[:, 1:2, :] * (second - 1)
    return tl.reshape(halves * tl.cos(angles) + turned * tl.sin(angles), (rows, d))


def normed(x: Any, weights: Any, which: int, eps: float, tl: Any) -> Any:
    """Heads, (rows, d), divided by their root mean square, times a row of ``weights``, if any."""
    if weights is None:
        return x
    wide = x.to(tl.float32)
    scale = tl.rsqrt(tl.sum(wide * wide, axis=1) * (1 / x.shape[1]) + eps)
    return wide * tl.reshape(scale, (x.shape[0], 1)) * weights[which : which + 1].to(tl.float32)


def rotated_array(x: Array, positions: Array, base: float) -> Array:
    """The same by numpy: ``x`` (positions, ..., d)."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * base ** (-np.arange(half) / half)
    angles = angles.reshape(len(positions), *[1] * (x.ndim - 2), half)
    a, b = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
