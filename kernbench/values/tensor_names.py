"""Physical addresses as people know them: tensor, rows, PE. For messages and for the archive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kernbench.engine.program.operations import Region
from kernbench.hardware.address import Extent, ExtentMap


class NamedShard(NamedTuple):
    """One part of a tensor in memory: ``start`` its first index in the tensor, ``shape`` its extents."""

    tensor: str
    pe: str
    addr: int
    start: tuple[int, ...]
    shape: tuple[int, ...]
    nbytes: int
    number: int = -1
    """Number of the tensor within the run."""
    offset: int = 0
    """Byte of the tensor, block after block, at which the shard begins; the same in all copies."""

    def rows(self, addr: int, end: int) -> str:
        """The rows (elements of a vector) of the tensor that ``[addr, end)`` touches: ``rows 4-7``."""
        row_bytes = self.nbytes // self.shape[0]
        first = self.start[0] + (addr - self.addr) // row_bytes
        last = self.start[0] + (end - 1 - self.addr) // row_bytes
        word = "element" if len(self.shape) == 1 else "row"
        return f"{word} {first}" if first == last else f"{word}s {first}-{last}"


class TensorNames:
    """Names the tensor and shard at an address. Freed memory has no name.

    ``pes`` maps (sip, cube, pe) to the name of each PE that has begun a kernel.
    """

    def __init__(self) -> None:
        self.pes: dict[tuple[int, ...], str] = {}
        self._shards = ExtentMap(lambda shard, _begin, _end: shard)

    def add(self, shard: NamedShard) -> None:
        """``shard`` was allocated."""
        self._shards.set(shard.addr, shard.addr + shard.nbytes, shard)

    def remove(self, region: Region) -> None:
        """The memory at ``region`` was freed."""
        self._shards.remove(region.addr, region.addr + region.nbytes)

    def at(self, addr: int) -> NamedShard | None:
        """The shard that holds the byte at ``addr``."""
        found = self._shards.at(addr)
        return None if found is None else found.value

    def parts(self, addr: int, end: int) -> list[Extent]:
        """The parts of ``[addr, end)`` that lie in shards, by address; their values are the shards."""
        return self._shards.clipped(addr, end)

    def describe(self, regions: Iterable[Region]) -> str:
        """``tensor 'x' rows 4-7 (sip0.cube0.pe1)``, part after part; addresses where there is no tensor."""
        parts = []
        for addr, nbytes in regions:
            position = addr
            for part in self._shards.clipped(addr, addr + nbytes):
                shard = part.value
                if part.start > position:
                    parts.append(f"[{position:#x}, {part.start:#x})")
                parts.append(f"tensor '{shard.tensor}' {shard.rows(part.start, part.end)} ({shard.pe})")
                position = part.end
            if position < addr + nbytes:
                parts.append(f"[{position:#x}, {addr + nbytes:#x})")
        shown = list(dict.fromkeys(parts))
        return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
