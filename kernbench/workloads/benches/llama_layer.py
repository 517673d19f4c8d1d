"""The weights of a layer of Llama 2 70B read once, for one token: seven GEMVs over all PEs of a SIP.

A layer's matrices are q and o (hidden x hidden), k and v (hidden x kv), gate and up (hidden x ffn) and down
(ffn x hidden); in the model hidden is 8192, kv 1024 and ffn 28672 (Touvron et al., 2023). Each is a launch
of its own, with random inputs: the attention between them, the activation function and the exchange of
vectors among PEs are left out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED, activations, matmul, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer


def gemv(x: Pointer, w: Pointer, out: Pointer, block: int, tl: Any) -> None:
    """Own columns of ``out = x @ w``: x waits in TCM while ``block`` KiB of weights at a time pass it."""
    k, columns = tl.local_shape(w)
    vector = tl.load(x.local)
    if not block:
        tl.wait(tl.composite("gemm", vector, w.local, out_ptr=out.local))
        return
    rows = max(1, block * 1024 * k // w.local.nbytes)
    total: Any = None
    for row in tl.static_range(0, k, rows):
        height = min(rows, k - row)
        part = tl.load(tl.make_block_ptr(w.local, (k, columns), (columns, 1), (row, 0), (height, columns)))
        product = tl.dot(vector[:, row : row + height], part, out_dtype=tl.float32)
        total = product if total is None else total + product
    tl.store(out.local, total.to(out.dtype))


@bench(
    name="llama-layer",
    description="The seven GEMVs of a layer of Llama-70B for one token, columns over all cubes and PEs.",
    params=[
        Param("hidden", int, 256, "hidden size; 8192 in the model", minimum=1),
        Param("kv", int, 128, "columns of k and of v; 1024 in the model", minimum=1),
        Param("ffn", int, 896, "columns of gate and of up; 28672 in the model", minimum=1),
        Param("block", int, 256, "KiB of weights in TCM at once; 0 streams tiles instead", minimum=0),
        Param("resident", bool, False, "whether weights are there already: not written, not to be verified"),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Columns are split over the cubes of SIP 0, each cube's over its PEs; each PE has all inputs."""
    p = torch.params
    columns = DPPolicy(cube="column_wise", pe="column_wise")
    shapes = {
        "q": ("normed", p.hidden, p.hidden),
        "k": ("normed", p.hidden, p.kv),
        "v": ("normed", p.hidden, p.kv),
        "o": ("attended", p.hidden, p.hidden),
        "gate": ("normed_again", p.hidden, p.ffn),
        "up": ("normed_again", p.hidden, p.ffn),
        "down": ("activated", p.ffn, p.hidden),
    }
    rng = np.random.default_rng(p.seed)
    inputs = {x: activations(rng, (1, k), p.dtype) for x, k, _ in shapes.values()}
    given = {x: torch.from_numpy(values, dp=DPPolicy(), name=x) for x, values in inputs.items()}
    for name, (x, k, n) in shapes.items():
        out = torch.empty(1, n, dtype=p.dtype, dp=columns, name=name)
        if p.resident:
            placed = torch.empty(k, n, dtype=p.dtype, dp=columns, name=f"w_{name}")
        else:
            w = weights(rng, (k, n), p.dtype)
            placed = torch.from_numpy(w, dp=columns, name=f"w_{name}")
            torch.check(name, out, partial(matmul, inputs[x], w))
        torch.launch(name, gemv, given[x], placed, out, p.block)
