"""Query, key and value projections of one activation: shared by three benches of different scale."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.workloads.benches._inputs import activations, matmul, weights, wide

if TYPE_CHECKING:
    from kernbench.host import Context, DPPolicy
    from kernbench.language import Pointer


def project(
    x: Pointer, wq: Pointer, wk: Pointer, wv: Pointer, q: Pointer, k: Pointer, v: Pointer, tile: Any, tl: Any
) -> None:
    """Each PE multiplies its copy of x, pinned, by its columns of the weights, streamed tile by tile."""
    pinned = tl.load(x.local)
    for weight, out in ((wq, q), (wk, k), (wv, v)):
        tl.composite("gemm", pinned, weight.local, out_ptr=out.local, tile_shape=tile)
    tl.wait()


def run_qkv(
    torch: Context, *, tokens: int, hidden: int, dtype: str, seed: int, copies: DPPolicy, columns: DPPolicy
) -> None:
    """``q, k, v = x @ wq, x @ wk, x @ wv``: x placed by ``copies``, weights and results by ``columns``."""
    rng = np.random.default_rng(seed)
    x = activations(rng, (tokens, hidden), dtype)
    on_device = torch.from_numpy(x, dp=copies, name="x")
    weight = {n: weights(rng, (hidden, hidden), dtype) for n in ("wq", "wk", "wv")}
    placed = [torch.from_numpy(w, dp=columns, name=n) for n, w in weight.items()]
    outputs = [torch.empty(tokens, hidden, dtype=dtype, dp=columns, name=n) for n in ("q", "k", "v")]
    torch.launch("qkv", project, on_device, *placed, *outputs, tile=wide(dtype, depth=64))
    for out, w in zip(outputs, weight.values(), strict=True):
        torch.check(out.name, out, partial(matmul, x, w))
