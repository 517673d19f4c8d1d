"""Files that PyTorch's Inductor wrote run without PyTorch, with the values of eager PyTorch."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import judged, source
from kernbench.api.running import RunVerificationError
from kernbench.errors import LaunchError, UsageError
from kernbench.hardware.topology import compile_topology, parse
from kernbench.inductor import library, sources
from kernbench.inductor.buffers import empty_strided
from kernbench.inductor.library import tiles
from kernbench.support.data_files import data_dir
from kernbench.support.dtypes import row_major

Cli = Callable[..., Any]
OUTPUTS = Path(__file__).parents[1] / "inductor"
LAUNCHES = {
    "conv_net": 9, "experts": 11, "gpt_block": 12, "half": 4, "llama_layer": 18, "loss": 4, "norms": 2,
    "sorting": 2,
}  # fmt: skip
MORE = sorted(one.stem for one in OUTPUTS.glob("*.py") if one.stem not in LAUNCHES)
CHIP = """
name: chip
system: {flit_bytes: 64, ns_per_mm: 0.0}
memory: interleaved
wires:
  noc: {gbs: 128, delay_ns: 1}
  pcie: {gbs: 64, delay_ns: 50, weight: 100}
blocks:
  die:
    level: package
    port: r
    parts:
      r: {kind: router, overhead_ns: 2}
      pe: {block: pe, count: 4}
      hbm: {kind: hbm_ctrl, n_channels: 8, channel_gbs: 16, slice_bytes: 1 GiB}
      m_cpu: m_cpu
      io_cpu: io_cpu
    connect:
      - {pair: [r, pe], wire: noc}
      - {pair: [r, hbm], wire: noc}
      - {pair: [r, m_cpu], wire: noc}
      - {pair: [r, io_cpu], wire: noc}
parts:
  host.cpu: host_cpu
  die: {block: die}
connect:
  - {pair: [host.cpu, die], wire: pcie}
"""


@cache
def machine(name: str) -> Any:
    return compile_topology(parse(CHIP, "chip.yaml")) if name == "chip" else kb.load_topology(name)


def run(model: str, topology: str, **given: Any) -> Any:
    params = {"inputs": str(OUTPUTS / f"{model}.npz"), **given}
    return kb.run(
        str(OUTPUTS / f"{model}.py"), machine(topology), True, params=params, store="memory:", trace=False
    )


@pytest.mark.daily("half-chip", "loss-chip", "norms-chip")
@pytest.mark.parametrize("topology", ["default", "h100", "chip"])
@pytest.mark.parametrize("model", LAUNCHES)
def test_a_model_gives_what_eager_pytorch_gives(model: str, topology: str) -> None:
    others = sys.modules.get("torch")  # other tests may have imported PyTorch
    done = run(model, topology)
    assert (done.verdict, len(done.launches)) == ("yes", LAUNCHES[model])
    assert sys.modules.get("torch") is others
    assert all(one["model_nodes"] for one in done.launches)


@pytest.mark.daily("mlp", "integers", "cumsum", "scan", "sdpa")
@pytest.mark.parametrize("model", MORE)
def test_smaller_models_do_too(model: str) -> None:
    assert run(model, "h100").verdict == "yes"


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["default", "chip"])
@pytest.mark.parametrize("model", MORE)
def test_smaller_models_do_too_on_other_machines(model: str, topology: str) -> None:
    assert run(model, topology).verdict == "yes"


def test_a_file_runs_by_itself_with_random_inputs_and_says_its_nodes(cli: Cli, workdir: Path) -> None:
    shutil.copy(OUTPUTS / "half.py", workdir / "output_code.py")
    done = cli("run", "output_code.py", "--topology", "h100", "--format", "json")
    assert done.status == 0, done.err
    launches = json.loads(done.out)["launches"]
    assert [(one["kernel"], one["model_nodes"]) for one in launches] == [
        ("addmm", "linear"),
        ("triton_poi_fused_gelu_0", "gelu"),
        ("addmm", "gelu, linear_1"),
        ("triton_poi_fused_add_1", "add"),
    ]
    assert cli("show").out.split("judged by")[1].split("\n")[0].strip() == (
        "'kernbench validate h100': 2 as products, 2 as streams"
    )
    text = (workdir / "output_code.py").read_text(encoding="utf-8").splitlines()
    done = kb.run("output_code.py", machine("h100"), store="memory:")
    lines = {row[0] for row in done.query("critical-path/by-line", limit=50).rows if row[0]}
    numbers = {int(line.removeprefix("output_code.py:")) for line in lines if line.startswith("output_")}
    assert any("tl.load" in text[n - 1] for n in numbers)
    assert any("extern_kernels.addmm" in text[n - 1] for n in numbers)
    assert (
        cli("run", "output_code.py", "--topology", "h100", "--verify-data").status == 1
    )  # nothing to compare


RULE = """
name: advice/mine
title: Which launches are there?
scope: run
advice: "{line} is of launch {launch}"
params:
  launch: {type: string, default: all, help: A launch.}
