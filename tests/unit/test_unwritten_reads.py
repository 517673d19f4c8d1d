"""A kernel reads bytes never written: the error leads to tensor, rows, PE and line, and is what one sees."""

from __future__ import annotations

import numpy as np
import pytest

import kernbench as kb
from kernbench.api.running import RunVerificationError
from kernbench.errors import KernBenchError, VerificationError
from kernbench.host import DPPolicy
from tests.small_machines import small


def too_early(a, b, out, y, tl):
    tl.composite("gemm", tl.ref(a.local), tl.ref(b.local), out_ptr=out.local)
    tl.store(y.local, tl.load(y.local))  # the line at fault


LINE = too_early.__code__.co_firstlineno + 2


def bench(torch):
    a = torch.from_numpy(np.ones((64, 64), np.float16), name="a")
    b = torch.from_numpy(np.ones((64, 64), np.float16), name="b")
    out = torch.empty(64, 64, name="out")
    y = torch.empty(8, 64, name="y")
    torch.launch("early", too_early, a, b, out, y)


@pytest.mark.parametrize("store", ["memory:", "folder"])
def test_after_an_unfinished_composite_the_users_error_is_the_one_that_is_shown(store, tmp_path):
    with kb.open_store(store if store == "memory:" else str(tmp_path)) as kept_in:
        _check(kept_in)


def _check(kept_in):
    with pytest.raises(RunVerificationError) as caught:
        kb.run(bench, "minimal", verify=True, store=kept_in)
    message = str(caught.value)
    assert "read of tensor 'y' rows 0-7 (sip0.cube0.pe0): it was never written" in message
    assert f"test_unwritten_reads.py:{LINE}" in message
    assert "0x" not in message
    kept = caught.value.run
    assert kept.info["status"] == "failed"
    assert kept.query("busiest-engines").rows


def test_it_says_which_rows_of_which_pe_are_missing():
    def half(x, y, tl):
        if tl.program_id(0):
            return
        tl.store(y.local, tl.load(x, shape=(4, 8)))

    def run(torch):
        dp = DPPolicy(pe="row_wise", num_cubes=1, num_pes=2)
        x = torch.empty(4, 8, dtype="f32", dp=dp, name="x")
        z = torch.from_numpy(np.ones((1, 8), np.float32), name="z")
        y = torch.empty(4, 8, dtype="f32", name="y")
        torch.launch("first", lambda x, z, tl: tl.program_id(0) or tl.store(x + 0, tl.load(z)), x, z)
        torch.launch("half", half, x, y)

    with pytest.raises(
        VerificationError,
        match=r"read of tensor 'x' rows 0-1 \(sip0.*: tensor 'x' row 1 \(sip0\.cube0\.pe0\) was never",
    ):
        kb.run(run, small("va"), verify=True, trace=False)


def test_a_store_that_fails_does_not_hide_the_fault(monkeypatch):
    from kernbench.api import recording

    class Broken:
        url = "memory:"

        def keep(self, *_):
            raise KernBenchError("the disk is full")

    monkeypatch.setattr(recording, "keeper", lambda *_: Broken())
    with pytest.raises(VerificationError, match=r"never written.*not saved: the disk is full"):
        kb.run(bench, "minimal", verify=True)
