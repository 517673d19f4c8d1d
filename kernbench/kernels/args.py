"""Kernel arguments as the runtime passes them: a tensor knows where every PE finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernbench.errors import KernelError
from kernbench.kernels.pointer import Pointer


@dataclass(frozen=True, slots=True)
class Placement:
    """A tensor as one PE sees it: addresses in bytes, in the address model of the run.

    ``base`` is where the tensor begins for that PE; ``local`` and ``local_shape`` are its own shard, both
    ``None`` for a PE that can reach the tensor but holds no part of it. ``reach`` is how many bytes from
    ``base`` on belong to the tensor: ``None`` for all of it, fewer where shards are apart (``pa`` model).
    """

    base: int
    local: int | None = None
    local_shape: tuple[int, ...] | None = None
    reach: int | None = None


@dataclass(frozen=True, slots=True)
class TensorArg:
    """A tensor argument: global shape, dtype and the placement per ``(sip, cube, pe)``.

    ``default`` serves the PEs that ``placements`` does not list.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    placements: Mapping[tuple[int, int, int], Placement] = field(default_factory=dict)
    default: Placement | None = None

    def pointer(self, sip: int, cube: int, pe: int) -> Pointer:
        """The pointer that the kernel on that PE gets; :class:`KernelError` when it has none."""
        place = self.placements.get((sip, cube, pe), self.default)
        if place is None:
            raise KernelError(
                f"tensor '{self.name}' is not placed on sip{sip}.cube{cube}.pe{pe}; launch on its shards"
            )
        return Pointer(
            place.base, self.name, self.shape, self.dtype, place.local, place.local_shape, place.reach
        )
