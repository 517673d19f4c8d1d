"""The components behind the physical addresses of a compiled topology.

The layout (:mod:`kernbench.hardware.address.layout`) says how an address is read; this map says which
component answers it and how many bytes a topology implements there. HBM slices of a cube follow
each other in its HBM window, so a range may cross from one slice into the next; nothing else adjoins.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple, TypeVar

from kernbench.errors import AddressError, ConfigError
from kernbench.hardware.address.interleaving import SharedMemory, shared_memories
from kernbench.hardware.address.layout import address_bits
from kernbench.hardware.address.physical import PhysAddr
from kernbench.hardware.address.requests import PhysicalRequest, by_channel, gathered_by_channel
from kernbench.hardware.address.runs import Runs
from kernbench.hardware.address.windows import AddressWindow, whole, windows_of
from kernbench.hardware.kinds import component_kind
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import PropertyGraph

Location = TypeVar("Location", bound=tuple[int, ...])


class AddressTarget(NamedTuple):
    """Where an address leads: byte ``offset`` within ``component``.

    ``kind``: ``hbm`` (offset within the slice), ``sram``, ``tcm``, and for registers and local memories
    ``pe``, ``mcpu``, ``iocpu``, with ``unit`` the name of the sub-unit that the offset is within.
    """

    component: str
    offset: int
    kind: str
    unit: str = ""


_KEPT = 4096
"""Ranges over several memories or channels whose requests are kept.

