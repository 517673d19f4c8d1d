"""Ends users' code that does not end by itself: at a limit of wall time, and after Ctrl-C.

The run is interrupted at its next event. Where no event comes, a kernel, rank or bench is in its own code:
``KeyboardInterrupt`` is raised there, a few times, for it may be caught. Then the program is left where it
stands (:mod:`kernbench.support.user_greenlets`). In threads that get no signals it is only raised. KernBench
itself ends with one ``KeyboardInterrupt``.

Ctrl-C must end a run even where it arrives inside a finaliser: Python drops exceptions raised there, and
kernels release handles all the time, as Dask releases answers. The signal therefore leaves a mark as well, on
the clock or on the sweep, whose loops raise the exception that was dropped.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from greenlet import getcurrent

from kernbench.errors import LimitError
from kernbench.support.bounds import check_number
from kernbench.support.user_code import line_of, raised_at
from kernbench.support.user_greenlets import UserGreenlet

_GRACE_S = 1.0
"""What programs have after Ctrl-C to end by themselves."""
_AGAIN_S = 0.1
"""How often a program that goes on is interrupted again."""
_TIMES = 10
"""So many times it is interrupted before it is left."""
_OURS_EVERY = 50
"""KernBench's own code is interrupted with each such time, for it may be about to clean up."""
_SIGNAL = getattr(signal, "SIGALRM", None)


class _Innermost(threading.local):
    limit: TimeLimit | None = None


_innermost = _Innermost()


class TimeLimit:
    """Watches what is done within :meth:`watched`. ``mark`` has a run end at its next event; None: no run.

    Limits nest. ``passed``: the ``seconds`` are over; ``spent_s`` of them had passed before it began.
    """

    def __init__(
        self, mark: Callable[[], object] | None, seconds: float | None, spent_s: float = 0.0
    ) -> None:
        self.passed = False
        self.left_at = ""
        """The line of the first program that was left."""
        self._mark, self._seconds, self._spent_s = mark, seconds, spent_s
        self._inner: TimeLimit | None = None
        self._thread_id = threading.get_ident()
        self._in_main = threading.current_thread() is threading.main_thread()
        self._watches: list[threading.Thread] = []
        self._over = threading.Event()
        self._due = False
        self._times = self._ours = 0
        self._raised = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within the block the limit holds."""
        signalled = self._in_main and _SIGNAL is not None
        before: Any = signal.signal(_SIGNAL, self._signalled) if signalled and _SIGNAL else None
        self._before = before
        outer, _innermost.limit = _innermost.limit, self
        if outer is not None:
            outer._inner = self
        try:
            if self._seconds is not None:
                self._start(max(0.0, self._seconds - self._spent_s), self._pass)
            yield
        finally:
            self._over.set()
            _innermost.limit = outer
            if outer is not None:
                outer._inner = None
            for watch in self._watches:
                watch.join()
            if self._raised:
                self._take_what_is_raised()
            if signalled and _SIGNAL:
                signal.signal(_SIGNAL, before)

    @property
    def over(self) -> str:
        """What is to be said when it has passed."""
        return f"stopped at the limit of {self._seconds:g} s of wall time"

    def interrupt(self) -> None:
        """There was an interrupt, which a program may have caught: insist."""
        self._mark_all()
        self._start(_GRACE_S, lambda: None)

    def _pass(self) -> None:
        self.passed = True

    def _mark_all(self) -> None:
        limit: TimeLimit | None = self
        while limit is not None:
            if limit._mark is not None:
                limit._mark()
            limit = limit._inner

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
                self._mark_all()
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
        if self._over.is_set():
            return
        self._mark_all()
        program = getcurrent()
        if not isinstance(program, UserGreenlet):
            if self._mark is not None or self._inner is not None:
                return  # a run of KernBench itself, which ends
            self._ours += 1
            if self._ours % _OURS_EVERY == 1:
                raise KeyboardInterrupt
            return
        self._times += 1
        if self._times > _TIMES:
            self.left_at = self.left_at or line_of(frame)
            program.leave(KeyboardInterrupt())
        if self._times > 1:  # the mark may do
            raise KeyboardInterrupt


@contextmanager
def limited(seconds: float | None, spent_s: float = 0.0) -> Iterator[None]:
    """What is done within the block ends after so much wall time, in users' code too, with a ``LimitError``.

    None is no limit; ``spent_s`` of it were spent before. ``UsageError``: it is not a number of at least 0.
    """
    if seconds is None:
        yield
        return
    check_number("timeout", seconds)
    limit = TimeLimit(None, seconds, spent_s)
    try:
        with limit.watched():
            yield
    except KeyboardInterrupt as stop:
        line = limit.left_at or raised_at(stop, only_users=True)
        if not limit.passed:
            raise
        stood = [*([f"in {line}"] if line else []), *map(str, stop.args)]
        raise LimitError("; ".join([limit.over, *stood])) from None


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
