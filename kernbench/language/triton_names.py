"""Names of Triton's language that are not here, each with the way it is done instead."""

from __future__ import annotations

from kernbench.language.arguments import BadArgumentError
from kernbench.operations import OPERATIONS
from kernbench.support.hints import suggestion

ELSEWHERE = {
    "atomic": "memories add, and that alone (tl.atomic_add): give each PE its own part of memory (tl.store) "
    "and put the parts together in a second launch, or send them to one PE (tl.send, tl.recv)",
    "debug_barrier": "a PE runs one program, so there is nothing to wait for; launches follow each other",
    "num_warps": "a PE has no warps: leave it out",
    "expand_dims": "index with None: x[:, None]",
    "view": "use tl.reshape",
    "permute": "use tl.trans(x, dims)",
    "cat": "store the parts side by side and load them as one block",
    "join": "store the parts side by side and load them as one block",
    "interleave": "store the parts with strides=",
    "split": "slice: x[:, :n] and x[:, n:]",
    "sort": "sort on the host",
    "histogram": "compare with tl.arange and tl.sum the masks",
    "gather": "tl.load what is needed with strides=, or pick with tl.where",
    "rand": "make random numbers on the host and tl.load them",
    "randn": "make random numbers on the host and tl.load them",
    "randint": "make random numbers on the host and tl.load them",
    "multiple_of": "leave it out: there is no compiler to give hints to",
    "max_contiguous": "leave it out: there is no compiler to give hints to",
    "max_constancy": "leave it out: there is no compiler to give hints to",
    "assume": "leave it out, or check with tl.static_assert",
    "device_assert": "branch on loaded data and raise, or check on the host with torch.check",
    "static_print": "use print, or tl.device_print",
    "inline_asm_elementwise": "there is no assembly; combine tl operations",
    "associative_scan": "use tl.cumsum",
    "reduce": "use tl.sum, tl.max, tl.min, tl.argmax or tl.argmin",
    "dot_scaled": "use tl.composite('gemm', ...) with a dequant epilogue",
    "make_tensor_descriptor": "use tl.make_block_ptr",
    "jit": "it is for kernels of Triton, import kernbench.triton as triton; others are plain functions",
    "float64": "use tl.float32: the engines have no f64",
    "int16": "use tl.int32",
    "int64": "use tl.int32: scalars are Python numbers of any size",
}

WITHOUT_EFFECT = {
    "load": ("cache_modifier", "eviction_policy"),
    "store": ("cache_modifier", "eviction_policy"),
    "dot": ("allow_tf32", "input_precision", "max_num_imprecise_acc"),
    "reshape": ("can_reorder",),
    "device_print": ("hex",),
    "range": (
        "loop_unroll_factor",
        "disallow_acc_multi_buffer",
        "flatten",
        "warp_specialize",
        "disable_licm",
    ),
    **{name: row.ignored for row in OPERATIONS.values() if row.ignored for name in row.in_triton},
}
"""Arguments of Triton's calls that are taken and change nothing: there are no caches, and no TF32."""
ARGUMENTS = {
    "acc": "name it: tl.dot(a, b, acc=acc)",
    "return_indices": "use tl.argmax or tl.argmin for the indices",
    "return_indices_tie_break_left": "tl.argmax and tl.argmin give the first of equal values",
    "tie_break_left": "the first of equal values is taken: leave it out",
    "propagate_nan": "NaN is skipped, as it is by default: leave it out; tl.isnan(x) finds it",
    "bitcast": "values keep their meaning: cast with dtype alone",
    "fp_downcast_rounding": "casts round to nearest even: leave it out",
    "cache_modifier": "there are no caches: leave it out",
    "eviction_policy": "there are no caches: leave it out",
    "sem": "it is for tl.atomic_add: leave it out",
    "scope": "it is for tl.atomic_add: leave it out",
    "_builder": "it is the compiler's own: leave it out",
    "_semantic": "it is the compiler's own: leave it out",
}
"""Arguments of Triton's calls that are not here, each with the way it is done instead."""


def arguments_known(call: str, names: frozenset[str], given: dict[str, object]) -> dict[str, object]:
    """The arguments ``given`` to ``call`` by keyword, without those of Triton's that change nothing.

    ``BadArgumentError`` for one that is neither among its ``names`` nor of those.
    """
    for name in given.keys() - names - {*WITHOUT_EFFECT.get(call, ())}:
        known = sorted(names - {"self"})
        instead = ARGUMENTS.get(name) or f"{suggestion(name, known)}it takes {', '.join(known)}"
        raise BadArgumentError(name, f"there is no such argument; {instead}")
    return {name: value for name, value in given.items() if name in names}


def unknown(name: str, known: list[str]) -> str:
    """The message for an attribute that ``tl`` lacks."""
    for prefix, instead in ELSEWHERE.items():
        if name == prefix or (prefix == "atomic" and name.startswith("atomic_")):
            return f"tl.{name} is not in this language; {instead}"
    return f"tl has no '{name}'; {suggestion(name, known)}help(kernbench.tl) lists what it has"
