"""A decode step on one package: its tensors, and the launches of a layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from kernbench.errors import UsageError
from kernbench.workloads.models import decode
from kernbench.workloads.models.layout import (
    BY_COLUMNS,
    BY_ROWS,
    IN_EACH_CUBE,
    Array,
    ColumnSplit,
    Keys,
    Share,
    blocks,
    filled,
    padded,
    tile_bytes,
)
from kernbench.workloads.models.quantized import CACHES

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor
    from kernbench.workloads.models.config import Model

BLOCK = 256
"""Keys of a block in TCM."""
STAGES = 16
"""Turns of a loop over blocks of keys at most: as many loads cover a memory's latency."""


def buffer_bytes(torch: Context) -> int:
    """Bytes of buffers for tiles of composites, on the PE that has fewest."""
    return min(int(node.properties["scheduler_reserved_bytes"]) for node in torch.graph.nodes("PeTcm"))


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of a layer and its cache, as they lie on one package."""

    weights: Mapping[str, Tensor]
    keys: Tensor
    values: Tensor
    biases: tuple[Tensor, ...] = ()
    """Biases of q, k and v."""
    o_bias: tuple[Tensor, ...] = ()
    scales: Mapping[str, Tensor] = field(default_factory=dict)
    """Of weights that are not f16."""
    norms: Tensor | None = None
    """What heads of q and of k are multiplied with where they are normed, on each PE."""


class DecodeStep:
    """One token of each of ``batch`` sequences passes layer after layer on the calling rank's package.

    Args:
        torch: The run.
        share: What this package has of the model.
        model: Its norms, rotary embedding and biases.
        batch: Sequences.
        kv: Keys of each, the new token's among them; 0: there is the perceptron alone.
        reduce: Adds a tensor up over the packages; None where there is one.
    """

    def __init__(
        self,
        torch: Context,
        share: Share,
        model: Model,
        batch: int,
        kv: int,
        reduce: Callable[[Tensor], object] | None = None,
    ) -> None:
        self._torch, self.share, self.m, self.eps, self._reduce = torch, share, batch, model.eps, reduce
        self.rope, self._bias, self._o_bias = model.rope, model.bias, model.o_bias
        self._kind, self._cache, self._norms = model.weights, CACHES[model.cache], model.qk_norm
        self.keys = Keys(batch * share.kv_heads, max(1, kv), share.workers)
        s, m = share, batch
        widths = (s.of_q.width, s.of_kv.width, s.of_hidden.width, s.of_ffn.width)
        tile = max(tile_bytes(width, s.hidden, m) for width in widths)
        self._loads = tile > buffer_bytes(torch) or not self._kind.plain
        if any(width % self._kind.packed for width in widths):
            raise UsageError(
                f"bench 'llama-decoder': columns of 4 bits on a PE have to be even, not {widths}"
            )
        self._room = torch.scratch_bytes // (8 if self._loads else 4)
        each = model.routed(batch)[1] if kv else batch
        self._experts = self if each == batch else DecodeStep(torch, share, model, each, 0)

        def by_columns(name: str, of: ColumnSplit, dtype: str = "f16") -> Tensor:
            return torch.empty(m, of.width * s.workers, dtype=dtype, dp=BY_COLUMNS, name=name)

        def in_each_cube(name: str, of: ColumnSplit) -> Tensor:
            return torch.empty(m * s.workers, of.width, dp=IN_EACH_CUBE, name=name)

        def partial(name: str, width: int) -> Tensor | None:
            if self.keys.parts == 1:
                return None
            return torch.empty(s.workers, width, dtype="f32", dp=BY_ROWS, name=name)

        self.x = in_each_cube("x", s.of_hidden)
        self.squares = torch.empty(s.pes, m, dtype="f32", dp=IN_EACH_CUBE, name="squares")
        if kv:
            self.q, self.k, self.v = (
                by_columns(name, of, "f32") for name, of in (("q", s.of_q), ("k", s.of_kv), ("v", s.of_kv))
            )
            self.attended, self.all_attended = (
                by_columns("attended", s.of_q),
                in_each_cube("all_attended", s.of_q),
            )
            self.partial = [partial("sums", s.span), partial("highest", s.group), partial("totals", s.group)]
        self.y, self.sums = by_columns("y", s.of_hidden), by_columns("partial_y", s.of_hidden, "f32")
        if self._experts is self:
            self.gate, self.up = by_columns("gate", s.of_ffn, "f32"), by_columns("up", s.of_ffn, "f32")
            self.f, self.all_f = by_columns("f", s.of_ffn), in_each_cube("all_f", s.of_ffn)

    def laid(self, x: Array) -> Array:
        """Vectors of the tokens, (batch, hidden), as ``x`` keeps them."""
        return blocks(x, self.share.of_hidden.width, self.share.workers)

    def start(self, x: Array | None = None) -> None:
        """The tokens' vectors, (batch, hidden), before the first layer."""
        if x is not None:
            self.x.write(self.laid(x))
        self._add(None)

    def layer(
        self, number: int, weights: Mapping[str, Array] | None = None, cache: Array | None = None
    ) -> Layer:
        """Make a layer's tensors, with values where they are given: this package's share of each."""
        torch, s = self._torch, self.share
        rows = {"o": s.of_q, "down": s.of_ffn}
        columns = {"q": s.of_q, "k": s.of_kv, "v": s.of_kv, "gate": s.of_ffn, "up": s.of_ffn}
        kind, placed, scales = self._kind, {}, {}
        for name in ("q", "k", "v", "o", "gate", "up", "down"):
            width = columns.get(name, s.of_hidden).width
            deep, wide = s.workers * rows.get(name, s.of_hidden).width, s.workers * width
            given = None if weights is None else kind.laid(padded(weights[name], deep, wide), width)
            called, shape = f"w_{name}{number}", (deep, wide // kind.packed)
            placed[name] = filled(torch, called, shape, BY_COLUMNS, given, kind.dtype)
            if not kind.plain:
                shape = (kind.groups(deep), wide)
                given = None if weights is None else padded(weights[f"{name}_scale"], *shape)
                scales[name] = filled(torch, f"{called}_scale", shape, BY_COLUMNS, given)
        norms = None
        if self._norms:
            rows_of = None if weights is None else np.tile(weights["qk_norm"], (s.workers, 1))
            norms = filled(torch, f"norms{number}", (2 * s.workers, s.head_dim), BY_ROWS, rows_of)
        both = []
        order = self.keys.rows()
        for i, name in enumerate(("keys", "values")):
            values = None
            if cache is not None:
                whole = cache[i].transpose(1, 0, 2, 3).reshape(-1, s.head_dim)
                values = np.where(order[:, None] >= 0, whole[order], 0).astype(whole.dtype)
            shape = (len(order), s.head_dim)
            both.append(filled(torch, f"{name}{number}", shape, BY_ROWS, values, self._cache))

        def bias(name: str) -> Tensor:
            row = (1, s.workers * columns.get(name, s.of_hidden).width)
            given = None if weights is None else padded(weights[f"{name}_bias"][None], *row)
            return filled(torch, f"b_{name}{number}", row, BY_COLUMNS, given)

        biases = tuple(bias(name) for name in ("q", "k", "v") if self._bias)
        o_bias = (bias("o"),) if self._o_bias else ()
        return Layer(placed, both[0], both[1], biases, o_bias, scales, norms)

    def cache(self, layer: Layer) -> tuple[Tensor, ...]:
        """What a layer keeps of keys and values."""
        return layer.keys, layer.values

    def run(self, layer: Layer) -> None:
        """The launches of one layer; ``x`` is what it makes of ``x``."""
        torch, s, keys = self._torch, self.share, self.keys
        normed = (self.squares, s.hidden)
        qkv = {"q": self.q, "k": self.k, "v": self.v}
        self._project("qkv", self.x, s.of_hidden, normed, layer, qkv, layer.biases)
        split = (s.group, keys.units, keys.parts)
        results = (self.attended, *self.partial, layer.norms)
        quarter = torch.scratch_bytes // 4
        some = max(1, quarter // (24 * (s.span + s.head_dim)))  # tokens' q, k and v, and their halves turned
        stages = min(STAGES, max(2, quarter // (8 * BLOCK * s.head_dim)))  # keys and values, as f16 too
        sizes = (self.m, *split, keys.keys, keys.chunk, keys.units_each, BLOCK, some, stages)
        given = (*qkv.values(), layer.keys, layer.values, *results, *sizes, self.rope, self.eps)
        torch.launch("attend", decode.attend, *given)
        if keys.parts > 1:
            room = torch.scratch_bytes - 16 * s.span  # beside the results
            at_once = max(1, room * 3 // (32 * s.span))  # of sums, and of these times their weights
            torch.launch("combine", decode.combine, *self.partial, self.attended, self.m, *split, at_once)
        self._output("o", self.attended, self.all_attended, s.of_q, layer, layer.o_bias)
        self._sum()
        self._experts._perceptron(layer)
        self._sum()

    def _perceptron(self, layer: Layer) -> None:
        """Gate, up, silu and down: ``y`` of ``x``; of experts each has as many tokens."""
        s, normed = self.share, (self.squares, self.share.hidden)
        self._project("gate-up", self.x, s.of_hidden, normed, layer, {"gate": self.gate, "up": self.up})
        rows = max(1, self._torch.scratch_bytes // (32 * s.of_ffn.width))
        self._torch.launch("silu", decode.gated, self.gate, self.up, self.f, rows)
        self._output("down", self.f, self.all_f, s.of_ffn, layer)

    def _at_once(self, of: ColumnSplit) -> int:
        """Blocks of an activation for which there is room in TCM."""
        return max(1, self._room // (self.m * of.width * 2))

    def _pieces(self, of: ColumnSplit, weights: list[Tensor]) -> tuple[int, int]:
        """Bytes of a block of weights and its width, for which there is room; 0, 0: composites stream them.

        In TCM are x, its turned copy and a part of it; sums of each weight, those of a block, and both added
        up; and a block in use, one under way and gaps, and of weights that are not f16 what is made of them.
        """
        if not self._loads:
            return 0, 0
        packed = self._kind.packed
        scratch, a_column = self._torch.scratch_bytes, (len(weights) + 2) * self.m * 4 * packed
        left = scratch - 3 * min(self._at_once(of), of.count) * self.m * of.width * 2
        widest = max(w.shape[1] for w in weights) // self.share.workers
        wide = max(1, min(widest, left // 4 // a_column))
        copies = 3 if self._kind.plain else 3 + 5 * packed
        return max(2, min(scratch // 4, (left - wide * a_column) // copies)), wide

    def _output(
        self,
        name: str,
        x: Tensor,
        copy: Tensor,
        of: ColumnSplit,
        layer: Layer,
        biases: tuple[Tensor, ...] = (),
    ) -> None:
        """Product with a weight whose rows are shared out."""
        if self.share.cubes > 1:
            self._torch.launch(f"{name}-in", decode.spread, x, copy, self.m, of.count, self._at_once(of))
            x = copy
        self._project(name, x, of, None, layer, {name: self.y}, biases)

    def _sum(self) -> None:
        """Add ``y`` up over packages and to the residual."""
        if self._reduce is not None:
            self._reduce(self.y)
        self._add(self.y)

    def _add(self, y: Tensor | None) -> None:
        at_once = max(1, self._at_once(self.share.of_hidden) // 4)
        some = min(self.m, max(1, self._room // 4 // (2 * self.share.of_hidden.width)))
        self._torch.launch("add", decode.add, self.x, y, self.squares, self.m, at_once, some)

    def _project(
        self,
        name: str,
        x: Tensor,
        of: ColumnSplit,
        normed: tuple[Tensor, int] | None,
        layer: Layer,
        outs: Mapping[str, Tensor],
        biases: tuple[Tensor, ...] = (),
    ) -> None:
        squares, size = normed or (None, 1)
        sums = self.sums if self.y in outs.values() else None
        weights = [layer.weights[each] for each in outs]
        scales = [layer.scales[each] for each in outs if layer.scales]
        sizes = (self.m, self._at_once(of), *self._pieces(of, weights), size, self.eps)
        products = zip_longest(weights, outs.values(), biases, scales)
        given = (x, of.width, of.count, squares, *sizes, sums, self._kind.group, *chain(*products))
        self._torch.launch(name, decode.project, *given)
