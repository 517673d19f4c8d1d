"""Where the time of DMA transfers goes: the parts add up, and are what the topology's figures say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.machine.machine import Machine
from kernbench.pgraph import PropertyGraph
from kernbench.report.figures.breakdown import PARTS, breakdown
from kernbench.report.figures.scenarios import Scenario, ScenarioFlow
from kernbench.report.figures.transfers import (
    BANDWIDTH_COLUMNS,
    LATENCY_COLUMNS,
    Row,
    bandwidth_rows,
    latency_rows,
    machine_for,
    play,
    scenarios,
)
from tests.compiled import compiled
from tests.examples import examples

OBLONG = str(Path(__file__).with_name("oblong.yaml"))
BYTES = 4096


@cache
def graph(name: str = OBLONG, sips: int | None = None) -> PropertyGraph:
    return compiled(name, None if sips is None else {"system.sips": sips})


@cache
def rows(nbytes: int = BYTES) -> tuple[Row, ...]:
    found, _ = scenarios(graph())
    return tuple(latency_rows(graph(), found, nbytes))


def parts(row: Row) -> dict[str, float]:
    return {part: row[f"{part}_ns"] for part in PARTS}


def slowest(scenario: str, op: str) -> Row:
    (row,) = (r for r in rows() if r["scenario"] == scenario and r["op"] == op and r["slowest"])
    return row


@pytest.mark.parametrize("nbytes", [1, pytest.param(BYTES, marks=pytest.mark.slow)])
def test_parts_add_up_to_the_measured_time(nbytes: int) -> None:
    for row in rows(nbytes):
        assert sum(parts(row).values()) == pytest.approx(row["total_ns"], abs=1e-9)
        assert min(parts(row).values()) >= 0.0


def test_what_runs_alone_contends_with_nothing() -> None:
    for row in rows():
        if not row["contended"] or "local" in row["scenario"]:
            assert row["contention_ns"] == 0.0, row
    assert all(
        slowest(f"{n} PEs, one slice", op)["contention_ns"] > 10
        for n in (2, 4, 6)
        for op in ("read", "write")
    )


def test_contention_is_what_the_others_cost() -> None:
    """The last PE, alone and with five others at its slice: all else stays as it was, or nearly so."""
    for op in ("write", "read"):
        together = slowest("6 PEs, one slice", op)
        lone = Scenario("alone", (ScenarioFlow(together["src"], together["dst"]),))
        machine, (transaction,) = play(graph(), lone, op, BYTES)
        alone = breakdown(machine, transaction.rows)
        for part in ("mesh", "ucie", "fabric", "setup"):
            assert together[f"{part}_ns"] == pytest.approx(alone[part], abs=1.0)
        lost = together["total_ns"] - sum(alone.values())
        assert together["contention_ns"] == pytest.approx(lost, rel=0.2)


def test_a_write_to_the_own_slice_by_hand() -> None:
    found, _ = scenarios(graph("minimal"))
    row = latency_rows(graph("minimal"), found[:1], BYTES)[0]
    assert row["op"] == "write"
    # 16 flits of 1 ns onto the first link and the last of them over the second; 256 bytes at a channel of
    # 32 GB/s; the router's 2 ns for the data and for the acknowledgement.
    assert parts(row) == {**dict.fromkeys(PARTS, 0.0), "mesh": 4.0, "transfer": 17.0, "hbm": 8.0}


def test_crossing_a_seam_costs_two_ports_each_way() -> None:
    row = slowest("neighbour cube", "write")
    # Four ports of 8 ns, out and back, and 1 mm of seam at 0.013 ns per mm both times.
    assert row["ucie_ns"] == pytest.approx(4 * 8 + 2 * 0.013)
    other = slowest("other SIP", "write")
    # Per way: two endpoints of 5 ns that cut through, the switch with 5 ns, two wires of 50 mm.
    assert other["fabric_ns"] == pytest.approx(2 * (2 * 5 + 5 + 100 * 0.013))
    assert other["contention_ns"] == 0.0


@examples(20)
@given(
    pe=st.integers(0, 5),
    to=st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 5)),
    nbytes=st.integers(1, 6000),
    op=st.sampled_from(("read", "write")),
)
def test_any_lone_transfer_closes_without_contention(
    pe: int, to: tuple[int, int, int], nbytes: int, op: str
) -> None:
    sip, cube, slice_ = to
    flow = ScenarioFlow(f"sip0.cube0.pe{pe}", f"sip{sip}.cube{cube}.hbm_ctrl.pe{slice_}")
    machine, (transaction,) = play(graph(), Scenario("any", (flow,)), op, nbytes)
    spent = breakdown(machine, transaction.rows)
    assert sum(spent.values()) == pytest.approx(transaction.t_done - transaction.t_submit, abs=1e-9)
    assert spent["contention"] == 0.0


@pytest.mark.slow
def test_bandwidth_is_measured_against_the_tightest_resource() -> None:
    found, _ = scenarios(graph())
    few = [s for s in found if s.name in ("own slice", "neighbour cube", "6 PEs, all local")]
    measured = {(r["scenario"], r["op"]): r for r in bandwidth_rows(graph(), few, 1 << 14)}
    assert len(measured) == 6
    assert all(tuple(row) == BANDWIDTH_COLUMNS for row in measured.values())
    own = measured["own slice", "write"]
    # 4 channels of 48 GB/s at 90 %.
    assert own["peak_gbs"] == pytest.approx(172.8)
    assert own["tightest"] in ("sip0.cube0.hbm_ctrl.pe0", "sip0.cube0.r0c0->sip0.cube0.hbm_ctrl.pe0")
    assert measured["neighbour cube", "read"]["peak_gbs"] == pytest.approx(96.0)
    assert measured["6 PEs, all local", "read"]["peak_gbs"] == pytest.approx(6 * 172.8)
    for row in measured.values():
        assert 0.0 < row["utilisation"] <= 1.0
        assert row["achieved_gbs"] == pytest.approx(row["flows"] * row["bytes_each"] / row["makespan_ns"])
        assert row["achieved_gbs"] == pytest.approx(row["utilisation"] * row["peak_gbs"])


def test_scenarios_are_found_in_the_topology() -> None:
    found, missing = scenarios(graph())
    assert not missing
    by_name = {scenario.name: scenario for scenario in found}
    assert list(by_name) == [
        "own slice", "same cube, nearest slice", "same cube, farthest slice", "neighbour cube",
        "farthest cube", "other SIP", "2 PEs, one slice", "4 PEs, one slice", "6 PEs, one slice",
        "6 PEs, all local", "6 PEs, ring neighbours",
    ]  # fmt: skip
    # The diagonal of a mesh of 3 x 2 cubes; the corner opposite to PE 0.
    assert by_name["farthest cube"].flows[0].dst == "sip0.cube5.hbm_ctrl.pe0"
    assert by_name["same cube, farthest slice"].flows[0].dst == "sip0.cube0.hbm_ctrl.pe5"
    local = by_name["6 PEs, all local"].flows
    assert [flow.dst for flow in local] == [f"sip0.cube0.hbm_ctrl.pe{p}" for p in range(6)]
    assert all(tuple(row) == LATENCY_COLUMNS for row in rows())


def test_what_a_topology_is_too_small_for_is_named() -> None:
    found, missing = scenarios(graph("minimal"))
    assert [scenario.name for scenario in found] == ["own slice"]
    assert len(missing) == 8
    assert {item.why for item in missing} >= {"the tray has one SIP", "its cube has one PE"}


def test_packages_that_stand_by_change_nothing() -> None:
    large = graph(OBLONG, 4)
    small = machine_for(large)
    assert len(small) < len(large)
    found, _ = scenarios(large)
    far = [scenario for scenario in found if scenario.name in ("other SIP", "2 PEs, one slice")]
    assert scenarios(small)[0] == found
    assert latency_rows(small, far, 512) == latency_rows(large, far, 512)
    assert machine_for(graph()) is graph()
    assert Machine(small).components.keys() < Machine(large).components.keys()
