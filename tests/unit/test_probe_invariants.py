"""Every check of the probe finds what it is there for: one figure of a measurement is tampered with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import kernbench as kb
from kernbench.workloads.probes.measurements import CaseRow, Measurement
from kernbench.workloads.probes.probe_checks import CHECKS, check

SIZES = (256, 4096)
MACHINE = {
    "system.sips": 2,
    "sip.cube_mesh": {"w": 1, "h": 2},
    "cube.pes": {"count": 4, "corners": ["NW", "SE"]},
    "cube.hbm.pseudo_channels": 32,
    "cube.hbm.capacity_bytes": 1 << 30,
}


@pytest.fixture(scope="module")
def rows() -> tuple[CaseRow, ...]:
    return kb.probe(kb.load_topology("minimal", MACHINE), sizes=SIZES, nbytes=4096).rows


def tampered(rows: tuple[CaseRow, ...], case: str, op: str, nbytes: int, **figures: Any) -> list[CaseRow]:
    """``rows`` with other figures for one measurement; a figure may be a function of the measurement."""

    def changed(m: Measurement) -> Measurement:
        return replace(m, **{k: v(m) if callable(v) else v for k, v in figures.items()})

    found = [
        CaseRow(row.case, {n: changed(m) if n == nbytes else m for n, m in row.by_size.items()})
        if (row.case.name, row.case.op) == (case, op)
        else row
        for row in rows
    ]
    assert any(new is not old for new, old in zip(found, rows, strict=True))
    return found


def violated(rows: list[CaseRow]) -> dict[str, str]:
    return {finding.name: finding.detail for finding in check(rows) if finding.ok is False}


def test_a_sound_machine_violates_nothing_and_nothing_goes_unchecked(rows: tuple[CaseRow, ...]) -> None:
    findings = check(rows)
    assert len(findings) == len(CHECKS)
    assert [finding.line for finding in findings if finding.ok is not True] == []
    assert all(finding.line.startswith(f"[v] {finding.name}: ") for finding in findings)


def test_one_row_alone_leaves_comparisons_out_and_says_so(rows: tuple[CaseRow, ...]) -> None:
    findings = check(rows[:1])
    nothing = [finding.line for finding in findings if finding.ok is None]
    assert len(nothing) == 4
    assert "[-] h2d and d2h grow with hops: needs two numbers of hops" in nothing


def late(hop: int, by: float) -> Callable[[Measurement], Any]:
    def hops(m: Measurement) -> Any:
        changed = replace(m.hops[hop], t_out=m.hops[hop].t_out + by)
        return (*m.hops[:hop], changed, *m.hops[hop + 1 :])

    return hops


def empty(m: Measurement) -> Any:
    return tuple(replace(hop, nbytes=0) for hop in m.hops)


def instant(m: Measurement) -> Any:
    return tuple(replace(hop, t_out=hop.t_in) for hop in m.hops)


def _tampers() -> Iterator[Any]:
    local = ("pe-local-hbm", "read", 4096)
    yield "formula equals simulation", local, {"actual_ns": lambda m: m.actual_ns + 2e-9}
    yield "every hop passed when the formula says", local, {"hops": late(1, 2e-9)}
    yield "every hop passed when the formula says", local, {"hops": lambda m: m.hops[:-1]}
    yield "hop times add up", local, {"service_ns": lambda m: m.service_ns - 2e-9}
    yield (
        "hop times add up",
        local,
        {
            "wait_ns": 1.0,
            "service_ns": lambda m: m.service_ns - 1.0,
        },
    )
    yield (
        "causes add up",
        local,
        {
            "prediction": lambda m: replace(
                m.prediction, hops=(replace(m.prediction.hops[0], t_out=1000.0), *m.prediction.hops[1:])
            )
        },
    )
    yield "reads and writes pay every link", local, {"hops": empty}
    yield "reads and writes pay every link", local, {"hops": instant}
    yield "effective bandwidth within the bottleneck", local, {"actual_ns": 15.999}
    yield "more bytes take no less time", local, {"actual_ns": 10.0}
    yield "local <= same cube <= other cube <= other SIP", local, {"actual_ns": 60.0}
    yield (
        "local <= same cube <= other cube <= other SIP",
        ("pe-cross-sip-hbm-best", "write", 256),
        {"actual_ns": 60.0},
    )
    yield "best <= worst", ("pe-cross-cube-hbm-worst", "write", 256), {"actual_ns": 60.0}
    yield "h2d and d2h grow with hops", ("d2h-2hop", "read", 256), {"actual_ns": 60.0}
    yield (
        "one flit: read as long as write",
        ("pe-local-hbm", "write", 256),
        {"actual_ns": lambda m: m.actual_ns + 2e-9},
    )
    yield "nothing outstanding at the end", local, {"unfinished": 1}


TAMPERS = tuple(_tampers())


@pytest.mark.parametrize(
    ("name", "where", "figures"), TAMPERS, ids=[f"{i}-{t[0]}" for i, t in enumerate(TAMPERS)]
)
def test_each_check_finds_its_violation(
    rows: tuple[CaseRow, ...], name: str, where: tuple[str, str, int], figures: dict[str, Any]
) -> None:
    found = violated(tampered(rows, *where, **figures))
    assert name in found
    assert "of" in found[name]


def test_every_check_has_a_tamper() -> None:
    assert {name for name, _, _ in CHECKS} == {name for name, _, _ in TAMPERS}


def test_a_violation_names_the_place(rows: tuple[CaseRow, ...]) -> None:
    name = rows[0].by_size[4096].hops[5].name
    found = violated(tampered(rows, rows[0].case.name, rows[0].case.op, 4096, hops=late(5, 1.0)))
    assert f"{name} passes on the last flit at" in found["every hop passed when the formula says"]


def test_a_machine_that_is_made_otherwise_is_not_blamed() -> None:
    """Two PEs in far corners and seams for nothing: the neighbour's memory is nearer than the own cube's."""
    machine = kb.load_topology("minimal", {
        **MACHINE,
        "cube.pes": {"count": 2, "corners": ["NE", "SW"]},
        "sip.cube_mesh": {"w": 2, "h": 1},
        "cube.ucie.overhead_ns": 0.0,
        "cube.router.overhead_ns": 7.0,
    })  # fmt: skip
    report = kb.probe(machine, sizes=SIZES, nbytes=4096)
    assert report.ok
    (finding,) = (f for f in report.findings if f.name.startswith("local <= same cube"))
    assert "the others by this machine's figures; first: pe-cross-cube-hbm-best" in finding.line


@pytest.mark.daily("read-as is", "write-slow link to the TCM")
@pytest.mark.parametrize("set_", [{}, {"pe.links.internal_gbs": 64}], ids=["as is", "slow link to the TCM"])
@pytest.mark.parametrize("op", ["read", "write"])
def test_a_probe_and_the_critical_path_say_the_same_of_a_transfer(op: str, set_: dict[str, Any]) -> None:
    """In all, and by cause; every invariant holds."""
    machine = kb.load_topology("minimal", set_)
    report = kb.probe(machine, sizes=(4096,), nbytes=4096)
    assert report.violations == []
    (row,) = [row for row in report.rows if (row.case.name, row.case.op) == ("pe-local-hbm", op)]
    flow = {"src": row.case.src, "dst": row.case.dst, "bytes": 4096, "op": op}
    path = kb.traffic([flow], machine).critical_path()
    assert path.ns == pytest.approx(row.by_size[4096].actual_ns, abs=1e-9)
    assert {cause: ns for cause, ns in row.by_size[4096].prediction.breakdown().items() if ns} == (
        pytest.approx(path.by_cause(), abs=1e-9)
    )


def test_a_transfer_over_a_slow_link_to_the_tcm_by_hand() -> None:
    """256 bytes at 64 GB/s from when the first of them come, 13 ns after the read was sent."""
    report = kb.probe(kb.load_topology("minimal", {"pe.links.internal_gbs": 64}), sizes=(256,), nbytes=256)
    read, write = (row.by_size[256] for row in report.rows if row.case.name == "pe-local-hbm")
    assert (read.actual_ns, read.service_ns, read.prediction.bottleneck_gbs) == (17.0, 17.0, 64.0)
    assert (write.actual_ns, write.prediction.bottleneck_gbs) == (17.0, 64.0)


def test_rows_and_refreshes_have_no_closed_form_and_that_is_said() -> None:
    dram = kb.load_topology("minimal", {"cube.hbm.model": "dram"})
    rows = kb.probe(dram, sizes=(1, 100, 257), nbytes=257).rows
    findings = check(rows)
    assert not [finding.line for finding in findings if finding.ok is False]
    said = {finding.name: finding.line for finding in findings if finding.ok is None}
    assert "DRAM have no closed form: 4 of 4 ways left out" in said["formula equals simulation"]
    assert "causes add up" not in said
