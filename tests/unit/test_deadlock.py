"""The report of a deadlock: short however many PEs there are, with the cycle and what would end it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.engine.machine.deadlock import fold_lines
from kernbench.errors import DeadlockError
from kernbench.host import DPPolicy
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

TWO_BY_TWO = {"sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "system.sips": 1}


def receive_first(x: Any, tl: Any) -> None:
    own = tl.load(x.local)
    tl.store(x.local, tl.recv("pe_W"))
    tl.send("pe_E", own)


def send_only(x: Any, tl: Any) -> None:
    own = tl.load(x.local)
    for _ in range(9):
        tl.send("pe_E", own)


def crossed(x: Any, tl: Any) -> None:
    """Even PEs fill their neighbour's ring, odd ones wait for their other neighbour."""
    own = tl.load(x.local)
    if tl.program_id(0) % 2:
        tl.store(x.local, tl.recv("pe_E"))
    else:
        for _ in range(9):
            tl.send("pe_E", own)


def one_waits(x: Any, tl: Any) -> None:
    if tl.program_id(0) == 0:
        tl.store(x.local, tl.recv("pe_W"))


def report(kernel: Any, cubes: int) -> DeadlockError:
    def program(torch: Any) -> None:
        pes = torch.pes_per_cube
        dp = DPPolicy("row_wise" if cubes > 1 else "replicate", "row_wise", num_cubes=cubes)
        x = torch.from_numpy(np.ones((pes * cubes, 16), np.float16), dp=dp)
        for cube in range(cubes):
            torch.install_ipcq("intracube_pe_ring", among=[(0, cube, pe) for pe in range(pes)], slots=4)
        torch.launch("stuck", kernel, x)

    with pytest.raises(DeadlockError) as caught:
        kb.run(program, topo=TWO_BY_TWO, trace=False)
    return caught.value


@pytest.mark.parametrize("cubes", [1, 4])
def test_a_report_says_deadlock_and_is_ten_lines_long(cubes: int) -> None:
    error = report(receive_first, cubes)
    lines = str(error).splitlines()
    assert len(lines) <= 10
    assert len(str(error)) < 1000
    assert re.fullmatch(
        rf"deadlock at [\d.]+ ns: launch 0 of 'stuck' on {8 * cubes} PEs cannot finish",
        lines[0],
    )
    alike = ", and 3 more cycles" if cubes == 4 else ""
    ring = " -> ".join(f"sip0.cube0.pe{pe}" for pe in (0, 7, 6, 5))
    assert lines[1:3] == [
        f"  cycle of 8: {ring} -> ... 4 more -> sip0.cube0.pe0, each waits for the next{alike}",
        "  to end it: every PE of the cycle receives before it sends; let one of them send first",
    ]
    kernels = [line for line in lines if "runs kernel" in line]
    assert len(kernels) == 1
    assert kernels[0].endswith(f"(and {8 * cubes - 1} more like it)")
    line = receive_first.__code__.co_firstlineno + 2
    assert f"in tl.recv at test_deadlock.py:{line}" in kernels[0]
    assert sum("runs kernel" in line for line in error.waiting) == 8 * cubes


@pytest.mark.parametrize(
    ("kernel", "remedy"),
    [
        (
            send_only,
            "every ring of the cycle is full; receive between the sends, or give the queues more slots",
        ),
        (one_waits, "let a kernel there send as often as its neighbours expect"),
    ],
)
def test_what_would_end_it_depends_on_the_waits(kernel: Any, remedy: str) -> None:
    assert f"to end it: {remedy}" in str(report(kernel, 1))


def test_a_point_of_a_sweep_that_stands_still_has_an_error_of_one_line() -> None:
    @bench(name="stuck", description="waits for ever", params=[Param("n", int, 1, "nothing")])
    def stuck(torch: Any) -> None:
        x = torch.from_numpy(np.ones((8, 16), np.float16), dp=DPPolicy("replicate", "row_wise", num_cubes=1))
        torch.install_ipcq("intracube_pe_ring", among=[(0, 0, pe) for pe in range(8)])
        torch.launch("stuck", receive_first, x)

    (point,) = kb.sweep(stuck, "default", params={"n": [1]}, store="memory:").points
    assert re.fullmatch(r"deadlock at [\d.]+ ns: launch 0 of 'stuck' on 8 PEs cannot finish.*", point.error)


def test_only_numbers_of_parts_are_folded() -> None:
    lines = ["sip0.cube1.pe2 waits at a.py:3, 4 credits", "sip0.cube0.pe7 waits at a.py:3, 4 credits"]
    assert fold_lines(lines) == [f"{lines[0]} (and 1 more like it)"]
    other = ["sip0.cube1.pe2 waits at a.py:4, 4 credits", "sip0.cube0.pe7 waits at a.py:3, 2 credits"]
    assert fold_lines([*lines, *other]) == [f"{lines[0]} (and 1 more like it)", *other]
    many = [f"x.py:{n}" for n in range(20)]
    assert fold_lines(many) == [*many[:6], "... and 14 more lines"]
    assert fold_lines([]) == []
