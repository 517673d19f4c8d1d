"""A decode step or a prefill on one package by kernels of Triton: its tensors, and a layer's launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.workloads.models import triton_kernels as kernels
from kernbench.workloads.models.layout import BY_ROWS, Array, Share, filled
from kernbench.workloads.models.quantized import CACHES, PLAIN
from kernbench.workloads.models.tiles import DEPTH, WIDTH, Tiles, height, power, shared, warps

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor
    from kernbench.workloads.models.config import Model

BLOCK = 1024
"""Elements of a block of a sum."""
WEIGHTS = ("qkv", "o", "gate", "up", "down")
"""What of a layer may have 8 or 4 bits."""
Constants = dict[str, Any]
"""Arguments of a kernel by name."""


class TritonStep:
    """As :class:`kernbench.workloads.models.step.DecodeStep` with ``kv`` keys, else as ``PrefillStep``.

    ``routed``: experts take their share of the tokens, by a step of so many.
    """

    def __init__(
        self,
        torch: Context,
        share: Share,
        model: Model,
        tokens: int,
        kv: int,
        reduce: Callable[[Tensor], object] | None = None,
        routed: bool = True,
    ) -> None:
        s = self.share = share
        if s.head_dim & (s.head_dim - 1):
            raise UsageError(
                "bench 'llama-decoder': kernels=triton takes heads as wide as a power of two, "
                f"not {s.head_dim}"
            )
        self._torch, self.tokens, self._reduce = torch, tokens, reduce
        self.eps, self._bias, self._o_bias = model.eps, model.bias, model.o_bias
        self._kind, self._cache, self._norms = model.weights, CACHES[model.cache], model.qk_norm
        if self._kind.group % DEPTH or (self._kind.packed > 1 and (s.hidden % 2 or s.ffn % 2)):
            raise UsageError(
                f"bench 'llama-decoder': kernels=triton takes scales of {DEPTH} rows or a multiple, not "
                f"{self._kind.group}, and of 4 bits an even number of columns"
            )
        each = model.routed(tokens)[1] if routed else tokens
        self._experts = self if each == tokens else TritonStep(torch, share, model, each, kv, routed=False)
        self._decode, self._keys = bool(kv), kv or tokens
        self._slope = -2 * math.log2(model.rope) / s.head_dim
        self._width = (s.heads + 2 * s.kv_heads) * s.head_dim

        def made(name: str, columns: int, dtype: str = "f16") -> Tensor:
            return torch.empty(*_spread(tokens, columns), dtype=dtype, dp=BY_ROWS, name=name)

        self.x, self.y, self.normed = (made(name, s.hidden) for name in ("x", "y", "normed"))
        self.qkv, self.attended = made("qkv", self._width), made("attended", s.heads * s.head_dim)
        self.f = made("f", s.ffn)
        self._splits, self._part = 1, self._keys
        if self._decode:
            self._splits, self._part = shared(tokens * s.kv_heads, self._keys, WIDTH, s.workers)
        products = (self._width, s.hidden), (s.hidden, s.heads * s.head_dim), (s.hidden, s.ffn)
        parts = [(self._tiles(*one).grid[2], one[0]) for one in products]
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
        if self._norms:
            shapes["norms"] = (2, s.head_dim)
        shapes |= {"o_bias": _spread(1, s.hidden)} if self._o_bias else {}
        placed = {}
        for name, shape in shapes.items():
            called = f"w_{name}{number}"
            parts = {"qkv": ("q", "k", "v"), "bias": ("q_bias", "k_bias", "v_bias")}.get(name, (name,))
            parts = ("qk_norm",) if name == "norms" else parts
            given = None if weights is None or (name == "bias" and not self._bias) else weights

            def values(what: str = "", of: Any = given, parts: tuple[str, ...] = parts) -> Any:
                return None if of is None else np.concatenate([of[one + what] for one in parts], axis=-1)

            kind, found = self._kind if name in WEIGHTS else PLAIN, values()
            if found is not None:
                found = kind.laid(found.reshape(shape), 2)
            size = shape[0], shape[1] // kind.packed
            placed[name] = filled(torch, called, size, BY_ROWS, found, kind.dtype)
            if not kind.plain:
                size = kind.groups(shape[0]), shape[1]
                placed[f"{name}_scale"] = filled(torch, f"{called}_scale", size, BY_ROWS, values("_scale"))
        sequences = self.tokens if self._decode else 1
        shape = (sequences * s.kv_heads * self._keys, s.head_dim)
        for i, name in enumerate(("keys", "values")):
            own = None if cache is None or not self._decode else cache[i].reshape(shape)
            placed[name] = filled(torch, f"{name}{number}", shape, BY_ROWS, own, self._cache)
        return placed

    def cache(self, w: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """What a layer keeps of keys and values."""
        return w["keys"], w["values"]

    def run(self, w: Mapping[str, Tensor]) -> None:
        """The launches of one layer; ``x`` is what it makes of ``x``."""
        for part in self.steps(w).values():
            part()

    def steps(self, w: Mapping[str, Tensor]) -> dict[str, Callable[[], object]]:
        """The parts of a layer, in order, by name."""
        return {
            "rmsnorm": lambda: self._norm(self.x),
            "qkv": lambda: self._linear("qkv", self.normed, w, self.qkv, w["bias"], biased=self._bias),
            "keys": lambda: self._place(w["keys"], w["values"], w.get("norms", w["bias"])),
            "attention": lambda: self._attend(w["keys"], w["values"]),
            "o": lambda: self._linear(
                "o", self.attended, w, self.y, w["o_bias" if self._o_bias else "bias"], self._o_bias
            ),
            "o reduced": self._reduced,
            "rmsnorm of the sum": lambda: self._norm(self.y),
            "gate_up": lambda: self._experts._gated(w),
            "down": lambda: self._experts._linear("down", self._experts.f, w, self._experts.y, w["bias"]),
            "down reduced": self._reduced,
            "sum": self._add,
        }

    def _place(self, *given_to: Tensor) -> None:
        s = self.share
        grid = (self.tokens, s.heads + 2 * s.kv_heads)
        given = self.qkv, *given_to, self._keys, self._keys - 1, self._slope, self.eps
        more: Constants = {"HALF": s.head_dim // 2, "NORM": self._norms, **self._heads()}
        self._launch("keys", kernels.place[grid], *given, **more)

    def _attend(self, *caches: Tensor) -> None:
        s, splits = self.share, self._splits
        if self._decode:
            rows = max(16, power(s.group))
            grid = (splits, self.tokens * s.kv_heads)
        else:
            rows = height(self.tokens, s.heads, s.workers)
            grid = (-(-self.tokens // rows), s.heads)
        both: Constants = {"SPLITS": splits, "D": s.head_dim}
        out = self.parts if splits > 1 else self.attended
        given = self.qkv, *caches, out, self.sums, self._keys, self._part, s.head_dim**-0.5
        blocks: Constants = {"BM": rows, "BN": WIDTH, "num_warps": warps(rows)}
        self._launch("attend", kernels.attend[grid], *given, **self._heads(), **both, **blocks)
        if splits > 1:
            merge = kernels.merge[(self.tokens * s.heads,)]
            self._launch("merge", merge, self.parts, self.sums, self.attended, **both, WIDE=power(splits))

    def _gated(self, w: Mapping[str, Tensor]) -> None:
        n, k = self.share.ffn, self.share.hidden
        tiles = self._tiles(n, k)
        weights = [one for name in ("gate", "up") for one in (w[name], w.get(f"{name}_scale", w[name]))]
        given = self.normed, *weights, self.f, self.tokens, n, k
        self._launch("gate-up", kernels.gated[tiles.grid[:2]], *given, **tiles.blocks, **self._scales())

    def _scales(self) -> Constants:
        kind = self._kind
        four, whole = kind.packed > 1, not kind.plain and not kind.group
        return {"SCALED": whole, "GROUP_ROWS": kind.group, "FOUR": four}

    def _reduced(self) -> None:
        if self._reduce is not None:
            self._reduce(self.y)

    def _add(self) -> None:
        size = self.tokens * self.share.hidden
        self._launch("add", kernels.add[(-(-size // BLOCK),)], self.x, self.y, size, BLOCK=BLOCK)

    def _tiles(self, n: int, k: int) -> Tiles:
        return Tiles.of(self.tokens, n, k, self.share.workers)

    def _heads(self) -> Constants:
        return {"HEADS": self.share.heads, "KV": self.share.kv_heads, "DECODE": self._decode}

    def _norm(self, y: Tensor) -> None:
        """Of x; ``y`` is added before unless it is x itself."""
        hidden = self.share.hidden
        given = self.x, y, self.normed, hidden, self.eps
        self._launch("norm", kernels.norm[(self.tokens,)], *given, ADD=y is not self.x, BLOCK=power(hidden))

    def _linear(
        self, name: str, x: Tensor, w: Mapping[str, Tensor], out: Tensor, bias: Tensor, biased: bool = False
    ) -> None:
        k, n = w[name].shape[0], w[name].shape[1] * self._kind.packed
        tiles = self._tiles(n, k)
        splits = tiles.grid[2]
        to = self.parts if splits > 1 else out
        given = x, w[name], w.get(f"{name}_scale", w[name]), bias, to, self.tokens, n, k, tiles.part
        blocks: Constants = {**tiles.blocks, **self._scales(), "BIAS": biased and splits == 1}
        self._launch(name, kernels.linear[tiles.grid], *given, **blocks)
        if splits > 1:
            size, wide = self.tokens * n, power(splits)
            block = max(1, BLOCK // wide)
            options: Constants = {"SPLITS": splits, "BIAS": biased, "WIDE": wide, "BLOCK": block}
            total = kernels.total[(-(-size // block),)]
            self._launch(f"{name}-sum", total, self.parts, bias, out, size, n, **options)

    def _launch(self, name: str, kernel: Any, *args: object, **constants: Any) -> None:
        """Each waits for the one before at the host, 0.5 us: about what lies between two on an H100."""
        self._torch.launch(name, kernel, *args, **constants)
        if self.share.workers > 1:
            self._torch.wait_all()


def _spread(rows: int, columns: int) -> tuple[int, int]:
    """A shape of as many elements in the same order, whose rows are dealt to all PEs."""
    width = math.gcd(columns, WIDTH)
    return rows * columns // width, width
