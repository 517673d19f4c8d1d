"""Invariant mode: sound machines pass, and for every rule there is a broken machine that fails it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.engine.components.dma import DmaEngine, DmaEngines, EngineGroup
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.memory import Memory
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.core.fabric import Fabric
from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.node import Link
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Region
from kernbench.errors import InvariantError
from tests.compiled import compiled
from tests.conftest import Ended, patches_the_engine
from tests.exact.reference import cases
from tests.exact.reference.cases import Agreement, Bench, Flow, bench

BUSY = [
    Flow(source, memory, target, 256 * source, 3000, writing, 0.0)
    for source in range(4)
    for memory, target in (("hbm", 0), ("hbm", 5), ("tcm", 0))
    for writing in (False, True)
]
"""Reads and writes that meet at two slices and a TCM; every engine has a queue."""
PORT = [Flow(0, "tcm", 0, 0, 256, False, 0.0), Flow(0, "port", 0, 0, 1280, False, 0.0)]
HELD = [Flow(0, "tcm", 0, 0, 256, False, 0.0)] * 3 + [Flow(1, "tcm", 0, 0, 256, False, 0.0)]

Patch = pytest.MonkeyPatch


def half_an_answer(patch: Patch) -> None:
    """A memory answers reads with half of what was asked for."""
    read = Memory.read

    def short(self: Memory, packet: Packet, time: float, begun: float, inside: float) -> None:
        asked, packet.transaction.nbytes = packet.transaction.nbytes, packet.transaction.nbytes // 2
        read(self, packet, time, begun, inside)
        packet.transaction.nbytes = asked

    patch.setattr(Memory, "read", short)


def lost_flit(patch: Patch) -> None:
    """Links lose every third flit of a message."""
    arrive = Fabric.flit_arrives

    def lossy(self: Fabric, time: float, packet: Packet, hop: int, flit: int) -> None:
        if hop and flit == 2 and packet.last > 2 and hop == packet.feed_hop:
            self.clock.call_at(time, arrive, self, time, packet, hop, flit + 1)
        else:
            arrive(self, time, packet, hop, flit)

    patch.setattr(Fabric, "flit_arrives", lossy)


def early_answer(patch: Patch) -> None:
    """A DMA takes a read for answered while its data are on their way."""
    send = Fabric.stream

    def stream(self: Fabric, packet: Packet, times: Any) -> None:
        send(self, packet, times)
        transaction = packet.transaction
        dma = packet.path.nodes[-1]
        assert isinstance(dma, PeDma)
        self.clock.call_at(list(times)[-1], dma.system.end, transaction)

    patch.setattr(Fabric, "stream", stream)


def miscounted_bytes(patch: Patch) -> None:
    """A link counts what it carried twice."""
    leave = Link.leave

    def twice(self: Link, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        leave(self, time, 2 * nbytes, busy_ns, wait_ns)

    patch.setattr(Link, "leave", twice)


def out_of_order_release(patch: Patch) -> None:
    """A slice hands out a read's flits as its channels have them."""
    stream = Fabric.stream

    def shuffled(self: Fabric, packet: Packet, times: Any) -> None:
        stream(self, packet, times)

    def fetch(self: HbmSlice, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        return self.burst(packet, flit, time, False), self.by

    def read(self: Memory, packet: Packet, time: float, begun: float, inside: float) -> None:
        transaction = packet.transaction
        answer = Packet(transaction, transaction.path.reverse, transaction.nbytes, 256)
        packet.times.at[packet.stride + len(packet.path.links)] = begun
        times = [fetch(self, packet, flit, inside)[0] for flit in range(answer.last + 1)]  # type: ignore[arg-type]
        self.depart(packet, time, begun, inside, max(times), max(times), self)
        self.system.fabric.stream(answer, [times[-1], *times[:-1]])

    patch.setattr(Fabric, "stream", shuffled)
    patch.setattr(HbmSlice, "read", read)


def pays_at_the_door(patch: Patch) -> None:
    """A TCM makes fabric traffic pay before it stands at the port, which siblings reach meanwhile."""
    made = PeTcm.__init__

    def init(self: PeTcm, *args: Any) -> None:
        made(self, *args)
        self.entry_ns = 2.0

    patch.setattr(PeTcm, "__init__", init)


def last_come_first_served(patch: Patch) -> None:
    """DMA engines take the youngest job."""

    class Stack(deque):  # type: ignore[type-arg]
        def popleft(self) -> Any:
            return self.pop()

    made = EngineGroup.__init__

    def init(self: EngineGroup, name: str, count: int, outstanding: int) -> None:
        made(self, name, count, outstanding)
        self.queue = Stack()

    patch.setattr(EngineGroup, "__init__", init)


def fast_link(patch: Patch) -> None:
    """Links carry whole flits in nine tenths of the time that their bandwidth allows."""
    made = Link.__init__

    def init(self: Link, *args: Any) -> None:
        made(self, *args)
        self.flit_ns *= 0.9

    patch.setattr(Link, "__init__", init)


def overlapping_bursts(patch: Patch) -> None:
    """A channel serves every arrival at once."""
    made = HbmSlice.__init__

    def init(self: HbmSlice, *args: Any) -> None:
        made(self, *args)
        for channel in self.channels:
            channel.occupy = lambda time, duration, owner: time  # type: ignore[method-assign]

    patch.setattr(HbmSlice, "__init__", init)


def two_jobs_an_engine(patch: Patch) -> None:
    """A DMA engine takes one job more than it may have in flight."""
    made = DmaEngine.__init__
    patch.setattr(DmaEngine, "__init__", lambda self, name, outstanding: made(self, name, outstanding + 1))


def jumped_queue(patch: Patch) -> None:
    """Commands without bytes go ahead of data that wait for a link."""
    inject = Fabric.inject

    def jump(self: Fabric, packet: Packet, hop: int) -> None:
        if not packet.nbytes:
            packet.path.links[hop].free = self.clock.now
        inject(self, packet, hop)

    patch.setattr(Fabric, "inject", jump)


def miscounted_use(patch: Patch) -> None:
    """A component claims to be busy all the time and more."""
    leave = Server.leave

    def busier(self: Server, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        leave(self, time, nbytes, busy_ns if isinstance(self, Link) else 1e6, wait_ns)

    patch.setattr(Server, "leave", busier)


def lazy_channel(patch: Patch) -> None:
    """A channel begins a nanosecond after it could."""
    made = HbmSlice.__init__

    def init(self: HbmSlice, *args: Any) -> None:
        made(self, *args)
        for channel in self.channels:
            occupy = channel.occupy
            channel.occupy = lambda time, *rest, occupy=occupy: occupy(time + 1.0, *rest)  # type: ignore[method-assign,misc]

    patch.setattr(HbmSlice, "__init__", init)


def idle_link(patch: Patch) -> None:
    """A link rests for a nanosecond after each message."""
    leave = Link.leave

    def rest(self: Link, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        self.free += 1.0
        leave(self, time, nbytes, busy_ns, wait_ns)

    patch.setattr(Link, "leave", rest)


def booked_early(patch: Patch) -> None:
    """PE_DMA reserves its link for flits that its worker still holds."""
    patch.setattr(PeDma, "sends", False)


def slow_to_pick_up(patch: Patch) -> None:
    """A DMA engine takes 5 ns from one job to the next."""
    begin = DmaEngines._next

    def later(self: DmaEngines, group: EngineGroup, freed_by: int = -1) -> None:
        if freed_by < 0:
            begin(self, group)
            return
        self.owner.clock.call_at(self.owner.clock.now + 5.0, begin, self, group, freed_by)

    patch.setattr(DmaEngines, "_next", later)


def forgotten_hop(patch: Patch) -> None:
    """Routers leave no trace."""
    patch.setattr(Fabric, "leave_node", lambda *args: None)


def late_submission(patch: Patch) -> None:
    """A transaction claims to have begun before it did."""
    prepare = Transaction.prepare

    def early(self: Transaction, *args: Any) -> None:
        prepare(self, *args)
        self.t_submit -= 3.0

    patch.setattr(Transaction, "prepare", early)


def nobody_to_blame(patch: Patch) -> None:
    """Waits name no holder and are reported as service."""
    patch.setattr(Server, "blockers", lambda self, owner, begin, end: 0)


def own_fault(patch: Patch) -> None:
    """A waiting transaction is recorded as waiting for itself."""
    wait = Transaction.wait
    patch.setattr(Transaction, "wait", lambda self, holder, *rest: wait(self, self.id, *rest))


def forgotten_name(patch: Patch) -> None:
    """A wait is counted, but its holder is not kept."""
    wait = Transaction.wait

    def forget(self: Transaction, holder: int, *rest: Any) -> None:
        if holder % 2:
            wait(self, holder, *rest)

    patch.setattr(Transaction, "wait", forget)


def no_acknowledgement(patch: Patch) -> None:
    """A memory never acknowledges."""
    patch.setattr(Memory, "answer", lambda self, packet: None)


def generous_credit(patch: Patch) -> None:
    """Senders believe that there is always room in the buffers."""
    patch.setattr(InputQueue, "credits", lambda self, now: 9)


BROKEN: list[tuple[Callable[[Patch], None], str, str, list[Flow]]] = [
    (half_an_answer, "bytes", "two cubes", BUSY),
    (early_answer, "bytes", "two cubes", [Flow(0, "hbm", 5, 0, 4096, False, 0.0)]),
    (miscounted_bytes, "bytes", "two cubes", BUSY),
    (pays_at_the_door, "order", "two cubes", PORT),
    (last_come_first_served, "order", "two cubes", [
        Flow(0, "hbm", 5, 0, 4096, True, 4.0 * n) for n in range(4)]),
    (fast_link, "capacity", "two cubes", BUSY),
    (overlapping_bursts, "capacity", "two cubes", BUSY),
    (two_jobs_an_engine, "capacity", "two cubes", BUSY),
    (jumped_queue, "capacity", "two cubes", BUSY),
    (miscounted_use, "capacity", "two cubes", BUSY),
    (lazy_channel, "work", "two cubes", BUSY),
    (idle_link, "work", "two cubes", BUSY),
    (booked_early, "order", "penalties", HELD),
    (slow_to_pick_up, "work", "two cubes", BUSY),
    (forgotten_hop, "times", "two cubes", BUSY),
    (late_submission, "times", "two cubes", BUSY),
    (nobody_to_blame, "waits", "two cubes", BUSY),
    (own_fault, "waits", "two cubes", BUSY),
    (forgotten_name, "waits", "two cubes", BUSY),
    (generous_credit, "credits", "buffers", BUSY),
    (no_acknowledgement, "outstanding", "two cubes", BUSY),
]  # fmt: skip

SILENT = [lost_flit, out_of_order_release]
"""What no rule sees, as it is all accounted for: the reference ends at other times."""


@patches_the_engine
@pytest.mark.parametrize("breakage", SILENT)
def test_what_breaks_no_rule_is_found_by_the_reference(
    breakage: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    breakage(monkeypatch)
    monkeypatch.setattr(cases, "bench", Bench)  # a machine that is wired after it
    with pytest.raises(AssertionError):
        Agreement().compare("two cubes", BUSY, check=False)


@patches_the_engine
@pytest.mark.parametrize(
    ("breakage", "invariant", "name", "case"), BROKEN, ids=[f"{b[1]}-{b[0].__name__}" for b in BROKEN]
)
def test_every_invariant_can_fail(
    breakage: Callable[[Patch], None], invariant: str, name: str, case: list[Flow], monkeypatch: Patch
) -> None:
    bench(name).measured(case, True)
    breakage(monkeypatch)
    with pytest.raises(InvariantError) as broken:
        Bench(name).measured(case, True)
    assert broken.value.invariant == invariant, str(broken.value)
    assert re.match(rf"invariant '{invariant}': .+ at \S+.*, \d+\.\d{{6}} ns: ", str(broken.value))


def test_there_is_a_broken_machine_for_every_rule() -> None:
    import kernbench.engine.core.invariants as module

    rules = set(re.findall(r"^``(\w+)``", module.__doc__ or "", re.MULTILINE))
    assert rules == {invariant for _, invariant, _, _ in BROKEN}


@patches_the_engine
def test_a_violation_names_transaction_place_and_time(monkeypatch: Patch) -> None:
    lazy_channel(monkeypatch)
    with pytest.raises(
        InvariantError,
        match=r"^invariant 'work': transaction 0 \(dma_write, sip0\.cube0\.pe0\.pe_dma to "
        r"sip0\.cube0\.hbm_ctrl\.pe0\) at sip0\.cube0\.hbm_ctrl\.pe0\.pc0, [\d.]+ ns: waits until [\d.]+ ns, "
        r"though all others are served by [\d.]+ ns$",
    ):
        Bench("two cubes").measured([Flow(0, "hbm", 0, 0, 256, True, 0.0)], True)


def test_checking_changes_no_time_and_costs_nothing_when_off() -> None:
    _, plain = bench("penalties").measured(BUSY, False)
    checked_machine, checked = bench("penalties").measured(BUSY, True)
    assert [(t.id, t.t_done, t.rows) for t in plain] == [(t.id, t.t_done, t.rows) for t in checked]
    assert checked_machine.checker is not None
    assert checked_machine.checker.checked == len(checked) > 20
    off = Machine(bench("penalties").graph, check=False)
    assert off.checker is None
    assert all(resource.watcher is None for resource in off.resources)
    assert not any("occupy" in getattr(resource, "__dict__", ()) for resource in off.resources)


def test_tests_are_checked_unless_they_say_otherwise(monkeypatch: Patch) -> None:
    graph = bench("minimal").graph
    assert Machine(graph).checker is not None
    monkeypatch.setenv("KERNBENCH_CHECK", "0")
    assert Machine(graph).checker is None
    monkeypatch.delenv("KERNBENCH_CHECK")
    assert Machine(graph).checker is None
    assert Machine(graph, check=True).checker is not None


@patches_the_engine
def test_a_machine_at_rest_is_checked_after_a_wait(monkeypatch: Patch) -> None:
    miscounted_bytes(monkeypatch)
    machine = Machine(compiled("minimal"), check=True)
    request = machine.host_write(0, [Region(machine.addresses.hbm(0, 0, 0, 0), 1000)])
    with pytest.raises(InvariantError, match=r"counted 2000 bytes, carried 1000"):
        machine.wait(request)


PART = '''\
from kernbench.engine.components.transit import Transit


class Impatient(Transit):
    """Hands flits on without waiting for its worker."""

    def occupy(self, time, duration, owner):
        super().occupy(time, duration, owner)
        return time
'''
TOPOLOGY = (
    "schema_version: 1\nname: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"
    "cube:\n  pes: {count: 1, corners: [NW]}\n  hbm: {pseudo_channels: 8}\n"
    "  router: {impl: 'impatient_parts:Impatient', overhead_ns: 40.0, worker: serial}\n"
)


def test_a_users_component_that_breaks_a_rule_fails_its_run(
    cli: Callable[..., Ended], workdir: Path, monkeypatch: Patch
) -> None:
    (workdir / "impatient_parts.py").write_text(PART, encoding="utf-8")
    (workdir / "t.yaml").write_text(TOPOLOGY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(workdir))
    monkeypatch.delenv("KERNBENCH_CHECK")
    run = ("run", "--bench", "gemm-single-pe", "--topology", "t.yaml", "--store", "memory:")
    assert cli(*run).status == 0
    broken = cli(*run, "--check")
    assert broken.status == 1
    assert broken.err.count("\n") == 1
    assert re.search(r"invariant 'capacity': transaction \d+ \(.*\) at sip0\.cube0\.r\dc\d, [\d.]+ ns: "
                     r"is served from", broken.err)  # fmt: skip
    with pytest.raises(InvariantError) as error:
        kb.run("gemm-single-pe", topology="t.yaml", store="memory:", check=True)
    assert error.value.invariant == "capacity"
    assert error.value.during_run


@pytest.mark.parametrize("bench_name", ["gemm-single-pe", "matmul-composite"])
def test_a_sound_bench_passes(bench_name: str) -> None:
    checked = kb.run(bench_name, topology="minimal", store="memory:", verify=True, check=True)
    plain = kb.run(bench_name, topology="minimal", store="memory:", verify=True, check=False)
    assert checked.sim_ns == plain.sim_ns


@pytest.mark.parametrize("internal_gbs", [64, 200])
def test_writes_that_wait_for_data_to_leave_tcm_break_no_rule(internal_gbs: int) -> None:
    """Links within a PE that are slower than its router's: engines issue until the data may be sent."""
    kb.run("qkv-gemm", "minimal", topo={"pe.links.internal_gbs": internal_gbs}, check=True, trace=False)
    kb.run("qkv-gemm", "minimal", topo={"pe.links.internal_gbs": internal_gbs}, check=True, store="memory:")
