"""The sizes of a decoder: of models known by name, and as Hugging Face's ``config.json`` has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernbench.errors import UsageError
from kernbench.support.hints import suggestion
from kernbench.support.input_files import input_text, json_value
from kernbench.workloads.models.config_fields import NOT_TAKEN, refused
from kernbench.workloads.models.quantized import GROUP, PLAIN, Weights, read

Positive = Annotated[int, Field(ge=1, strict=True)]


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder of Llama's kind: ``layers`` times RMSNorm, attention, RMSNorm and a gated perceptron.

    ``hidden``: width of the residual stream. ``ffn``: columns of gate and of up that a token passes.
    ``heads`` of queries share ``kv_heads`` of keys and values, each ``head_dim`` wide. ``eps`` is added to
    the mean square of a norm. ``rope``: base of the rotary embedding. ``bias``: whether q, k and v have one,
    ``o_bias``: whether o. ``window``: keys that a token sees at most, 0: all. ``vocabulary``: rows of the
    embedding, which with ``tied`` is the last product's weight too. ``experts``: how many times ``ffn`` a
    layer has in memory; ``chosen``: experts of a token, whose columns ``ffn`` are. ``qk_norm``: whether heads
    of q and k are normed. ``weights``, ``cache``: their types in memory. ``notes`` say what is left out or
    stands for something else.
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
    o_bias: bool = False
    window: int = 0
    vocabulary: int = 0
    tied: bool = False
    experts: float = 1
    chosen: int = 1
    qk_norm: bool = False
    weights: Weights = PLAIN
    cache: str = "f16"
    notes: tuple[str, ...] = ()

    def routed(self, tokens: int) -> tuple[int, int]:
        """Experts that ``tokens`` hit on average, each with ``chosen`` at random, and tokens of each."""
        of = round(self.experts * self.chosen)
        hit = round(of * (1 - (1 - self.chosen / of) ** tokens))
        return hit, -(-tokens * self.chosen // hit)

    def of_types(self, weights: str = "", cache: str = "") -> Model:
        """The same with weights and cache of these kinds; ``""`` leaves them."""
        known = weights in ("", self.weights.kind)
        kept = self.weights if known else Weights(weights, GROUP if weights == "int4" else 0)
        return replace(self, weights=kept, cache=cache or self.cache)

    @property
    def group(self) -> int:
        """Heads of queries that share a head of keys and values."""
        return self.heads // self.kv_heads


ROUTER = ("the product that chooses experts, and which tokens each gets, is left out",)
MODELS = {
    # Sizes: Grattafiori et al., The Llama 3 Herd of Models, 2024, table 3.
    "llama-8b": Model("llama-8b", 4096, 14336, 32, 8, 128, 32, vocabulary=128256),
    "llama-70b": Model("llama-70b", 8192, 28672, 64, 8, 128, 80, vocabulary=128256),
    "llama-405b": Model("llama-405b", 16384, 53248, 128, 8, 128, 126, vocabulary=128256),
    # Jiang et al., Mistral 7B, 2023, table 1.
    "mistral-7b": Model(
        "mistral-7b", 4096, 14336, 32, 8, 128, 32, rope=10000.0, window=4096, vocabulary=32000
    ),
    # Touvron et al., Llama 2, 2023, and the config.json beside its weights.
    "llama2-7b": Model("llama2-7b", 4096, 11008, 32, 32, 128, 32, rope=10000.0, vocabulary=32000),
    "llama2-13b": Model("llama2-13b", 5120, 13824, 40, 40, 128, 40, rope=10000.0, vocabulary=32000),
    "llama2-70b": Model("llama2-70b", 8192, 28672, 64, 8, 128, 80, rope=10000.0, vocabulary=32000),
    # The config.json beside the weights of InternLM 20B, 2023.
    "internlm-20b": Model("internlm-20b", 5120, 13824, 40, 40, 128, 60, rope=10000.0, vocabulary=103168),
    # Jiang et al., Mixtral of Experts, 2024, table 1: a token passes two of eight.
    "mixtral-8x7b": Model(
        "mixtral-8x7b",
        4096,
        2 * 14336,
        32,
        8,
        128,
        32,
        rope=1e6,
        vocabulary=32000,
        experts=4,
        chosen=2,
        notes=ROUTER,
    ),
}
"""Models that are known by name."""

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3", "mixtral", "phi3")
"""``model_type`` of each architecture that is taken."""


class _Config(BaseModel):
    """The fields of a ``config.json`` that say what is simulated. Defaults are those of Hugging Face."""

    model_config = ConfigDict(extra="ignore")

    hidden_size: Positive
    intermediate_size: Positive
    num_attention_heads: Positive
    num_hidden_layers: Positive
    num_key_value_heads: Positive | None = None
    head_dim: Positive | None = None
    rms_norm_eps: Annotated[float, Field(gt=0)] = 1e-5
    attention_bias: bool = False
    rope_theta: Annotated[float, Field(gt=1)] = 10000.0
    sliding_window: Positive | None = None
    num_local_experts: Positive | None = None
    num_experts_per_tok: Positive | None = None
    vocab_size: Annotated[int, Field(ge=0, strict=True)] = 0
    tie_word_embeddings: bool = False
    quantization_config: dict[str, Any] | None = None


def model_of(name: str = "", config: str = "") -> Model:
    """The model called ``name``, or that of the file ``config``.

    Raises:
        UsageError: The model or the file does not exist, or the file lacks a field or asks for what is not
            simulated.
        ConfigError: The file cannot be read, or is not JSON.
    """
    if config:
        path = Path(config).expanduser()
        return _read(path / "config.json" if path.is_dir() else path)
    if name not in MODELS:
        raise UsageError(
            f"no model '{name}'; {suggestion(name, MODELS)}available: {', '.join(MODELS)}; "
            "config=FILE takes a config.json, or a folder with one"
        )
    return MODELS[name]


def _read(path: Path) -> Model:
    content = json_value(input_text(path, "a model's config.json", UsageError), str(path))
    kind = content.get("model_type") if isinstance(content, dict) else None
    if kind not in ARCHITECTURES and kind not in NOT_TAKEN:
        raise UsageError(
            f"{path}: model_type is {kind!r}; architectures that are taken: {', '.join(ARCHITECTURES)}"
        )
    problems = [f"model_type = {kind}: {NOT_TAKEN[kind]}"] if kind in NOT_TAKEN else []
    problems += refused(content, frozenset(_Config.model_fields))
    given = content.get("quantization_config")
    kept, unknown = read(given if isinstance(given, dict) else None)
    problems += unknown
    if problems:
        raise UsageError("\n  ".join([f"{path} says what is not simulated:", *problems]))
    try:
        c = _Config.model_validate(content)
    except ValidationError as problem:
        first = problem.errors()[0]
        raise UsageError(f"{path}, {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None

    def wrong(field: str, why: str) -> UsageError:
        return UsageError(f"{path}, {field}: {why}")

    heads = c.num_attention_heads
    if c.num_key_value_heads is None and kind not in ("llama", "phi3"):
        raise wrong("num_key_value_heads", f"missing; {kind} has no such default")
    kv_heads = c.num_key_value_heads or heads
    if heads % kv_heads:
        raise wrong("num_key_value_heads", f"{kv_heads} does not divide num_attention_heads, {heads}")
    if c.head_dim is None and c.hidden_size % heads:
        raise wrong("head_dim", f"missing, and {heads} heads do not divide hidden_size, {c.hidden_size}")
    head_dim = c.head_dim or c.hidden_size // heads
    if head_dim % 2:
        raise wrong("head_dim", f"{head_dim} is odd; a rotary embedding takes pairs")
    chosen, experts = 1, 1
    notes: tuple[str, ...] = ()
    if kind == "mixtral":
        chosen, experts = c.num_experts_per_tok or 2, c.num_local_experts or 8
        notes = ROUTER
        if chosen > experts:
            raise wrong("num_experts_per_tok", f"{chosen} of {experts} experts, num_local_experts")
    elif c.num_local_experts or c.num_experts_per_tok:
        raise wrong("num_local_experts", f"model_type {kind} has no experts; they are simulated of mixtral")
    windows = {"qwen2": None, "qwen3": None, "mistral": content.get("sliding_window", 4096)}
    said = str(content.get("_name_or_path") or "").rstrip("/").rpartition("/")[2]
    folder = path.absolute().parent.name if path.name == "config.json" else path.stem
    return Model(
        said or folder,
        c.hidden_size,
        c.intermediate_size * chosen,
        heads,
        kv_heads,
        head_dim,
        c.num_hidden_layers,
        c.rms_norm_eps,
        c.rope_theta,
        bias=kind == "qwen2" or c.attention_bias,
        o_bias=c.attention_bias,
        window=windows.get(kind, c.sliding_window) or 0,
        vocabulary=c.vocab_size,
        tied=c.tie_word_embeddings,
        experts=experts / chosen,
        chosen=chosen,
        qk_norm=kind == "qwen3",
        weights=kept,
        notes=notes,
    )
