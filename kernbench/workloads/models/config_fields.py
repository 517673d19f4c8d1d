"""Fields of a ``config.json`` that do not change a decoder's work, or may have some values only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NEUTRAL = """
    _attn_implementation _name_or_path architectures attention_dropout auto_map bos_token_id embd_pdrop
    eos_token_id final_logit_softcapping hidden_dropout initializer_range max_position_embeddings
    max_window_layers model_type original_max_position_embeddings output_router_logits pad_token_id
    pretraining_tp resid_pdrop rope_scaling rope_theta router_aux_loss_coef router_jitter_noise
    transformers_version use_cache
"""
NEUTRAL = frozenset(_NEUTRAL.split())
"""Fields that change no work of a layer: names, tokens, training, frequencies of the rotary embedding."""

_EXPERTS = "experts are simulated as mixtral has them, all in every layer"
_LATENT = "attention to latent keys (MLA) is not simulated"
_ONE_WAY = "attention and perceptron are simulated one after the other, with rotary embedding and RMSNorm"
_WINDOWS = "layers with windows beside layers without are not simulated"
_NORMS = "norms of q and k are not simulated"
_SILU = "the activation that is simulated is silu"
_TYPES = "activations are simulated as f16, of 2 bytes"
NONE: tuple[Any, ...] = (None, False)

ONLY: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "alibi": (NONE, _ONE_WAY),
    "attention_chunk_size": (NONE, "attention in chunks is not simulated"),
    "attn_logit_softcapping": (NONE, "a cap of scores of attention is not simulated"),
    "bias": (NONE, "biases of all products are not simulated"),
    "clip_qkv": (NONE, "a limit of q, k and v is not simulated"),
    "dtype": ((None, "float16", "bfloat16"), _TYPES),
    "hidden_act": ((None, "silu", "swish"), _SILU),
    "hidden_activation": ((None, "silu", "swish"), _SILU),
    "kv_lora_rank": (NONE, _LATENT),
    "mlp_bias": (NONE, "biases of the perceptron are not simulated"),
    "moe_intermediate_size": (NONE, _EXPERTS),
    "n_routed_experts": (NONE, _EXPERTS),
    "n_shared_experts": (NONE, _EXPERTS),
    "new_decoder_architecture": (NONE, _ONE_WAY),
    "num_experts": (NONE, _EXPERTS),
    "num_nextn_predict_layers": ((*NONE, 0), "prediction of several tokens is not simulated"),
    "parallel_attn": (NONE, _ONE_WAY),
    "partial_rotary_factor": ((None, 1), "rotary embedding is simulated of whole heads"),
    "q_lora_rank": (NONE, _LATENT),
    "qk_layernorm": (NONE, _NORMS),
    "swiglu_limit": (NONE, "limits of gate and up are not simulated"),
    "torch_dtype": ((None, "float16", "bfloat16"), _TYPES),
    "use_qk_norm": (NONE, _NORMS),
    "use_sliding_window": (NONE, _WINDOWS),
}
"""By field: the values that are simulated, and why others are not."""

NOT_TAKEN = {
    "deepseek_v2": _LATENT,
    "falcon": _ONE_WAY,
    "gemma2": "norms behind attention and perceptron are not simulated; " + _WINDOWS,
    "gpt_oss": "sinks of attention are not simulated; " + _WINDOWS,
}
"""``model_type`` of architectures whose work no field of the file tells, and what is missing."""


def refused(content: Mapping[str, Any], used: frozenset[str]) -> Iterator[str]:
    """What of a file is not simulated: ``field = value: why``. ``used``: fields that the reader looks at."""
    for name, value in content.items():
        allowed, why = ONLY.get(name, ((), ""))
        if name == "layer_types":
            if value is not None and any(kind != "full_attention" for kind in value):
                yield f"{name}: {_WINDOWS}"
        elif why and not any(value is one or value == one for one in allowed):
            yield f"{name} = {str(value)[:40]}: {why}"
        elif not why and name not in NEUTRAL | used and value is not None:
            yield f"{name} = {str(value)[:40]}: not known; take it out of the file if it changes no work"
