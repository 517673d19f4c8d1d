"""PEs of a launch that do the same, each on resources of its own: one of each class is simulated for all.

Nothing is guessed. When a launch begins, its kernel is gone through for each PE, without a machine and
without values. PEs that would share a router, link or memory form a group. Two groups are alike where their
PEs hand over the same commands, on the same bytes of memories in the same places, and the parts and links
that these pass are the same one by one, in everything but place. Of groups that are alike the first is
simulated; a kernel of another ends when its like does, and its parts count what the leader's count.

That is exact while nothing but control messages, which take no time of a link, passes those parts until the
launch is over. So the machine is at rest there, all programs wait for this launch or a later one, and such a
later one needs all of its PEs. A message that passes a group that is not simulated waits as it would at the
one that is (:meth:`Server.stand_for`).
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.pe_cpu import PeCpu
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.components.pe_translator import translator_of
from kernbench.engine.components.sram import Sram
from kernbench.engine.components.transit import Transit
from kernbench.engine.core.node import Link
from kernbench.engine.core.server import Server
from kernbench.engine.machine.pe_commands import Asked, Key, Memories, Unlike
from kernbench.engine.program.launches import Launch, Request, Target
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology import faults
from kernbench.hardware.topology.packages import difference

if TYPE_CHECKING:
    from kernbench.engine.machine.machine import Machine


class _Used(tuple[Server, ...]):
    """The parts and links that a PE uses; equal only to itself."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class AlikePes:
    """The PEs that are simulated for others, launch by launch.

    ``may_go_on`` says who may do something else before requests for which its argument is true are over.
    """

    def __init__(self, machine: Machine, may_go_on: Callable[[Callable[[Request], bool]], str]) -> None:
        self._machine, self._may_go_on = machine, may_go_on
        self._folds: dict[int, _Fold] = {}
        self._parts: dict[str, list[Server]] = {}
        self._used: dict[Key, _Used] = {}
        self._known: dict[Key, Any] = {}
        """What follows from the compiled graph alone: who shares parts, and which parts are alike."""
        self.simulated = self.of = self.launches = 0
        """PEs that were simulated of those of all launches; launches of which some were not."""
        self.reasons: Counter[str] = Counter()
        """Why PEs of launches were all simulated: how many launches each."""

    def launch_started(self, launch: Launch) -> None:
        """All PEs of ``launch`` begin now."""
        self.of += len(launch.targets)
        try:
            if len(launch.targets) > 1:
                self._check_rest(launch)
                fold = self._fold(launch)
                fold.begin()
                launch.leaders.update(fold.leaders)
                self._folds[launch.id] = fold
                self.launches += 1
        except Unlike as unlike:
            self.reasons[f"{launch.kernel.name}: {unlike}"] += 1
        self.simulated += len(launch.targets) - len(launch.leaders)

    @property
    def counts(self) -> dict[str, Any]:
        """``simulated`` PEs ``of`` those of all launches, and ``why`` not fewer: launches by reason."""
        if not self.launches:
            return {}
        return {"simulated": self.simulated, "of": self.of, "why": dict(self.reasons)}

    def kernel_ended(self, launch: Launch) -> None:
        """A kernel that was simulated has ended."""
        fold = self._folds.get(launch.id)
        if fold is not None:
            fold.left -= 1
            if not fold.left:
                self._folds.pop(launch.id).end()

    def _check_rest(self, launch: Launch) -> None:
        """Nothing is under way beside the launch, and nothing can begin, but control messages."""
        machine = self._machine
        if faults.changes(machine.graph):
            raise Unlike("links of this machine are lost for a time")
        later = {launch.request}
        for request, other in machine.open_launches.items():
            if other is launch or (other.begun and other.over):
                continue
            if other.begun or not set(other.targets).issuperset(launch.targets):
                raise Unlike(f"'{other.kernel.name}' may run beside it")
            later.add(request)
        if who := self._may_go_on(lambda request: (request.led or request) in later):
            raise Unlike(f"{who} may go on before it is over")
        for one in machine.under_way():
            if one.nbytes or one.message is None:
                raise Unlike(f"a {one.kind} to '{one.dst}' is under way")

    def _fold(self, launch: Launch) -> _Fold:
        """Who is simulated for whom.

        Raises:
            Unlike: all PEs have to be simulated.
        """
        asked = {target: self._asked(launch, target) for target in launch.targets}
        used = {target: parts for target, (_, _, parts) in asked.items()}
        groups = self._once(tuple(used.values()), partial(self._groups, used))
        fold, leaders = _Fold(launch, self._machine), defaultdict[Key, list[Sequence[Target]]](list)
        words = ""
        for group in groups:
            numbers: Memories = {}
            for target in group:
                for memory in asked[target][1].memories:
                    numbers.setdefault(memory, len(numbers))
            kind = tuple([(asked[t][0], *[numbers[m] for m in asked[t][1].memories]) for t in group])
            for leader in leaders[kind]:
                both = tuple([(used[a], used[b]) for a, b in zip(leader, group, strict=True)])
                pairs, words = self._once(both, partial(self._paired, both))
                if not words:
                    fold.take(dict(zip(group, leader, strict=True)), pairs, [asked[t][1] for t in group])
                    break
            else:
                leaders[kind].append(group)
        if not fold.leaders:
            if words:
                raise Unlike(words)
            if len(groups) == 1:
                raise Unlike("its PEs share routers, links or memories")
            raise Unlike("no two of its PEs, or groups of PEs that share parts, do the same")
        return fold

    def _once(self, key: Key, work_out: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = work_out()
        return self._known[key]

    def _paired(self, used: Sequence[tuple[_Used, _Used]]) -> tuple[Sequence[tuple[Server, Server]], str]:
        """Which part of one group is which of the other; else in what they differ, in words."""
        pairs: dict[Server, Server] = {}
        there: set[Server] = set()
        for ours, theirs in used:
            if len(ours) != len(theirs):
                a, b = ours[0].resource, theirs[0].resource
                return (), f"'{a}' needs {len(ours)} parts and links, '{b}' {len(theirs)}"
            for one, other in zip(ours, theirs, strict=True):
                a, b = one.resource, other.resource
                if one in pairs or other in there:
                    if pairs.get(one) is not other:
                        return (), f"routes by '{a}' and by '{b}' meet in other places"
                    continue
                if type(one) is not type(other):
                    return (), f"'{a}' is a {type(one).__name__}, '{b}' a {type(other).__name__}"
                if words := difference(a, _properties(one), b, _properties(other)):
                    return (), words
                pairs[one] = other
                there.add(other)
        return list(pairs.items()), ""

    def _groups(self, used: Mapping[Target, _Used]) -> list[list[Target]]:
        """PEs that share parts, directly or by way of others, together; in order of location."""
        above = {target: target for target in used}

        def top(target: Target) -> Target:
            while above[target] != target:
                above[target] = target = above[above[target]]
            return target

        first: dict[Server, Target] = {}
        for target, servers in used.items():
            for other in {first.setdefault(server, target) for server in servers}:
                above[top(target)] = top(other)
        found = defaultdict[Target, list[Target]](list)
        for target in used:
            found[top(target)].append(target)
        return list(found.values())

    def _asked(self, launch: Launch, target: Target) -> tuple[Key, Asked, _Used]:
        """The commands of a PE, the memories that they use, and all parts that are in use for them."""
        cpu = self._machine.component(f"{self._machine.addresses.pe_name(*target)}.pe_cpu")
        assert isinstance(cpu, PeCpu)
        seen = Asked(translator_of(cpu))
        keys = seen.commands(launch, cpu)
        key = (cpu.resource, *seen.memories)
        if key not in self._used:
            self._used[key] = _Used((*self._own(cpu), *self._passed(cpu, seen.memories)))
        return keys, seen, self._used[key]

    def _own(self, cpu: PeCpu) -> list[Server]:
        """The parts of a PE and the links between them."""
        if not self._parts:
            found = defaultdict[str, list[Server]](list)
            for name, component in self._machine.components.items():
                if isinstance(component, PeComponent | PeTcm):
                    found[name.rpartition(".")[0]].append(component)
            for (a, b), link in self._machine.links.items():
                pe = a.rpartition(".")[0]
                if pe == b.rpartition(".")[0] and pe in found:
                    found[pe].append(link)
            self._parts = dict(found)
        return self._parts[cpu.resource.rpartition(".")[0]]

    def _passed(self, cpu: PeCpu, memories: Memories) -> list[Server]:
        """The parts and links between a PE and memories, there and back."""
        found: dict[str, Server] = {}
        dma = cpu.sibling("pe_dma").resource
        for memory, via in memories:
            path = self._machine.path(dma, memory, Traffic.PE_DMA, via)
            for way in (path, path.reverse):
                for server in (*way.nodes, *way.links):
                    if server.resource not in found:
                        check_plain(server)
                    for part in [*getattr(server, "channels", ()), server]:
                        found[part.resource] = part
        return list(found.values())


class _Fold:
    """The PEs of one launch that are simulated for others."""

    def __init__(self, launch: Launch, machine: Machine) -> None:
        self.leaders: dict[Target, Target] = {}
        self._launch, self._machine = launch, machine
        self._pairs: list[tuple[Server, Server]] = []
        self._seen: list[Asked] = []
        self.left = 0
        """PEs of the launch that are simulated and have not ended."""

    def take(
        self, leaders: Mapping[Target, Target], pairs: Sequence[tuple[Server, Server]], seen: Sequence[Asked]
    ) -> None:
        """PEs that do what is ``seen`` follow their leaders; ``pairs`` are the leaders' parts with theirs."""
        self.leaders.update(leaders)
        self._seen += seen
        self._pairs += pairs

    def begin(self) -> None:
        """Note what the parts have counted until now."""
        now = self._launch.start_ns
        for server in itertools.chain.from_iterable(self._pairs):
            if server.free > now + self._ahead(server):
                raise Unlike(f"'{server.resource}' is not at rest")
        self.left = len(self._launch.targets) - len(self.leaders)
        self._before = {one: one.tally() for one, _ in self._pairs}
        self._queued = {one: one.max_queue for one, _ in self._pairs}
        for one in self._queued:
            one.max_queue = 0
        for one, other in self._pairs:
            if self._may_be_passed(one):
                one.stand_for(other)

    def end(self) -> None:
        """All have ended: the others have counted what the leaders have, and what they write is written."""
        machine = self._machine
        for seen in self._seen:
            for op in seen.written():
                op.id, op.launch = machine.next_op_id(), self._launch.id
                op.t_ready = op.t_start = op.t_end = machine.clock.now
                machine.served(op)
                for op_done in machine.when_done:
                    op_done(op)
        for one, other in self._pairs:
            other.grow(one, self._before[one])
        for one, most in self._queued.items():
            one.max_queue = max(one.max_queue, most)

    def _ahead(self, server: Server) -> float:
        """For how long a message may have a place before it is ready, ns: who comes later is ready later."""
        if isinstance(server, Link):
            server = self._machine.components[server.edge.source]
        return server.overhead_ns if isinstance(server, Transit) and server.pipelined else 0.0

    def _may_be_passed(self, server: Server) -> bool:
        """Whether control messages may pass it: they do not go by a PE's own parts or by a memory."""
        ends = [server]
        if isinstance(server, Link):
            known = self._machine.components
            ends = [known[server.edge.source], known[server.edge.target]]
        return all(isinstance(end, Transit) for end in ends)


def _properties(server: Server) -> Mapping[str, Any]:
    """What the compiled graph says of a part or link."""
    found: Mapping[str, Any] = server.edge.properties if isinstance(server, Link) else server.node.properties
    return found


def check_plain(server: Server) -> None:
    """Whether a part at rest remembers nothing, and a message of no bytes takes none of its time.

    Raises:
        Unlike: it may remember something, or take time.
    """
    name, part = server.resource, cast(Any, server)
    if isinstance(server, Link):
        if server.port is not None or server.issue_ns > 0.0:
            raise Unlike(f"'{name}' has an arbiter, buffers or issue_ns")
        return
    kind = type(server)
    if kind is Transit:
        if not part.pipelined:
            raise Unlike(f"'{name}' has one worker (worker: serial)")
    elif kind is HbmSlice:
        if part.penalty_ns > 0.0:
            raise Unlike(f"'{name}' has switch_penalty_ns")
    elif kind not in (Sram, PeTcm, PeDma):
        raise Unlike(f"'{name}' is a {kind.__name__}, which may remember what was before")
