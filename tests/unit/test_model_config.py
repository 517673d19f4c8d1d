"""A ``config.json`` as Hugging Face has them becomes the sizes of a decoder, or is refused."""

from __future__ import annotations

import json

import pytest

from kernbench.errors import ConfigError, UsageError
from kernbench.workloads.models import MODELS, model_of
from kernbench.workloads.models.config import ARCHITECTURES
from kernbench.workloads.models.config_fields import NEUTRAL, NOT_TAKEN, ONLY
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
        ("mixtral-8x7b", {"ffn": 2 * 14336, "experts": 4, "window": 0}),
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
        ({"model_type": "gpt2"}, ("config.json", "'gpt2'", "llama, mistral, qwen2, mixtral, phi3")),
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
