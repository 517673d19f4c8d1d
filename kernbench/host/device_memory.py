"""Device memory as the host keeps account of it: which bytes belong to which tensor.

The host allocates; no message goes to the device. Each shard gets a block in its PE's HBM slice, its PE's
TCM or its cube's SRAM and, in the ``va`` (``la``) model, the tensor one contiguous virtual (logical) range
that is the same on every SIP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from kernbench.hardware.address import (
    WORD_BYTES,
    AddressModel,
    FreeList,
    VirtualAllocator,
    address_model,
    memory_of_pe,
)
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.host.messages import MapEntry
from kernbench.host.placement import TensorShard, distinct, nearest
from kernbench.language import Placement

if TYPE_CHECKING:
    from kernbench.engine.machine.machine import Machine

Place = tuple[int, int, int]
Memory = Literal["hbm", "sram", "tcm"]
MEMORIES: tuple[str, ...] = get_args(Memory)
"""Memories that a tensor can be in: the HBM slice of each PE, the SRAM of each cube, the TCM of each PE."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The memory of one tensor. ``copies`` holds, by SIP, its shards with their physical addresses.

    ``va`` is the start of the virtual or logical range (``None`` in the ``pa`` model), ``nbytes`` the size
    of the tensor, which is also that of the range. ``memory`` is ``"hbm"``, ``"sram"`` or ``"tcm"``.
    """

    memory: Memory
    nbytes: int
    va: int | None
    copies: Mapping[int, tuple[TensorShard, ...]]

    @property
    def shards(self) -> tuple[TensorShard, ...]:
        """All shards, by SIP, cube and PE."""
        return tuple(shard for copy in self.copies.values() for shard in copy)


class DeviceMemory:
    """Allocates and frees; whole tensors or nothing."""

    def __init__(self, machine: Machine) -> None:
        self._addresses = machine.addresses
        graph = machine.graph
        self.model = address_model(graph.properties["address_model"])
        self.interleaved = bool(graph.properties.get("interleave"))
        """Whether PEs share memory, so that it does not matter which of them a tensor is said to lie on."""
        self._shape = MachineShape.of(graph)
        self._lists: dict[object, FreeList] = {}
        """Of memories from which something was taken; interleaved ones by where they begin."""
        self._virtual: VirtualAllocator | None = None
        if self.model is AddressModel.VA:
            pages = [int(n.properties["page_bytes"]) for n in graph.nodes("PeMmu")]
            self._virtual = VirtualAllocator(max(pages, default=4096), self._addresses.space)
        elif self.model is AddressModel.LA:
            self._virtual = VirtualAllocator(
                self._addresses.burst_bytes, self._addresses.space, name="logical address space"
            )

    def allocate(self, copies: Mapping[int, Sequence[TensorShard]], memory: Memory) -> Allocation:
        """Memory for every shard of every copy, all or nothing.

        Raises:
            AllocationError: A shard does not fit; names the memory, bytes wanted and largest free block.
        """
        taken: list[TensorShard] = []
        nbytes = sum(shard.nbytes for shard in distinct(next(iter(copies.values()))))
        try:
            placed = {}
            for sip, shards in copies.items():
                first = len(taken)
                for shard in shards:
                    pa = self.reserve(shard.place, memory, shard.nbytes)
                    taken.append(replace(shard, pa=pa))
                placed[sip] = tuple(taken[first:])
            va = self._virtual.alloc(nbytes) if self._virtual is not None else None
        except MemoryError:
            self._give_back(taken, memory)
            raise
        return Allocation(memory, nbytes, va, placed)

    def free(self, allocation: Allocation) -> None:
        """Give the memory back; its mappings must be gone."""
        self._give_back(allocation.shards, allocation.memory)
        if self._virtual is not None and allocation.va is not None:
            self._virtual.free(allocation.va, allocation.nbytes)

    def reserve(self, place: Place, memory: Memory, nbytes: int) -> int:
        """Physical address of ``nbytes`` in ``memory`` of a PE, for something that is not a tensor.

        Raises:
            AllocationError: It does not fit; names the memory, bytes wanted and largest free block.
        """
        # In HBM whole bursts: none is shared.
        align = self._addresses.burst_bytes if memory == "hbm" else WORD_BYTES
        return self.memory_of(place, memory).alloc(nbytes, align)

    def give_back(self, place: Place, memory: Memory, pa: int, nbytes: int) -> None:
        """Free what :meth:`reserve` returned."""
        self.memory_of(place, memory).free(pa, nbytes)

    def mappings(
        self, allocation: Allocation
    ) -> list[tuple[int, tuple[tuple[int, int], ...], tuple[MapEntry, ...]]]:
        """The mappings to install: ``(sip, PEs as (cube, pe), entries)``, PEs with equal entries together.

        Every PE of each cube that holds a shard gets the whole tensor: for each block the nearest copy.
        So a replicated tensor is local everywhere, and of a split one every part can be reached.
        """
        if allocation.va is None:
            return []
        requests = []
        for sip, shards in allocation.copies.items():
            pes = self._reaching(sip, shards)
            blocks = distinct(shards)
            if len(blocks) == len(shards):  # nothing is replicated, so there is nothing to choose
                requests.append((sip, tuple(pes), _entries(allocation.va, blocks)))
                continue
            groups: dict[tuple[MapEntry, ...], list[tuple[int, int]]] = {}
            for cube, pe in pes:
                entries = _entries(allocation.va, nearest(shards, cube, pe))
                groups.setdefault(entries, []).append((cube, pe))
            requests += [(sip, tuple(group), entries) for entries, group in groups.items()]
        return requests

    def placements(self, allocation: Allocation) -> dict[Place, Placement]:
        """Where every PE that can reach the tensor finds it, as kernels see it.

        ``va`` and ``la``: one base for all PEs of the cubes that hold a shard; a PE's own shard is at the
        base plus its offset. ``pa``: the base is the PE's own shard, for a PE without one the nearest copy,
        if that is the whole tensor.
        """
        places: dict[Place, Placement] = {}
        for sip, shards in allocation.copies.items():
            own = {(shard.cube, shard.pe): shard for shard in shards}
            for cube, pe in self._reaching(sip, shards):
                place = _placement(allocation.va, own.get((cube, pe)), shards, cube, pe)
                if place is not None:
                    places[sip, cube, pe] = place
        return places

    def _reaching(self, sip: int, shards: Sequence[TensorShard]) -> list[tuple[int, int]]:
        """The PEs that can reach a tensor: all of the cubes that hold a shard of it."""
        pes = self._shape.pes_of(sip)
        return [(cube, pe) for cube in sorted({s.cube for s in shards}) for pe in range(pes[cube])]

    def _give_back(self, shards: Sequence[TensorShard], memory: Memory) -> None:
        for shard in shards:
            assert shard.pa is not None
            self.give_back(shard.place, memory, shard.pa, shard.nbytes)

    def memory_of(self, place: Place, memory: Memory) -> FreeList:
        """The free bytes of a memory of a PE."""
        shared = self._addresses.shared_memory(*place[:2]) if memory == "hbm" else None
        key: object = (memory, place[:2] if memory == "sram" else place) if shared is None else shared.base
        found = self._lists.get(key)
        if found is None and shared is not None:
            first, *more = (one.component for one in shared.members)
            name = f"memory interleaved over {first}{f' and {len(more)} more' if more else ''}"
            found = self._lists[key] = FreeList(shared.nbytes, shared.base, name)
        elif found is None:
            found = self._lists[key] = memory_of_pe(self._addresses, memory, place)
        return found


def _entries(va: int, shards: Sequence[TensorShard]) -> tuple[MapEntry, ...]:
    """Mapping entries of blocks in layout order; blocks that adjoin physically too become one entry."""
    entries: list[MapEntry] = []
    for shard in shards:
        assert shard.pa is not None
        last = entries[-1] if entries else None
        if last is not None and last.pa + last.nbytes == shard.pa:
            entries[-1] = MapEntry(last.va, last.pa, last.nbytes + shard.nbytes)
        else:
            entries.append(MapEntry(va + shard.offset_bytes, shard.pa, shard.nbytes))
    return tuple(entries)


def _placement(
    va: int | None, own: TensorShard | None, shards: Sequence[TensorShard], cube: int, pe: int
) -> Placement | None:
    if va is not None:
        return Placement(va) if own is None else Placement(va, va + own.offset_bytes, own.shape)
    if own is not None:
        assert own.pa is not None
        return Placement(own.pa, own.pa, own.shape, own.nbytes)
    reach = nearest(shards, cube, pe)
    if len(reach) == 1:
        assert reach[0].pa is not None
        return Placement(reach[0].pa)
    return None
