"""Blocks that are not their tensor's shape: broadcast, or refused, alike on the machine and without one."""

from __future__ import annotations

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernelError, LaunchError
from kernbench.host import DPPolicy
from kernbench.language import interpret

X = np.arange(16, dtype=np.float32).reshape(4, 4)


def both(kernel, *args, out):
    """What the kernel leaves in ``out`` on the machine, which must be what it leaves without one."""
    without = interpret(
        kernel, *(np.copy(a) if isinstance(a, np.ndarray) else a for a in args), out=out.copy()
    )
    machine = kb.run_kernel(kernel, *args, out=out.copy(), topology="minimal").output
    np.testing.assert_array_equal(machine, without)
    return machine


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        ((4, 4), lambda x, tl: tl.max(x)),
        ((4, 4), lambda x, tl: tl.max(x, axis=0)),
        ((4, 4), lambda x, tl: tl.max(x, axis=1)),
        ((4, 4), lambda x, tl: 2.5),
        ((7,), lambda x, tl: tl.max(x)),
        ((2, 4, 4), lambda x, tl: x),
    ],
)
def test_a_store_broadcasts(shape, value):
    def kernel(x, out, tl):
        tl.store(out, value(tl.load(x), tl))

    class Numpy:
        @staticmethod
        def max(x, axis=None):
            return x.max(axis, keepdims=True)

    wanted = value(X, Numpy)
    if np.size(wanted) == 1:
        wanted = np.ravel(wanted)
    got = both(kernel, X, out=np.zeros(shape, np.float32))
    np.testing.assert_array_equal(got, np.broadcast_to(wanted, shape))


def test_a_number_under_a_mask_and_a_block_pointer():
    def kernel(x, out, tl):
        offsets = tl.arange(0, 8)
        tl.store(out, tl.sum(tl.load(x)), mask=offsets < 5)

    np.testing.assert_array_equal(both(kernel, X, out=np.ones(6, np.float32)), [120] * 5 + [1])

    def corner(out, tl):
        block = tl.make_block_ptr(out, (4, 4), (4, 1), (1, 1), (2, 3))
        tl.store(block, 7.0)

    expected = np.zeros((4, 4), np.float32)
    expected[1:3, 1:4] = 7
    np.testing.assert_array_equal(both(corner, out=np.zeros((4, 4), np.float32)), expected)


def test_axes_of_one_do_not_count():
    def kernel(x, out, tl):
        tl.store(out, tl.sum(tl.load(x), axis=1))

    np.testing.assert_array_equal(both(kernel, X, out=np.zeros(4, np.float32)), X.sum(1))


@pytest.mark.parametrize("shape", [(6,), (2, 4), (1, 3), (4, 4), (8, 2), (2, 2, 4)])
def test_loads_that_are_consecutive(shape):
    def kernel(x, out, tl):
        tl.store(out, tl.load(x, shape=shape))

    got = both(kernel, X, out=np.zeros(shape, np.float32))
    np.testing.assert_array_equal(got.ravel(), X.ravel()[: got.size])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda x, tl: tl.load(x, shape=(2, 2)),
            r"\(2, 2\) is not consecutive in tensor 'x' of shape \(4, 4\)",
        ),
        (
            lambda x, tl: tl.load(x, shape=(6, 6), mask=tl.full((6, 6), 1, "i8")),
            r"\(6, 6\) is not consecutive",
        ),
        (lambda x, tl: tl.store(x, tl.zeros((2, 2), "f32")), r"\(2, 2\) is not that of .*, \(4, 4\)"),
        (lambda x, tl: tl.store(x, tl.zeros((3,), "f32")), r"\(3,\) is not that of .*, \(4, 4\)"),
        (
            lambda x, tl: tl.store(x, tl.zeros((2, 2), "f32"), mask=tl.full((2, 2), 1, "i8")),
            r"\(2, 2\) is not that of",
        ),
        (
            lambda x, tl: tl.store(x, tl.zeros((6, 6), "f32"), mask=tl.full((6, 6), 1, "i8")),
            r"\(6, 6\) is not that of",
        ),
        (
            lambda x, tl: tl.store(x, tl.load(x), mask=tl.full((3,), 1, "i8")),
            r"'mask': shape \(3,\) does not broadcast",
        ),
        (
            lambda x, tl: tl.store(x, 1.0, mask=tl.full((4, 8), 1, "i8")),
            r"'mask': shape \(4, 8\) is not that of",
        ),
    ],
)
def test_others_are_refused_on_the_machine_and_without(call, said):
    def kernel(x, tl):
        call(x, tl)

    with pytest.raises(KernelError, match=said):
        interpret(kernel, X.copy())
    with pytest.raises(LaunchError, match=said):
        kb.run_kernel(kernel, X.copy(), topology="minimal")


def test_the_target_of_a_shard_is_the_shard():
    def kernel(x, out, tl):
        tl.store(out.local, tl.max(tl.load(x.local)))

    got = kb.run_kernel(
        kernel,
        X,
        out=np.zeros((4, 4), np.float32),
        dp=DPPolicy(pe="row_wise", num_cubes=1, num_pes=2),
        topology="default",
    ).output
    np.testing.assert_array_equal(got, np.repeat([[7.0], [15.0]], 2, 0) * np.ones((1, 4)))
