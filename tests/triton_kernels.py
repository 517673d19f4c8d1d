"""Kernels of Triton that ran on a GPU (Triton 3.6): those shipped, those measured there, and three more."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.support.data_files import data_dir
from kernbench.support.user_modules import load_file

MEASURE = Path(__file__).parents[1] / "tools" / "gpu" / "measure.py"


def measuring() -> Any:
    """``measure.py`` without a GPU: its Triton is the one of here."""
    module = ModuleType("measure")
    with pytest.MonkeyPatch.context() as patch:
        for name, here in {"triton": triton, "triton.language": tl, "torch": None, "cupy": None}.items():
            patch.setitem(sys.modules, name, here or SimpleNamespace())  # type: ignore[arg-type]
        exec(compile(MEASURE.read_text(encoding="utf-8"), MEASURE.name, "exec"), vars(module))
    return module


shipped: Any = sys.modules[load_file(f"{data_dir('configs')}/validation/h100_kernels.py", "kernels")]
measured = measuring()


@triton.jit
def sm_rows(p, o, rounds, OP: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    x = tl.load(p + r * C + c)
    for _ in range(rounds):
        if OP == "sum":
            x = x * 0.5 + tl.sum(x, axis=1)[:, None] * 1e-6
        if OP == "max":
            x = x * 0.5 + tl.max(x, axis=1)[:, None] * 1e-6
        if OP == "softmax":
            e = tl.exp2(x - tl.max(x, axis=1)[:, None])
            x = e / tl.sum(e, axis=1)[:, None] + 0.1
    tl.store(o + r * C + c, x)


@triton.jit
def sm_copy(p, o, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    base = tl.program_id(0).to(tl.int64) * n
    for i in tl.range(0, n, BLOCK, num_stages=STAGES):
        tl.store(o + base + i + at, tl.load(p + base + i + at))


@triton.jit
def sm_fill(o, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.zeros((BLOCK,), tl.float16) + 1.0
    base = tl.program_id(0).to(tl.int64) * n
    for i in range(0, n, BLOCK):
        tl.store(o + base + i + at, v)
