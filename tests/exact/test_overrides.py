"""Times on a machine with overrides: the closed form, and a machine that is faster everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph
from tests.exact.max_plus import MaxPlus
from tests.exact.test_uncontended import Bed, spread

UNEVEN = [
    {"where": "kind:router", "speed": 0.5},
    {"where": "kind:router_mesh", "speed": 3.0},
    {"where": "sip0.cube0.r0c0->sip0.cube0.r0c1", "speed": 0.1},
    {"where": "sip0.cube1", "speed": 1.7},
    {"where": "kind:hbm_ctrl", "speed": 0.7},
    {"where": "sip0.cube1.hbm_ctrl.pe1", "speed": 5.0},
    {"where": "kind:ucie_mesh", "speed": 0.25},
    {"where": "kind:pe_dma", "speed": 4.0},
    {"where": "kind:pe_to_router", "free": True},
    {"where": "kind:pe_internal", "speed": 0.3},
]
SMALL: dict[str, Any] = {
    "schema_version": 1,
    "name": "small",
    "system": {"sips": 1, "ns_per_mm": 0.013},
    "sip": {"cube_mesh": {"w": 2, "h": 1}},
    "cube": {"pes": {"count": 4}, "hbm": {"overhead_ns": 1.5, "pseudo_channels": 16}},
    "pe": {"pe_dma": {"overhead_ns": 0.75}},
}


def bed(folder: Path, overrides: list[dict[str, Any]]) -> Bed:
    file = folder / "m.yaml"
    file.write_text(json.dumps({**SMALL, "overrides": overrides}), encoding="utf-8")
    return Bed(str(file))


def test_transfers_on_an_uneven_machine(tmp_path: Path) -> None:
    uneven = bed(tmp_path, UNEVEN)
    for pe, slice_name, nbytes, kind in spread(uneven, 1):
        uneven.check(pe, slice_name, nbytes, kind)


def test_the_figures_are_those_of_the_plain_machine_times_the_speeds(tmp_path: Path) -> None:
    """The closed form with figures scaled here by hand, from a machine that knows no overrides."""
    plain, uneven = bed(tmp_path, []), bed(tmp_path, UNEVEN)
    reference = MaxPlus(plain.graph)
    router, mesh = {}, {}
    for name, p in reference.node.items():
        cube1 = 1.7 if p["impl"] and p["cube"] == 1 else 1.0
        router[name] = dict(p)
        if p["kind"] == "router":
            router[name]["overhead_ns"] = p["overhead_ns"] / (0.5 * cube1)
        elif p["kind"] == "hbm_ctrl":
            speed = 0.7 * cube1 * (5.0 if name == "sip0.cube1.hbm_ctrl.pe1" else 1.0)
            router[name]["overhead_ns"] = p["overhead_ns"] / speed
            router[name]["channel_gbs"] = p["channel_gbs"] * speed
        elif p["kind"] == "pe_dma":
            router[name]["overhead_ns"] = p["overhead_ns"] / (4.0 * cube1)
        else:
            router[name]["overhead_ns"] = p["overhead_ns"] / cube1
    for (source, target), p in reference.link.items():
        speeds = {"router_mesh": 3.0, "ucie_mesh": 0.25, "pe_to_router": 1e12, "pe_internal": 0.3}
        speed = speeds.get(str(p["kind"]), 1.0)
        if (source, target) == ("sip0.cube0.r0c0", "sip0.cube0.r0c1"):
            speed *= 0.1
        if source.startswith("sip0.cube1.") and target.startswith("sip0.cube1."):
            speed *= 1.7
        mesh[source, target] = {
            **p,
            "bw_gbs": p["bw_gbs"] * speed,
            "delay_ns": p["distance_mm"] * 0.013 / speed,
        }
    reference.node, reference.link = router, mesh
    uneven.reference = reference
    for pe, slice_name, nbytes, kind in spread(uneven, 3):
        uneven.check(pe, slice_name, nbytes, kind)


EVERYTHING_TAKES_TIME = {
    "system": {"host": {"overhead_ns": 0.5}},
    "sip": {
        "io_chiplets": [{"name": "io0", "io_noc": {"overhead_ns": 0.5}, "io_ucie_conn": {"overhead_ns": 1.0}}]
    },
    "cube": {"ucie_conn": {"overhead_ns": 0.5}, "hbm": {"overhead_ns": 1.5, "switch_penalty_ns": 4.0}},
    "pe": {
        "pe_cpu": {"overhead_ns": 1.0, "dispatch_cycles": 3.0},
        "pe_scheduler": {"overhead_ns": 2.0},
        "pe_dma": {"overhead_ns": 0.75},
        "pe_fetch_store": {"overhead_ns": 0.5},
        "pe_gemm": {"overhead_ns": 1.0},
        "pe_math": {"overhead_ns": 1.0},
        "pe_tcm": {"overhead_ns": 0.25},
        "pe_mmu": {"overhead_ns": 0.5, "tlb_overhead_ns": 1.5},
        "pe_baaw": {"overhead_ns": 0.5, "lookup_ns": 1.5},
    },
}


def machine(model: str, mapping: str, overrides: list[dict[str, Any]]) -> PropertyGraph:
    content: dict[str, Any] = {"schema_version": 1, "name": "m", "overrides": overrides}
    content |= {section: dict(values) for section, values in EVERYTHING_TAKES_TIME.items()}
    content["system"] |= {"sips": 1, "address_model": model}
    content["sip"] |= {"cube_mesh": {"w": 2, "h": 1}}
    content["cube"]["hbm"] = {**content["cube"]["hbm"], "mapping": mapping}
    return compile_topology(parse(json.dumps(content)))


def kernel(a: Any, out: Any, tl: Any) -> None:
    value = tl.load(a)
    tl.cycles(7)
    tl.store(out, tl.exp(value) + tl.dot(value, value))
    tl.wait(tl.composite("gemm", a, a, out, tile_shape=(16, 32, 32)))


def program(torch: Any) -> None:
    a = torch.from_numpy(np.ones((64, 64), dtype=np.float16), name="a")
    out = torch.empty(64, 64, name="out")
    torch.launch("k", kernel, a, out)
    torch.launch("k", kernel, a, out)


@pytest.mark.daily("va")
@pytest.mark.parametrize("model", ["va", "pa", "la", "one_to_one"])
def test_a_machine_twice_as_fast_everywhere_takes_exactly_half_the_time(model: str) -> None:
    """Every time of a run scales, so no rate, overhead or delay that counts is left out. 2 rounds nothing."""
    address, mapping = ("la", "one_to_one") if model == "one_to_one" else (model, "n_to_one")
    once, twice = (
        kb.run(program, machine(address, mapping, overrides), store="memory:").tables
        for overrides in ([], [{"where": "tray", "speed": 2.0}])
    )
    for table, columns in once.items():
        for name in columns.column_names:
            here, there = columns[name].to_pylist(), twice[table][name].to_pylist()
            if name.startswith("t_") or name.endswith("_ns") or name == "ns":
                here = [value / 2 for value in here]
            assert here == there, f"{table}.{name}"
