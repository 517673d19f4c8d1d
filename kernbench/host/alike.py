"""Ranks that do the same, each on a package of its own: the first, the leader, is simulated for all.

Every rank runs its program, makes its tensors and takes part in collectives, but for those that are folded
(:mod:`kernbench.host.collectives.folding`). Other launches of the followers are not sent: one is over when
the leader's of the same number is. What a package counts between two collectives is then what the leader's
does.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernbench.engine.core.counts import Counts, counted
from kernbench.engine.core.server import Server
from kernbench.errors import UsageError
from kernbench.hardware.topology import packages
from kernbench.host.estimates import Estimate
from kernbench.host.launching import LaunchHandle
from kernbench.host.meeting import Meeting
from kernbench.host.same_launch import Sent, difference
from kernbench.host.scheduler import Event
from kernbench.host.waits import waits
from kernbench.support.user_code import line_of

if TYPE_CHECKING:
    from kernbench.engine.machine.machine import Machine
    from kernbench.engine.program.launches import Request
    from kernbench.host.scheduler import Scheduler

EXACT = "run with --exact (exact=True) to simulate every rank"


class _Package:
    """The parts of a rank's package, in the same order for each, and what they had counted."""

    def __init__(self, known: Mapping[str, Server], names: Sequence[str]) -> None:
        self.parts = [known[name] for name in names]
        self.rows = [one.index for one in self.parts]
        self.open = 0
        """Collectives of the rank that are under way."""
        self.note()

    def note(self) -> None:
        """What its parts have counted until now is not to be shared."""
        self.before: Counts = counted(self.parts)


