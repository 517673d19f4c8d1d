"""The sizes of a decoder: of models known by name, and as Hugging Face's ``config.json`` has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernbench.errors import UsageError
from kernbench.support.hints import suggestion
from kernbench.support.input_files import input_text, json_value

Positive = Annotated[int, Field(ge=1, strict=True)]


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder of Llama's kind: ``layers`` times RMSNorm, attention, RMSNorm and a gated perceptron.

    ``hidden``: width of the residual stream. ``ffn``: columns of gate and of up. ``heads`` of queries share
    ``kv_heads`` of keys and values, each ``head_dim`` wide. ``eps`` is added to the mean square of a norm.
    ``rope``: base of the rotary embedding. ``bias``: whether q, k and v have one. ``notes`` say what is left
    out or stands for something else.
    """

    name: str
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    eps: float = 1e-5
    rope: float = 500000.0
    bias: bool = False
    notes: tuple[str, ...] = ()

    @property
    def group(self) -> int:
        """Heads of queries that share a head of keys and values."""
        return self.heads // self.kv_heads


MODELS = {
    # Sizes: Grattafiori et al., The Llama 3 Herd of Models, 2024, table 3.
    "llama-8b": Model("llama-8b", 4096, 14336, 32, 8, 128, 32),
    "llama-70b": Model("llama-70b", 8192, 28672, 64, 8, 128, 80),
    "llama-405b": Model("llama-405b", 16384, 53248, 128, 8, 128, 126),
    # Jiang et al., Mistral 7B, 2023, table 1.
    "mistral-7b": Model("mistral-7b", 4096, 14336, 32, 8, 128, 32, rope=10000.0),
}
"""Models that are known by name."""

ARCHITECTURES = {
    "llama": (),
    "mistral": ("attention is to all keys: a sliding window is left out",),
    "qwen2": (),
    "mixtral": (
        "the experts of a token are one dense perceptron as wide as all of them; routing is left out",
    ),
}
"""``model_type`` of each architecture that is taken, and what is said about it."""


class _Config(BaseModel):
    """The keys of a ``config.json`` that say how large a decoder is; others are not looked at."""

    model_config = ConfigDict(extra="ignore")

    model_type: str
    hidden_size: Positive
    intermediate_size: Positive
    num_attention_heads: Positive
    num_hidden_layers: Positive
    num_key_value_heads: Positive | None = None
    head_dim: Positive | None = None
    rms_norm_eps: Annotated[float, Field(gt=0)] = 1e-5
    attention_bias: bool = False
    rope_theta: Annotated[float, Field(gt=1)] = 10000.0
    num_experts_per_tok: Positive = 1


def model_of(name: str = "", config: str = "") -> Model:
    """The model called ``name``, or that of the file ``config``.

    Raises:
        UsageError: There is no such model or file, or the file lacks a key, or is of an architecture that is
            not taken.
        ConfigError: The file cannot be read, or is not JSON.
    """
    if config:
        return _read(Path(config))
    if name not in MODELS:
        raise UsageError(
            f"no model '{name}'; {suggestion(name, MODELS)}available: {', '.join(MODELS)}; "
            "config=FILE takes a config.json"
        )
    return MODELS[name]


def _read(path: Path) -> Model:
    content = json_value(input_text(path, "a model's config.json", UsageError), str(path))
    kind = content.get("model_type") if isinstance(content, dict) else None
    if kind not in ARCHITECTURES:
        raise UsageError(
            f"{path}: model_type is {kind!r}; architectures that are taken: {', '.join(ARCHITECTURES)}"
        )
    try:
        c = _Config.model_validate(content)
    except ValidationError as problem:
        first = problem.errors()[0]
        raise UsageError(f"{path}, {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    kv_heads = c.num_key_value_heads or c.num_attention_heads
    if c.num_attention_heads % kv_heads:
        raise UsageError(
            f"{path}, num_key_value_heads: {kv_heads} does not divide num_attention_heads, "
            f"{c.num_attention_heads}"
        )
    head_dim = c.head_dim or c.hidden_size // c.num_attention_heads
    if head_dim % 2:
        raise UsageError(f"{path}, head_dim: {head_dim} is odd; a rotary embedding takes pairs")
    return Model(
        path.parent.name or path.stem,
        c.hidden_size,
        c.intermediate_size * c.num_experts_per_tok,
        c.num_attention_heads,
        kv_heads,
        head_dim,
        c.num_hidden_layers,
        c.rms_norm_eps,
        c.rope_theta,
        kind == "qwen2" or c.attention_bias,
        ARCHITECTURES[kind] + (("the bias of o is left out",) if c.attention_bias else ()),
    )
