"""What tensors of one context share: their memory on the device and the way there and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.pe import dtypes
from kernbench.runtime.indexing import Box, runs
from kernbench.runtime.memory import Allocation, DeviceMemory
from kernbench.runtime.messages import MapEntry, MapRequest, ShardRef
from kernbench.runtime.placement import TensorShard, cut
from kernbench.sim.ops import Region

if TYPE_CHECKING:
    from kernbench.components.request import Request
    from kernbench.replay import DataPlane
    from kernbench.runtime.driver import Driver

Array = NDArray[Any]


class Storage:
    """Allocates, maps, writes, reads and frees device memory for tensors.

    ``settle`` waits for all that was submitted; tensors call it before kernels' results are read or
    overwritten.
    """

    def __init__(self, driver: Driver, data: DataPlane, settle: Callable[[], None]) -> None:
        self.driver = driver
        self.data = data
        self.memory = DeviceMemory(driver.machine)
        self.settle = settle
        self._released: list[tuple[Allocation, list[Request]]] = []
        self._closed = False

    def allocate(self, copies: dict[int, tuple[TensorShard, ...]]) -> tuple[Allocation, list[Request]]:
        """Memory for a tensor, and the requests that map it (already submitted)."""
        self.flush()
        allocation = self.memory.allocate(copies)
        return allocation, [
            self.driver.map(MapRequest(self.driver.envelope(f"sip:{sip}"), sip, pes, entries))
            for sip, pes, entries in self.memory.mappings(allocation)
        ]

    def write(self, shards: Sequence[TensorShard], values: Array, dtype: str) -> list[Request]:
        """Submit the writes of ``values`` (global shape, right dtype) to every shard of one copy."""
        blocks: dict[int, Array] = {}
        for shard in shards:
            if shard.offset_bytes not in blocks:
                block = cut(values, shard)
                block.flags.writeable = False
                blocks[shard.offset_bytes] = block
        return [self.driver.write(shard, blocks[shard.offset_bytes], dtype) for shard in shards]

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

    def peek_whole(
        self, shards: Sequence[TensorShard], shape: tuple[int, ...], dtype: str, what: str
    ) -> Array:
        """The values of a whole tensor from shards that together hold it; takes no simulated time."""
        parts = [(shard, tuple(slice(0, n) for n in shard.shape)) for shard in shards]
        return self.peek(parts, tuple(slice(0, n) for n in shape), dtype, what)

    def release_later(self, allocation: Allocation, writes: list[Request]) -> None:
        """A tensor is gone. Its memory is given back at the next chance: this may run inside anything.

        ``writes`` are those of its requests that may be unanswered. No launch uses it: one that is not done
        holds its tensors.
        """
        if not self._closed:
            self._released.append((allocation, writes))

    def flush(self) -> None:
        """Unmap and free what was released."""
        if not self._released:
            return
        released, self._released = self._released, []
        self.driver.wait([request for _, writes in released for request in writes])
        unmaps: list[Request] = []
        for allocation, _ in released:
            for sip, pes, _ in self.memory.mappings(allocation):
                assert allocation.va is not None
                # The physical address of an entry means nothing when it is removed.
                whole = (MapEntry(allocation.va, 0, allocation.nbytes),)
                envelope = self.driver.envelope(f"sip:{sip}")
                unmaps.append(self.driver.map(MapRequest(envelope, sip, pes, whole, install=False)))
        self.driver.wait(unmaps)
        for allocation, _ in released:
            self.memory.free(allocation)
            self.data.forget([Region(s.pa, s.nbytes) for s in allocation.shards if s.pa is not None])

    def close(self) -> None:
        """The run is over: memory released from now on goes with the machine."""
        self._closed = True
        self._released = []