class Alike:
    """The ranks of one spawn, on the packages ``sips``.

    Raises:
        UsageError: packages differ.
    """

    def __init__(self, machine: Machine, scheduler: Scheduler, meeting: Meeting, sips: Sequence[int]) -> None:
        self._machine, self._scheduler, self._meeting = machine, scheduler, meeting
        self.sips = sips
        self._led: list[tuple[Sent, int, Request]] = []
        self._done = [0 for _ in sips]
        """Launches by rank."""
        self._stands = ""
        """What the leader does instead of a further launch."""
        self._news = Event("a launch of rank 0")
        self.from_ns = machine.clock.now
        self.leaders: list[dict[str, str]] = []
        """By rank that part or link of the leader's package which is where one of the rank's is."""
        self._packages = self._paired(sips)
        self.counts = np.zeros_like(machine.beyond)
        """What was added to the counters of the followers' packages."""
        self.when_shared: list[Callable[[], None]] = []
        """Called when what the leader has counted is shared."""
        self.collectives = self.folded = 0
        """How many there were, and of these how many the leader has carried out for all."""
        self.why: Counter[str] = Counter()
        """Why it has not carried out more: collectives by reason."""

    def _paired(self, sips: Sequence[int]) -> list[_Package]:
        used = {one.resource: one for one in self._machine.resources}
        names: list[list[str]] = []
        known = None
        for rank, sip in enumerate(sips[1:], 1):
            try:
                known = known or packages.Packages(self._machine.graph)
                pairs = known.alike(sips[0], sip)
            except UsageError as error:
                raise UsageError(
                    f"spawn(alike=True): rank {rank} is not like rank 0: {error}; {EXACT}"
                ) from None
            kept = [(a, b) for a, b in pairs.items() if a in used]
            names = names or [[a for a, _ in kept]]
            names.append([b for _, b in kept])
            self.leaders = self.leaders or [{a: a for a in pairs}]
            self.leaders.append({b: a for a, b in pairs.items()})
        return [_Package(used, of) for of in names]

    def launch(
        self, rank: int, made: Sent, sips: Sequence[int], send: Callable[[], Request]
    ) -> tuple[Request, int]:
        """A launch of ``rank``, other than of a collective that is not folded; ``send`` sends it if it leads.

        Returns:
            The request, and the number of the launch that it follows, -1 of the leader's own.

        Raises:
            UsageError: it is not like the leader's, or concerns another package.
        """
        if tuple(sips) != (self.sips[rank],):
            where = ", ".join(map(str, sips))
            raise UsageError(
                f"{made.said} of rank {rank} has tensors on package {where}; ranks that are alike work on "
                f"their own, {self.sips[rank]}; {EXACT}"
            )
        if self._packages[rank].open:
            raise UsageError(
                f"{made.said} begins while a collective of rank {rank} is under way; of ranks that are alike "
                f"one has to wait for it first; {EXACT}"
            )
        number = self._done[rank]
        self._done[rank] += 1
        if rank == 0:
            request = send()
            self._led.append((made, self._machine.launches - 1, request))
            self._tell()
            return request, -1
        while len(self._led) <= number:
            if self._stands:
                raise UsageError(f"rank 0 {self._stands}, and rank {rank} makes {made.said}; {EXACT}")
            self._scheduler.wait(self._news)
        led, follows, request = self._led[number]
        if words := difference(led, made):
            raise UsageError(f"{made.said} of rank {rank} is not like rank 0's {led.said}: {words}; {EXACT}")
        return request, follows

    def meet(self, rank: int, what: str, then: Callable[[], None] | None = None) -> None:
        """All ranks come together for ``what``; nothing that they have launched is under way."""
        if rank == 0:
            self._stands = what
            self._tell()
        elif self._done[rank] < len(self._led) and self._stands:
            raise UsageError(f"rank {rank} {what}, and rank 0 has made {self._missing(rank)} before; {EXACT}")

        def all_here() -> None:
            self._stands = ""
            for one, done in enumerate(self._done):
                if done != len(self._led):
                    raise UsageError(
                        f"rank {one} {what}, and rank 0 has made {self._missing(one)} before; {EXACT}"
                    )
            self._share()
            if then is not None:
                then()

        self._meeting.come(what, all_here)

    def _missing(self, rank: int) -> str:
        """The leader's launch that ``rank`` has not made."""
        return self._led[self._done[rank]][0].said

    def collective(self, rank: int, name: str) -> None:
        """``rank`` calls a collective: all come together first."""
        self.meet(rank, f"calls {name} at {line_of(sys._getframe())}")

    def under_way(self, rank: int, launch: LaunchHandle, folded: bool) -> None:
        """The part of ``rank`` in a collective was sent, or is done for it by the leader."""
        package = self._packages[rank]
        package.open += 1

        def over() -> None:
            package.open -= 1
            if not folded:
                package.note()

        launch.request.when_done(over)

    def estimate(self, led: Sequence[LaunchHandle]) -> Estimate:
        """What was accounted for: they have ended. ``led`` are the launches of the leader."""
        like = np.arange(len(self.counts))
        for package in self._packages:
            like[package.rows] = self._packages[0].rows
        now, others = self._machine.clock.now, len(self.sips) - 1
        waited = sum(one.times * wait for one, wait in zip(led, waits(led), strict=True))
        return Estimate(
            "alike",
            "package",
            self.from_ns,
            now,
            1,
            others,
            least_ns=now - self.from_ns - waited,
            counts=self.counts,
            collectives={"folded": self.folded, "of": self.collectives, "why": dict(self.why)},
            like=like,
        )

    def _share(self) -> None:
        """Since its last collective each package has counted what the leader's has."""
        leader = self._packages[0]
        grown = counted(leader.parts) - leader.before
        for package in self._packages[1:]:
            missing = grown - (counted(package.parts) - package.before)
            self.counts[package.rows] += missing
            self._machine.beyond[package.rows] += missing
            for mine, theirs in zip(leader.parts, package.parts, strict=True):
                theirs.max_queue = max(theirs.max_queue, mine.max_queue)
        for package in self._packages:
            package.note()
        for shared in self.when_shared:
            shared()

    def count_outside(self, parts: Iterable[Server], transactions: int, nbytes: int) -> None:
        """What has passed ``parts`` outside of packages for the leader would have for each follower, too."""
        others = len(self.sips) - 1
        for part in parts:
            for counts in (self.counts, self._machine.beyond):
                counts[part.index] += others * nbytes, 0.0, 0.0, others * transactions

    def _tell(self) -> None:
        news, self._news = self._news, Event("a launch of rank 0")
        news.happen()
