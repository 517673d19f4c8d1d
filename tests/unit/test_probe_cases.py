"""Which transfers are probed: by distance on whatever machine there is, never by fixed numbers."""

from __future__ import annotations

from typing import Any

import pytest

from kernbench.errors import UsageError
from kernbench.hardware.routing.fault_impact import without
from kernbench.workloads.probes.cases import CaseCatalogue
from tests.compiled import compiled


def catalogue(name: str = "minimal", overrides: dict[str, Any] | None = None) -> CaseCatalogue:
    return CaseCatalogue(compiled(name, overrides))


def ways(found: CaseCatalogue) -> dict[str, tuple[str, str]]:
    return {f"{case.name} {case.op}": (case.src, case.dst) for case in found.cases}


def test_the_default_machine_has_every_case_of_the_record() -> None:
    found = catalogue("default")
    assert found.left_out == []
    pe, host = "sip0.cube0.pe0.pe_dma", "host.cpu"
    expected = {
        f"{word}-{hops}hop {op}": (host, f"sip0.cube{4 * (hops - 1)}.hbm_ctrl.pe0")
        for word, op in (("h2d", "write"), ("d2h", "read"))
        for hops in (1, 2, 3, 4)
    }
    for name, slice_ in (
        ("pe-local-hbm", "sip0.cube0.hbm_ctrl.pe0"),
        ("pe-same-cube-hbm-best", "sip0.cube0.hbm_ctrl.pe1"),
        ("pe-same-cube-hbm-worst", "sip0.cube0.hbm_ctrl.pe7"),
        ("pe-cross-cube-hbm-best", "sip0.cube4.hbm_ctrl.pe0"),
        ("pe-cross-cube-hbm-worst", "sip0.cube15.hbm_ctrl.pe7"),
        ("pe-cross-sip-hbm-best", "sip1.cube0.hbm_ctrl.pe0"),
        ("pe-cross-sip-hbm-worst", "sip1.cube15.hbm_ctrl.pe7"),
    ):
        expected |= {f"{name} {op}": (pe, slice_) for op in ("read", "write")}
    assert ways(found) == expected


def test_the_smallest_machine_says_what_it_has_not() -> None:
    found = catalogue()
    assert [f"{c.name} {c.op}" for c in found.cases] == [
        "h2d-1hop write", "d2h-1hop read", "pe-local-hbm read", "pe-local-hbm write",
    ]  # fmt: skip
    assert {out.name: out.reason for out in found.left_out} == {
        "h2d-2hop": "the host reaches every cube in 1 hop",
        "d2h-2hop": "the host reaches every cube in 1 hop",
        "pe-same-cube-hbm-best": "a cube has no other HBM slice",
        "pe-same-cube-hbm-worst": "a cube has no other HBM slice",
        "pe-cross-cube-hbm-best": "a SIP has one cube",
        "pe-cross-cube-hbm-worst": "a SIP has one cube",
        "pe-cross-sip-hbm-best": "there is one SIP",
        "pe-cross-sip-hbm-worst": "there is one SIP",
    }


def test_a_level_with_one_slice_has_no_worst() -> None:
    found = catalogue(overrides={"system.sips": 2})
    assert "pe-cross-sip-hbm-best" in {case.name for case in found.cases}
    reasons = {out.name: out.reason for out in found.left_out}
    assert reasons["pe-cross-sip-hbm-worst"] == "there is one such slice, that of pe-cross-sip-hbm-best"


@pytest.mark.parametrize(("cubes", "level"), [(3, "pe-cross-cube-hbm"), (2, "pe-cross-cube-hbm-best")])
def test_slices_that_are_cut_off_are_said(cubes: int, level: str) -> None:
    side = [{"name": "io0", "side": "W"}]
    machine = {"sip.cube_mesh": {"w": cubes, "h": 1}, "sip.io_chiplets": side}
    cut, _ = without(compiled("minimal", machine), f"sip0.cube{cubes - 1}")
    reasons = {out.name: out.reason for out in CaseCatalogue(cut).left_out}
    lost = f"1 of {cubes} slices, first 'sip0.cube{cubes - 1}.hbm_ctrl.pe0'"
    assert reasons["h2d"] == reasons["d2h"] == f"the host has no way to {lost}"
    if cubes == 3:
        assert reasons[level] == "the PE has no way to 1 of 2 such slices, first 'sip0.cube2.hbm_ctrl.pe0'"
    else:
        assert reasons[level] == "the PE has no way to any such slice (1)"


def test_a_row_of_cubes_beside_the_host_takes_a_hop_each() -> None:
    side = [{"name": "io0", "side": "W"}]
    found = catalogue(overrides={"sip.cube_mesh": {"w": 5, "h": 1}, "sip.io_chiplets": side})
    cubes = [case.dst for case in found.cases if case.category == "h2d"]
    assert cubes == [f"sip0.cube{cube}.hbm_ctrl.pe0" for cube in range(5)]
    best, worst = (ways(found)[f"pe-cross-cube-hbm-{end} read"][1] for end in ("best", "worst"))
    assert (best, worst) == ("sip0.cube1.hbm_ctrl.pe0", "sip0.cube4.hbm_ctrl.pe0")


def test_cases_are_chosen_by_name() -> None:
    found = catalogue()
    assert found.chosen(None) == found.chosen("all") == found.cases
    assert [case.op for case in found.chosen("pe-local-hbm")] == ["read", "write"]
    with pytest.raises(UsageError, match=r"no case 'pe-cross-sip-hbm-best' \(there is one SIP\); it has h2d"):
        found.chosen("pe-cross-sip-hbm-best")
    with pytest.raises(UsageError, match=r"no case 'h2d'; it has h2d-1hop, d2h-1hop, pe-local-hbm$"):
        found.chosen("h2d")


@pytest.mark.parametrize(
    ("overrides", "setup_ns"),
    [
        ({"pe.pe_mmu.tlb_overhead_ns": 2.5}, 2.5),
        ({"pe.pe_mmu.tlb_overhead_ns": 2.5, "system.address_model": "pa"}, 2.5),
        ({"pe.pe_baaw.lookup_ns": 1.5, "system.address_model": "la"}, 1.5),
    ],
)
def test_a_pe_pays_for_looking_addresses_up(overrides: dict[str, Any], setup_ns: float) -> None:
    found = catalogue(overrides=overrides)
    assert {case.category: case.setup_ns for case in found.cases} == {
        "h2d": 0.0, "d2h": 0.0, "pe-dma": setup_ns,
    }  # fmt: skip
