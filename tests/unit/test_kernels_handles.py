"""Which values a kernel can inspect during simulation, which it cannot, and where values live."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from kernbench.engine.program.commands import Store
from kernbench.errors import KernelError, PendingValueError
from kernbench.language import interpret
from kernbench.language.arguments import BadArgumentError
from kernbench.language.scratch import Cycles, Scratch
from tests.unit.kernels_fake_pe import FakePe

LOOKS = [
    lambda h: h.data,
    lambda h: h[0],
    lambda h: bool(h),
    lambda h: int(h),
    lambda h: float(h),
    lambda h: iter(h),
    lambda h: list(h),
    lambda h: np.asarray(h),
    lambda h: range(h),
    lambda h: 3 in h,
]


@pytest.mark.parametrize("look", LOOKS)
def test_looking_at_a_computed_handle_says_what_to_do(look):
    def kernel(tl):
        look(tl.exp(tl.load(0, (1,), "f32")))

    with pytest.raises(PendingValueError) as caught:
        FakePe({0: np.ones(1, np.float32)}).run(kernel)
    message = str(caught.value)
    assert message.startswith("kernel 'kernel' on sip1.cube2.pe3 at 20 ns: the result of tl.exp is pending")
    assert "branch on loaded data" in message
    assert "--verify-data" in message
    assert "\n" not in message


@pytest.mark.parametrize("origin", ["dot", "softmax", "load", "trans"])
def test_what_is_pending(origin):
    def kernel(tl):
        x = tl.load(0, (2, 2), "f32")
        y = tl.load(64, (2, 2), "f32")
        made = {"dot": lambda: tl.dot(x, x), "softmax": lambda: tl.softmax(x), "load": lambda: y}
        handle = tl.trans(y) if origin == "trans" else made[origin]()
        assert handle.pending
        assert "pending" in repr(handle)
        tl.store(128, handle)

    # 64 is not known: a computed value was stored there.
    assert isinstance(FakePe({0: np.ones((2, 2), np.float32)}).run(kernel)[-1], Store)


def test_a_loaded_handle_can_be_looked_at_and_not_changed():
    data = np.array([[3, 0], [1, 2]], np.int32)

    def kernel(tl):
        x = tl.load(0, (2, 2), "i32")
        assert not x.pending
        assert (x.ndim, x.nbytes) == (2, 16)
        np.testing.assert_array_equal(x.data, data)
        np.testing.assert_array_equal(np.asarray(x), data)
        np.testing.assert_array_equal(np.asarray(x, np.float64), data)
        assert x[1, 0] == 1
        assert len(x) == 2
        assert [list(row) for row in x] == [[3, 0], [1, 2]]
        assert (x == x).data.all()
        assert (x >= 0).data.all()
        assert not (x != x).data.any()
        assert (x < 4).data.all()
        assert (x > x).data.sum() == 0
        assert (x <= 0).data.sum() == 1
        with pytest.raises(ValueError, match="read-only"):
            x.data[0, 0] = 7
        one = tl.load(64, (1,), "i32")
        assert one
        assert (int(one), float(one), one[0]) == (5, 5.0, 5)
        assert list(range(one)) == [0, 1, 2, 3, 4]
        if one == 5:
            tl.cycles(int(one))

    commands = FakePe({0: data, 64: np.array([5], np.int32)}).run(kernel)
    assert commands[-1].count == 5
    assert data.flags.writeable


def test_constants_and_transposed_loads_are_known():
    def kernel(tl):
        assert list(tl.arange(2, 5)) == [2, 3, 4]
        assert (tl.full((2,), 1.5, "bf16").data == 1.5).all()
        assert not tl.zeros((3,)).data.any()
        x = tl.trans(tl.load(0, (2, 3), "f32"))
        np.testing.assert_array_equal(x.data, np.arange(6).reshape(2, 3).T)

    FakePe({0: np.arange(6, dtype=np.float32).reshape(2, 3)}).run(kernel)


def test_index_arithmetic_is_known_and_floats_are_not():
    def kernel(tl):
        rows = tl.arange(0, 4)
        inside = (rows * 3 + 1)[:, None] < tl.arange(0, 8)[None, :]
        expected = (np.arange(4) * 3 + 1)[:, None] < np.arange(8)[None, :]
        np.testing.assert_array_equal(inside.data, expected)
        assert inside.dtype == "i1"
        assert (tl.load(0, (4,), "f32") > 1.5).data.tolist() == [0, 0, 1, 1]
        assert (tl.load(0, (4,), "f32") * 2.0).pending
        assert ((tl.load(0, (4,), "f32") * 2.0) > 1.0).pending

    FakePe({0: np.arange(4, dtype=np.float32)}).run(kernel)


def test_slices_are_views_and_one_element_is_a_number():
    data = np.arange(12, dtype=np.int32).reshape(3, 4)

    def kernel(tl):
        x = tl.load(0, (3, 4), "i32")
        for key in (np.s_[1:], np.s_[:, ::2], np.s_[1], np.s_[None, :, 1], np.s_[..., 2:]):
            np.testing.assert_array_equal(x[key].data, data[key])
            assert x[key].address == x.address
        assert x[1, 2] == 6
        assert (x.T.shape, tl.reshape(x, (2, -1)).shape) == ((4, 3), (2, 6))
        with pytest.raises(KernelError, match=r"argument 'index': .*out of bounds"):
            x[7]
        with pytest.raises(KernelError, match=r"0 ns: a handle is assigned once"):
            x[0] = 1

    FakePe({0: data}).run(kernel)


def test_handles_are_hashable_and_distinct():
    def kernel(tl):
        x, y = tl.zeros((1,)), tl.zeros((1,))
        assert len({x, y, x}) == 2
        assert x.id != y.id
        assert x.address != y.address

    FakePe().run(kernel)


def test_results_are_aligned_inside_the_scratch_region():
    def kernel(tl):
        handles = [tl.zeros((n,), "i8") for n in (1, 17, 3)]
        assert [h.address for h in handles] == [0x1000, 0x1010, 0x1030]
        assert tl.trans(tl.zeros((2, 2))).address == 0x1040
        del handles[1]
        assert tl.zeros((32,), "i8").address == 0x1010

    FakePe().run(kernel)


def test_loops_do_not_leak_scratch():
    def kernel(tl):
        total = tl.zeros((256,), "f32")
        for _ in range(1000):
            total = total + tl.exp(tl.load(0, (256,), "f32")) * 2

    gc.disable()  # reference counts alone must do
    try:
        pe = FakePe({0: np.ones(256, np.float32)}, scratch_bytes=4096)
        pe.run(kernel)
    finally:
        gc.enable()
    assert len(pe.released) == len(set(pe.released)) == 1 + 4 * 1000


def test_a_transposed_handle_keeps_its_bytes():
    def kernel(tl):
        x = tl.trans(tl.zeros((4, 8), "f32"))
        assert tl.zeros((4,), "f32").address >= x.address + 128

    FakePe().run(kernel)


def test_operands_of_a_running_composite_stay():
    def kernel(tl):
        def start():
            return tl.composite("exp", tl.load(0, (64,), "f32"), out_ptr=4096)

        done = start()
        with pytest.raises(Exception, match="256 bytes wanted, 0 of 256 bytes free"):
            tl.load(0, (64,), "f32")
        tl.wait(done)
        tl.load(0, (64,), "f32")

    FakePe(scratch_bytes=256).run(kernel)


def test_scratch_reports_what_is_free():
    scratch = Scratch(64, 96, Cycles())
    first, second, third = scratch.take(1), scratch.take(33), scratch.take(16)
    assert [block.address for block in (first, second, third)] == [64, 80, 128]
    assert scratch.free_bytes == 16
    del second
    assert scratch.free_bytes == 64
    with pytest.raises(BadArgumentError, match=r"49 bytes wanted, 64 of 96 bytes free \(largest block 48\)"):
        scratch.take(49)
    assert scratch.take(48).address == 80


X = np.array([[1.0, 2.0, 3.0, 4.0]], np.float32)


@pytest.mark.parametrize(
    "call",
    [
        lambda two, x: two * x, lambda two, x: two + x, lambda two, x: two - x, lambda two, x: two / x,
        lambda two, x: two < x, lambda two, x: two <= x, lambda two, x: two > x, lambda two, x: two >= x,
        lambda two, x: two == x, lambda two, x: two != x, lambda two, x: two % x, lambda two, x: two // x,
    ],
)  # fmt: skip
def test_a_numpy_scalar_on_the_left_leaves_the_operator_to_the_handle(call):
    def kernel(x, out, tl):
        tl.store(out, tl.where(call(np.float32(2), tl.load(x)) == 1, 1.0, 0.0))

    out = np.zeros_like(X)
    interpret(kernel, X, out=out)
    assert (out == np.where(call(np.float32(2), X) == 1, 1.0, 0.0)).all()


@pytest.mark.parametrize(
    ("function", "instead"),
    [
        (np.exp, "np.exp .*use tl.exp"),
        (np.hypot, "np.hypot .*help"),
        (np.add.outer, "np.add"),
        (lambda value, other: np.add(2.0, value, out=np.zeros((1, 4))), "np.add takes arrays"),
    ],
)
def test_functions_of_numpy_say_what_to_use_instead(function, instead):
    def kernel(x, out, tl):
        value = tl.load(x)
        tl.store(out, function(value) if function is np.exp else function(value, value))

    with pytest.raises(KernelError, match=instead):
        interpret(kernel, X, out=np.zeros_like(X))
