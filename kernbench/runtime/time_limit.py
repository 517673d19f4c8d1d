"""Ends users' code that does not end by itself: at a limit of wall time, and after Ctrl-C.

The run is interrupted at its next event. Where no event comes, a kernel, rank or bench is in its own code:
``KeyboardInterrupt`` is raised there, a few times, for it may be caught. Then the program is left where it
stands (:mod:`kernbench.user_greenlets`). In threads that get no signals it is only raised.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from greenlet import getcurrent

from kernbench.user_code import line_of
from kernbench.user_greenlets import UserGreenlet

_GRACE_S = 1.0
"""What programs have after Ctrl-C to end by themselves."""
_AGAIN_S = 0.1
"""How often a program that goes on is interrupted again."""
_TIMES = 10
"""So many times it is interrupted before it is left."""
_SIGNAL = getattr(signal, "SIGALRM", None)


class TimeLimit:
    """Watches one run. ``mark`` has it end at its next event; ``passed``: its ``seconds`` are over."""

    def __init__(self, mark: Callable[[], object], seconds: float | None) -> None:
        self.passed = False
        self.left_at = ""
        """The line of the first program that was left."""
        self._mark, self._seconds = mark, seconds
        self._thread_id = threading.get_ident()
        self._in_main = threading.current_thread() is threading.main_thread()
        self._watches: list[threading.Thread] = []
        self._over = threading.Event()
        self._due = False
        self._times = 0
        self._raised = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within the block the limit holds."""
        signalled = self._in_main and _SIGNAL is not None
        before: Any = signal.signal(_SIGNAL, self._signalled) if signalled and _SIGNAL else None
        self._before = before
        try:
            if self._seconds is not None:
                self._start(self._seconds, self._pass)
            yield
        finally:
            self._over.set()
            for watch in self._watches:
                watch.join()
            if self._raised:
                self._take_what_is_raised()
            if signalled and _SIGNAL:
                signal.signal(_SIGNAL, before)

    def interrupt(self) -> None:
        """There was an interrupt, which a program may have caught: insist."""
        self._mark()
        self._start(_GRACE_S, lambda: None)

    def _pass(self) -> None:
        self.passed = True

    def _start(self, seconds: float, then: Callable[[], None]) -> None:
        watch = threading.Thread(target=self._wait, args=(seconds, then), daemon=True)
        self._watches.append(watch)
        watch.start()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        if self._over.wait(min(seconds, threading.TIMEOUT_MAX)):
            return
        then()
        while True:
            if self._in_main and _SIGNAL is not None:
                self._due = True
                signal.pthread_kill(self._thread_id, _SIGNAL)
            else:
                self._mark()
                if self._times:
                    self._raised = True
                    self._raise()
                self._times += 1
            if self._over.wait(_AGAIN_S):
                return

    def _raise(self) -> None:
        interrupt = ctypes.py_object(KeyboardInterrupt)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread_id), interrupt)

    def _take_what_is_raised(self) -> None:
        """The last interrupt may still be under way: raise another in its place, and catch that.

        To raise None instead takes it back as well, but CPython 3.11 then sees something to do at every
        instruction for ever, and never gets past the first one that is traced, by a debugger or for coverage.
        """
        with suppress(KeyboardInterrupt):
            self._raise()
            while True:
                time.sleep(0)

    def _signalled(self, number: int, frame: Any) -> None:
        if not self._due:  # somebody else's alarm
            if callable(self._before):
                self._before(number, frame)
            return
        self._due = False
        self._mark()
        program = getcurrent()
        if not isinstance(program, UserGreenlet):
            return  # KernBench itself, which ends
        self._times += 1
        if self._times > _TIMES:
            self.left_at = self.left_at or line_of(frame)
            program.leave(KeyboardInterrupt())
        if self._times > 1:  # the mark may do
            raise KeyboardInterrupt
