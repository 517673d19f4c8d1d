"""Where ranks come together: none goes on before all have come."""

from __future__ import annotations

from collections.abc import Callable

from kernbench.errors import UsageError
from kernbench.host.estimates import Boundaries
from kernbench.host.scheduler import Event, Scheduler


class Meeting:
    """The meetings of ``ranks`` ranks, one after another; of a program without ranks it is alone there."""

    def __init__(self, scheduler: Scheduler, ranks: int = 1) -> None:
        self._scheduler = scheduler
        self._ranks = ranks
        self._here: dict[int, str] = {}
        self._left: dict[int, str] = {}
        self._all_here = Event("all ranks")
        self.boundaries = Boundaries()
        """Those of the repeat that they are in."""

    def come(self, what: str, then: Callable[[], None]) -> None:
        """Wait until every rank has come for the same thing; the last one carries out ``then`` first.

        Args:
            what: What the rank does, and the line at which it does it after ``" at "``.
            then: What there is to be done while all stand here.

        Raises:
            UsageError: Another rank has come for something else, or has ended.
        """
        me = self._scheduler.asking.rank or 0
        for rank, other in (*self._left.items(), *self._here.items()):
            if other.rpartition(" at ")[0] != what.rpartition(" at ")[0]:
                raise UsageError(f"rank {me} {what}, and rank {rank} {other}; every rank has to do the same")
        self._here[me] = what
        if len(self._here) < self._ranks:
            self._scheduler.wait(self._all_here)
            return
        self._here, event, self._all_here = {}, self._all_here, Event("all ranks")
        then()
        event.happen()

    def leave(self) -> None:
        """A rank ends.

        Raises:
            UsageError: Another one waits for it at a meeting.
        """
        me = self._scheduler.asking.rank or 0
        self._left[me] = "has ended"
        for rank, other in self._here.items():
            raise UsageError(f"rank {rank} {other}, and rank {me} has ended; every rank has to do the same")
