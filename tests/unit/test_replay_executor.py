"""Waves, batched products, lifetimes of values, and failures of replay."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import KernBenchError, VerificationError
from kernbench.support.dtypes import dtype as dtype_of
from kernbench.values import executor as module
from kernbench.values.dependencies import DependencyBuilder
from kernbench.values.executor import Executor
from kernbench.values.memory_store import SimulatedMemory
from kernbench.values.semantics import compute


def mem(addr: int, shape: tuple[int, ...], dtype: str = "f32") -> Operand:
    nbytes = int(np.prod(shape)) * dtype_of(dtype).itemsize
    return Operand(shape, dtype, regions=(Region(addr, nbytes),))


def val(handle: int, shape: tuple[int, ...], dtype: str = "f32") -> Operand:
    return Operand(shape, dtype, handle=handle)


class Program:
    """Hands operations to an executor, with the dependencies that they have."""

    def __init__(self, **options) -> None:
        self.executor = Executor(SimulatedMemory(strict=True), **options)
        self.builder = DependencyBuilder()
        self.count = 10_000

    def add(self, kind: str, name: str, inputs=(), output=None, after=(), **params) -> Op:
        number = None if output is None else output.handle  # a handle has the number of its maker
        if number is None:
            number = self.count
            self.count += 1
        op = Op(number, kind, name, tuple(inputs), output, params, component="pe0", after=list(after))
        self.executor.add(op, self.builder.add(op))
        return op

    def write(self, addr: int, data: np.ndarray, dtype: str = "f32") -> Op:
        return self.add("memory", "host_write", (), mem(addr, data.shape, dtype), data=data)

    def load(self, handle: int, addr: int, shape, dtype: str = "f32") -> Operand:
        self.add("memory", "dma_read", [mem(addr, shape, dtype)], val(handle, shape, dtype))
        return val(handle, shape, dtype)

    def store(self, value: Operand, addr: int) -> Op:
        return self.add("memory", "dma_write", [value], mem(addr, value.shape, value.dtype))

    def dot(self, a: Operand, b: Operand, handle: int, dtype: str = "f32", **more) -> Operand:
        out = val(handle, (a.shape[0], b.shape[1]), dtype)
        self.add("gemm", "dot", [a, b], out, **more)
        return out

    def read(self, addr: int, shape, dtype: str = "f32") -> np.ndarray:
        return self.executor.memory.read(addr, shape, dtype_of(dtype).numpy)


@pytest.fixture
def stacks(monkeypatch) -> list[list[int]]:
    """The ids of every batch handed to ``stacked_dot``."""
    batches: list[list[int]] = []
    stacked = module.stacked_dot

    def spy(ops, inputs):
        batches.append([op.id for op in ops])
        return stacked(ops, inputs)

    monkeypatch.setattr(module, "stacked_dot", spy)
    return batches


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8"])
@pytest.mark.parametrize("shape", [(1, 300, 1), (1, 65, 33), (33, 65, 1), (7, 129, 5), (32, 64, 32)])
def test_batched_products_have_the_bits_of_single_ones(dtype, shape, stacks):
    m, k, n = shape
    rng, program, expected = np.random.default_rng(1), Program(), {}
    for i in range(6):
        a, b = (rng.standard_normal(s) * 40 for s in ((m, k), (n, k)))
        arrays = [x.astype(dtype_of(dtype).numpy) for x in (a, b)]
        program.write(100_000 * i, arrays[0], dtype)
        program.write(100_000 * i + 50_000, arrays[1], dtype)
        left = program.load(10 * i, 100_000 * i, (m, k), dtype)
        right = program.load(10 * i + 1, 100_000 * i + 50_000, (n, k), dtype)
        turned = val(10 * i + 2, (k, n), dtype)
        program.add("view", "trans", [right], turned)
        result = program.dot(left, turned, 10 * i + 3)
        program.store(result, 10_000_000 + 10_000 * i)
        dot = Op(0, "gemm", "dot", (left, turned), result)
        expected[10_000_000 + 10_000 * i] = compute(dot, [arrays[0], arrays[1].T])
    program.executor.run()
    assert [len(batch) for batch in stacks] == [6]
    for addr, value in expected.items():
        assert program.read(addr, (m, n)).tobytes() == value.tobytes()


def test_only_independent_products_of_one_shape_type_and_accumulator_are_stacked(stacks):
    program, eye = Program(), np.eye(2, dtype=np.float32)
    program.write(0, eye)
    program.write(64, np.ones((2, 3), np.float32))
    square, wide = program.load(1, 0, (2, 2)), program.load(2, 64, (2, 3))
    first = program.dot(square, square, 3)
    program.dot(square, square, 4, after=[(3, "issue"), (3, "slot"), (3, "stage")])  # same wave all the same
    program.dot(square, wide, 5)  # another shape
    program.dot(square, square, 6, dtype="f16")  # another type
    program.dot(square, square, 7, acc_dtype="f16")  # another accumulator
    program.dot(first, square, 8)  # after op 3
    program.dot(first, first, 9)  # after op 3
    program.executor.run()
    assert stacks == [[3, 4], [8, 9]]


def test_a_batch_is_bounded_in_bytes(stacks, monkeypatch):
    monkeypatch.setattr(module, "STACK_BYTES", 2 * 32 + 1)
    program = Program()
    program.write(0, np.eye(2, dtype=np.float32))
    a = program.load(1, 0, (2, 2))
    for handle in range(2, 7):
        program.dot(a, a, handle)
    program.executor.run()
    assert stacks == [[2, 3], [4, 5]]  # and the fifth alone


def test_a_window_bounds_what_is_computed_together(stacks):
    program = Program(window=4)
    program.write(0, np.eye(2, dtype=np.float32))
    a = program.load(1, 0, (2, 2))
    for handle in range(2, 8):
        program.dot(a, a, handle)
    program.executor.run()
    assert stacks == [[2, 3], [4, 5, 6, 7]]


def test_a_kept_value_does_not_keep_its_batch():
    program = Program()
    program.write(0, np.eye(2, dtype=np.float32))
    a = program.load(1, 0, (2, 2))
    for handle in (2, 3):
        program.dot(a, a, handle)
    program.executor.run()
    assert program.executor._values[2].base is None


@pytest.mark.parametrize("turn", [lambda wave: wave, lambda wave: wave[::-1]])
def test_a_slot_that_is_used_again_is_read_before_it_is_overwritten(turn):
    program = Program(order=turn)
    for message in range(4):  # one slot, one consumer after the other
        program.write(0, np.full(4, message, np.float32))
        program.store(program.load(message, 0, (4,)), 100 + 16 * message)
    program.executor.run()
    assert program.read(100, (4, 4)).tolist() == [[float(m)] * 4 for m in range(4)]


def test_a_value_that_was_read_does_not_change_when_its_memory_does():
    program = Program()
    program.write(0, np.zeros(4, np.float32))
    old = program.load(1, 0, (4,))
    program.write(4, np.ones(2, np.float32))
    program.executor.run()
    program.store(old, 32)
    program.executor.run()
    assert program.read(32, (4,)).tolist() == [0, 0, 0, 0]
    assert program.read(0, (4,)).tolist() == [0, 1, 1, 0]


def test_a_frozen_array_is_safe_from_all_its_views():
    base = np.zeros(6)
    view = module.freeze(base.reshape(2, 3)[1:])
    assert not view.flags.writeable
    assert not base.flags.writeable


def test_values_go_after_their_last_use_once_retired():
    program = Program()
    executor = program.executor
    program.write(0, np.eye(2, dtype=np.float32))
    a = program.load(1, 0, (2, 2))
    b = program.dot(a, a, 2)
    program.dot(a, a, 3)
    executor.retire(1)  # queued uses remain
    executor.retire(3)  # not made yet, never used
    executor.run()
    assert len(executor._values) == 1
    program.store(b, 64)
    executor.run()
    assert program.read(64, (2, 2)).tolist() == [[1, 0], [0, 1]]
    executor.retire(2)  # made, no queued use
    assert len(executor._values) == 0


def test_a_value_that_was_released_too_early_is_an_error_that_names_both():
    program = Program()
    program.write(0, np.zeros(4, np.float32))
    a = program.load(1, 0, (4,))
    program.executor.run()
    program.executor.retire(1)
    program.store(a, 32)
    with pytest.raises(
        KernBenchError, match=r"^memory/dma_write \(op 10001\) on pe0 at 0 ns: handle 1 was released"
    ):
        program.executor.run()


def test_a_failure_names_the_operation_and_stays():
    program = Program()
    program.load(1, 4096, (4,))
    with pytest.raises(VerificationError, match=r"^memory/dma_read \(op 1\) on pe0 .*never written"):
        program.executor.run()
    program.write(0, np.zeros(4, np.float32))
    with pytest.raises(VerificationError, match="never written"):
        program.executor.run()


def test_an_error_of_numpy_becomes_one_that_names_the_operation():
    program = Program()
    program.write(0, np.zeros((2, 3), np.float32))
    a = program.load(1, 0, (2, 3))
    program.add("gemm", "dot", [a, a], val(2, (2, 3)))
    with pytest.raises(KernBenchError, match=r"^gemm/dot \(op 2\) on pe0 at 0 ns has no value"):
        program.executor.run()


def test_tiles_have_no_value_and_host_data_are_not_kept():
    program = Program()
    write = program.write(0, np.zeros(4, np.float32))
    program.executor.add(Op(9, "tile", "GEMM"), [])
    assert len(program.executor._queue) == 1
    program.executor.run()
    assert write.params == {}


def test_a_long_queue_is_run_before_anyone_asks() -> None:
    program = Program(queue=8)
    for step in range(50):
        value = np.full((4, 4), step, np.float32)
        program.write(0x1000 * step, value)
        program.store(program.load(step, 0x1000 * step, (4, 4)), 0x100_0000 + 0x1000 * step)
        program.executor.retire(step)
        assert len(program.executor._queue) <= 8
    program.executor.run()
    assert len(program.executor._values) == 0
    for step in range(50):
        assert (program.read(0x100_0000 + 0x1000 * step, (4, 4)) == step).all()


def test_a_failure_in_a_long_queue_is_raised_by_the_next_run_and_every_later_one() -> None:
    program = Program(queue=4)
    program.load(0, 0x1000, (4, 4))  # never written
    for step in range(1, 20):
        program.write(0x1000 * step + 0x10_0000, np.zeros((4, 4), np.float32))
    assert len(program.executor._queue) <= 4
    for _ in range(2):
        with pytest.raises(VerificationError, match="never written"):
            program.executor.run()
