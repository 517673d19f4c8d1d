"""Programs of the host side: the bench's own and its ranks, each rank in a greenlet.

A rank runs until it waits for something that the machine has not answered. The scheduler then runs every
other rank that can go on, and only when none can lets simulated time pass, until the next one can. So ranks
overlap in simulated time, and at every instant they run in the order in which they became ready.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from greenlet import GreenletExit, getcurrent

from kernbench.errors import DeadlockError, LimitError
from kernbench.support.user_code import line_of
from kernbench.support.user_greenlets import UserGreenlet

if TYPE_CHECKING:
    from kernbench.engine.machine.machine import Machine
    from kernbench.engine.program.launches import Request
    from kernbench.host.alike import Alike
    from kernbench.host.launching import LaunchHandle
    from kernbench.host.meeting import Meeting
    from kernbench.host.same_launch import Sent
    from kernbench.host.storage import Release


class Awaitable(Protocol):
    """Something that a program can wait for."""

    label: str
    done: bool

    def when_done(self, call: Callable[[], None]) -> None:
        """Have ``call`` called once this is done."""


class Event:
    """Something that programs wait for and that happens once."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.done = False
        self._calls: list[Callable[[], None]] = []

    def when_done(self, call: Callable[[], None]) -> None:
        """Have ``call`` called when it happens, at once if it has."""
        if self.done:
            call()
        else:
            self._calls.append(call)

    def happen(self) -> None:
        """It happens: everything that waits for it can go on. A second call does nothing."""
        self.done = True
        calls, self._calls = self._calls, []
        for call in calls:
            call()


class HostProgram:
    """A program of the host side with the state of its own.

    ``rank`` is None for the bench's own program, ``ranks`` how many were started together.
    """

    def __init__(self, rank: int | None = None, ranks: int = 1) -> None:
        self.rank = rank
        self.ranks = ranks
        self.device: int | None = None
        """The SIP that it has set; None: its default."""
        self.open: list[Request] = []
        """Its requests that may be unanswered, in the order of submission."""
        self.launches: list[LaunchHandle] = []
        """Its launches that may be running."""
        self.released: list[Release] = []
        """Memory of its tensors that is to be given back."""
        self.meeting: Meeting | None = None
        """Where it meets the others of its spawn; None without ranks."""
        self.alike: Alike | None = None
        """The ranks that it is alike to."""
        self.sent: list[tuple[Sent, LaunchHandle]] | None = None
        """Its launches since the last boundary of a repeat; None where it is in none."""
        self.held_since: float | None = None
        """When it came to a wait that ``--exact`` leaves out, and it has launched nothing since."""
        self.waits_for: Awaitable | None = None
        self.awaits: Sequence[Request] = ()
        """Requests of which it waits for all."""
        self.ended = False
        self._greenlet: UserGreenlet | None = None
        self.stopping = False

    def begin(self, run: Callable[[], None]) -> None:
        """Give the program its greenlet; ``run`` starts with the first :meth:`resume`."""
        self._greenlet = UserGreenlet(run)

    def resume(self) -> None:
        """Run until it waits or ends. An exception that leaves ``run`` is raised here."""
        assert self._greenlet is not None
        self.waits_for = None
        self._greenlet.parent = getcurrent()
        self._greenlet.switch()

    def suspend(self, awaited: Awaitable) -> None:
        """Called inside the program: sleep until :meth:`resume`."""
        assert self._greenlet is not None
        assert self._greenlet.parent is not None
        if self.stopping:
            self._greenlet.again(GreenletExit())
        self.waits_for = awaited
        self._greenlet.parent.switch()

    def stop(self) -> None:
        """End the program where it stands: its ``finally`` blocks run, but cannot wait."""
        self.stopping = True
        if self._greenlet is not None:
            self._greenlet.end()  # the error that stops it is the one to report
        self.ended = True

    def failure(self) -> Exception | None:
        """The error of the first of its requests that has failed and that it has not waited for."""
        return next((request.error for request in self.open if request.error is not None), None)

    def describe(self) -> str:
        """Where the rank stands, for reports of deadlocks and interrupts."""
        name = f"rank {self.rank}"
        if self.ended:
            return f"{name} has ended"
        frame = None if self._greenlet is None else self._greenlet.gr_frame
        line = line_of(frame)
        at = f" at {line}" if line else ""
        if self.waits_for is None:
            return f"{name} is ready{at}"
        return f"{name} waits for '{self.waits_for.label}'{at}"


