"""The ``tl`` call for a matrix product (blocking, result in scratch), and the rules of products."""

from __future__ import annotations

import functools

from kernbench.engine.program import tile_plans
from kernbench.engine.program.computing import CallSite, Gemm
from kernbench.language import arguments, promotion
from kernbench.language.arguments import BadArgumentError
from kernbench.language.building import Builder
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import Issuer, tl_call
from kernbench.language.triton_names import ARGUMENTS
from kernbench.support import dtypes
from kernbench.support.hints import shown


class ProductCalls(Builder):
    """dot."""

    _title = "Products"

    @tl_call
    def dot(
        self,
        a: TensorHandle,
        b: TensorHandle,
        acc_dtype: str | None = None,
        out_dtype: str | None = None,
        precision: str | None = None,
        acc: TensorHandle | None = None,
    ) -> TensorHandle:
        """``a @ b``, in TCM; with ``acc`` added to it, in its place.

        Args:
            a: Of shape (M, K).
            b: Of shape (K, N).
            acc_dtype: Type of the sums: f32, or i32 of integers.
            out_dtype: Type of the result; by default a's, or i32 of integers.
            precision: One of the machine's ``pe_gemm.phases``, which says how often the engine goes over the
                operands; by default once. Values do not depend on it.
            acc: Sums of shape (M, N), whose type the result has. The result takes their place.
        """
        if isinstance(acc_dtype, TensorHandle):
            raise BadArgumentError("acc_dtype", f"a handle is not a type; {ARGUMENTS['acc']}")
        x, y = self._handle("a", a), self._handle("b", b)
        if precision is not None and not isinstance(precision, str):
            raise BadArgumentError("precision", f"{shown(precision)} is not the name of a precision")
        if acc is None:
            return product(self, x, y, acc_dtype, out_dtype, precision or "")
        if acc_dtype is not None or out_dtype is not None:
            raise BadArgumentError("acc", "has the type of the result; leave out acc_dtype and out_dtype")
        return accumulate(self, x, y, self._handle("acc", acc), precision or "")


def product(
    tl: Issuer,
    x: TensorHandle,
    y: TensorHandle,
    acc_dtype: str | None = None,
    out_dtype: str | None = None,
    precision: str = "",
) -> TensorHandle:
    """``x @ y``."""
    staged = tl._staged(x, y)
    site = _site(x.shape, x.dtype, y.shape, y.dtype, acc_dtype, out_dtype, precision, staged)
    return tl._compute(site, [x, y])


@functools.lru_cache(maxsize=1024)
def _site(
    a: tuple[int, ...],
    a_dtype: str,
    b: tuple[int, ...],
    b_dtype: str,
    acc_dtype: str | None,
    out_dtype: str | None,
    precision: str = "",
    staged: int = 0,
) -> CallSite:
    """The site of products of operands of those shapes and types, ``staged`` bytes in registers."""
    m, k, n = product_shape(a, a_dtype, b, b_dtype)
    params = {"acc_dtype": accumulator_dtype(a_dtype, acc_dtype)}
    dtype = promotion.dot_result(a_dtype) if out_dtype is None else arguments.dtype("out_dtype", out_dtype)
    in_bytes = arguments.nbytes(a, a_dtype) + arguments.nbytes(b, b_dtype)
    out_bytes = arguments.nbytes((m, n), dtype)
    plan = tile_plans.gemm(m, k, n, in_bytes, out_bytes, 0, a_dtype, precision, staged)
    return CallSite("gemm", "dot", (m, n), dtype, params, out_bytes, plan)


def accumulate(
    tl: Issuer, x: TensorHandle, y: TensorHandle, total: TensorHandle, precision: str = ""
) -> TensorHandle:
    """``total + x @ y`` in the place of ``total``, which the array reads and writes."""
    site = _site(x.shape, x.dtype, y.shape, y.dtype, None, total.dtype, precision)
    if total.shape != site.shape:
        raise BadArgumentError("acc", f"shape {total.shape} is not that of the product, {site.shape}")
    m, k, n = product_shape(x.shape, x.dtype, y.shape, y.dtype)
    inputs = (x.operand(), y.operand(), total.operand())
    in_bytes = x.nbytes + y.nbytes + total.nbytes
    op = tl._new("gemm", "dot_acc", inputs, (m, n), total.dtype, site.params, in_bytes + total.nbytes)
    staged = tl._staged(x, y)
    plan = tile_plans.gemm(m, k, n, in_bytes, total.nbytes, total.nbytes, x.dtype, precision, staged)
    tl._send(Gemm(op, plan))
    return tl._result(op, total._block)


def product_shape(
    a_shape: tuple[int, ...], a_dtype: str, b_shape: tuple[int, ...], b_dtype: str
) -> tuple[int, int, int]:
    """(M, K, N) of a product, or the argument that does not fit."""
    for argument, shape in (("a", a_shape), ("b", b_shape)):
        if len(shape) != 2:
            raise BadArgumentError(
                argument, f"shape {shape} is not a matrix; a product needs (M, K) @ (K, N)"
            )
    if a_shape[1] != b_shape[0]:
        raise BadArgumentError(
            "b", f"shape {b_shape} does not fit a of shape {a_shape}: K must be {a_shape[1]}"
        )
    if a_dtype != b_dtype:
        raise BadArgumentError("b", f"dtype {b_dtype} differs from a's {a_dtype}; cast one: b.to(a.dtype)")
    return a_shape[0], a_shape[1], b_shape[1]


def accumulator_dtype(a_dtype: str, acc_dtype: object) -> str:
    """The accumulator: f32, or i32 for integers, by default; floats cannot accumulate in integers."""
    if acc_dtype is None:
        return promotion.accumulator(a_dtype)
    name = arguments.dtype("acc_dtype", acc_dtype)
    floats = dtypes.dtype(a_dtype).is_float
    if name in ("i8", "u8") or (name == "i32" and floats):
        raise BadArgumentError("acc_dtype", f"{a_dtype} products cannot accumulate in {name}")
    return name
