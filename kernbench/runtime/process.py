"""How runs and sweeps treat the Python process that they run in: its signals and its cycle collector.

Ctrl-C must end them even where it arrives inside a finaliser: Python drops exceptions raised there, and
kernels release handles all the time, as Dask releases answers. The signal therefore leaves a mark as well, on
the clock or on the sweep, whose loops raise the exception that was dropped.

A run allocates millions of small tuples and hardly a cycle. At the default pace the collector walks the
machine and the growing trace over and over, which takes a tenth of a run's time. Worse, the memory of a
tensor in a reference cycle would be reused from whenever Python happens to collect it, and addresses
would differ from one process to the next. So the collector is off while time is simulated and runs at
points that the run itself determines: each time the number of events is four times that of the last time,
and before an allocation is given up.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from kernbench import collector
from kernbench.sim.clock import Clock

_FIRST_COLLECTION = 1 << 20
"""Events before the first collection."""
_SPACING = 4
"""Times as many events before the next: a collection looks at all that the run keeps, and finds little."""


class _Interrupt:
    """A handler of SIGINT that leaves a mark, those of the blocks around it as well, and then interrupts."""

    def __init__(self, mark: Callable[[], object], around: object) -> None:
        self._mark, self._around = mark, around

    def mark(self) -> None:
        """Say that there was an interrupt."""
        self._mark()
        if isinstance(self._around, _Interrupt):
            self._around.mark()

    def __call__(self, *_: object) -> NoReturn:
        self.mark()
        raise KeyboardInterrupt


@contextmanager
def interruptible(mark: Callable[[], object]) -> Iterator[None]:
    """Within the block SIGINT calls ``mark`` before it raises, so that who looks at the mark misses none.

    Nothing is changed where the program has a handler of its own, and in threads that get no signals.
    """
    before = signal.getsignal(signal.SIGINT)
    ours = before is signal.default_int_handler or isinstance(before, _Interrupt)
    if not ours or threading.current_thread() is not threading.main_thread():
        yield
        return

    def unraisable(dropped: Any) -> None:
        if dropped.exc_type is not KeyboardInterrupt:  # which is marked
            shown(dropped)

    signal.signal(signal.SIGINT, _Interrupt(mark, before))
    shown, sys.unraisablehook = sys.unraisablehook, unraisable
    try:
        yield
    finally:
        sys.unraisablehook = shown
        signal.signal(signal.SIGINT, before)


@contextmanager
def paced_collector(clock: Clock) -> Iterator[None]:
    """Within the block cycles are collected only each time that ``clock.events`` has grown to four times.

    Objects that exist now are left alone.
    """
    report, due = clock.on_progress, _FIRST_COLLECTION

    def progress(now: float, events: int) -> None:
        nonlocal due
        if events >= due:
            due = _SPACING * events
            gc.collect()
        if report is not None:
            report(now, events)

    was_enabled = gc.isenabled()
    with collector.aside():
        gc.disable()
        clock.on_progress = progress
        try:
            yield
        finally:
            clock.on_progress = report
            if was_enabled:
                gc.enable()
