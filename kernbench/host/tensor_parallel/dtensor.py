"""Tensors placed over a mesh of ranks by declaration; a change of placement is carried out by collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kernbench.errors import UsageError
from kernbench.host.tensor_parallel import operators
from kernbench.host.tensor_parallel.boxes import BoxCopy, copy_parts
from kernbench.host.tensor_parallel.mesh import DeviceMesh, Partial, Placement, Replicate, Shard
from kernbench.support.hints import shown

if TYPE_CHECKING:
    from kernbench.host import DPPolicy, Tensor


class DTensor:
    """A tensor of ``shape`` over ``device_mesh``: ``placements`` has one entry for each of its dimensions.

    Made by :func:`distribute_tensor` or :meth:`from_local`. It has one or two dimensions, each of which is
    split over at most one dimension of the mesh.
    """

    def __init__(
        self,
        local: Tensor,
        device_mesh: DeviceMesh,
        placements: tuple[Placement, ...],
        shape: tuple[int, ...],
        dp: DPPolicy | None,
    ) -> None:
        self._local = local
        self.device_mesh = device_mesh
        self.placements = placements
        self.shape = shape
        self._dp = dp

    @classmethod
    def from_local(
        cls,
        local: Tensor,
        device_mesh: DeviceMesh,
        placements: Sequence[Placement],
        *,
        dp: DPPolicy | None = None,
    ) -> DTensor:
        """The tensor whose part on a rank is ``local``; ``dp`` places what is made from it within a SIP."""
        shape = list(local.shape)
        checked = _normalize(placements, device_mesh, len(shape), "from_local")
        for mesh_dim, placement in enumerate(checked):
            if isinstance(placement, Shard):
                shape[placement.dim] *= device_mesh.size(mesh_dim)
        return cls(local, device_mesh, checked, tuple(shape), dp)

    @property
    def dtype(self) -> str:
        """Element type."""
        return self._local.dtype

    def to_local(self) -> Tensor:
        """The calling rank's part."""
        return self._local

    def full_tensor(self) -> Tensor:
        """The whole tensor, on every rank."""
        return self.redistribute([Replicate()] * self.device_mesh.ndim).to_local()

    def redistribute(self, placements: Sequence[Placement]) -> DTensor:
        """The same tensor, placed otherwise; every rank of the mesh calls this.

        Along each dimension of the mesh: ``Shard`` to ``Replicate`` is an all_gather, ``Partial`` to
        ``Replicate`` an all_reduce, ``Partial`` to ``Shard`` a reduce_scatter, ``Shard`` to another ``Shard``
        an all_to_all; ``Replicate`` to ``Shard`` takes a slice, and sends nothing.

        Raises:
            UsageError: A dimension does not divide, or nothing can be made ``Partial``.
        """
        wanted = _normalize(placements, self.device_mesh, len(self.shape), "redistribute")
        for before, after in zip(self.placements, wanted, strict=True):
            if isinstance(after, Partial) and after != before:
                raise UsageError(
                    f"redistribute: {before} cannot become {after}; a Partial comes of computing"
                )
        current, local = list(self.placements), self._local
        pending = [dim for dim in range(len(wanted)) if current[dim] != wanted[dim]]
        while pending:
            # A dimension of the tensor is free to be split once no other dimension of the mesh splits it.
            free = (dim for dim in pending if not _is_taken(wanted[dim], current, dim))
            mesh_dim = next(free, None)
            target = Replicate() if mesh_dim is None else wanted[mesh_dim]
            mesh_dim = pending[0] if mesh_dim is None else mesh_dim
            local = self._change(local, mesh_dim, current[mesh_dim], target)
            current[mesh_dim] = target
            pending = [dim for dim in pending if current[dim] != wanted[dim]]
        return DTensor(local, self.device_mesh, wanted, self.shape, self._dp)

    def __matmul__(self, other: object) -> DTensor:
        """See :func:`kernbench.host.tensor_parallel.operators.matmul`."""
        return operators.matmul(self, other)

    def __add__(self, other: object) -> DTensor:
        """See :func:`kernbench.host.tensor_parallel.operators.add`."""
        return operators.add(self, other)

    __radd__ = __add__

    def __mul__(self, other: object) -> DTensor:
        """See :func:`kernbench.host.tensor_parallel.operators.multiply`."""
        return operators.multiply(self, other)

    __rmul__ = __mul__

    def _with(
        self, local: Tensor, placements: tuple[Placement, ...], shape: tuple[int, ...], dp: DPPolicy | None
    ) -> DTensor:
        return DTensor(local, self.device_mesh, placements, shape, dp)

    def __repr__(self) -> str:
        return f"DTensor(shape={self.shape}, {self.dtype}, {list(self.placements)}, {self.device_mesh})"

    def _change(self, local: Tensor, mesh_dim: int, before: Placement, after: Placement) -> Tensor:
        """``local`` once its placement along one dimension of the mesh has changed."""
        if before == after:
            return local
        mesh, torch = self.device_mesh, self.device_mesh.torch
        group, size, me = mesh.get_group(mesh_dim), mesh.size(mesh_dim), mesh.get_local_rank(mesh_dim)
        if isinstance(before, Partial) and isinstance(after, Replicate):
            reduced = self._copied(local)
            torch.distributed.all_reduce(reduced, before.reduce_op, group=group)
            return reduced
        if isinstance(before, Shard) and isinstance(after, Replicate):
            parts = [self._made(local.shape) for _ in range(size)]
            torch.distributed.all_gather(parts, local, group=group)
            return self._join(parts, before.dim)
        assert isinstance(after, Shard)
        if isinstance(before, Replicate):
            return self._slice(local, after.dim, me, size)
        slices = [self._slice(local, after.dim, rank, size) for rank in range(size)]
        if isinstance(before, Partial):
            reduced = self._made(slices[0].shape)
            torch.distributed.reduce_scatter(reduced, slices, before.reduce_op, group=group)
            return reduced
        parts = [self._made(slices[0].shape) for _ in range(size)]
        torch.distributed.all_to_all(parts, slices, group=group)
        return self._join(parts, before.dim)

    def _made(self, shape: Sequence[int]) -> Tensor:
        return self.device_mesh.torch.empty(tuple(shape), dtype=self.dtype, dp=self._dp)

    def _slice(self, local: Tensor, dim: int, number: int, size: int) -> Tensor:
        if local.shape[dim] % size:
            raise UsageError(
                f"redistribute: dimension {dim} of size {local.shape[dim]} does not divide over {size} ranks"
            )
        shape, start = list(local.shape), [0] * local.ndim
        shape[dim] //= size
        start[dim] = number * shape[dim]
        made = self._made(shape)
        self._copy(made, [BoxCopy(local, _corner(start, 0), (0, 0), _corner(shape, 1))])
        return made

    def _join(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        shape = list(parts[0].shape)
        own = shape[dim]
        shape[dim] *= len(parts)
        made = self._made(shape)
        wanted = []
        for number, part in enumerate(parts):
            at = [0] * len(shape)
            at[dim] = number * own
            wanted.append(BoxCopy(part, (0, 0), _corner(at, 0), _corner(part.shape, 1)))
        self._copy(made, wanted)
        return made

    def _copied(self, local: Tensor) -> Tensor:
        made = self._made(local.shape)
        self._copy(made, [BoxCopy(local, (0, 0), (0, 0), _corner(local.shape, 1))])
        return made

    def _copy(self, made: Tensor, parts: Sequence[BoxCopy]) -> None:
        copy_parts(self.device_mesh.torch, "redistribute", made, parts)


def distribute_tensor(
    values: ArrayLike,
    device_mesh: DeviceMesh,
    placements: Sequence[Placement],
    *,
    dtype: str | None = None,
    dp: DPPolicy | None = None,
) -> DTensor:
    """A tensor of ``values``, the same on all ranks; every rank's host writes that rank's part.

    Args:
        values: The whole tensor, of one or two dimensions.
        device_mesh: The ranks.
        placements: ``Shard(dim)`` or ``Replicate()`` for each dimension of the mesh.
        dtype: Element type; that of ``values`` by default.
        dp: Where each rank's part lies within its SIP.

    Raises:
        UsageError: A dimension does not divide over the ranks, or a placement does not fit.
    """
    array: np.ndarray[Any, Any] = np.asarray(values)
    checked = _normalize(placements, device_mesh, array.ndim, "distribute_tensor")
    if array.ndim not in (1, 2):
        raise UsageError(f"distribute_tensor: values of shape {array.shape}; use one or two dimensions")
    local = array
    for mesh_dim, placement in enumerate(checked):
        if isinstance(placement, Partial):
            raise UsageError("distribute_tensor: Partial comes of computing; use Shard or Replicate")
        if isinstance(placement, Shard):
            size, at = device_mesh.size(mesh_dim), device_mesh.get_local_rank(mesh_dim)
            if array.shape[placement.dim] % size:
                raise UsageError(
                    f"distribute_tensor: dimension {placement.dim} of size {array.shape[placement.dim]} does "
                    f"not divide over {size} ranks"
                )
            local = np.split(local, size, axis=placement.dim)[at]
    made = device_mesh.torch.from_numpy(local, dtype=dtype, dp=dp)
    return DTensor(made, device_mesh, checked, array.shape, dp)


def _normalize(
    placements: Sequence[Placement], mesh: DeviceMesh, ndim: int, what: str
) -> tuple[Placement, ...]:
    """``placements`` with dimensions counted from 0."""
    found: list[Placement] = []
    if len(placements) != mesh.ndim:
        raise UsageError(f"{what}: {len(placements)} placements for a mesh of {mesh.ndim} dimensions")
    for placement in placements:
        if not isinstance(placement, Shard | Replicate | Partial):
            raise UsageError(f"{what}: {shown(placement)} is not a placement: use Shard, Replicate, Partial")
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise UsageError(f"{what}: {placement} of a tensor of {ndim} dimensions")
            placement = Shard(placement.dim % ndim)
            if placement in found:
                raise UsageError(
                    f"{what}: dimension {placement.dim} is split over two dimensions of the mesh"
                )
        found.append(placement)
    return tuple(found)


def _is_taken(placement: Placement, current: Sequence[Placement], mesh_dim: int) -> bool:
    """Whether another dimension of the mesh splits what ``placement`` would split over ``mesh_dim``."""
    others = [other for dim, other in enumerate(current) if dim != mesh_dim]
    return isinstance(placement, Shard) and placement in others


def _corner(values: Sequence[int], missing: int) -> tuple[int, int]:
    """(row, column) of numbers for one or two dimensions; ``missing`` is the row of a vector."""
    return (values[0], values[1]) if len(values) == 2 else (missing, values[0])
