"""A decoder's layers, tensor parallel over packages as in Megatron (Shoeybi et al., 2019).

With ``phase=decode`` one new token of each sequence passes them, with ``phase=prefill`` the tokens of one.

A layer is RMSNorm, the products with q, k and v, rotary embedding of q and k, attention to the cache, the
product with o, an all_reduce, RMSNorm, gate and up, silu, down, and an all_reduce. A norm's weights are
thought to be multiplied into those of the product behind it.
"""

from __future__ import annotations

import itertools
import math
import sys
from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.support import dtypes
from kernbench.support.sizes import counted, decimal_size
from kernbench.workloads.benches._inputs import SEED, activations, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench
from kernbench.workloads.models.capacity import Fit, Need
from kernbench.workloads.models.config import MODELS, Model, model_of
from kernbench.workloads.models.layout import Share
from kernbench.workloads.models.prefill_step import PrefillStep
from kernbench.workloads.models.quantized import CACHES, TYPES
from kernbench.workloads.models.reference import decoded, prefilled
from kernbench.workloads.models.step import DecodeStep
from kernbench.workloads.models.triton_step import TritonStep

if TYPE_CHECKING:
    from kernbench.host import Context

SMALL = Model("small", 256, 512, 8, 4, 32, 1)
"""What is simulated where no model is named: small enough to be checked in seconds."""

TOLERANCE = 1e-2
"""Of values near 1 after some layers in f16; what lies in a wrong place is off by as much as itself."""
OF_CACHE = {"f16": TOLERANCE, "fp8": 0.1}
"""By type of the cache: a key or value of fp8 that is rounded the other way is off by a sixteenth."""

MADE_BYTES = 2 << 30
"""At most as much of weights and cache is made, written and checked: it is held several times over."""


@bench(
    name="llama-decoder",
    description="Layers of a Llama, decode or prefill, tensor parallel over packages.",
    params=[
        Param("phase", str, "decode", "what passes the layers", choices=("decode", "prefill")),
        Param("model", str, "", "which; small without a config", choices=("", "small", *MODELS)),
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
        Param("weights", str, "", "their type in memory; by default the config's", choices=("", *TYPES)),
        Param("cache", str, "f16", "what keys and values are in memory", choices=tuple(CACHES)),
        Param(
            "kernels",
            str,
            "own",
            "own: each PE streams what lies with it; triton: kernels of Triton over a grid",
            choices=("own", "triton"),
        ),
        Param(
            "capacity",
            str,
            "run",
            "what has to fit the memory: run, the layers that run; model, all that the model has; ignore, "
            "nothing, which is said",
            choices=("run", "model", "ignore"),
        ),
        SEED,
    ],
)
def run(torch: Context) -> None:
    """A rank on every package, or the one that is selected; heads and the perceptron are shared out."""
    p = torch.params
    model = sizes_of(p.model, p.config, p.weights, p.cache)
    dist = torch.distributed
    ranks = len(torch.ahbm.sips)
    if torch.address_model == "pa":
        raise UsageError(
            "bench 'llama-decoder' needs address_model va or la: a PE reads from several memories at once"
        )
    plan = Plan.of(torch, model)
    tokens, kv, share = plan.tokens, plan.kv, plan.share(ranks)
    _say(model, *plan.notes)
    if model.experts > 1 and tokens > 1 and not p.resident:
        raise UsageError(
            f"bench 'llama-decoder': {model.name} has experts (num_local_experts, num_experts_per_tok), and "
            f"which of them {tokens} tokens pass is not decided, so none can be checked; give resident=true"
        )
    if 0 < model.window < tokens and plan.phase == "prefill":
        raise UsageError(
            f"bench 'llama-decoder': {model.name} has sliding_window = {model.window}, and a prefill of "
            f"more tokens, {tokens}, is not simulated; give tokens={model.window} or fewer"
        )
    layers = p.layers or model.layers
    _check_capacity(plan, model.layers if p.capacity == "model" else layers)
    made = None if p.resident else _Values(model, tokens, kv, layers, p.seed)

    def worker(rank: int) -> None:
        step = plan.make(torch, share, dist.all_reduce if ranks > 1 else None)
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
        torch.check(f"x of rank {rank}", step.x, expected, tolerance=OF_CACHE[model.cache])

    if ranks == 1:
        worker(0)
    else:
        dist.init_process_group("ahbm")
        torch.multiprocessing.spawn(worker, nprocs=ranks, alike=made is None)


