"""A layer of a decoder by numpy alone, in f64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.support import dtypes
from kernbench.workloads.models.config import Model
from kernbench.workloads.models.quantized import CACHES
from kernbench.workloads.models.rotary import rotated_array

Array = NDArray[Any]


def decoded(x: Array, weights: Mapping[str, Array], keys: Array, values: Array, model: Model) -> Array:
    """``x`` (batch, hidden) after a layer, a token of each sequence.

    Args:
        x: A token of each sequence.
        weights: ``q``, ``k``, ``v``, ``o``, ``gate``, ``up``, ``down``, each (inputs, outputs), and
            ``q_bias``, ``k_bias``, ``v_bias``, ``o_bias`` where there are some.
        keys: The cache, (batch, kv_heads, keys, head_dim), turned by positions; its last key is replaced by
            the token's own.
        values: As ``keys``.
        model: The sizes.
    """
    q, k, v = _heads(x, weights, model, np.full(len(x), keys.shape[2] - 1))
    caches = []
    for cache, own in ((keys, k), (values, v)):
        caches.append(cache.astype(np.float64))
        caches[-1][:, :, -1] = own
    scores = np.einsum("bhgd,bhtd->bhgt", q, caches[0])
    attended = np.einsum("bhgt,bhtd->bhgd", _softmax(scores), caches[1])
    return _after_attention(x, attended, weights, model)


def prefilled(x: Array, weights: Mapping[str, Array], model: Model) -> Array:
    """``x`` (tokens, hidden) after a layer: tokens of one sequence, each of which sees those before it."""
    q, k, v = _heads(x, weights, model, np.arange(len(x)))
    scores = np.einsum("shgd,thd->shgt", q, k)
    seen = np.tri(len(x), dtype=bool)[:, None, None, :]
    attended = np.einsum("shgt,thd->shgd", _softmax(np.where(seen, scores, -np.inf)), v)
    return _after_attention(x, attended, weights, model)


def _heads(x: Array, w: Mapping[str, Array], model: Model, positions: Array) -> tuple[Array, Array, Array]:
    """q (tokens, kv_heads, group, head_dim), divided by the root of head_dim, and k and v without group.

    q and k are turned by the token's position.
    """
    normed = _normed(x, model.eps)
    q, k, v = (normed @ w[name].astype(np.float64) + w.get(f"{name}_bias", 0) for name in ("q", "k", "v"))
    shape = (len(x), model.kv_heads, model.head_dim)
    q, k = q.reshape(len(x), model.kv_heads, model.group, model.head_dim), k.reshape(shape)
    if "qk_norm" in w:
        q, k = (_normed(part, model.eps) * row for part, row in zip((q, k), w["qk_norm"], strict=True))
    q = q / np.sqrt(model.head_dim)
    turned: list[Array] = [rotated_array(part, positions, model.rope) for part in (q, k)]
    kept = [turned[1], v]
    if model.cache != "f16":
        of = dtypes.dtype(CACHES[model.cache]).numpy
        kept = [part.astype(np.float16).astype(of).astype(np.float64) for part in kept]
    return turned[0], kept[0], kept[1].reshape(shape)


def _softmax(scores: Array) -> Array:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))


def _after_attention(x: Array, attended: Array, weights: Mapping[str, Array], model: Model) -> Array:
    o, gate, up, down = (weights[name].astype(np.float64) for name in ("o", "gate", "up", "down"))
    x = x + attended.reshape(len(x), -1) @ o + weights.get("o_bias", 0)
    normed = _normed(x, model.eps)
    opened = normed @ gate
    return np.asarray(x + (opened / (1 + np.exp(-opened)) * (normed @ up)) @ down)


def _normed(x: Array, eps: float) -> Array:
    return np.asarray(x / np.sqrt((x * x).mean(-1, keepdims=True) + eps))
