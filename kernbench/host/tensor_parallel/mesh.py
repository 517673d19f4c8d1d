"""Meshes of ranks and placements of tensors over them, as PyTorch's DTensor names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernbench.errors import UsageError
from kernbench.host.collectives import ProcessGroup
from kernbench.host.collectives.steps import OPS
from kernbench.support.hints import did_you_mean

if TYPE_CHECKING:
    from kernbench.host import Context


@dataclass(frozen=True, slots=True)
class Shard:
    """The ranks along a dimension of the mesh hold equal slices of dimension ``dim`` of the tensor."""

    dim: int


@dataclass(frozen=True, slots=True)
class Replicate:
    """The ranks along a dimension of the mesh hold the same."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The ranks along a dimension of the mesh hold contributions; reduced by ``reduce_op`` they are it."""

    reduce_op: str = "sum"

    def __post_init__(self) -> None:
        if self.reduce_op not in OPS:
            raise UsageError(f"Partial({self.reduce_op!r}): {did_you_mean(str(self.reduce_op), OPS)}")


Placement = Shard | Replicate | Partial


class DeviceMesh:
    """Ranks in a grid; every rank makes the same meshes in the same order.

    Args:
        torch: The run.
        mesh: Ranks as nested sequences, or the number of ranks from 0 on.
        mesh_dim_names: Names of the grid's dimensions.

    Raises:
        UsageError: A rank is named twice or does not exist, or the names do not fit.
    """

    def __init__(
        self,
        torch: Context,
        mesh: int | Sequence[object],
        *,
        mesh_dim_names: Sequence[str] | None = None,
    ) -> None:
        ranks = np.arange(mesh) if isinstance(mesh, int) else np.array(mesh)
        world = torch.distributed.get_world_size()
        if ranks.dtype.kind not in "iu" or not ranks.size:
            raise UsageError(
                f"DeviceMesh({mesh!r}): give ranks as nested sequences of one shape, or a number"
            )
        if len(set(ranks.flat)) < ranks.size or ranks.min() < 0 or ranks.max() >= world:
            raise UsageError(f"DeviceMesh({mesh!r}): give different ranks below the world size of {world}")
        if mesh_dim_names is not None and len(set(mesh_dim_names)) != ranks.ndim:
            raise UsageError(f"DeviceMesh: give {ranks.ndim} different mesh_dim_names, not {mesh_dim_names}")
        self.torch = torch
        self.mesh = ranks
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._rank = torch.distributed.get_rank()
        self._groups: list[ProcessGroup | None] = []
        for dim in range(ranks.ndim):
            mine = None
            for row in np.moveaxis(ranks, dim, -1).reshape(-1, ranks.shape[dim]).tolist():
                if row != sorted(row):
                    raise UsageError(f"DeviceMesh({mesh!r}): ranks must ascend along each dimension")
                group = torch.distributed.new_group(row)
                mine = group if self._rank in row else mine
            self._groups.append(mine)

    @property
    def shape(self) -> tuple[int, ...]:
        """Ranks along each dimension."""
        return self.mesh.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.mesh.ndim

    def size(self, mesh_dim: int | None = None) -> int:
        """Number of ranks, in all or along one dimension."""
        return self.mesh.size if mesh_dim is None else self.mesh.shape[mesh_dim]

    def get_group(self, mesh_dim: int | str = 0) -> ProcessGroup:
        """The ranks along a dimension among which the calling rank is.

        Raises:
            UsageError: There is no such dimension, or the rank is not in the mesh.
        """
        dim = mesh_dim
        if isinstance(dim, str):
            names = self.mesh_dim_names or ()
            if dim not in names:
                raise UsageError(
                    f"DeviceMesh has no dimension '{dim}'; it has {', '.join(names) or 'no names'}"
                )
            dim = names.index(dim)
        if not 0 <= dim < self.ndim:
            raise UsageError(f"DeviceMesh has no dimension {dim}; it has {self.ndim}")
        group = self._groups[dim]
        if group is None:
            raise UsageError(f"rank {self._rank} is not in the mesh of ranks {self.mesh.tolist()}")
        return group

    def get_local_rank(self, mesh_dim: int | str = 0) -> int:
        """The calling rank's number along a dimension."""
        return self.get_group(mesh_dim).rank_of(self._rank)

    def __repr__(self) -> str:
        return f"DeviceMesh({self.mesh.tolist()})"


def init_device_mesh(
    torch: Context, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None
) -> DeviceMesh:
    """A mesh of all ranks in a grid of ``mesh_shape``, row by row.

    Raises:
        UsageError: The shape has not as many places as there are ranks.
    """
    world = torch.distributed.get_world_size()
    if int(np.prod(mesh_shape)) != world:
        raise UsageError(f"init_device_mesh: shape {tuple(mesh_shape)} does not hold {world} ranks")
    return DeviceMesh(torch, np.arange(world).reshape(mesh_shape).tolist(), mesh_dim_names=mesh_dim_names)
