"""The queues of collectives: set up when an algorithm first needs them, once for all ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.errors import CollectiveError
from kernbench.hardware.topology.neighbours import Neighbours
from kernbench.hardware.topology.nodes import Location
from kernbench.hardware.topology.places import places
from kernbench.host.scheduler import Event

if TYPE_CHECKING:
    from kernbench.host import Context


class Transport:
    """Sets up queues between the PEs of groups, and remembers which there are.

    ``slots``, ``slot_bytes`` and ``buffer_kind`` are those of the rings; None: the topology's.
    """

    def __init__(
        self, context: Context, slots: int | None, slot_bytes: int | None, buffer_kind: str | None
    ) -> None:
        self._context = context
        self._slots, self._slot_bytes, self._buffer_kind = slots, slot_bytes, buffer_kind
        self._known: dict[tuple[Location, str], Location] = {}
        self._setups: dict[tuple[Location, str], Event] = {}
        self._ready: Neighbours | None = None
        """The last table that is complete."""

    def ensure(self, wanted: Neighbours) -> None:
        """Return when every direction of ``wanted`` is set up.

        Raises:
            CollectiveError: A direction leads to another PE already.
            AllocationError: The rings do not fit.
        """
        if wanted is self._ready:
            return
        missing: Neighbours = {}
        others: dict[int, Event] = {}
        for location, directions in wanted.items():
            for direction, peer in directions.items():
                key = (location, direction)
                known = self._known.get(key)
                if known is None:
                    missing.setdefault(location, {})[direction] = peer
                elif known != peer:
                    of = places(self._context.graph)
                    here, there, other = (of.pe(*one) for one in (location, known, peer))
                    raise CollectiveError(
                        f"direction '{direction}' of {here} leads to {there}, not to {other}; use a group of "
                        "its own, or directions of another name"
                    )
                elif key in self._setups:
                    others[id(self._setups[key])] = self._setups[key]
        if missing:
            self._set_up(missing)
        for setup in others.values():
            self._context.scheduler.wait(setup)
        self._ready = wanted

    def _set_up(self, missing: Neighbours) -> None:
        setup = Event("the setup of queues by another rank")
        keys = [(location, direction) for location, directions in missing.items() for direction in directions]
        for location, direction in keys:
            self._known[location, direction] = missing[location][direction]
            self._setups[location, direction] = setup
        try:
            self._context.queues.install(
                missing, None, self._slots, self._slot_bytes, self._buffer_kind, collective=True
            )
        except BaseException:
            for key in keys:
                self._known.pop(key)
            raise
        finally:
            for key in keys:
                del self._setups[key]
            setup.happen()
