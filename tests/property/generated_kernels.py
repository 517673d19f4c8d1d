"""Kernels made from lists of small numbers, and arrays for them: the same kernel for every way to run it.

Each gene is one step of a kernel; what it can do depends on shapes and types alone, so every run of a
kernel takes the same steps. ``x`` and ``w`` are only read, anywhere; ``y`` and ``out`` are read and written
where the program's own rows are, and composites are waited for before anything touches what they write. So
a kernel has one right answer on any number of PEs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kernbench.support.dtypes import DTYPES, INDICES

ROWS, COLS = 6, 10
"""Shape of the rows that one program owns."""
Array = np.ndarray[Any, Any]
Gene = tuple[str, int, int]

FEW = (
    "exp", "log", "sqrt", "abs", "sigmoid", "cos", "sin", "neg",
    "exp2", "log2", "rsqrt", "tanh", "erf", "floor", "ceil", "logical_not",
)  # fmt: skip
TWO = ("add", "sub", "mul", "div", "maximum", "minimum", "floordiv", "mod", "pow")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
STEPS = (
    "compare", "bits", "cast", "reshape", "piece", "broadcast", "index", "masked_load", "masked_store",
    "strided", "block", "strided_store",
    "load", "slice", "view", "other", "unary", "binary", "number", "three", "where", "clamp", "along",
    "softmax", "dot", "trans", "made", "store", "part", "gemm", "math", "branch", "wait", "cycles",
)  # fmt: skip
EPILOGUES: tuple[dict[str, Any], ...] = (
    {"op": "bias", "bias": "row"},
    {"op": "relu"},
    {"op": "gelu"},
    {"op": "silu"},
    {"op": "scale", "factor": -0.5},
    {"op": "dequant", "scale": "row", "zero_point": 1},
    {"op": "dequant", "scale": 0.25},
    {"op": "residual", "residual": "full"},
    {"op": "tanh"},
    {"op": "maximum", "value": 2},
    {"op": "mul", "value": "row"},
    {"op": "sub", "value": "full"},
)
SCOPES = ("k_tile", "output_tile", "kernel")

genes = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=14
)
types = st.tuples(*[st.sampled_from(sorted({*DTYPES} - {"u8", "i1", *INDICES}))] * 4)
"""Of x, w, y and out; without u8, which does not hold the negative constants of steps."""


def arrays(types: Sequence[str], programs: int, seed: int) -> dict[str, Array]:
    """Random ``x``, ``w``, ``y``, ``out`` of these types, with the rows of so many programs."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, dtype in zip(("x", "w", "y", "out"), types, strict=True):
        shape = (COLS, COLS) if name == "w" else (programs * ROWS, COLS)
        wide = 3 * rng.standard_normal(shape) if DTYPES[dtype].is_float else rng.integers(-99, 99, shape)
        made[name] = wide.astype(DTYPES[dtype].numpy)
    return made


def kernel_of(steps: Sequence[Gene]) -> Any:
    """The kernel ``(x, w, y, out, tl)`` that takes ``steps``."""

    def kernel(x: Any, w: Any, y: Any, out: Any, tl: Any) -> None:
        Program(x, w, y, out, tl).run(steps)

    return kernel


