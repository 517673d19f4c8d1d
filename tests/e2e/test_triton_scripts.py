"""A script that launches Triton kernels where it stands, as on a GPU: runs, tuning, lines, races."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.torch as torch
from kernbench.errors import BenchError, UsageError, VerificationError

Cli = Callable[..., Any]
SCRIPT = """\
import argparse
import kernbench.torch as torch
import kernbench.triton as triton
import kernbench.triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": n}, num_stages=2) for n in (32, 128)], key=["n"])
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + y, mask=at < n)

def add(x: torch.Tensor, y: torch.Tensor):
    out = torch.empty_like(x)
    assert x.device == triton.runtime.driver.active.get_active_torch_device()
    grid = lambda meta: (triton.cdiv(out.numel(), meta["BLOCK"]),)
    add_kernel[grid](x, y, out, out.numel())
    return out

if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=100)
    options.add_argument("--wrong", action="store_true")
    options = options.parse_args()
    torch.manual_seed(0)
    x = torch.rand(options.size, device="cuda")
    y = torch.randn(options.size, device="cuda")
    out = add(x, y)
    print("off by", torch.max(torch.abs(out - (x + y))))
    torch.testing.assert_close(out, x + y + (1 if options.wrong else 0))
"""
RACY = """\
import kernbench.torch as torch
import kernbench.triton as triton
import kernbench.triton.language as tl

@triton.jit
def clash(out):
    tl.store(out + tl.arange(0, 4), 1.0 * tl.program_id(0))

