"""A message at a slice of DRAM: which of its flits are served, and what it met at each pseudo-channel."""

from __future__ import annotations

from typing import Any

from kernbench.engine.components.dram_state import CONFLICT, HIT, MISS, Burst
from kernbench.engine.core.transaction import Packet

_HIT, _MISS, _CONFLICT = HIT, MISS, CONFLICT


class MemoryRequest:
    """A message at a slice."""

    def __init__(self, packet: Packet, answer: Any, channels: int) -> None:
        self.packet = packet
        self.answer = answer
        """For a read, the data that go back."""
        self.last_in = 0.0
        self.begun = 0.0
        self.inside = 0.0
        """When the latest flit arrived, was served at the entry, and was at the array."""
        flits = (answer if answer is not None else packet).last + 1
        self.parts: list[Any] = [None] * flits
        self.unserved = flits
        self.next = 0
        """The flit that leaves next."""
        self.done = 0.0
        self.issued = 0.0
        self.by: Any = None
        """For the part that finishes last: when its last command was issued, and at which pseudo-channel."""
        self.states: list[Any] = [None] * channels
        """By the index of a pseudo-channel, what it met there; None if it has no bytes there."""

    def wait_from(self, tick: int) -> None:
        """Take another flit, which arrives at ``tick``: delays of earlier flits no longer count."""
        for number in range(len(self.states)):
            state: ChannelState = self.states[number]
            if state is not None:
                state.last = tick
                state.refresh = state.row = state.refreshes = 0


class FlitRequest:
    """A flit at a slice: ``left`` bursts of it have not been served."""

    def __init__(self, asked: MemoryRequest, flit: int) -> None:
        self.asked = asked
        self.flit = flit
        self.left = 0
        self.done = 0.0
        self.issued = 0.0
        self.by: Any = None


class ChannelState:
    """A message at one pseudo-channel: how its bursts found their rows, and what it waited for. In ticks.

    The time up to its last burst is divided at each of its bursts. In each piece, time delayed by a refresh
    counts as refresh; of the rest, the time since the burst's row began to be opened counts as row.
    """

    def __init__(self, came: int) -> None:
        self.last = came
        """When its last burst so far was read or written."""
        self.hits = 0
        self.misses = 0
        self.conflicts = 0
        self.refreshes = 0
        self.refresh = 0
        self.row = 0

    def serve(self, burst: Burst, at: int, explained: bool) -> None:
        """Note a column of ``burst`` read or written at ``at``; ``explained`` says what it waited for."""
        found = burst.found
        if found == _HIT:
            self.hits += 1
        elif found == _MISS:
            self.misses += 1
        else:
            self.conflicts += 1
        if not explained or at <= self.last:
            return
        pseudo = burst.bank.pseudo
        if pseudo.refreshed:
            count, ticks = pseudo.held_up(self.last, at, burst.bank)
            self.refreshes += count
            self.refresh += ticks
        if found != _HIT:
            since = max(burst.opened, self.last)
            self.row += at - since
            if pseudo.refreshed:
                self.row -= pseudo.held_up(since, at, burst.bank)[1]
        self.last = at
