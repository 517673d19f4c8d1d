"""``tl.atomic_add``: numbers, order, time, hazards and races; on a machine, interpreted and as a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.engine.machine.machine import Machine
from kernbench.errors import KernelError, LaunchError
from kernbench.host import Context, DPPolicy
from kernbench.language import commands, interpret
from kernbench.values import DataPlane
from tests.small_machines import small

GRAPH = small("va")
ROWS = DPPolicy("row_wise", "row_wise")
WORD = 4


def add_all(x: Any, total: Any, tl: Any) -> None:
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    tl.atomic_add(total + 0, tl.load(x + me * 16 * WORD, shape=(16,), dtype="f32"), dtype="f32")


class Effects(kb.Instrument):
    """The PEs whose additions took effect, in that order."""

    def __init__(self) -> None:
        self.order: list[int] = []

    def op_served(self, op: Any) -> None:
        if op.name == "atomic_add":
            self.order.append(op.id)


@pytest.mark.daily("True")
@pytest.mark.parametrize("check", [False, True])
def test_additions_take_effect_in_the_order_in_which_memory_serves_them(check: bool) -> None:
    values = np.random.default_rng(0).normal(size=(4, 16)).astype(np.float32) * 1e4
    found: dict[str, Any] = {}

    def bench(torch: Any) -> None:
        x = torch.from_numpy(values, dp=ROWS, name="x")
        total = torch.from_numpy(np.zeros((4, 16), np.float32), dp=ROWS, name="total")
        torch.launch("add_all", add_all, x, total)
        torch.check("total", total, np.vstack([values.astype(np.float64).sum(0), np.zeros((3, 16))]))
        found["total"] = total.numpy()

    effects = Effects()
    with kb.open_store("memory:") as store:
        run = kb.run(bench, GRAPH, verify=True, store=store, instruments=[effects], check=check)
        assert run.verified
        assert run.info["races"] == []
        rows = run.cypher(
            "MATCH (o:Op {name: 'atomic_add'})-[:ON_PART]->(u:Use) RETURN o.number AS op, u.resource AS part"
        ).rows
        hazards = run.cypher(
            "MATCH (a:Op {name: 'atomic_add'})-[d:DEPENDS_ON]->(b:Op {name: 'atomic_add'}) "
            "RETURN a.number AS a, b.number AS b, d.hazard AS hazard"
        ).rows
        access = run.cypher(
            "MATCH (o:Op {name: 'atomic_add'})-[:READ_FROM]->(t:Tensor)<-[:WROTE_TO]-(o) "
            "RETURN DISTINCT t.name AS name"
        ).rows
    assert sorted(op for op, _ in rows) == sorted(effects.order)
    assert len(effects.order) == 4
    parts = sorted(part for _, part in rows)
    pe_of = {op: parts.index(part) for op, part in rows}
    total = np.zeros(16, np.float32)
    for op in effects.order:
        total = total + values[pe_of[op]]
    assert found["total"][0].tobytes() == total.tobytes()
    ordered = list(zip(effects.order[1:], effects.order, strict=False))
    assert {(a, b) for a, b, hazard in hazards if hazard == "raw"} == set(ordered)
    assert {(a, b) for a, b, hazard in hazards if hazard == "waw"} == set(ordered)
    assert access == [("total",)]


@pytest.mark.parametrize(("dtype", "start", "step"), [(np.float16, 2048, 1), (np.int32, 2**31 - 1, 1)])
def test_each_addition_is_rounded_to_the_type_of_the_target(dtype: Any, start: int, step: int) -> None:
    def kernel(out: Any, tl: Any) -> None:
        for _ in range(3):
            tl.atomic_add(out, tl.full((8,), step, "f16" if dtype is np.float16 else "i32"))

    before = np.full(8, start, dtype)
    wanted = before.copy()
    for _ in range(3):
        with np.errstate(over="ignore"):
            wanted = (wanted.astype(np.int64) + step).astype(dtype)  # 2049 is no f16, and 2 ** 31 no i32
    run = kb.run_kernel(kernel, before, topology="minimal")
    assert run.arrays[0].tolist() == wanted.tolist()
    interpret(kernel, before)
    assert before.tolist() == wanted.tolist()


def masked(out: Any, tl: Any) -> None:
    tl.atomic_add(out, tl.full((8,), 2, "f32"), mask=tl.arange(0, 8) < 3)


def masked_by_what_is_computed(out: Any, tl: Any) -> None:
    tl.atomic_add(out, tl.full((8,), 2, "f32"), mask=tl.exp(tl.load(out)) > 1)


def nothing(out: Any, tl: Any) -> None:
    tl.atomic_add(out, tl.full((8,), 2, "f32"), mask=tl.arange(0, 8) < 0)


def spread(out: Any, tl: Any) -> None:
    tl.atomic_add(out + WORD, tl.full((3,), 2, "f32"), strides=(2,))


def block(out: Any, tl: Any) -> None:
    pointer = tl.make_block_ptr(out, (8,), (1,), (6,), (4,))
    tl.atomic_add(pointer, tl.full((4,), 2, "f32"), boundary_check=(0,))


def number(out: Any, tl: Any) -> None:
    tl.atomic_add(out, 2, sem="relaxed", scope="sys")


FORMS = {
    masked: [2, 2, 2, 0, 0, 0, 0, 0],
    masked_by_what_is_computed: [0, 2, 2, 2, 2, 2, 2, 2],
    nothing: [0] * 8,
    spread: [0, 2, 0, 2, 0, 2, 0, 0],
    block: [0, 0, 0, 0, 0, 0, 2, 2],
    number: [2] * 8,
}


@pytest.mark.parametrize("kernel", FORMS, ids=lambda kernel: kernel.__name__)
def test_forms_of_the_call(kernel: Any) -> None:
    before = np.arange(8, dtype=np.float32)
    wanted = (before + np.float32(FORMS[kernel])).tolist()
    assert kb.run_kernel(kernel, before.copy(), topology="minimal").arrays[0].tolist() == wanted
    interpret(kernel, before)
    assert before.tolist() == wanted


def test_it_takes_the_time_of_a_store() -> None:
    def store(x: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.load(x))

    def add(x: Any, out: Any, tl: Any) -> None:
        tl.atomic_add(out, tl.load(x))

    x, out = np.ones((8, 64), np.float32), np.zeros((8, 64), np.float32)
    took = {
        kernel.__name__: kb.run_kernel(kernel, x, out=out, topology="minimal").latency_ns
        for kernel in (store, add)
    }
    assert took["add"] == took["store"] > 0


def test_it_is_in_the_list_of_commands() -> None:
    command: Any = commands(number, np.zeros(8, np.float32))[-1]
    assert (type(command).__name__, command.op.name, command.op.nbytes) == ("Store", "atomic_add", 32)


def test_a_kernel_may_branch_on_a_counter() -> None:
    """Additions of numbers that are known are known."""

    def kernel(counter: Any, out: Any, tl: Any) -> None:
        tl.atomic_add(counter, 1)
        if tl.load(counter).data[0] == 6:
            tl.store(out, tl.full((1,), 1, "i32"))

    counter, out = np.full(1, 5, np.int32), np.zeros(1, np.int32)
    assert kb.run_kernel(kernel, counter, out=out, topology="minimal").output.tolist() == [1]


def races_of(kernel: Any) -> list[str]:
    data = DataPlane()
    torch = Context(Machine(GRAPH, [data]), data, device="sip:0")
    x = torch.from_numpy(np.zeros((4, 16), np.float32), dp=ROWS, name="x")
    torch.launch("kernel", kernel, x)
    torch.wait_all()
    return [race.kind for race in data.races.races]


def one_adds(x: Any, tl: Any, how: Any) -> None:
    """The first PE does ``how`` to the bytes that another one adds to."""
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    if me == 0:
        how(tl, x + 0)
    elif me == 1:
        tl.atomic_add(x + 0, tl.full((4,), 1, "f32"), dtype="f32")


@pytest.mark.parametrize(
    ("how", "kinds"),
    [
        (lambda tl, at: tl.atomic_add(at, tl.full((4,), 1, "f32"), dtype="f32"), set()),
        (lambda tl, at: tl.load(at, shape=(4,), dtype="f32", volatile=True), set()),
        (lambda tl, at: tl.load(at, shape=(4,), dtype="f32"), {"read-write", "write-read"}),
        (lambda tl, at: tl.store(at, tl.zeros((4,), "f32")), {"write-write"}),
        (lambda tl, at: tl.store(at + 64, tl.zeros((4,), "f32")), set()),
    ],
)
def test_races(how: Any, kinds: set[str]) -> None:
    found = races_of(lambda x, tl: one_adds(x, tl, how))
    assert set(found) <= kinds
    assert bool(found) == bool(kinds)


def test_a_plain_load_races_with_each_addition_that_it_does_not_come_after() -> None:
    def kernel(x: Any, tl: Any) -> None:
        me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
        if me in (1, 2):
            if me == 2:
                tl.cycles(4000)
            tl.atomic_add(x + 0, tl.full((4,), 1, "f32"), dtype="f32")
        elif me == 3:
            tl.cycles(40000)
            tl.load(x + 0, shape=(4,), dtype="f32")

    assert races_of(kernel) == ["write-read"]


@pytest.mark.parametrize(("sem", "kinds"), [("release", []), ("acq_rel", []), ("relaxed", ["write-read"])])
def test_who_sees_the_sum_comes_after_what_was_before_the_addition(sem: str, kinds: list[str]) -> None:
    def kernel(x: Any, tl: Any) -> None:
        me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
        if me == 1:
            tl.store(x + 64, tl.zeros((4,), "f32"))
            tl.atomic_add(x + 0, tl.full((1,), 1, "f32"), dtype="f32", sem=sem)
            tl.atomic_add(x + 0, tl.full((1,), 1, "f32"), dtype="f32", sem="relaxed")
        elif me == 0:
            while tl.load(x + 0, shape=(1,), dtype="f32", volatile=True).data[0] < 2:
                tl.cycles(100)
            tl.load(x + 64, shape=(4,), dtype="f32")

    assert races_of(kernel) == kinds


def twice(out: Any, tl: Any) -> None:
    tl.atomic_add(out, tl.full((4,), 1, "f32"), strides=(0,))


def unknown_order(out: Any, tl: Any) -> None:
    tl.atomic_add(out, 1, sem="seq_cst")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (twice, r"tl\.atomic_add: argument 'strides': an element is there twice"),
        (unknown_order, r"argument 'sem': 'seq_cst' is not one of 'acq_rel', 'release'"),
        (
            lambda out, tl: tl.atomic_cas(out, 0, 1),
            r"tl\.atomic_cas is not in this language; .*tl\.atomic_add",
        ),
    ],
)
def test_errors(kernel: Any, message: str) -> None:
    with pytest.raises((KernelError, LaunchError), match=message):
        kb.run_kernel(kernel, np.zeros(8, np.float32), topology="minimal")
