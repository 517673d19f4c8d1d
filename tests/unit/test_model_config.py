"""A ``config.json`` as Hugging Face has them becomes the sizes of a decoder, or is refused."""

from __future__ import annotations

import json

import pytest

from kernbench.errors import ConfigError, UsageError
from kernbench.workloads.models import MODELS, model_of

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
    sizes = ("hidden", "ffn", "heads", "kv_heads", "head_dim", "layers", "eps")
    assert [getattr(model, s) for s in sizes] == [getattr(known, s) for s in sizes]
    assert model.notes == ()


@pytest.mark.parametrize(
    ("changes", "attribute", "value"),
    [
        ({"model_type": "mistral", "head_dim": 160}, "head_dim", 160),
        ({"num_key_value_heads": None}, "kv_heads", 32),
        ({"model_type": "mixtral", "num_experts_per_tok": 2}, "ffn", 28672),
    ],
)
def test_keys_that_some_models_have(tmp_path, changes, attribute, value):
    assert getattr(model_of(config=_file(tmp_path, **changes)), attribute) == value


def test_biases(tmp_path):
    assert not model_of(config=_file(tmp_path)).bias
    assert model_of(config=_file(tmp_path, model_type="qwen2")).bias
    llama = model_of(config=_file(tmp_path, attention_bias=True))
    assert llama.bias
    assert llama.notes == ("the bias of o is left out",)


def test_what_is_left_out_is_said(tmp_path):
    assert "routing is left out" in model_of(config=_file(tmp_path, model_type="mixtral")).notes[0]


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"model_type": "gpt2"}, ("config.json", "'gpt2'", "llama, mistral, qwen2, mixtral")),
        ({"model_type": None}, ("None",)),
        ({"hidden_size": None}, ("config.json, hidden_size", "required")),
        ({"hidden_size": "4096"}, ("config.json, hidden_size", "integer")),
        ({"intermediate_size": 0}, ("config.json, intermediate_size", "greater than or equal to 1")),
        ({"num_key_value_heads": 5}, ("num_key_value_heads", "5", "32")),
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
