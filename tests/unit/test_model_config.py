"""A ``config.json`` as Hugging Face has them becomes the sizes of a decoder, or is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.errors import ConfigError, UsageError
from kernbench.workloads.models import MODELS, model_of
from kernbench.workloads.models.config import ARCHITECTURES
from kernbench.workloads.models.config_fields import NEUTRAL, NOT_TAKEN, ONLY
from kernbench.workloads.models.quantized import Weights
from tests.model_configs import REFUSED, TAKEN

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "rms_norm_eps": 1e-5,
    "vocab_size": 128256,
}


def _file(tmp_path, **changes):
    path = tmp_path / "config.json"
    content = {k: v for k, v in {**LLAMA, **changes}.items() if v is not None}
    path.write_text(json.dumps(content))
    return str(path)


def test_the_model_of_a_file_is_the_one_known_by_name(tmp_path):
    model, known = model_of(config=_file(tmp_path)), MODELS["llama-8b"]
    sizes = (
        "hidden",
        "ffn",
        "heads",
        "kv_heads",
        "head_dim",
        "layers",
        "eps",
        "vocabulary",
        "tied",
        "window",
    )
    assert [getattr(model, s) for s in sizes] == [getattr(known, s) for s in sizes]
    assert model.notes == ()


@pytest.mark.parametrize(
    ("changes", "attribute", "value"),
    [
        ({"model_type": "mistral", "head_dim": 160}, "head_dim", 160),
        ({"num_key_value_heads": None}, "kv_heads", 32),
        ({"model_type": "mixtral", "num_experts_per_tok": 2}, "ffn", 28672),
        ({"model_type": "mixtral"}, "experts", 4),
        ({"model_type": "mistral"}, "window", 4096),
        ({"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": False}, "window", 0),
        ({"layer_types": ["full_attention"] * 32}, "layers", 32),
        ({"tie_word_embeddings": True}, "tied", True),
    ],
)
def test_keys_that_some_models_have(tmp_path, changes, attribute, value):
    assert getattr(model_of(config=_file(tmp_path, **changes)), attribute) == value


@pytest.mark.slow
@given(st.integers(1, 64), st.integers(1, 8), st.integers(1, 200))
def test_experts_that_a_batch_hits_are_those_of_a_count(experts, chosen, tokens):
    """Each token takes some at random, no one twice."""
    chosen = min(chosen, experts)
    model = replace(MODELS["mixtral-8x7b"], experts=experts / chosen, chosen=chosen)
    rng = np.random.default_rng(experts * 1000 + tokens)
    orders = rng.random((100, tokens, experts)).argsort(axis=2)[:, :, :chosen]
    counts = np.array([len(np.unique(taken)) for taken in orders])
    hit, each = model.routed(tokens)
    assert abs(hit - counts.mean()) <= 0.5 + 5 * counts.std() / len(counts) ** 0.5
    assert 0 <= hit * each - tokens * chosen < hit
    assert model.routed(1) == (chosen, 1)


def test_biases(tmp_path):
    assert not model_of(config=_file(tmp_path)).bias
    assert model_of(config=_file(tmp_path, model_type="qwen2")).bias
    llama = model_of(config=_file(tmp_path, attention_bias=True))
    assert llama.bias
    assert llama.o_bias
    assert not model_of(config=_file(tmp_path, model_type="qwen2")).o_bias


def _public(tmp_path, content):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    return model_of(config=str(path))


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("llama-2-7b", {"ffn": 11008, "kv_heads": 32, "window": 0, "bias": False}),
        ("llama-3.1-8b", {"ffn": 14336, "kv_heads": 8, "vocabulary": 128256, "rope": 500000.0}),
        ("mistral-7b", {"ffn": 14336, "window": 4096}),
        ("nemo-12b", {"hidden": 5120, "head_dim": 128, "window": 0, "layers": 40}),
        ("qwen2-7b", {"heads": 28, "head_dim": 128, "bias": True, "o_bias": False, "window": 0}),
        ("qwen3-8b", {"head_dim": 128, "kv_heads": 8, "qk_norm": True, "bias": False, "window": 0}),
        ("mixtral-8x7b", {"ffn": 2 * 14336, "experts": 4, "chosen": 2, "window": 0}),
        ("phi-3-mini", {"head_dim": 96, "kv_heads": 32, "window": 2047}),
    ],
)
def test_configs_of_public_models_are_used_whole(tmp_path, name, attributes):
    model = _public(tmp_path, TAKEN[name])
    assert {key: getattr(model, key) for key in attributes} == attributes


@pytest.mark.parametrize("name", REFUSED)
def test_configs_of_public_models_are_refused_by_the_fields_that_are_not_simulated(tmp_path, name):
    content, parts = REFUSED[name]
    with pytest.raises(UsageError) as error:
        _public(tmp_path, content)
    for part in parts:
        assert part in str(error.value)


def test_each_public_model_is_one_or_the_other():
    assert len(TAKEN) + len(REFUSED) == 12
    assert {content["model_type"] for content in TAKEN.values()} == set(ARCHITECTURES)
    assert {content["model_type"] for content, _ in REFUSED.values()} == set(NOT_TAKEN)


AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 64, "desc_act": False, "sym": True}
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": ["lm_head"]}


@pytest.mark.parametrize(
    ("said", "kind", "group"),
    [
        (AWQ, "int4", 128),
        (GPTQ, "int4", 64),
        ({**GPTQ, "bits": 8, "group_size": -1}, "int8", 0),
        (FP8, "fp8", 0),
        (None, "f16", 0),
    ],
)
def test_weights_are_those_that_the_file_says(tmp_path, said, kind, group):
    model = model_of(config=_file(tmp_path, quantization_config=said))
    assert (model.weights.kind, model.weights.group) == (kind, group)
    assert model.of_types("int4").weights == (Weights("int4", group if kind == "int4" else 128))
    assert model.of_types("f16", "fp8") == replace(model, weights=Weights(), cache="fp8")


@pytest.mark.parametrize(
    ("said", "part"),
    [
        (
            {"quant_method": "mxfp4"},
            "quantization_config = mxfp4 of 4 bits: weights that are simulated: awq of",
        ),
        ({**GPTQ, "bits": 3}, "gptq of 3 bits"),
        ({**GPTQ, "desc_act": True}, "quantization_config.desc_act = True: not simulated"),
        ({**GPTQ, "group_size": "128"}, "quantization_config.group_size = 128: not simulated"),
        ({**FP8, "weight_block_size": [128, 128]}, "quantization_config.weight_block_size = [128, 128]: not"),
        ({**AWQ, "outliers": 3}, "quantization_config.outliers = 3: not simulated"),
    ],
)
def test_weights_that_are_not_simulated_are_named(tmp_path, said, part):
    with pytest.raises(UsageError) as error:
        model_of(config=_file(tmp_path, quantization_config=said))
    assert part in str(error.value)


@given(
    st.sampled_from(["fp8", "int8", "int4"]),
    st.integers(1, 9),
    st.sampled_from([0, 2, 3]),
    st.integers(0, 99),
)
def test_stored_weights_are_worth_what_they_were_within_a_step(kind, rows, group, seed):
    """An integer is off by half a step of its column's largest value, a float by a sixteenth of itself."""
    weights = Weights(kind, group)
    w = np.random.default_rng(seed).standard_normal((rows, 4)).astype(np.float16)
    stored, scale = weights.stored(w)
    assert scale.shape == (weights.groups(rows), 4)
    found = weights.worth(stored, scale)
    step = np.repeat(scale, group or rows, axis=0)[:rows].astype(float)
    bound = np.maximum(np.abs(w) / 15, step / 64) if kind == "fp8" else step * 0.51
    # The scale itself is an f16, so the largest may be clipped by that much.
    assert np.all(np.abs(found - w) <= bound + np.abs(w) / 1024)
    laid = weights.laid(stored, 4)
    assert weights.nbytes(rows, 4) == laid.nbytes + scale.nbytes
    if kind == "int4":
        assert np.array_equal(np.concatenate([laid & 15, laid >> 4], axis=1).astype(int) - 8, stored)


