"""When one PE is simulated for others, when all are, and that a run says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import overview
from kernbench.errors import KernBenchError

TOPO = {
    "system.sips": 1, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "cube.pes.count": 2,
    "cube.pes.corners": ["NW", "NE"],
}  # fmt: skip
PLACED = kb.DPPolicy(cube="row_wise", pe="column_wise")


def exp(x: Any, y: Any, tl: Any) -> None:
    tl.store(y.local, tl.exp(tl.load(x.local)))


def copy(x: Any, y: Any, tl: Any) -> None:
    tl.store(y.local, tl.load(x.local))


def looks(x: Any, y: Any, tl: Any) -> None:
    a = tl.load(x.local)
    if tl.program_id(1) == 3:
        raise ValueError("cube 3")
    tl.store(y.local, tl.exp(a))


def ran(program: Callable[[Any, Any, Any], None], topo: Any = TOPO, **options: Any) -> kb.Run:
    def bench(torch: Any) -> None:
        program(torch, *(torch.zeros(64, 64, dp=PLACED) for _ in range(2)))

    return kb.run(bench, topo=topo, store="memory:", **{"trace": False, **options})


def launched(kernel: Callable[..., None], count: int = 1) -> Callable[[Any, Any, Any], None]:
    def program(torch: Any, x: Any, y: Any) -> None:
        for _ in range(count):
            torch.launch(kernel.__name__, kernel, x, y)
        torch.wait_all()

    return program


def why(run: kb.Run) -> list[str]:
    return list(run.info["pes"]["why"])


def test_one_pe_of_each_kind_is_simulated_and_the_run_says_so() -> None:
    run = ran(launched(exp, 3))
    assert run.info["pes"] == {"simulated": 6, "of": 24, "why": {}}
    said = dict(overview.facts(run, ChosenWindow()))
    assert said["PEs"].startswith("simulated 6 of 24")


@pytest.mark.parametrize(
    "how", [{"exact": True}, {"trace": True}, {"verify": True}, {"check": True}], ids=str
)
def test_all_are_simulated_where_values_or_hops_are_wanted(how: dict[str, Any]) -> None:
    assert "pes" not in ran(launched(exp), **how).info


def test_a_program_that_may_go_on_is_not_foreseen() -> None:
    def program(torch: Any, x: Any, y: Any) -> None:
        first = torch.launch("first", exp, x, y)
        torch.launch("second", exp, x, y)
        first.wait()
        torch.launch("third", exp, torch.empty(64, 64, dp=PLACED), y)
        torch.wait_all()

    alike, exact = (ran(program, exact=one) for one in (False, True))
    assert why(alike) == ["second: the program may go on before it is over"]
    assert alike.launches == exact.launches


def test_copies_of_what_may_be_known_are_simulated() -> None:
    def program(torch: Any, x: Any, y: Any) -> None:
        torch.launch("exp", exp, x, y)
        torch.launch("copy", copy, y, x)
        torch.wait_all()

    assert why(ran(program)) == ["copy: it stores a value that it did not compute"]


def test_what_followers_write_is_a_result_that_was_not_computed() -> None:
    def program(torch: Any, x: Any, y: Any) -> None:
        torch.launch("exp", exp, x, y)
        torch.wait_all()
        y.numpy()

    errors = []
    for exact in (False, True):
        with pytest.raises(KernBenchError) as caught:
            ran(program, exact=exact)
        errors.append(re.sub(r"op \d+", "op", str(caught.value)))  # fewer operations are numbered
    assert errors[0] == errors[1]


def test_a_kernel_that_fails_on_one_pe_fails_as_in_a_run_of_all() -> None:
    errors = []
    for exact in (False, True):
        with pytest.raises(KernBenchError) as caught:
            ran(launched(looks), exact=exact)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


@pytest.mark.daily("cube.hbm.model-*", "system.worker-*")
@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("system.worker", "serial", "worker: serial"),
        ("cube.hbm.switch_penalty_ns", 1.0, "switch_penalty_ns"),
        ("cube.hbm.model", "dram", "DramSlice"),
        ("cube.router.issue_ns", 1.0, "issue_ns"),
    ],
)
def test_parts_that_remember_or_hold_messages_are_simulated(key: str, value: Any, reason: str) -> None:
    alike, exact = (ran(launched(exp, 2), {**TOPO, key: value}, exact=one) for one in (False, True))
    assert "pes" not in alike.info
    assert alike.launches == exact.launches
    assert alike.info["events"] == exact.info["events"]


@pytest.mark.slow
def test_a_decode_layer_takes_its_time_to_the_last_digit() -> None:
    run = kb.run(
        "llama-decoder", "default", store="memory:", trace=False, resident=True, model="llama-8b", kv=2048
    )
    assert run.sim_ns == 25043.022812499985
    assert run.info["events"] < 850_000
    assert run.info["pes"]["simulated"] < run.info["pes"]["of"] / 2
