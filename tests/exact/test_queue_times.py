"""Times of queues against the closed form: flits over the route, the slot's memory, the credit's way back."""

from __future__ import annotations

import math
from typing import Any

import pytest

import kernbench as kb
from kernbench.engine.core.transaction import Path
from kernbench.hardware.kinds import Traffic
from kernbench.host import DPPolicy
from tests import names
from tests.exact.message_times import message_ns as time_of_message
from tests.queue_runs import PAIR, Rig

WIDE = PAIR | {"system.sips": 2, "sip.cube_mesh": {"w": 2, "h": 1}}
NEAR, CUBE, SIP = (0, 0, 1), (0, 1, 0), (1, 0, 0)


def route(rig: Rig, source: str, target: str) -> Path:
    return rig.machine.path(source, target, Traffic.PE_DMA)


def message_ns(rig: Rig, route: Path, nbytes: int) -> float:
    return time_of_message(rig.machine.flit_bytes, route, nbytes)


@pytest.mark.daily("*-in the cube", "1000-other SIP", "4096-next cube")
@pytest.mark.parametrize("peer", [NEAR, CUBE, SIP], ids=["in the cube", "next cube", "other SIP"])
@pytest.mark.parametrize("nbytes", [0, 1, 128, 256, 1000, 4096])
def test_one_message_to_a_slot_in_tcm(peer: tuple[int, int, int], nbytes: int) -> None:
    rig = Rig(WIDE, rest_cycles=5000)
    times: dict[str, float] = {}

    def send(tl: Any) -> None:
        times["send"] = tl._pe.now()
        tl.send("E", tl.zeros((nbytes,), "i8") if nbytes else None)
        times["sent"] = tl._pe.now()

    def receive(tl: Any) -> None:
        tl.recv("W")
        times["received"] = tl._pe.now()

    rig.torch.install_ipcq({(0, 0, 0): {"E": peer}, peer: {"W": (0, 0, 0)}})
    rig.run({(0, 0, 0): send, peer: receive})
    here, there = names.pe_part(0, 0, 0, "pe_dma"), names.pe_part(*peer, "pe_dma")
    forth = route(rig, here, there)
    arrives = message_ns(rig, forth, nbytes)
    assert times["sent"] == times["send"]
    assert times["received"] - times["send"] == pytest.approx(arrives + 2 * nbytes / 512.0, abs=1e-9)
    (credit,) = rig.seen.of_kind("ipcq_credit")
    assert (credit.src, credit.dst, credit.nbytes) == (there, here, 16)
    assert credit.t_submit == times["received"]
    (token,) = rig.seen.of_kind("ipcq_token")
    assert (token.src, token.dst, token.nbytes) == (here, there, nbytes)
    assert credit.t_done - credit.t_submit == pytest.approx(message_ns(rig, forth.reverse, 16), abs=1e-9)
    hops = [rig.machine.resources[row.resource].resource for row in rig.seen.rows[credit.id]]
    nodes = [node.resource for node in forth.nodes]
    assert [name for name in hops if "->" not in name] == nodes[-2::-1]
    rig.close()


@pytest.mark.parametrize("nbytes", [128, 1000, 4096])
@pytest.mark.parametrize("kind", ["sram", "hbm"])
def test_slots_in_a_bank_pay_tier_and_hop(kind: str, nbytes: int) -> None:
    """Tier, then a write to the bank and its answer; and the same for the read."""
    rig = Rig(rest_cycles=5000)
    times: dict[str, float] = {}

    def send(tl: Any) -> None:
        times["send"] = tl._pe.now()
        tl.send("pe_E", tl.zeros((nbytes,), "i8"))

    def receive(tl: Any) -> None:
        tl.recv("pe_W")
        times["received"] = tl._pe.now()

    rig.torch.install_ipcq("intracube_pe_ring", buffer_kind=kind)
    rig.run([send, receive])
    gbs, overhead = {"sram": (512.0, 2.0), "hbm": (256.0, 6.0)}[kind]
    here, there = (names.pe_part(0, 0, pe, "pe_dma") for pe in (0, 1))
    arrives = message_ns(rig, route(rig, here, there), nbytes)
    (write,), (read,) = rig.seen.of_kind("ipcq_slot_write"), rig.seen.of_kind("ipcq_slot_read")
    bank = {"sram": names.sram(0, 0), "hbm": names.hbm(0, 0, 1)}[kind]
    assert write.dst == read.dst == bank
    tier = overhead + nbytes / gbs
    # The hop itself is what a plain DMA of the same bytes takes there and back.
    hops = {}
    for is_write in (True, False):
        flow = rig.machine.flow("sip0.cube0.pe1", bank, 0, nbytes, is_write=is_write)
        rig.machine.wait(flow)
        hops[is_write] = flow.ns
    expected = arrives + tier + hops[True] + tier + hops[False]
    assert times["received"] - times["send"] == pytest.approx(expected, abs=1e-9)
    assert write.t_done - write.t_submit == pytest.approx(tier + hops[True], abs=1e-9)
    rig.close()