@pytest.mark.parametrize("field", ONLY)
def test_a_field_that_changes_the_work_is_refused_unless_it_says_what_is_simulated(tmp_path, field):
    allowed, why = ONLY[field]
    for value in allowed:
        _public(tmp_path, {**LLAMA, field: value})
    with pytest.raises(UsageError) as error:
        _public(tmp_path, {**LLAMA, field: "another"})
    assert f"{field} = another: {why}" in str(error.value)


def test_a_field_that_is_not_known_is_never_ignored(tmp_path):
    assert not NEUTRAL & set(ONLY)
    with pytest.raises(UsageError, match=r"attention_sinks = 4: not known; take it out"):
        _public(tmp_path, {**LLAMA, "attention_sinks": 4})


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"model_type": "gpt2"}, ("config.json", "'gpt2'", "llama, mistral, qwen2, qwen3, mixtral, phi3")),
        ({"model_type": None}, ("None",)),
        ({"hidden_size": None}, ("config.json, hidden_size", "required")),
        ({"hidden_size": "4096"}, ("config.json, hidden_size", "integer")),
        ({"intermediate_size": 0}, ("config.json, intermediate_size", "greater than or equal to 1")),
        ({"num_key_value_heads": 5}, ("num_key_value_heads", "5", "32")),
        ({"model_type": "mistral", "num_key_value_heads": None}, ("num_key_value_heads: missing",)),
        ({"hidden_size": 4000, "num_attention_heads": 48}, ("head_dim: missing", "48", "4000")),
        ({"num_local_experts": 8}, ("num_local_experts", "model_type llama has no experts")),
        ({"model_type": "mixtral", "num_experts_per_tok": 9}, ("num_experts_per_tok: 9 of 8",)),
        ({"model_type": "qwen2", "use_sliding_window": True}, ("use_sliding_window = True: layers with",)),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, changes, parts):
    with pytest.raises(UsageError) as error:
        model_of(config=_file(tmp_path, **changes))
    for part in parts:
        assert part in str(error.value)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(UsageError, match=r"missing\.json: cannot be read: it does not exist"):
        model_of(config=str(tmp_path / "missing.json"))
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(ConfigError, match=r"broken\.json:1: bad JSON"):
        model_of(config=str(broken))
    broken.write_text("[1]")
    with pytest.raises(UsageError, match="model_type is None"):
        model_of(config=str(broken))


def test_an_unknown_name_is_refused_with_those_that_are_known():
    with pytest.raises(UsageError, match=r"'llama-8'; did you mean 'llama-8b'\?.*config=FILE"):
        model_of("llama-8")


@pytest.mark.parametrize(
    ("file", "said", "name"),
    [
        ("config.json", None, "some-model"),
        ("config.json", "meta-llama/Llama-2-7b-hf", "Llama-2-7b-hf"),
        ("tiny.json", None, "tiny"),
    ],
)
def test_a_model_is_called_as_its_file_says_else_as_the_folder_of_config_json(tmp_path, file, said, name):
    folder = tmp_path / "some-model"
    folder.mkdir()
    (folder / file).write_text(json.dumps({**LLAMA, **({"_name_or_path": said} if said else {})}))
    assert model_of(config=str(folder / file)).name == name
    if file == "config.json":
        assert model_of(config=str(folder)).name == name
