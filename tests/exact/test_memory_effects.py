"""A memory takes effect when it serves: values, hazards and replay follow that instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.language import KernelCall
from kernbench.values import DataPlane
from tests import names
from tests.compiled import compiled

HOME, FAR = (0, 0, 0), (0, 3, 0)
MESH = {"system.sips": 1, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "cube.pes.count": 4}


class Watch(Instrument):
    """Keeps operations and transactions."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.transactions: dict[int, Transaction] = {}
        self.rows: dict[int, list[Any]] = {}

    def op_done(self, op: Op) -> None:
        self.ops.append(op)

    def transaction_done(self, transaction: Transaction) -> None:
        self.transactions[transaction.id] = transaction
        self.rows[transaction.id] = list(transaction.rows)


class Bench:
    """A word in one PE's memory that another writes and both may read."""

    def __init__(self, memory: str, *, verify: bool = False) -> None:
        self.data, self.watch = DataPlane(verify=verify), Watch()
        self.machine = Machine(compiled("default", MESH), [self.data, self.watch])
        addresses = self.machine.addresses
        self.word = {
            "hbm": addresses.hbm(*HOME, 4096),
            "sram": addresses.sram(0, 0, 4096),
            "tcm": addresses.tcm(*HOME, 1 << 20),
        }[memory]
        self.memory = {
            "hbm": names.hbm(*HOME),
            "sram": names.sram(0, 0),
            "tcm": names.pe_part(*HOME, "pe_tcm"),
        }[memory]
        self.put(0.0)

    def put(self, value: float) -> None:
        block = np.full(64, value, np.float32)
        operand = Operand((64,), "f32", regions=(Region(self.word, 256),))
        op = Op(self.machine.next_op_id(), "memory", "host_write", (), operand, {"data": block}, nbytes=256)
        self.machine.wait(self.machine.host_write(0, [Region(self.word, 256)], op))

    def served(self, op: Op) -> float:
        """When the memory served the last transaction of ``op``, as the trace has it."""
        index = self.machine.component(self.memory).index
        return max(
            row.t_out for txn in op.transactions for row in self.watch.rows[txn] if row.resource == index
        )


@pytest.mark.parametrize("memory", ["hbm", "sram", "tcm"])
def test_a_store_is_visible_from_its_commit_and_a_load_sees_what_was_there_when_served(memory: str) -> None:
    bench = Bench(memory)
    seen: list[float] = []

    def kernel(tl: Any) -> None:
        if tl.program_id(1) == 1:
            tl.cycles(300)
            tl.store(bench.word, tl.full((64,), 7.0, dtype="f32"))
            return
        loads = 900 if memory == "tcm" else 60
        seen.extend(float(tl.load(bench.word, shape=(64,), dtype="f32").data[0]) for _ in range(loads))

    bench.machine.wait(bench.machine.launch(KernelCall(kernel, (), data=bench.data), [HOME, FAR]))
    loads = [op for op in bench.watch.ops if op.name == "dma_read"]
    (store,) = [op for op in bench.watch.ops if op.name == "dma_write"]
    assert store.t_effect == bench.served(store)
    assert store.t_effect < store.t_end - 20.0, "the acknowledgement has a way to go"
    assert [op.t_effect for op in loads] == [bench.served(op) for op in loads]
    assert seen == [7.0 if op.t_effect > store.t_effect else 0.0 for op in loads]
    assert {0.0, 7.0} == set(seen)
    # Before the writer has its acknowledgement, others have seen what it wrote.
    assert any(op.t_effect < store.t_end and value == 7.0 for op, value in zip(loads, seen, strict=True))


def test_hazards_and_replay_follow_the_instant_of_service() -> None:
    """A far load that memory served before a near store, though it is answered after it."""
    bench = Bench("hbm", verify=True)
    other = bench.machine.addresses.hbm(0, 0, 0, 1 << 20)

    def kernel(tl: Any) -> None:
        if tl.program_id(1) == 1:
            tl.store(other, tl.load(bench.word, shape=(64,), dtype="f32") * 1.0)
            return
        tl.cycles(90)
        tl.store(bench.word, tl.full((64,), 7.0, dtype="f32") + 0.0)

    bench.machine.wait(bench.machine.launch(KernelCall(kernel, (), data=bench.data), [HOME, FAR]))
    (load,) = [op for op in bench.watch.ops if op.name == "dma_read"]
    near, far = sorted((op for op in bench.watch.ops if op.name == "dma_write"), key=lambda op: op.t_end)
    assert load.t_effect < near.t_effect < near.t_end < load.t_end, "the case that the test is about"
    hazards = set(bench.data.log.dependencies())
    assert (near.id, load.id, "war") in hazards
    assert not any(op == load.id and on == near.id for op, on, _ in hazards)
    assert far.output is not None
    assert bench.data.read_host(far.output.regions, (64,), "f32")[0] == 0.0
    assert bench.data.read_host([Region(bench.word, 256)], (64,), "f32")[0] == 7.0


def test_a_composite_takes_effect_with_its_last_committed_tile() -> None:
    bench = Bench("hbm")
    out = bench.machine.addresses.hbm(0, 3, 0, 1 << 20)

    def kernel(tl: Any) -> None:
        a, b = tl.zeros((64, 64)), tl.zeros((64, 64))
        tl.wait(tl.composite("gemm", a, b, out, tile_shape=(16, 64, 64)))

    bench.machine.wait(bench.machine.launch(KernelCall(kernel, (), data=bench.data), [HOME]))
    (composite,) = [op for op in bench.watch.ops if op.name == "composite_gemm"]
    writes = [op for op in bench.watch.ops if op.stage == "DMA_WRITE"]
    index = bench.machine.component(names.hbm(0, 3, 0)).index
    commits = [
        row.t_out
        for op in writes
        for t in op.transactions
        for row in bench.watch.rows[t]
        if row.resource == index
    ]
    assert len(commits) == 4
    assert composite.t_effect == max(commits) < composite.t_end
