"""Layers whose weights are shared out over ranks, as in Megatron; forward only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kernbench.errors import UsageError
from kernbench.host.current import context_of
from kernbench.host.placement import distinct
from kernbench.host.tensor_parallel.kernels import embedding, linear
from kernbench.host.tensor_parallel.placing import bases, check_reachable, columns
from kernbench.host.tensor_parallel.regions import gather_from_region, reduce_from_region, scatter_to_region
from kernbench.host.tensor_parallel.state import get_tensor_model_parallel_group

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor


class _Layer:
    """Shared state of the layers: the group, the calling rank in it, and how many of ``n`` it has."""

    def __init__(self, dtype: str, torch: Context | None, name: str) -> None:
        torch = context_of(torch, name)
        self.group = get_tensor_model_parallel_group(torch=torch)
        self.rank = self.group.rank_of(torch.distributed.get_rank())
        self.dtype = dtype
        self.name = name
        self._torch = torch

    def _share(self, n: int, what: str) -> int:
        if n < 1 or n % self.group.size():
            raise UsageError(
                f"{self.name}: {what} is {n}, which {self.group.size()} ranks cannot share; make it a "
                "multiple"
            )
        return n // self.group.size()

    def _product(self, x: Tensor, weight: Tensor, bias: Tensor | None, out: int) -> Tensor:
        """``x @ weight + bias`` on the calling rank."""
        torch = self._torch
        if x.ndim != 2 or x.shape[1] != weight.shape[0] or x.dtype != self.dtype:
            raise UsageError(
                f"{self.name}: its input '{x.name}' is {x.dtype} {x.shape}; it takes {self.dtype} (batch, "
                f"{weight.shape[0]})"
            )
        check_reachable(self.name, x, torch)
        y = torch.empty(x.shape[0], out, dtype=self.dtype, dp=columns(torch, out), name=f"{self.name}.out")
        blocks = distinct(x.copy_of(None))
        if any(shard.shape[0] != x.shape[0] for shard in blocks):
            raise UsageError(f"{self.name}: rows of its input '{x.name}' are split; split columns, or none")
        holders = frozenset((shard.cube, shard.pe) for shard in y.shards)
        torch.launch(self.name, linear, bases(x), holders, x, weight, y, bias)
        return y


class ColumnParallelLinear(_Layer):
    """``y = x @ W + b`` with the columns of ``W`` shared out: rank r computes the r-th part of the outputs.

    Args:
        in_features: Columns of the input, which is the same on all ranks of the group.
        out_features: Columns of the output, a multiple of the number of ranks.
        bias: Whether there is a ``b``.
        gather_output: Give every rank the whole output; otherwise its own part of the columns.
        dtype: Element type of input, weights and output.
        torch: The run; in a rank it may be left out.
        name: Its name in errors and in the trace.

    ``weight`` is this rank's part, (in_features, out_features / ranks), and zero until it is loaded.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        gather_output: bool = False,
        *,
        dtype: str = "f16",
        torch: Context | None = None,
        name: str = "column_parallel",
    ) -> None:
        super().__init__(dtype, torch, name)
        torch = self._torch
        self.in_features, self.out_features = in_features, out_features
        self.gather_output = gather_output
        self._own = self._share(out_features, "out_features")
        dp = columns(torch, self._own)
        self.weight = torch.zeros(in_features, self._own, dtype=dtype, dp=dp, name=f"{name}.weight")
        self.bias = torch.zeros(1, self._own, dtype=dtype, dp=dp, name=f"{name}.bias") if bias else None

    def load(self, weight: ArrayLike, bias: ArrayLike | None = None) -> None:
        """Take this rank's part of the whole weight (in_features, out_features) and bias (out_features,)."""
        whole = _whole(self.name, "weight", weight, (self.in_features, self.out_features))
        begin = self.rank * self._own
        self.weight.write(whole[:, begin : begin + self._own])
        _load_bias(self, bias, self.out_features, slice(begin, begin + self._own))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` (batch, in_features), the same on all ranks, placed with ``tp.REPLICATED`` or by columns."""
        y = self._product(x, self.weight, self.bias, self._own)
        return gather_from_region(y, torch=self._torch) if self.gather_output else y

    __call__ = forward


class RowParallelLinear(_Layer):
    """``y = x @ W + b`` with the rows of ``W`` shared out: the ranks' partial products are added up.

    Args:
        in_features: Columns of the whole input, a multiple of the number of ranks.
        out_features: Columns of the output, which every rank gets whole.
        bias: Whether there is a ``b``. It enters the sum once, on the group's first rank.
        input_is_parallel: The input is this rank's part of the columns (the output of a column parallel
            layer); otherwise it is whole, and cut.
        dtype: Element type of input, weights and output.
        torch: The run; in a rank it may be left out.
        name: Its name in errors and in the trace.

    ``weight`` is this rank's part, (in_features / ranks, out_features), and zero until it is loaded.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        input_is_parallel: bool = True,
        *,
        dtype: str = "f16",
        torch: Context | None = None,
        name: str = "row_parallel",
    ) -> None:
        super().__init__(dtype, torch, name)
        torch = self._torch
        self.in_features, self.out_features = in_features, out_features
        self.input_is_parallel = input_is_parallel
        self._own = self._share(in_features, "in_features")
        dp = columns(torch, out_features)
        self.weight = torch.zeros(self._own, out_features, dtype=dtype, dp=dp, name=f"{name}.weight")
        first = bias and self.rank == 0
        self.bias = torch.zeros(1, out_features, dtype=dtype, dp=dp, name=f"{name}.bias") if first else None
        self._has_bias = bias

    def load(self, weight: ArrayLike, bias: ArrayLike | None = None) -> None:
        """Take this rank's part of the whole weight (in_features, out_features) and bias (out_features,)."""
        whole = _whole(self.name, "weight", weight, (self.in_features, self.out_features))
        self.weight.write(whole[self.rank * self._own : (self.rank + 1) * self._own])
        if self.bias is not None or not self._has_bias:
            _load_bias(self, bias, self.out_features, slice(None))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` (batch, in_features / ranks), or whole where the input is not parallel."""
        part = x if self.input_is_parallel else scatter_to_region(x, torch=self._torch)
        y = self._product(part, self.weight, self.bias, self.out_features)
        return reduce_from_region(y, torch=self._torch)

    __call__ = forward


class VocabParallelEmbedding(_Layer):
    """Rows of a table by number, with the rows shared out over the ranks.

    Args:
        num_embeddings: Rows of the table, a multiple of the number of ranks.
        embedding_dim: Its columns.
        dtype: Element type of the table and of the output.
        torch: The run; in a rank it may be left out.
        name: Its name in errors and in the trace.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        dtype: str = "f16",
        torch: Context | None = None,
        name: str = "vocab_parallel",
    ) -> None:
        super().__init__(dtype, torch, name)
        torch = self._torch
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self._own = self._share(num_embeddings, "num_embeddings")
        self._dp = columns(torch, embedding_dim)
        self.weight = torch.zeros(self._own, embedding_dim, dtype=dtype, dp=self._dp, name=f"{name}.weight")

    def load(self, weight: ArrayLike) -> None:
        """Take this rank's part of the whole table (num_embeddings, embedding_dim)."""
        whole = _whole(self.name, "weight", weight, (self.num_embeddings, self.embedding_dim))
        self.weight.write(whole[self.rank * self._own : (self.rank + 1) * self._own])

    def forward(self, ids: Tensor) -> Tensor:
        """The rows of ``ids`` (n,), i32, placed with ``tp.REPLICATED``; (n, embedding_dim) on every rank.

        A number past the table fails the launch.
        """
        torch = self._torch
        if ids.ndim != 1 or ids.dtype != "i32":
            raise UsageError(
                f"{self.name}: its input '{ids.name}' is {ids.dtype} {ids.shape}; it takes i32 (n,)"
            )
        check_reachable(self.name, ids, torch)
        y = torch.empty(len(ids), self.embedding_dim, dtype=self.dtype, dp=self._dp, name=f"{self.name}.out")
        holders = frozenset((shard.cube, shard.pe) for shard in y.shards)
        first, rows = self.rank * self._own, self.num_embeddings
        torch.launch(self.name, embedding, holders, first, rows, ids, self.weight, y)
        return reduce_from_region(y, torch=torch)

    __call__ = forward


def _whole(name: str, what: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.asarray(values)
    if array.shape != shape:
        raise UsageError(f"{name}.load: {what} has shape {array.shape}; give the whole of {shape}")
    return array


def _load_bias(
    layer: ColumnParallelLinear | RowParallelLinear, bias: ArrayLike | None, features: int, part: slice
) -> None:
    if bias is None:
        return
    if layer.bias is None:
        raise UsageError(f"{layer.name}.load: the layer has no bias; make it with bias=True")
    layer.bias.write(_whole(layer.name, "bias", bias, (features,))[None, part])
