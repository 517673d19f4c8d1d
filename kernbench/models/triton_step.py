"""A decode step or a prefill on one package by kernels of Triton: its tensors, and a layer's launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.models import triton_kernels as kernels
from kernbench.models.layout import BY_ROWS, Array, Share

if TYPE_CHECKING:
    from kernbench.models.config import Model
    from kernbench.runtime import Context, Tensor

BLOCK_N, BLOCK_K = 64, 64
"""Columns of a program's block, and rows of weights in it at once."""
BLOCK = 1024
"""Elements of a block of a sum."""
Constants = dict[str, Any]
"""Arguments of a kernel by name."""


class TritonStep:
    """As :class:`kernbench.models.step.DecodeStep` with ``kv`` keys, else as ``PrefillStep``."""

    def __init__(
        self,
        torch: Context,
        share: Share,
        model: Model,
        tokens: int,
        kv: int,
        reduce: Callable[[Tensor], object] | None = None,
    ) -> None:
        s = self.share = share
        if s.head_dim & (s.head_dim - 1):
            raise UsageError(
                "bench 'llama-decoder': kernels=triton takes heads as wide as a power of two, "
                f"not {s.head_dim}"
            )
        self._torch, self.tokens, self._reduce = torch, tokens, reduce
        self.eps, self._bias = model.eps, model.bias
        self._decode, self._keys = bool(kv), kv or tokens
        self._slope = -2 * math.log2(model.rope) / s.head_dim
        self._width = (s.heads + 2 * s.kv_heads) * s.head_dim
        self._rows = min(64, max(16, 1 << (tokens - 1).bit_length()))

        def made(name: str, columns: int) -> Tensor:
            return torch.empty(*_spread(tokens, columns), dp=BY_ROWS, name=name)

        self.x, self.y = made("x", s.hidden), made("y", s.hidden)
        self.qkv, self.attended = made("qkv", self._width), made("attended", s.heads * s.head_dim)
        self.f = made("f", s.ffn)

    def laid(self, x: Array) -> Array:
        """Vectors of the tokens as ``x`` keeps them."""
        return x.reshape(_spread(*x.shape))

    def start(self, x: Array | None = None) -> None:
        """The tokens' vectors, (tokens, hidden), before the first layer."""
        if x is not None:
            self.x.write(self.laid(x))

    def layer(
        self, number: int, weights: Mapping[str, Array] | None = None, cache: Array | None = None
    ) -> Mapping[str, Tensor]:
        """Make a layer's tensors, with values where they are given: this package's share of each."""
        s, torch = self.share, self._torch
        shapes = {"qkv": (s.hidden, self._width), "o": (s.heads * s.head_dim, s.hidden)}
        shapes |= {"gate": (s.hidden, s.ffn), "up": (s.hidden, s.ffn), "down": (s.ffn, s.hidden)}
        shapes["bias"] = _spread(1, self._width)
        placed = {}
        for name, shape in shapes.items():
            called = f"w_{name}{number}"
            if weights is None or (name == "bias" and not self._bias):
                placed[name] = torch.empty(*shape, dp=BY_ROWS, name=called)
                continue
            parts = {"qkv": ("q", "k", "v"), "bias": ("q_bias", "k_bias", "v_bias")}.get(name, (name,))
            values = np.concatenate([weights[part] for part in parts], axis=-1).reshape(shape)
            placed[name] = torch.from_numpy(values, dp=BY_ROWS, name=called)
        sequences = self.tokens if self._decode else 1
        shape = (sequences * s.kv_heads * self._keys, s.head_dim)
        for i, name in enumerate(("keys", "values")):
            if cache is None or not self._decode:
                placed[name] = torch.empty(*shape, dp=BY_ROWS, name=f"{name}{number}")
            else:
                placed[name] = torch.from_numpy(cache[i].reshape(shape), dp=BY_ROWS, name=f"{name}{number}")
        return placed

    def run(self, w: Mapping[str, Tensor]) -> None:
        """The launches of one layer; ``x`` is what it makes of ``x``."""
        s = self.share
        self._linear("qkv", self.x, w["qkv"], self.qkv, w["bias"], normed=True, biased=self._bias)
        caches = w["keys"], w["values"]
        split: Constants = {"HEADS": s.heads, "KV": s.kv_heads, "DECODE": self._decode}
        grid = (self.tokens, s.heads + 2 * s.kv_heads)
        place = self._keys, self._keys - 1, self._slope
        self._launch("keys", kernels.place[grid], self.qkv, *caches, *place, HALF=s.head_dim // 2, **split)
        rows = max(16, 1 << (s.group - 1).bit_length()) if self._decode else self._rows
        grid = (1, self.tokens * s.kv_heads) if self._decode else (-(-self.tokens // rows), s.heads)
        given = self.qkv, *caches, self.attended, self._keys, s.head_dim**-0.5
        blocks: Constants = {"D": s.head_dim, "BM": rows, "BN": BLOCK_N}
        self._launch("attend", kernels.attend[grid], *given, **split, **blocks)
        self._linear("o", self.attended, w["o"], self.y, w["bias"])
        self._sum()
        grid, sizes = self._grid(w["up"])
        operands = self.x, w["gate"], w["up"], self.f
        self._launch("gate-up", kernels.gated[grid], *operands, *sizes, self.eps, **self._blocks())
        self._linear("down", self.f, w["down"], self.y, w["bias"])
        self._sum()

    def _grid(self, w: Tensor) -> tuple[tuple[int, int], tuple[int, int, int]]:
        k, n = w.shape
        return (-(-n // BLOCK_N), -(-self.tokens // self._rows)), (self.tokens, n, k)

    def _blocks(self) -> Constants:
        return {"BM": self._rows, "BN": BLOCK_N, "BK": BLOCK_K}

    def _linear(
        self,
        name: str,
        x: Tensor,
        w: Tensor,
        out: Tensor,
        bias: Tensor,
        normed: bool = False,
        biased: bool = False,
    ) -> None:
        grid, sizes = self._grid(w)
        options: Constants = {"NORM": normed, "BIAS": biased, **self._blocks()}
        self._launch(name, kernels.linear[grid], x, w, bias, out, *sizes, self.eps, **options)

    def _launch(self, name: str, kernel: Any, *args: object, **constants: Any) -> None:
        """Launches follow each other as in a stream of a GPU: a grid may run on some of the PEs alone."""
        self._torch.launch(name, kernel, *args, **constants)
        if self.share.workers > 1:
            self._torch.wait_all()

    def _sum(self) -> None:
        if self._reduce is not None:
            self._reduce(self.y)
        size = self.tokens * self.share.hidden
        self._launch("add", kernels.add[(-(-size // BLOCK),)], self.x, self.y, size, BLOCK=BLOCK)


def _spread(rows: int, columns: int) -> tuple[int, int]:
    """A shape of as many elements in the same order, whose rows are dealt to all PEs."""
    width = math.gcd(columns, BLOCK_N)
    return rows * columns // width, width
