"""Operation by operation: what is right passes, and the first operation that is off is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.api.running import RunVerificationError
from kernbench.host import DPPolicy
from kernbench.operations import OPERATIONS
from kernbench.values import semantics

X = np.linspace(-3, 3, 64, dtype=np.float32).reshape(8, 8)


def chain(x, out, tl):
    a = tl.exp(tl.load(x.local))
    b = tl.tanh(a)  # the line of tanh
    tl.store(out.local, tl.dot(b, b) + b)


def bench(torch):
    x = torch.from_numpy(X, name="x")
    torch.launch("chain", chain, x, torch.empty(8, 8, dtype="f32", name="out"))


@pytest.mark.daily(but=("ipcq-allreduce-*",))
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("gemm-single-pe", {"dtype": "bf16"}),
        ("matmul-composite", {"epilogue": "bias_gelu", "k": 100}),
        ("matmul-composite", {"epilogue": "silu", "dtype": "f32"}),
        ("softmax", {"fused": False}),
        ("softmax", {"dtype": "f32"}),
        ("ipcq-allreduce", {}),
    ],
)
def test_what_is_right_passes(name, params):
    run = kb.run(name, "minimal" if name != "ipcq-allreduce" else None, "ops", store="memory:", **params)
    assert run.verified is True
    assert run.info["ops_verified"] > 0


def test_without_a_reference_the_operations_alone_are_compared():
    run = kb.run(bench, "minimal", verify="ops", store="memory:")
    assert run.verified is True
    assert run.info["ops_verified"] == 6
    assert "ops_verified" not in kb.run(bench, "minimal", verify=False, store="memory:").info


def test_the_first_operation_that_is_off_is_named(monkeypatch):
    def wrong(x):
        y = np.tanh(x)
        y.flat[9] += 1e-4
        return y

    monkeypatch.setitem(OPERATIONS, "tanh", replace(OPERATIONS["tanh"], function=wrong))
    line = chain.__code__.co_firstlineno + 2
    said = rf"math/tanh .* on sip0\.cube0\.pe0.*, test_replay_op_checks\.py:{line} is off first at index \(1,"
    with pytest.raises(RunVerificationError, match=said) as caught:
        kb.run(bench, "minimal", verify="ops", store="memory:")
    assert "1 of 64 elements differ" in str(caught.value)
    assert caught.value.run.verified is False


def test_a_product_of_a_stack_that_is_off_is_found(monkeypatch):
    original = semantics._product

    def wrong(a, b, accumulator):
        value = original(a, b, accumulator)
        if value.ndim == 3:
            value[1, 0, 0] *= np.float32(1.001)
        return value

    monkeypatch.setattr(semantics, "_product", wrong)

    def many(torch):
        x = torch.from_numpy(X, name="x", dp=DPPolicy(num_cubes=1))
        out = torch.empty(8, 8, dtype="f32", dp=DPPolicy(num_cubes=1))
        torch.launch("each", lambda x, out, tl: tl.store(out.local, tl.dot(tl.load(x), tl.load(x))), x, out)

    with pytest.raises(RunVerificationError, match=r"gemm/dot .* is off first at index \(0, 0\)"):
        kb.run(many, None, verify="ops", store="memory:")


@triton.jit
def wrapping(x, out):
    at = tl.arange(0, 8)
    value = tl.load(x + at) * 1.0
    short, wide = value.to(tl.uint8), value.to(tl.uint64)
    found = (~short).to(tl.int64) + (short << 3).to(tl.int64) + (short * short).to(tl.int64)
    tl.store(out + at, found + ((~wide) >> 60).to(tl.int64) + tl.where(wide < ~wide, 1, 0))


def test_integers_that_wrap_are_compared_as_their_type_has_them():
    def bench(torch):
        x = np.arange(8, dtype=np.float32) * 30
        out = torch.zeros(8, dtype="i64")
        wrapping[(1,)](torch.from_numpy(x), out)
        short = x.astype(np.uint8)
        torch.check("out", out, sum(n.astype(np.int64) for n in (~short, short << 3, short * short)) + 16)

    assert kb.run(bench, "minimal", verify="ops", store="memory:").verdict == "yes"
