"""Collectives of ranks that are alike: where all do the same at once, the first is simulated for all.

The queues of its PEs then lead back to themselves: out of the package, over the switch, and in again. That
happens at each package if what it sends to the next one is what it gets from the one before, at the same
time. So it is proved, for each call:

- The algorithm says that ranks do the same but for the chunk that they begin with (:attr:`Algorithm.turns`).
  Chunks are the same requests to memories that remember nothing, or turn around channels that are alike.
- All ranks of the spawn take part, with tensors in the same places. They begin at once; nothing else moves.
- The ways between packages, there and back, are the same one by one: seen from its package each is that of
  the first. Parts outside of packages let any number of messages pass at a time; nothing waits there.

What is left is the order of messages that were begun at one instant and meet at another: ranks take that as
they are numbered, and the one that is simulated as its PEs are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_ipcq import PeIpcq
from kernbench.engine.components.pe_translator import translator_of
from kernbench.engine.components.queue_channel import Loop
from kernbench.engine.components.queue_ring import QueueCredit, QueueToken
from kernbench.engine.core.node import path_along
from kernbench.engine.machine.alike_pes import check_plain
from kernbench.engine.machine.pe_commands import Unlike
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.neighbours import Neighbours, pairs
from kernbench.hardware.topology.places import places
from kernbench.host.collectives import piece_trace
from kernbench.host.collectives.steps import Vector
from kernbench.host.same_launch import seen

if TYPE_CHECKING:
    from kernbench.engine.components.base import Component
    from kernbench.engine.core.node import FabricNode
    from kernbench.engine.machine.machine import Machine
    from kernbench.host.alike import Alike
    from kernbench.host.collectives.algorithm import Algorithm, Call


@dataclass(slots=True)
class _Round:
    """A collective that all ranks take part in, maybe in several groups.

    Their calls, where the queues of each group lead, and whether it is folded, once that is known.
    """

    calls: dict[int, Call] = field(default_factory=dict)
    tables: dict[tuple[object, ...], Neighbours] = field(default_factory=dict)
    folded: bool | None = None


@dataclass(frozen=True, slots=True)
class _Lane:
    """A PE of the first package, whose directions to other packages lead back to it."""

    queues: PeIpcq
    rings: Mapping[str, str]
    loop: Loop


class _Asked(NamedTuple):
    """A request to memory, and its place."""

    what: tuple[Any, ...]
    offset: int
    memory: Component


def _turns_of(chunks: Sequence[Sequence[_Asked]]) -> set[tuple[str, int]]:
    """By memory how much further in its channels each of the chunks lies than the one before, bytes.

    Channels are alike, so it does not matter with which one a rank begins, if it goes on around them.

    Raises:
        Unlike: chunks are not the same but for that.
    """
    found: set[tuple[str, int]] = set()
    for number, chunk in enumerate(chunks):
        if [one.what for one in chunk] != [one.what for one in chunks[0]]:
            raise Unlike("chunks of its ranks are not of one length, or not in one memory")
        for one, first, second in zip(chunk, chunks[0], chunks[1], strict=True):
            if not isinstance(one.memory, HbmSlice):
                continue
            period, turn = one.memory.period, (second.offset - first.offset) % one.memory.period
            around = turn * len(chunks) % period == 0 and turn % (period // len(one.memory.channels)) == 0
            if (one.offset - first.offset - number * turn) % period or not (turn == 0 or around):
                raise Unlike("chunks of its ranks begin in different places of channels of memory")
            if turn and one.what[3] >= 0:
                raise Unlike("chunks of its ranks are in different channels of memory")
            found.add((one.memory.resource, turn))
    return found


class Folding:
    """Which collectives of ranks that are alike are simulated on one."""

    def __init__(self, machine: Machine, alike: Alike) -> None:
        self._machine, self._alike = machine, alike
        self._rounds: list[_Round] = []
        self._made = [0 for _ in alike.sips]
        alike.when_shared.append(self._count)
        self._lanes: dict[Any, list[_Lane] | str] = {}
        self._turns: dict[Any, str] = {}
        self._loop_of: dict[PeIpcq, Loop] = {}
        self._outside: dict[Loop, Sequence[FabricNode]] = {}
        """Loops, with the parts on them that belong to no package."""
        self._looped: set[PeIpcq] = set()
        """PEs whose queues lead back now."""

    def called(self, rank: int, call: Call) -> None:
        """``rank`` will come together with the others for ``call``."""
        number = self._made[rank]
        self._made[rank] += 1
        if number == len(self._rounds):
            self._rounds.append(_Round())
            self._alike.collectives += 1
        self._rounds[number].calls[rank] = call

    def neighbours(self, rank: int, call: Call, algorithm: Algorithm) -> Neighbours:
        """Where the queues of ``call`` lead: the same table for each rank of a group."""
        tables = self._rounds[self._made[rank] - 1].tables
        group = (call.collective, call.sips, call.tag)
        if call.collective == "send":
            return algorithm.neighbours(call)
        if group not in tables:
            tables[group] = algorithm.neighbours(call)
        return tables[group]

    def folds(self, rank: int, name: str, algorithm: Algorithm, table: Neighbours) -> bool:
        """Whether the last call of ``rank`` is simulated on the first rank alone; all have made theirs.

        Args:
            rank: who asks.
            name: the algorithm's.
            algorithm: what carries it out.
            table: where its queues lead, which have been set up.
        """
        this = self._rounds[self._made[rank] - 1]
        if this.folded is None:
            calls = [this.calls[one] for one in range(len(self._made))]
            try:
                self._loop(self._checked(calls, name, algorithm, table))
                this.folded = True
                self._alike.folded += 1
            except Unlike as unlike:
                self._alike.why[f"{calls[0].collective}/{name}: {unlike}"] += 1
                self._straighten()
                this.folded = False
            this.calls.clear()
        return this.folded

    def _checked(
        self, calls: Sequence[Call], name: str, algorithm: Algorithm, table: Neighbours
    ) -> list[_Lane]:
        """The PEs that take part in a collective, if it can be folded.

        Raises:
            Unlike: it cannot.
        """
        first = calls[0]
        if any(call.sips != tuple(self._alike.sips) for call in calls):
            raise Unlike("not all ranks take part")
        if piece_trace.wanted():
            raise Unlike(f"{piece_trace.VARIABLE} asks for the pieces of all ranks")
        (x, *more) = first.tensors
        if more:
            raise Unlike("it has several tensors")
        if not all(call.tensors[0].settled for call in calls):
            raise Unlike("tensors of its ranks are still being written")
        lies = self._places(first)
        if any(self._places(call) != lies for call in calls):
            raise Unlike("tensors of its ranks lie in different places")
        for one in self._machine.under_way():
            if (one.nbytes or one.message is None) and not self._on_loop(one.message):
                raise Unlike(f"a {one.kind} to '{one.dst}' is under way")
        key = (name, first.tag, first.lanes, repr(first.options))
        where = (key, lies[0], tuple(lies[1]), x.kernel_arg.placements[x.shards[0].place])
        if where not in self._turns:
            try:
                self._turns[where] = self._unlike_turns(first, algorithm)
            except Unlike as unlike:
                self._turns[where] = str(unlike)
        if words := self._turns[where]:
            raise Unlike(words)
        if key not in self._lanes:
            try:
                self._lanes[key] = self._found(first, table)
            except Unlike as unlike:
                self._lanes[key] = str(unlike)
        lanes = self._lanes[key]
        if isinstance(lanes, str):
            raise Unlike(lanes)
        return lanes

    def _places(self, call: Call) -> tuple[Any, ...]:
        """How the tensor of a rank lies, as it looks from its package."""
        (x,) = call.tensors
        resolve = self._machine.addresses.resolve
        return seen(x), [resolve(shard.pa).offset for shard in x.shards if shard.pa is not None]

    def _on_loop(self, message: object) -> bool:
        return bool(self._looped) and isinstance(message, QueueToken | QueueCredit)

    def _unlike_turns(self, call: Call, algorithm: Algorithm) -> str:
        """Why ranks are not the same but for the chunk that they begin with; empty where they are."""
        (x,) = call.tensors
        for shard in x.shards:
            if shard.place[0] != self._alike.sips[0]:
                continue
            local = x.kernel_arg.placements[shard.place].local
            assert local is not None
            rows = algorithm.turns(call, Vector(local, prod(shard.shape), x.dtype))
            if rows is None:
                return "its ranks do not do the same"
            dma = self._machine.component(places(self._machine.graph).part("pe_dma", *shard.place))
            assert isinstance(dma, PeDma)
            ask = partial(self._asked, translator_of(dma), call.limits.piece)
            if len({turn for row in rows for turn in _turns_of([ask(chunk) for chunk in row])}) > 1:
                return "its chunks lie in channels of memory as they do not for each rank"
        return ""

    def _asked(self, translator: Any, piece: int, chunk: Vector) -> list[_Asked]:
        """What is sent to memory for a chunk, in pieces of so many bytes."""
        found: list[_Asked] = []
        for part in chunk.pieces(piece):
            for one in translator.requests(part.address, part.elements * part.itemsize):
                memory = self._machine.component(one.component)
                check_plain(memory)
                what = (one.component, one.via, one.nbytes, one.channel, one.stride, one.opens)
                found.append(_Asked(what, one.offset, memory))
        return found

    def _found(self, call: Call, table: Neighbours) -> list[_Lane]:
        """The PEs of the first package, with their loops.

        Raises:
            Unlike: ways of ranks are not alike.
        """
        graph = self._machine.graph
        heard = pairs(table)
        rings: dict[tuple[int, int], dict[str, str]] = {}
        ways: dict[tuple[int, int], tuple[Sequence[str], Sequence[str]]] = {}
        rank_of = {sip: rank for rank, sip in enumerate(call.sips)}
        for (here, direction), (there, into) in heard.items():
            if here[0] == there[0]:
                continue
            lane = here[1:]
            if there[1:] != lane:
                raise Unlike("its queues lead from a PE to another one of the next package")
            if rings.setdefault(lane, {}).setdefault(direction, into) != into:
                raise Unlike("its queues are not the same on all ranks")
            both = {**self._alike.leaders[rank_of[here[0]]], **self._alike.leaders[rank_of[there[0]]]}
            part = partial(places(graph).part, "pe_dma")
            path = self._machine.path(part(*here), part(*there), Traffic.PE_DMA)
            way = (self._seen_from(both, path), self._seen_from(both, path.reverse))
            if ways.setdefault(lane, way) != way:
                raise Unlike(f"the way from '{part(*here)}' is not like that of the first package")
        if any(len(table.get((sip, *lane), ())) < len(rings[lane]) for sip in call.sips for lane in rings):
            raise Unlike("its queues are not the same on all ranks")
        known, links = self._machine.components, self._machine.links
        lanes = []
        for lane, (forth, back) in ways.items():
            path = path_along(forth, known, links)
            path.make_reverse = partial(path_along, back, known, links)
            outside = [known[name] for name in forth if known[name].node.properties["sip"] < 0]
            queues = known[places(graph).part("pe_ipcq", call.sips[0], *lane)]
            assert isinstance(queues, PeIpcq)
            if any(queues.queues[direction].buffer_kind != "tcm" for direction in rings[lane]):
                raise Unlike("slots of its queues are not in TCM")
            loop = self._loop_of.setdefault(queues, Loop(path))
            if loop.path.nodes != path.nodes:
                raise Unlike("its queues lead another way than those of another collective")
            self._outside[loop] = outside
            lanes.append(_Lane(queues, rings[lane], loop))
        return lanes

    def _seen_from(self, leaders: Mapping[str, str], path: Any) -> Sequence[str]:
        """The parts of a way between packages, each by the name of that in its place in the first package.

        Raises:
            Unlike: it passes parts outside of packages where messages may wait for each other.
        """
        for node in path.nodes:
            if node.resource not in leaders:
                check_plain(node)
        for link in path.links:
            if link.resource not in leaders:
                raise Unlike(f"'{link.resource}' belongs to no package")
            if link.port is not None and not all(
                end in leaders for end in (link.edge.source, link.edge.target)
            ):
                raise Unlike(f"'{link.resource}' has an arbiter or buffers")
        return tuple([leaders.get(node.resource, node.resource) for node in path.nodes])

    def _loop(self, lanes: list[_Lane]) -> None:
        """Let the queues of ``lanes`` lead back."""
        for lane in lanes:
            lane.queues.loop(lane.loop, lane.rings)
            self._looped.add(lane.queues)

    def _straighten(self) -> None:
        """Let all queues lead where they were set up to lead; what is under way arrives first."""
        if any(self._on_loop(one.message) for one in self._machine.under_way()):
            self._machine.drain()
        for queues in self._looped:
            queues.unloop()
        self._looped.clear()

    def _count(self) -> None:
        """What the others would have sent has passed the parts outside of packages, too."""
        for loop, outside in self._outside.items():
            self._alike.count_outside(outside, loop.transactions, loop.nbytes)
            loop.transactions = loop.nbytes = 0
