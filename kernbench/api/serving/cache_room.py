"""How many tokens the cache of a service holds: what the weights of a model leave of a machine's memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernbench.api.running import run
from kernbench.errors import UsageError
from kernbench.workloads.models.capacity import size
from kernbench.workloads.models.config import Model

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.support.pgraph import PropertyGraph

_LONGEST = 1 << 32
"""Keys of a sequence that are asked for at most."""


def cache_room(
    sizes: Model, params: Mapping[str, Any], graph: PropertyGraph, device: str, batch: int, step_tokens: int
) -> int:
    """Tokens that fit beside all weights and the activations of a step, in the fullest memory of a package.

    They lie as the steps of ``batch`` sequences place them, all equally long; activations are those of a
    decode of ``batch``, or of ``step_tokens`` of a prompt where these take more.

    Raises:
        UsageError: Not one token of each sequence fits; it says what is needed and what there is.
    """
    found: list[int] = []

    def measure(torch: Context) -> None:
        from kernbench.workloads.benches.llama_decoder import Plan, unshared

        if (name := unshared(sizes, len(torch.ahbm.sips))) is not None:
            raise UsageError(
                f"{sizes.name} has {name} = {getattr(sizes, name)}, which {len(torch.ahbm.sips)} packages "
                "cannot share; select fewer with --device"
            )
        plan = replace(Plan.of(torch, sizes), phase="decode", tokens=batch, kv=1)
        need, fit = plan.fit(sizes.layers)
        prompt = replace(plan, phase="prefill", tokens=step_tokens, kv=0).fit(sizes.layers)[0]
        extra = max(0, prompt.activations.total() - need.activations.total())
        token = (
            (replace(plan, kv=2049).fit(sizes.layers)[0].cache.total() - need.cache.total()) / 2048 / batch
        )
        kv = bisect_right(
            range(1, _LONGEST), False, key=lambda keys: not replace(plan, kv=keys).fit(sizes.layers)[1].fits
        )
        tokens = kv * batch - int(-(-extra // token))
        if tokens < 1:
            raise UsageError(
                f"{sizes.name} leaves no room for a cache of {batch} sequences: a package needs "
                f"{size(need.total.total())} ({need}) and has {size(fit.package_free)} free; take more "
                "packages, a smaller --batch, or give --cache-tokens"
            )
        found.append(tokens)

    run(measure, graph, params=params, device=device, trace=False)
    return found[0]
