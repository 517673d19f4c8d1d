"""The public names of Triton 3.6's language: which are calls here, and what to do instead of the others."""

from __future__ import annotations

from collections.abc import Iterable

from kernbench.language.atomics import ATOMICS
from kernbench.operations import OPERATIONS
from kernbench.support.hints import did_you_mean

_ROWS = OPERATIONS.values()
MATH = tuple(name for row in _ROWS if row.math for name in row.triton)
"""Also in ``tl.math``."""
CALLS = (
    *(name for row in _ROWS for name in row.triton), *ATOMICS, "advance", "arange", "associative_scan",
    "broadcast", "broadcast_to", "cast", "cat", "device_assert", "device_print", "dot", "dot_scaled",
    "expand_dims", "flip", "full", "gather", "histogram", "interleave", "join", "load",
    "load_tensor_descriptor", "make_block_ptr", "make_tensor_descriptor", "map_elementwise", "num_programs",
    "permute", "program_id", "range", "ravel", "reduce", "reduce_or", "reshape", "sort", "split",
    "static_assert", "static_range", "store", "store_tensor_descriptor", "topk", "trans", "view", "xor_sum",
    "zeros", "zeros_like",
)  # fmt: skip
LIBDEVICE = (*MATH, *(name for row in _ROWS for name in row.libdevice))
METHODS = frozenset(
    (*(name for row in _ROWS if row.arity == 1 for name in row.triton),
     *ATOMICS, "associative_scan", "broadcast_to", "cast", "expand_dims", "flip", "gather", "histogram",
     "logical_and", "logical_or", "permute", "ravel", "reduce", "reshape", "sort", "split", "store", "trans",
     "view", "xor_sum")
)  # fmt: skip
"""Calls that are also methods of what a kernel calculates with."""
HINTS = ("assume", "debug_barrier", "max_constancy", "max_contiguous", "multiple_of")
"""Without effect: there is no compiler, and a block runs in one thread."""

_ENGINES = "the engines calculate with floats of 8, 16 and 32 bits, i8, u8 and i32; use "
ELSEWHERE = {
    "bitonic_merge": "sort on the host",
    "block_type": "x.shape and x.dtype say what a block is",
    "condition": "write the loop with tl.range",
    "constexpr_type": "leave it out: constants are Python values",
    "float8e4b15": f"{_ENGINES}tl.float8e4nv",
    "float8e4b8": f"{_ENGINES}tl.float8e4nv",
    "float8e5b16": f"{_ENGINES}tl.float8e5",
    "inline_asm_elementwise": "there is no assembly; combine calls of tl",
    "pair_uniform_to_normal": "use tl.randn",
    "philox": "use tl.rand4x, tl.randn4x or tl.randint4x",
    "philox_impl": "use tl.rand4x, tl.randn4x or tl.randint4x",
    "slice": "index with slices: x[:, None], x[0:4]",
    "target_info": "triton.runtime.driver has the machine's properties",
    "uint_to_uniform_float": "use tl.rand",
    "umulhi": f"{_ENGINES}smaller factors",
    "void": "leave it out: it is the compiler's own",
}
"""Names that are not here, each with the way it is done instead."""


def unknown(name: str, known: Iterable[str] = (*CALLS, *HINTS)) -> str:
    """The message for an attribute that ``triton.language``, or a part of it with ``known`` names, lacks."""
    if name in ELSEWHERE:
        return f"tl.{name} is not here; {ELSEWHERE[name]}"
    return f"triton.language has no '{name}'; {did_you_mean(name, known)}"
