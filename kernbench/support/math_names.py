"""Names of the operations of PE_MATH, for the table of passes in a topology file.

Their meanings are in :mod:`kernbench.values.math_ops` and :mod:`kernbench.values.epilogues`.
"""

from __future__ import annotations

REDUCTIONS = ("argmax", "argmin", "sum", "max", "min")
MATH_NAMES = (
    *("exp", "log", "sqrt", "exp2", "log2", "rsqrt", "tanh", "erf", "sigmoid", "cos", "sin"),
    *("floor", "ceil", "cast", "abs", "neg", "add", "sub", "mul", "div", "pow", "floordiv", "mod"),
    *("truncdiv", "truncmod"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "logical_not"),
    *("left_shift", "right_shift"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("maximum", "minimum", "fma", "clamp", "where", "softmax", "cumsum", "cumprod", "broadcast_to"),
    *REDUCTIONS,
)
"""Operations of kernels."""

ANY = "*"
"""In a table: all operations that it does not name."""
EPILOGUE_NAMES = ("bias", "relu", "gelu", "silu", "scale", "dequant", "residual")
"""Operations of a composite's epilogue beyond those."""
