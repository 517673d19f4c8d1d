"""A run in a thread of its own: how far it is, and a way to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable

from kernbench.api.result import Run
from kernbench.draw.progress import line
from kernbench.engine.run_options import Progress, Work, WorkProgress


class Watched:
    """A run to be watched. ``start`` runs it, calling what it is given now and then.

    When it is over, ``run`` or ``error`` is set: the error as it was raised, ``KeyboardInterrupt`` where it
    was stopped.
    """

    def __init__(self, name: str, start: Callable[[Progress], Run], max_ns: float | None = None) -> None:
        self.name = name
        self.max_ns = max_ns
        self.text = "preparing"
        """How far it is."""
        self.stopping = False
        self.run: Run | None = None
        self.error: BaseException | None = None
        self._start = start
        self._began = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether it has ended, one way or another."""
        return self.run is not None or self.error is not None

    def work(self) -> None:
        """Run to the end; called in a thread."""
        self._began = time.monotonic()
        try:
            self.run = self._start(WorkProgress(self._progress))
        except BaseException as error:  # raised again where the screens are gone
            self.error = error

    def stop(self) -> None:
        """Stop at the next event."""
        self.stopping, self.text = True, "stopping"

    def _progress(self, sim_ns: float, events: int, work: Work) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        share = min(sim_ns / self.max_ns, 1.0) if self.max_ns else work.share
        self.text = line(sim_ns, events, time.monotonic() - self._began, share, work.text)
