"""Memory that the PEs of a chiplet or package share, its bytes dealt to the controllers there in turn.

Behind a machine's other addresses lies a range for each such group of two or more controllers: granule ``g``
of it is granule ``g // n`` of controller ``g % n`` of ``n``. A run of addresses is thus one run of each
controller that it touches. One controller needs no such range: its own addresses are its channels' in turn.
"""

from __future__ import annotations

from typing import NamedTuple

from kernbench.errors import ConfigError
from kernbench.hardware.address.requests import IN_TURN, PhysicalRequest
from kernbench.hardware.address.runs import Runs, dealt
from kernbench.hardware.address.windows import AddressWindow
from kernbench.support.pgraph import PropertyGraph

_ALIGNED = 2 << 20


class SharedMemory(NamedTuple):
    """``nbytes`` from ``base`` on, dealt in granules to ``members``."""

    base: int
    nbytes: int
    granule: int
    members: tuple[AddressWindow, ...]

    def holds(self, pa: int, nbytes: int) -> bool:
        """Whether all of ``[pa, pa + nbytes)`` is in it."""
        return self.base <= pa and pa + nbytes <= self.base + self.nbytes

    def find(self, pa: int) -> tuple[AddressWindow, int]:
        """The controller that has the byte at ``pa``, and its offset there."""
        granule, within = divmod(pa - self.base, self.granule)
        turn, member = divmod(granule, len(self.members))
        return self.members[member], turn * self.granule + within

    def requests(self, pa: int, nbytes: int) -> list[PhysicalRequest]:
        """A request for each controller that ``[pa, pa + nbytes)`` touches, by first byte."""
        count, end = len(self.members), pa + nbytes - self.base
        first, last = (pa - self.base) // self.granule, (end - 1) // self.granule
        found: list[PhysicalRequest] = []
        for granule in range(first, min(first + count, last + 1)):
            start = max(pa - self.base, granule * self.granule)
            whole = ((last - granule) // count + 1) * self.granule - (start - granule * self.granule)
            if (last - granule) % count == 0:
                whole -= (last + 1) * self.granule - end
            window, offset = self.find(self.base + start)
            found.append(
                PhysicalRequest(
                    window.component, self.base + start, offset, whole,
                    IN_TURN if found else -1, "", self.granule, count * self.granule, not found,
                )
            )  # fmt: skip
        return found

    def gathered(self, runs: Runs) -> list[PhysicalRequest]:
        """A request for each controller that ``runs`` touch, by first byte."""
        count = len(self.members)
        turn, phase = divmod(runs.at - self.base, self.granule * count)
        found: list[PhysicalRequest] = []
        for member, form in dealt(runs.form, phase, self.granule, count, True):
            window, mine = self.members[member], Runs(form, turn * self.granule)
            first = mine.span[0]
            found.append(
                PhysicalRequest(
                    window.component, window.base + first, first, form.nbytes,
                    IN_TURN if found else -1, opens=not found, gathered=mine,
                )
            )  # fmt: skip
        return found


def shared_memories(
    graph: PropertyGraph, slices: dict[tuple[int, int, int], AddressWindow], end: int
) -> dict[tuple[int, int], SharedMemory]:
    """The shared memories of ``graph`` by (sip, cube), behind ``end``; a package's own by (sip, -1)."""
    over = str(graph.properties.get("interleave", ""))
    if not over:
        return {}
    granule = int(graph.properties["interleave_bytes"])
    groups: dict[tuple[int, int], list[AddressWindow]] = {}
    for (sip, cube, _), window in sorted(slices.items()):
        groups.setdefault((sip, cube if over == "chiplet" else -1), []).append(window)
    found = {}
    for key, members in groups.items():
        one = members[0]
        if len(members) == 1:
            found[key] = SharedMemory(one.base, one.nbytes, one.nbytes, (one,))
            continue
        for other in members:
            if other.nbytes != one.nbytes or one.nbytes % granule:
                raise ConfigError(
                    f"'{one.component}' and '{other.component}' have {one.nbytes} and {other.nbytes} bytes; "
                    f"memories that are interleaved have as many, a multiple of granule_bytes {granule}"
                )
        base = -(-end // _ALIGNED) * _ALIGNED
        found[key] = SharedMemory(base, one.nbytes * len(members), granule, tuple(members))
        end = base + one.nbytes * len(members)
    return found