out = torch.zeros(4)
clash[(2,)](out)
"""


@pytest.fixture
def script(workdir: Path) -> str:
    (workdir / "vector_add.py").write_text(SCRIPT, encoding="utf-8")
    return "vector_add.py"


def test_a_script_runs_with_its_arguments_and_prints_its_numbers(cli: Cli, script: str) -> None:
    done = cli("run", script, "size=1000", "--topology", "minimal", "--format", "json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert (found["bench"], found["params"]["size"]) == ("vector-add", "1000")
    assert "off by 0.0" in done.err
    assert cli("run", script, "size=10", "--topology", "minimal", "--verify-ops").status == 0


def test_lines_of_a_script_are_lines_of_all_tables(script: str) -> None:
    done = kb.run(script, "minimal", size=1000, store="memory:")
    assert done.verdict == "yes"
    of_kernel = {f"vector_add.py:{line}" for line in (10, 11, 12)}
    path = {row[0] for row in done.query("critical-path/by-line", limit=20).rows}
    assert path & of_kernel
    assert path <= of_kernel | {""}
    assert of_kernel <= {*done.ops["source"]}
    assert kb.run(script, "minimal", size=1000, store="memory:").latency_ns == done.latency_ns


def test_wrong_results_of_a_script_fail_and_so_does_what_it_raises(cli: Cli, script: str) -> None:
    done = cli("run", script, "wrong=", "--topology", "minimal")
    assert done.status == 1
    assert "vector_add.py:12; 'kernbench query lineage op=" in done.err
    assert json.loads(cli("show", "--format", "json").out)["verdict"] == "no"
    done = cli("run", script, "sise=3", "--topology", "minimal")
    assert done.status == 1
    assert "unrecognized arguments: --sise=3" in done.err


def test_a_script_is_tuned_and_swept(cli: Cli, script: str) -> None:
    done = cli("tune", script, "size=1000", "--topology", "minimal", "--format", "json")
    assert done.status == 0, done.err
    assert '"add_kernel.BLOCK": 128' in done.out
    done = cli("sweep", script, "size=100,4000", "--topology", "minimal", "--format", "json")
    assert done.status == 0, done.err
    small, large = (point["latency_ns"] for point in json.loads(done.out)["points"])
    assert small < large


def test_races_of_a_script_are_found_and_unverified_ones_say_what_to_check(cli: Cli, workdir: Path) -> None:
    (workdir / "racy.py").write_text(RACY, encoding="utf-8")
    done = cli("run", "racy.py", "--topology", "minimal")
    assert done.status == 1
    assert "racy.py:7" in done.err
    (workdir / "alone.py").write_text(RACY.replace("(2,)", "(1,)"), encoding="utf-8")
    assert cli("run", "alone.py", "--topology", "minimal").status == 0
    done = cli("run", "alone.py", "--topology", "minimal", "--verify-data")
    assert (done.status, "checks nothing" in done.err) == (1, True)


AS_ON_A_GPU = {"kernbench.triton.language as": "triton.language as", "kernbench.triton as triton": "triton",
               "kernbench.torch as torch": "torch"}  # fmt: skip


def test_a_script_for_a_gpu_runs_as_it_is_and_no_name_stays_behind(cli: Cli, script: str) -> None:
    text = SCRIPT
    for here, there in AS_ON_A_GPU.items():
        text = text.replace(f"import {here}", f"import {there}")
    assert "import kernbench" not in text
    text = text.replace(
        "\n@triton.autotune", "from triton.language.extra import libdevice\n\n@triton.autotune", 1
    )
    Path("as_it_is.py").write_text(text.replace("x + y,", "libdevice.rint(x + y) * 0 + x + y,"), "utf-8")
    before = dict(sys.modules), list(sys.meta_path)
    done = cli("run", "as_it_is.py", "--topology", "minimal")
    assert done.status == 0, done.err
    assert "off by 0.0" in done.err
    assert {name for name in sys.modules if name.partition(".")[0] in ("triton", "torch")} == set()
    assert sys.meta_path == before[1]
    done = cli("tune", "as_it_is.py", "size=300", "--topology", "minimal")
    assert done.status == 0, done.err
    done = cli("run", f"{script}:add", "--topology", "minimal")
    assert "'vector_add.py' is a script, which has no bench 'add'; leave out ':add'" in done.err


def test_an_installed_triton_is_hidden_as_long_as_a_file_runs_and_untouched(script: str) -> None:
    theirs = ModuleType("triton")
    text = "import triton\nfrom kernbench.workloads.benches import bench\nimport torch\n" + RACY.replace(
        "(2,)", "(1,)"
    ).replace("import kernbench.triton as triton", "").replace("import kernbench.torch as torch", "").replace(
        "out = torch.zeros(4)\nclash", "    out = torch.zeros(4)\n    clash"
    ).replace(
        "    out =",
        '@bench(name="mine", description="Mine.")\ndef run(torch):\n    import triton.testing\n    out =',
    )
    Path("mine.py").write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "triton", theirs)
        assert kb.run("mine.py", "minimal", store="memory:").latency_ns > 0
        assert sys.modules["triton"] is theirs
        assert vars(theirs).keys() == vars(ModuleType("triton")).keys()


def test_what_needs_pytorch_is_said_by_name(cli: Cli, workdir: Path) -> None:
    for line, said in {
        "import torch.nn as nn": "torch.nn needs PyTorch, which is not installed",
        "import torch\ntorch.compile(1)": "torch has no 'compile'",
        "import torch\nimport triton.knobs": "No module named 'triton.knobs'",
        "import torch\nfrom triton.compiler import ASTSource": "cannot import name 'ASTSource'",
    }.items():
        (workdir / "needs.py").write_text(f"import torch\n{line}\n", encoding="utf-8")
        done = cli("run", "needs.py", "--topology", "minimal")
        assert (done.status, said in done.err) == (1, True), done.err


def test_torch_outside_of_a_run_says_how_to_start_one() -> None:
    assert torch.float16 == "f16"
    with pytest.raises(UsageError, match=r"no machine is running; run the file: kernbench run FILE"):
        torch.zeros(4)


def test_tensors_of_scripts_are_made_as_pytorch_makes_them() -> None:
    def host(_: Any) -> None:
        torch.set_default_device(torch.DPPolicy(pe="row_wise", num_cubes=1, num_pes=2))
        x = torch.ones(4, 8, dtype=torch.float16, device="cuda")
        assert (x.dtype, x.shape, len(x.shards)) == ("f16", (4, 8), 2)
        assert len(torch.empty_like(x).shards) == 2
        torch.set_default_device(None)
        assert torch.rand((3, 5)).dtype == "f32"
        with pytest.raises(VerificationError, match="never written"):
            torch.empty(2, 3, device="cuda").numpy()
        assert torch.tensor([1, 2, 3]).dtype == "i64"
        assert torch.tensor([1.0]).dtype == "f32"
        assert torch.tensor([[1, 2]], dtype=torch.int32).tolist() == [[1, 2]]
        assert (torch.randint(0, 5, (100,)).numpy() < 5).all()
        assert torch.full((2,), 3.0).tolist() == [3.0, 3.0]
        kept = (torch.zeros_like(x) - 0.5 > 0).to(torch.int32)
        assert (kept.dtype, kept.numpy().any()) == ("i32", False)
        assert x.cuda().contiguous().to(torch.device("cuda")) is x
        assert (x.float().dtype, x.half(), torch.ones(2, dtype=torch.long).dtype) == ("f32", x, "i64")
        rows = torch.softmax(x, dim=1)
        assert torch.allclose(rows, np.full((4, 8), 1 / 8))
        assert (x @ np.ones((8, 2), np.float32)).shape == (4, 2)
        with pytest.raises(AttributeError, match="torch has no 'rnad'"):
            torch.rnad  # noqa: B018

    kb.run(host, trace=False, verify=True)


def test_a_script_that_exits_well_has_run_well_and_one_that_does_not_has_not(workdir: Path) -> None:
    (workdir / "ends.py").write_text(f"{RACY.replace('(2,)', '(1,)')}raise SystemExit(0)\n", encoding="utf-8")
    assert kb.run("ends.py", "minimal", store="memory:").latency_ns > 0
    (workdir / "stops.py").write_text(
        "import kernbench.torch as torch\nraise SystemExit(3)\n", encoding="utf-8"
    )
    with pytest.raises((BenchError, SystemExit)):
        kb.run("stops.py", "minimal", store="memory:")
