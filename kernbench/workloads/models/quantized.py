"""Weights of 8 and 4 bits: how they lie in memory, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.support import dtypes

if TYPE_CHECKING:
    from kernbench.workloads.models.layout import Array

TYPES = {"f16": "f16", "fp8": "f8e4m3", "int8": "i8", "int4": "u8"}
"""By kind of weights the type in memory; a byte has two of 4 bits."""
CACHES = {"f16": "f16", "fp8": "f8e4m3"}
"""By kind of cache its type; values are rounded to it without a scale."""
GROUP = 128
"""Rows that share a scale where 4 bits are asked for without a file that says it."""
_LARGEST = {"fp8": 448.0, "int8": 127.0, "int4": 7.0}


@dataclass(frozen=True, slots=True)
class Weights:
    """What a weight is in memory: ``kind``, of :data:`TYPES`, times a scale in f16, for f16 none.

    Each column has a scale for every ``group`` rows, with 0 one for all. Zero points are the middle.
    """

    kind: str = "f16"
    group: int = 0

    @property
    def plain(self) -> bool:
        """Whether products take weights as they lie."""
        return self.kind == "f16"

    @property
    def dtype(self) -> str:
        """The type in memory."""
        return TYPES[self.kind]

    @property
    def packed(self) -> int:
        """Weights in an element of that type."""
        return 2 if self.kind == "int4" else 1

    def groups(self, rows: int) -> int:
        """Scales of a column of so many rows."""
        return -(-rows // self.group) if self.group else 1

    def nbytes(self, rows: int, columns: int) -> float:
        """Bytes of a matrix, scales among them."""
        scales = 0 if self.plain else 2 * self.groups(rows) * columns
        return rows * columns * dtypes.SIZES[self.dtype] / self.packed + scales

    def stored(self, w: Array) -> tuple[Array, Array]:
        """Integers or floats nearest to ``w``, and their scales, (groups, columns)."""
        rows, group = len(w), self.group or len(w)
        high = np.maximum.reduceat(np.abs(w.astype(np.float32)), np.arange(0, rows, group), axis=0)
        scale = np.maximum(high / _LARGEST[self.kind], 1e-4).astype(np.float16)
        found = w.astype(np.float32) / np.repeat(scale, group, axis=0)[:rows]
        if self.kind == "fp8":
            return np.clip(found, -448, 448).astype(dtypes.dtype(self.dtype).numpy), scale
        largest = _LARGEST[self.kind]
        return np.clip(np.rint(found), -largest, largest).astype(np.int8), scale

    def worth(self, stored: Array, scale: Array) -> Array:
        """What they stand for, in f64."""
        group = self.group or len(stored)
        scales = np.repeat(scale.astype(np.float64), group, axis=0)[: len(stored)]
        return np.asarray(stored.astype(np.float64) * scales)

    def laid(self, stored: Array, width: int) -> Array:
        """As they lie: of 4 bits each half of ``width`` columns in one half of the bytes."""
        if self.packed == 1:
            return stored
        rows = len(stored)
        halves = (stored.astype(np.uint8) + 8 & 15).reshape(rows, -1, 2, width // 2)
        return np.asarray(halves[:, :, 0] | halves[:, :, 1] << 4).reshape(rows, -1)


PLAIN = Weights()
_KNOWN = """
    activation_scheme backend bits checkpoint_format damp_percent dataset fmt group_size model_file_base_name
    model_name_or_path q_group_size quant_method static_groups sym tokenizer true_sequential use_exllama
    version w_bit zero_point
"""


def read(config: Mapping[str, Any] | None) -> tuple[Weights, list[str]]:
    """The weights that a ``quantization_config`` says, and what of it is not simulated."""
    if not config:
        return PLAIN, []
    method = config.get("quant_method")
    bits = config.get("bits", config.get("w_bit", 8 if method == "fp8" else 4))
    kinds = {("awq", 4): "int4", ("gptq", 4): "int4", ("gptq", 8): "int8", ("fp8", 8): "fp8"}
    kind = kinds.get((str(method), bits))
    if kind is None:
        taken = ", ".join(f"{name} of {n} bits" for name, n in kinds)
        return Weights(), [
            f"quantization_config = {method} of {bits} bits: weights that are simulated: {taken}"
        ]
    group = 0 if method == "fp8" else config.get("group_size", config.get("q_group_size", GROUP))
    wrong = [] if isinstance(group, int) and (group == -1 or group >= 0) else ["group_size"]
    allowed = {"modules_to_not_convert": (None, [], ["lm_head"]), "weight_block_size": (None,),
               "desc_act": (None, False)}  # fmt: skip
    wrong += [name for name, values in allowed.items() if config.get(name) not in values]
    wrong += sorted(set(config) - set(_KNOWN.split()) - set(allowed))
    problems = [f"quantization_config.{name} = {str(config[name])[:40]}: not simulated" for name in wrong]
    return Weights(kind, 0 if wrong else max(0, group)), problems
