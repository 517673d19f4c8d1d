"""Queues as the host sets them up: rings in device memory, configured in the PEs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from kernbench.engine.program.operations import Region
from kernbench.engine.program.queues import BUFFER_KINDS, RingEntry
from kernbench.errors import AllocationError, UsageError
from kernbench.hardware.topology.neighbours import MachineShape, Neighbours, neighbours, pairs
from kernbench.hardware.topology.nodes import Location
from kernbench.hardware.topology.places import places
from kernbench.support.user_code import line_of

if TYPE_CHECKING:
    from kernbench.engine.program.launches import Request
    from kernbench.host.device_memory import Memory
    from kernbench.host.storage import Storage

Rings = dict[tuple[int, int], tuple[RingEntry, ...]]
"""Directions by PE (cube, pe) of one SIP."""


class QueueSet:
    """Queues that were set up together; made by ``torch.install_ipcq``.

    ``neighbours`` says where each direction of each PE leads, ``slots``, ``slot_bytes`` and
    ``buffer_kind`` what the rings are. They stay until :meth:`close`, the end of a ``with`` block or the end
    of the run.
    """

    def __init__(
        self,
        registry: Queues,
        table: Neighbours,
        slots: int,
        slot_bytes: int,
        buffer_kind: str,
    ) -> None:
        self.neighbours = table
        self.slots = slots
        self.slot_bytes = slot_bytes
        self.buffer_kind = buffer_kind
        self._registry = registry
        self._blocks: dict[Location, int] = {}
        self._closed = False

    def directions(self, location: Location) -> dict[str, Location]:
        """Where the directions of PE ``location`` (sip, cube, pe) lead."""
        return dict(self.neighbours.get(location, {}))

    def ring_bytes(self, location: Location) -> int:
        """Bytes of all rings of a PE."""
        return len(self.neighbours[location]) * self.slots * self.slot_bytes

    def close(self) -> None:
        """Wait for what was submitted, remove the queues, free their rings. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._registry.remove(self)

    def __enter__(self) -> QueueSet:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()

    def __repr__(self) -> str:
        pes = sum(bool(directions) for directions in self.neighbours.values())
        state = ", closed" if self._closed else ""
        ring = f"{self.slots} slots of {self.slot_bytes} bytes in {self.buffer_kind}"
        return f"<queues of {pes} PEs, {ring}{state}>"


