"""``tl`` calls for asynchronous tiled pipelines: composite and wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernbench.engine.program.commands import Completion, Composite, Wait
from kernbench.engine.program.operations import Operand
from kernbench.language import arguments, promotion
from kernbench.language.arguments import BadArgumentError
from kernbench.language.epilogue_args import EpilogueTarget, Source, parse
from kernbench.language.extents import check_result
from kernbench.language.handles import TensorHandle, TensorRef
from kernbench.language.issue import tl_call
from kernbench.language.pointer import Pointer
from kernbench.language.products import accumulator_dtype, product_shape
from kernbench.language.queue_calls import Future, QueueCalls, Received
from kernbench.operations import OPERATIONS
from kernbench.support.hints import shown

COMPOSITE_MATH = tuple(
    row.name
    for row in OPERATIONS.values()
    if row.kind in ("elementwise", "cast") and row.arity <= 2 and row.engine == row.name
)
"""Math that works tile by tile on one tensor: unary, or binary with a Python number."""


class CompositeCalls(QueueCalls):
    """composite, wait."""

    _title = "Composites"

    @tl_call
    def composite(
        self,
        op: str,
        a: object,
        b: object = None,
        out_ptr: int | None = None,
        epilogue: Sequence[dict[str, Any]] | None = None,
        acc_dtype: str | None = None,
        tile_shape: Sequence[int] | None = None,
        out_dtype: str | None = None,
    ) -> Completion:
        """Start ``DMA_READ - FETCH - GEMM|MATH - STORE - DMA_WRITE`` over tiles; returns at once.

        Args:
            op: ``"gemm"``, or an elementwise math operation of ``a``.
            a: Of shape (M, K): a reference or tensor argument, streamed from memory, or a handle, which is in
                TCM already.
            b: Of shape (K, N), as ``a``; for a math operation that takes two a number.
            out_ptr: Where the result goes.
            epilogue: What PE_MATH does to the result before it is stored, each step a dict such as
                ``{"op": "bias", "bias": row}`` or ``{"op": "tanh"}``: see "Epilogues of a composite".
            acc_dtype: Type of the sums, as in ``dot``.
            tile_shape: (M, K, N), for math (M, N); the hardware's tile by default.
            out_dtype: Type of the result; by default the tensor argument's, or at a plain address the type
                that ``tl.dot`` or the math operation gives.

        Returns:
            The completion: pass it to ``tl.wait`` before reading the output.
        """
        first = self._source("a", a)
        if op == "gemm":
            sources: tuple[Source, ...] = (first, self._source("b", b))
            shapes = [(source.shape, source.dtype) for source in sources]
            m, _, n = product_shape(*shapes[0], *shapes[1])
            shape: tuple[int, ...] = (m, n)
            params: dict[str, Any] = {"acc_dtype": accumulator_dtype(first.dtype, acc_dtype)}
            dtype = promotion.dot_result(first.dtype)
        else:
            sources = (first,)
            params, dtype = self._math_params(op, first, b, acc_dtype)
            shape = first.shape if len(first.shape) == 2 else (1, *first.shape)
        if out_dtype is None and isinstance(out_ptr, Pointer):
            out_dtype = out_ptr.dtype
        out_dtype = dtype if out_dtype is None else arguments.dtype("out_dtype", out_dtype)
        check_result("out_ptr", out_ptr, shape)
        target = self._memory("out_ptr", out_ptr, shape, out_dtype)
        tile = None if tile_shape is None else arguments.shape("tile_shape", tile_shape)
        if tile is not None and len(tile) != (3 if op == "gemm" else 2):
            expected = "(M, K, N)" if op == "gemm" else "(M, N)"
            raise BadArgumentError("tile_shape", f"{tile} must be {expected}")
        depth = first.shape[1] if op == "gemm" else None
        tiled = EpilogueTarget(shape, depth, tile[1] if tile is not None and op == "gemm" else None)
        return self._start(op, sources, epilogue, tiled, target, tile, params)

    @tl_call
    def wait(self, completion: Completion | Sequence[Completion] | None = None) -> Received | list[Received]:
        """Return when a composite, a receive, several of them, or (``None``) all that were started are done.

        Gives what a receive received (for several a list, with None for composites), else None.
        """
        if completion is None:
            completions = self._unfinished()
        elif isinstance(completion, Completion):
            completions = [completion]
        elif isinstance(completion, list | tuple):
            completions = list(completion)
        else:
            completions = [completion]  # type: ignore[list-item]
        for item in completions:
            if not isinstance(item, Completion):
                raise BadArgumentError(
                    "completion", f"{shown(item)} is not what tl.composite or tl.recv_async returns"
                )
        self._send(Wait(completions))
        self._waited_for(None if completion is None else completions)
        if isinstance(completion, Future):
            return completion.result
        if completion is None or not any(isinstance(item, Future) for item in completions):
            return None
        return [item.result if isinstance(item, Future) else None for item in completions]

    def _source(self, argument: str, value: object) -> Source:
        if isinstance(value, TensorRef):
            return value
        if isinstance(value, Pointer):
            return self._memory(argument, value, None, None)
        if isinstance(value, TensorHandle):
            return self._handle(argument, value)
        raise BadArgumentError(argument, f"{shown(value)} is neither a handle nor a tl.ref")

    def _math_params(self, op: object, a: Source, b: object, acc_dtype: object) -> tuple[dict[str, Any], str]:
        """Parameters and result type of a math composite."""
        if op not in COMPOSITE_MATH:
            raise BadArgumentError(
                "op", f"{shown(op)} is not known; use one of gemm, {', '.join(COMPOSITE_MATH)}"
            )
        rule = OPERATIONS[str(op)]
        if len(a.shape) not in (1, 2):
            raise BadArgumentError("a", f"shape {a.shape} must have one or two dimensions")
        if acc_dtype is not None:
            raise BadArgumentError("acc_dtype", f"is for gemm, {rule.name} does not accumulate")
        scalars: dict[int, int | float] = {}
        if rule.arity == 1 and b is not None:
            raise BadArgumentError("b", f"{rule.name} takes a alone")
        if rule.arity == 2:
            if not arguments.is_scalar(b):
                raise BadArgumentError("b", "must be a number; add a tensor with the residual epilogue")
            scalars[1] = arguments.scalar("b", b)
        dtype = promotion.math_result(rule, [a.dtype], list(scalars.values()))
        for number in scalars.values():
            arguments.held("b", number, dtype)
        return {"scalars": scalars}, dtype

    def _start(
        self,
        op_name: str,
        sources: tuple[Source, ...],
        epilogue: object,
        tiled: EpilogueTarget,
        target: TensorRef,
        tile: tuple[int, ...] | None,
        params: dict[str, Any],
    ) -> Completion:
        gemm, shape = tiled.is_gemm, tiled.shape
        held: list[Source] = list(sources)
        # One-dimensional math is (1, N) from here on.
        operands = [_operand(source, source.shape if gemm else shape) for source in sources]

        def use(source: Source, used_as: tuple[int, ...]) -> int:
            held.append(source)
            operands.append(_operand(source, used_as))
            return len(operands) - 1

        steps = parse(epilogue, tiled, self._source, use)
        out = Operand(shape, target.dtype, address=target.address)
        size = sum(operand.nbytes for operand in (*operands, out))
        kind, name = ("gemm", "composite_gemm") if gemm else ("math", f"composite_{op_name}")
        params = {**params, "tile": tile, "epilogue": steps}
        op = self._op(self._next_op_id(), kind, name, tuple(operands), out, params, size)
        completion = Completion(f"{name} (op {op.id})", op.id)
        # Operands stay in scratch until the pipeline has read them, whatever the kernel does with its names.
        completion.then(held.clear)
        self._send(Composite(op, completion))
        # Only what the PE has taken: one that it refuses never ends.
        self._outstanding = [*self._unfinished(), completion]
        if op.order is not None:
            self._unwaited.append((completion, op.order))
        return completion


def _operand(source: Source, shape: tuple[int, ...]) -> Operand:
    if isinstance(source, TensorHandle):
        return Operand(shape, source.dtype, handle=source.id)
    return Operand(shape, source.dtype, address=source.address)
