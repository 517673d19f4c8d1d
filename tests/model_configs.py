"""``config.json`` of public models, as far as their fields say what work a layer is."""

from __future__ import annotations

from typing import Any


def _sizes(hidden: int, ffn: int, heads: int, kv_heads: int, layers: int, vocabulary: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "intermediate_size": ffn,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "num_hidden_layers": layers,
        "vocab_size": vocabulary,
    }


_SILU = {"hidden_act": "silu", "use_cache": True, "initializer_range": 0.02}
_BF16 = {**_SILU, "torch_dtype": "bfloat16", "tie_word_embeddings": False, "attention_dropout": 0.0}

TAKEN: dict[str, dict[str, Any]] = {
    "llama-2-7b": {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        **_sizes(4096, 11008, 32, 32, 32, 32000),
        **_SILU,
        "torch_dtype": "float16",
        "max_position_embeddings": 4096,
        "pretraining_tp": 1,
        "rms_norm_eps": 1e-5,
        "rope_scaling": None,
        "tie_word_embeddings": False,
    },
    "llama-3.1-8b": {
        "model_type": "llama",
        **_sizes(4096, 14336, 32, 8, 32, 128256),
        **_BF16,
        "attention_bias": False,
        "mlp_bias": False,
        "rms_norm_eps": 1e-5,
        "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
        "rope_theta": 500000.0,
    },
    "mistral-7b": {
        "model_type": "mistral",
        **_sizes(4096, 14336, 32, 8, 32, 32000),
        **_BF16,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "sliding_window": 4096,
    },
    "nemo-12b": {
        "model_type": "mistral",
        **_sizes(5120, 14336, 32, 8, 40, 131072),
        **_BF16,
        "head_dim": 128,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1000000.0,
        "sliding_window": None,
    },
    "qwen2-7b": {
        "model_type": "qwen2",
        **_sizes(3584, 18944, 28, 4, 28, 152064),
        **_BF16,
        "max_window_layers": 28,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "sliding_window": 131072,
        "use_sliding_window": False,
    },
    "qwen3-8b": {
        "model_type": "qwen3",
        **_sizes(4096, 12288, 32, 8, 36, 151936),
        **_BF16,
        "attention_bias": False,
        "head_dim": 128,
        "max_window_layers": 36,
        "rms_norm_eps": 1e-6,
        "rope_scaling": None,
        "rope_theta": 1000000.0,
        "sliding_window": None,
        "use_sliding_window": False,
    },
    "mixtral-8x7b": {
        "model_type": "mixtral",
        **_sizes(4096, 14336, 32, 8, 32, 32000),
        **_BF16,
        "num_experts_per_tok": 2,
        "num_local_experts": 8,
        "output_router_logits": False,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1000000.0,
        "router_aux_loss_coef": 0.02,
        "sliding_window": None,
    },
    "phi-3-mini": {
        "model_type": "phi3",
        **_sizes(3072, 8192, 32, 32, 32, 32064),
        **_BF16,
        "attention_bias": False,
        "embd_pdrop": 0.0,
        "original_max_position_embeddings": 4096,
        "resid_pdrop": 0.0,
        "rms_norm_eps": 1e-5,
        "rope_scaling": None,
        "rope_theta": 10000.0,
        "sliding_window": 2047,
    },
}
"""Used whole."""

REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "gemma-2-9b": (
        {
            "model_type": "gemma2",
            **_sizes(3584, 14336, 16, 8, 42, 256000),
            "attention_bias": False,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
            "head_dim": 256,
            "hidden_act": "gelu_pytorch_tanh",
            "hidden_activation": "gelu_pytorch_tanh",
            "query_pre_attn_scalar": 256,
            "rms_norm_eps": 1e-6,
            "sliding_window": 4096,
        },
        ("model_type = gemma2", "attn_logit_softcapping = 50.0", "hidden_act = gelu_pytorch_tanh"),
    ),
    "deepseek-v2": (
        {
            "model_type": "deepseek_v2",
            **_sizes(5120, 12288, 128, 128, 60, 102400),
            "hidden_act": "silu",
            "kv_lora_rank": 512,
            "moe_intermediate_size": 1536,
            "n_routed_experts": 160,
            "n_shared_experts": 2,
            "num_experts_per_tok": 6,
            "q_lora_rank": 1536,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
        },
        ("kv_lora_rank = 512: attention to latent keys (MLA)", "n_routed_experts = 160", "v_head_dim = 128"),
    ),
    "gpt-oss-20b": (
        {
            "model_type": "gpt_oss",
            **_sizes(2880, 2880, 64, 8, 24, 201088),
            "attention_bias": True,
            "head_dim": 64,
            "hidden_act": "silu",
            "layer_types": ["sliding_attention", "full_attention"] * 12,
            "num_experts_per_tok": 4,
            "num_local_experts": 32,
            "quantization_config": {"quant_method": "mxfp4"},
            "sliding_window": 128,
            "swiglu_limit": 7.0,
        },
        (
            "model_type = gpt_oss: sinks",
            "layer_types: layers with windows",
            "quantization_config = ",
            "swiglu_",
        ),
    ),
    "falcon-7b": (
        {
            "model_type": "falcon",
            "alibi": False,
            "bias": False,
            "hidden_size": 4544,
            "multi_query": True,
            "new_decoder_architecture": False,
            "num_attention_heads": 71,
            "num_hidden_layers": 32,
            "parallel_attn": True,
            "vocab_size": 65024,
        },
        ("model_type = falcon", "parallel_attn = True: attention and perceptron are simulated one after"),
    ),
}
"""Refused, and what is named."""
