"""How runs treat the cycle collector of the Python process that they run in.

A run allocates millions of small tuples and hardly a cycle. At the default pace the collector walks the
machine and the growing trace over and over, which takes a tenth of a run's time. Worse, the memory of a
tensor in a reference cycle would be reused from whenever Python happens to collect it, and addresses
would differ from one process to the next. So the collector is off while time is simulated and runs at
points that the run itself determines: each time the number of events is four times that of the last time,
and before an allocation is given up.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from kernbench.engine.core.clock import Clock
from kernbench.support import collector

_FIRST_COLLECTION = 1 << 20
"""Events before the first collection."""
_SPACING = 4
"""Times as many events before the next: a collection looks at all that the run keeps, and finds little."""


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
