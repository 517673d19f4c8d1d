"""What a run accounts for without having simulated it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernbench.engine.core.counts import Counts, counted
from kernbench.host.waits import least, waits

if TYPE_CHECKING:
    from kernbench.host.context import Context
    from kernbench.host.launching import LaunchHandle


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run accounts for without having simulated it; times in ns.

    Of a ``repeat`` the interval in which ``times`` periods pass beyond the ``simulated`` ones, with the
    lengths of the last two of those; ``least_ns`` is the shortest that a period could be in a run that waits
    at no boundary. Of ``alike`` ranks the interval in which they ran, with the number of
    packages that were simulated, and of those beside them; ``least_ns`` is that interval without waits.
    ``collectives`` has how many of theirs were simulated on one package alone (``folded of why``).
    """

    kind: str
    name: str
    from_ns: float
    to_ns: float
    simulated: int
    times: int
    period_ns: float = 0.0
    before_ns: float = 0.0
    least_ns: float = 0.0
    counts: Counts | None = field(default=None, repr=False, compare=False)
    """What it adds to what the parts of the machine count."""
    collectives: Mapping[str, Any] = field(default_factory=dict)
    like: Any = field(default=None, repr=False, compare=False)
    """By part the one whose simulated use it has over time; None: each its own."""


class _Past:
    """A goal that is reached at an instant."""

    done = False

    def come(self) -> None:
        self.done = True


class Boundaries:
    """What the ranks of a spawn, or a program without ranks, know together of the repeat that they are in."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.counts: list[Counts] = []
        self.launches: list[tuple[list[LaunchHandle], list[LaunchHandle]]] = []
        """By rank that is simulated its launches in the last two periods."""

    def note(self, context: Context) -> None:
        """All are here: drain the machine, and note when that was and what the parts had counted."""
        machine = context.scheduler.machine
        machine.drain()
        self.times = [*self.times[-2:], machine.clock.now]
        self.counts = [*self.counts[-1:], counted(machine.resources) + machine.beyond]

    def account(self, context: Context, name: str, simulated: int, times: int) -> None:
        """Let ``times`` more periods like the last one pass."""
        machine = context.scheduler.machine
        first, second, now = self.times
        past = _Past()
        machine.clock.call_at(now + times * (now - second), past.come)
        machine.advance(past)
        counts = times * (self.counts[1] - self.counts[0])
        machine.beyond += counts
        shortest = min(
            least(last, now - second, sum(waits([*before, *last])[len(before) :]))
            for before, last in self.launches
        )
        self.launches = []
        lengths = now - second, second - first, shortest
        context.estimates.append(
            Estimate("repeat", name, now, machine.clock.now, simulated, times, *lengths, counts)
        )
