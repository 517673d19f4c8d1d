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
        self._rows = min(64, max(16, _power(tokens)))

        def made(name: str, columns: int, dtype: str = "f16") -> Tensor:
            return torch.empty(*_spread(tokens, columns), dtype=dtype, dp=BY_ROWS, name=name)

        self.x, self.y, self.normed = (made(name, s.hidden) for name in ("x", "y", "normed"))
        self.qkv, self.attended = made("qkv", self._width), made("attended", s.heads * s.head_dim)
        self.f = made("f", s.ffn)
        self._splits, self._part = 1, self._keys
        if self._decode:
            self._splits, self._part = self._shared(tokens * s.kv_heads, self._keys, BLOCK_N)
        products = (self._width, s.hidden), (s.hidden, s.heads * s.head_dim), (s.hidden, s.ffn)
        parts = [(self._grid(*one)[0][2], one[0]) for one in products]
        parts.append((self._splits, s.heads * s.head_dim))
        wide = max(count * columns if count > 1 else 1 for count, columns in parts)
        self.parts = made("parts", wide, "f32")
        self.sums = made("sums", s.heads * self._splits, "f32")

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
        self._norm(self.x)
        self._linear("qkv", self.normed, w["qkv"], self.qkv, w["bias"], biased=self._bias)
        caches = w["keys"], w["values"]
        heads: Constants = {"HEADS": s.heads, "KV": s.kv_heads, "DECODE": self._decode}
        grid = (self.tokens, s.heads + 2 * s.kv_heads)
        place = self._keys, self._keys - 1, self._slope
        self._launch("keys", kernels.place[grid], self.qkv, *caches, *place, HALF=s.head_dim // 2, **heads)
        rows = max(16, _power(s.group)) if self._decode else self._rows
        splits: Constants = {"SPLITS": self._splits, "D": s.head_dim}
        grid = (
            (self._splits, self.tokens * s.kv_heads) if self._decode else (-(-self.tokens // rows), s.heads)
        )
        out = self.parts if self._splits > 1 else self.attended
        given = self.qkv, *caches, out, self.sums, self._keys, self._part, s.head_dim**-0.5
        self._launch("attend", kernels.attend[grid], *given, **heads, **splits, BM=rows, BN=BLOCK_N)
        if self._splits > 1:
            parts = self.parts, self.sums, self.attended
            grid = (self.tokens * s.heads, 1)
            self._launch("merge", kernels.merge[grid], *parts, **splits, WIDE=_power(self._splits))
        self._linear("o", self.attended, w["o"], self.y, w["bias"])
        if self._reduce is not None:
            self._reduce(self.y)
        self._norm(self.y)
        k, n = w["up"].shape
        (columns, rows, _), _ = self._grid(n, k)
        operands = self.normed, w["gate"], w["up"], self.f
        sizes = self.tokens, n, k
        self._launch("gate-up", kernels.gated[(columns, rows)], *operands, *sizes, **self._blocks())
        self._linear("down", self.f, w["down"], self.y, w["bias"])
        if self._reduce is not None:
            self._reduce(self.y)
        size = self.tokens * s.hidden
        self._launch("add", kernels.add[(-(-size // BLOCK),)], self.x, self.y, size, BLOCK=BLOCK)

    def _shared(self, programs: int, length: int, block: int) -> tuple[int, int]:
        """How many programs share each of ``programs`` sums over ``length``, and how much of it each has.

        As many as there are PEs for, with two blocks each at least: as many as are in flight at once.
        """
        blocks = -(-length // block)
        each = -(-blocks // max(1, min(self.share.workers // programs, blocks // 2)))
        return -(-blocks // each), each * block

    def _grid(self, n: int, k: int) -> tuple[tuple[int, int, int], int]:
        """Programs over columns, rows and parts of the sums of a product, and how much of a sum is a part."""
        columns, rows = -(-n // BLOCK_N), -(-self.tokens // self._rows)
        parts, part = self._shared(columns * rows, k, BLOCK_K)
        return (columns, rows, parts), part

    def _blocks(self) -> Constants:
        return {"BM": self._rows, "BN": BLOCK_N, "BK": BLOCK_K}

    def _norm(self, y: Tensor) -> None:
        """Of x; ``y`` is added before unless it is x itself."""
        hidden = self.share.hidden
        given = self.x, y, self.normed, hidden, self.eps
        self._launch("norm", kernels.norm[(self.tokens,)], *given, ADD=y is not self.x, BLOCK=_power(hidden))

    def _linear(
        self, name: str, x: Tensor, w: Tensor, out: Tensor, bias: Tensor, biased: bool = False
    ) -> None:
        k, n = w.shape
        grid, part = self._grid(n, k)
        splits = grid[2]
        to = self.parts if splits > 1 else out
        given = x, w, bias, to, self.tokens, n, k, part
        self._launch(name, kernels.linear[grid], *given, BIAS=biased and splits == 1, **self._blocks())
        if splits > 1:
            size, wide = self.tokens * n, _power(splits)
            block = max(1, BLOCK // wide)
            options: Constants = {"SPLITS": splits, "BIAS": biased, "WIDE": wide, "BLOCK": block}
            total = kernels.total[(-(-size // block),)]
            self._launch(f"{name}-sum", total, self.parts, bias, out, size, n, **options)

    def _launch(self, name: str, kernel: Any, *args: object, **constants: Any) -> None:
        """Launches follow each other as in a stream of a GPU: a grid may run on some of the PEs alone."""
        self._torch.launch(name, kernel, *args, **constants)
        if self.share.workers > 1:
            self._torch.wait_all()


def _power(n: int) -> int:
    """The power of two that is not below ``n``."""
    return 1 << (n - 1).bit_length()


def _spread(rows: int, columns: int) -> tuple[int, int]:
    """A shape of as many elements in the same order, whose rows are dealt to all PEs."""
    width = math.gcd(columns, BLOCK_N)
    return rows * columns // width, width