returns:
  - {name: line, type: string}
  - {name: launch, type: int}
  - {name: saves_ns, type: float, unit: ns}
cypher: |
  MATCH (:Run {id: $run})-[:LAUNCHED]->(l:Launch)
  WHERE $launch = 'all' OR toString(l.number) = $launch
  RETURN l.source AS line, l.number AS launch, l.latency_ns AS saves_ns
  ORDER BY launch
"""


@pytest.mark.slow
def test_every_answer_speaks_of_the_models_nodes_and_lines(cli: Cli, workdir: Path) -> None:
    text = (OUTPUTS / "half.py").read_text(encoding="utf-8")
    above = "# Topologically Sorted Source Nodes: [linear],"
    line = next(line for line in text.splitlines() if above in line)
    text = text.replace(line, f"{line}\n        # File: /home/ann/model.py:7 in forward, code: self.up(x)")
    Path("output_code.py").write_text(text, encoding="utf-8")
    assert cli("run", "output_code.py", "--topology", "h100").status == 0
    rows = {
        by: json.loads(cli(*asked, "--format", "json").out)[key]
        for by, asked, key in (("ns", ("why", "--by", "model"), "by_model"),
                               ("pJ", ("energy", "--by", "model"), "rows"))
    }  # fmt: skip
    nodes = {("linear", "model.py:7"), ("gelu", ""), ("gelu, linear_1", ""), ("add", "")}
    assert {(row["model_nodes"], row["model_line"]) for row in rows["ns"]} == nodes
    assert {(row["model_nodes"], row["model_line"]) for row in rows["pJ"]} == nodes | {("", "")}
    run = kb.open_run("last")
    assert math.fsum(row["ns"] for row in rows["ns"]) == pytest.approx(run.kernels_ns)
    assert math.fsum(row["energy_pj"] for row in rows["pJ"]) == pytest.approx(kb.energy(run)["energy_pj"])
    asked = run.query("critical-path/by-model").dicts()
    assert [{**row, "ns": 0, "share": 0} for row in asked] == [
        {**row, "ns": 0, "share": 0} for row in rows["ns"]
    ]
    said = "addmm (linear at model.py:7)"
    bars = run.timeline().to_dict()["groups"][0]["rows"][0]["bars"]
    assert bars[0]["name"] == f"launch 0: {said}"
    assert said.encode() in Path(*run.to_perfetto("run.pftrace")).read_bytes()
    assert said in cli("query", "roofline", "by=launch").out
    shown = source.of_run(run, ChosenWindow()).grids[0].rows
    told = {row["nr"]: row["model"] for row in shown if row["model"]}
    called = next(row["nr"] for row in shown if "extern_kernels.addmm" in row["text"])
    loaded = next(row["nr"] for row in shown if "tl.load" in row["text"])
    assert (told[called], told[loaded]) == ("linear", "gelu")
    Path("own/advice").mkdir(parents=True)
    Path("own/advice/mine.yaml").write_text(RULE, encoding="utf-8")
    advice = cli("advise", "--queries", "own").out.split("in the model: ")[1:]
    assert {one.splitlines()[0] for one in advice} == {
        "add",
        "gelu",
        "gelu, linear_1",
        "linear at model.py:7",
    }


def test_what_judges_a_launch_is_said_and_where_nothing_does(workdir: Path) -> None:
    kinds = {"products": "matmul f16", "attention": "attention f16 d128", "streams": "softmax f16"}
    tables = data_dir("configs") / "validation"
    measured = (tables / "h100_rows.csv").read_text(encoding="utf-8")
    assert all(f"\nkernel,{kinds[name]}," in measured for name in judged.ROWS["h100"])
    assert all((tables / f"{judged.TABLES.get(machine, machine)}.yaml").exists() for machine in judged.ROWS)
    assert {machine: judged.launches(run("conv_net", machine)) for machine in ("h100", "chip")} == {
        "h100": "'kernbench validate h100': 6 as streams, 1 as products; nothing: 2 convolution",
        "chip": "nothing: 6 streams, 2 convolution, 1 products",
    }
    own = kb.run(str(OUTPUTS / "half.py"), "h100", topo={"pe.clock.ghz": 1.2}, store="memory:", trace=False)
    assert judged.launches(own) == "nothing: 2 products, 2 streams"
    assert judged.launches(kb.run("gemm-single-pe", "minimal", store="memory:", trace=False)) == ""


def test_wrong_inputs_are_said(tmp_path: Path) -> None:
    with np.load(OUTPUTS / "half.npz") as kept:
        arrays = {name: kept[name] for name in kept.files}
    for change, error in {
        "want0": "tensor 'want0' .*differs",
        "arg1": r"inputs= has no arg1, of shape \(128,\); it has arg0",
    }.items():
        changed = {
            k: v + 100 if k == "want0" else v for k, v in arrays.items() if change == "want0" or k != change
        }
        np.savez(tmp_path / "changed.npz", **changed)
        with pytest.raises((RunVerificationError, UsageError), match=error):
            run("half", "h100", inputs=str(tmp_path / "changed.npz"))
    with pytest.raises(UsageError, match=r"--size=3: files of Inductor take inputs=FILE.npz only"):
        run("half", "h100", size=3)


CALLS = """
import torch
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._dynamo.testing import rand_strided
from torch._inductor.utils import print_performance
async_compile = AsyncCompile()
double = async_compile.triton('double', '''
import triton
import triton.language as tl
from torch._inductor import triton_helpers, triton_heuristics
from torch._inductor.ir import ReductionHint, TileHint
from triton.compiler.compiler import AttrsDescriptor

@triton_heuristics.pointwise(size_hints=[512], filename=__file__,
    triton_meta={'signature': {0: '*fp32', 1: '*fp32', 2: 'i32'}, 'constants': {},
    'configs': [AttrsDescriptor(divisible_by_16=(0, 1), equal_to_1=()), AttrsDescriptor.from_dict({})]},
    inductor_meta={})
@triton.jit
def double(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (xindex), xmask)
    tmp1 = 2
    tmp2 = tmp1.to(tl.float32)
    tl.store(out_ptr0 + (xindex), tmp0 * tmp2, xmask)
''', device_str='cuda')
from torch._inductor.triton_heuristics import grid
reinterpret_tensor = torch.ops.inductor._reinterpret_tensor
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda

