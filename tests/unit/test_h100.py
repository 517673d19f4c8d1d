"""The machine h100: figures of measured rows, whole grids, and errors that are added up right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kernbench as kb
from kernbench.data_files import data_dir
from kernbench.user_modules import load_file
from kernbench.validation import h100, validate
from kernbench.validation.table_file import cases, lines_of, read
from tests.triton_kernels import measured
from tools.gpu.figures import Measured
from tools.gpu.figures import read as measured_rows

CONFIGS = Path(str(data_dir("configs")))
ASSUMED = {"pe_math.reduce.within, latency", "pe_math.reduce.within, rate"}
"""Figures that the machine does not take from its rows, and says so."""


def said(key: str, spec: Any) -> float:
    """The machine's figure for one of a GPU's, in the unit of that."""
    pe, wires = spec["blocks"]["gpu"]["parts"]["pe"], spec["wires"]
    hbm, cache = spec["blocks"]["gpu"]["parts"]["hbm"], spec["memory"]["cache"]
    ghz = pe["clock"]["ghz"]
    name, _, what = key.removeprefix("pe_math.cycles.").partition(", ")
    if key.startswith("pe_math.cycles."):
        reduced = name in ("sum", "max")
        pair = pe["pe_math"]["reduce"]["across"] if reduced else pe["pe_math"]["cycles"][name]
        return float(pair[what == "rate"])
    energy = spec["energy"]
    read = "pj_per_byte_read"
    return float({
        "energy.static": energy["router"]["static_mw"] / 1e3,
        "energy.read HBM": energy["hbm_ctrl"][read] + energy["memory_cache"][read],
        "energy.read cache 16 MiB": energy["memory_cache"][read],
        "energy.dot on chip 128x256x64": energy["pe_gemm"]["pj_per_mac"]["f16"] / 2,
        "energy.fma on chip": energy["pe_math"]["pj_per_op"]["f32"] * 2,
        "clock.ghz": ghz,
        "clock.loaded_ghz": pe["clock"]["loaded_ghz"],
        "launch.ns, 1 blocks": spec["parts"]["host.cpu"]["launch_ns"],
        "launch.ns, 132 blocks": spec["parts"]["host.cpu"]["launch_ns"]
        + 131 * spec["blocks"]["gpu"]["parts"]["m_cpu"]["overhead_ns"],
        "memory.cache.hit": cache["hit_ns"] * ghz,
        "memory.latency": (cache["hit_ns"] + hbm["access_ns"]) * ghz,
        "memory.gbs": hbm["channel_gbs"],
        "memory.cache.gbs": cache["gbs"],
        "memory.cache.write_gbs": cache["write_gbs"],
        "memory.cache.capacity, least": float(cache["capacity"].split()[0]),
        "pe.links.dma_gbs": wires["way"]["gbs"],
        "pe.links.dma_gbs, stores": wires["stores"]["gbs"],
        "pe_gemm.fixed": pe["pe_gemm"]["fixed_cycles"],
        "pe_gemm.macs_per_cycle": pe["pe_gemm"]["macs_per_cycle"],
        "pe_gemm.smallest.fixed": pe["pe_gemm"]["smallest"]["fixed"],
        "pe_gemm.smallest.macs_per_cycle": pe["pe_gemm"]["smallest"]["macs"],
        "pe_dma.issue.load": pe["pe_dma"]["issue"]["load_cycles"],
        "pe_dma.issue.bytes_per_cycle": pe["pe_dma"]["issue"]["bytes_per_cycle"],
        "pe_dma.rearrange": pe["pe_dma"]["rearrange"]["cycles"],
        "pe_dma.rearrange.bytes_per_cycle": pe["pe_dma"]["rearrange"]["bytes_per_cycle"],
    }[key])  # fmt: skip


def test_figures_are_those_of_the_calibration_rows() -> None:
    spec = yaml.safe_load((CONFIGS / "topologies" / "zoo" / "h100.yaml").read_text(encoding="utf-8"))
    figures = Measured(measured_rows(CONFIGS / "validation" / "h100_calibration.csv")).figures()
    compared = [one for one in figures if one.key not in ASSUMED]
    compared = [one for one in compared if not one.key.startswith("launch.ns, 1320")]
    assert len(compared) > 25
    for one in compared:
        assert said(one.key, spec) == pytest.approx(one.value, rel=0.015, abs=0.01), one.key


def test_no_row_is_for_calibration_and_for_judging() -> None:
    tables = {str(line["table"]) for line in lines_of("h100_rows.csv")}
    assert tables == {"one block", "kernel", "own layer", "layer", "layer part"}


def test_a_grid_runs_whole_and_right_on_132_pes() -> None:
    name = load_file(str(CONFIGS / "validation" / "h100_kernels.py"), "kernels")
    kernels = __import__(name)
    rnd = np.random.default_rng(1)
    a, b = (rnd.standard_normal(shape).astype(np.float16) for shape in ((192, 64), (64, 352)))
    done = kb.run_kernel(
        kernels.matmul_blocks[(12 * 11,)], a, b, out=np.zeros((192, 352), np.float16), M=192, N=352, K=64,
        BM=16, BN=32, BK=32, GROUP=4, STAGES=3, topology="h100", store="memory:",
    )  # fmt: skip
    np.testing.assert_allclose(done.output, a.astype(np.float32) @ b.astype(np.float32), rtol=2e-2, atol=2e-2)
    assert done.run.launches[0]["pes"] == 132


def test_errors_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(shape: int, *times: tuple[float, float]) -> list[h100.Found]:
        return [({"m": shape, "n": 1, "k": 1}, measured, ours) for measured, ours in times]

    rows = [
        *of(1, (1.0, 1.1), (2.0, 1.0), (3.0, 3.3), (4.0, 4.0)),
        *of(2, (10.0, 10.0), (20.0, 20.0), (30.0, 30.0), (40.0, 40.0)),
    ]
    monkeypatch.setattr(h100, "_found", lambda kind, extent: iter(rows))

    def said(what: str) -> float:
        return h100.spread({"of": "x", "what": what, "extent": "short"})

    assert said("median") == pytest.approx(0.0)
    assert said("worst") == pytest.approx(50.0)
    assert said("90th") == pytest.approx(10 + 0.3 * 40)
    assert said("tau") == pytest.approx((27 - 1) / 28)
    assert said("tau in a shape") == pytest.approx((4 / 6 + 1) / 2)
    assert said("loss") == pytest.approx((100 + 0) / 2)


def test_short_cases_are_there_for_each_kind() -> None:
    short: dict[str, int] = {}
    for group in read("h100").groups:
        if group.measure == "us":
            found = [case for _, _, case in cases(group)]
            kind = str(group.settings["set"])
            short[kind] = short.get(kind, 0) + sum(not h100.is_left_out(case, "short") for case in found)
            assert all(str(case["case"]) in h100.PROBLEMS for case in found)
    assert {kind for kind, count in short.items() if not count} == {"layers"}


def test_more_cases_are_measured_as_more_is_asked_for() -> None:
    found = [case for group in read("h100").groups if group.measure for _, _, case in cases(group)]
    short, usual, every = (
        [case for case in found if not h100.is_left_out(case, extent)] for extent in ("short", "usual", "all")
    )
    assert len(short) < len(usual) < len(every) == len(found)
    assert all(case in usual for case in short)
    layers = [case for case in usual if case.get("table") == "own layer"]
    assert [h100.turns(case) for case in layers] == [13056.0] * 4
    assert max(h100.turns(case) for case in usual if case.get("table") == "kernel") <= h100.TURNS["usual"]


@pytest.mark.slow
def test_the_usual_form_keeps_limits_of_layers(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(h100.TURNS, "usual", 0)
    monkeypatch.setattr(h100, "USUAL_TURNS", {"layers": h100.USUAL_TURNS["layers"]})
    ended = cli("validate", "h100", "--format", "json")
    assert ended.status == 0
    told = json.loads(ended.out)
    rows = {row["row"]: row["verdict"] for row in told["rows"]}
    assert told["left_out"] > 150
    assert rows["layers, median error"] == rows["layers, 90th error"] == "within"


@pytest.mark.parametrize(
    ("kernel", "figure", "spent"),
    [
        ("sm_dot", "energy.dot on chip 128x256x64", 2 * 128 * 256 * 64),
        ("sm_math", "energy.fma on chip", 4096),
    ],
)
def test_steady_loads_spend_what_their_power_says(kernel: str, figure: str, spent: int) -> None:
    """More rounds of a load of which a figure was made cost that figure for each operation, and no more."""
    figures = Measured(measured_rows(CONFIGS / "validation" / "h100_calibration.csv")).figures()
    (expected,) = (one.value for one in figures if one.key == figure)
    of = getattr(measured, kernel)[(2,)]
    more = {"M": 128, "N": 256, "K": 64} if kernel == "sm_dot" else {"OP": "fma", "BLOCK": 4096}
    operands = (2, np.float16, 1 << 16) if kernel == "sm_dot" else (1, np.float32, 4096)
    made = [np.zeros(operands[2], operands[1]) for _ in range(operands[0])]
    found = []
    for rounds in (3, 7):
        done = kb.run_kernel(
            of, *made, out=np.zeros(1 << 16, np.float32), rounds=rounds, **more,
            topology="h100", store="memory:",
        )  # fmt: skip
        found += [row["dynamic_pj"] for row in done.run.energy("launch")["rows"] if row["launch"] == 0]
    assert (found[1] - found[0]) / (4 * 2 * spent) == pytest.approx(expected, rel=0.01)


@pytest.mark.slow
def test_the_power_of_a_product_is_within_what_its_parts_take() -> None:
    static, dynamic = h100._power()
    assert static == pytest.approx(140.6)
    most = 132 * 1909 * 1.575e9  # multiplications a second
    assert 0.8 * most * 1.44e-12 < dynamic < most * (1.44 + 74.4 * (128 + 256) * 2 / (128 * 256)) * 1e-12
    case = {"limit_w": 700.0, "mhz": 1575.0}
    assert h100.watts(case) == 700.0
    assert h100.limited_mhz(case) == pytest.approx(1575 * ((700 - static) / dynamic) ** (1 / 3))
    assert h100.limited_mhz({**case, "limit_w": 5000.0}) == 1575.0
    assert h100.watts({**case, "limit_w": 5000.0}) == static + dynamic


def test_a_case_takes_what_its_launches_take() -> None:
    params = json.dumps({"rows": 8, "cols": 1024, "warps": 4})
    alone = h100.us({"case": "softmax f16", "params": params})
    assert 1.0 < alone < 2.5


def test_short_cases_keep_what_the_page_says() -> None:
    page = (CONFIGS.parent / "docs" / "reference" / "validation.md").read_text(encoding="utf-8")
    page = page.replace("**", "")
    report = validate("h100", short=True)
    assert len(report.rows) > 50
    shown = [row for row in report.rows if "for 9 in 10" not in row.limit]
    for row in shown:
        assert f"| {row.row} |" in page
        assert f"| {row.basis} | {row.verdict} |" in next(
            line for line in page.splitlines() if f"| {row.row} |" in line
        ), row.row


def test_a_layer_by_a_library_is_the_decoder_on_one_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = [group for group in read("h100").groups if group.measure == "decoder_us"]
    found = [case for group in groups for _, _, case in cases(group)]
    tables = [case["table"] for case in found]
    assert (tables.count("layer"), tables.count("layer part")) == (12, 80)
    assert len({(case["table"], case["case"], case["params"]) for case in found}) == 92
    assert not any(h100.is_left_out(case, "all") for case in found)
    assert all(h100.is_left_out(case, "usual") for case in found)
    monkeypatch.setitem(h100.SIZES, "small", {"hidden": 512, "heads": 8, "kv_heads": 2, "ffn": 512})
    sizes = {"model": "small", "tp": 2, "phase": "decode", "batch": 2, "kv": 64}
    one, more = (h100.decoder_us({"params": json.dumps({**sizes, "kv": kv})}) for kv in (64, 512))
    assert 5 < one < more < 100
    part = {"table": "layer part", "params": json.dumps({**sizes, "kv": 64})}
    names = ("rmsnorm", "qkv", "attention", "o", "gate_up", "down")
    parts = [h100.decoder_us({**part, "case": name}) for name in names]
    assert min(parts) > 0.82
    assert sum(parts) + parts[0] < one
