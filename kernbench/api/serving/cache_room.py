"""How many tokens the cache of a service holds: what the weights of a model leave of a machine's memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernbench.engine.machine.machine import Machine
from kernbench.errors import UsageError
from kernbench.host import Context
from kernbench.support.sizes import decimal_size
from kernbench.values import DataPlane
from kernbench.workloads.models.config import Model

if TYPE_CHECKING:
    from kernbench.support.pgraph import PropertyGraph

_KEYS = 2048, 4096


def cache_room(
    sizes: Model, params: Mapping[str, Any], graph: PropertyGraph, device: str, batch: int, step_tokens: int
) -> int:
    """Tokens that fit beside all weights and the activations of a step, in the fullest memory of a package.

    They lie as the steps of ``batch`` sequences place them, all equally long; activations are those of a
    decode of ``batch``, or of ``step_tokens`` of a prompt where these take more.

    Raises:
        UsageError: No token fits, or the packages cannot share the model; the message has the bytes that are
            needed and free.
    """
    from kernbench.workloads.benches.llama_decoder import Plan

    data = DataPlane(verify=False)
    with Context(Machine(graph, [data]), data, device=device, params=params) as torch:
        plan = replace(Plan.of(torch, sizes), phase="decode", tokens=batch, kv=1)
        need, fit = plan.fit(sizes.layers)
        # As a line through two numbers of keys that PEs share evenly: to lay millions out takes long.
        (short, some), (longer, more) = (replace(plan, kv=kv).fit(sizes.layers) for kv in _KEYS)
        token = (longer.cache.total() - short.cache.total()) / (_KEYS[1] - _KEYS[0]) / batch
        key = (more.needed - some.needed) / (_KEYS[1] - _KEYS[0])
        prompt = replace(plan, phase="prefill", tokens=step_tokens, kv=0).fit(sizes.layers)[0]
        extra = max(0, prompt.activations.total() - need.activations.total())
        tokens = int(_KEYS[1] + (more.free - more.needed) / key) * batch - math.ceil(extra / token)
        if tokens < 1:
            raise UsageError(
                f"{sizes.name} leaves no room for a cache: with {batch} sequences of a token a package needs "
                f"{decimal_size(need.total.total())} ({need}) and has {decimal_size(fit.package_free)} free; "
                "take more packages, or a smaller batch"
            )
        return tokens
