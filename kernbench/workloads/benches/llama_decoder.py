"""A decoder's layers, tensor parallel over packages as in Megatron (Shoeybi et al., 2019).

With ``phase=decode`` one new token of each sequence passes them, with ``phase=prefill`` the tokens of one.

A layer is RMSNorm, the products with q, k and v, rotary embedding of q and k, attention to the cache, the
product with o, an all_reduce, RMSNorm, gate and up, silu, down, and an all_reduce. A norm's weights are
thought to be multiplied into those of the product behind it.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.workloads.benches._inputs import SEED, activations, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench
from kernbench.workloads.models.config import MODELS, Model, model_of
from kernbench.workloads.models.layout import Share
from kernbench.workloads.models.prefill_step import PrefillStep
from kernbench.workloads.models.reference import decoded, prefilled
from kernbench.workloads.models.step import DecodeStep
from kernbench.workloads.models.triton_step import TritonStep

if TYPE_CHECKING:
    from kernbench.host import Context

SMALL = Model("small", 256, 512, 8, 4, 32, 1)
"""What is simulated where no model is named: small enough to be checked in seconds."""

TOLERANCE = 1e-2
"""Of values near 1 after some layers in f16; what lies in a wrong place is off by as much as itself."""

MADE_BYTES = 2 << 30
"""At most as much of weights and cache is made, written and checked: it is held several times over."""


@bench(
    name="llama-decoder",
    description="Layers of a Llama, decode or prefill, tensor parallel over packages.",
    params=[
        Param("phase", str, "decode", "what passes the layers", choices=("decode", "prefill")),
        Param("model", str, "small", "which", choices=("small", *MODELS)),
        Param("config", str, "", "a config.json as Hugging Face has them, instead of a model"),
        Param("batch", int, 1, "sequences in decode", minimum=1),
        Param("kv", int, 64, "keys of each sequence in decode, the new token's among them", minimum=1),
        Param("tokens", int, 64, "tokens in prefill", minimum=1),
        Param("layers", int, 1, "how many layers; 0: all that the model has", minimum=0),
        Param(
            "resident",
            bool,
            False,
            "weights and cache are there, the same for each layer: nothing is written or verified, and "
            "layers and packages are alike (except with --exact)",
        ),
        Param(
            "kernels",
            str,
            "own",
            "own: each PE streams what lies with it; triton: kernels of Triton over a grid",
            choices=("own", "triton"),
        ),
        SEED,
    ],
)
def run(torch: Context) -> None:
    """A rank on every package, or the one that is selected; heads and the perceptron are shared out."""
    p = torch.params
    model = sizes_of(p.model, p.config)
    dist = torch.distributed
    ranks = len(torch.ahbm.sips)
    if torch.address_model == "pa":
        raise UsageError(
            "bench 'llama-decoder' needs address_model va or la: a PE reads from several memories at once"
        )
    for name in ("kv_heads", "heads", "ffn"):
        of = getattr(model, name)
        if of % ranks and not (name == "kv_heads" and ranks % of == 0):
            raise UsageError(
                f"bench 'llama-decoder': {model.name} has {name} = {of}, which {ranks} "
                "packages cannot share; select fewer with --device"
            )
    for note in model.notes:
        print(f"llama-decoder: {model.name}: {note}", file=sys.stderr)
    share = Share(
        model.heads // ranks,
        max(1, model.kv_heads // ranks),
        model.head_dim,
        model.hidden,
        model.ffn // ranks,
        torch.cubes_per_sip,
        torch.pes_per_cube,
    )
    layers = p.layers or model.layers
    decode = p.phase == "decode"
    sizes = (p.batch, p.kv) if decode else (p.tokens, 0)
    made = None if p.resident else _Values(model, sizes[0], sizes[1], layers, p.seed)

    def worker(rank: int) -> None:
        reduce = dist.all_reduce if ranks > 1 else None
        step: Any
        if p.kernels == "triton":
            step = TritonStep(torch, share, model, sizes[0], sizes[1], reduce)
        elif decode:
            step = DecodeStep(torch, share, model, p.batch, p.kv, reduce)
        else:
            step = PrefillStep(torch, share, model, p.tokens, reduce)
        if made is None:
            layer = step.layer(0)
            step.start()
            for _ in torch.repeat(layers, name="layer"):
                step.run(layer)
            return
        placed = [step.layer(i, *made.share(i, rank, ranks)) for i in range(layers)]
        step.start(made.x)
        for layer in placed:
            step.run(layer)
        expected = lambda: step.laid(made.expected())  # noqa: E731
        torch.check(f"x of rank {rank}", step.x, expected, tolerance=TOLERANCE)

    if ranks == 1:
        worker(0)
    else:
        dist.init_process_group("ahbm")
        torch.multiprocessing.spawn(worker, nprocs=ranks, alike=made is None)


def sizes_of(name: str, config: str = "") -> Model:
    """The model of a name, the small one too, or of a file."""
    return SMALL if name == SMALL.name and not config else model_of(name, config)


class _Values:
    """Random weights, cache and tokens, the same on every machine."""

    def __init__(self, model: Model, batch: int, kv: int, layers: int, seed: int) -> None:
        self.model = model
        rng = np.random.default_rng(seed)
        heads, kv_heads = model.heads * model.head_dim, model.kv_heads * model.head_dim
        shapes = {
            "q": (model.hidden, heads),
            "k": (model.hidden, kv_heads),
            "v": (model.hidden, kv_heads),
            "o": (heads, model.hidden),
            "gate": (model.hidden, model.ffn),
            "up": (model.hidden, model.ffn),
            "down": (model.ffn, model.hidden),
        }
        cached = (2, batch, model.kv_heads, kv, model.head_dim)
        nbytes = 2 * layers * sum(math.prod(s) for s in (*shapes.values(), cached))
        if nbytes > MADE_BYTES:
            raise UsageError(
                f"bench 'llama-decoder': weights and cache are {nbytes / 1e9:.1f} GB (model={model.name}, "
                f"layers={layers}), too much to make, write and check: give resident=true, or fewer layers"
            )
        self.x = activations(rng, (batch, model.hidden), "f16")
        biases = {f"{n}_bias": shapes[n][1] for n in ("q", "k", "v")} if model.bias else {}
        self.weights = [
            {n: weights(rng, s, "f16") for n, s in shapes.items()}
            | {n: activations(rng, (s,), "f16") for n, s in biases.items()}
            for _ in range(layers)
        ]
        self.caches = [activations(rng, cached, "f16") for _ in range(layers)]

    def share(self, layer: int, rank: int, ranks: int) -> tuple[dict[str, Any], Any]:
        """What a rank has of a layer: columns of weights, rows of o and down, its heads of the cache.

        Where there are more ranks than heads of keys, several have the same one.
        """

        def of(whole: Any, axis: int, parts: int = ranks) -> Any:
            return np.split(whole, parts, axis)[rank * parts // ranks]

        kv = min(ranks, self.model.kv_heads)
        how = {"o": (0, ranks), "down": (0, ranks), "k": (1, kv), "v": (1, kv)}
        how |= {"q_bias": (0, ranks), "k_bias": (0, kv), "v_bias": (0, kv)}
        own = {n: of(w, *how.get(n, (1, ranks))) for n, w in self.weights[layer].items()}
        return own, of(self.caches[layer], 2, kv)

    def expected(self) -> Any:
        """Vectors of the tokens after the last layer."""
        x = self.x.astype(np.float64)
        for own, (keys, values) in zip(self.weights, self.caches, strict=True):
            x = decoded(x, own, keys, values, self.model) if keys.size else prefilled(x, own, self.model)
        return x