A transfer asks for them when it is checked and when it is sent.
"""


class AddressMap:
    """The addresses of ``graph``; a topology that the layout cannot hold is a :class:`ConfigError`."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.bits = address_bits(int(graph.properties.get("sips", 1)))
        """Width of a physical address: 51 bits, and more in a machine of over 16 packages."""
        self._windows = windows_of(graph, self.bits)
        self._graph = graph
        self._of: dict[str, AddressWindow] = {}
        """The windows of memories, by component."""
        for window in self._windows:
            self.bits = max(self.bits, (window.end - 1).bit_length())
        self._bases = [window.base for window in self._windows]
        self._ends = [window.end for window in self._windows]
        self._targets = [(w.component, w.kind, w.unit) for w in self._windows]
        self._hbm: dict[tuple[int, int, int], AddressWindow] = {}
        self._first_slice: dict[tuple[int, int], AddressWindow] = {}
        self._sram: dict[tuple[int, int], AddressWindow] = {}
        self._tcm: dict[tuple[int, int, int], AddressWindow] = {}
        self._tcm_parts: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._found: dict[tuple[int, int], list[PhysicalRequest]] = {}
        self._channels = _channel_routers(graph)
        self.burst_bytes = 1
        """Bytes of an HBM burst (the largest of the topology's controllers)."""
        for window in self._windows:
            self._index(graph, window)
        end = max(self._ends, default=0)
        self._shared = shared_memories(graph, self._hbm, end)
        self._dealt = [memory for memory in self._shared.values() if memory.base >= end]
        if self._dealt and self._channels:
            raise ConfigError(
                "memory is interleaved, and HBM channels have routers of their own; use one of them"
            )
        self._dealt_from = self._dealt[0].base if self._dealt else 1 << 62
        for memory in self._dealt:
            self.bits = max(self.bits, (memory.base + memory.nbytes - 1).bit_length())

    def pe_name(self, sip: int, cube: int, pe: int) -> str:
        """The name of a PE in the topology."""
        return places(self._graph).pe(sip, cube, pe)

    @property
    def space(self) -> int:
        """One past the highest physical address, where virtual and logical addresses begin."""
        return 1 << self.bits

    def resolve(self, pa: int) -> AddressTarget:
        """The component that answers ``pa``; :class:`AddressError` names the field that leads nowhere."""
        if pa >= self._dealt_from:
            window, offset = self._dealt_to(pa, 1).find(pa)
            return AddressTarget(window.component, offset, window.kind)
        index = self._find(pa)
        component, kind, unit = self._targets[index]
        return AddressTarget(component, pa - self._bases[index], kind, unit)

    def split(self, pa: int, nbytes: int) -> list[tuple[int, int]]:
        """``[pa, pa + nbytes)`` cut where it crosses into another HBM slice: ``(pa, nbytes)`` in order.

        Each piece lies within one component, or in a memory that is interleaved over several. A range that
        leaves what is implemented is an error.
        """
        if nbytes < 0:
            raise AddressError(f"nbytes {nbytes} must not be negative")
        if pa >= self._dealt_from:
            self._dealt_to(pa, nbytes)
            return [(pa, nbytes)]
        end = pa + nbytes
        if pa < end <= self._ends[self._find(pa)]:
            return [(pa, nbytes)]
        pieces = []
        while pa < end:
            stop = min(end, self._ends[self._find(pa)])
            pieces.append((pa, stop - pa))
            pa = stop
        return pieces

    def requests(self, pa: int, nbytes: int) -> list[PhysicalRequest]:
        """The requests sent for ``[pa, pa + nbytes)``: one for each memory that it touches.

        An HBM slice with channel routers gets one for each of its channels that the range touches. In order
        of first bytes. A range that leaves what is implemented is an error.
        """
        if pa >= self._dealt_from:
            return self._dealt_to(pa, nbytes).requests(pa, nbytes)
        if nbytes > 0:
            index = self._find(pa)
            component, base = self._targets[index][0], self._bases[index]
            if pa + nbytes <= self._ends[index] and component not in self._channels:
                return [PhysicalRequest(component, pa, pa - base, nbytes)]
        known = self._found.get((pa, nbytes))
        if known is not None:
            return known
        requests: list[PhysicalRequest] = []
        for start, length in self.split(pa, nbytes):
            target = self.resolve(start)
            routers = self._channels.get(target.component)
            if routers is None:
                requests.append(PhysicalRequest(target.component, start, target.offset, length))
            else:
                component, offset = target.component, target.offset
                requests += by_channel(component, start, offset, length, self.burst_bytes, routers)
        if len(self._found) >= _KEPT:
            self._found.clear()
        self._found[pa, nbytes] = requests
        return requests

    def memory_at(self, pa: int) -> int:
        """Where the memory begins that has the byte at ``pa``, be it one controller's or interleaved."""
        if pa >= self._dealt_from:
            return self._dealt_to(pa, 1).base
        return self._bases[self._find(pa)]

    def gathered(self, runs: Runs) -> list[PhysicalRequest]:
        """The requests sent for ``runs`` of one memory: one, or one for each controller or channel of it."""
        first, end = runs.span
        if first >= self._dealt_from:
            return self._dealt_to(first, end - first).gathered(runs)
        component, offset = self.resolve(first)[:2]
        base = first - offset
        within = Runs(runs.form, runs.at - base)
        routers = self._channels.get(component)
        if routers is None:
            return [PhysicalRequest(component, first, offset, runs.nbytes, gathered=within)]
        return gathered_by_channel(component, base, within, self.burst_bytes, routers)

    def hbm(self, sip: int, cube: int, slice: int, offset: int) -> int:
        """Address of byte ``offset`` of an HBM slice."""
        return _at(self.hbm_window(sip, cube, slice), "hbm", offset)

    def sram(self, sip: int, cube: int, offset: int) -> int:
        """Address of byte ``offset`` of a cube's shared SRAM."""
        return _at(self.sram_window(sip, cube), "sram", offset)

    def tcm(self, sip: int, cube: int, pe: int, offset: int) -> int:
        """Address of byte ``offset`` of a PE's TCM."""
        return _at(self.tcm_window(sip, cube, pe), "tcm", offset)

    def hbm_window(self, sip: int, cube: int, slice: int) -> AddressWindow:
        """All of an HBM slice."""
        return _lookup(self._hbm, (sip, cube, slice), ("sip", "cube", "slice"), "HBM slice")

    def shared_memory(self, sip: int, cube: int) -> SharedMemory | None:
        """The memory that a PE shares with its chiplet or package, None where PEs have memories of their own.

        Raises:
            AddressError: memory is interleaved, and there is none.
        """
        over = str(self._graph.properties.get("interleave", ""))
        if not over:
            return None
        found = self._shared.get((sip, cube if over == "chiplet" else -1))
        if found is None:
            where = f"sip {sip}, cube {cube}" if over == "chiplet" else f"sip {sip}"
            raise AddressError(f"memory is interleaved over the {over}, but {where} has no HBM controller")
        return found

    def sram_window(self, sip: int, cube: int) -> AddressWindow:
        """All of a cube's shared SRAM."""
        return _lookup(self._sram, (sip, cube), ("sip", "cube"), "shared SRAM")

    def tcm_window(self, sip: int, cube: int, pe: int) -> AddressWindow:
        """All of a PE's TCM: scheduler-reserved bytes, kernel scratch, allocatable bytes, in this order."""
        return _lookup(self._tcm, (sip, cube, pe), ("sip", "cube", "pe"), "TCM")

    def window(self, memory: str) -> AddressWindow:
        """All of the memory called ``memory``."""
        return self._of[memory]

    def location(self, memory: str, pe: int) -> tuple[int, int, int]:
        """(sip, cube, pe) of a memory: that of a slice's PE, and ``pe`` where it is no PE's own."""
        node = self._graph.node(memory)
        p = node.properties
        own = p["slice" if component_kind(node).sliced else "pe"]
        return int(p["sip"]), int(p["cube"]), pe if int(own) < 0 else int(own)

    def scratch(self, sip: int, cube: int, pe: int) -> tuple[int, int]:
        """Kernel scratch of a PE's TCM: ``(pa, nbytes)``."""
        window = self.tcm_window(sip, cube, pe)
        reserved, scratch = self._tcm_parts[sip, cube, pe]
        return window.base + reserved, scratch

    def allocatable_tcm(self, sip: int, cube: int, pe: int) -> tuple[int, int]:
        """``(pa, nbytes)`` of the allocatable bytes of a PE's TCM, behind reserved bytes and scratch."""
        window = self.tcm_window(sip, cube, pe)
        used = sum(self._tcm_parts[sip, cube, pe])
        return window.base + used, window.nbytes - used

    def _index(self, graph: PropertyGraph, window: AddressWindow) -> None:
        node = graph.node(window.component)
        cube = whole(node, "sip"), whole(node, "cube")
        if window.kind in ("hbm", "sram", "tcm", "memory"):
            self._of[node.id] = window
        if window.kind == "hbm":
            first = self._first_slice.setdefault(cube, window)
            if first.nbytes != window.nbytes:
                raise ConfigError(
                    f"components '{first.component}' and '{node.id}' have slices of {first.nbytes} and "
                    f"{window.nbytes} bytes; the slices of a cube are equal"
                )
            self._hbm[(*cube, whole(node, "slice"))] = window
            self.burst_bytes = max(self.burst_bytes, whole(node, "burst_bytes"))
        elif window.kind == "sram":
            self._sram[cube] = window
        elif window.kind == "tcm":
            parts = whole(node, "scheduler_reserved_bytes"), whole(node, "scratch_bytes")
            if min(parts) < 0 or sum(parts) > window.nbytes:
                raise ConfigError(
                    f"component '{node.id}': scheduler_reserved_bytes {parts[0]} + scratch_bytes {parts[1]} "
                    f"do not fit its size_bytes {window.nbytes}"
                )
            pe = (*cube, whole(node, "pe"))
            self._tcm[pe], self._tcm_parts[pe] = window, parts

    def _dealt_to(self, pa: int, nbytes: int) -> SharedMemory:
        """The interleaved memory that all of ``[pa, pa + nbytes)`` is in."""
        for memory in self._dealt:
            if memory.holds(pa, nbytes):
                return memory
        raise AddressError(
            f"physical addresses {pa:#x} to {pa + nbytes:#x} are in no memory of this topology"
        )

    def _find(self, pa: int) -> int:
        index = bisect_right(self._bases, pa) - 1
        if index < 0 or pa >= self._ends[index]:
            raise self._nowhere(pa)
        return index

    def _nowhere(self, pa: int) -> AddressError:
        """Why no window holds ``pa``: the first field, most significant first, that leads to none."""
        if any(window.start is None for window in self._windows):
            return AddressError(f"physical address {pa:#x} is in no memory of this topology")
        wanted = PhysAddr.decode(pa, self.bits)
        left = self._windows
        for field in ("sip_id", "die_id", "kind", "pe_id", "unit"):
            value = getattr(wanted, field)
            left = [window for window in left if getattr(window.start, field) == value]
            if not left:
                shown = getattr(value, "name", value)
                return AddressError(f"physical address {pa:#x}: {field} {shown} is not in this topology")
        size = sum(window.nbytes for window in left)
        return AddressError(
            f"physical address {pa:#x}: offset {wanted.offset:#x} is past the {size:#x} bytes of "
            f"{wanted.kind.name} that this topology has there"
        )