class Program:
    """One run of a generated kernel."""

    def __init__(self, x: Any, w: Any, y: Any, out: Any, tl: Any) -> None:
        self.tl, self.x, self.w, self.y, self.out = tl, x, w, y, out
        self.me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
        self.programs = tl.num_programs(1) * tl.num_programs(0)
        self.open: list[Any] = []
        self.values = [self.load(x), self.load(y), tl.load(w)]

    def run(self, steps: Sequence[Gene]) -> None:
        for step, i, j in steps:
            made = getattr(self, f"_{step}")(i, j)
            if made is not None:
                self.values = [*self.values[-4:], made]
        last = self.values[-1]
        if last.shape[-2:] == (ROWS, COLS):
            self._store(len(self.values) - 1, 0)

    def at(self, tensor: Any, program: int | None = None) -> int:
        """Address of a program's rows."""
        size = ROWS * COLS * DTYPES[tensor.dtype].itemsize
        return int(tensor) + (self.me if program is None else program) * size

    def load(self, tensor: Any, program: int | None = None) -> Any:
        if tensor is not self.x:
            self._wait(0, 0)
        return self.tl.load(self.at(tensor, program), (ROWS, COLS), tensor.dtype)

    def pick(self, i: int) -> Any:
        return self.values[i % len(self.values)]

    def fitting(self, i: int, shape: tuple[int, ...]) -> list[Any]:
        """Values that broadcast with ``shape``, those at ``i`` first."""
        found = []
        for value in [*self.values[i % len(self.values) :], *self.values]:
            try:
                np.broadcast_shapes(value.shape, shape)
            except ValueError:
                continue
            found.append(value)
        return found

    # -- steps: a value, or None ------------------------------------------------------------------------

    def _load(self, i: int, j: int) -> Any:
        return self.load((self.x, self.y, self.out)[i % 3])

    def _other(self, i: int, j: int) -> Any:
        return self.load(self.x, i % self.programs)

    def _slice(self, i: int, j: int) -> Any:
        """Some elements from any place in x or y, aligned to elements."""
        tensor = (self.x, self.y)[j % 2]
        if tensor is self.y:
            self._wait(0, 0)
        first = i % (ROWS * COLS)
        count = 1 + j % (ROWS * COLS - first)
        shape = (count,) if j % 3 else (count, 1)
        return self.tl.load(self.at(tensor) + first * DTYPES[tensor.dtype].itemsize, shape, tensor.dtype)

    def _view(self, i: int, j: int) -> Any:
        """The bytes of x as integers, from an odd address."""
        return self.tl.load(self.at(self.x) + i % 7, (1 + j % 9, 5), "i8")

    def _unary(self, i: int, j: int) -> Any:
        return getattr(self.tl, FEW[j % len(FEW)])(self.pick(i))

    def _binary(self, i: int, j: int) -> Any:
        a = self.pick(i)
        return self._of_two(TWO[j % len(TWO)], a, self.fitting(j, a.shape)[0])

    def _number(self, i: int, j: int) -> Any:
        number, name = (3, -2, 0.75, 1.0)[j % 4], TWO[j % len(TWO)]
        pair = (self.pick(i), number) if i % 2 else (number, self.pick(i))
        return self._of_two(name, *pair)

    def _of_two(self, name: str, a: Any, b: Any) -> Any:
        """One of ``TWO``; a zero does not divide, since an integer divided by 0 is an error."""
        if name in ("floordiv", "mod") and not isinstance(b, int | float):
            b = self.tl.where(b == 0, 1, b)
        return getattr(self.tl, name)(a, b)

    def _compare(self, i: int, j: int) -> Any:
        a = self.pick(i)
        other = self.fitting(j, a.shape)[0] if i % 2 else (3, -2, 1)[j % 3]
        return getattr(self.tl, COMPARISONS[j % len(COMPARISONS)])(a, other)

    def _bits(self, i: int, j: int) -> Any:
        a = self.pick(i)
        positive, small = a > 0, a < 40
        return (positive & small, positive | ~small, positive ^ 1)[j % 3]

    def _cast(self, i: int, j: int) -> Any:
        return self.pick(i).to(sorted(DTYPES)[j % len(DTYPES)])

    def _reshape(self, i: int, j: int) -> Any:
        value = self.pick(i)
        return self.tl.reshape(value, (-1,) if j % 2 else (1, *value.shape[::-1])) if value.ndim < 3 else None

    def _piece(self, i: int, j: int) -> Any:
        value = self.pick(i)
        keys = [np.s_[..., : 1 + j % value.shape[-1]], np.s_[:: 1 + j % 3], np.s_[-1:]]
        if value.ndim < 3:
            keys.append(np.s_[None])
        return value[keys[i % len(keys)]]

    def _broadcast(self, i: int, j: int) -> Any:
        value = self.pick(i)
        shape = (2, *value.shape) if value.ndim < 3 else value.shape
        return self.tl.broadcast_to(value, shape)

    def _index(self, i: int, j: int) -> Any:
        value = self.pick(i)
        axis = j % value.ndim
        if i % 3 == 0:
            return self.tl.cumsum(value, axis=axis)
        return (self.tl.argmax, self.tl.argmin)[i % 2](value, axis=axis, keep_dims=bool(j % 2))

    def mask(self, i: int, j: int) -> Any:
        """A mask for rows: known from index arithmetic, or of computed values."""
        columns = self.tl.arange(0, COLS)[None, :] < j % (COLS + 1)
        rows = self.tl.arange(0, ROWS)[:, None] >= i % ROWS
        if j % 3 == 0:
            return columns & rows
        if j % 3 == 1:
            return columns
        return self.load(self.x) * 2 > 1

    def _masked_load(self, i: int, j: int) -> Any:
        tensor = (self.x, self.y)[i % 2]
        if tensor is self.y:
            self._wait(0, 0)
        other = (0, 7, -3)[j % 3]
        return self.tl.load(self.at(tensor), (ROWS, COLS), tensor.dtype, mask=self.mask(i, j), other=other)

    def _masked_store(self, i: int, j: int) -> None:
        value = self.pick(i)
        if value.shape == (ROWS, COLS):
            self._wait(0, 0)
            target = (self.out, self.y)[j % 2]
            self.tl.store(self.at(target), value, mask=self.mask(i, j), dtype=target.dtype)

    def _strided(self, i: int, j: int) -> Any:
        """Every other row or column of x, or x transposed."""
        shape, strides = (
            ((ROWS // 2, COLS), (2 * COLS, 1)),
            ((ROWS, COLS // 2), (COLS, 2)),
            ((COLS, ROWS), (1, COLS)),
        )[j % 3]
        return self.tl.load(self.at(self.x), shape, self.x.dtype, strides=strides)

    def _strided_store(self, i: int, j: int) -> None:
        value = self.pick(i)
        if value.shape == (COLS, ROWS):
            self._wait(0, 0)
            self.tl.store(self.at(self.y), value, strides=(1, COLS), dtype=self.y.dtype)

    def _block(self, i: int, j: int) -> Any:
        """A block that leaves the rows on all sides."""
        source = self.tl.make_block_ptr(
            self.at(self.x), (ROWS, COLS), (COLS, 1), (i % 9 - 2, 0), (4, 8), dtype=self.x.dtype
        )
        source = self.tl.advance(source, (0, j % 14 - 3))
        return self.tl.load(source, boundary_check=(0, 1), other=(0, 5)[j % 2])

    def _three(self, i: int, j: int) -> Any:
        a = self.pick(i)
        return self.tl.fma(a, (2, 0.5)[j % 2], self.fitting(j, a.shape)[0])

    def _where(self, i: int, j: int) -> Any:
        a = self.pick(i)
        return self.tl.where(a, (self.fitting(j, a.shape)[0], -7)[j % 2], 1)

    def _clamp(self, i: int, j: int) -> Any:
        return self.tl.clamp(self.pick(i), *((-1, 1), (-0.5, 60))[j % 2])

    def _along(self, i: int, j: int) -> Any:
        value = self.pick(i)
        return getattr(self.tl, ("sum", "max", "min")[j % 3])(value, j % value.ndim)

    def _softmax(self, i: int, j: int) -> Any:
        value = self.pick(i)
        return self.tl.softmax(value, axis=j % value.ndim)

    def _dot(self, i: int, j: int) -> Any:
        a = self.pick(i)
        for b in [*self.values[j % len(self.values) :], *self.values]:
            if a.ndim == b.ndim == 2 and a.dtype == b.dtype and a.dtype not in INDICES:
                if a.shape[1] == b.shape[0]:
                    return self.tl.dot(
                        a, b, acc_dtype=(None, "f32", "f16")[j % 3] if a.dtype[0] != "i" else None
                    )
                if a.shape[1] == b.shape[1]:
                    return self.tl.dot(a, self.tl.trans(b))
        return None

    def _trans(self, i: int, j: int) -> Any:
        value = self.pick(i)
        return self.tl.trans(value) if value.ndim >= 2 else None

    def _made(self, i: int, j: int) -> Any:
        dtype = sorted(DTYPES)[i % 5]
        if j % 3 == 0:
            return self.tl.arange(i % 9, i % 9 + COLS, dtype)
        return self.tl.full((ROWS, 1), 2, dtype) if j % 3 == 1 else self.tl.zeros((COLS,), dtype)

    def _store(self, i: int, j: int) -> None:
        value = self.pick(i)
        if value.shape == (ROWS, COLS):
            self._wait(0, 0)
            target = (self.out, self.y)[j % 2]
            self.tl.store(self.at(target), value, dtype=target.dtype)

    def _part(self, i: int, j: int) -> None:
        """Store a value of any shape where it fits, byte by byte wherever that is."""
        value = self.pick(i)
        room = ROWS * COLS * DTYPES[self.y.dtype].itemsize - value.nbytes
        if room >= 0:
            self._wait(0, 0)
            self.tl.store(self.at(self.y) + j % (room + 1), value)

    def _gemm(self, i: int, j: int) -> None:
        a = self.pick(i)
        streamed = self.tl.ref(self.at(self.x, j % self.programs), (ROWS, COLS), self.x.dtype)
        first = a if (a.shape, a.dtype) == ((ROWS, COLS), self.w.dtype) else streamed
        if first.dtype == self.w.dtype:
            tile = (None, (4, 3, 7), (1, 64, 1))[i % 3]
            self._composite("gemm", first, self.w, i, j, tile)

    def _math(self, i: int, j: int) -> None:
        a = self.pick(i)
        first = a if a.shape == (ROWS, COLS) else self.tl.ref(self.at(self.x), (ROWS, COLS), self.x.dtype)
        name = (*FEW, *TWO)[j % (len(FEW) + len(TWO))]
        tile = (None, (4, 7))[i % 2]
        self._composite(name, first, (2, -0.5)[i % 2] if name in TWO else None, i, j, tile)

    def _composite(self, op: str, a: Any, b: Any, i: int, j: int, tile: Any) -> None:
        self._wait(0, 0)
        steps = []
        for n in range(j % 3):
            entry = dict(EPILOGUES[(i + 3 * n + j) % len(EPILOGUES)])
            entry["scope"] = SCOPES[(i + n) % 3] if op == "gemm" else SCOPES[1 + (i + n) % 2]
            for key, kind in entry.items():
                if kind == "row":
                    entry[key] = self.tl.ref(int(self.w), (COLS,), self.w.dtype)
                elif kind == "full":
                    entry[key] = self.tl.ref(self.at(self.x), (ROWS, COLS), self.x.dtype)
            steps.append(entry)
        target = (self.out, self.y)[j % 2]
        done = self.tl.composite(
            op, a, b, self.at(target), epilogue=steps, tile_shape=tile, out_dtype=target.dtype
        )
        self.open.append(done)

    def _branch(self, i: int, j: int) -> Any:
        """Loaded values that were never computed may be inspected."""
        row = self.tl.load(self.at(self.x, j % self.programs), (COLS,), self.x.dtype)
        return row * 2 if float(row[i % COLS]) > 0 else None

    def _wait(self, i: int, j: int) -> None:
        while self.open:
            self.tl.wait(self.open.pop())

    def _cycles(self, i: int, j: int) -> None:
        self.tl.cycles(i)