def named(text: str) -> dict[str, str]:
    """The bench's parameter that a user means by a model's name, or by a ``config.json`` or its folder."""
    known = text in MODELS or text == SMALL.name
    return {"model": text} if known or not Path(text).expanduser().exists() else {"config": text}


def sizes_of(model: str = "", config: str = "", weights: str = "", cache: str = "") -> Model:
    """The model of a name, the small one too, or of a file; with weights and cache of these types."""
    if model and config:
        raise UsageError(
            f"bench 'llama-decoder' takes a model or a config, not model={model} config={config}"
        )
    found = model_of(model, config) if config or model not in ("", SMALL.name) else SMALL
    return found.of_types(weights, cache)


def unshared(model: Model, packages: int) -> str | None:
    """The size of a model that does not divide by ``packages``; None where they can share it."""
    for name in ("kv_heads", "heads", "ffn"):
        of = getattr(model, name)
        if of % packages and not (name == "kv_heads" and packages % of == 0):
            return name
    return None


def _say(model: Model, *notes: str) -> None:
    for note in notes:
        print(f"llama-decoder: {model.name}: {note}", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class Plan:
    """A step of ``tokens`` tokens on the packages of a run; in decode each sees ``kv`` keys, else 0."""

    torch: Context
    model: Model
    phase: str
    tokens: int
    kv: int
    kernels: str

    @classmethod
    def of(cls, torch: Context, model: Model) -> Plan:
        """The one that the bench's parameters ask for; a window hides the keys before it."""
        p = torch.params
        if p.phase == "prefill":
            return cls(torch, model, p.phase, p.tokens, 0, p.kernels)
        return cls(torch, model, p.phase, p.batch, min(p.kv, model.window or p.kv), p.kernels)

    @property
    def notes(self) -> list[str]:
        """What is left out, or is not what was asked for."""
        asked, notes = self.torch.params.kv, [*self.model.notes]
        hit, each = self.model.routed(self.tokens)
        if hit > self.model.chosen:
            notes.append(f"{hit} experts are hit, by {each} tokens each, as {self.tokens} do on average")
        if not self.model.weights.plain:
            notes.append(f"weights of {self.model.weights.kind} become f16 in PE_MATH; activations are f16")
        if self.phase == "decode" and self.kv < asked:
            notes.append(f"sliding_window: of {asked} keys the last {self.kv} are there and are read")
        return notes

    def make(self, context: Any, share: Share, reduce: Any = None) -> Any:
        """The step of one package, which has ``share`` of the model."""
        if self.kernels == "triton":
            return TritonStep(context, share, self.model, self.tokens, self.kv, reduce)
        if self.phase == "decode":
            return DecodeStep(context, share, self.model, self.tokens, self.kv, reduce)
        return PrefillStep(context, share, self.model, self.tokens, reduce)

    def share(self, ranks: int) -> Share:
        """What each of ``ranks`` packages has of the model.

        Raises:
            UsageError: They cannot share it.
        """
        model, torch = self.model, self.torch
        if (name := unshared(model, ranks)) is not None:
            raise UsageError(
                f"bench 'llama-decoder': {model.name} has {name} = {getattr(model, name)}, which {ranks} "
                "packages cannot share; select fewer with --device"
            )
        group = model.weights.group or 1
        for name, deep in (("o", model.heads * model.head_dim), ("down", model.ffn)):
            if ranks > 1 and deep // ranks % group:
                raise UsageError(
                    f"bench 'llama-decoder': {deep // ranks} rows of {name} on each of {ranks} packages are "
                    f"not whole groups of {group}, which share a scale; select fewer with --device"
                )
        return Share(
            model.heads // ranks,
            max(1, model.kv_heads // ranks),
            model.head_dim,
            model.hidden,
            model.ffn // model.chosen * model.routed(self.tokens)[0] // ranks,
            torch.cubes_per_sip,
            torch.pes_per_cube,
        )

    def fit(self, layers: int, packages: int = 0) -> tuple[Need, Fit]:
        """What ``layers`` layers need on each package, by default of the run, and whether that fits."""
        sips = self.torch.ahbm.sips
        packages = packages or len(sips)
        need = Need.of(self.torch, self.make, self.share(packages), self.model, layers, packages)
        return need, Fit.of(self.torch, sips, need)


def _check_capacity(plan: Plan, layers: int) -> None:
    """Refuse what does not fit, with what would; or say what there is."""
    p, sips, model, fit = plan.torch.params, plan.torch.ahbm.sips, plan.model, plan.fit
    need, found = fit(layers)
    what = f"{counted(layers, 'layer')} on {counted(len(sips), 'package')}"
    free = decimal_size(found.package_free)
    have = f"{what}: a package needs {decimal_size(need.total.total())} ({need}) and has {free} free"
    if found.fits or p.capacity == "ignore":
        ignored = "" if found.fits else "; does not fit, ignored"
        if model.name != SMALL.name or ignored:
            _say(model, f"{have}{ignored}")
        return
    remedies = []
    most = bisect_left(range(1, layers), True, key=lambda fewer: not fit(fewer)[1].fits)
    if most and p.capacity == "run":
        remedies.append(f"layers={most}")
    for packages in range(len(sips) + 1, 1025):
        if unshared(model, packages) is None and fit(layers, packages)[1].fits:
            remedies.append(f"{packages} packages such as these (--device all, or a larger machine)")
            break
    for kind in ("fp8", "int4"):
        if model.weights.plain and replace(plan, model=model.of_types(kind)).fit(layers)[1].fits:
            remedies.append(f"weights={kind}")
            break
    if p.phase == "decode" and (need.weights + need.activations).total() < found.package_free:
        remedies.append("a smaller batch or kv")
    remedies.append("capacity=ignore, which answers for a machine that cannot be")
    raise UsageError(
        f"bench 'llama-decoder': {model.name} does not fit: {have}; {found.name} would hold "
        f"{decimal_size(found.needed)} of {decimal_size(found.free)}. Give {', or '.join(remedies)}"
    )


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
        biased = [*("q", "k", "v")] * model.bias + ["o"] * model.o_bias
        biases = {f"{n}_bias": shapes[n][1] for n in biased}
        self.weights = [
            {n: weights(rng, s, "f16") for n, s in shapes.items()}
            | {n: activations(rng, (s,), "f16") for n, s in biases.items()}
            | ({"qk_norm": 1 + activations(rng, (2, model.head_dim), "f16")} if model.qk_norm else {})
            for _ in range(layers)
        ]
        as_cached = dtypes.dtype(CACHES[model.cache]).numpy
        self.caches = [activations(rng, cached, "f16").astype(as_cached) for _ in range(layers)]
        self.kept = self.weights
        if not model.weights.plain:
            self.kept = [dict(layer) for layer in self.weights]
            for layer, name in itertools.product(range(layers), shapes):
                stored, scale = model.weights.stored(self.weights[layer][name])
                self.kept[layer] |= {name: stored, f"{name}_scale": scale}
                self.weights[layer][name] = model.weights.worth(stored, scale)

    def share(self, layer: int, rank: int, ranks: int) -> tuple[dict[str, Any], Any]:
        """What a rank has of a layer: columns of weights, rows of o and down, its heads of the cache.

        Where there are more ranks than heads of keys, several have the same one.
        """

        def of(whole: Any, axis: int, parts: int = ranks) -> Any:
            return np.split(whole, parts, axis)[rank * parts // ranks]

        kv = min(ranks, self.model.kv_heads)
        how = {"o": (0, ranks), "down": (0, ranks), "k": (1, kv), "v": (1, kv)}
        how |= {"q_bias": (0, ranks), "k_bias": (0, kv), "v_bias": (0, kv)}
        if self.model.weights.group:
            how |= {"o_scale": (0, ranks), "down_scale": (0, ranks)}
        else:
            how |= {"o_scale": (0, 1), "down_scale": (0, 1)}
        how |= {"k_scale": (1, kv), "v_scale": (1, kv), "qk_norm": (0, 1)}
        given = self.kept[layer]
        own = {n: of(w, *how.get(n, (1, ranks))) for n, w in given.items() if n != "o_bias"}
        if "o_bias" in given:  # once in the sum over packages
            own["o_bias"] = given["o_bias"] if rank == 0 else np.zeros_like(given["o_bias"])
        return own, of(self.caches[layer], 2, kv)

    def expected(self) -> Any:
        """Vectors of the tokens after the last layer."""
        x = self.x.astype(np.float64)
        for own, (keys, values) in zip(self.weights, self.caches, strict=True):
            x = decoded(x, own, keys, values, self.model) if keys.size else prefilled(x, own, self.model)
        return x
