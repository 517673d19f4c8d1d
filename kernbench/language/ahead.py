"""A kernel that runs ahead: its calls hand commands over and go on, and wait where they must.

The PE carries loads, stores and compute out in three queues, each in order, as soon as the operands are there
(:mod:`kernbench.engine.components.issue_queues`). The kernel itself waits for a buffer of a loop, for room in
the scratch, and for loaded integers that it looks at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from kernbench.engine.program.commands import (
    Ahead,
    Command,
    Completion,
    Compute,
    Cycles,
    Define,
    Load,
    Store,
    Wait,
)
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op
from kernbench.engine.program.queues import Receive, Send
from kernbench.hardware.address.free_list import Block
from kernbench.hardware.address.runs import meet, span
from kernbench.language.building import Builder
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import ValueOf
from kernbench.language.queue_calls import Received
from kernbench.language.tl import Language
from kernbench.values.semantics import compute

MOST_AHEAD = 256
"""Commands of a kernel that are under way at most."""


class CommandInFlight:
    """A command under way. It holds its operands and its result: these stay in scratch until it is over."""

    __slots__ = ("done", "handles", "knowable", "op", "result")

    def __init__(self, op: Op) -> None:
        self.op = op
        self.done = Completion(f"tl.{op.name}", op.id)
        self.handles: list[TensorHandle] = []
        self.result: TensorHandle | None = None
        self.knowable = False


class _Touched(NamedTuple):
    """Bytes of memory that a command under way reads or writes."""

    low: int
    high: int
    runs: Sequence[tuple[int, int]]
    writes: bool
    done: Completion


class _Loop:
    """A loop under way: for each load of its body the results that have a buffer, oldest first."""

    def __init__(self, stages: int) -> None:
        self.stages = stages
        self.load = 0
        self.buffers: dict[int, deque[int]] = {}


class RunAhead(Builder):
    """The language of a kernel that runs ahead."""

    stages = 1
    """``num_stages`` of loops that do not say."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._send = self._issue_ahead
        self._scratch.wait = lambda: self._wait_for_oldest() or self._wait_for_posted()
        self._flights: dict[int, CommandInFlight] = {}
        self._handles: WeakValueDictionary[int, TensorHandle] = WeakValueDictionary()
        self._touched: list[_Touched] = []
        self._loops: list[_Loop] = []
        self._users: dict[int, list[Completion]] = {}
        """Of the results of loads that have a buffer: what uses them."""
        self._views: dict[int, int] = {}
        """Of views of these: what they are views of."""
        self._direct: set[int] = set()
        """Results of loads of loops of one stage, and views of these: a product has them in registers."""
        self._computed_last: Completion | None = None
        self._fresh = True
        """The next load is the first of the kernel or block, or of a turn of a loop."""
        self._fence: Completion | None = None
        """The last access that all accesses after it wait for."""

    def drain(self) -> None:
        """Wait for all that is under way."""
        if self._flights:
            self._hand_over(Wait([flight.done for flight in self._flights.values()]))

    def _turns(self, numbers: Iterable[int], num_stages: int | None) -> Iterator[int]:
        loop = _Loop(self.stages if num_stages is None else num_stages)
        try:
            for number in numbers:
                loop.load = 0
                self._fresh = True
                self._loops.append(loop)
                yield self._index(number)
                self._loops.remove(loop)
        finally:
            if loop in self._loops:
                self._loops.remove(loop)
            if not self._loops:
                self._users.clear()
                self._views.clear()
                self._direct.clear()

    def _issue_ahead(self, command: Command) -> None:
        """Hand a command over; the kernel goes on at once with those that its queues take."""
        if isinstance(command, Send | Receive) and command.address is None:
            self._issue_message(command)
            return
        if not isinstance(command, Load | Store | Compute | Define):
            if not isinstance(command, Wait | Cycles):
                self.drain()
            self._hand_over(command)
            return
        op = command.op
        flight = CommandInFlight(op)
        after = self._of_operands(flight, isinstance(command, Define))
        if isinstance(command, Load | Store):
            after += self._overlapping(command, flight.done)
        if isinstance(command, Load):
            command.fresh, self._fresh = self._fresh, False
            after += self._buffer(op.id)
        elif isinstance(command, Compute):
            self._computed_last = flight.done
        if len(self._flights) >= MOST_AHEAD:
            self._wait_for_oldest()
        self._flights[op.id] = flight
        if "old" in op.params:
            self._flights[op.params["old"].id] = flight
        flight.done.then(partial(self._landed, flight))
        self._hand_over(Ahead(command, flight.done, tuple(after)))

    def _issue_message(self, command: Send | Receive) -> None:
        """Send or receive; neither waits for what is being computed.

        A send waits for what it sends, and for accesses to memory, which its receiver may rely on. What is
        received in a loop has a buffer, as what is loaded.
        """
        after = []
        if isinstance(command, Receive):
            after = self._buffer(command.op.id)
        else:
            sent = {operand.handle for operand in command.op.inputs}
            flights = self._flights.items()
            after = [one.done for number, one in flights if number in sent or one.op.kind == "memory"]
        if after:
            self._hand_over(Wait(after))
        self._hand_over(command)

    def _of_operands(self, flight: CommandInFlight, view: bool) -> list[Completion]:
        """What makes the operands of a command, and is not over."""
        after = []
        for operand in flight.op.inputs:
            number = operand.handle
            if number is None:
                continue
            made = self._flights.get(number)
            if made is not None:
                after.append(made.done)
            handle = self._handles.get(number)
            if handle is not None:
                flight.handles.append(handle)
            if view and number in self._direct:
                self._direct.add(flight.op.id)
            loaded = self._views.get(number, number)
            users = self._users.get(loaded)
            if users is not None:
                if view:
                    self._views[flight.op.id] = loaded
                else:
                    users.append(flight.done)
        return after

    def _overlapping(self, command: Load | Store, done: Completion) -> list[Completion]:
        """Stores, or for a store all accesses, of the same bytes that are under way; all of a fence's."""
        runs = command.runs
        low, high = span(runs)
        op, writes = command.op, isinstance(command, Store)
        fence = "fence" in op.params or (op.name == "atomic_add" and "old" not in op.params)
        self._touched = [one for one in self._touched if not one.done.done]
        after = [
            one.done
            for one in self._touched
            if fence
            or ((writes or one.writes) and one.low < high and low < one.high and meet(one.runs, runs))
        ]
        if self._fence is not None and not self._fence.done:
            after.append(self._fence)
        if fence:
            self._fence = done
        self._touched.append(_Touched(low, high, runs, writes, done))
        return after

    def _buffer(self, number: int) -> list[Completion]:
        """Wait for a buffer of load ``number`` in its loop; what the load comes after besides."""
        if not self._loops:
            return []
        loop = self._loops[-1]
        if loop.stages <= 1:
            if self._pe.staging:
                self._direct.add(number)
            last = self._computed_last
            return [] if last is None or last.done else [last]
        taken = loop.buffers.setdefault(loop.load, deque())
        loop.load += 1
        if len(taken) >= loop.stages - 1:
            using = [one for one in self._users.pop(taken.popleft(), ()) if not one.done]
            if using:
                self._hand_over(Wait(using))
        taken.append(number)
        self._users[number] = []
        return []

    def _staged(self, *operands: TensorHandle) -> int:
        direct = {one.id: one.nbytes for one in operands if one.id in self._direct}
        self._direct.difference_update(direct)
        return sum(direct.values())

    def _wait_for_oldest(self) -> bool:
        """Wait for the oldest command under way; False when there is none."""
        oldest = next(iter(self._flights.values()), None)
        if oldest is None:
            return False
        self._hand_over(Wait([oldest.done]))
        return True

    def _wait_for(self, handle: TensorHandle) -> None:
        """Wait until the command that makes a handle is over."""
        flight = self._flights.get(handle.id)
        if flight is not None:
            self._hand_over(Wait([flight.done]))

    def _landed(self, flight: CommandInFlight) -> None:
        """A command is over: its result is known as far as it was moved or is index arithmetic."""
        del self._flights[flight.op.id]
        handle = flight.result
        if handle is not None:
            self._flights.pop(handle.id, None)  # of an atomic access
        if handle is not None and handle._value is None:
            value = None if self._data is None else self._data.known(handle.id)
            values = [one._value for one in flight.handles]
            if value is not None:
                handle._value, handle._source = value, self._data
            elif flight.knowable and len(values) == len(flight.op.inputs):
                known = all(one is not None for one in values)
                handle._value = partial(_worked_out, flight.op, values) if known else None
        flight.handles.clear()
        flight.result = None

    def _unfinished(self) -> list[Completion]:
        return [*super()._unfinished(), *(flight.done for flight in self._flights.values())]

    def _compute(self, site: CallSite, handles: list[TensorHandle]) -> TensorHandle:
        handle = super()._compute(site, handles)
        return self._followed(handle, site.knowable)

    def _result(self, op: Op, block: Block, value: ValueOf | None = None) -> TensorHandle:
        return self._followed(super()._result(op, block, value), False)

    def _followed(self, handle: TensorHandle, knowable: bool) -> TensorHandle:
        self._handles[handle.id] = handle
        flight = self._flights.get(handle.id)
        if flight is not None:
            flight.result, flight.knowable = handle, knowable
        return handle


class AheadLanguage(RunAhead, Language):
    """``tl`` of a kernel that runs ahead."""

    def _finish_receive(self, wanted: Any) -> Received:
        received = super()._finish_receive(wanted)
        if isinstance(received, TensorHandle):
            self._handles[received.id] = received  # what uses it keeps it in scratch
        return received


def _worked_out(op: Op, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    return compute(op, [value() if callable(value) else value for value in values])
