"""Pass 1 (concrete and pending), host reads, replay on demand, lifetimes."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import KernBenchError, UsageError, VerificationError
from kernbench.support.dtypes import dtype as dtype_of
from kernbench.values import dataplane as module
from kernbench.values.dataplane import DataPlane


def at(addr: int, count: int = 4, dtype: str = "f32") -> Operand:
    return Operand((count,), dtype, regions=(Region(addr, count * dtype_of(dtype).itemsize),))


def val(handle: int, count: int = 4, dtype: str = "f32") -> Operand:
    return Operand((count,), dtype, handle=handle)


class Run:
    """Reports operations of launch 1 to a data plane."""

    def __init__(self, verify: bool) -> None:
        self.plane = DataPlane(verify=verify)
        self.ids = iter(range(1000))

    def op(self, kind: str, name: str, inputs=(), output=None, launch: int = 1, **params) -> Op:
        op = Op(
            next(self.ids), kind, name, tuple(inputs), output, params, component="pe0", launch=launch, t_end=5
        )
        self.plane.op_done(op)
        return op

    def write(self, addr: int, *values: float) -> Op:
        data = np.array(values, np.float32)
        return self.op("memory", "host_write", (), at(addr, len(values)), launch=-1, data=data)

    def load(self, handle: int, addr: int) -> Operand:
        self.op("memory", "dma_read", [at(addr)], val(handle))
        return val(handle)

    def store(self, value: Operand, addr: int) -> Op:
        return self.op("memory", "dma_write", [value], at(addr))

    def double(self, value: Operand, handle: int) -> Operand:
        self.op("math", "add", [value, value], val(handle))
        return val(handle)

    def read(self, addr: int, count: int = 4) -> list[float]:
        return self.plane.read_host(at(addr, count).regions, (count,), "f32", "tensor 'y'").tolist()


@pytest.fixture(params=[False, True], ids=["timing", "verify"])
def run(request) -> Run:
    return Run(request.param)


def test_moved_data_are_concrete_in_pass_1(run):
    run.write(0, 1, 2, 3, 4)
    a = run.load(1, 0)
    run.store(a, 64)
    run.load(2, 64)
    assert run.plane.value(1).tolist() == run.plane.value(2).tolist() == [1, 2, 3, 4]
    assert run.read(64) == [1, 2, 3, 4]


def test_made_up_data_are_concrete_too(run):
    run.op("view", "full", (), val(1), value=2.5)
    run.store(val(1), 0)
    assert run.plane.value(1).tolist() == run.read(0) == [2.5] * 4
    assert not run.plane.value(1).flags.writeable


def test_computed_data_are_pending_and_so_is_what_they_touch(run):
    run.write(0, 1, 2, 3, 4, 5, 6, 7, 8)
    run.double(run.load(1, 0), 2)
    run.store(val(2), 8)
    run.load(3, 16)  # half of it is pending
    run.store(val(3), 64)
    run.op("view", "trans", [Operand((2, 2), "f32", handle=3)], Operand((2, 2), "f32", handle=4))
    run.load(5, 64)
    assert [run.plane.value(h) for h in (2, 3, 4, 5)] == [None] * 4
    assert run.plane.memory.pending(Region(0, 8)) is None
    assert run.plane.memory.pending(Region(8, 1)) is not None


def test_concrete_data_over_pending_data_make_them_concrete(run):
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 0)
    run.write(0, 9, 9)
    assert run.read(0, 2) == [9, 9]
    run.write(8, 7, 7)
    run.load(3, 0)
    assert run.plane.value(3).tolist() == run.read(0) == [9, 9, 7, 7]


def test_a_loaded_value_is_that_of_its_time_and_cannot_be_changed(run):
    run.write(0, 1, 2, 3, 4)
    run.load(1, 0)
    run.write(4, 0, 0)
    value = run.plane.value(1)
    assert value.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 5


def test_a_timing_run_refuses_to_read_a_result_and_says_what_to_do():
    run = Run(verify=False)
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 0)
    run.plane.sync()
    with pytest.raises(
        UsageError, match=r"^tensor 'y' holds a result of memory/dma_write \(op 3\) on pe0 at 5 ns"
    ):
        run.read(12, 1)
    with pytest.raises(UsageError, match="--verify-data"):
        run.read(12, 1)


def test_a_timing_run_never_computes_a_result(monkeypatch):
    def only_moves(op, inputs):
        assert op.kind in ("memory", "view")
        return compute(op, inputs)

    compute = module.compute
    monkeypatch.setattr(module, "compute", only_moves)
    run = Run(verify=False)
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 0)
    run.op("gemm", "composite_gemm", [at(0), at(0)], at(0))
    assert run.plane._pending == {}  # nothing waits for a replay that will not come
    run.plane.sync()
    assert run.plane.memory.pending(Region(0, 16)) == 4


def test_replay_sees_values_of_their_time_not_what_came_later():
    run = Run(verify=True)
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 0)  # pending 2 4 6 8
    early = run.load(3, 0)
    run.write(0, 5, 5, 5, 5)  # a later write, concrete at once in pass 1
    run.store(run.double(early, 4), 64)
    assert run.read(64) == [4, 8, 12, 16]
    assert run.read(0) == [5, 5, 5, 5]


def test_replay_goes_on_where_it_stopped_and_handles_stay_pending():
    run = Run(verify=True)
    run.write(0, 1, 2, 3, 4)
    b = run.double(run.load(1, 0), 2)
    run.store(b, 64)
    assert run.read(64) == [2, 4, 6, 8]
    assert run.plane.value(2) is None
    assert run.plane._pending == {}
    run.store(run.double(b, 3), 128)
    assert run.plane.memory.pending(Region(64, 16)) is None
    assert run.plane.memory.pending(Region(128, 16)) is not None
    assert run.read(128) == [4, 8, 12, 16]
    run.load(4, 128)
    assert run.plane.value(4).tolist() == [4, 8, 12, 16]


def test_moving_bytes_that_nobody_wrote_is_an_error_with_verification_only():
    with pytest.raises(VerificationError, match=r"^memory/dma_read \(op 0\) on pe0 at 5 ns: .*never written"):
        Run(verify=True).load(1, 0)
    timing = Run(verify=False)
    timing.load(1, 0)
    assert timing.plane.value(1).tolist() == [0, 0, 0, 0]


def test_what_the_host_wrote_is_taken_at_once(run):
    data = np.array([1, 2, 3, 4], np.float32)
    view = data.view()
    view.flags.writeable = False  # which says nothing about its base
    run.op("memory", "host_write", (), at(0), launch=-1, data=view)
    data[:] = 0
    run.store(run.load(1, 0), 64)
    run.plane.sync()
    assert run.read(64) == run.read(0) == [1, 2, 3, 4]
    if run.plane.verify:
        assert run.plane._replay.memory.read(64, (4,), np.float32).tolist() == [1, 2, 3, 4]


def test_written_data_live_in_memory_and_nowhere_else(run):
    data = np.arange(4, dtype=np.float32)
    data.flags.writeable = False
    write = run.op("memory", "host_write", (), at(0), launch=-1, data=data)
    run.plane.sync()
    assert "data" not in write.params
    gone = weakref.ref(data)
    run.plane.forget(at(0).regions)
    del data
    gc.collect()
    assert gone() is None


def test_values_go_with_their_launch(run):
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 64)
    run.op("memory", "dma_read", [at(0)], val(7), launch=2)
    run.plane.launch_ended(1)
    assert len(run.plane._launch_of) == 1
    assert run.plane.value(1) is None
    assert run.plane.value(7) is not None
    if run.plane.verify:
        assert run.read(64) == [2, 4, 6, 8]
        assert len(run.plane._replay._values) == 1
    run.plane.launch_ended(2)
    run.plane.launch_ended(2)
    assert len(run.plane._launch_of) == 0
    if run.plane.verify:
        assert len(run.plane._replay._values) == 0


def test_a_handle_can_be_released_early_and_twice(run):
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 64)
    for _ in range(2):
        run.plane.release(1)
    assert run.plane.value(1) is None
    assert len(run.plane._launch_of) == run.plane.verify  # the computed one
    run.plane.launch_ended(1)
    if run.plane.verify:
        assert run.read(64) == [2, 4, 6, 8]


def test_an_operation_that_is_reported_after_its_launch_ended_is_not_guessed_at(run):
    run.write(0, 1, 2, 3, 4)
    a = run.load(1, 0)
    run.plane.launch_ended(1)
    run.plane.sync()
    run.store(a, 64)
    with pytest.raises(KernBenchError, match=r"released|--verify-data"):
        run.read(64)


def test_freed_memory_is_unwritten_but_what_was_read_from_it_stands():
    run = Run(verify=True)
    run.write(0, 1, 2, 3, 4)
    run.store(run.double(run.load(1, 0), 2), 0)
    run.store(run.load(3, 0), 64)
    run.plane.forget(at(0).regions)
    assert run.read(64) == [2, 4, 6, 8]
    with pytest.raises(VerificationError, match="never written"):
        run.read(0)
    run.plane.sync()
    run.write(0, 5, 5, 5, 5)
    run.store(run.load(4, 0), 64)
    assert run.read(64) == [5, 5, 5, 5]


def test_what_was_reported_before_memory_was_freed_still_sees_its_bytes():
    run = Run(verify=True)
    run.write(0, 1, 2, 3, 4)
    run.plane.sync()
    run.op("math", "add", [at(0), at(0)], at(64))
    run.plane.forget(at(0).regions)
    assert run.read(64) == [2, 4, 6, 8]


def test_an_error_of_replay_shows_at_the_next_read_though_memory_was_freed_before():
    run = Run(verify=True)
    run.op("math", "add", [at(0), at(0)], at(64))
    run.plane.forget(at(256).regions)
    with pytest.raises(VerificationError, match=r"math/add \(op 0\)"):
        run.plane.sync()


def test_the_last_writer_of_an_element_is_known(run):
    first = run.write(0, 1, 2, 3, 4)
    second = run.store(run.double(run.load(1, 0), 2), 8)
    split = (Region(16, 8), Region(0, 12), Region(512, 4))
    writers = [run.plane.writer(split, offset) for offset in (0, 7, 8, 15, 16, 19, 20, 99)]
    ids = [None if writer is None else writer.id for writer in writers]
    assert ids == [second.id, second.id, first.id, first.id, second.id, second.id, None, None]


def test_tiles_are_logged_with_their_timing_and_move_nothing(run):
    run.write(0, 1, 2, 3, 4)
    run.op("tile", "STORE", [at(0)], at(0))
    assert [op.kind for op in run.plane.log] == ["memory", "tile"]
    assert run.read(0) == [1, 2, 3, 4]


def test_dependencies_are_in_the_log(run):
    run.write(0, 1, 2, 3, 4)
    run.store(run.load(1, 0), 0)
    assert list(run.plane.log.dependencies()) == [
        (1, 0, "raw"),
        (2, 0, "waw"),
        (2, 1, "handle"),
        (2, 1, "war"),
    ]


def test_a_store_casts_to_the_type_of_its_memory(run):
    run.write(0, 1.0004, 2, 3, 4)
    run.op("memory", "dma_write", [run.load(1, 0)], at(64, 4, "f16"))
    got = run.plane.read_host(at(64, 4, "f16").regions, (4,), "f16")
    assert got.dtype == np.float16
    assert got.tolist() == [1.0, 2, 3, 4]
