"""The four functions with which activations enter and leave the parallel parts of a model; forward only.

In a rank ``torch`` may be left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.errors import UsageError
from kernbench.host.current import context_of
from kernbench.host.tensor_parallel.boxes import BoxCopy, copy_parts
from kernbench.host.tensor_parallel.placing import check_reachable, columns
from kernbench.host.tensor_parallel.state import get_tensor_model_parallel_group

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor


def copy_to_region(x: Tensor, *, torch: Context | None = None) -> Tensor:
    """``x`` itself, which is the same on all ranks. (Going backward, the gradients would be added up.)"""
    get_tensor_model_parallel_group(torch=torch)
    return x


def reduce_from_region(x: Tensor, *, torch: Context | None = None) -> Tensor:
    """``x`` added up over the ranks, in place."""
    torch = context_of(torch, "reduce_from_region")
    torch.distributed.all_reduce(x, group=get_tensor_model_parallel_group(torch=torch))
    return x


def scatter_to_region(x: Tensor, *, torch: Context | None = None) -> Tensor:
    """The calling rank's part of the columns of ``x`` (batch, features), which is the same on all ranks.

    Raises:
        UsageError: The ranks cannot share the columns, or ``x`` is not a matrix.
    """
    torch = context_of(torch, "scatter_to_region")
    group = get_tensor_model_parallel_group(torch=torch)
    rank, size = group.rank_of(torch.distributed.get_rank()), group.size()
    batch, features = _matrix("scatter_to_region", x)
    if features % size:
        raise UsageError(
            f"scatter_to_region: {size} ranks cannot share {features} columns; make it a multiple"
        )
    check_reachable("scatter_to_region", x, torch)
    own = features // size
    part = torch.empty(batch, own, dtype=x.dtype, dp=columns(torch, own), name=f"{x.name}.part")
    copy_parts(torch, "scatter_to_region", part, [BoxCopy(x, (0, rank * own), (0, 0), (batch, own))])
    return part


def gather_from_region(x: Tensor, *, torch: Context | None = None) -> Tensor:
    """The ranks' parts side by side: (batch, own features) of each gives (batch, all features) on all."""
    torch = context_of(torch, "gather_from_region")
    group = get_tensor_model_parallel_group(torch=torch)
    batch, own = _matrix("gather_from_region", x)
    check_reachable("gather_from_region", x, torch)
    features = own * group.size()
    parts = [
        torch.empty(batch, own, dtype=x.dtype, dp=columns(torch, own), name=f"{x.name}.{rank}")
        for rank in range(group.size())
    ]
    torch.distributed.all_gather(parts, x, group=group)
    whole = torch.empty(batch, features, dtype=x.dtype, dp=columns(torch, features), name=f"{x.name}.whole")
    wanted = [BoxCopy(part, (0, 0), (0, rank * own), (batch, own)) for rank, part in enumerate(parts)]
    copy_parts(torch, "gather_from_region", whole, wanted)
    return whole


def _matrix(what: str, x: Tensor) -> tuple[int, int]:
    if x.ndim != 2:
        raise UsageError(f"{what}: '{x.name}' has shape {x.shape}; it takes (batch, features)")
    return x.shape[0], x.shape[1]


# Megatron's names.
copy_to_tensor_model_parallel_region = copy_to_region
reduce_from_tensor_model_parallel_region = reduce_from_region
scatter_to_tensor_model_parallel_region = scatter_to_region
gather_from_tensor_model_parallel_region = gather_from_region