def call(args):
    x, = args
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((20, 15), (15, 1), torch.float32)
        # Source Nodes: [mul], Original ATen: [aten.mul]
        double.run(x, buf0, 300, grid=grid(300), stream=0)
        buf1 = empty_strided_cuda((20, 20), (20, 1), torch.float32)
        extern_kernels.mm(buf0, reinterpret_tensor(buf0, (15, 20), (1, 15), 0), out=buf1)
        %s
    return (buf1,)

def benchmark_compiled_module(times=10, repeat=10):
    arg0_1 = rand_strided((20, 15), (15, 1), device='cuda:0', dtype=torch.float32)
    return print_performance(lambda: call([arg0_1]), times=times, repeat=repeat)

if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    compiled_module_main('None', benchmark_compiled_module)
"""


def test_a_file_of_pytorch_2_3_and_library_calls_without_a_kernel(workdir: Path) -> None:
    x = np.random.default_rng(0).standard_normal((20, 15)).astype(np.float32)
    np.savez("x.npz", arg0=x, want0=4 * x @ x.T)
    Path("old.py").write_text(CALLS % "", encoding="utf-8")
    done = kb.run("old.py", machine("h100"), True, params={"inputs": "x.npz"}, store="memory:")
    assert (done.verdict, [one.get("model_nodes") for one in done.launches]) == ("yes", ["mul", None])
    for line, said in {
        "torch.ops.aten.fft_r2c.default(buf1)": r"aten.fft_r2c.default is not here.*\(old.py:42\)",
        "torch._C._dynamo.guards.assert_size_stride(buf1, (2, 3), (3, 1))": r"\(2, 3\) and \(3, 1\) \(old",
        "async_compile.cpp_pybinding(['x'], '''int''')": "is in cpp_pybinding, not in Triton",
    }.items():  # fmt: skip
        Path("old.py").write_text(CALLS % line, encoding="utf-8")
        with pytest.raises(UsageError, match=said):
            kb.run("old.py", machine("h100"), store="memory:", trace=False)


ATTEND = """
import torch
from torch._inductor.async_compile import AsyncCompile
from torch._dynamo.testing import rand_strided
from torch._inductor.utils import print_performance
q = rand_strided((1, 4, 20, 16), (1280, 16, 64, 1), dtype=torch.float32)
k, v = (rand_strided((1, 2, 24, 16), (768, 384, 16, 1), dtype=torch.float32) for _ in range(2))
bias = rand_strided((1, 1, 20, 24), (480, 480, 24, 1), dtype=torch.float32)
aten = torch.ops.aten
print_performance(lambda: (
    aten._scaled_dot_product_efficient_attention.default(q, k, v, bias, True, 0.0, False, scale=0.5)[0],
    aten._scaled_dot_product_efficient_attention.default(q, k, v, None, True)[0],
    aten._scaled_dot_product_flash_attention.default(q, k, v, 0.0, True, False)[0],
))
"""


def test_attention_as_each_of_its_calls_means_it(workdir: Path) -> None:
    random = np.random.default_rng(0)
    shapes = (1, 4, 20, 16), (1, 2, 24, 16), (1, 2, 24, 16), (1, 1, 20, 24)
    q, k, v, bias = (random.standard_normal(shape).astype(np.float32) for shape in shapes)

    def attended(score: Any) -> Any:
        power = np.exp(score - score.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True) @ v.repeat(2, 1)

    score = q @ k.repeat(2, 1).swapaxes(-1, -2)
    later = np.where(np.arange(24) > np.arange(20)[:, None], -np.inf, 0.0)
    want = attended(score * 0.5 + bias), attended(score / 4), attended(score / 4 + later)
    np.savez("x.npz", arg0=q, arg1=k, arg2=v, arg3=bias, **{f"want{n}": one for n, one in enumerate(want)})
    Path("attend.py").write_text(ATTEND, encoding="utf-8")
    done = kb.run(
        "attend.py", machine("h100"), True, params={"inputs": "x.npz"}, store="memory:", trace=False
    )
    assert done.verdict == "yes"
    Path("attend.py").write_text(
        ATTEND.replace("True, 0.0, False, scale", "True, 0.5, False, scale"), "utf-8"
    )
    with pytest.raises(UsageError, match="attention with dropout has no kernel here"):
        kb.run("attend.py", machine("h100"), params={"inputs": "x.npz"}, store="memory:", trace=False)


def test_a_launch_that_fails_while_the_host_waits_for_something_else_fails_the_run() -> None:
    def bench(torch: Any) -> None:
        def wrong(x: Any, tl: Any) -> None:
            tl.load(x)
            raise ValueError("no")

        torch.launch("wrong", wrong, torch.zeros(8, 8))
        for _ in range(40):
            torch.zeros(64, 64).numpy() if torch.now < 0 else torch.wait(
                torch.launch(
                    "right", lambda x, tl: tl.load(x), torch.zeros(512, 64, dp=kb.DPPolicy(num_cubes=1))
                )
            )

    with pytest.raises(LaunchError, match="ValueError: no"):
        kb.run(bench, machine("default"), store="memory:", trace=False)


def test_tiles_fill_the_machine_and_fit_its_scratch() -> None:
    assert tiles(4096, 4096, 4096, 1, 2, 132, 228 << 10) == (128, 128, 64)
    rows, columns, depth = tiles(256, 256, 256, 1, 4, 132, 228 << 10)
    assert (256 // rows) * (256 // columns) >= 132
    assert tiles(8, 8, 8, 1, 4, 128, 1 << 20) == (16, 16, 16)
    rows, columns, depth = tiles(4096, 4096, 4096, 1, 4, 4, 64 << 10)
    assert 2 * 4 * (rows + columns) * depth + 4 * rows * columns <= 48 << 10


def test_comments_above_a_call_are_read_up_to_the_call_before() -> None:
    text = """\
