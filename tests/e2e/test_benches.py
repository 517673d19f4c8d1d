"""Every shipped bench computes what numpy computes, on small machines and in both address models."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.engine.run_options import RunOptions
from kernbench.errors import UsageError
from kernbench.host import run_bench
from kernbench.workloads.benches import list_all, resolve
from tests.compiled import compiled

SMALL = {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "cube.pes.count": 4}
GRAPHS = {
    "va": compiled(None, SMALL),
    "pa": compiled(None, SMALL | {"system.address_model": "pa"}),
    "minimal": compiled("minimal"),
}
NAMES = [spec.name for spec in list_all()]


def run(name, graph="va", device="all", verify=True, **params):
    spec = resolve(name)
    outcome = run_bench(
        GRAPHS[graph], spec, spec.resolve_params(params, {}), RunOptions(device=device, verify=verify)
    )
    return outcome.raise_for_error()


@pytest.mark.checked
@pytest.mark.daily("*-minimal", "softmax-pa", "ccl-allreduce-va", "gemm-list-pa")
@pytest.mark.parametrize("graph", ["va", "pa", "minimal"])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_right(name, graph):
    if name in ("gemm-list", "llama-decoder", "va-offset-verify") and graph == "pa":
        with pytest.raises(UsageError, match="needs address_model va"):
            run(name, graph)
        return
    if (name, graph) == ("pe2pe", "minimal"):
        with pytest.raises(UsageError, match="needs two PEs; the topology has one"):
            run(name, graph)
        return
    outcome = run(name, graph)
    assert outcome.verified == "yes"
    assert outcome.launches


@pytest.mark.daily(
    "softmax-*",
    "gemm-multi-pe-bf16",
    "flash-attention-f32",
    "ccl-allreduce-bf16",
    "matmul-composite-f32",
    "gpt3-qkv-bf16",
)
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in ("gemm-list", "pe2pe", "llama-decoder")]
)  # i32, f16
def test_other_types(name, dtype):
    assert run(name, device="sip:1", dtype=dtype).verified == "yes"


@pytest.mark.parametrize("variant", ["ref_ref", "load_ref", "load_load"])
@pytest.mark.parametrize("epilogue", ["none", "relu", "gelu", "silu", "bias", "bias_relu", "bias_gelu"])
def test_matmul_composite(variant, epilogue):
    outcome = run("matmul-composite", "minimal", m=33, k=70, n=40, variant=variant, epilogue=epilogue)
    assert outcome.verified == "yes"


def test_pinned_operands_are_read_once():
    def reads(variant):
        outcome = run("matmul-composite", "minimal", variant=variant, tiles="native")
        ops = [op for op in outcome.data.log if op.name == "dma_read" or op.stage == "DMA_READ"]
        return sum(op.nbytes for op in ops)

    # Streamed, a is read again for every column of tiles and b for every row of tiles.
    assert reads("ref_ref") > reads("load_ref") > reads("load_load") > 0


def test_the_environment_sets_defaults(monkeypatch):
    monkeypatch.setenv("MATMUL_M", "40")
    monkeypatch.setenv("MATMUL_VARIANT", "load_load")
    params = resolve("matmul-composite").resolve_params({"m": "24"})
    assert (params["m"], params["k"], params["variant"]) == (24, 256, "load_load")


@pytest.mark.parametrize(
    ("name", "pes"),
    [
        ("gemm-single-pe", 2),
        ("qkv-gemm", 2),
        ("qkv-gemm-multi-pe", 8),
        ("gpt3-qkv", 32),
        ("va-offset-verify", 32),
    ],
)
def test_where_they_run(name, pes):
    outcome = run(name, verify=False)
    assert [launch.pes for launch in outcome.launches] == [pes]


def test_one_sip_alone():
    (launch,) = run("gpt3-qkv", device="sip:1").launches
    assert launch.pes == 16


@pytest.mark.daily("3-gemm-multi-pe", "3-flash-attention", "5-softmax")
@pytest.mark.parametrize("name", ["gpt3-qkv", "flash-attention", "gemm-multi-pe", "softmax", "tp-mlp"])
@pytest.mark.parametrize("pes", [3, 5])
def test_they_take_any_number_of_cubes_and_pes(name, pes):
    """The last of unequal parts are smaller, and PEs without any do not run."""
    kinds = "C M D  C M C"
    legend = {"C": {"block": "compute", "pes": pes}, "D": {"block": "compute", "pes": pes}, "M": "memory"}
    die = {"blocks.package.parts.die.map": kinds, "blocks.package.parts.die.legend": legend}
    done = kb.run(name, kb.load_topology("two-kinds", die), verify=True)
    assert done.verified is True
    legend["D"] = {"block": "compute", "pes": pes - 2}  # one die has fewer
    if name in ("gpt3-qkv", "tp-mlp"):
        done = kb.run(name, kb.load_topology("two-kinds", die), verify=True)
        assert done.verified is True


def test_more_pes_are_faster():
    def kernel_ns(name, **params):
        (launch,) = run(name, device="sip:0", verify=False, **params).launches
        return launch.t_done - launch.t_start

    assert kernel_ns("qkv-gemm-multi-pe", hidden=256) < kernel_ns("qkv-gemm", hidden=256)


@pytest.mark.daily("8-100-2400-8")
@pytest.mark.parametrize(
    ("m", "k", "n", "block"),
    [
        (40, 700, 64, 32),
        (40, 256, 512, 7),
        pytest.param(300, 512, 64, 300, marks=pytest.mark.slow),
        (8, 100, 2400, 8),
    ],
)
def test_a_gemm_that_does_not_fit_is_done_in_parts(m, k, n, block):
    small = {"pe.pe_tcm.scratch_bytes": 20_000}
    done = kb.run(
        "gemm-multi-pe", "default", topo=small, verify=True, device="sip:0", store="memory:",
        m=m, k=k, n=n, block=block,
    )  # fmt: skip
    assert done.verified is True


@pytest.mark.slow
def test_a_gemm_of_1024():
    done = kb.run("gemm-multi-pe", verify=True, trace=False, store="memory:", m=1024, k=1024, n=1024)
    assert done.verified is True


def test_what_does_not_fit_is_an_error_that_names_the_size():
    with pytest.raises(UsageError, match="tokens': 100 is not divisible by block_m 16"):
        run("flash-attention", tokens=100)
    with pytest.raises(UsageError, match="does not divide 12288"):
        run("gpt3-qkv", scale=5)
    with pytest.raises(UsageError, match="num_cubes=9"):
        run("va-offset-verify", cubes=9)


def test_the_seed_decides_the_inputs():
    def written(seed):
        outcome = run("gemm-single-pe", "minimal", seed=seed)
        (op,) = (op for op in outcome.data.log if op.name == "dma_write")
        region = op.output.regions[0]
        return outcome.data.memory.read(region.addr, (region.nbytes,), "u1").tobytes()

    assert written(0) == written(0) != written(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_on_the_default_machine(name):
    spec = resolve(name)
    graph = compiled(None)
    assert (
        run_bench(graph, spec, spec.resolve_params(environ={}), RunOptions(verify=True)).raise_for_error().ok
    )
