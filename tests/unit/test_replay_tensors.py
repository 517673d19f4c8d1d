"""Tensors of a run: where their parts lie, and how many bytes operations moved to and from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import UsageError
from kernbench.support.pgraph import RunRecord
from kernbench.values.oplog import OpLog
from kernbench.values.tensor_names import NamedShard, TensorNames
from tests.compiled import compiled
from tests.small_contexts import make

MOVES = ("dma_read", "dma_write", "host_write")


def two_tensors() -> tuple[OpLog, TensorNames]:
    """``a`` in two shards of 64 bytes that adjoin, the second one first, and ``b`` behind a gap."""
    log, names = OpLog(), TensorNames()
    a, b = log.add_tensor("a", (64,), "f16", 128, "hbm"), log.add_tensor("b", (32,), "f16", 64, "hbm")
    names.add(NamedShard("a", "pe1", 0, (32,), (32,), 64, a, 64))
    names.add(NamedShard("a", "pe0", 64, (0,), (32,), 64, a, 0))
    names.add(NamedShard("b", "pe0", 192, (0,), (32,), 64, b, 0))
    return log, names


def accesses(log: OpLog, ops: list[int]) -> list[tuple[Any, ...]]:
    table = log._tensor_tables(np.array(ops))["Access"]
    columns = (table[name].tolist() for name in ("op", "tensor", "is_write", "offset", "bytes"))
    return list(zip(*columns, strict=True))


def operand(*regions: tuple[int, int], handle: int | None = None) -> Operand:
    return Operand((1,), "i8", handle, regions=tuple(Region(*region) for region in regions))


def test_an_access_begins_at_its_lowest_byte_and_adds_up_over_shards_and_rows() -> None:
    log, names = two_tensors()
    log.follow(Op(7, "memory", "dma_read", (operand((32, 64)),), operand(handle=1)), names)
    log.follow(Op(8, "memory", "dma_write", (), operand((200, 8), (216, 8))), names)
    log.follow(Op(9, "memory", "dma_read", (operand((100, 100)),)), names)
    assert accesses(log, [7, 8, 9]) == [
        (7, 0, False, 0, 64),
        (8, 1, True, 8, 16),
        (9, 0, False, 36, 28),
        (9, 1, False, 0, 8),
    ]
    assert accesses(log, [8]) == [(8, 1, True, 8, 16)]


def test_tiles_have_accesses_and_composites_have_none_of_their_own() -> None:
    log, names = two_tensors()
    log.follow(Op(1, "gemm", "composite_gemm", (operand((0, 64)),), operand((192, 64))), names)
    log.follow(Op(2, "tile", "dma_read", stage="DMA_READ", moved=(Region(64, 64),)), names)
    log.follow(Op(3, "tile", "dma_write", stage="DMA_WRITE", moved=(Region(192, 64),)), names)
    log.follow(Op(4, "tile", "fetch", stage="FETCH"), names)
    assert accesses(log, [1, 2, 3, 4]) == [(2, 0, False, 0, 64), (3, 1, True, 0, 64)]


def test_freed_memory_is_no_tensors_until_another_one_has_it() -> None:
    log, names = two_tensors()
    names.remove(Region(192, 64))
    log.follow(Op(1, "memory", "dma_read", (operand((192, 64)),)), names)
    assert accesses(log, [1]) == []
    names.add(NamedShard("c", "pe0", 160, (0,), (64,), 128, log.add_tensor("c", (64,), "f16", 128, "hbm"), 0))
    log.follow(Op(2, "memory", "dma_read", (operand((192, 64)),)), names)
    assert accesses(log, [1, 2]) == [(2, 2, False, 32, 64)]


@pytest.mark.daily("*-minimal")
@pytest.mark.parametrize(
    ("bench", "topology"),
    [
        ("qkv-gemm", "minimal"),
        ("matmul-composite", "minimal"),
        ("flash-attention", "default"),
        ("va-offset-verify", "minimal"),
        ("softmax", "minimal"),
    ],
)
def test_bytes_of_accesses_are_those_of_the_transactions(bench: str, topology: str) -> None:
    run = kb.run(bench, compiled(topology), store="memory:", check=False)
    tables = run.tables
    sent: dict[tuple[int, bool], int] = {}
    for txn in tables["Transaction"].to_pylist():
        if txn["kind"] in MOVES and txn["op"] >= 0:
            key = (txn["op"], txn["kind"] != "dma_read")
            sent[key] = sent.get(key, 0) + txn["bytes"]
    moved = {(a["op"], a["is_write"]): a["bytes"] for a in tables["Access"].to_pylist()}
    assert moved == sent
    sizes = dict(
        zip(tables["Tensor"]["number"].to_pylist(), tables["Tensor"]["bytes"].to_pylist(), strict=True)
    )
    assert all(a["offset"] < sizes[a["tensor"]] for a in tables["Access"].to_pylist())
    for number, nbytes in sizes.items():
        placed = [row["bytes"] for row in tables["Placed"].to_pylist() if row["tensor"] == number]
        assert sum(placed) % nbytes == 0
        assert sum(placed) > 0


def test_tensors_in_sram_and_tcm_are_placed_there() -> None:
    with make("minimal") as torch:
        torch.zeros(16, 4, memory="sram", name="s", dtype="f32")
        torch.zeros(8, memory="tcm", name="t")
        tables = torch.storage.data.log.tables()
    assert tables["Tensor"]["shape"] == ["16x4", "8"]
    assert tables["Tensor"]["memory"] == ["sram", "tcm"]
    assert tables["Tensor"]["bytes"].tolist() == [256, 16]
    assert [name.rpartition(".")[2] for name in tables["Placed"]["component"]] == ["sram", "pe_tcm"]


def test_a_run_that_was_kept_without_tensors_says_so() -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store="memory:", check=False)
    older = {key: value for key, value in run.properties.items() if key not in ("id", "tensors")}
    tables = {name: table for name, table in run.tables.items() if name not in ("Tensor", "Placed", "Access")}
    store = run.store
    assert store is not None
    topology = store.load_topology(str(run.properties["topology"]))
    kept = store.keep(RunRecord({**older, "id": "older"}, tables), topology)
    with pytest.raises(UsageError, match=r"run 'older' was kept without its tensors.*run its bench again"):
        kb.ask("tensor-traffic", kept, store)
    assert len(kb.ask("tensor-traffic", run.id, store)) == 7


def test_a_run_without_tensors_has_no_traffic_of_tensors() -> None:
    flow = {"src": "host", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 64}
    run = kb.traffic([flow], compiled("minimal"), store="memory:", check=False)
    assert run.properties["tensors"] == 0
    assert kb.ask("tensor-traffic", run.id, run.store).rows == []
