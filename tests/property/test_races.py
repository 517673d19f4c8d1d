"""Planted races are found, each; programs whose accesses are ordered have none."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.engine.machine.machine import Machine
from kernbench.engine.run_options import RunOptions
from kernbench.host import Context, DPPolicy
from kernbench.values import DataPlane
from kernbench.workloads.benches import list_all
from tests.examples import examples
from tests.property.generated_kernels import arrays, genes, kernel_of, types
from tests.small_machines import small

GRAPH = small("va")
ROWS = DPPolicy("row_wise", "row_wise")
CELL = 64
"""Bytes of one cell: the programs below read and write cells of one tensor."""


def cells(x: Any, programs: list[list[tuple[str, int]]], tl: Any) -> None:
    """Program ``i`` reads and writes the cells that its list names."""
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    for what, cell in programs[me]:
        if what == "read":
            tl.load(x + cell * CELL, shape=(16,), dtype="f32")
        else:
            tl.store(x + cell * CELL, tl.zeros((16,), "f32"))


@cache
def wired() -> Machine:
    return Machine(GRAPH)


def races_of(
    launches: list[list[list[tuple[str, int]]]], waits: list[bool], sips: str = "sip:0"
) -> list[Any]:
    data, machine = DataPlane(), wired()
    machine.reset()
    machine.start_run([data])
    torch = Context(machine, data, device=sips)
    x = torch.from_numpy(np.zeros((16, 16), np.float32), dp=ROWS, name="x")
    for number, programs in enumerate(launches):
        torch.launch(f"l{number}", cells, x, programs)
        if waits[number]:
            torch.wait_all()
    torch.wait_all()
    return data.races.races


accesses = st.lists(st.tuples(st.sampled_from(["read", "write"]), st.integers(0, 3)), max_size=4)


@examples(200, suppress_health_check=[HealthCheck.too_slow])
@given(
    noise=st.lists(accesses, min_size=4, max_size=4),
    pair=st.permutations(range(4)),
    kinds=st.sampled_from([("write", "write"), ("write", "read"), ("read", "write")]),
    at=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    cell=st.integers(0, 15),
)
def test_every_planted_race_is_found(noise: Any, pair: Any, kinds: Any, at: Any, cell: int) -> None:
    """Program i keeps to its own cells 4i..4i+3; then two programs also touch one cell, and one writes it."""
    programs = [[(what, 4 * i + own) for what, own in noise[i]] for i in range(4)]
    assert not races_of([programs], [True])
    for program, what, position in zip(pair[:2], kinds, at, strict=True):
        programs[program].insert(min(position, len(programs[program])), (what, cell))
    found = races_of([programs], [True])
    assert found
    for race in found:
        assert race.pes[0] != race.pes[1]
        assert "tensor 'x'" in race.where
        assert "test_races.py:" in str(race)


@examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(
    launches=st.lists(st.lists(accesses, min_size=4, max_size=4), min_size=2, max_size=4),
    shift=st.integers(1, 3),
    waits=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_launches_on_the_same_pes_are_ordered(launches: Any, shift: int, waits: Any) -> None:
    """In each launch programs keep apart, from one to the next they change places."""
    moved = [
        [[(what, 4 * ((i + shift * n) % 4) + own) for what, own in programs[i]] for i in range(4)]
        for n, programs in enumerate(launches)
    ]
    assert not races_of(moved, waits)


def signal_then_write(x: Any, tl: Any) -> None:
    me = (tl.program_id(1), tl.program_id(0))
    if me == (0, 0):
        tl.send("pe_E")
        tl.store(x, tl.zeros((16,), "f32"))
    elif me == (0, 1):
        tl.recv("pe_W")


def read_by_the_other(_y: Any, x: int, tl: Any) -> None:
    if tl.program_id(0) == 1:
        tl.load(x, shape=(16,), dtype="f32")


def test_a_launch_comes_after_all_that_its_pes_did_not_only_what_they_told_each_other() -> None:
    data = DataPlane()
    torch = Context(Machine(GRAPH, [data]), data, device="sip:0")
    zeros = np.zeros((16, 16), np.float32)
    x = torch.from_numpy(zeros, dp=ROWS, name="x")  # on more PEs than the second launch has
    y = torch.from_numpy(zeros, dp=DPPolicy("row_wise", "row_wise", num_cubes=1), name="y")
    with torch.install_ipcq("intracube_pe_ring", among=[(0, 0, 0), (0, 0, 1)]):
        torch.launch("told", signal_then_write, x)
        torch.launch("reads", read_by_the_other, y, x.va)
        torch.wait_all()
    assert data.races.races == []


@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(steps=genes, types=types, seed=st.integers(0, 99))
def test_generated_kernels_that_keep_to_their_rows_have_none(steps: Any, types: Any, seed: int) -> None:
    data = DataPlane(verify=True)
    torch = Context(Machine(GRAPH, [data]), data)
    given_ = arrays(types, 4, seed)
    tensors = [
        torch.from_numpy(array, dp=DPPolicy() if name == "w" else ROWS, name=name)
        for name, array in given_.items()
    ]
    torch.launch("made", kernel_of(steps), *tensors)
    torch.wait_all()
    assert not data.races.races


LONG = ("pe2pe", "tp-mlp")


@pytest.mark.daily("ccl-allreduce", "ipcq-allreduce", "flash-attention", "gemm-multi-pe", "llama-layer")
@pytest.mark.parametrize(
    "bench",
    [pytest.param(spec.name, marks=[pytest.mark.slow] if spec.name in LONG else []) for spec in list_all()],
)
def test_no_shipped_bench_has_a_race(bench: str) -> None:
    from kernbench.host import run_bench
    from kernbench.workloads.benches import resolve

    params = {"rows": 64} if bench == "softmax" else {"tokens": 64} if bench == "flash-attention" else {}
    one = resolve(bench)
    outcome = run_bench(GRAPH, one, one.resolve_params(params), RunOptions(verify=True))
    assert outcome.ok
    assert outcome.races == ()


def reads_too_early(a: Any, b: Any, out: Any, tl: Any) -> None:
    tl.composite("gemm", tl.ref(a.local), tl.ref(b.local), out_ptr=out.local)
    tl.load(out.local)


def test_a_composite_that_was_not_waited_for_is_a_race() -> None:
    a = np.ones((64, 64), np.float16)
    done = kb.run_kernel(reads_too_early, a, a, out=np.zeros_like(a), topology="minimal")
    (race,) = done.run.info["races"]
    assert race["first"]["source"] == f"test_races.py:{reads_too_early.__code__.co_firstlineno + 2}"
    assert done.run.verified is False


def flagged(x: Any, flag: Any, out: Any, volatile: bool, tl: Any) -> None:
    """PE 0 writes data and then a flag; PE 1 polls the flag and reads the data."""
    if tl.program_id(0) == 0:
        tl.store(x, tl.full((16,), 7.0, "f32"))
        tl.store(flag, tl.full((16,), 1, "i32"))
    elif tl.program_id(0) == 1:
        while not tl.load(flag, volatile=volatile)[0]:
            tl.cycles(10)
        tl.store(out, tl.load(x))


@pytest.mark.parametrize("volatile", [True, False])
def test_a_volatile_load_orders_what_follows_the_store_that_it_saw(volatile: bool) -> None:
    data = DataPlane(verify=True)
    torch = Context(Machine(GRAPH, [data]), data)
    everywhere = DPPolicy(pe="row_wise", num_cubes=1)
    torch.from_numpy(np.zeros((2, 1), np.float32), dp=everywhere)
    x = torch.from_numpy(np.zeros(16, np.float32), name="x")
    flag = torch.from_numpy(np.zeros(16, np.int32), name="flag")
    out = torch.empty(16, dtype="f32", name="out")
    both = torch.from_numpy(np.zeros((2, 1), np.float32), dp=everywhere, name="both")
    torch.launch(
        "flag", lambda x, flag, out, both, tl: flagged(x, flag, out, volatile, tl), x, flag, out, both
    )
    torch.wait_all()
    assert bool(data.races.races) is not volatile
    np.testing.assert_array_equal(out.numpy(), np.full(16, 7, np.float32))
