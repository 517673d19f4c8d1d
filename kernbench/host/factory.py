"""How tensors are made: on every SIP in use, placed, mapped, and written by the host."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from kernbench.errors import AllocationError, UsageError
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.host.device_memory import MEMORIES, Allocation, Memory, Place
from kernbench.host.devices import Ahbm
from kernbench.host.placement import SINGLE_PE, DPPolicy, check_shape, idle, place
from kernbench.host.storage import Storage
from kernbench.host.tensors import Tensor
from kernbench.host.values import real_numbers
from kernbench.support import dtypes
from kernbench.support.hints import shown
from kernbench.values.tensor_names import NamedShard


class TensorFactory:
    """The part of a context that makes tensors. ``cubes_per_sip``, ``pes_per_cube``: what each has."""

    float16 = "f16"
    bfloat16 = "bf16"
    float32 = "f32"
    float8_e4m3fn = "f8e4m3"
    float8_e5m2 = "f8e5m2"
    int8 = "i8"
    uint8 = "u8"
    int32 = "i32"
    int64 = "i64"

    def __init__(self, storage: Storage, ahbm: Ahbm, shape: MachineShape) -> None:
        self.storage = storage
        """Device memory of this context's tensors."""
        self.ahbm = ahbm
        self._shape = shape
        self.cubes_per_sip, self.pes_per_cube = len(shape.even), shape.even[0]
        self._tensors: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()
        self._made = 0
        self._names: set[str] = set()

    def empty(
        self,
        *shape: Any,
        dtype: str = "f16",
        dp: DPPolicy | None = None,
        name: str | None = None,
        memory: str = "hbm",
    ) -> Tensor:
        """A tensor whose memory holds nothing yet.

        Args:
            shape: Extents, as separate numbers or as one tuple.
            dtype: ``f16``, ``bf16``, ``f32``, ``f8e4m3``, ``f8e5m2``, ``i8``, ``u8``, ``i32``, or ``i64`` for
                pointers and indices.
            dp: How it is split over cubes and PEs; without it the tensor is on PE 0 of cube 0.
            name: Its name in messages and in the trace; by default what the first kernel that it is launched
                with calls it (``x``, or ``x.7`` for another ``x``), and ``t0``, ``t1`` ... until then.
            memory: ``"hbm"`` (the slice of each PE), ``"sram"`` (of its cube) or ``"tcm"`` (of the PE).

        Raises:
            UsageError: The policy cannot place the shape, or there is no such dtype or memory.
            AllocationError: A shard does not fit.
        """
        return self._empty(shape, dtype, dp, name, memory, self.ahbm.sips)

    def _empty(
        self,
        shape: Any,
        dtype: str,
        dp: DPPolicy | None,
        name: str | None,
        memory: str,
        sips: tuple[int, ...],
    ) -> Tensor:
        called = f"t{self._made}" if name is None else name
        self._before_making()
        kind = dtypes.dtype(dtype)
        one_tuple = len(shape) == 1 and not isinstance(shape[0], (int, np.integer))
        sizes = check_shape(shape[0] if one_tuple else shape, f"tensor '{called}'")
        policy = SINGLE_PE if dp is None else dp
        if not isinstance(policy, DPPolicy):
            raise UsageError(
                f"tensor '{called}': dp={shown(dp)} is not a DPPolicy; write DPPolicy(cube=..., pe=...)"
            )
        copies, without = {}, set[Place]()
        for sip in sips:
            pes = self._shape.even if policy.even else self._shape.pes_of(sip)
            shards_here = place(policy, sizes, kind.name, sip=sip, cubes=len(pes), pes=pes, name=called)
            copies[sip] = shards_here
            without |= idle(policy, shards_here, sip=sip, cubes=len(pes), pes=pes)
        if memory not in MEMORIES:
            raise UsageError(f"tensor '{called}': memory={shown(memory)}; use one of {', '.join(MEMORIES)}")
        try:
            allocation, maps = self.storage.allocate(copies, cast(Memory, memory))
        except AllocationError as full:
            raise AllocationError(
                f"tensor '{called}' of shape {sizes}, {kind.name}, placed by {policy}: {full}"
            ) from None
        number, shards = self._note(called, sizes, kind, allocation)
        self._names.add(called)
        again = partial(_again, weakref.ref(self), sizes, policy, memory)
        rename = partial(_rename, weakref.ref(self), number, shards) if name is None else None
        tensor = Tensor(called, sizes, kind.name, allocation, self.storage, maps, again, rename, without)
        self._tensors[self._made] = tensor
        self._made += 1
        return tensor

    def zeros(
        self,
        *shape: Any,
        dtype: str = "f16",
        dp: DPPolicy | None = None,
        name: str | None = None,
        memory: str = "hbm",
    ) -> Tensor:
        """A tensor of zeros; the host writes them, over the fabric. Otherwise as :meth:`empty`."""
        return self.empty(*shape, dtype=dtype, dp=dp, name=name, memory=memory).fill(0)

    def arange(
        self,
        start: int,
        end: int | None = None,
        *,
        dtype: str = "i32",
        dp: DPPolicy | None = None,
        name: str | None = None,
        memory: str = "hbm",
    ) -> Tensor:
        """Integers, written by the host.

        Args:
            start: The first; without ``end`` they are ``0, ..., start - 1``.
            end: The one after the last.
            dtype, dp, name, memory: As for :meth:`empty`.
        """
        values = np.arange(start) if end is None else np.arange(start, end)
        return self.from_numpy(values, dtype=dtype, dp=dp, name=name, memory=memory)

    def full(
        self,
        shape: Any,
        fill_value: float,
        *,
        dtype: str = "f16",
        dp: DPPolicy | None = None,
        name: str | None = None,
        memory: str = "hbm",
    ) -> Tensor:
        """A tensor of ``fill_value``, written by the host. Otherwise as :meth:`empty`."""
        return self.empty(shape, dtype=dtype, dp=dp, name=name, memory=memory).fill(fill_value)

    def from_numpy(
        self,
        array: ArrayLike,
        *,
        dp: DPPolicy | None = None,
        dtype: str | None = None,
        name: str | None = None,
        memory: str = "hbm",
    ) -> Tensor:
        """A tensor with the values of ``array``, written by the host; ``dtype`` is the array's by default.

        Otherwise as :meth:`empty`.
        """
        values = real_numbers(array, "from_numpy")
        what = f"tensor '{name}': " if name else ""
        kind = dtypes.of_numpy(values.dtype, what) if dtype is None else dtypes.dtype(dtype)
        return self.empty(values.shape, dtype=kind.name, dp=dp, name=name, memory=memory).write(values)

    def _note(
        self, name: str, sizes: tuple[int, ...], kind: dtypes.DType, allocation: Allocation
    ) -> tuple[int, list[NamedShard]]:
        """Let the data plane know which bytes are the tensor's, and the record where they lie."""
        data, addresses = self.storage.data, self.storage.driver.machine.addresses
        log = data.log
        number = log.add_tensor(name, sizes, kind.name, allocation.nbytes, allocation.memory)
        shards = []
        for shard in allocation.shards:
            assert shard.pa is not None
            pe = addresses.pe_name(*shard.place)
            start = tuple(cut.start for cut in shard.index)
            shards.append(
                NamedShard(name, pe, shard.pa, start, shard.shape, shard.nbytes, number, shard.offset_bytes)
            )
            data.names.add(shards[-1])
            for pa, nbytes in addresses.split(shard.pa, shard.nbytes):
                log.place_tensor(number, addresses.resolve(pa).component, nbytes)
        return number, shards

    def _before_making(self) -> None:
        """Called before a tensor is made."""

    def _live(self) -> list[Tensor]:
        """The tensors that still exist, in the order in which they were made."""
        return [tensor for _, tensor in sorted(self._tensors.items())]


def _rename(
    factory: weakref.ref[TensorFactory], number: int, shards: Sequence[NamedShard], argument: str
) -> str:
    """Call a tensor by a kernel's argument, with its number where another has that name; gives the name."""
    alive = factory()
    if alive is None:
        return argument
    name = f"{argument}.{number}" if argument in alive._names else argument
    alive._names.add(name)
    data = alive.storage.data
    data.log.rename_tensor(number, name)
    for shard in shards:
        data.names.add(shard._replace(tensor=name))
    return name


def _again(
    factory: weakref.ref[TensorFactory],
    shape: tuple[int, ...],
    dp: DPPolicy,
    memory: str,
    dtype: str,
    sips: tuple[int, ...],
) -> Tensor:
    """Another tensor that lies like one, but for its type and SIPs. The tensor does not keep its context."""
    alive = factory()
    if alive is None:
        raise UsageError("the tensor's context is gone; use it before its run ends")
    return alive._empty((shape,), dtype, dp, None, memory, sips)
