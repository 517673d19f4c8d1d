"""What the host and a device tell each other: tagged pieces of memory, and how a request ended.

Every piece carries its (sip, cube, pe) tag, so the device fans out without decoding addresses. Bulk data
never rides in a message; a launch names its kernel and carries no code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kernbench.errors import UsageError
from kernbench.hardware.address import AddressMap


class ShardRef(NamedTuple):
    """A tagged piece of device memory: ``nbytes`` at physical address ``pa`` of PE (sip, cube, pe).

    ``offset_bytes`` is its place in its tensor's device layout.
    """

    sip: int
    cube: int
    pe: int
    pa: int
    nbytes: int
    offset_bytes: int = 0


class MapEntry(NamedTuple):
    """``nbytes`` at virtual (``la`` model: logical) address ``va`` are found at physical address ``pa``."""

    va: int
    pa: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Completion:
    """How a run ended; ``error_code`` and ``error_message`` are ``None`` when ``ok``."""

    ok: bool
    error_code: str | None = None
    error_message: str | None = None


def check_tags(shards: Iterable[ShardRef], addresses: AddressMap, what: str) -> None:
    """Refuse a shard whose tag is not where its address leads.

    Raises:
        UsageError: its bytes do not lie in one memory of the PE (an SRAM: of the cube) that its tag names,
            nor in memory that it shares.
        AddressError: its address leads nowhere.
    """
    for shard in shards:
        shared = addresses.shared_memory(shard.sip, shard.cube)
        if shared is not None and shared.holds(shard.pa, shard.nbytes):
            continue
        found = addresses.resolve(shard.pa)
        if addresses.resolve(shard.pa + shard.nbytes - 1).component != found.component:
            raise UsageError(f"{what}: {shard.nbytes} bytes at {shard.pa:#x} leave '{found.component}'")
        tag = (shard.sip, shard.cube, shard.pe)
        if tag != addresses.location(found.component, shard.pe):
            raise UsageError(
                f"{what}: a shard is tagged {tag}, but its address {shard.pa:#x} is in '{found.component}'"
            )
