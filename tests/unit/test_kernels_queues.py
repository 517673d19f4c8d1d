"""``tl.send`` and its siblings, interpreted without hardware, and their errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.errors import DeadlockError, KernelError, UsageError
from kernbench.hardware.topology.neighbours import MachineShape, ring
from kernbench.language import interpret

Kernel = Callable[..., Any]


def pairwise(first: Kernel, second: Kernel) -> Kernel:
    """A kernel that is ``first`` on PE 0 and ``second`` on PE 1."""

    def kernel(*args: Any, tl: Any) -> None:
        (first if tl.program_id(0) == 0 else second)(*args, tl)

    return kernel


def run(kernel: Kernel, *arrays: Any, pes: int = 2, **options: Any) -> Any:
    return interpret(kernel, *arrays, grid=pes, queues="intracube_pe_ring", **options)


@pytest.mark.parametrize("slots", [1, 2, 4, 7])
@pytest.mark.parametrize("slot_bytes", [1, 24, 4096])
def test_a_ring_rotates_blocks(slots: int, slot_bytes: int) -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        me, n = tl.program_id(0), tl.num_programs(0)
        block = tl.load(x + me * 64, (16,), "f32")
        for step in range(1, n):
            if me == 0:  # one breaks the ring: all send at once where a ring of one slot would be full
                tl.send("pe_E", block)
                block = tl.recv("pe_W")
            else:
                got = tl.recv("pe_W")
                tl.send("pe_E", block)
                block = got
            tl.store(out + (me * n + step) * 64, block)

    x = np.arange(5 * 16, dtype=np.float32).reshape(5, 16)
    out = np.zeros((5, 5, 16), np.float32)
    run(kernel, x, pes=5, out=out, slots=slots, slot_bytes=slot_bytes)
    for me in range(5):
        for step in range(1, 5):
            np.testing.assert_array_equal(out[me, step], x[(me - step) % 5])


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=8),
    slots=st.integers(1, 5),
    slot_bytes=st.integers(1, 64),
    asynchronous=st.booleans(),
)
def test_messages_arrive_whole_and_in_order(
    sizes: list[int], slots: int, slot_bytes: int, asynchronous: bool
) -> None:
    got: list[Any] = []

    def send(x: Any, tl: Any) -> None:
        for i, size in enumerate(sizes):
            tl.send("pe_E", src_addr=x + i, nbytes=size)

    def receive(x: Any, tl: Any) -> None:
        if asynchronous:
            received = tl.wait([tl.recv_async("pe_W") for _ in sizes])
        else:
            received = [tl.recv("pe_W") for _ in sizes]
        got.extend(None if one is None else bytes(one.data.tobytes()) for one in received)

    x = np.arange(512, dtype=np.int8)
    run(pairwise(send, receive), x, slots=slots, slot_bytes=slot_bytes)
    assert got == [x[i : i + size].tobytes() if size else None for i, size in enumerate(sizes)]


def test_any_direction_goes_in_turn() -> None:
    order: list[int] = []

    def kernel(tl: Any) -> None:
        me = tl.program_id(1)
        if me != 4:
            toward = {1: "S", 3: "E", 5: "W", 7: "N"}.get(me)
            for i in range(2 if toward else 0):
                tl.send(toward, tl.full((4,), 10 * me + i, "i32"))
            return
        order.extend(int(tl.recv()[0]) for _ in range(8))

    table = {(0, 4, 0): {"N": (0, 1, 0), "S": (0, 7, 0), "E": (0, 5, 0), "W": (0, 3, 0)}}
    for cube, back in ((1, "S"), (7, "N"), (5, "W"), (3, "E")):
        table[0, cube, 0] = {back: (0, 4, 0)}
    # Cube 4 comes before 5 and 7, so it takes what 1 and 3 have sent and waits; then all go in turn.
    interpret(kernel, grid=(1, 9, 1), queues=table)
    assert sorted(order) == [10, 11, 30, 31, 50, 51, 70, 71]
    assert order[:2] == [10, 30]
    assert [n for n in order if n // 10 == 1] == [10, 11]


def test_a_destination_in_memory_and_a_view_of_another_type() -> None:
    def first(x: Any, out: Any, tl: Any) -> None:
        tl.send("pe_E", tl.load(x))
        tl.send("pe_E", src_addr=x)

    def second(x: Any, out: Any, tl: Any) -> None:
        where = tl.recv("pe_W", (4,), "f32", dst_addr=out)
        assert (where.shape, where.dtype) == ((4,), "f32")
        assert tl.recv("pe_W", (16,), "i8").data.tobytes() == b"".join(n.tobytes() for n in x_values)

    x_values = np.array([1.5, -2.0, 3.25, 0.0], np.float32)
    out = np.zeros(4, np.float32)
    run(pairwise(first, second), x_values.copy(), out=out)
    np.testing.assert_array_equal(out, x_values)


def test_recv_no_consume_frees_the_slot_as_well() -> None:
    def first(tl: Any) -> None:
        for i in range(5):
            tl.send("pe_E", tl.full((2,), i, "i32"))

    def second(tl: Any) -> None:
        assert [int(tl.recv_no_consume("pe_W")[0]) for _ in range(5)] == [0, 1, 2, 3, 4]

    run(pairwise(first, second), slots=2)


def test_cubes_in_a_mesh() -> None:
    def kernel(out: Any, tl: Any) -> None:
        cube = tl.program_id(1)
        if cube // 3 == 0:
            tl.send("S", tl.full((1,), cube, "i32"))
        else:
            tl.store(out + 4 * cube, tl.recv("N"))

    out = np.zeros(6, np.int32)
    machine = MachineShape(1, (3, 2), 1)
    interpret(kernel, grid=(1, 6, 1), out=out, queues="intercube_mesh", machine=machine)
    assert out.tolist() == [0, 0, 0, 0, 1, 2]


def test_two_that_wait_for_each_other_are_a_deadlock() -> None:
    with pytest.raises(DeadlockError) as caught:
        run(lambda tl: tl.recv("pe_W"), pes=2)
    text = str(caught.value)
    for name in ("pe0", "pe1"):
        assert f"on sip0.cube0.{name}: in tl.recv at test_kernels_queues.py:" in text


def test_a_full_ring_that_is_never_read_is_a_deadlock() -> None:
    def first(tl: Any) -> None:
        for _ in range(3):
            tl.send("pe_E", tl.zeros((8,), "f16"))

    full = r"at its end, waiting for ipcq_send .* at test_kernels_queues.py:\d+ .*'pe_W' holds 2 of 2 slots"
    with pytest.raises(DeadlockError, match=full):
        run(pairwise(first, lambda tl: None), slots=2)


CALLS: list[tuple[Kernel, str]] = [
    (lambda tl: tl.send("E"), "argument 'dir': 'E' is not a direction of sip0.cube0.pe0; it has pe_E, pe_W"),
    (lambda tl: tl.recv("north"), "tl.recv: argument 'dir': 'north' is not a direction"),
    (lambda tl: tl.send("pe_E", tl.zeros((4,)), nbytes=8), "argument 'nbytes': goes with src_addr"),
    (lambda tl: tl.send("pe_E", nbytes=8), "argument 'src': is missing"),
    (lambda tl: tl.send("pe_E", src_addr=64), "argument 'shape': is needed with a plain address"),
    (
        lambda tl: tl.send("pe_E", src_addr=64, nbytes=8, shape=(5,)),
        "argument 'nbytes': 8 is not the 10 bytes of shape (5,)",
    ),
    (lambda tl: tl.send("pe_E", 3), "argument 'src': 3 is not a tensor handle"),
    (
        lambda tl: tl.send("pe_E", src_addr=64, nbytes=8, space="l2"),
        "argument 'space': 'l2' is not a memory; use tcm",
    ),
    (
        lambda tl: tl.recv("pe_W", (4,), space="hbm"),
        "argument 'space': is 'hbm', but the ring of direction 'pe_W' is in tcm",
    ),
    (lambda tl: tl.recv("pe_W", dtype="f32"), "argument 'dtype': goes with shape"),
    (lambda tl: tl.recv("pe_W", dst_addr=64), "argument 'shape': is needed with dst_addr"),
    (lambda tl: tl.recv("pe_W", dst_space="hbm"), "argument 'dst_space': goes with dst_addr"),
    (lambda tl: tl.wait(3), "argument 'completion': 3 is not what tl.composite or tl.recv_async returns"),
    (
        lambda tl: tl.recv_async("pe_W").result,
        "tl.recv_async: the message has not arrived; pass the future to tl.wait",
    ),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_errors_name_call_and_argument(call: Kernel, message: str) -> None:
    with pytest.raises(KernelError, match=re.escape(message)):
        run(lambda tl: call(tl))


@pytest.mark.parametrize("receive", ["recv", "recv_no_consume", "recv_async"])
def test_a_message_of_another_size(receive: str) -> None:
    def second(tl: Any) -> None:
        got = getattr(tl, receive)("pe_W", (8,), "f16")
        if receive == "recv_async":
            tl.wait(got)

    message = (
        r"argument 'shape': \(8,\) f16 has 16 bytes, the message from direction 'pe_W' has 24: \(6,\) i32"
    )
    with pytest.raises(KernelError, match=message):
        run(pairwise(lambda tl: tl.send("pe_E", tl.zeros((6,), "i32")), second))


def test_without_queues_the_remedy_is_named() -> None:
    with pytest.raises(
        KernelError, match=r"sip0.cube0.pe0 has no queues; set them up with torch.install_ipcq"
    ):
        interpret(lambda tl: tl.send("E"), grid=2)


def test_rings_of_nothing() -> None:
    with pytest.raises(UsageError, match="a ring needs one of each"):
        interpret(lambda tl: None, queues=ring([(0, 0, 0)]), slots=0)
