"""Device memory of the tensors of one context: allocation, transfers to and from it, release."""

from __future__ import annotations

import gc
import itertools
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.engine.program.operations import Region
from kernbench.errors import AllocationError, UsageError
from kernbench.host.device_memory import Allocation, DeviceMemory, Memory
from kernbench.host.indexing import Box, intersect, runs
from kernbench.host.messages import ShardRef
from kernbench.host.placement import TensorShard, cut
from kernbench.support import dtypes
from kernbench.support.hints import shown

if TYPE_CHECKING:
    from kernbench.engine.program.launches import Request
    from kernbench.host.driver import Driver
    from kernbench.host.scheduler import HostProgram
    from kernbench.host.tensors import Tensor
    from kernbench.values import DataPlane

Array = NDArray[Any]
Release = tuple[Allocation, list["Request"]]
"""Memory to give back, and the requests of its tensor that may be unanswered."""


class Storage:
    """Allocates, maps, writes, reads and frees device memory for tensors.

    ``settle`` waits for all that was submitted; tensors call it before kernels' results are read or
    overwritten. ``launch`` starts a kernel on this context's machine.
    """

    def __init__(
        self, driver: Driver, data: DataPlane, settle: Callable[[], None], launch: Callable[..., Any]
    ) -> None:
        self.driver = driver
        self.data = data
        self.memory = DeviceMemory(driver.machine)
        self.settle = settle
        self.launch = launch
        self.pointed: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()
        """Tensors that pointers in memory may name."""
        self._watched: dict[int, weakref.finalize[..., Any]] = {}
        self._numbers = itertools.count()
        self._code: dict[tuple[int, int, int], tuple[object, ShardRef]] = {}

    def allocate(
        self, copies: dict[int, tuple[TensorShard, ...]], memory: Memory = "hbm"
    ) -> tuple[Allocation, list[Request]]:
        """Memory for a tensor, and the requests that map it (already submitted).

        Raises:
            AllocationError: The memory is full, also after tensors in reference cycles were collected.
        """
        self.flush()
        try:
            allocation = self.memory.allocate(copies, memory)
        except AllocationError:
            gc.collect()
            self.flush()
            allocation = self.memory.allocate(copies, memory)
        return allocation, [
            self.driver.map(sip, pes, entries) for sip, pes, entries in self.memory.mappings(allocation)
        ]

    def deploy(
        self, name: str, kernel: object, nbytes_code: int, targets: Sequence[tuple[int, int, int]]
    ) -> tuple[ShardRef, ...]:
        """Have the code of ``kernel`` in the memory of each SIP of ``targets``; returns when it is there.

        It goes to the HBM of the first PE of each SIP, once a run, and stays. The result says where it is;
        it is empty for a kernel that every PE has, which is one of 0 bytes.
        """
        if isinstance(nbytes_code, bool) or not isinstance(nbytes_code, int) or nbytes_code < 0:
            raise UsageError(
                f"launch '{name}': nbytes_code is {nbytes_code!r}; it must be a whole number of 0 or more"
            )
        if not nbytes_code:
            return ()
        first: dict[int, tuple[int, int, int]] = {}
        for target in sorted(targets):
            first.setdefault(target[0], target)
        written: list[Request] = []
        for sip, target in first.items():
            key = (id(kernel), nbytes_code, sip)
            if key not in self._code:
                code = ShardRef(*target, self.memory.reserve(target, "hbm", nbytes_code), nbytes_code)
                self._code[key] = kernel, code
                written.append(self.driver.deploy(name, code))
        self.driver.wait(written)
        return tuple(self._code[id(kernel), nbytes_code, sip][1] for sip in first)

    def write(self, shards: Sequence[TensorShard], values: Array, dtype: str) -> list[Request]:
        """Submit the writes of ``values`` (global shape, right dtype) to every shard of one copy."""
        blocks: dict[int, Array] = {}
        order = self.data.races.host_writes()
        for shard in shards:
            if shard.offset_bytes not in blocks:
                block = cut(values, shard)
                block.flags.writeable = False
                blocks[shard.offset_bytes] = block
        return [self.driver.write(shard, blocks[shard.offset_bytes], dtype, order) for shard in shards]

    def write_part(
        self, shards: Sequence[TensorShard], box: Box, values: Array, chosen: NDArray[np.bool_], dtype: str
    ) -> list[Request]:
        """Submit writes of the ``chosen`` ones of ``values``, which fill ``box``, to shards of one copy."""
        itemsize = dtypes.dtype(dtype).itemsize
        written, order = [], self.data.races.host_writes()
        for shard in shards:
            part = intersect(shard, box)
            if part is None:
                continue
            at = tuple(
                slice(mine.start + local.start - whole.start, mine.start + local.stop - whole.start)
                for mine, local, whole in zip(shard.index, part, box, strict=True)
            )
            own, wanted = values[at].reshape(-1), chosen[at].reshape(-1)
            done = 0
            for first, count in runs(shard.shape, part):
                block, keep = own[done : done + count], np.flatnonzero(wanted[done : done + count])
                done += count
                for picked in np.split(keep, np.flatnonzero(np.diff(keep) > 1) + 1) if keep.size else ():
                    piece = block[picked[0] : picked[-1] + 1].copy()
                    piece.flags.writeable = False
                    assert shard.pa is not None
                    offset = (first + int(picked[0])) * itemsize
                    target = replace(
                        shard,
                        pa=shard.pa + offset,
                        offset_bytes=shard.offset_bytes + offset,
                        nbytes=piece.nbytes,
                        shape=piece.shape,
                    )
                    written.append(self.driver.write(target, piece, dtype, order))
        return written

    def sip(self, device: object) -> int:
        """The number of a SIP of the machine, given so or as ``"sip:1"``."""
        count = int(self.driver.machine.graph.properties["sips"])
        number = device
        if isinstance(device, str) and re.fullmatch(r"sip:\d{1,9}", device):
            number = int(device[4:])
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < count:
            raise UsageError(
                f"to({shown(device)}): give a dtype ({', '.join(dtypes.DTYPES)}) or a SIP from 0 to "
                f"{count - 1}; numpy() brings values to the host"
            )
        return number

    def fetch(self, sources: Sequence[ShardRef]) -> None:
        """Move ``sources`` to the host: the time that a host read takes."""
        if sources:
            self.driver.wait([self.driver.read(sources)])

    def peek(self, parts: Sequence[tuple[TensorShard, Box]], box: Box, dtype: str, what: str) -> Array:
        """The values in ``box``, put together from ``parts`` of shards; takes no simulated time."""
        itemsize = dtypes.dtype(dtype).itemsize
        values = np.empty([s.stop - s.start for s in box], dtypes.dtype(dtype).numpy)
        for shard, part in parts:
            assert shard.pa is not None
            regions = [Region(shard.pa + at * itemsize, n * itemsize) for at, n in runs(shard.shape, part)]
            shape = tuple(s.stop - s.start for s in part)
            to = tuple(
                slice(mine.start + local.start - wanted.start, mine.start + local.stop - wanted.start)
                for mine, local, wanted in zip(shard.index, part, box, strict=True)
            )
            values[to] = self.data.read_host(regions, shape, dtype, what)
        return values

    def peek_box(self, shards: Sequence[TensorShard], box: Box, dtype: str, what: str) -> Array:
        """The values in ``box`` from shards that together hold a tensor; takes no simulated time."""
        parts = [(shard, part) for shard in shards if (part := intersect(shard, box)) is not None]
        return self.peek(parts, box, dtype, what)

    def watch(self, tensor: object, allocation: Allocation, writes: list[Request]) -> Callable[[], object]:
        """Have the memory of ``tensor`` released when that is gone, or when what this returns is called."""
        owner, number = self.driver.scheduler.current, next(self._numbers)
        finalizer = weakref.finalize(tensor, self._release_later, number, owner, allocation, writes)
        finalizer.atexit = False
        self._watched[number] = finalizer
        return finalizer

    def _release_later(
        self, number: int, owner: HostProgram, allocation: Allocation, writes: list[Request]
    ) -> None:
        """A tensor is gone. Its memory is given back at the next chance: this may run inside anything.

        ``writes`` are those of its requests that may be unanswered. No launch uses it: one that is not done
        holds its tensors.
        """
        self._watched.pop(number, None)
        owner.released.append((allocation, writes))

    def flush(self) -> None:
        """Unmap and free what was released of the current program's tensors."""
        released = list(self.driver.scheduler.current.released)
        if not released:
            return
        # Several tensors of one reference cycle go in no particular order: by address it is always the same.
        released.sort(key=lambda entry: [(s.place, s.pa) for s in entry[0].shards[:1]])
        self.driver.scheduler.current.released.clear()
        self.driver.wait([request for _, writes in released for request in writes])
        unmaps: list[Request] = []
        for allocation, _ in released:
            for sip, pes, _ in self.memory.mappings(allocation):
                assert allocation.va is not None
                unmaps.append(self.driver.unmap(sip, pes, allocation.va, allocation.nbytes))
        self.driver.wait(unmaps)
        for allocation, _ in released:
            self.memory.free(allocation)
            self.data.forget([Region(s.pa, s.nbytes) for s in allocation.shards if s.pa is not None])

    def close(self) -> None:
        """The run is over: memory released from now on goes with the machine.

        That in turn must not be held any longer: finalizers belong to the process, and a tensor that its
        machine leads to would keep both to the end.
        """
        while self._watched:
            self._watched.popitem()[1].detach()