def _channel_routers(graph: PropertyGraph) -> dict[str, list[str]]:
    """The channel routers of every slice that has them, by channel."""
    found: dict[str, list[str]] = {}
    for node in graph.nodes("ChannelRouter"):
        ctrl = places(graph).part("hbm_ctrl", whole(node, "sip"), whole(node, "cube"), whole(node, "slice"))
        found.setdefault(ctrl, []).append(node.id)
    return found


def _at(window: AddressWindow, field: str, offset: int) -> int:
    if not 0 <= offset < window.nbytes:
        raise AddressError(
            f"{field} offset {offset:#x} is outside the {window.nbytes:#x} bytes of '{window.component}'"
        )
    return window.base + offset


def _lookup(
    table: dict[Location, AddressWindow], location: Location, fields: tuple[str, ...], what: str
) -> AddressWindow:
    found = table.get(location)
    if found is not None:
        return found
    for depth, field in enumerate(fields):
        known = sorted({key[depth] for key in table if key[:depth] == location[:depth]})
        if location[depth] not in known:
            has = f"use {known[0]}..{known[len(known) - 1]}" if known else "there is none"
            raise AddressError(f"{field} {location[depth]} has no {what} in this topology; {has}")
    raise AssertionError("unreachable: a location is in the table when each of its fields is")
