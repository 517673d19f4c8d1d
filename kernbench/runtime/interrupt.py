"""Ctrl-C while time is simulated ends the run, also when it strikes where exceptions get lost.

Python drops an exception that is raised inside a finaliser, and kernels let go of handles all the time. So
the signal leaves a mark on the clock as well, and the event loop raises again what was dropped; nothing is
printed of the first.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernbench.sim.clock import Clock


@contextmanager
def interruptible(clock: Clock) -> Iterator[None]:
    """Within the block SIGINT interrupts ``clock``; not where the program has a handler of its own."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not ours or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        clock.interrupt()
        raise KeyboardInterrupt

    def unraisable(dropped: Any) -> None:
        if dropped.exc_type is not KeyboardInterrupt:  # of which the clock knows
            shown(dropped)

    before, shown = signal.signal(signal.SIGINT, interrupt), sys.unraisablehook
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        sys.unraisablehook = shown
        signal.signal(signal.SIGINT, before)
