"""Queues on the machine: values that arrive, races, errors, deadlocks, failures, and what the log says."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernbench.errors import (
    AllocationError,
    DeadlockError,
    InvariantError,
    KernelError,
    LaunchError,
    StarvedError,
    UsageError,
)
from kernbench.hardware.topology.neighbours import ring
from kernbench.host import DPPolicy
from tests.queue_runs import PAIR, Rig

A, B = (0, 0, 0), (0, 0, 1)
HERE = DPPolicy(num_cubes=1, num_pes=1)
KINDS = ["tcm", "sram", "hbm"]
MODELS = {
    "va": {},
    "pa": {"system.address_model": "pa"},
    "la": {"system.address_model": "la"},
    "one to one": {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"},
}


@pytest.mark.daily("*-tcm", "va-sram", "one to one-hbm")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_values_arrive_in_every_memory_and_address_model(kind: str, model: str) -> None:
    rig = Rig(PAIR | MODELS[model])
    values = np.random.default_rng(1).integers(-100, 100, 9000).astype(np.float16)
    x = rig.torch.from_numpy(values)
    out = rig.torch.zeros(9000)
    rig.torch.install_ipcq("intracube_pe_ring", buffer_kind=kind, slot_bytes=1000)

    def first(x: Any, out: Any, tl: Any) -> None:
        tl.send("pe_E", src_addr=x)
        tl.send("pe_E", tl.load(x))
        tl.store(out, tl.recv("pe_W") + tl.recv("pe_E"))

    def second(x: Any, out: Any, tl: Any) -> None:
        a, b = tl.recv("pe_W"), tl.recv("pe_W")
        tl.send("pe_E", a)
        tl.send("pe_W", b)

    rig.run([first, second], x, out)
    np.testing.assert_array_equal(out.numpy(), values * 2)
    rig.close()


def test_four_slots_and_sixty_four_sends() -> None:
    """Slots are used sixteen times over; what math makes of each message in replay is still its own."""
    rig = Rig()
    x = rig.torch.from_numpy(np.arange(64, dtype=np.float32))
    out = rig.torch.zeros(64, dtype="f32")
    rig.torch.install_ipcq("intracube_pe_ring", slot_bytes=4)

    def first(x: Any, out: Any, tl: Any) -> None:
        for i in range(64):
            tl.send("pe_E", tl.load(x + 4 * i, (1,), "f32") * 2)  # pending when it is sent

    def second(x: Any, out: Any, tl: Any) -> None:
        got = [tl.recv("pe_W") for _ in range(64)]  # all are held until the ring has wrapped fifteen times
        for i in reversed(range(64)):
            tl.store(out + 4 * i, got[i] + 1)

    rig.run([first, second], x, out)
    np.testing.assert_array_equal(out.numpy(), np.arange(64) * 2 + 1)
    rig.close()


def test_a_forwarded_slot_wraps_before_replay() -> None:
    rig = Rig(PAIR | {"cube.pes.count": 4, "cube.pes.corners": ["NW", "NE", "SW", "SE"]})
    x = rig.torch.from_numpy(np.arange(32, dtype=np.float32).reshape(8, 4))
    out = rig.torch.zeros((8, 4), dtype="f32")
    rig.torch.install_ipcq("intracube_pe_ring", slots=1)

    def first(x: Any, out: Any, tl: Any) -> None:
        for i in range(8):
            tl.send("pe_E", tl.exp(tl.load(x + 16 * i, (4,), "f32")))

    def forward(x: Any, out: Any, tl: Any) -> None:
        for _ in range(8):
            tl.send("pe_E", tl.recv("pe_W"))

    def last(x: Any, out: Any, tl: Any) -> None:
        for i in range(8):
            tl.store(out + 16 * i, tl.recv("pe_W"))

    rig.run([first, forward, forward, last], x, out)
    np.testing.assert_allclose(out.numpy(), np.exp(np.arange(32, dtype=np.float32).reshape(8, 4)), 1e-6)
    rig.close()


def test_scratch_is_reused_by_a_later_kernel_while_the_message_waits() -> None:
    rig = Rig()
    x = rig.torch.from_numpy(np.arange(256, dtype=np.float32))
    out = rig.torch.zeros(256, dtype="f32")
    rig.torch.install_ipcq("intracube_pe_ring")

    def first(x: Any, out: Any, tl: Any) -> None:
        tl.send("pe_E", tl.load(x) + 1)

    def overwrite(x: Any, out: Any, tl: Any) -> None:
        for value in range(40):
            tl.full((256,), value, "f32") * 3

    def receive(x: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.recv("pe_W"))

    rig.run([first], x, out)
    rig.run([overwrite], x, out)
    rig.run({B: receive}, x, out)
    np.testing.assert_array_equal(out.numpy(), np.arange(256) + 1)
    rig.close()


def test_memory_is_sent_as_it_was_at_the_send() -> None:
    rig = Rig()
    x = rig.torch.from_numpy(np.full(4096, 7, np.int8))
    out = rig.torch.zeros(4096, dtype="i8")
    rig.torch.install_ipcq("intracube_pe_ring", slots=1, slot_bytes=512)

    def first(x: Any, out: Any, tl: Any) -> None:
        tl.send("pe_E", src_addr=x)
        tl.store(x, tl.full((4096,), 9, "i8"))

    def second(x: Any, out: Any, tl: Any) -> None:
        tl.cycles(2000)
        tl.recv("pe_W", dst_addr=out)

    rig.run([first, second], x, out)
    assert np.unique(out.numpy()).tolist() == [7]
    assert np.unique(x.numpy()).tolist() == [9]
    rig.close()


def test_several_receives_under_way() -> None:
    rig = Rig()
    out = rig.torch.zeros((6, 300), dtype="i32")
    rig.torch.install_ipcq("intracube_pe_ring", buffer_kind="hbm", slots=2, slot_bytes=512)

    def first(out: Any, tl: Any) -> None:
        for i in range(6):
            tl.send("pe_E", tl.full((300,), i, "i32"))

    def second(out: Any, tl: Any) -> None:
        futures = [tl.recv_async("pe_W", (300,), "i32") for _ in range(6)]
        for i, got in enumerate(tl.wait(futures)):
            tl.store(out + 1200 * i, got)

    rig.run([first, second], out)
    np.testing.assert_array_equal(out.numpy(), np.repeat(np.arange(6), 300).reshape(6, 300))
    rig.close()


def test_rings_lie_apart_from_tensors_and_from_each_other() -> None:
    rig = Rig()
    torch = rig.torch
    tensors = [torch.zeros(1000, dtype="i8", memory=kind) for kind in KINDS for _ in range(2)]
    sets = [
        torch.install_ipcq(ring([A, B], f"{kind}_E", f"{kind}_W"), buffer_kind=kind, slots=3, slot_bytes=100)
        for kind in KINDS
    ]
    more = [torch.zeros(1000, dtype="i8", memory=kind) for kind in KINDS]
    blocks = [(t.shards[0].pa, 1000) for t in (*tensors, *more)]
    for pe in (0, 1):
        for entry in rig.machine.component(f"sip0.cube0.pe{pe}.pe_ipcq").queues.values():  # type: ignore[attr-defined]
            target = rig.machine.addresses.resolve(entry.address)
            assert target.kind == entry.buffer_kind
            assert target.component.startswith("sip0.cube0")
            if entry.buffer_kind != "sram":
                assert f"pe{pe}" in target.component
            blocks.append((entry.address, entry.nbytes))
    blocks.sort()
    assert all(a + n <= b for (a, n), (b, _) in pairwise(blocks))
    free = rig.torch.storage.memory.memory_of(A, "tcm").free_bytes
    for queues in sets:
        queues.close()
        queues.close()
    assert rig.torch.storage.memory.memory_of(A, "tcm").free_bytes == free + 600
    rig.close()


def test_the_log_says_what_was_sent_copied_and_received() -> None:
    rig = Rig()
    rig.torch.install_ipcq("intracube_pe_ring", slots=2, slot_bytes=256)

    def first(tl: Any) -> None:
        for _ in range(2):
            tl.send("pe_E", tl.zeros((300,), "f16"))

    def second(tl: Any) -> None:
        tl.cycles(500)
        for _ in range(2):
            tl.recv("pe_W")

    rig.run([first, second])
    seen = rig.seen
    assert [op.nbytes for op in seen.named("ipcq_send")] == [600, 600]
    assert [op.nbytes for op in seen.named("ipcq_recv")] == [600, 600]
    assert [op.nbytes for op in seen.named("ipcq_copy", "TO_SLOT")] == [256, 256, 88] * 2
    reads = seen.named("ipcq_copy", "FROM_SLOT")
    assert [op.nbytes for op in reads] == [256, 256, 88] * 2
    by_id = {op.id: op for op in seen.ops}
    on: dict[tuple[int, str], list[int]] = defaultdict(list)
    for op, cause, hazard in rig.data.log.dependencies():
        on[op, hazard].append(cause)
        if hazard != "part":
            assert by_id[op].t_start >= by_id[cause].t_end, (by_id[op], hazard, by_id[cause])
    for op in reads:
        (token,) = on[op.id, "token"]
        assert (by_id[token].stage, on[op.id, "raw"]) == ("TO_SLOT", [token])
        assert by_id[op.parent].name == "ipcq_recv"
    waited = [op for op in seen.named("ipcq_copy", "TO_SLOT") if on[op.id, "credit"]]
    assert len(waited) == 4, "the first two parts have slots, the other four wait for credits"
    assert all(by_id[on[op.id, "credit"][0]].stage == "FROM_SLOT" for op in waited)
    credits = {t.id: t for t in seen.of_kind("ipcq_credit")}
    assert len(credits) == len(seen.of_kind("ipcq_token")) == 6
    assert [t.parent in credits for t in seen.of_kind("ipcq_token")] == [False] * 2 + [True] * 4
    for op in (*seen.named("ipcq_send"), *seen.named("ipcq_recv")):
        assert op.source.startswith("test_queues_machine.py:")
        assert op.t_ready <= op.t_start <= op.t_end
    rig.close()


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda t: t.install_ipcq("mesh"), UsageError, "'mesh' is not a pattern of neighbours"),
        (lambda t: t.install_ipcq(ring([A, (0, 3, 0)])), UsageError, r"no such PE as \(0, 3, 0\)"),
        (lambda t: t.install_ipcq(ring([A, B]), buffer_kind="l2"), UsageError, "'l2' is not a memory"),
        (lambda t: t.install_ipcq(ring([A, B]), slots=0), UsageError, "slots is 0; it must be"),
        (lambda t: t.install_ipcq(ring([A, B]), among=[A]), UsageError, "among goes with patterns"),
        (
            lambda t: [t.install_ipcq(ring([A, B])) for _ in range(2)],
            UsageError,
            "sip0.cube0.pe0 has a direction 'E' already; close those queues first",
        ),
        (
            lambda t: t.install_ipcq(ring([A, B]), slot_bytes=1 << 21),
            AllocationError,
            r"2 rings of 4 slots of 2097152 bytes for sip0.cube0.pe0: TCM of sip0.cube0.pe0 is full: "
            r"16777216 bytes wanted .* use fewer or smaller slots, or another buffer_kind",
        ),
    ],
)
def test_what_cannot_be_set_up(act: Any, error: type[Exception], message: str) -> None:
    rig = Rig()
    with pytest.raises(error, match=message):
        act(rig.torch)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, tl: tl.send("N"), "tl.send: argument 'dir': 'N' is not a direction of sip0.cube0.pe0"),
        (
            lambda x, tl: tl.send("pe_E", src_addr=x, space="sram"),
            "argument 'space' is 'sram', but address 0x8000000000000 leads to 'sip0.cube0.hbm_ctrl",
        ),
        (
            lambda x, tl: tl.recv("pe_W", dst_addr=x, dst_space="tcm"),
            "argument 'dst_space' is 'tcm', but address 0x8000000000000 leads to 'sip0.cube0.hbm_ctrl",
        ),
        (lambda x, tl: tl.send("pe_E", src_addr=1 << 50, nbytes=8), "in tl.send.*sip_id"),
    ],
)
def test_calls_that_are_refused(body: Any, message: str) -> None:
    rig = Rig()
    x = rig.torch.zeros(16)
    rig.torch.install_ipcq("intracube_pe_ring")
    with pytest.raises(LaunchError, match=message):
        rig.run([body], x)
    rig.close()


def test_a_deadlock_names_rings_and_lines() -> None:
    rig = Rig()
    rig.torch.install_ipcq("intracube_pe_ring", slots=2)

    def first(tl: Any) -> None:
        for _ in range(3):
            tl.send("pe_E", tl.zeros((4,)))

    def second(tl: Any) -> None:
        tl.recv("pe_E")

    with pytest.raises(DeadlockError) as caught:
        rig.run([first, second])
    text = str(caught.value)
    for pattern in (
        r"sip0\.cube0\.pe0\.pe_cpu runs kernel 'bodies' on sip0\.cube0\.pe0: at its end, waiting for "
        r"ipcq_send \(op \d+\) to pe_E at test_queues_machine\.py:\d+",
        r"sip0\.cube0\.pe0\.pe_ipcq waits to send 'pe_E' \(1 slots\) to sip0\.cube0\.pe1: 0 credits, "
        r"2 sent, 0 freed of its ring at 0x[0-9a-f]+ \(2 x 4096 bytes in tcm\)",
        r"sip0\.cube0\.pe1\.pe_cpu runs kernel 'bodies' on sip0\.cube0\.pe1: in tl\.recv at "
        r"test_queues_machine\.py:\d+",
        r"sip0\.cube0\.pe1\.pe_ipcq waits to receive 'pe_E': ring 'pe_E' at 0x[0-9a-f]+ from "
        r"sip0\.cube0\.pe0, 2 x 4096 bytes in tcm: head 0, tail 0",
    ):
        assert re.search(pattern, text), f"{pattern}\nis not in\n{text}"


def test_a_deadlock_says_that_the_other_end_is_over() -> None:
    rig = Rig()
    rig.torch.install_ipcq("intracube_pe_ring")
    with pytest.raises(
        DeadlockError, match=r"ring 'pe_W' at 0x\w+ from sip0.cube0.pe1 \(which runs no kernel\)"
    ):
        rig.run([lambda tl: tl.recv("pe_W")])


@pytest.mark.parametrize("apart", [False, True], ids=["one launch", "two launches"])
def test_a_failed_pe_is_the_cause(apart: bool) -> None:
    rig = Rig()
    rig.torch.install_ipcq("intracube_pe_ring")

    def first(tl: Any) -> None:
        tl.cycles(50)
        raise ValueError("by design")

    def second(tl: Any) -> None:
        tl.recv("pe_W")

    if not apart:
        with pytest.raises(
            LaunchError, match=r"failed on sip0\.cube0\.pe0 .*ValueError: by design"
        ) as caught:
            rig.run([first, second])
        assert caught.value.pe == "sip0.cube0.pe0"
        return
    one, two = rig.launch({A: first}), rig.launch({B: second})
    with pytest.raises(LaunchError, match="by design"):
        one.wait()
    starved = r"in tl\.recv at .*waits for sip0\.cube0\.pe0, which has failed"
    with pytest.raises(LaunchError, match=starved) as second_error:
        two.wait()
    assert isinstance(second_error.value.cause, StarvedError)
    assert "by design" in str(second_error.value.cause.root)


def test_a_stopped_receive_takes_nothing_from_a_later_kernel() -> None:
    rig = Rig()
    out = rig.torch.zeros(4, dtype="i32")
    queues = rig.torch.install_ipcq("intracube_pe_ring")

    def fails(out: Any, tl: Any) -> None:
        tl.recv_async("pe_W", (4,), "i32")
        raise ValueError("by design")

    with pytest.raises(LaunchError, match="by design"):
        rig.run({B: fails}, out)

    def first(out: Any, tl: Any) -> None:
        tl.send("pe_E", tl.full((4,), 5, "i32"))

    def second(out: Any, tl: Any) -> None:
        tl.store(out, tl.recv("pe_W"))

    rig.run([first, second], out)
    assert out.numpy().tolist() == [5] * 4
    queues.close()
    rig.close()


def test_queues_are_set_up_over_the_fabric() -> None:
    rig = Rig()
    before = rig.torch.now
    rig.torch.install_ipcq("intracube_pe_ring")
    (to_io, to_cube, *to_pes) = rig.seen.of_kind("queue_setup")
    assert (to_io.nbytes, to_cube.nbytes) == (128, 128)
    assert [(t.dst, t.nbytes) for t in to_pes] == [(f"sip0.cube0.pe{pe}.pe_cpu", 64) for pe in (0, 1)]
    assert rig.torch.now > before


def test_the_checker_sees_a_slot_written_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernbench.engine.components.queue_ring import Outgoing

    monkeypatch.setattr(Outgoing, "credits", property(lambda self: 9))
    rig = Rig()
    rig.torch.install_ipcq("intracube_pe_ring", slots=2)

    def first(tl: Any) -> None:
        for _ in range(3):
            tl.send("pe_E", tl.zeros((4,)))

    with pytest.raises((InvariantError, KernelError), match="is not the next free one"):
        rig.run([first])


def test_the_host_may_launch_the_other_end_later() -> None:
    """A kernel that waits for a queue is no fault of the machine while the host has more to do."""
    rig = Rig(PAIR | {"system.sips": 2})
    torch = rig.torch
    torch.install_ipcq("inter_sip", among=[A, (1, 0, 0)])
    got: list[int] = []

    def kernel(_: Any, tl: Any) -> None:
        if tl.device_id(2) == 0:
            got.append(int(tl.recv("global_E")[0]))
        else:
            tl.send("global_W", tl.full((4,), 6, "i32"))

    torch.ahbm.set_device(0)
    first = torch.launch("waits", kernel, torch.zeros(4))
    torch.ahbm.set_device(1)
    other = torch.zeros(4)
    other.settle_writes()
    rig.machine.drain()
    torch._driver.wait([])
    assert not first.done
    torch.wait(torch.launch("sends", kernel, other), first)
    assert got == [6]
    rig.close()


@pytest.mark.parametrize("announced", [True, False])
def test_a_message_orders_accesses_to_memory(announced: bool) -> None:
    """Without the message the two PEs' accesses to one tensor are a race."""
    rig = Rig()
    x = rig.torch.zeros(64, dtype="i32")
    out = rig.torch.zeros(64, dtype="i32")
    rig.torch.install_ipcq("intracube_pe_ring")

    def first(x: Any, out: Any, tl: Any) -> None:
        tl.recv("pe_W", dst_addr=x)
        if announced:
            tl.send("pe_E")

    def second(x: Any, out: Any, tl: Any) -> None:
        tl.send("pe_E", tl.full((64,), 3, "i32"))
        if announced:
            tl.recv("pe_W")
        else:
            tl.cycles(5000)
        tl.store(out, tl.load(x))

    rig.run([first, second], x, out)
    assert bool(rig.data.races.races) is not announced
    assert np.unique(out.numpy()).tolist() == [3]
    rig.close()
