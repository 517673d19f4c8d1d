# cython: boundscheck=True, wraparound=True, cdivision=False
"""Accesses without order: two PEs touch the same bytes, one of them writes, and nothing says who comes first.

Every run of a kernel on a PE is a thread with a vector clock. It advances with each operation. A message
carries the clock of its sender to the receiver; a launch begins with the clocks of what ran before on its
PEs, and of the launches that the host had seen end when it submitted it; a ``load(volatile=True)`` takes
the clock of the store that it saw. An access is ordered before another if the other's thread knew of it
when it was issued. A composite is over, for all others, only when its kernel has waited for it.

Atomic accesses do not race with each other. A volatile load that sees their value has the clocks of all of
them that release.

Operations are given in the order of their effects (:meth:`RaceDetector.access`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kernbench.engine.program.operations import Op, Operand, Order, Region
from kernbench.errors import VerificationError
from kernbench.hardware.address import Extent, ExtentMap
from kernbench.hardware.address.runs import Runs
from kernbench.hardware.topology.nodes import Location
from kernbench.values.late_reads import LateReads
from kernbench.values.tensor_names import TensorNames

ThreadKey = tuple[int, tuple[int, ...]]
"""Launch and PE; of a block of a grid also its number, as nothing orders the blocks of a PE."""

_Lines = tuple[str, str, str]
"""What a race is told once of: two lines of source, and its kind."""

END = 1 << 62
"""Epoch behind all of a thread."""

HOST = (-1, -1, -1)
"""Where the host is among the locations of threads."""


class VectorClock:
    """Which epochs of other threads come before a point of a thread: worked out when asked.

    A message adds one of these, whatever the number of threads: it says which two clocks were joined. Most
    are never asked, as accesses of two threads to the same bytes are rare.
    """

    __slots__ = ("_before", "_epochs", "_joins", "_whole", "over")

    def __init__(
        self, over: frozenset[int], before: VectorClock | None = None, joins: Sequence[_Join] = ()
    ) -> None:
        self.over = over
        """Launches that had ended on all of their PEs before this thread began: most are asked about."""
        self._before = before
        self._joins = joins
        self._epochs: dict[ThreadKey, int] | None = None
        self._whole = over
        """Once epochs are known, all launches that had ended on all of their PEs; they have no epochs."""

    def of(self, thread: ThreadKey) -> int:
        """The last epoch of ``thread`` that comes before, 0 for none."""
        if thread[0] in self.over:
            return END
        known = self._all()
        if thread[0] in self._whole:
            return END
        kernel = (thread[0], thread[1][:3])  # all blocks of one that is over
        return END if known.get(kernel) == END else known.get(thread, 0)

    def _all(self) -> dict[ThreadKey, int]:
        # Without recursion: a kernel may have received thousands of messages.
        open_: list[VectorClock] = [self]
        while open_:
            one = open_[-1]
            if one._epochs is not None:
                open_.pop()
                continue
            needed = [join.clock for join in one._joins]
            if one._before is not None:
                needed.append(one._before)
            missing = [other for other in needed if other._epochs is None]
            if missing:
                open_ += missing
                continue
            known = {} if one._before is None else {**one._before._all()}
            whole = one.over if one._before is None else one._before._whole
            for join in one._joins:
                theirs = join.clock._all()
                if not join.clock._whole <= whole:  # most are the same, and take no memory of their own
                    whole |= join.clock._whole
                    known = {thread: epoch for thread, epoch in known.items() if thread[0] not in whole}
                for thread, epoch in (*theirs.items(), (join.thread, join.epoch)):
                    if thread[0] >= join.floor and thread[0] not in whole and epoch > known.get(thread, 0):
                        known[thread] = epoch
            one._epochs, one._before, one._joins, one._whole = known, None, (), whole
        assert self._epochs is not None
        return self._epochs


class _Join(NamedTuple):
    """All that is before ``epoch`` of ``thread``; of launches below ``floor`` nothing is asked any more."""

    thread: ThreadKey
    epoch: int
    clock: VectorClock
    floor: int = -END


START = VectorClock(frozenset())


class _HostClock(NamedTuple):
    """What the host knows: all but the launches that are under way is over."""

    under_way: frozenset[int]

    def of(self, thread: ThreadKey) -> int:
        """See :meth:`VectorClock.of`."""
        return 0 if thread[0] in self.under_way else END


class Thread:
    """The clock of one run of a kernel on one PE: which epochs of other threads are before it."""

    def __init__(self, key: ThreadKey, clock: VectorClock, floor: int) -> None:
        self.key = key
        self.epoch = 0
        self.clock = clock
        self.floor = floor

    def stamp(self, op: Op, *, volatile: bool = False, blocking: bool = True) -> None:
        """Give an operation that is issued now its order."""
        self.epoch += 1
        op.order = Order(self.key, self.epoch, self.clock, self.floor, volatile, blocking)

    def wait(self, order: Order) -> None:
        """The kernel has waited for an asynchronous operation."""
        if order.completed is None:
            order.completed = self.epoch

    def join(self, order: Order) -> None:
        """All that was before an operation of another thread is before what comes from now on."""
        # A new object: orders that were stamped before keep the old one.
        clock = self.clock
        assert isinstance(order.clock, VectorClock)
        self.clock = VectorClock(clock.over, clock, (_Join(order.thread, order.epoch, order.clock),))
        self.epoch += 1


class Access(NamedTuple):
    """One operation's access to some bytes."""

    op: int
    source: str
    time: float
    order: Order


