"""Estimates of faster machines: sums that close, what does not change, what must halve, what is monotone."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.path.critical_path import CriticalPath, Passed, Step
from kernbench.analysis.what_if.bounds import Bounds
from kernbench.analysis.what_if.retiming import candidates, what_if
from kernbench.errors import UsageError
from kernbench.support.pgraph import PropertyGraph
from tests.examples import examples

RUNS = [
    *((bench, "minimal") for bench in ("gemm-single-pe", "qkv-gemm", "matmul-composite", "va-offset-verify")),
    ("qkv-gemm-multi-pe", "default"),
    ("pattern:transpose", "minimal"),
]
PLACES = ["tray", "kind:router", "kind:pcie", "kind:hbm_ctrl", "kind:pe_gemm", "kind:pe_tcm", "sip0.cube0"]
SPEEDS = st.sampled_from([1e-3, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0, 1e12])


@cache
def machine(topology: str) -> PropertyGraph:
    return kb.load_topology(topology)


@cache
def kept(what: str, topology: str) -> kb.Run:
    graph = machine(topology)
    if what.startswith("pattern:"):
        return kb.traffic(what, graph, store="memory:")
    return kb.run(what, graph, store="memory:")


def chain(what: str, topology: str, launch: int | None = None) -> CriticalPath:
    return kept(what, topology).critical_path(launch)


@cache
def bounds(what: str, topology: str, launch: int | None = None) -> Bounds:
    run = kept(what, topology)
    return Bounds(run.tables, run.critical_path(launch), () if launch is None else (launch,))


CHAINS = st.one_of(
    st.tuples(st.sampled_from(RUNS), st.none()), st.tuples(st.sampled_from(RUNS[:5]), st.just(0))
)


@examples(25)
@given(CHAINS, st.lists(st.tuples(st.sampled_from(PLACES), SPEEDS), max_size=3))
def test_sums_close(run: tuple[tuple[str, str], int | None], changes: list[tuple[str, float]]) -> None:
    (what, topology), launch = run
    path = chain(what, topology, launch)
    found = what_if(path, machine(topology), changes, bounds(what, topology, launch))
    assert found.before_ns == pytest.approx(path.t_end - path.t_start, abs=1e-6)
    assert sum(found.by_cause.values()) == pytest.approx(found.ns, abs=1e-9)
    assert found.saved_ns == found.before_ns - found.ns
    assert all(ns > 0.0 for ns in found.by_cause.values())
    assert list(found.by_cause.values()) == sorted(found.by_cause.values(), reverse=True)


@pytest.mark.daily("*-minimal")
@pytest.mark.parametrize(("what", "topology"), RUNS)
def test_a_speed_of_one_changes_nothing(what: str, topology: str) -> None:
    path = chain(what, topology)
    found = what_if(path, machine(topology), [("tray", 1.0)], bounds(what, topology))
    assert found.ns == pytest.approx(found.before_ns, abs=1e-9)
    assert found.by_cause == pytest.approx(path.by_cause(), abs=1e-9)
    assert what_if(path, machine(topology), []).by_cause == pytest.approx(path.by_cause(), abs=1e-9)


@examples(25)
@given(CHAINS, st.sampled_from(PLACES), st.tuples(SPEEDS, SPEEDS).map(sorted))
def test_faster_never_takes_longer(
    run: tuple[tuple[str, str], int | None], where: str, speeds: list[float]
) -> None:
    (what, topology), launch = run
    path = chain(what, topology, launch)
    work = bounds(what, topology, launch)
    slow, fast = (what_if(path, machine(topology), [(where, speed)], work).ns for speed in speeds)
    assert fast >= what_if(path, machine(topology), [(where, speeds[1])]).ns
    assert fast <= slow + 1e-6 * max(1.0, slow * 1e-6)


@pytest.mark.parametrize(("what", "topology"), RUNS)
def test_what_is_spent_on_the_machine_halves_when_all_of_it_is_twice_as_fast(
    what: str, topology: str
) -> None:
    path = chain(what, topology)
    fixed = sum(step.ns for step in path.steps if step.transaction < 0 and step.cause in ("host", "launch"))
    engine = sum(
        step.ns for step in path.steps if step.cause == "queue" and step.location.endswith(".pe_dma")
    )
    rest = fixed + engine
    found = what_if(path, machine(topology), [("tray", 2.0)], bounds(what, topology))
    assert found.ns == pytest.approx(rest + (found.before_ns - rest) / 2, abs=1e-6)


def hand_made(*steps: tuple[str, str, int, int], paths: dict[int, tuple[Passed, ...]]) -> CriticalPath:
    """Steps of 10 ns each: (cause, place, transaction, hop)."""
    made = tuple(
        Step(10.0 * n, 10.0 * (n + 1), cause, place, "", transaction, hop)
        for n, (cause, place, transaction, hop) in enumerate(steps)
    )
    return CriticalPath(0.0, 10.0 * len(made), made, paths)


GEMM, SRAM, LINK = "sip0.cube0.pe0.pe_gemm", "sip0.cube0.sram", "sip0.cube0.pe0.pe_dma->sip0.cube0.r0c0"


def test_a_chain_wholly_on_one_place_halves() -> None:
    tcm = "sip0.cube0.pe0.pe_tcm"
    for place, path in (
        (GEMM, hand_made(("compute", GEMM, -1, -1), ("compute", GEMM, -1, -1), paths={})),
        (
            tcm,
            hand_made(("queue", tcm, 3, 0), ("memory", tcm, 3, 0), paths={3: (Passed(tcm, 4096, "memory"),)}),
        ),
        (
            LINK,
            hand_made(("queue", LINK, 3, 0), ("link", LINK, 3, 0), paths={3: (Passed(LINK, 512, "link"),)}),
        ),
    ):
        found = what_if(path, machine("minimal"), [(place, 2.0)])
        assert found.ns == pytest.approx(found.before_ns / 2, abs=1e-9)
        assert what_if(path, machine("minimal"), [("kind:router", 2.0)]).ns == found.before_ns


@pytest.mark.parametrize(
    ("cause", "place"),
    [
        ("dependency", GEMM),
        ("unexplained", GEMM),
        ("launch", "sip0.cube0.pe0.pe_cpu"),
        ("host", "host.cpu"),
    ],
)
def test_what_is_of_no_place_stays(cause: str, place: str) -> None:
    found = what_if(hand_made((cause, place, -1, -1), paths={}), machine("minimal"), [("tray", 2.0)])
    assert found.ns == found.before_ns == 10.0


def test_an_engine_is_waited_for_as_long_as_its_transfers_take() -> None:
    dma = "sip0.cube0.pe0.pe_dma"
    path = hand_made(("queue", dma, 0, 0), paths={0: (Passed(dma, 0, "component"), Passed(LINK, 0, "link"))})
    assert what_if(path, machine("minimal"), [("tray", 2.0)]).ns == 10.0


def test_dispatch_is_the_kernels_processor_and_its_scheduler() -> None:
    cpu, scheduler = "sip0.cube0.pe0.pe_cpu", "sip0.cube0.pe0.pe_scheduler"
    graph = kb.load_topology("minimal", {"pe.pe_scheduler.overhead_ns": 4.0})
    command = hand_made(("component", cpu, -1, -1), ("compute", GEMM, -1, -1), paths={})
    assert what_if(command, graph, [(cpu, 2.0)]).saved_ns == pytest.approx(3.0)
    assert what_if(command, graph, [(scheduler, 2.0)]).saved_ns == pytest.approx(2.0)
    answer = hand_made(
        ("component", cpu, -1, -1), ("launch", LINK, 5, 0), paths={5: (Passed(LINK, 0, "launch"),)}
    )
    assert what_if(answer, graph, [(cpu, 2.0)]).saved_ns == pytest.approx(5.0)
    assert what_if(answer, graph, [(scheduler, 2.0)]).saved_ns == 0.0
    assert {one.where for one in candidates(command, graph)} == {
        "kind:pe_gemm", "kind:pe_cpu", "kind:pe_scheduler",
    }  # fmt: skip


@pytest.mark.daily("*-minimal")
@pytest.mark.parametrize(("what", "topology"), RUNS)
def test_candidates_are_what_an_estimate_of_each_says(what: str, topology: str) -> None:
    path, graph = chain(what, topology), machine(topology)
    found = candidates(path, graph)
    assert len(found) > 3
    assert [one.free_ns for one in found] == sorted(one.free_ns for one in found)
    for one in found:
        assert what_if(path, graph, [(one.where, 2.0)]).ns == pytest.approx(one.twice_ns, abs=1e-6)
        assert what_if(path, graph, [(one.where, 1e12)]).ns == pytest.approx(one.free_ns, abs=1e-6)
        assert one.free_ns <= one.twice_ns < path.t_end - path.t_start
    single = [one.where for one in candidates(path, graph, locations=0)]
    assert all(where.startswith("kind:") for where in single)
    assert set(single) <= {one.where for one in found}
    assert len({*single}) == len(single)
    assert all(a.where != b.where for a, b in itertools.pairwise(found))


def test_a_place_that_is_not_on_the_machine_is_an_error() -> None:
    with pytest.raises(UsageError, match="'kind:ruter' matches nothing, did you mean 'kind:router'"):
        what_if(chain("qkv-gemm", "minimal"), machine("minimal"), [("kind:ruter", 2.0)])
