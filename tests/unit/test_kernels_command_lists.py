"""Command lists: what a kernel asks for, without a machine and without values."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.engine.program.commands import (
    Composite,
    Cycles,
    Gemm,
    Load,
    Math,
    Receive,
    Send,
    Store,
    Wait,
)
from kernbench.errors import KernelError, PendingValueError, UsageError
from kernbench.language import autotune, commands

A, B = np.zeros((4, 8), np.float16), np.zeros((8, 2), np.float16)
OUT = np.zeros((4, 2), np.float16)


def gemm(a, b, out, tl):
    x, y = tl.load(a), tl.load(b)
    tl.store(out, tl.exp(tl.dot(x, y)))


def test_a_kernel_gives_its_commands_in_order():
    first, second, product, exp, store = commands(gemm, A, B, out=OUT)
    assert isinstance(first, Load)
    assert (first.runs, first.op.output.shape, first.op.nbytes) == (((4096, 64),), (4, 8), 64)
    assert second.runs[0][1] == 32
    assert isinstance(product, Gemm)
    assert (product.m, product.k, product.n) == (4, 8, 2)
    assert [o.handle for o in product.op.inputs] == [first.op.id, second.op.id]
    assert isinstance(exp, Math)
    assert (exp.op.name, exp.elements) == ("exp", 8)
    assert isinstance(store, Store)
    assert store.op.inputs[0].handle == exp.op.id
    assert all(c.op.source.startswith("test_kernels_command_lists.py:") for c in (first, product, store))
    assert not A.any(), "nothing is computed, nothing is written"


def test_each_program_of_a_grid_has_a_list_of_its_own():
    def rows(x, n, tl):
        tl.cycles(tl.program_id(0) + 10 * tl.program_id(1))
        tl.store(x + (tl.program_id(0) * n), tl.zeros((n,), "i8"))

    x = np.zeros(64, np.int8)
    lists = [commands(rows, x, n=16, program_id=(pe, 1, 0), grid=(4, 2, 1)) for pe in range(4)]
    assert [found[0] for found in lists] == [Cycles(10 + pe) for pe in range(4)]
    assert [found[-1].runs for found in lists] == [((4096 + 16 * pe, 16),) for pe in range(4)]
    with pytest.raises(UsageError, match=r"program_id \(4, 0, 0\) is not in grid 4"):
        commands(rows, x, n=16, program_id=(4, 0, 0), grid=4)


def test_composites_waits_and_queues():
    def kernel(a, b, out, tl):
        tl.wait(tl.composite("gemm", a, b, out_ptr=out))
        tl.send("pe_E", tl.load(a))
        future = tl.recv_async("pe_W", shape=(4, 8))
        tl.send("pe_E", tl.wait(future) * 2)

    found = commands(kernel, A, B, OUT, queues="intracube_pe_ring", grid=2)
    kinds = [type(command) for command in found]
    assert kinds == [Composite, Wait, Load, Send, Receive, Wait, Math, Send]
    assert found[0].op.params["tile"] is None
    assert found[3].message.nbytes == 64

    def unknown(tl):
        tl.recv("pe_W")

    with pytest.raises(KernelError, match=r"tl\.recv without shape="):
        commands(unknown, queues="intracube_pe_ring", grid=2)


def test_what_needs_values_or_does_not_fit_says_so():
    def branches(x, tl):
        if tl.load(x)[0] > 0:
            tl.cycles(1)

    with pytest.raises(PendingValueError, match="is pending"):
        commands(branches, np.ones(4, np.float16))
    with pytest.raises(KernelError, match="bytes wanted"):
        commands(gemm, A, B, OUT, scratch_bytes=64)

    def forgets(x, n, tl):
        tl.cycles(n)

    with pytest.raises(KernelError, match="missing a required argument: 'n'"):
        commands(forgets, A)
    assert commands(autotune([{"n": 3}, {"n": 4}])(forgets), A) == [Cycles(3)]
