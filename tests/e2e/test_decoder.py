"""A decoder's layers give numpy's values, decode and prefill, on machines of all kinds, on many packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.errors import LaunchError, UsageError
from kernbench.workloads.models import products

ODD = {"model_type": "llama", "hidden_size": 96, "intermediate_size": 200, "num_attention_heads": 6}
"""Three heads share one of keys, and nothing divides over PEs."""

DECODE = [
    ("minimal", "sip:0", {"batch": 3, "kv": 37, "layers": 2}),
    ("a100-4", "all", {"batch": 1, "kv": 5}),
]
PREFILL = [
    ("minimal", "sip:0", {"tokens": 50}),
    pytest.param("minimal", "sip:0", {"tokens": 300}, marks=pytest.mark.slow),
    ("a100-4", "all", {"tokens": 33, "layers": 2}),
]
LARGE = [
    ("default", "sip:0", {"batch": 1, "kv": 200}),
    ("default", "all", {"batch": 3, "kv": 33, "layers": 2}),
    ("h100-8-nvswitch", "sip:0", {"batch": 3}),
    ("default", "sip:0", {"phase": "prefill", "tokens": 100}),
    ("default", "sip:0", {"phase": "prefill", "tokens": 270}),
    ("default", "all", {"phase": "prefill", "tokens": 40}),
    ("two-kinds", "sip:0", {"phase": "prefill", "tokens": 40}),
    ("tray-8", "all", {"batch": 3, "kv": 9}),
    ("tray-8", "all", {"phase": "prefill", "tokens": 17}),
]


def _right(topology, device, params):
    run = kb.run("llama-decoder", topology, verify=True, device=device, params=params, trace=False)
    assert run.info["verified"] is True


@pytest.mark.parametrize(("topology", "device", "params"), DECODE)
def test_decode(topology, device, params):
    _right(topology, device, params)


@pytest.mark.parametrize(("topology", "device", "params"), PREFILL)
def test_prefill(topology, device, params):
    _right(topology, device, {"phase": "prefill", **params})


def test_partial_results_of_many_pes_are_put_together_in_pieces(tmp_path):
    """Eight PEs share the one head of keys; TCM has no room for what all of them leave."""
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 8, "head_dim": 64}
    config = {**ODD, **sizes, "num_key_value_heads": 1, "num_hidden_layers": 1}
    (tmp_path / "config.json").write_text(json.dumps(config))
    topo = {"cube.pes.count": 8, "pe.pe_tcm.scratch_bytes": 16384}
    params = {"config": str(tmp_path / "config.json"), "kv": 16}
    run = kb.run("llama-decoder", "minimal", verify=True, topo=topo, params=params, trace=False)
    assert run.info["verified"] is True


def test_sums_that_wait_while_x_passes_in_pieces(monkeypatch):
    monkeypatch.setattr(products, "DEEP", 64)
    _right("minimal", "sip:0", {"phase": "prefill", "tokens": 140})


@pytest.mark.slow
@pytest.mark.parametrize(("topology", "device", "params"), LARGE)
def test_on_many_pes(topology, device, params):
    _right(topology, device, params)


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**ODD, "num_key_value_heads": 2, "num_hidden_layers": 3, "head_dim": 16}))
    return str(path)


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_sizes_that_divide_nothing_and_all_layers_of_a_file(odd, phase):
    _right("minimal", "sip:0", {"phase": phase, "config": odd, "layers": 0, "tokens": 7, "kv": 9, "batch": 2})


@pytest.mark.slow
def test_sizes_that_divide_nothing_on_many_pes(odd):
    for phase in ("decode", "prefill"):
        _right("default", "all", {"phase": phase, "config": odd, "tokens": 17, "kv": 9, "batch": 3})


@pytest.mark.parametrize(("topology", "device", "params"), [*DECODE, *PREFILL])
def test_kernels_of_triton(topology, device, params):
    phase = "prefill" if "tokens" in params else "decode"
    _right(topology, device, {"phase": phase, "kernels": "triton", **params})


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_kernels_of_triton_with_biases_and_sizes_that_divide_nothing(odd, phase):
    path = Path(odd)
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_type": "qwen2"}))
    params = {"phase": phase, "config": odd, "layers": 0, "tokens": 19, "kv": 9, "batch": 2}
    _right("minimal", "sip:0", {"kernels": "triton", **params})
    path.write_text(path.read_text().replace('"head_dim": 16', '"head_dim": 24'))
    with pytest.raises(UsageError, match="kernels=triton takes heads as wide as a power of two, not 24"):
        kb.run("llama-decoder", "minimal", params={"kernels": "triton", "config": odd}, trace=False)


EIGHT = {"sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1, "cube.pes.count": 8}
"""A package has more PEs than most products have blocks, and a sequence has heads of keys."""


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("packages", [1, 2, 4, 8])
def test_kernels_of_triton_split_sums_and_keys_over_pes(packages, batch):
    graph = kb.load_topology("default", {**EIGHT, "system.sips": packages})
    params = {"kernels": "triton", "batch": batch, "kv": 300}
    run = kb.run("llama-decoder", graph, verify=True, device="all", params=params, trace=False)
    assert run.info["verified"] is True
    names = [one["kernel"] for one in run.launches]
    assert names.count("merge") == (0 if (packages, batch) in ((1, 3), (2, 3)) else packages)
    assert names.count("qkv-sum") == (0 if packages == 1 else packages)
    assert names.count("o-sum") == (packages if packages == 1 else 0)


def test_kernels_of_triton_split_sums_with_biases_that_divide_nothing(odd):
    path = Path(odd)
    sizes = {"model_type": "qwen2", "hidden_size": 288, "intermediate_size": 600}
    path.write_text(json.dumps({**json.loads(path.read_text()), **sizes}))
    params = {"kernels": "triton", "config": odd, "batch": 2, "kv": 301}
    run = kb.run("llama-decoder", kb.load_topology("default", EIGHT), verify=True, params=params, trace=False)
    assert run.info["verified"] is True
    assert {"qkv-sum", "merge"} <= {one["kernel"] for one in run.launches}


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["default", "h100-8-nvswitch"])
def test_kernels_of_triton_on_many_pes(topology):
    for phase in ("decode", "prefill"):
        _right(topology, "sip:0", {"phase": phase, "kernels": "triton", "kv": 70, "tokens": 70, "batch": 2})


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_blocks_are_in_flight_while_one_is_multiplied(phase):
    def ns(ahead):
        graph = kb.load_topology("a100-4", {"blocks.gpu.parts.pe.pe_cpu.run_ahead": ahead})
        params = {"phase": phase, "kv": 600}
        run = kb.run("llama-decoder", graph, verify=True, params=params, trace=False)
        assert run.info["verified"] is True
        return run.latency_ns

    assert ns(True) < ns(False)


@pytest.mark.parametrize("phase", ["decode", pytest.param("prefill", marks=pytest.mark.slow)])
def test_packages_and_layers_that_are_alike_are_accounted_for(phase):
    """Ten layers on two packages take what all of them take, but for waiting at boundaries."""
    graph = kb.load_topology("default", {**TINY, "system.sips": 2})
    params = {"phase": phase, "resident": True, "layers": 10, "batch": 8, "kv": 600, "tokens": 200}
    runs = [
        kb.run("llama-decoder", graph, device="all", params=params, trace=False, exact=exact)
        for exact in (False, True)
    ]
    assert runs[0].sim_ns == pytest.approx(runs[1].sim_ns, rel=0.03)
    assert len(runs[0].launches) < len(runs[1].launches) / 3


def test_time_is_that_of_lines_of_the_kernels():
    run = kb.run("llama-decoder", "minimal", params={"resident": True})
    files = {line.partition(":")[0] for line in run.summary()["by_line"]}
    assert {"decode.py", "online.py"} <= files


TINY = {"sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1, "cube.pes.count": 2}


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_packages_beyond_the_heads_of_keys_share_them(tmp_path, phase):
    """Of 6 packages three have the same one of two heads of keys; 3 packages are no multiple of it."""
    path = tmp_path / "config.json"
    sizes = {"num_key_value_heads": 2, "num_hidden_layers": 3, "head_dim": 16, "intermediate_size": 192}
    path.write_text(json.dumps({**ODD, **sizes}))
    params = {"phase": phase, "config": str(path), "tokens": 5, "kv": 5, "batch": 3}
    _right(kb.load_topology("default", {**TINY, "system.sips": 6}), "all", params)
    with pytest.raises(UsageError, match=r"kv_heads = 2, which 3 packages cannot share"):
        _right(kb.load_topology("default", {**TINY, "system.sips": 3}), "all", params)


@pytest.mark.parametrize(
    ("changes", "word"),
    [({}, "kv_heads = 8"), ({"num_attention_heads": 9, "num_key_value_heads": 3}, "heads = 9")],
)
def test_heads_that_packages_cannot_share_are_refused(tmp_path, changes, word):
    path = tmp_path / "config.json"
    sizes = {
        **ODD,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "num_hidden_layers": 1,
        "head_dim": 4,
    }
    path.write_text(json.dumps({**sizes, **changes}))
    with pytest.raises(UsageError, match=rf"has {word}, which 6 packages cannot share; select fewer"):
        kb.run("llama-decoder", "six-sip-torus", device="all", params={"config": str(path)}, trace=False)


def test_a_machine_whose_cubes_differ_uses_the_pes_that_all_have():
    legend = {n: {"block": "compute", "pes": pes} for n, pes in (("C", 4), ("D", 2))}
    die = {"blocks.package.parts.die.map": "C M D  C M C"}
    die["blocks.package.parts.die.legend"] = {**legend, "M": "memory"}
    _right(kb.load_topology("two-kinds", die), "sip:0", {"batch": 1, "kv": 5})


def test_more_values_than_memory_has_are_refused_before_they_are_made() -> None:
    with pytest.raises(UsageError, match=r"14.0 GB \(model=llama-8b, layers=32\).*give resident=true"):
        kb.run("llama-decoder", "minimal", model="llama-8b", layers=32)


def test_a_model_of_which_something_is_left_out_says_so(tmp_path, capsys):
    path = tmp_path / "config.json"
    sizes = {**ODD, "model_type": "mistral", "num_key_value_heads": 2, "num_hidden_layers": 1}
    path.write_text(json.dumps(sizes))
    kb.run("llama-decoder", "minimal", params={"config": str(path)}, trace=False)
    assert "a sliding window is left out" in capsys.readouterr().err


@pytest.mark.parametrize("phase", ["decode", "prefill"])
@pytest.mark.parametrize("topology", ["minimal", "a100-4"])
def test_biases_of_queries_keys_and_values(tmp_path, phase, topology):
    """Each package has those of its heads; a machine without buffers for tiles adds them itself."""
    path = tmp_path / "config.json"
    sizes = {
        "model_type": "qwen2",
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "num_hidden_layers": 1,
    }
    path.write_text(json.dumps({**ODD, **sizes, "head_dim": 32}))
    _right(topology, "all", {"phase": phase, "config": str(path), "tokens": 9, "kv": 9, "batch": 2})


def test_a_kernel_that_failed_is_the_reason_for_values_that_are_not_there():
    """What the failed kernel did not write is missing to the next one; the failure came first."""

    def fails(x, tl):
        raise RuntimeError("no result")

    def reads(x, out, tl):
        tl.store(out.local, tl.load(x.local) + 1)

    def run(torch):
        x, out = torch.empty(8), torch.empty(8)
        torch.launch("fails", fails, x)
        torch.launch("reads", reads, x, out)
        torch.check("out", out, [0] * 8)

    with pytest.raises(LaunchError, match=r"kernel 'fails' failed.*no result"):
        kb.run(run, "minimal", verify=True, trace=False)


WIDE = {"hidden_size": 512, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 1}
"""Sums of hidden and of q are wider than those of the perceptron."""


@pytest.mark.parametrize(
    ("bench", "params", "all_fit", "none_fits"),
    [
        ("llama-decoder", {"batch": 2, "kv": 40}, 41984, 41983),
        ("llama-decoder", {"batch": 8, "kv": 8, "config": "wide"}, 66560, 49152),
        ("llama-decoder", {"phase": "prefill", "tokens": 40}, 84224, 16384),
        ("gemm-list", {}, 49344, 41087),
    ],
)
def test_weights_whose_tiles_do_not_fit_the_buffers_are_loaded(bench, params, all_fit, none_fits, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**ODD, **WIDE, "model_type": "qwen2"}))
    params = {**params, **({"config": str(path)} if "config" in params else {})}

    def streamed(buffers):
        topo = {"pe.pe_tcm.scheduler_reserved_bytes": buffers}
        run = kb.run(bench, "minimal", verify=True, topo=topo, params=params, store="memory:")
        assert run.info["verified"] is True
        return sum(name == "composite_gemm" for name in run.ops["name"])

    assert streamed(all_fit) > streamed(all_fit - 1)
    assert streamed(none_fits) == 0


def test_rows_and_weights_that_are_loaded_have_room_beside_each_other(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("Layer,M,N,K\na,300,256,1024\n")
    topo = {"pe.pe_tcm.scratch_bytes": 65536, "pe.pe_tcm.scheduler_reserved_bytes": 0}
    run = kb.run("gemm-list", "minimal", verify=True, topo=topo, params={"file": str(path)}, trace=False)
    assert run.info["verified"] is True


@pytest.mark.parametrize("bench", ["llama-decoder", "gemm-list", "softmax", "gpt3-qkv", "ccl-allreduce"])
def test_a_machine_without_pes_is_refused(bench):
    with pytest.raises(UsageError, match=r"topology 'wormhole' has no PEs.*--topology, or run traffic"):
        kb.run(bench, "wormhole", trace=False)
