"""Traces of transfers that a chip's processors issued, read from a file and replayed on a machine.

A trace has the events of each processor: it issues a read or a write, enters a barrier or leaves it. Replayed
open loop, each transfer is issued at the cycle that the trace has. Closed loop, a processor takes the time
between two events that it took there, but stays in a barrier for as long as the machine needs.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError
from kernbench.host.process import paced_collector
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.noc_events import END, START, is_barrier

BARRIER_CYCLES = 84
"""What a barrier takes with nothing to wait for: read off the traces, where most of those take 84 cycles.
Half of it passes before it looks for what has come, half afterwards."""

Locate = Callable[[int, int, int], str]
"""The component at (x, y) on one of the networks."""


class NocEvent(NamedTuple):
    """What a processor does at a cycle. Of a barrier ``dx``, ``dy`` and ``nbytes`` mean nothing."""

    type: str
    network: int
    dx: int
    dy: int
    nbytes: int
    cycle: int


class Processor(NamedTuple):
    """A processor of the node at (x, y)."""

    x: int
    y: int
    name: str


Trace = dict[Processor, list[NocEvent]]


@dataclass(frozen=True, slots=True)
class Chip:
    """Where the ends of transfers are on a machine."""

    worker: Locate
    memory: Locate


def read_traces(file: Path) -> dict[str, Trace]:
    """The traces of a CSV file, which may be compressed: ``trace,x,y,proc,noc,type,dx,dy,bytes,cycle``.

    :class:`ConfigError` names the line of an event that is not one.
    """
    opened = gzip.open if file.suffix == ".gz" else open
    found: dict[str, Trace] = {}
    with opened(file, "rt", encoding="utf-8", newline="") as lines:
        for number, line in enumerate(csv.DictReader(lines), 2):
            try:
                event = _event(line)
                at = Processor(int(line["x"]), int(line["y"]), line["proc"])
                name = line["trace"]
            except (KeyError, TypeError, ValueError) as error:
                raise ConfigError(f"{file.name}:{number}: {_reason(error)}") from None
            stream = found.setdefault(name, {}).setdefault(at, [])
            if stream and event.cycle < stream[-1].cycle:
                raise ConfigError(f"{file.name}:{number}: cycle {event.cycle} comes before the one above")
            stream.append(event)
    return found


def _event(line: Mapping[str, str]) -> NocEvent:
    kind = line["type"]
    barrier = is_barrier(kind)
    nbytes = int(line["bytes"])
    if nbytes < 1 and not barrier:
        raise ValueError(f"{kind} of {nbytes} bytes, expected at least 1")
    return NocEvent(kind, int(line["noc"]), int(line["dx"]), int(line["dy"]), nbytes, int(line["cycle"]))


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"column {error} is missing"
    return "a cell is missing" if isinstance(error, TypeError) else str(error)


def replay(graph: PropertyGraph, chip: Chip, trace: Trace, *, closed: bool) -> float:
    """Cycles until the last barrier of ``trace`` is left, or its last transfer done.

    Args:
        graph: the machine; a ns is a cycle.
        chip: where the ends of transfers are on it.
        trace: the events of each processor.
        closed: barriers take as long as the machine needs; else all happens when the trace has it.

    Raises:
        UsageError: the machine has no such worker or memory.
        DeadlockError: nothing can happen any more, and transfers are unanswered.
    """
    machine = Machine(graph, traced=False)
    streams = [_Stream(machine, chip, at, events, closed) for at, events in trace.items()]
    with paced_collector(machine.clock):
        for stream in streams:
            if not machine.advance(stream):
                raise machine.deadlock(f"a trace of {len(trace)} processors")
    return max(stream.end for stream in streams)


class _Stream:
    """The events of one processor, one after the other."""

    def __init__(
        self, machine: Machine, chip: Chip, at: Processor, events: list[NocEvent], closed: bool
    ) -> None:
        self._machine, self._chip, self._at, self._events, self._closed = machine, chip, at, events, closed
        self._next = 0
        self._open = 0
        self._entered: float | None = None
        """When the processor entered the barrier that it is in."""
        self.end = 0.0
        """When it left its last barrier, or had its last transfer done."""
        machine.clock.call_at(float(events[0].cycle), self._step)

    @property
    def done(self) -> bool:
        """Whether all events have happened and nothing is under way."""
        return self._next == len(self._events) and not self._open

    def _step(self) -> None:
        """The next event happens now."""
        event, now = self._events[self._next], self._machine.clock.now
        self._next += 1
        if event.type.endswith(START):
            self._entered = now
            if not self._open:
                self._leave(now)
            if self._closed:
                return
        elif not event.type.endswith(END):
            self._issue(event)
        if self._next < len(self._events):
            self._machine.clock.call_at(now + (self._events[self._next].cycle - event.cycle), self._step)

    def _issue(self, event: NocEvent) -> None:
        x, y, _ = self._at
        source = self._chip.worker(x, y, event.network)
        memory = self._chip.memory(event.dx, event.dy, event.network)
        transfer = self._machine.flow(
            source, memory, 0, event.nbytes, is_write=event.type.startswith("WRITE")
        )
        self._open += 1
        transfer.when_done(self._came)

    def _came(self) -> None:
        self._open -= 1
        self.end = self._machine.clock.now
        if not self._open and self._entered is not None:
            self._leave(self._entered)

    def _leave(self, entered: float) -> None:
        """All that the barrier waits for has come now."""
        half = BARRIER_CYCLES / 2
        self._entered = None
        self.end = max(entered + half, self._machine.clock.now) + half
        if self._closed:
            self._machine.clock.call_at(self.end, self._step)
