"""Functions that kernels of Inductor call, as Triton functions: ``triton_helpers``."""

from typing import Any

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.triton.random import randint64


@triton.jit
def promote_to_tensor(x: Any) -> Any:
    """The value itself."""
    return x


@triton.jit
def maximum(a: Any, b: Any) -> Any:
    """The larger; NaN where one of them is."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def minimum(a: Any, b: Any) -> Any:
    """The smaller; NaN where one of them is."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def max2(a: Any, dim: Any) -> Any:
    """The largest along ``dim``; NaN where one of them is."""
    return tl.reduce(a, dim, maximum)


@triton.jit
def min2(a: Any, dim: Any) -> Any:
    """The smallest along ``dim``; NaN where one of them is."""
    return tl.reduce(a, dim, minimum)


@triton.jit
def any(a: Any, dim: Any) -> Any:
    """Whether one along ``dim`` is true."""
    return tl.max(a.to(tl.int32), dim) != 0


@triton.jit
def _times(a: Any, b: Any) -> Any:
    return a * b


@triton.jit
def prod(a: Any, dim: Any) -> Any:
    """The product along ``dim``."""
    return tl.reduce(a, dim, _times)


@triton.jit
def maximum_with_index(a: Any, i: Any, b: Any, j: Any) -> Any:
    """The larger with its index: NaN before all, of equals the first."""
    first = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@triton.jit
def minimum_with_index(a: Any, i: Any, b: Any, j: Any) -> Any:
    """The smaller with its index: NaN before all, of equals the first."""
    first = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@triton.jit
def max_with_index(value: Any, index: Any, dim: Any) -> Any:
    """The largest along ``dim`` and its index."""
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def min_with_index(value: Any, index: Any, dim: Any) -> Any:
    """The smallest along ``dim`` and its index."""
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def welford_combine(mean_1: Any, m2_1: Any, weight_1: Any, mean_2: Any, m2_2: Any, weight_2: Any) -> Any:
    """Mean, sum of squared distances and count of two sets together."""
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * weight_1 * share, weight


@triton.jit
def welford_reduce(value: Any, mean: Any, m2: Any, weight: Any, first_iteration: Any) -> Any:
    """The same of a set and one more value each."""
    if first_iteration:
        return value, tl.zeros_like(m2), tl.zeros_like(weight) + 1.0
    delta = value - mean
    more = weight + 1.0
    found = mean + delta / more
    return found, m2 + delta * (value - found), more


@triton.jit
def welford(mean: Any, m2: Any, weight: Any, dim: Any) -> Any:
    """The same of all sets along ``dim``."""
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def online_softmax_combine(max_1: Any, sum_1: Any, max_2: Any, use_fast_math: Any = False) -> Any:
    """The larger of two maxima, and a sum of powers and one more relative to it."""
    top = maximum(max_1, max_2)
    same = top == float("-inf")
    scale = tl.where(same, 1.0, tl.exp(max_1 - top))
    return top, sum_1 * scale + tl.where(same, 1.0, tl.exp(max_2 - top))


@triton.jit
def online_softmax_reduce(maxima: Any, sums: Any, dim: Any, use_fast_math: Any = False) -> Any:
    """The largest along ``dim``, and the sum of powers relative to it."""
    top = max2(maxima, dim)
    beside = tl.expand_dims(top, dim)
    scale = tl.where(beside == float("-inf"), 0.0, tl.exp(maxima - beside))
    return top, tl.sum(sums * scale, dim)


@triton.jit
def div_floor_integer(a: Any, b: Any) -> Any:
    """``a / b`` rounded down."""
    quotient = a // b
    return tl.where(((a % b) != 0) & ((a < 0) != (b < 0)), quotient - 1, quotient)


@triton.jit
def remainder_integer(a: Any, b: Any) -> Any:
    """``a % b`` with the sign of b."""
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def device_assert_then(cond: Any, msg: Any, r: Any) -> Any:
    """``r``, where a condition holds."""
    tl.device_assert(cond, msg)
    return r


@triton.jit
def sort_with_index(
    x: Any, idxs: Any, rnumel: Any, dim: Any = None, stable: Any = False, descending: Any = False
) -> Any:
    """Values and their indices sorted along the last axis by a bitonic network; NaN is the largest.

    Of equals the one that was first comes first, whether that was asked for or not. Elements from ``rnumel``
    on come last.
    """
    n = x.shape[1]
    lane = tl.arange(0, n)[None, :] + tl.zeros(x.shape, tl.int32)
    at = lane + tl.zeros(x.shape, tl.int32)
    outside = (at >= n) if rnumel is None else (at >= rnumel)
    size = 2
    while size <= n:
        step = size // 2
        while step > 0:
            other = lane ^ step
            y = tl.gather(x, other, 1)
            place = tl.gather(at, other, 1)
            beyond = tl.gather(outside, other, 1)
            if descending:
                less = (x > y) | ((x != x) & (y == y))
                more = (x < y) | ((x == x) & (y != y))
            else:
                less = (x < y) | ((x == x) & (y != y))
                more = (x > y) | ((x != x) & (y == y))
            before = less | ((~less) & (~more) & (at < place))
            before = ((~outside) & beyond) | ((outside == beyond) & before)
            keep = before == (((lane & step) == 0) == ((lane & size) == 0))
            x = tl.where(keep, x, y)
            at = tl.where(keep, at, place)
            outside = tl.where(keep, outside, beyond)
            step = step // 2
        size = size * 2
    return x, tl.gather(idxs, at, 1)


@triton.jit
def select_one(x: Any, mask: Any, dim: Any, keep_dims: Any = False) -> Any:
    """The one element along ``dim`` where ``mask`` holds."""
    return tl.sum(tl.where(mask, x, 0), dim, keep_dims=keep_dims)


def set_driver() -> None:
    """Nothing: the machine is the driver."""


TABLE = {
    name: value for name, value in dict(globals()).items() if isinstance(value, triton.JITFunction)
} | {"set_driver_to_cpu": set_driver, "set_driver_to_gpu": set_driver, "randint64": randint64}  # fmt: skip
"""By the names that Inductor's kernels call them."""