class _History(NamedTuple):
    """Of some bytes: the last plain write, and the plain reads and atomic accesses since."""

    write: Access | None
    reads: tuple[Access, ...] = ()
    atomics: tuple[Access, ...] = ()

    @property
    def writes(self) -> tuple[Access, ...]:
        """The write and the atomic accesses."""
        return self.atomics if self.write is None else (self.write, *self.atomics)


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses without order; ``first`` took effect first. One for each pair of source lines."""

    kind: str
    """``write-write``, ``write-read`` or ``read-write``."""
    first: Access
    second: Access
    bytes_at: Region
    where: str
    """The bytes as people know them: tensor, rows, PE that holds them."""
    pes: tuple[str, str]
    """The PE that made each access, or the host."""
    same: bool = False
    """Whether blocks write the same values wherever these lines race: not an error."""

    def as_dict(self) -> dict[str, Any]:
        """The race as JSON keeps it."""
        ends = {
            name: {"op": a.op, "source": a.source, "pe": pe, "t_ns": a.time}
            for name, pe, a in zip(("first", "second"), self.pes, (self.first, self.second), strict=True)
        }
        at = {"address": self.bytes_at.addr, "bytes": self.bytes_at.nbytes}
        return {"kind": self.kind, "where": self.where, **at, **ends, "message": str(self)}

    def __str__(self) -> str:
        words = self.kind.split("-")
        ends = [
            f"{pe}{_block(access)} {word}s at {access.source or 'a line unknown'} ({access.time:.9g} ns)"
            for pe, word, access in zip(self.pes, words, (self.first, self.second), strict=True)
        ]
        alike = "; both write the same values" if self.same else ""
        return f"race on {self.where}: {ends[0]}, {ends[1]}, and nothing orders them{alike}"


def _block(access: Access) -> str:
    block = access.order.thread[1][3:]
    return f" (block {block[0]})" if block else ""


def race_error(races: Sequence[Race]) -> VerificationError:
    """The error of a run with ``races``: the first of them, and how many more there are."""
    count = len(races) - 1
    more = f"; {count} more {'race' if count == 1 else 'races'}, see 'kernbench query races'" if count else ""
    return VerificationError(f"{races[0]}{more}", launch=races[0].second.order.thread[0])


class RaceDetector:
    """Follows the accesses of one run. ``races`` are those found, each pair of source lines once."""

    def __init__(self, names: TensorNames) -> None:
        self.races: list[Race] = []
        self._names = names
        self._seen: set[_Lines] = set()
        self.rewrites: dict[int, list[tuple[_Lines, Region]]] = {}
        """Of an operation that is to be replayed: bytes that it writes after another one."""
        self._differ: set[_Lines] = set()
        self._history = ExtentMap(lambda history, _begin, _end: history)
        self._reads: LateReads[Access] = LateReads()
        self._last: dict[Location, Thread] = {}
        self._threads: dict[int, list[Thread]] = {}
        self._beginnings: dict[int, VectorClock] = {}
        """The clock with which the threads of a launch begin, all at one instant: the same."""
        self._ended: set[int] = set()
        self._first_open = 0
        self._floors: list[int] = []
        self._targets: list[frozenset[Location]] = []
        self._sends: dict[int, Order] = {}

    # -- what is known of order ---------------------------------------------------------------------

    def launch_submitted(self, targets: Sequence[Location]) -> None:
        """The host submits the next launch, on PEs ``targets``."""
        mine, floor = frozenset(targets), self._first_open
        # A launch on the same PEs, or on some of them, is over on all of its PEs before this one begins.
        while floor < len(self._targets) and (floor in self._ended or self._targets[floor] <= mine):
            floor += 1
        self._floors.append(floor)
        self._targets.append(mine)

    def launch_ended(self, launch: int) -> None:
        """The host has the answers of all PEs of ``launch``."""
        self._threads.pop(launch, None)
        self._beginnings.pop(launch, None)
        self._ended.add(launch)
        while self._first_open in self._ended:
            self._first_open += 1

    def host_writes(self) -> Order | None:
        """The order of a write that the host submits now; None while no launch is under way.

        What is launched later is after it: a launch waits for the writes of its tensors.
        """
        launches = range(self._first_open, len(self._targets))
        under_way = frozenset(launch for launch in launches if launch not in self._ended)
        return Order((len(self._targets), HOST), END, _HostClock(under_way), -1) if under_way else None

    def thread(self, launch: int, location: Location) -> Thread:
        """The kernel of ``launch`` begins on a PE: it comes after all that its PEs did before."""
        if not 0 <= launch < len(self._targets):
            return Thread((launch, location), START, 0)
        floor = self._floors[launch]
        clock = self._beginnings.get(launch)
        if clock is None:
            last = [self._last.get(other) for other in sorted(self._targets[launch])]
            before = [one for one in last if one is not None and floor <= one.key[0] < launch]
            mine = self._targets[launch]
            over = frozenset(n for n in range(floor, launch) if self._targets[n] <= mine)
            # One that is over on all of its PEs has an entry of its own, and its threads have none.
            clocks = {id(one.clock): one for one in before if one.key[0] in over}
            joins = [_Join(one.key, END, one.clock, floor) for one in before if one.key[0] not in over]
            joins += [_Join(one.key, END, one.clock, floor) for one in clocks.values()]
            clock = self._beginnings[launch] = VectorClock(over, joins=joins)
        thread = Thread((launch, location), clock, floor)
        self._threads.setdefault(launch, []).append(thread)
        self._begun(thread)
        return thread

    def block(self, thread: Thread, number: int) -> Thread:
        """A kernel that is dealt blocks of a grid goes on with block ``number``.

        Nothing orders it and the other blocks.
        """
        return Thread((thread.key[0], (*thread.key[1], number)), thread.clock, thread.floor)

    def _begun(self, thread: Thread) -> None:
        # All PEs of a launch begin at one instant: the last thread of the others is still that of before.
        launch = thread.key[0]
        started = self._threads[launch]
        if len(started) == len(self._targets[launch]):
            for one in started:
                sip, cube, pe = one.key[1]
                self._last[sip, cube, pe] = one

    def sent(self, op: int, order: Order) -> None:
        """A message was sent by operation ``op``."""
        self._sends[op] = order

    def received(self, thread: Thread, sender: int) -> None:
        """A message sent by operation ``sender`` has arrived in ``thread``."""
        order = self._sends.pop(sender, None)
        if order is not None:
            thread.join(order)

    # -- accesses -----------------------------------------------------------------------------------

    def access(self, op: Op) -> None:
        """An operation has taken effect."""
        order = op.order
        if order is None:
            if op.output is not None:
                for region in op.output.regions:  # the host's, while no kernel runs
                    self.forget(region)
            return
        if not _touches_memory(op):
            return
        time = op.t_effect if op.t_effect >= 0.0 else op.t_end
        mine = Access(op.id, op.source, time, order)
        for operand in () if order.atomic else op.inputs:
            if operand.handle is None:
                self._read(operand, mine)
        if op.output is not None and op.output.handle is None:
            self._settle(op.output.regions)
            for region in op.output.regions:
                if order.atomic:
                    self._change(region, mine)
                else:
                    self._write(region, mine)

    def seen_by(self, thread: Thread, operand: Operand) -> None:
        """A volatile load has its value:

        what the stores that it saw came after is now known to ``thread``.
        """
        for region in operand.regions:
            for extent in self._history.overlapping(region.addr, region.addr + region.nbytes):
                for write in extent.value.writes:
                    order = write.order
                    if order.releases and order.thread != thread.key and isinstance(order.clock, VectorClock):
                        thread.join(order)  # what the host wrote is before the launch

    def forget(self, region: Region) -> None:
        """What was done to ``region`` is of no account any more: it was freed, or all accesses are over."""
        self._settle([region])
        self._history.remove(region.addr, region.addr + region.nbytes)

    def _read(self, operand: Operand, mine: Access) -> None:
        if mine.order.volatile:
            return
        regions = operand.regions
        if isinstance(regions, Runs):
            near = self._history.overlapping(*regions.span)
            if all(happens_before(write, mine) for extent in near for write in extent.value.writes):
                self._reads.add(regions, mine)
                return
        for region in regions:
            for here, history in self._also_read(region, mine):
                for write in history.writes:
                    if not happens_before(write, mine):
                        self._report("write-read", write, mine, here)

    def _also_read(self, region: Region, mine: Access) -> list[tuple[Region, _History]]:
        return self._also(region, lambda h: _History(h.write, _with(h.reads, mine), h.atomics))

    def _settle(self, regions: Sequence[Region]) -> None:
        """Enter the reads near ``regions`` that have not been."""
        for runs, mine in self._reads.take(regions):
            for one in runs:
                self._also_read(one, mine)

    def _change(self, region: Region, mine: Access) -> None:
        """An atomic access."""
        for here, history in self._also(region, lambda h: _History(h.write, h.reads, _with(h.atomics, mine))):
            self._compare(() if history.write is None else (history.write,), history.reads, mine, here)

    def _also(self, region: Region, then: Callable[[_History], _History]) -> list[tuple[Region, _History]]:
        """Make ``then`` of the history of all bytes of ``region``; returns those that had one, with it."""
        addr, nbytes = region
        found: list[tuple[Region, _History]] = []
        touched: list[Extent] = []
        position = addr
        for extent in self._history.clipped(addr, addr + nbytes):
            start, end, history = extent.start, extent.end, extent.value
            if start > position:
                touched.append(Extent(position, start, then(_History(None))))
            found.append((Region(start, end - start), history))
            touched.append(Extent(start, end, then(history)))
            position = end
        if position < addr + nbytes:
            touched.append(Extent(position, addr + nbytes, then(_History(None))))
        self._history.replace(addr, addr + nbytes, touched)
        return found

    def _write(self, region: Region, mine: Access) -> None:
        addr, end = region.addr, region.addr + region.nbytes
        if end <= addr:
            return
        for extent in self._history.clipped(addr, end):
            here, history = Region(extent.start, extent.end - extent.start), extent.value
            self._compare(history.writes, history.reads, mine, here)
        self._history.set(addr, end, _History(mine))

    def _compare(
        self, writes: Sequence[Access], reads: Sequence[Access], mine: Access, region: Region
    ) -> None:
        """A write after ``writes`` and ``reads`` of the same bytes: report those that nothing orders."""
        for kind, before in (("write-write", writes), ("read-write", reads)):
            for one in before:
                if not happens_before(one, mine):
                    self._report(kind, one, mine, region)

    def _report(self, kind: str, first: Access, second: Access, region: Region) -> None:
        key = (first.source, second.source, kind)
        both = first.order, second.order
        if kind != "write-write" or any(one.atomic or not one.thread[1][3:] for one in both):
            self._differ.add(key)
        elif key not in self._differ:
            self.rewrites.setdefault(second.op, []).append((key, region))
        if key not in self._seen:
            self._seen.add(key)
            pes = self._pe(first), self._pe(second)
            self.races.append(Race(kind, first, second, region, self._names.describe([region]), pes))

    def rewritten(self, op: int, changed: Sequence[bool]) -> None:
        """Operation ``op`` was replayed: which of the bytes in ``rewrites`` are not what they were before."""
        for (lines, _), other in zip(self.rewrites.pop(op), changed, strict=True):
            if other:
                self._differ.add(lines)

    def found(self) -> tuple[Race, ...]:
        """The races, with what replay says of their values."""
        unknown = {key for one in self.rewrites.values() for key, _ in one} | self._differ
        lines = [(one.first.source, one.second.source, one.kind) for one in self.races]
        return tuple(
            [replace(one, same=key not in unknown) for one, key in zip(self.races, lines, strict=True)]
        )

    def _pe(self, access: Access) -> str:
        location = access.order.thread[1]
        return "the host" if location == HOST else self._names.pes[location[:3]]


def _touches_memory(op: Op) -> bool:
    """Whether an operand is bytes in memory: most operations are among handles, and cannot race."""
    if op.output is not None and op.output.handle is None:
        return True
    for operand in op.inputs:  # noqa: SIM110  (a generator would cost more than all the rest)
        if operand.handle is None:
            return True
    return False


def _with(before: tuple[Access, ...], mine: Access) -> tuple[Access, ...]:
    """The accesses; the newest of a thread stands for those before it.

    It cannot stand for one that releases where it does not itself.
    """
    if not before:
        return (mine,)
    own, alone = mine.order.thread, not mine.order.releases
    if any(one.order.thread == own and one.order.epoch > mine.order.epoch for one in before):
        return before  # a read that is entered late
    kept = [one for one in before if one.order.thread != own or (alone and one.order.releases)]
    return (*kept, mine)


def happens_before(first: Access, second: Access) -> bool:
    """Whether ``first`` comes before ``second`` in every run of the program (Lamport's relation)."""
    a, b = first.order, second.order
    if first.op == second.op:
        return True
    if a.thread[1] == HOST:
        return b.thread[0] >= a.thread[0]
    if a.thread[0] < b.floor:
        return True
    if a.completed is None:
        return b.clock.of(a.thread) == END
    known = b.epoch if a.thread == b.thread else b.clock.of(a.thread)
    return known >= a.completed
