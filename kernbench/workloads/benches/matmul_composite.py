"""One tiled GEMM pipeline, with a choice of which operands wait in TCM and of an epilogue.

Environment variables that set defaults: ``MATMUL_M``, ``MATMUL_K``, ``MATMUL_N``, ``MATMUL_VARIANT``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.workloads.benches._inputs import (
    DTYPE,
    SEED,
    TILES,
    Array,
    Bounded,
    activations,
    matmul,
    weights,
    wide,
)
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer

VARIANTS = ("ref_ref", "load_ref", "load_load")
EPILOGUES = ("none", "relu", "gelu", "silu", "bias", "bias_relu", "bias_gelu")


def matmul_composite(
    a: Pointer, b: Pointer, bias: Pointer, out: Pointer, variant: str, epilogue: str, tile: Any, tl: Any
) -> None:
    """``out = epilogue(a @ b)``; ``load`` pins an operand in TCM, ``ref`` streams it from memory."""
    first = tl.load(a.local) if variant in ("load_ref", "load_load") else tl.ref(a.local)
    second = tl.load(b.local) if variant == "load_load" else tl.ref(b.local)
    steps: list[dict[str, Any]] = [
        {"op": "bias", "bias": tl.ref(bias.local)} if step == "bias" else {"op": step}
        for step in epilogue.split("_")
        if step != "none"
    ]
    tl.wait(tl.composite("gemm", first, second, out_ptr=out.local, epilogue=steps, tile_shape=tile))


def _gelu(x: Array) -> Array:
    found: Array = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return found


def reference(a: Array, b: Array, bias: Array, epilogue: str) -> Bounded:
    """The same by numpy; gelu in its tanh form."""
    x = matmul(a, b)
    for step in epilogue.split("_"):
        if step == "bias":
            x = x + bias
        elif step == "relu":
            x = x.mapped(lambda v: np.maximum(v, 0))
        elif step == "silu":
            x = x.mapped(lambda v: v / (1 + np.exp(-v)))
        elif step == "gelu":
            x = x.mapped(_gelu, np.abs(x.value))
    return x


@bench(
    name="matmul-composite",
    description="One tiled GEMM pipeline on one PE, operands streamed or pinned, with an optional epilogue.",
    params=[
        Param("m", int, 64, "rows of a", env="MATMUL_M", minimum=1),
        Param("k", int, 256, "columns of a, rows of b", env="MATMUL_K", minimum=1),
        Param("n", int, 128, "columns of b", env="MATMUL_N", minimum=1),
        Param(
            "variant",
            str,
            "ref_ref",
            "how a and b are given: ref streams from memory, load pins in TCM first",
            env="MATMUL_VARIANT",
            choices=VARIANTS,
        ),
        Param("epilogue", str, "none", "what follows the product in the pipeline", choices=EPILOGUES),
        TILES,
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Multiply (m, k) by (k, n) on PE 0 of cube 0."""
    p = torch.params
    rng = np.random.default_rng(p.seed)
    a, b = activations(rng, (p.m, p.k), p.dtype), weights(rng, (p.k, p.n), p.dtype)
    bias = activations(rng, (p.n,), p.dtype)
    out = torch.empty(p.m, p.n, dtype=p.dtype, name="out")
    torch.launch(
        "matmul",
        matmul_composite,
        torch.from_numpy(a, name="a"),
        torch.from_numpy(b, name="b"),
        torch.from_numpy(bias, name="bias"),
        out,
        variant=p.variant,
        epilogue=p.epilogue,
        tile=wide(p.dtype) if p.tiles == "wide" else None,
    )
    torch.check("out", out, lambda: reference(a, b, bias, p.epilogue))
