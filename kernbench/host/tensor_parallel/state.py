"""Which ranks share the layers of a model: groups for tensor parallelism."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kernbench.errors import CollectiveError, UsageError
from kernbench.host.collectives import ProcessGroup
from kernbench.host.current import context_of

if TYPE_CHECKING:
    from kernbench.host import Context

_groups: WeakKeyDictionary[Context, dict[int, ProcessGroup]] = WeakKeyDictionary()
"""By context and rank, the group of ranks that share the layers."""


def initialize_model_parallel(tensor_model_parallel_size: int, *, torch: Context | None = None) -> None:
    """Divide the ranks into groups of so many neighbouring ones, each of which shares one copy of the layers.

    Every rank calls this after ``init_process_group``; in a rank ``torch`` may be left out. Ranks of
    different groups are replicas: they compute the same layers on data of their own.

    Raises:
        UsageError: The number of ranks is not a multiple of the size.
        CollectiveError: ``init_process_group`` was not called.
    """
    torch = context_of(torch, "initialize_model_parallel")
    world = torch.distributed.get_world_size()
    size = tensor_model_parallel_size
    if isinstance(size, bool) or not isinstance(size, int) or size < 1 or world % size:
        raise UsageError(
            f"initialize_model_parallel({size!r}): {world} ranks cannot be divided into groups of so many"
        )
    me = torch.distributed.get_rank()
    for first in range(0, world, size):
        group = torch.distributed.new_group(range(first, first + size))
        if me in group.ranks:
            _groups.setdefault(torch, {})[me] = group


def get_tensor_model_parallel_group(*, torch: Context | None = None) -> ProcessGroup:
    """The ranks that share the calling rank's layers.

    Raises:
        CollectiveError: :func:`initialize_model_parallel` was not called on this rank.
    """
    torch = context_of(torch, "parallel layers")
    group = _groups.get(torch, {}).get(torch.distributed.get_rank())
    if group is None:
        raise CollectiveError("parallel layers: call initialize_model_parallel(size) first")
    return group


def get_tensor_model_parallel_world_size(*, torch: Context | None = None) -> int:
    """Number of ranks that share the calling rank's layers."""
    return get_tensor_model_parallel_group(torch=torch).size()


def get_tensor_model_parallel_rank(*, torch: Context | None = None) -> int:
    """The calling rank's number among them."""
    torch = context_of(torch, "get_tensor_model_parallel_rank")
    return get_tensor_model_parallel_group(torch=torch).rank_of(torch.distributed.get_rank())