class _Alarm:
    """The goal of the clock: done when a program can go on."""

    def __init__(self) -> None:
        self.done = False

    def ring(self) -> None:
        self.done = True


class Scheduler:
    """Runs the programs of one run; the greenlet that drives time is that of the bench's own program."""

    def __init__(self, machine: Machine) -> None:
        self.main = HostProgram()
        self.notes: list[Callable[[], list[str]]] = []
        """Further lines for a deadlock report, from those that make ranks wait for each other."""
        self.machine = machine
        self._programs: dict[Any, HostProgram] = {}
        self._started: list[HostProgram] = []
        self._ready: deque[HostProgram] = deque()
        self._alarm = _Alarm()
        self._pauses: deque[Callable[[], None]] = deque()

    @property
    def current(self) -> HostProgram:
        """The program that is running."""
        return self._programs.get(getcurrent(), self.main)

    @property
    def asking(self) -> HostProgram:
        """The program that is running, which asks for something; one that was ended gets its end again."""
        program = self.current
        if program.stopping:
            assert program._greenlet is not None
            program._greenlet.again(GreenletExit())
        return program

    @property
    def alive(self) -> list[HostProgram]:
        """Ranks that have not ended, in the order in which they were started."""
        return list(self._programs.values())

    def start(self, program: HostProgram, run: Callable[[], None]) -> None:
        """Start ``program`` at the next wait of the bench's own program; ``run`` is what it does."""
        program.begin(run)
        if not self._programs:
            self._started.clear()
        self._started.append(program)
        self._programs[program._greenlet] = program
        self._ready.append(program)

    def may_go_on(self, over: Callable[[Request], bool]) -> str:
        """Who may do something, or has something else under way, before requests of ``over``; empty: nobody.

        Events happen when a program goes on, so who waits for one waits for another program.
        """
        for program in (self.main, *self.alive):
            held = any(over(request) for request in program.awaits)
            event = program.waits_for
            if not (held or (isinstance(event, Event) and not event.done)):
                return "the program" if program.rank is None else f"rank {program.rank}"
        return ""

    def at_pause(self, call: Callable[[], None]) -> None:
        """Have ``call`` called once, when no rank can go on and before time passes."""
        self._pauses.append(call)

    def ended(self, program: HostProgram) -> None:
        """The program has ended or was stopped: what it left behind is the bench's now."""
        program.ended = True
        self._programs.pop(program._greenlet, None)
        with contextlib.suppress(ValueError):
            self._ready.remove(program)
        self.main.released += program.released
        program.released = self.main.released

    def wait(self, awaited: Awaitable) -> None:
        """Return when ``awaited`` is done; the others run meanwhile and time passes.

        Raises:
            DeadlockError: nothing can happen any more and it is not done.
        """
        if awaited.done:
            return
        program = self.current
        if program is self.main:
            program.waits_for = awaited
            try:
                self._drive(awaited)
            except (DeadlockError, LimitError, KeyboardInterrupt) as end:
                bench = getcurrent()
                if isinstance(bench, UserGreenlet):
                    bench.again(end)
                raise
            finally:
                program.waits_for = None
        else:
            awaited.when_done(lambda: self._wake(program))
            program.suspend(awaited)

    def _drive(self, awaited: Awaitable) -> None:
        awaited.when_done(self._alarm.ring)
        while True:
            while self._ready:
                self._ready.popleft().resume()
            while self._pauses:
                self._pauses.popleft()()
            if awaited.done:
                return
            self._alarm.done = False
            if not self.machine.advance(self._alarm):
                raise self._deadlock(awaited)

    def _wake(self, program: HostProgram) -> None:
        if not program.ended:
            self._ready.append(program)
            self._alarm.ring()

    def _deadlock(self, awaited: Awaitable) -> DeadlockError:
        ranks = [program.describe() for program in self._started] if self._programs else []
        notes = [line for note in self.notes for line in note()]
        waiting = sum(not program.ended for program in self._started) if ranks else 0
        stuck = f"{waiting} of {len(ranks)} ranks" if ranks else awaited.label
        remedy = "call each collective on every rank, in one order, and let each recv have its send"
        return self.machine.deadlock(stuck, [*ranks, *notes], remedy if ranks else "")
