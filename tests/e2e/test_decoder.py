"""A decoder's layers give numpy's values, decode and prefill, on machines of all kinds, on many packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.errors import LaunchError, UsageError
from kernbench.support.sizes import decimal_size
from kernbench.workloads.models import products
from kernbench.workloads.models.quantized import Weights

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
FOUR = {"sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2}
"""Chiplets a package of the tray: the sixteen that it has are those of the default machine."""


def _right(topology, device, params):
    run = kb.run("llama-decoder", topology, verify=True, device=device, params=params, trace=False)
    assert run.info["verified"] is True


@pytest.mark.parametrize(("topology", "device", "params"), DECODE)
def test_decode(topology, device, params):
    _right(topology, device, params)


@pytest.mark.daily("minimal-sip:0-params0")
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


@pytest.mark.daily("*-32768")
@pytest.mark.parametrize("room", [16384, 32768])
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_columns_pass_in_pieces_where_their_sums_have_no_room(tmp_path, room, kind):
    """A machine whose PEs have no buffers for tiles loads weights; sums of all columns would fill its TCM."""
    config = _config(tmp_path, model_type=kind, hidden_size=192, intermediate_size=600, num_attention_heads=8)
    topo = {"blocks.gpu.parts.pe.pe_tcm.scratch_bytes": room}
    run = kb.run("llama-decoder", "a100-4", verify=True, topo=topo, trace=False, config=config, batch=4, kv=9)
    assert run.info["verified"] is True


@pytest.mark.slow
def test_sums_that_wait_while_x_passes_in_pieces(monkeypatch):
    monkeypatch.setattr(products, "DEEP", 64)
    _right("minimal", "sip:0", {"phase": "prefill", "tokens": 140})


@pytest.mark.slow
@pytest.mark.parametrize(("topology", "device", "params"), LARGE)
def test_on_many_pes(topology, device, params):
    _right(kb.load_topology(topology, FOUR if topology == "tray-8" else None), device, params)


SLOW = pytest.mark.slow
DECODED = {"batch": 2, "kv": 9}
PREFILLED = {"phase": "prefill", "tokens": 20}
TYPES = [
    (DECODED, "own", {"weights": "int4", "cache": "fp8"}),
    (DECODED, "triton", {"weights": "int8", "cache": "fp8"}),
    (PREFILLED, "own", {"weights": "fp8", "cache": "fp8"}),
    pytest.param(PREFILLED, "triton", {"weights": "int4"}, marks=SLOW),
    pytest.param(DECODED, "own", {"weights": "fp8"}, marks=SLOW),
    pytest.param(DECODED, "own", {"weights": "int8"}, marks=SLOW),
    pytest.param(DECODED, "triton", {"weights": "int4"}, marks=SLOW),
    pytest.param(DECODED, "triton", {"weights": "fp8"}, marks=SLOW),
    pytest.param(PREFILLED, "own", {"weights": "int4"}, marks=SLOW),
    pytest.param(PREFILLED, "own", {"weights": "int8"}, marks=SLOW),
    pytest.param(PREFILLED, "triton", {"weights": "fp8", "cache": "fp8"}, marks=SLOW),
]


@pytest.mark.daily("size0-*", "size2-*")
@pytest.mark.parametrize(("size", "kernels", "types"), TYPES)
def test_weights_of_8_and_4_bits(size, kernels, types):
    _right("minimal", "sip:0", {**size, "kernels": kernels, **types})


GROUPS = {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True}
NORMED = {"model_type": "qwen3", "hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 1, "head_dim": 32}  # fmt: skip


@pytest.mark.daily("size0-*")
@pytest.mark.parametrize("kernels", ["own", "triton"])
@pytest.mark.parametrize("size", [DECODED, PREFILLED])
def test_normed_heads_of_q_and_k_and_groups_of_weights(tmp_path, size, kernels):
    config = str(tmp_path / "config.json")
    Path(config).write_text(json.dumps({**NORMED, "quantization_config": GROUPS}))
    _right("minimal", "sip:0", {"config": config, "kernels": kernels, **size})


@SLOW
@pytest.mark.parametrize("kernels", ["own", "triton"])
@pytest.mark.parametrize("size", [DECODED, PREFILLED])
def test_normed_heads_and_weights_of_8_bits_on_four_packages(tmp_path, size, kernels):
    config = str(tmp_path / "config.json")
    Path(config).write_text(json.dumps(NORMED))
    _right("a100-4", "all", {"config": config, "kernels": kernels, "weights": "int8", **size})


def test_groups_that_packages_would_cut_are_refused(tmp_path):
    config = str(tmp_path / "config.json")
    Path(config).write_text(json.dumps({**NORMED, "quantization_config": GROUPS}))
    with pytest.raises(UsageError, match="32 rows of o on each of 4 packages are not whole groups of 64"):
        kb.run("llama-decoder", "a100-4", device="all", config=config, trace=False)


@pytest.mark.daily("own")
@pytest.mark.parametrize("kernels", ["own", "triton"])
def test_smaller_weights_are_fewer_bytes_in_memory_and_read(kernels):
    """A step reads each weight and its scale once; with blocks of 64 rows a scale of 128 twice."""
    sizes = [(256, 256 + 2 * 128), (256, 256), (256, 2 * 512), (512, 256)]
    for kind in ("f16", "int8", "int4"):
        params = {"weights": kind, "kernels": kernels, "resident": True, "kv": 1}
        run = kb.run("llama-decoder", "minimal", params=params)
        names = {one["number"]: one["name"] for one in run.table("Tensor").to_pylist()}
        accesses = run.table("Access").to_pylist()
        read = [one for one in accesses if names[one["tensor"]].startswith("w_") and not one["is_write"]]
        of = Weights(kind, 128 if kind == "int4" else 0)
        twice = 2 * sum(of.groups(rows) * columns for rows, columns in sizes)
        again = twice if kernels == "triton" and of.group else 0
        assert sum(one["bytes"] for one in read) == sum(of.nbytes(*size) for size in sizes) + again


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


@pytest.mark.daily("minimal-sip:0-params0", "a100-4-all-params1")
@pytest.mark.parametrize(("topology", "device", "params"), [*DECODE, *PREFILL])
def test_kernels_of_triton(topology, device, params):
    phase = "prefill" if "tokens" in params else "decode"
    _right(topology, device, {"phase": phase, "kernels": "triton", **params})


@pytest.mark.daily("decode")
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


@pytest.mark.daily("1-1")
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("packages", [1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 8))])
def test_kernels_of_triton_split_sums_and_keys_over_pes(packages, batch):
    graph = kb.load_topology("default", {**EIGHT, "system.sips": packages})
    params = {"kernels": "triton", "batch": batch, "kv": 300}
    run = kb.run("llama-decoder", graph, verify=True, device="all", params=params, trace=False)
    assert run.info["verified"] is True
    names = [one["kernel"] for one in run.launches]
    assert names.count("merge") == (0 if (packages, batch) in ((1, 3), (2, 3)) else packages)
    assert names.count("qkv-sum") == (0 if packages == 1 else packages)
    assert names.count("o-sum") == (packages if packages == 1 else 0)


@pytest.mark.slow
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


@pytest.mark.daily("decode")
@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_blocks_are_in_flight_while_one_is_multiplied(phase):
    def ns(ahead):
        graph = kb.load_topology("a100-4", {"blocks.gpu.parts.pe.pe_cpu.run_ahead": ahead})
        params = {"phase": phase, "kv": 600}
        run = kb.run("llama-decoder", graph, verify=True, params=params, trace=False)
        assert run.info["verified"] is True
        return run.latency_ns

    assert ns(True) < ns(False)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["decode", "prefill"])
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


@pytest.mark.daily("decode")
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


@pytest.mark.daily("changes1-*")
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
        kb.run("llama-decoder", "a100-4", model="llama-8b", layers=32)


def _config(tmp_path, **changes):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**ODD, "num_key_value_heads": 2, "num_hidden_layers": 1, **changes}))
    return str(path)


def test_of_keys_behind_a_window_nothing_is_read_or_kept(tmp_path, capsys):
    """A step with more keys takes as long as one with as many as the window has."""
    config = _config(tmp_path, model_type="mistral", sliding_window=24)
    within, beyond = (
        kb.run("llama-decoder", "minimal", verify=True, config=config, kv=kv, trace=False) for kv in (24, 90)
    )
    assert beyond.info["verified"] is True
    assert beyond.latency_ns == within.latency_ns
    assert "of 90 keys the last 24 are there" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"sliding_window = 24.*give tokens=24 or fewer"):
        kb.run("llama-decoder", "minimal", config=config, phase="prefill", tokens=25)


def test_experts_are_those_of_one_token(tmp_path):
    """Two of eight are passed and read, and eight are in memory."""
    experts = {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    config = _config(tmp_path, **experts)
    dense = kb.run("llama-decoder", "minimal", config=_config(tmp_path, intermediate_size=400), trace=False)
    _config(tmp_path, **experts)
    assert kb.run("llama-decoder", "minimal", config=config, trace=False).latency_ns == dense.latency_ns
    for params in ({"batch": 2}, {"phase": "prefill", "tokens": 2}):
        with pytest.raises(
            UsageError, match=r"num_local_experts.*which of them 2 tokens pass.*resident=true"
        ):
            kb.run("llama-decoder", "minimal", config=config, **params)
    told = _refused("minimal", config=_config(tmp_path, **experts, num_hidden_layers=10**6), layers=0)
    per_layer = 2 * (96 * (96 + 2 * 2 * 16 + 96) + 8 * 3 * 96 * 200)
    assert f"weights {decimal_size(per_layer * 10**6)}" in told


@pytest.mark.daily("own-size0-4", "own-size3-8", "triton-size4-4")
@pytest.mark.parametrize(("kernels", "size", "hit"), [
    ("own", {"batch": 2}, 4), ("own", {"batch": 24}, 8), ("triton", {"batch": 2}, 4),
    ("own", {"phase": "prefill", "tokens": 24}, 8), ("triton", {"phase": "prefill", "tokens": 2}, 4),
])  # fmt: skip
def test_weights_of_the_experts_that_a_batch_hits_are_read(tmp_path, kernels, size, hit):
    """Once each, however many tokens pass an expert; all are in memory."""
    config = _config(tmp_path, model_type="mixtral", num_local_experts=8, num_experts_per_tok=2,
                     hidden_size=128, intermediate_size=256, num_attention_heads=4, head_dim=32)  # fmt: skip
    run = kb.run("llama-decoder", "minimal", config=config, kernels=kernels, kv=3, resident=True, params=size)
    names = {one["number"]: one["name"] for one in run.table("Tensor").to_pylist()}
    accesses = run.table("Access").to_pylist()
    of = ("w_gate0", "w_up0", "w_down0")
    read = sum(one["bytes"] for one in accesses if names[one["tensor"]] in of)
    assert read == 2 * 3 * hit * 128 * 256


def _refused(topology, **params):
    with pytest.raises(UsageError) as error:
        kb.run("llama-decoder", topology, resident=True, **params)
    return str(error.value)


LARGE_MODEL = {"hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8}


@pytest.mark.parametrize("phase", ["decode", "prefill"])
@pytest.mark.parametrize("kernels", ["own", "triton"])
def test_a_model_larger_than_the_memory_is_refused_before_it_is_simulated(tmp_path, phase, kernels, capsys):
    """With as many layers as the error says it fits, and with one more it does not."""
    config = _config(tmp_path, **LARGE_MODEL, num_hidden_layers=10**6)
    how = {"config": config, "phase": phase, "kernels": kernels, "kv": 16, "tokens": 16}
    told = _refused("minimal", layers=0, **how)
    weights = 2 * 10**6 * (512 * (512 + 2 * 128 + 512) + 3 * 512 * 1024)
    cache = 2 * 10**6 * 2 * 16 * 128
    assert f"weights {decimal_size(weights)}, cache {decimal_size(cache)}" in told
    assert f"of {decimal_size(6 << 30)}." in told
    most = int(told.partition("Give layers=")[2].partition(",")[0])
    assert f"does not fit: {most + 1} layers on 1 package" in _refused("minimal", layers=most + 1, **how)
    assert "does not fit: 1000000 layers" in _refused("minimal", capacity="model", **how)
    if (phase, kernels) == ("decode", "own"):
        kb.run("llama-decoder", "minimal", resident=True, trace=False, layers=most, **how)
        kb.run("llama-decoder", "minimal", resident=True, trace=False, capacity="ignore", **how, layers=9999)
        assert "does not fit, ignored" in capsys.readouterr().err


@pytest.mark.slow
def test_layers_by_kernels_of_triton_are_alike():
    params = {"kernels": "triton", "resident": True, "kv": 2}
    ns = [
        kb.run("llama-decoder", "minimal", trace=False, exact=exact, layers=5, **params).sim_ns
        for exact in (False, True)
    ]
    assert ns[0] == pytest.approx(ns[1], rel=0.01)


def test_the_packages_that_a_model_needs(tmp_path):
    """70B needs 141 GB: two of 80 GB, four of 40 GB; the embedding counts, once where it is tied."""
    told = _refused("h100-8-nvswitch", model="llama-70b", layers=0)
    assert "80 layers on 1 package: a package needs 141 GB" in told
    assert "or 2 packages such as these" in told
    assert "or 4 packages such as these" in _refused("a100-4", model="llama-70b", layers=0)
    sizes = {**LARGE_MODEL, "num_hidden_layers": 10**6, "vocab_size": 10**9}
    for tied, nbytes in ((False, 2 * 2 * 512 * 10**9), (True, 2 * 512 * 10**9)):
        told = _refused("minimal", config=_config(tmp_path, **sizes, tie_word_embeddings=tied), layers=0)
        weights = 2 * 10**6 * (512 * (512 + 2 * 128 + 512) + 3 * 512 * 1024)
        assert f"weights {decimal_size(weights + nbytes)}" in told


def test_a_sweep_and_the_command_line_refuse_alike(cli):
    params = ("model=llama-8b", "layers=0", "resident=true", "--topology", "minimal")
    one = cli("run", "llama-decoder", *params)
    assert one.status
    assert "llama-8b does not fit: 32 layers on 1 package: a package needs 16.1 GB" in one.err
    assert "or 4 packages such as these" in one.err
    sweep = cli("sweep", "llama-decoder", "batch=1,2", *params)
    assert "does not fit: 32 layers" in sweep.out + sweep.err


def test_a_model_and_a_file_are_one_too_many(tmp_path):
    with pytest.raises(UsageError, match="takes a model or a config, not model=llama-8b config="):
        kb.run("llama-decoder", "minimal", model="llama-8b", config=_config(tmp_path))


@pytest.mark.daily("minimal-own-decode-*", "minimal-triton-decode-qwen2")
@pytest.mark.parametrize("kind", ["qwen2", "llama"])
@pytest.mark.parametrize("phase", ["decode", "prefill"])
@pytest.mark.parametrize(
    ("topology", "kernels"), [("minimal", "own"), ("a100-4", "own"), ("minimal", "triton")]
)
def test_biases_of_queries_keys_and_values_and_of_the_output(tmp_path, phase, topology, kernels, kind):
    """Each package has those of its heads; a machine without buffers for tiles adds them itself."""
    path = tmp_path / "config.json"
    sizes = {
        "model_type": kind,
        "attention_bias": kind == "llama",
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "num_hidden_layers": 1,
    }
    path.write_text(json.dumps({**ODD, **sizes, "head_dim": 32}))
    params = {"phase": phase, "config": str(path), "tokens": 9, "kv": 9, "batch": 2, "kernels": kernels}
    _right(topology, "all", params)


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


@pytest.mark.daily("llama-decoder-params0-*", "gemm-list-*")
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


@pytest.mark.slow
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
