"""Sends are posted: a kernel goes on while its messages wait for slots, as many as the ring has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernbench.errors import DeadlockError
from kernbench.language import interpret
from tests.queue_runs import PAIR, Rig

SLOTS = 2


def rig(**overrides: object) -> Rig:
    made = Rig(PAIR | overrides)
    made.torch.install_ipcq("intracube_pe_ring", slots=SLOTS)
    return made


def test_a_kernel_goes_on_while_as_many_messages_wait_as_the_ring_has_slots() -> None:
    made, times, read = rig(), [], []

    def send(tl: Any) -> None:
        for _ in range(2 * SLOTS + 1):
            tl.send("pe_E", tl.zeros((8,)))
            times.append(tl._pe.now())

    def receive(tl: Any) -> None:
        tl.cycles(500)
        for _ in range(2 * SLOTS + 1):
            tl.recv("pe_W")
            read.append(tl._pe.now())

    made.run([send, receive])
    assert len(set(times[: 2 * SLOTS])) == 1, "slots, and as many posts"
    assert times[-1] > read[0], "the next one waits for a slot"
    made.close()


@pytest.mark.parametrize("count", [SLOTS, 2 * SLOTS])
def test_two_that_send_before_they_receive_do_not_wait_for_each_other(count: int) -> None:
    made, got = rig(), {}

    def exchange(tl: Any) -> None:
        me = tl.program_id(0)
        for i in range(count):
            tl.send("pe_E", tl.full((4,), 10 * me + i, "i32"))
        got[me] = [tl.recv("pe_W") for _ in range(count)]

    def kernel(out: Any, tl: Any) -> None:
        exchange(tl)
        for i, value in enumerate(got[tl.program_id(0)]):
            tl.store(out + 16 * (tl.program_id(0) * count + i), value)

    out = made.torch.zeros((2 * count * 4,), dtype="i32")
    made.run([kernel, kernel], out)
    expected = np.repeat([10 * (1 - me) + i for me in range(2) for i in range(count)], 4)
    np.testing.assert_array_equal(out.numpy(), expected)
    made.close()

    def interpreted(tl: Any) -> None:
        exchange(tl)

    interpret(interpreted, grid=2, queues="intracube_pe_ring", slots=SLOTS)
    assert [int(value.data[0]) for value in got[0]] == [10 + i for i in range(count)]


def test_one_message_more_on_both_sides_is_a_deadlock() -> None:
    def exchange(tl: Any) -> None:
        for _ in range(2 * SLOTS + 1):
            tl.send("pe_E", tl.zeros((4,)))
        tl.recv("pe_W")

    with pytest.raises(DeadlockError, match=r"in tl\.send"):
        rig().run([exchange, exchange])
    with pytest.raises(DeadlockError, match=r"in tl\.send"):
        interpret(exchange, grid=2, queues="intracube_pe_ring", slots=SLOTS)


def test_a_launch_ends_when_its_posts_are_placed() -> None:
    made, ended = rig(), []

    def send(tl: Any) -> None:
        for _ in range(2 * SLOTS):
            tl.send("pe_E", tl.zeros((8,)))
        ended.append(tl._pe.now())

    def receive(tl: Any) -> None:
        tl.cycles(500)
        for _ in range(2 * SLOTS):
            tl.recv("pe_W")

    launch = made.launch([send, receive])
    launch.wait()
    made.machine.drain()
    last = max(token.t_submit for token in made.seen.of_kind("ipcq_token"))
    exec_ns = launch.record.pe_times[0, 0, 0].exec_ns
    assert ended[0] < last == pytest.approx(launch.record.t_start + exec_ns)
    made.close()


def test_posted_bytes_stay_in_scratch_until_they_are_placed() -> None:
    """The third value has no room beside two that wait, and waits for the first of them."""
    made = rig(**{"pe.pe_tcm.scratch_bytes": 16384})
    times: list[float] = []

    def send(tl: Any) -> None:
        for i in range(2 * SLOTS + 1):
            tl.send("pe_E", tl.full((4096,), i, "i8"))
            times.append(tl._pe.now())
        tl.full((12_288,), 0, "i8")
        times.append(tl._pe.now())

    def receive(tl: Any) -> None:
        tl.cycles(500)
        for _ in range(2 * SLOTS + 1):
            tl.cycles(100)
            tl.recv("pe_W")

    made.run([send, receive])
    placed = sorted(token.t_submit for token in made.seen.of_kind("ipcq_token"))
    assert placed[-1] >= times[-1] >= placed[-2], "with one of 4096 bytes waiting, 12288 are free"
    made.close()


def test_a_send_from_memory_is_waited_for() -> None:
    made, times = rig(), []

    def send(x: Any, tl: Any) -> None:
        for _ in range(SLOTS + 1):
            tl.send("pe_E", src_addr=x, nbytes=64)
            times.append(tl._pe.now())

    def receive(x: Any, tl: Any) -> None:
        tl.cycles(500)
        for _ in range(SLOTS + 1):
            tl.recv("pe_W")

    made.run([send, receive], made.torch.zeros(64, dtype="i8"))
    assert times[-1] == pytest.approx(made.seen.of_kind("ipcq_token")[-1].t_submit)
    made.close()


@pytest.mark.slow
def test_many_posts_at_one_instant_need_no_stack() -> None:
    made = Rig(PAIR)
    made.torch.install_ipcq("intracube_pe_ring", slots=2000, slot_bytes=16)

    def send(tl: Any) -> None:
        for _ in range(3000):
            tl.send("pe_E")

    def receive(tl: Any) -> None:
        for _ in range(3000):
            tl.recv("pe_W")

    made.run([send, receive])
    made.close()
