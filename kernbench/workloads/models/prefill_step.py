"""A prefill on one package: its tensors, and the launches of a layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from kernbench.errors import UsageError
from kernbench.workloads.models import attention, prefill
from kernbench.workloads.models.layout import BY_ROWS, Array, Share, Strips, filled, strip_width
from kernbench.workloads.models.products import Products, widest
from kernbench.workloads.models.quantized import CACHES

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor
    from kernbench.workloads.models.config import Model

BLOCK_M, BLOCK_N = 64, 256
"""Tokens, and keys, of attention in TCM at once."""


class PrefillStep:
    """The tokens of one sequence pass layer after layer on the calling rank's package.

    Args:
        torch: The run.
        share: What this package has of the model.
        model: Its norms, rotary embedding and biases.
        tokens: How many.
        reduce: Adds a tensor up over the packages; None where there is one.
        routed: Experts take their share of the tokens, by a step of so many.
    """

    def __init__(
        self,
        torch: Context,
        share: Share,
        model: Model,
        tokens: int,
        reduce: Callable[[Tensor], object] | None = None,
        routed: bool = True,
    ) -> None:
        self._torch, self.share, self.tokens, self._reduce = torch, share, tokens, reduce
        each = model.routed(tokens)[1] if routed else tokens
        self._experts = self if each == tokens else PrefillStep(torch, share, model, each, routed=False)
        self.rope, self.eps, self._bias, self._o_bias = model.rope, model.eps, model.bias, model.o_bias
        self._kind, self._norms = model.weights, model.qk_norm
        s = share
        q, kv = s.heads * s.head_dim, s.kv_heads * s.head_dim

        def strips(columns: int, width: int) -> Strips:
            return Strips.of_tokens(tokens, columns, width, s.cubes, s.pes)

        head = strip_width(q + 2 * kv, s.cubes, s.pes, s.head_dim)
        self.hidden = strips(s.hidden, widest(s.hidden, s.cubes, s.pes))
        self.qkv, self.q = strips(q + 2 * kv, head), strips(q, head)
        ffn = widest(s.ffn, s.cubes, s.pes)
        self.ffn = strips(s.ffn, ffn)
        self.x = self._tensor("x", self.hidden)
        # Padding rows are not computed, but are added up over packages.
        whole = torch.empty if self.hidden.full else torch.zeros
        self.y = whole(*self.hidden.shape, dp=BY_ROWS, name="y")
        rows = self.hidden.shape[0]
        self.squares = torch.empty(rows, 1, dtype="f32", dp=BY_ROWS, name="squares")
        self.of_qkv, self.attended = self._tensor("qkv", self.qkv), self._tensor("attended", self.q)
        kept = s.cubes * attention.kept(s.heads, s.kv_heads, s.cubes) * self.qkv.groups * self.qkv.rows
        size = 2 * kept, s.head_dim
        self.cached = torch.empty(*size, dp=BY_ROWS, name="cached", dtype=CACHES[model.cache])
        self.f = self._tensor("f", self.ffn)
        users = [(self.hidden, 1), (self.qkv, 1), (self.ffn, 2)]
        self._project = Products(torch, s.cubes, users, model.eps, model.weights).launch

    def _tensor(self, name: str, strips: Strips) -> Tensor:
        return self._torch.empty(*strips.shape, dp=BY_ROWS, name=name)

    def laid(self, x: Array) -> Array:
        """Vectors of the tokens, (tokens, hidden), as ``x`` keeps them."""
        return self.hidden.laid(x)

    def start(self, x: Array | None = None) -> None:
        """The tokens' vectors, (tokens, hidden), before the first layer."""
        if x is not None:
            self.x.write(self.laid(x))
        self._add(None)

    def layer(
        self, number: int, weights: Mapping[str, Array] | None = None, cache: Array | None = None
    ) -> Mapping[str, Tensor]:
        """Make a layer's weights, with values where they are given: this package's share of each.

        The tokens are the first ones: a ``cache`` is not looked at.
        """
        depths = {
            "qkv": (self.qkv, self.hidden, ("q", "k", "v")),
            "o": (self.hidden, self.q, ("o",)),
            "gate": (self.ffn, self.hidden, ("gate",)),
            "up": (self.ffn, self.hidden, ("up",)),
            "down": (self.hidden, self.ffn, ("down",)),
        }
        placed, kind, s = {}, self._kind, self.share
        for name, (made, given, parts) in depths.items():
            if made.width % kind.packed:
                raise UsageError(
                    f"bench 'llama-decoder': a strip of {made.width} columns of 4 bits is not even"
                )
            for what in ("", "_scale")[: 1 if kind.plain else 2]:
                deep = kind.groups(given.columns) if what else given.columns
                (rows, wide), values = made.weights(deep, s.cubes), None
                if weights is not None:
                    whole = np.concatenate([weights[part + what] for part in parts], axis=1)
                    values = made.packed(whole, s.cubes)
                    values = values if what else kind.laid(values, made.width)
                shape = (rows, wide if what else wide // kind.packed)
                dtype = "f16" if what else kind.dtype
                placed[name + what] = filled(
                    self._torch, f"w_{name}{number}{what}", shape, BY_ROWS, values, dtype
                )
        if self._norms:
            norms = None if weights is None else np.tile(weights["qk_norm"], (s.workers, 1))
            placed["norms"] = filled(
                self._torch, f"norms{number}", (2 * s.workers, s.head_dim), BY_ROWS, norms
            )
        biases = {"qkv": self._bias, "o": self._o_bias}
        for name in (name for name, there in biases.items() if there):
            made, _, parts = depths[name]
            shape, bias = (made.count, made.width), None
            if weights is not None:
                bias = np.concatenate([weights[f"{part}_bias"] for part in parts]).reshape(shape)
            placed[f"{name}_bias"] = filled(self._torch, f"b_{name}{number}", shape, BY_ROWS, bias)
        return placed

    def cache(self, _: object) -> tuple[Tensor, ...]:
        """What a layer keeps of keys and values; one place is used for all layers."""
        return (self.cached,)

    def run(self, w: Mapping[str, Tensor]) -> None:
        """The launches of one layer; ``x`` is what it makes of ``x``."""
        torch, s = self._torch, self.share
        self._product("qkv", self.x, self.hidden, w, self.of_qkv, self.qkv, self.squares)
        blocks = min(BLOCK_M, self.q.rows), math.gcd(BLOCK_N, self.q.rows)
        given = self.of_qkv, self.qkv, self.cached, s.heads, s.kv_heads
        norms = w.get("norms"), self.eps
        torch.launch("keys", attention.keys, *given, blocks[1], self.rope, *norms)
        torch.launch("attend", attention.attend, *given, self.attended, self.q, *blocks, self.rope, *norms)
        self._product("o", self.attended, self.q, w, self.y, self.hidden)
        self._sum()
        of = self._experts
        of._product("gate-up", of.x, of.hidden, w, of.f, of.ffn, of.squares, ("up", "gate"))
        of._product("down", of.f, of.ffn, w, of.y, of.hidden)
        self._sum()

    def _product(
        self,
        name: str,
        x: Tensor,
        given: Strips,
        w: Mapping[str, Tensor],
        out: Tensor,
        made: Strips,
        squares: Tensor | None = None,
        of: tuple[str, ...] = (),
    ) -> None:
        """The product with the weight of that name, or with that of ``of`` and its gate."""
        first, gate = (*of, "")[:2] if of else (name, "")
        scales = w.get(f"{first}_scale"), w.get(f"{gate}_scale")
        bias = w.get(f"{name}_bias")
        self._project(name, x, given, w[first], out, made, squares, w.get(gate), bias, scales)

    def _sum(self) -> None:
        if self._reduce is not None:
            self._reduce(self.y)
        self._add(self.y)

    def _add(self, y: Tensor | None) -> None:
        at_once = max(1, self._torch.scratch_bytes // (32 * self.hidden.width))
        self._torch.launch("add", prefill.add, self.x, y, self.squares, at_once)
