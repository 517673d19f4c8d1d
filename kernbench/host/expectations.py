"""Results that a bench expects, and their comparison at the end of a run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernbench.engine.program.operations import Op, Region
from kernbench.errors import UsageError, VerificationError
from kernbench.host.indexing import Box
from kernbench.host.placement import TensorShard, distinct
from kernbench.host.values import own_copy, real_numbers
from kernbench.support.bounded import Bounded
from kernbench.values import compare

if TYPE_CHECKING:
    from kernbench.host.storage import Storage
    from kernbench.host.tensors import Tensor
    from kernbench.values import DataPlane

Expected = ArrayLike | Bounded | Callable[[], ArrayLike | Bounded]


@dataclass(frozen=True, slots=True)
class Check:
    """At the end of the run ``tensor`` holds ``expected``, on every SIP or on ``sip`` alone.

    ``tolerance`` is ``rtol`` and ``atol``, ``None`` for the reference's own or those of the tensor's dtype.
    With ``box``, whose slices start at 0, that part of the tensor does.
    """

    name: str
    tensor: Tensor
    expected: Expected
    sip: int | None = None
    tolerance: float | None = None
    box: Box | None = None


def kept(expected: Expected, what: str) -> Expected:
    """``expected`` as it is now: an array is copied, for its giver may change it before the run ends."""
    if callable(expected):
        return expected
    if isinstance(expected, Bounded):
        return Bounded(expected.value, expected.error)
    return own_copy(real_numbers(expected, what), what)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check of one copy came out; ``error`` says how the values differ."""

    name: str
    sip: int
    ok: bool
    error: VerificationError | None = None


def verify(check: Check, storage: Storage, data: DataPlane) -> list[CheckResult]:
    """Compare each copy that ``check`` is about with its reference. Takes no simulated time."""
    tensor = check.tensor
    if tensor.freed:
        raise UsageError(
            f"check '{check.name}': tensor '{tensor.name}' was freed before the end of the run; keep it"
        )
    expected = check.expected() if callable(check.expected) else check.expected
    box = check.box or tuple(slice(0, n) for n in tensor.shape)
    results = []
    for sip in tensor.sips if check.sip is None else (check.sip,):
        shards = tensor.copy_of(sip)
        name = check.name if len(tensor.sips) == 1 else f"{check.name} on sip{sip}"
        try:
            # Copies inside a SIP are results of their own as well.
            for copies in _copies(shards):
                actual = storage.peek_box(copies, box, tensor.dtype, f"tensor '{name}'")
                compare(
                    name,
                    actual,
                    expected,
                    tensor.dtype,
                    _writer(copies, tensor.itemsize, data),
                    tolerance=check.tolerance,
                    holder=functools.partial(_holders, copies, storage.driver.machine.addresses.pe_name),
                )
        except VerificationError as error:
            results.append(CheckResult(check.name, sip, ok=False, error=error))
        else:
            results.append(CheckResult(check.name, sip, ok=True))
    return results


def _copies(shards: tuple[TensorShard, ...]) -> list[list[TensorShard]]:
    """The copies of a tensor inside a SIP: the n-th holder of every block, as far as there is one."""
    holders: dict[int, list[TensorShard]] = {}
    for shard in shards:
        holders.setdefault(shard.offset_bytes, []).append(shard)
    return [
        distinct([h[n] if n < len(h) else h[0] for h in holders.values()])
        for n in range(max(map(len, holders.values())))
    ]


def _holders(
    shards: list[TensorShard], pe_name: Callable[[int, int, int], str], wrong: NDArray[np.bool_]
) -> str:
    """The PEs whose shards hold a true element: ``sip0.cube0.pe5``, ``3 of 8 PEs, first sip0.cube0.pe2``."""
    found = [pe_name(*s.place) for s in shards if wrong[s.index].any()]
    return found[0] if len(found) == 1 else f"{len(found)} of {len(shards)} PEs, first {found[0]}"


def _writer(
    shards: list[TensorShard], itemsize: int, data: DataPlane
) -> Callable[[tuple[int, ...]], Op | None]:
    def writer(index: tuple[int, ...]) -> Op | None:
        for shard in shards:
            if all(s.start <= i < s.stop for i, s in zip(index, shard.index, strict=True)):
                local: Any = tuple(i - s.start for i, s in zip(index, shard.index, strict=True))
                offset = int(np.ravel_multi_index(local, shard.shape)) * itemsize
                assert shard.pa is not None
                return data.writer([Region(shard.pa, shard.nbytes)], offset)
        return None

    return writer