# Topologically Sorted Source Nodes: [y], Original ATen: [aten.add]
# File: /home/me/model.py:7 in forward, code: y = x + 1
one.run(buf0)
extern_kernels.mm(buf0)
# Unsorted Source Nodes: [], Original ATen: [aten.mm]
stream = get_raw_stream(0)
two.run(buf1)
""".splitlines()
    assert sources.above(text, 3) == ("y", "model.py:7")
    assert sources.above(text, 4) == ("", "")
    assert sources.above(text, 7) == ("aten.mm", "")


def test_block_sizes_and_grids() -> None:
    from kernbench.inductor.heuristics import Kernel, grid

    def blocks(kind: str, names: str, **sizes: int) -> dict[str, int]:
        return Kernel(SimpleNamespace(), kind, {})._blocks(names.split(), sizes)  # type: ignore[arg-type]

    assert blocks("pointwise", "XBLOCK", x=300) == {"XBLOCK": 512}
    assert blocks("pointwise", "XBLOCK", x=1 << 20) == {"XBLOCK": 1024}
    assert blocks("pointwise", "YBLOCK XBLOCK", x=1000, y=1000) == {"XBLOCK": 32, "YBLOCK": 32}
    assert blocks("pointwise", "YBLOCK XBLOCK", x=1000, y=4) == {"XBLOCK": 256, "YBLOCK": 4}
    assert blocks("persistent_reduction", "XBLOCK", x=100, r0_=100) == {"XBLOCK": 8}
    assert blocks("reduction", "XBLOCK R0_BLOCK", x=100, r0_=5000) == {"R0_BLOCK": 1024, "XBLOCK": 1}
    assert blocks("reduction", "XBLOCK RBLOCK", x=100, r=64) == {"RBLOCK": 64, "XBLOCK": 16}
    assert blocks("split_scan", "XBLOCK RBLOCK", x=100, r=64) == {"RBLOCK": 64, "XBLOCK": 1}
    assert list(grid(7, 100)({"XBLOCK": 32, "YBLOCK": 2})) == [4, 4]


def test_grids_of_each_kind() -> None:
    from kernbench.inductor.heuristics import Kernel

    def blocks(kind: str, known: dict[str, int], **meta: Any) -> list[int]:
        fn = SimpleNamespace(fn=SimpleNamespace(__name__="mine"))
        made = Kernel(fn, "", {"inductor_meta": {"grid_type": kind, **meta}})  # type: ignore[arg-type]
        return list(made._grid(known, None))

    sizes = {"xnumel": 100, "ynumel": 70, "znumel": 9, "XBLOCK": 32, "YBLOCK": 8, "ZBLOCK": 4}
    assert blocks("Grid1D", sizes) == [4]
    assert blocks("Grid2D", sizes) == [4, 9]
    assert blocks("Grid3D", sizes) == [4, 9, 3]
    assert blocks("BatchMatmulGrid3D", sizes) == [3, 9, 4]
    assert blocks("Grid2DWithYZOverflow", {**sizes, "ynumel": 8 * 65536}) == [4, 32768, 2]
    assert blocks("SplitScanGrid", {"xnumel": 5, "r0_numel": 100, "R0_BLOCK": 64}) == [2, 5]
    assert blocks("FixedGrid", {"n": 7}, fixed_grid=["n + 1", "2", 3]) == [8, 2, 3]
    tables = [{"config": {"B": b}, "python": [f"-(-n // {b})"]} for b in (4, 8)]
    assert blocks("PrecomputedGrid", {"n": 20, "B": 8}, precomputed_grids=tables) == [3]
    with pytest.raises(UsageError, match="no grid among"):
        blocks("PrecomputedGrid", {"n": 20, "B": 16}, precomputed_grids=tables)
    combo: dict[str, Any] = {
        "num_kernels": 2, "min_blocks": 0, "default_config": {"XBLOCK": 32},
        "xnumel_0": 100, "no_x_dim_0": False, "xnumel_1": None, "no_x_dim_1": True,
    }  # fmt: skip
    assert blocks("SequentialComboKernelGrid", {"xnumel_1": 3}, combo_grid_meta=combo) == [7, 1, 1]
    tall = {**combo, "min_blocks": 9, "ynumel_0": 20, "ynumel_1": None, "znumel_1": 6}
    known = {"xnumel_1": 3, "ynumel_1": 70, "XBLOCK": 64, "YBLOCK": 8, "ZBLOCK": 4}
    assert blocks("SequentialComboKernelGrid", known, combo_grid_meta=tall) == [9, 9, 2]
    with pytest.raises(UsageError, match="kernel 'mine' has a grid of the kind RoundRobin; known are Grid1D"):
        blocks("RoundRobin", sizes)


@pytest.mark.parametrize(
    ("groups", "steps", "transposed"),
    [(1, (2, 1, 1), False), (2, (1, 0, 2), False), (1, (2, 1, 1), True), (2, (1, 1, 1), True)],
)
def test_a_convolution_and_its_gradients_are_products(groups: int, steps: Any, transposed: bool) -> None:
    stride, padding, dilation = steps
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape, np.float32) for shape in ((2, 4, 7), (4, 4 // groups, 3)))
    more = 1 if transposed and stride > 1 else 0

    def found(torch: Any) -> None:
        image, filters = (empty_strided(one.shape, row_major(one.shape)).write(one) for one in (x, w))
        how = ([stride], [padding], [dilation], transposed, [more], groups)
        out = library.convolution(image, filters, None, *how)
        y = matrix(x, w, out.shape)
        g = rng.standard_normal(out.shape, np.float32)
        grads = empty_strided(out.shape, row_major(out.shape)).write(g)
        of_x, of_w, of_bias = library.convolution_backward(grads, image, filters, [4], *how, [True] * 3)
        assert all(one is not None for one in (of_x, of_w, of_bias))
        wanted = (
            (out, y), (of_x, gradient(lambda x: (matrix(x, w, g.shape) * g).sum(), x)),
            (of_w, gradient(lambda w: (matrix(x, w, g.shape) * g).sum(), w)), (of_bias, g.sum((0, 2))),
        )  # fmt: skip
        for one, values in wanted:
            np.testing.assert_allclose(one.numpy(), values, rtol=1e-3, atol=1e-3)

    def matrix(x: Any, w: Any, shape: Any) -> Any:
        """The convolution, number by number."""
        y = np.zeros(shape)
        each = itertools.product(range(groups), range(4 // groups), range(4 // groups), range(3))
        for (group, a, b, k), n in itertools.product(each, range(max(7, shape[2]))):
            near, far = group * (4 // groups) + a, group * (4 // groups) + b
            at = n * stride - padding + k * dilation
            if transposed and n < 7 and 0 <= at < shape[2]:
                y[:, far, at] += x[:, near, n] * w[near, b, k]
            elif not transposed and n < shape[2] and 0 <= at < 7:
                y[:, far, n] += x[:, near, at] * w[far, a, k]
        return y

    def gradient(of: Callable[[Any], float], at: Any) -> Any:
        """Of something linear: what each unit adds to it."""
        units = np.eye(at.size).reshape(at.size, *at.shape)
        return np.reshape([of(one) for one in units], at.shape)

    kb.run(found, machine("chip"), True, store="memory:", trace=False)


def test_the_largest_are_found_along_any_axis_and_else_the_call_is_named() -> None:
    x = np.random.default_rng(0).permutation(60).reshape(3, 4, 5).astype(np.float32)

    def found(torch: Any) -> None:
        there = empty_strided(x.shape, row_major(x.shape)).write(x)
        for axis in range(3):
            values, indices = library.topk(there, 2, axis)
            order = np.take(np.argsort(-x, axis), range(2), axis)
            assert (indices.numpy() == order).all()
            assert (values.numpy() == np.take_along_axis(x, order, axis)).all()
        with pytest.raises(UsageError, match="gaps between its rows"):
            library.TABLE["topk"].default(there.viewed((2, 2, 5), (40, 5, 1)), 2)

    kb.run(found, machine("chip"), True, store="memory:", trace=False)
