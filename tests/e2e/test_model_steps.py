"""The time of one step of a model: simulated once, kept by content, beside its least time."""

from __future__ import annotations

import json

import pytest

import kernbench as kb
from kernbench.api.models import step_time
from kernbench.api.models.step_time import FILE, step
from kernbench.errors import UsageError
from tests.unit.test_model_config import LLAMA

SMALL = {**LLAMA, "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 8,
         "num_key_value_heads": 4, "head_dim": 32, "num_hidden_layers": 6}  # fmt: skip


@pytest.fixture
def config(tmp_path):
    (tmp_path / "some-model").mkdir()
    (tmp_path / "some-model" / "config.json").write_text(json.dumps(SMALL))
    return str(tmp_path / "some-model")


def test_a_step_is_what_the_bench_takes(tmp_path):
    found = step("small", "minimal", "decode", 2, 64, store=str(tmp_path))
    params = {"batch": 2, "kv": 64, "layers": 0, "resident": True}
    ran = kb.run("llama-decoder", "minimal", params=params, device="all", trace=False)
    assert found.ns == ran.latency_ns
    assert found.tokens_per_s == 2e9 / ran.latency_ns
    assert (found.exact, found.layers, found.layers_simulated) == (True, 1, 1)
    assert sum(found.parts.values()) == pytest.approx(1.0)
    assert 0 < found.roof_ns < found.ns


def test_layers_beyond_three_are_estimated_with_a_bar_that_holds_the_exact_time(config, tmp_path):
    found = step(config, "minimal", context=64, store=str(tmp_path / "store"))
    exact = step(config, "minimal", context=64, exact=True, store=str(tmp_path / "store"))
    assert (found.layers, found.layers_simulated, exact.layers_simulated) == (6, 3, 6)
    assert not found.exact
    assert exact.exact
    assert 0.3 < found.estimated < 0.7
    assert abs(found.ns / exact.ns - 1) <= found.bar


def test_a_step_is_simulated_once(config, tmp_path, monkeypatch):
    first = step(config, "minimal", context=32, store=str(tmp_path))
    monkeypatch.setattr(step_time, "run", None)
    step_time._kept.cache_clear()
    assert step(config, "minimal", context=32, store=str(tmp_path)) == first
    with pytest.raises(TypeError):
        step(config, "minimal", context=33, store=str(tmp_path))
    with pytest.raises(TypeError):
        step(config, "minimal", context=32, topo={"cube.hbm.channel_gbs": 64}, store=str(tmp_path))
    assert json.loads((tmp_path / FILE).read_text().splitlines()[-1])["machine"] == "minimal"


def test_energy_is_that_of_a_kept_layer_times_layers(config, tmp_path):
    found = step(config, "minimal", context=32, energy=True, store=str(tmp_path))
    kept = kb.open_run(found.run_id, store=str(tmp_path))
    assert found.energy_pj == 6 * kept.energy()["launches_pj"]
    assert sum(found.causes.values()) == pytest.approx(1.0)
    again = step(config, "minimal", context=32, energy=True, store=str(tmp_path))
    assert again.run_id == found.run_id


def test_smaller_types_are_fewer_bytes_and_make_room(tmp_path):
    """16.1 GB of weights do not fit 6.4 GB; of 4 bits with the embedding in f16 they do."""
    store = str(tmp_path)
    with pytest.raises(UsageError, match=r"Give 4 packages such as these .*, or weights=int4, or "):
        step("llama-8b", "minimal", context=8, store=store)
    memory = {}
    for weights, cache in (("", "f16"), ("int8", "f16"), ("int4", "fp8")):
        memory[weights] = step(
            "small", "minimal", weights=weights, cache=cache, context=8, store=store
        ).memory
    assert memory["int8"]["cache"] == memory[""]["cache"] == 2 * memory["int4"]["cache"]
    plain, scales = memory[""]["weights"], 2 * (512 + 256 + 1024 + 256)
    assert memory["int8"]["weights"] == plain / 2 + scales
    assert memory["int4"]["weights"] == plain / 4 + scales * 2 + 2 * 2 * 256


def test_attention_of_many_sequences_keeps_the_memory_busy(tmp_path):
    """A PE that runs ahead loads the keys of some sequences while it works on others'."""
    sizes = {**SMALL, "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 128}
    (tmp_path / "config.json").write_text(json.dumps({**sizes, "num_hidden_layers": 1}))
    found = step(str(tmp_path), "a100-4", batch=16, context=256, device="sip:0", store=str(tmp_path))
    nbytes = 2 * 2 * 16 * 16 * 256 * 128
    assert nbytes / 1555 < found.parts["attention"] * found.ns < 1.6 * nbytes / 1555


@pytest.mark.slow
def test_shallow_queues_between_packages_are_said(tmp_path):
    """With rings of 8 KiB all-reduces wait for credits; with those of the machine they do not."""
    two = {"parts.gpu.count": 2}
    rings = two | {"blocks.gpu.parts.pe.pe_ipcq.slots": 2, "blocks.gpu.parts.pe.pe_ipcq.slot_bytes": 4096}
    found = {
        topo is two: step("small", "a100-4", batch=64, context=2, topo=topo, energy=True, store=str(tmp_path))
        for topo in (two, rings)
    }
    assert found[True].credits == 0
    assert not found[True].notes
    assert found[False].ns > 1.2 * found[True].ns
    assert 0.1 < found[False].credits < 1
    assert "pe_ipcq slots" in found[False].notes[0]


def test_what_does_not_fit_or_is_no_step_is_refused(tmp_path):
    with pytest.raises(UsageError, match="does not fit"):
        step("llama-70b", "minimal", store=str(tmp_path))
    with pytest.raises(UsageError, match="one sequence"):
        step("small", "minimal", "prefill", 2, store=str(tmp_path))
    with pytest.raises(UsageError, match="no model 'llama-70'"):
        step("llama-70", "minimal", store=str(tmp_path))
