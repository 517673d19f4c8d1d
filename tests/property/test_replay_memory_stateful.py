"""The memory store against a plain bytearray, with every array that it handed out kept and watched."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kernbench.engine.program.operations import Region
from kernbench.errors import VerificationError
from kernbench.values.memory_store import SimulatedMemory
from tests.examples import examples

SIZE = 96
BASE = (3 << 47) | (2 << 42) | (1 << 37) | 40

dtypes = st.sampled_from(
    [np.dtype(t) for t in (np.uint8, np.int8, np.float16, ml_dtypes.bfloat16, np.float32, np.int32)]
)
offsets = st.integers(0, SIZE - 1)


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    """A range ``(offset, nbytes)`` of the model, perhaps empty."""
    offset = draw(offsets)
    return offset, draw(st.integers(0, SIZE - offset))


@st.composite
def region_lists(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Ranges in any order, perhaps adjoining, never overlapping."""
    cuts = sorted(draw(st.sets(st.integers(0, SIZE), min_size=2, max_size=7)))
    pieces = [(a, b - a) for a, b in pairwise(cuts) if draw(st.booleans())]
    return draw(st.permutations(pieces))


@st.composite
def payloads(draw: st.DrawFn, nbytes: int) -> npt.NDArray[Any]:
    """An array of ``nbytes`` bytes: any dtype that divides them, some frozen, some not row-major."""
    dtype = draw(dtypes.filter(lambda d: nbytes % d.itemsize == 0))
    content = draw(st.binary(min_size=nbytes, max_size=nbytes))
    array = np.frombuffer(bytearray(content), dtype)
    form = draw(st.sampled_from(["plain", "bytes", "frozen", "read-only view", "strided", "transposed"]))
    if form == "bytes":
        return np.frombuffer(content, dtype)
    if form == "frozen":
        array = array.copy()
        array.flags.writeable = False
    elif form == "read-only view":
        array = array.copy()[:]
        array.flags.writeable = False
    elif form == "strided":
        array = np.repeat(array, 2)[::2]
    elif form == "transposed" and array.size % 2 == 0:
        return np.ascontiguousarray(array.reshape(2, -1).T).T
    return array


class MemoryMachine(RuleBasedStateMachine):
    """``bytes`` holds the contents, ``written`` and ``waiting`` one entry per byte."""

    @initialize(strict=st.booleans())
    def start(self, strict: bool) -> None:
        self.memory = SimulatedMemory(strict=strict)
        self.bytes = bytearray(SIZE)
        self.written = [False] * SIZE
        self.waiting: list[int | None] = [None] * SIZE
        self.handed_out: list[tuple[npt.NDArray[Any], bytes]] = []
        self.next_op = 0

    def _model_write(self, offset: int, content: bytes) -> None:
        end = offset + len(content)
        self.bytes[offset:end] = content
        self.written[offset:end] = [True] * len(content)
        self.waiting[offset:end] = [None] * len(content)

    def _spoil(self, array: npt.NDArray[Any]) -> None:
        """Change the writer's array, and what it is a view of, behind the store's back."""
        base: Any = array
        while isinstance(base, np.ndarray):
            if base.flags.writeable and base.flags.c_contiguous:
                base.reshape(-1).view(np.uint8)[...] ^= 0xFF
                return
            base = base.base

    @rule(data=st.data(), span=spans())
    def write(self, data: st.DataObject, span: tuple[int, int]) -> None:
        array = data.draw(payloads(span[1]))
        content = array.tobytes()
        self.memory.write(BASE + span[0], array)
        self._model_write(span[0], content)
        self._spoil(array)

    @rule(data=st.data(), pieces=region_lists())
    def scatter(self, data: st.DataObject, pieces: list[tuple[int, int]]) -> None:
        array = data.draw(payloads(sum(nbytes for _, nbytes in pieces)))
        content = array.tobytes()
        self.memory.scatter([Region(BASE + offset, nbytes) for offset, nbytes in pieces], array)
        for offset, nbytes in pieces:
            self._model_write(offset, content[:nbytes])
            content = content[nbytes:]
        self._spoil(array)

    @rule(data=st.data(), span=spans())
    def read(self, data: st.DataObject, span: tuple[int, int]) -> None:
        dtype = data.draw(dtypes)
        offset, count = span[0], span[1] // dtype.itemsize
        shape = (2, count // 2) if count % 2 == 0 and data.draw(st.booleans()) else (count,)
        self._expect(
            [(offset, count * dtype.itemsize)],
            lambda: self.memory.read(BASE + offset, shape, dtype),
            shape,
            dtype,
        )

    @rule(data=st.data(), pieces=region_lists())
    def gather(self, data: st.DataObject, pieces: list[tuple[int, int]]) -> None:
        nbytes = sum(size for _, size in pieces)
        dtype = data.draw(dtypes.filter(lambda d: nbytes % d.itemsize == 0))
        shape = (nbytes // dtype.itemsize,)
        regions = [Region(BASE + offset, size) for offset, size in pieces]
        self._expect(pieces, lambda: self.memory.gather(regions, shape, dtype), shape, dtype)

    def _expect(self, pieces: list[tuple[int, int]], call: Any, shape: tuple[int, ...], dtype: Any) -> None:
        touched = [i for offset, nbytes in pieces for i in range(offset, offset + nbytes)]
        if self.memory.strict and not all(self.written[i] for i in touched):
            with pytest.raises(VerificationError, match="never written"):
                call()
            return
        array = call()
        expected = bytes(self.bytes[i] if self.written[i] else 0 for i in touched)
        assert (array.shape, array.dtype) == (shape, dtype)
        assert array.tobytes() == expected
        assert array.flags.aligned
        assert not array.flags.writeable
        self.handed_out.append((array, expected))

    @rule(span=spans())
    def forget(self, span: tuple[int, int]) -> None:
        offset, nbytes = span
        self.memory.forget(Region(BASE + offset, nbytes))
        self.written[offset : offset + nbytes] = [False] * nbytes
        self.waiting[offset : offset + nbytes] = [None] * nbytes

    @rule(span=spans())
    def mark_pending(self, span: tuple[int, int]) -> None:
        offset, nbytes = span
        self.memory.mark_pending(Region(BASE + offset, nbytes), self.next_op)
        self.waiting[offset : offset + nbytes] = [self.next_op] * nbytes
        self.next_op += 1

    @rule(span=spans())
    def pending(self, span: tuple[int, int]) -> None:
        offset, nbytes = span
        ops = [op for op in self.waiting[offset : offset + nbytes] if op is not None]
        assert self.memory.pending(Region(BASE + offset, nbytes)) == max(ops, default=None)

    @invariant()
    def arrays_handed_out_never_change(self) -> None:
        for array, content in getattr(self, "handed_out", []):
            assert array.tobytes() == content


TestMemory = examples(100, stateful_step_count=30)(MemoryMachine).TestCase