class Queues:
    """All queues of a run. No PE has two of one direction."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._graph = storage.driver.machine.graph
        self._taken: set[tuple[Location, str]] = set()
        self._crossing: dict[int, str] = {}
        """Where open queues between packages that belong to no collective were set up."""

    def install(
        self,
        wiring: str | Sequence[str] | Neighbours,
        among: Iterable[Location] | None,
        slots: int | None,
        slot_bytes: int | None,
        buffer_kind: str | None,
        *,
        collective: bool = False,
    ) -> QueueSet:
        """See :meth:`Context.install_ipcq`; those of a ``collective`` serve ranks that are alike too."""
        shape = MachineShape.of(self._graph)
        if isinstance(wiring, dict):
            if among is not None:
                raise UsageError("install_ipcq: among goes with patterns; leave PEs out of the neighbours")
            table = wiring
            if unknown := sorted(set(table) - set(shape.locations())):
                raise UsageError(
                    f"install_ipcq: the topology has no such PE as {unknown[0]}; name PEs as (sip, cube, pe)"
                )
        else:
            table = neighbours(wiring, shape, among)
        table = {location: dict(directions) for location, directions in table.items() if directions}
        defaults = self._graph.node(
            places(self._graph).part("pe_ipcq", *next(iter(table), (0, 0, 0)))
        ).properties
        kind = str(defaults["buffer_kind"]) if buffer_kind is None else buffer_kind
        if kind not in BUFFER_KINDS:
            raise UsageError(
                f"install_ipcq: buffer_kind {kind!r} is not a memory; use {', '.join(BUFFER_KINDS)}"
            )
        sizes = {"slots": slots, "slot_bytes": slot_bytes}
        for name, value in sizes.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"install_ipcq: {name} is {value!r}; it must be a whole number of 1 or more")
        count, size = (
            int(defaults[name]) if value is None else value for name, value in sizes.items()
        )  # fmt: skip
        heard = pairs(table)
        if taken := sorted(self._taken & set(heard)):
            location, direction = taken[0]
            raise UsageError(
                f"install_ipcq: {self._pe(location)} has a direction '{direction}' already; close those "
                "queues first, or give the directions other names"
            )
        made = QueueSet(self, table, count, size, kind)
        if not collective and any(
            here[0] != there[0] for here, ends in table.items() for there in ends.values()
        ):
            self._crossing[id(made)] = line_of(sys._getframe())
            if self._storage.driver.scheduler.current.alike is not None:
                self.refuse_crossing("install_ipcq")
        self._reserve(made)
        self._taken |= set(heard)
        self._send(self._rings(made, heard), install=True)
        return made

    def refuse_crossing(self, what: str) -> None:
        """``UsageError`` where queues lead from a package to another outside of collectives."""
        for line in self._crossing.values():
            raise UsageError(
                f"{what}: the queues set up at {line} lead to another package; ranks that are alike use "
                "collectives for that; run with --exact (exact=True) to simulate every rank"
            )

    def _pe(self, location: Location) -> str:
        return places(self._graph).pe(*location)

    def remove(self, queues: QueueSet) -> None:
        """Take queues out of the PEs and free their rings."""
        self._storage.settle()
        self._crossing.pop(id(queues), None)
        heard = pairs(queues.neighbours)
        self._send(self._rings(queues, heard), install=False)
        self._taken -= set(heard)
        self._give_back(queues)

    def _reserve(self, queues: QueueSet) -> None:
        """A block for all rings of each PE, or none at all."""
        memory = cast("Memory", queues.buffer_kind)
        for location in queues.neighbours:
            nbytes = queues.ring_bytes(location)
            try:
                queues._blocks[location] = self._storage.memory.reserve(location, memory, nbytes)
            except AllocationError as full:
                self._give_back(queues)
                raise AllocationError(
                    f"install_ipcq: {len(queues.neighbours[location])} rings of {queues.slots} slots of "
                    f"{queues.slot_bytes} bytes for {self._pe(location)}: {full}; use fewer or smaller "
                    "slots, or another buffer_kind"
                ) from None

    def _give_back(self, queues: QueueSet) -> None:
        memory = cast("Memory", queues.buffer_kind)
        for location, pa in queues._blocks.items():
            nbytes = queues.ring_bytes(location)
            self._storage.memory.give_back(location, memory, pa, nbytes)
            self._storage.data.forget([Region(pa, nbytes)])
        queues._blocks = {}

    def _rings(
        self, queues: QueueSet, heard: dict[tuple[Location, str], tuple[Location, str]]
    ) -> dict[int, Rings]:
        """The directions of every PE, by SIP."""
        size = queues.slots * queues.slot_bytes
        address: dict[tuple[Location, str], int] = {}
        for location, directions in queues.neighbours.items():
            for number, direction in enumerate(directions):
                address[location, direction] = queues._blocks[location] + number * size
        by_sip: dict[int, Rings] = {}
        for location, directions in sorted(queues.neighbours.items()):
            by_sip.setdefault(location[0], {})[location[1:]] = tuple(
                RingEntry(
                    direction,
                    peer,
                    address[location, direction],
                    address[heard[location, direction]],
                    queues.slots,
                    queues.slot_bytes,
                    queues.buffer_kind,
                )
                for direction, peer in directions.items()
            )
        return by_sip

    def _send(self, by_sip: dict[int, Rings], *, install: bool) -> None:
        """Send configurations down to the PEs, and wait until they are there."""
        requests: list[Request] = [
            self._storage.driver.set_up_queues(sip, rings, install=install) for sip, rings in by_sip.items()
        ]
        self._storage.driver.wait(requests)
