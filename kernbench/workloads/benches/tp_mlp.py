"""A two-layer perceptron, its weights shared out over ranks (tensor parallel), checked against one device."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from kernbench.host import tensor_parallel as tp
from kernbench.support.bounded import Bounded, stack
from kernbench.workloads.benches._inputs import SEED, activations, matmul, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context


@bench(
    name="tp-mlp",
    description="Two parallel linear layers over the ranks: columns, then rows and an all_reduce.",
    params=[
        Param("batch", int, 1, "rows of the input", minimum=1),
        Param("features", int, 512, "columns of the input and of the output", minimum=1),
        Param("hidden", int, 2048, "columns between the layers", minimum=1),
        Param("size", int, 0, "ranks that share the weights; as many as divide hidden when 0", minimum=0),
        Param("dtype", str, "f16", "element type", choices=("f16", "bf16", "f32")),
        SEED,
    ],
)
def run(torch: Context) -> None:
    """A rank on every SIP; groups of ``size`` ranks share one copy of the weights each."""
    p, dist = torch.params, torch.distributed
    dist.init_process_group("ahbm")
    ranks = dist.get_world_size()
    size = p.size or math.gcd(ranks, p.hidden)
    rng = np.random.default_rng(p.seed)
    x = activations(rng, (p.batch, p.features), p.dtype)
    w1, w2 = weights(rng, (p.features, p.hidden), p.dtype), weights(rng, (p.hidden, p.features), p.dtype)
    b1, b2 = activations(rng, (p.hidden,), p.dtype), activations(rng, (p.features,), p.dtype)

    @cache  # one for all ranks
    def expected() -> Bounded:
        hidden = (matmul(x, w1) + b1).rounded(p.dtype)
        own = p.hidden // size
        parts: list[Bounded] = []
        for first in range(0, p.hidden, own):
            columns = slice(first, first + own)
            part = hidden[:, columns] @ w2[columns]
            parts.append((part if parts else part + b2).rounded(p.dtype))
        return parts[0] if size == 1 else stack(parts).sum(0, p.dtype)

    def worker(rank: int) -> None:
        tp.initialize_model_parallel(size, torch=torch)
        first = tp.ColumnParallelLinear(p.features, p.hidden, dtype=p.dtype, torch=torch, name="fc1")
        second = tp.RowParallelLinear(p.hidden, p.features, dtype=p.dtype, torch=torch, name="fc2")
        first.load(w1, b1)
        second.load(w2, b2)
        y = second(first(torch.from_numpy(x, dp=tp.REPLICATED, name="x")))
        torch.check(f"output of rank {rank}", y, expected)

    torch.multiprocessing.spawn(worker, nprocs=ranks)
