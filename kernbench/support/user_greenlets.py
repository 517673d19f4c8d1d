"""Users' programs that run in greenlets: kernels, ranks and benches, and how one is ended that goes on.

A program is ended with ``GreenletExit``, raised where it stands. A program that catches it, as a bare
``except:`` does, gets it again with each thing that it asks for, a bounded number of times. Then it is
left where it stands and never runs again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextvars import copy_context
from typing import NoReturn, TypeVar

from greenlet import GreenletExit, getcurrent, greenlet

T = TypeVar("T")

ENDS = 100
"""So many times a program gets its end before it is left."""
_left: list[UserGreenlet] = []
"""Kept: a greenlet that is freed gets its end once more, and would go on once more."""


def run_user(program: Callable[[], T]) -> T:
    """Run a program where it can be left if it does not end; it has the caller's context variables."""
    running = UserGreenlet(program)
    running.gr_context = copy_context()
    ended: T | GreenletExit = running.switch()
    if isinstance(ended, GreenletExit):  # the program itself has raised it
        raise ended
    return ended


class UserGreenlet(greenlet):
    """The greenlet of a user's program."""

    left = False
    _ends = 0

    def end(self) -> None:
        """End the program where it stands; its ``finally`` blocks run."""
        if self.dead or self.left:
            return
        self.parent = getcurrent()
        # What a program raises that is being stopped has no one left to handle it.
        with contextlib.suppress(Exception, KeyboardInterrupt):
            self.throw(GreenletExit)

    def again(self, end: BaseException) -> NoReturn:
        """Called in the program that was ended and goes on: raise ``end``, or leave the program."""
        self._ends += 1
        if self._ends <= ENDS:
            raise end
        self.leave(None if isinstance(end, GreenletExit) else end)

    def leave(self, error: BaseException | None = None) -> NoReturn:
        """Called in the program: never run it again. ``error`` is raised where it was resumed from."""
        self.left = True
        _left.append(self)
        parent = self.parent
        assert parent is not None
        while True:
            parent.switch() if error is None else parent.throw(error)
