"""Triton kernels where people keep them: test files under plain pytest, cells of a notebook, interpreted."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernBenchError
from kernbench.language import interpret

TESTS = """\
import numpy as np
import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl

@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

X = np.arange(100, dtype=np.float32)

def test_right(kernbench_kernel):
    done = kernbench_kernel(double[(4,)], X, out=np.zeros_like(X), n=100, BLOCK=32)
    done.check(lambda x: 2 * x)
    assert done.latency_ns > 0

def test_bench(kernbench_run):
    def host(torch):
        x = torch.from_numpy(X)
        out = torch.zeros(100, dtype="f32")
        double[(4,)](x, out, 100, BLOCK=32)
        torch.check("out", out, 2 * X)
    assert kernbench_run(host).verified

def test_wrong(kernbench_kernel):
    done = kernbench_kernel(double[(4,)], X, out=np.zeros_like(X), n=100, BLOCK=32)
    done.check(lambda x: 3 * x)

def test_grid_too_small(kernbench_kernel):
    done = kernbench_kernel(double[(3,)], X, out=np.zeros_like(X), n=100, BLOCK=32)
    done.check(lambda x: 2 * x)
"""
CELL = """\
import kernbench.triton as triton
import kernbench.triton.language as tl

@triton.jit
def scale(x, out, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(out + at, tl.load(x + at) * FACTOR)
"""


@pytest.mark.slow
def test_a_test_file_with_kernels_runs_under_plain_pytest(tmp_path: Path) -> None:
    as_on_a_gpu = TESTS.replace("kernbench.triton as triton", "triton").replace("kernbench.triton", "triton")
    (tmp_path / "test_double.py").write_text(as_on_a_gpu, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nkernbench_triton = true\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "test_double.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert "output of the interpreter" in done.stdout
    assert "test_double.py:" in done.stdout


@pytest.fixture
def cell() -> dict[str, Any]:
    """The names of a notebook's cell, whose text lies in no file, as IPython runs it."""
    name, names = "<ipython-input-7-cell>", {"__name__": "__main__", "FACTOR": 2}
    linecache.cache[name] = len(CELL), None, CELL.splitlines(keepends=True), name
    exec(compile(CELL, name, "exec"), names)
    return names


def test_a_kernel_of_a_cell_has_lines_and_sees_what_the_cell_changes(cell: dict[str, Any]) -> None:
    x = np.arange(16, dtype=np.float32)

    def run() -> Any:
        return kb.run_kernel(cell["scale"][(1,)], x, out=np.zeros_like(x), topology="minimal", n=16)

    done = run()
    assert (done.output == 2 * x).all()
    assert {source for source in done.run.ops["source"] if source} == {"<ipython-input-7-cell>:7"}
    assert "scale" in done._repr_html_()
    cell["FACTOR"] = 3
    assert (run().output == 3 * x).all()
    with pytest.raises(KernBenchError, match=r"element \(16,\).*which has 16 elements; mask it.*cell>:7"):
        kb.run_kernel(cell["scale"][(1,)], x, out=np.zeros_like(x), topology="minimal", n=32)


def test_a_kernel_is_interpreted_by_its_grid(cell: dict[str, Any]) -> None:
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    interpret(cell["scale"][(1,)], x, out, n=16)
    assert (out == 2 * x).all()
    with pytest.raises(KernBenchError, match=r"kernel 'scale' is launched on a grid: kernel\[grid\]"):
        interpret(cell["scale"], x, out, n=16)
