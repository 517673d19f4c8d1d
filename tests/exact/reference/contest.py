"""Wires at which an arbiter decides: a line for each input, and a decision when all else has happened."""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.exact.reference.agenda import Agenda
from tests.exact.reference.places import Message, Place, Wire


class Flit(NamedTuple):
    """A flit that has stood before a wire since ``came`` ns."""

    message: Message
    place: int
    flit: int
    came: float
    order: int = 0
    """Its place among all that have come."""


Heads = dict[int, Flit]
"""The first flit of each line in which any stands, by the number of the input."""


def round_robin(heads: Heads, before: int) -> int:
    """The input behind the one that was served ``before``, in a circle."""
    return min(heads, key=lambda source: (source <= before, source))


def oldest_first(heads: Heads, before: int) -> int:
    """The input where the transaction with the lowest number stands."""
    return min(heads, key=lambda source: heads[source].message.txn.number)


def fifo(heads: Heads, before: int) -> int:
    """The input where one stands that came first."""
    return min(heads, key=lambda source: heads[source].order)


def priority(heads: Heads, before: int) -> int:
    """The first input where anything stands."""
    return min(heads)


POLICIES: Mapping[str, Callable[[Heads, int], int]] = {
    "fifo": fifo,
    "priority": priority,
    "round_robin": round_robin,
    "oldest_first": oldest_first,
}


class ContestedWire(Wire):
    """A link with an arbiter. ``number`` is its place among the links of the machine."""

    def __init__(
        self, agenda: Agenda, gbs: float, flight_ns: float, far: Place, issue_ns: float, policy: str,
        number: int, inputs: Mapping[str, int],
    ) -> None:  # fmt: skip
        super().__init__(agenda, gbs, flight_ns, far, issue_ns)
        self._choose = POLICIES[policy]
        self._number = number
        self._inputs = inputs
        self._lines: defaultdict[int, deque[Flit]] = defaultdict(deque)
        self._served = -1
        self._carrying = self._deciding = False
        self.carried: list[tuple[float, float, int]] = []
        """From when to when it carried a flit of which transaction."""
        self.stood: list[tuple[int, float, float]] = []
        """Of each last flit: its transaction, when it came, when it was let on."""

    def carry(self, message: Message, place: int, flit: int) -> None:
        """See :class:`Wire`."""
        before = message.route[place - 1] if place else message.before
        source = self._inputs[before] if before else -1
        self._lines[source].append(Flit(message, place, flit, self._agenda.now))
        self._see_to()

    def _see_to(self) -> None:
        if not self._carrying and not self._deciding and any(self._lines.values()):
            self._deciding = True
            self._agenda.decision(self._agenda.now, self._number, self._decide)

    def _decide(self) -> None:
        heads = {source: line[0] for source, line in self._lines.items() if line}
        self._served = self._choose(heads, self._served)
        one = self._lines[self._served].popleft()
        now, message = self._agenda.now, one.message
        end = now + message.sizes[one.flit] / self._gbs
        rest = self.rest(message, one.flit)
        self._deciding, self._carrying = False, True
        self.carried.append((now, end + rest, message.txn.number))
        if one.flit == message.last:
            self.stood.append((message.txn.number, one.came, now))
        self._agenda.finished(end, lambda: self.arrive(one.message, one.place, one.flit))
        self._agenda.finished(end + rest, self._free)

    def _free(self) -> None:
        self._carrying = False
        self._see_to()

    def waits(self) -> dict[int, dict[int, float]]:
        """For how long each transaction's last flit stood behind which others."""
        found: dict[int, dict[int, float]] = {}
        for number, came, went in self.stood:
            behind: defaultdict[int, float] = defaultdict(float)
            first = bisect(self.carried, came, key=lambda flit: flit[1])  # one follows the other
            last = bisect_left(self.carried, went, key=lambda flit: flit[0])
            for begin, end, other in self.carried[first:last]:
                held = min(end, went) - max(begin, came)
                if other != number and held > 0.0:
                    behind[other] += held
            if behind:
                found[number] = dict(behind)
        return found
