"""A run in a thread of its own: how far it is, and a way to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kernbench.api.result import Run
from kernbench.run_options import Progress


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a run was when it last said so: simulated ns, events, and the share of its limit in words."""

    sim_ns: float = 0.0
    events: int = 0
    share: str = ""


class Watched:
    """A run to be watched. ``start`` runs it, calling what it is given now and then.

    When it is over, ``run`` or ``error`` is set: the error as it was raised, ``KeyboardInterrupt`` where it
    was stopped.
    """

    def __init__(self, name: str, start: Callable[[Progress], Run], max_ns: float | None = None) -> None:
        self.name = name
        self.max_ns = max_ns
        self.seen = Seen()
        self.stopping = False
        self.started = time.monotonic()
        self.run: Run | None = None
        self.error: BaseException | None = None
        self._start = start

    def work(self) -> None:
        """Run to the end; called in a thread."""
        self.started = time.monotonic()
        try:
            self.run = self._start(self._progress)
        except BaseException as error:  # raised again where the screens are gone
            self.error = error

    def stop(self) -> None:
        """Stop at the next event."""
        self.stopping = True

    def _progress(self, sim_ns: float, events: int) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        share = "" if not self.max_ns else f", {min(sim_ns / self.max_ns, 1.0):.0%} of the time allowed"
        self.seen = Seen(sim_ns, events, share)