@pytest.mark.parametrize(("key", "by"), [("tcm", 7.0), ("overhead", 5.0)])
def test_keys_of_the_queues_act(key: str, by: float) -> None:
    def took(overrides: dict[str, object]) -> float:
        rig = Rig(PAIR | overrides, rest_cycles=5000)
        times: list[float] = []

        def send(tl: Any) -> None:
            times.append(tl._pe.now())
            tl.send("pe_E", tl.zeros((1024,), "i8"))

        def receive(tl: Any) -> None:
            tl.recv("pe_W")
            times.append(tl._pe.now())

        rig.torch.install_ipcq("intracube_pe_ring")
        rig.run([send, receive])
        return times[1] - times[0]

    change: dict[str, object] = {
        "tcm": {"pe.pe_ipcq.tcm": {"gbs": 512.0, "overhead_ns": by}},
        "overhead": {"pe.pe_ipcq.overhead_ns": by},
    }[key]
    # The overhead of a slot is paid twice, by its write and its read; that of PE_IPCQ by the send alone:
    # the receive pays it while the message is under way.
    assert took(change) - took({}) == pytest.approx({"tcm": 2 * by, "overhead": by}[key], abs=1e-9)


def test_a_message_larger_than_a_slot_is_pipelined() -> None:
    """Sixteen parts over four slots: the link is never idle for long, and credits keep the sender going."""

    def took(slots: int) -> float:
        rig = Rig()
        times: list[float] = []

        def send(tl: Any) -> None:
            times.append(tl._pe.now())
            tl.send("pe_E", tl.zeros((65536,), "i8"))

        def receive(tl: Any) -> None:
            tl.recv("pe_W")
            times.append(tl._pe.now())

        rig.torch.install_ipcq("intracube_pe_ring", slots=slots)
        rig.run([send, receive])
        rig.close()
        return times[1] - times[0]

    latency = took(64) - 65536 / 256.0
    assert 0 < latency < 60.0  # the route, and writing and reading the last slot alone
    assert took(4) < 1.6 * took(64)
    assert took(1) > 2 * took(4)


@pytest.mark.parametrize("poll_ns", [None, 7.0, 1000.0])
def test_a_send_that_waits_sleeps_until_its_credit_or_looks_for_it(poll_ns: float | None) -> None:
    def kernel(x: Any, tl: Any) -> None:
        for _ in range(3):
            if tl.program_id(0) == 0:
                tl.send("E")
            else:
                tl.recv("W")

    def bench(torch: Any) -> None:
        torch.install_ipcq({(0, 0, 0): {"E": (0, 0, 1)}, (0, 0, 1): {"W": (0, 0, 0)}})
        torch.launch("talk", kernel, torch.zeros((8, 8), dp=DPPolicy(pe="row_wise", num_pes=2))).wait()

    topo: dict[str, Any] = {"cube.pes.count": 2, "cube.pes.corners": ["NW", "SE"], "pe.pe_ipcq.slots": 1}
    if poll_ns is not None:
        topo |= {"pe.pe_ipcq.backpressure": "poll", "pe.pe_ipcq.poll_ns": poll_ns}
    run = kb.run(bench, "minimal", topo=topo, store="memory:", check=True)
    sent, there = (
        sorted(row[time] for row in run.tables["Transaction"].to_pylist() if row["kind"] == kind)
        for kind, time in (("ipcq_token", "t_submit"), ("ipcq_credit", "t_done"))
    )
    for begun, credit, goes_on in zip(sent, there, sent[1:], strict=False):
        looks = 0 if poll_ns is None else math.ceil((credit - begun) / poll_ns)
        assert goes_on == pytest.approx(credit if poll_ns is None else begun + looks * poll_ns, abs=1e-9)
