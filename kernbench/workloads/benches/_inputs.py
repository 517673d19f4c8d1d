"""Inputs and references that the benches share: seeded random numbers, numpy with error bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.support import dtypes
from kernbench.support.bounded import Bounded as Bounded
from kernbench.workloads.benches.params import Param

Array = NDArray[Any]

DTYPE = Param("dtype", str, "f16", "element type of inputs and outputs", choices=("f16", "bf16", "f32"))
TILES = Param(
    "tiles",
    str,
    "wide",
    "wide: rows of a burst of 256 bytes or two; native: the hardware's",
    choices=("wide", "native"),
)
SEED = Param("seed", int, 0, "seed of the random inputs", minimum=0)


def activations(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Standard normal numbers, rounded to ``dtype``."""
    return rng.standard_normal(shape, dtype=np.float32).astype(dtypes.dtype(dtype).numpy)


def weights(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Array:
    """Normal numbers scaled by 1/sqrt(K), so that products with activations stay near 1, in ``dtype``."""
    values = rng.standard_normal(shape, dtype=np.float32) / np.float32(math.sqrt(shape[0]))
    return values.astype(dtypes.dtype(dtype).numpy)


def wide(dtype: str, depth: int | None = None) -> tuple[int, int, int]:
    """(M, K, N) of tiles whose rows are a burst of the default machine's memory, 256 bytes, or two.

    ``depth``: K, of a product whose first operand is not streamed.
    """
    columns = 256 // dtypes.dtype(dtype).itemsize
    return 32, depth or columns, 2 * columns


def matmul(a: Array, b: Array) -> Bounded:
    """``a @ b`` by numpy alone: the reference of the benches, with what sums in f32 may be off by."""
    return Bounded(a) @ b


def exponentials(scores: Bounded) -> tuple[Bounded, Bounded]:
    """Softmax along the last axis, not yet divided: the exponentials, and their sums."""
    # Any number would do here: the weights are divided by their sum.
    highest = scores.value.max(axis=-1, keepdims=True)
    weights = (scores - highest).mapped(np.exp)
    return weights, weights.sum(-1, keepdims=True)


def attention(q: Array, k: Array, v: Array, seen: NDArray[np.bool_] | None = None) -> Bounded:
    """Attention of the rows of ``q`` to the keys that they have ``seen`` (all without), as engines do it:

    scores and sums in f32, weights rounded to the type of ``v`` before they meet it.
    """
    scores = matmul(q, k.T) * float(q.shape[1] ** -0.5)
    if seen is not None:
        scores = Bounded(np.where(seen, scores.value, -np.inf), np.where(seen, scores.error, 0))
    weights, total = exponentials(scores)
    return weights.rounded(dtypes.of_numpy(v.dtype).name) @ v / total
