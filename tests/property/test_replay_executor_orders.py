"""Replay in any permitted order, and in any number of passes, equals running operations one by one."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import UsageError
from kernbench.support.dtypes import dtype as dtype_of
from kernbench.values.dataplane import DataPlane
from kernbench.values.dependencies import DATA_HAZARDS, DependencyBuilder
from kernbench.values.executor import Executor
from kernbench.values.memory_store import SimulatedMemory
from kernbench.values.semantics import compute
from tests.examples import examples

SPACE = 64
SHAPE = (2, 2)
TYPES = ("f32", "f16", "bf16", "i8")


@dataclass
class Naive:
    """One flat byte array and one dictionary: operations take effect one by one."""

    memory: np.ndarray = field(default_factory=lambda: np.zeros(SPACE, np.uint8))
    handles: dict[int, np.ndarray] = field(default_factory=dict)
    writer: dict[int, int] = field(default_factory=dict)
    pending_bytes: set[int] = field(default_factory=set)
    pending_handles: set[int] = field(default_factory=set)

    def read(self, regions) -> bytes:
        return b"".join(self.memory[r.addr : r.addr + r.nbytes].tobytes() for r in regions)

    def run(self, op: Op) -> None:
        inputs, pending = [], op.kind not in ("memory", "view")
        for operand in op.inputs:
            if operand.handle is None:
                raw = np.frombuffer(self.read(operand.regions), dtype_of(operand.dtype).numpy)
                inputs.append(raw.reshape(operand.shape))
                pending |= not self.pending_bytes.isdisjoint(bytes_of(operand.regions))
            else:
                inputs.append(self.handles[operand.handle])
                pending |= operand.handle in self.pending_handles
        value = np.array(compute(op, inputs))
        out = op.output
        if out.handle is not None:
            self.handles[out.handle] = value
            if pending:
                self.pending_handles.add(out.handle)
        raw = np.frombuffer(value.tobytes(), np.uint8)
        for region in out.regions:
            self.memory[region.addr : region.addr + region.nbytes], raw = (
                raw[: region.nbytes],
                raw[region.nbytes :],
            )
        where = bytes_of(out.regions)
        self.writer.update(dict.fromkeys(where, op.id))
        self.pending_bytes = self.pending_bytes | set(where) if pending else self.pending_bytes - set(where)


def bytes_of(regions) -> list[int]:
    return [b for r in regions for b in range(r.addr, r.addr + r.nbytes)]


@st.composite
def programs(draw, max_ops: int = 30) -> list[Op]:
    """Operations on 64 bytes: overlapping, split over two regions, overwritten, in place."""
    raw = np.arange(SPACE, dtype=np.int8)
    ops = [Op(0, "memory", "host_write", (), in_memory((SPACE,), "i8", [(0, SPACE)]), {"data": raw})]
    handles: list[Operand] = []

    def place(dtype: str) -> Operand:
        nbytes = 4 * dtype_of(dtype).itemsize
        if draw(st.booleans()):
            return in_memory(SHAPE, dtype, [(draw(st.integers(0, SPACE - nbytes)), nbytes)])
        half = nbytes // 2  # two runs that do not overlap, in any order
        first = draw(st.integers(0, SPACE // 2 - half))
        second = draw(st.integers(SPACE // 2, SPACE - half))
        return in_memory(SHAPE, dtype, [(a, half) for a in draw(st.permutations([first, second]))])

    def new(dtype: str) -> Operand:
        return Operand(SHAPE, dtype, handle=len(ops))  # the id of the operation that makes it

    for me in range(1, draw(st.integers(1, max_ops)) + 1):
        dtype = draw(st.sampled_from(TYPES))
        choices = ["load", "host_write", "composite"] + ["store", "dot", "dot", "add", "trans"] * bool(
            handles
        )
        what = draw(st.sampled_from(choices))
        pick = [draw(st.sampled_from(handles)) for _ in range(2)] if handles else []
        if what == "load":
            op = Op(me, "memory", "dma_read", (place(dtype),), new(dtype))
        elif what == "host_write":
            data = np.array([[1.5, -2], [me, 0.25]]).astype(dtype_of(dtype).numpy)
            op = Op(me, "memory", "host_write", (), place(dtype), {"data": data})
        elif what == "composite":
            op = Op(
                me, "gemm", "composite_gemm", (place(dtype), place(dtype)), place(dtype), {"tile": (2, 1, 2)}
            )
        elif what == "store":
            op = Op(me, "memory", "dma_write", (pick[0],), place(dtype))
        elif what == "trans":
            op = Op(me, "view", "trans", (pick[0],), new(pick[0].dtype))
        else:
            op = Op(me, *{"dot": ("gemm", "dot"), "add": ("math", "add")}[what], tuple(pick), new(dtype))
        if op.output.handle is not None:
            handles.append(op.output)
        ops.append(op)
    return ops


def in_memory(shape, dtype: str, runs) -> Operand:
    return Operand(shape, dtype, regions=tuple(Region(*run) for run in runs))


def contents(memory: SimulatedMemory) -> np.ndarray:
    return memory.read(0, (SPACE,), np.uint8)


@given(ops=programs(), seed=st.integers(0, 999), window=st.sampled_from([1, 3, 1000]), data=st.data())
@examples(250)
def test_waves_in_any_order_give_the_bits_of_one_by_one(ops, seed, window, data):
    shuffle = random.Random(seed)
    naive, builder = Naive(), DependencyBuilder()
    executor = Executor(
        SimulatedMemory(strict=True), window=window, order=lambda wave: shuffle.sample(wave, len(wave))
    )
    last_use = {i.handle: op.id for op in ops for i in (*op.inputs, op.output) if i.handle is not None}
    for op in ops:
        naive.run(op)
        executor.add(op, builder.add(op))
        for operand in (*op.inputs, op.output):
            if last_use.get(operand.handle) == op.id:
                executor.retire(operand.handle)
        if data.draw(st.integers(0, 9)) == 0:
            executor.run()
            assert np.array_equal(contents(executor.memory), naive.memory)
    executor.run()
    assert np.array_equal(contents(executor.memory), naive.memory)
    assert len(executor._queue) == 0
    assert len(executor._values) == 0


@given(ops=programs(), seed=st.integers(0, 999))
@examples(150)
def test_every_order_that_keeps_the_data_hazards_gives_the_same_memory(ops, seed):
    builder, naive, choose = DependencyBuilder(), Naive(), random.Random(seed)
    for op in ops:
        naive.run(op)
    waits = {op.id: {on for on, hazard in builder.add(op) if hazard in DATA_HAZARDS} for op in ops}
    reordered, done = Naive(), set()
    while len(done) < len(ops):
        op = choose.choice([op for op in ops if op.id not in done and waits[op.id] <= done])
        reordered.run(op)
        done.add(op.id)
    assert np.array_equal(reordered.memory, naive.memory)
    writers = {byte: builder.writer(byte) for byte in range(SPACE)}
    assert {byte: op for byte, op in writers.items() if op is not None} == naive.writer
    assert all(reordered.handles[h].tobytes() == value.tobytes() for h, value in naive.handles.items())


@given(ops=programs(20), data=st.data())
@examples(150)
def test_with_verification_a_host_read_sees_all_reported_operations(ops, data):
    plane, naive = DataPlane(verify=True), Naive()
    for op in ops:
        naive.run(op)
        plane.op_done(op)
        if data.draw(st.integers(0, 4)) == 0:
            at = data.draw(st.integers(0, SPACE - 4))
            seen = plane.read_host([Region(at, 4)], (4,), "i8")
            assert seen.tobytes() == naive.memory[at : at + 4].tobytes()
        if data.draw(st.integers(0, 9)) == 0:
            plane.sync()
            naive.pending_bytes.clear()
            assert np.array_equal(contents(plane.memory), naive.memory)
    plane.sync()
    assert np.array_equal(contents(plane.memory), naive.memory)
    for byte, op_id in naive.writer.items():
        assert plane.writer([Region(0, SPACE)], byte).id == op_id


@given(ops=programs())
@examples(150)
def test_a_timing_run_knows_exactly_what_was_only_moved(ops):
    plane, naive = DataPlane(), Naive()
    for op in ops:
        naive.run(op)
        plane.op_done(op)
        assert "data" not in op.params or op.kind != "memory"
        handle = op.output.handle
        if handle is not None:
            value = plane.value(handle)
            assert (value is None) == (handle in naive.pending_handles)
            assert value is None or value.tobytes() == naive.handles[handle].tobytes()
    for byte in range(SPACE):
        if byte in naive.pending_bytes:
            with pytest.raises(UsageError, match="--verify-data"):
                plane.read_host([Region(byte, 1)], (1,), "i8")
        else:
            assert plane.read_host([Region(byte, 1)], (1,), "i8").view(np.uint8)[0] == naive.memory[byte]
