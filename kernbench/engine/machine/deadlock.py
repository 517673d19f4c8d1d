"""The report of a deadlock: who waits for whom in a circle, what would end it, and who waits for what.

PEs, cubes and ranks that wait for the same in the same place are one line with their count, so that the
report of a whole machine is about ten lines long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from kernbench.engine.components.base import Blocked, Component
from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.node import Link
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Transaction
from kernbench.errors import DeadlockError
from kernbench.hardware.topology.nodes import Location

_LINES = 6
"""Lines about who waits for what."""
_IN_A_ROW = 4
"""PEs of a cycle that are named."""
_NUMBERED = re.compile(
    r"\b(sip|cube|pe|io|conn|ch_r|pc|launch-)\d+|\br\d+c\d+\b|0x[0-9a-f]+"
    r"|\b(rank|transaction|launch|message) \d+|[\d.]+(?= ns)"
)
"""The differences between alike parts: numbers, addresses of rings, times of messages."""

Who = TypeVar("Who", Location, InputQueue)
Blocks = Mapping[Location, Sequence[Blocked]]
Called = Mapping[Location, str]
"""Names of the PEs."""


def deadlock(
    now_ns: float, stuck: str, components: Iterable[Component], waiting: Sequence[str], remedy: str = ""
) -> DeadlockError:
    """The error: ``stuck`` cannot finish.

    Args:
        now_ns: When.
        stuck: The launch, transfer or ranks.
        components: All of the machine.
        waiting: Who waits for what, a line each; :attr:`DeadlockError.waiting`.
        remedy: A way to end it, where there is no cycle.
    """
    blocked = {one.location: found for one in components if (found := one.blocked())}
    called = {one.location: one.resource.rpartition(".")[0] for one in components if one.location[2] >= 0}
    # A wait for any of several is a wait for each of them.
    cycles, ends = _chains({pe: blocked[pe][0].peers[0] for pe in sorted(blocked)})
    about = [f"to end it: {remedy}"] if remedy else _missing(ends, blocked, called)
    if cycles:
        about = _circle(cycles, blocked, called)
    lines = [f"deadlock at {now_ns:.3f} ns: {stuck} cannot finish", *about, *fold_lines(waiting)]
    return DeadlockError("\n  ".join(lines), waiting)


def waiting_lines(
    in_flight: Iterable[Transaction], resources: Sequence[Server], components: Iterable[Component]
) -> list[str]:
    """Where transactions under way were last, then which component waits for what."""
    lines = [
        f"transaction {one.id} ({one.kind}, {one.src} to {one.dst}, sent at {one.t_submit:.3f} ns) was last "
        f"seen at {last_seen(one, resources)}"
        for one in in_flight
    ]
    return [*lines, *(line for component in components for line in component.waiting())]


def last_seen(transaction: Transaction, resources: Sequence[Server]) -> str:
    """The place that a transaction under way was at last."""
    rows = transaction.rows
    return resources[rows[-1].resource].resource if rows else transaction.src


def fold_lines(waiting: Sequence[str]) -> list[str]:
    """Lines that differ in the numbers of parts alone once, with their count, and only so many of them."""
    found: dict[str, list[str]] = {}
    for line in waiting:
        found.setdefault(_NUMBERED.sub("#", line), []).append(line)
    lines = [
        same[0] if len(same) == 1 else f"{same[0]} (and {len(same) - 1} more like it)"
        for same in found.values()
    ]
    left = sum(len(same) for same in list(found.values())[_LINES:])
    return lines[:_LINES] + ([f"... and {left} more lines"] if left else [])


def circle_of_buffers(links: Iterable[Link]) -> list[str]:
    """Finite buffers that wait for room in each other in a circle, and what would end it; empty without."""
    waits: dict[InputQueue, tuple[InputQueue, str]] = {}
    for link in links:
        if link.port is None or link.port.buffer is None:
            continue
        for lane in link.port.requesting:
            stay = lane.first
            wanted = stay.channel or link.port.buffer.channels[0]
            if lane.buffer is not None:
                who = stay.packet.transaction
                waits[lane] = wanted, f"transaction {who.id} ({who.kind}, {who.src} to {who.dst})"
    cycles, _ = _chains({lane: wanted for lane, (wanted, _) in waits.items()})
    if not cycles:
        return []
    shown = [
        f"{lane.buffer.resource}, channel {lane.vc}: {waits[lane][1]} waits for "
        f"room in {waits[lane][0].buffer.resource}"
        for lane in cycles[0]
    ]
    return [
        f"cycle of {len(shown)} full buffers, each waits for room in the next",
        *shown[:_LINES],
        *([f"... {len(shown) - _LINES} more"] if len(shown) > _LINES else []),
        "to end it: give the links of this cycle vcs of 2 or more and make one of them a dateline; "
        "kernbench topology check finds such cycles",
    ]


def _circle(cycles: Sequence[Sequence[Location]], blocked: Blocks, called: Called) -> list[str]:
    """The first cycle of waits, how many there are like it, and what would end it."""
    cycle = cycles[0]
    shown = [called[pe] for pe in cycle[:_IN_A_ROW]]
    more = f" -> ... {len(cycle) - _IN_A_ROW} more" if len(cycle) > _IN_A_ROW else ""
    alike = f", and {len(cycles) - 1} more cycles" if len(cycles) > 1 else ""
    return [
        f"cycle of {len(cycle)}: {' -> '.join(shown)}{more} -> {shown[0]}, each waits for the next{alike}",
        f"to end it: {_remedy([blocked[pe][0] for pe in cycle])}",
    ]


def _missing(ends: Sequence[tuple[Location, Location]], blocked: Blocks, called: Called) -> list[str]:
    """The PE at which a chain of waits ends, and what would end it."""
    if not ends:
        return []
    end, last = ends[0]
    verb = "sends" if blocked[last][0].receives else "receives"
    return [
        f"{called[end]} is waited for, and waits for no queue: it runs no kernel or is at its end",
        f"to end it: let a kernel there {verb[:-1]} as often as its neighbours expect, or leave out the call "
        "that waits for it",
    ]


def _chains(after: Mapping[Who, Who]) -> tuple[list[list[Who]], list[tuple[Who, Who]]]:
    """Cycles of those that wait for each other, and each who is waited for and waits for none, with one."""
    cycles: list[list[Who]] = []
    ends: list[tuple[Who, Who]] = []
    seen: set[Who] = set()
    for begin in after:
        way: list[Who] = []
        here = begin
        while here in after and here not in seen:
            seen.add(here)
            way.append(here)
            here = after[here]
        if here in way:
            cycles.append(way[way.index(here) :])
        elif here not in after:
            ends.append((here, way[-1]))
    return cycles, ends


def _remedy(waits: Sequence[Blocked]) -> str:
    slots = "give the queues more slots (install_ipcq(slots=...), or pe.pe_ipcq.slots of the topology)"
    if all(one.receives for one in waits):
        return "every PE of the cycle receives before it sends; let one of them send first"
    if not any(one.receives for one in waits):
        return f"every ring of the cycle is full; receive between the sends, or {slots}"
    return f"sends and receives of the cycle are in opposite order; let both ends keep one order, or {slots}"
