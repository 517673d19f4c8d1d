"""Inputs and references that the benches share: seeded random numbers, numpy in f32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench import dtypes
from kernbench.benches.params import Param

Array = NDArray[Any]

DTYPE = Param("dtype", str, "f16", "element type of inputs and outputs", choices=("f16", "bf16", "f32"))
SEED = Param("seed", int, 0, "seed of the random inputs", minimum=0)


def activations(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Standard normal numbers, rounded to ``dtype``."""
    return rng.standard_normal(shape, dtype=np.float32).astype(dtypes.dtype(dtype).numpy)


def weights(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Array:
    """Normal numbers scaled by 1/sqrt(K), so that products with activations stay near 1, in ``dtype``."""
    values = rng.standard_normal(shape, dtype=np.float32) / np.float32(math.sqrt(shape[0]))
    return values.astype(dtypes.dtype(dtype).numpy)


def matmul(a: Array, b: Array) -> Array:
    """``a @ b`` in f32 by numpy alone: the reference of the benches."""
    product: Array = a.astype(np.float32) @ b.astype(np.float32)
    return product
