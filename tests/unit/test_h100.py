"""The machine h100: figures of measured rows, whole grids, and errors that are added up right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kernbench as kb
from kernbench.support.data_files import data_dir
from kernbench.support.user_modules import load_file
from kernbench.validation import h100, sampling, table_file
from kernbench.validation.row_statistics import Found, statistic
from kernbench.validation.sampling import sampled
from kernbench.validation.table_file import cases, lines_of, read
from tests.measured_once import some
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
        "pe_gemm.macs_per_cycle": pe["pe_gemm"]["macs_per_cycle"]["*"],
        "pe_gemm.smallest.fixed": pe["pe_gemm"]["smallest"]["fixed"],
        "pe_gemm.smallest.macs_per_cycle": pe["pe_gemm"]["smallest"]["macs"],
        "pe_gemm.staging_bytes_per_cycle": pe["pe_gemm"]["staging_bytes_per_cycle"],
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


@pytest.mark.slow
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


def test_errors_are_added_up() -> None:
    def of(shape: int, *times: tuple[float, float]) -> list[Found]:
        return [({"m": shape, "n": 1, "k": 1}, measured, ours) for measured, ours in times]

    rows = [
        *of(1, (1.0, 1.1), (2.0, 1.0), (3.0, 3.3), (4.0, 4.0)),
        *of(2, (10.0, 10.0), (20.0, 20.0), (30.0, 30.0), (40.0, 40.0)),
    ]

    def said(what: str, found: list[Found] = rows) -> float | None:
        return statistic(what, found, 9).figure

    assert said("median") == pytest.approx(0.0)
    assert said("worst") == pytest.approx(50.0)
    assert said("90th") is None
    assert said("90th", [*rows, *of(3, (1.0, 1.0), (1.0, 1.0))]) == pytest.approx(10 + 0.1 * 40)
    assert said("tau") == pytest.approx((27 - 1) / 28)
    assert said("tau in a shape") is said("loss") is None
    more = [
        *rows[:4],
        *(one for shape in range(2, 6) for one in of(shape, *((t, t) for t in (1.0, 2.0, 3.0, 4.0)))),
    ]
    assert said("tau in a shape", more) == 1.0
    wrong = [
        *(one for shape in range(5) for one in of(shape, (1.0, 1.1), (2.0, 1.0), (3.0, 3.3), (4.0, 4.0)))
    ]
    assert said("tau in a shape", wrong) == pytest.approx(4 / 6)
    assert said("loss", wrong) == pytest.approx(100.0)


@pytest.mark.slow
def test_a_sample_has_cases_of_each_kind() -> None:
    for extent, none in (("short", {"parts of layers by a library", "layers by a library"}), ("all", set())):
        samples = [sampled("h100", group, extent)[1] for group in read("h100").groups if group.set]
        found = {one.rows: 0 for one in samples}
        for one in samples:
            found[one.rows] += one.measured
        assert {kind for kind, count in found.items() if not count} == none
    assert all(
        str(case["case"]) in h100.PROBLEMS
        for group in read("h100").groups if group.measure == "us" for _, _, case in cases(group)
    )  # fmt: skip


@pytest.mark.slow
def test_more_cases_are_measured_as_more_is_asked_for() -> None:
    short, usual, every = (
        {
            title
            for group in read("h100").groups
            if group.measure
            for title, _, _ in sampled("h100", group, extent)[0]
        }
        for extent in ("short", "usual", "all")
    )
    assert short < usual < every
    assert sum("layer by a library" in title or "part of a layer" in title for title in usual) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
def test_the_usual_form_keeps_limits_of_layers(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its four layers, decodes of one model, three by hash: with the one that the short form measures."""
    table = read("h100")
    layers = [group for group in table.groups if group.set == "layers" or "layers" in str(group.cases)]
    for group in layers:  # the groups of statistics have cases of other sets too
        if group.set != "layers":
            group.cases[:] = [case for case in group.cases if case["of"] == "layers"]
    monkeypatch.setattr(table_file, "read", lambda _: table.model_copy(update={"groups": layers}))
    monkeypatch.setattr(sampling, "sampled", lambda *asked: some(*asked, most=3))
    ended = cli("validate", "h100", "--format", "json")
    assert ended.status == 0, ended.err
    told = json.loads(ended.out)
    rows = {row["row"]: row["verdict"] for row in told["rows"]}
    assert len(rows) == 3 + 3
    assert rows["layers, median error"] == "within"
    assert rows["layers, 90th error"] == rows["layers, Kendall's tau"] == "too few rows measured"


@pytest.mark.daily("sm_math-*")
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
    assert h100.watts({**case, "at_mhz": 1575.0}) == pytest.approx(static + dynamic)
    assert h100.watts({**case, "at_mhz": 787.5}) == pytest.approx(static + dynamic / 8)
    assert h100.limited_mhz(case) == pytest.approx(1575 * ((700 - static) / dynamic) ** (1 / 3))
    assert h100.limited_mhz({**case, "limit_w": 5000.0}) == 1575.0


def test_a_case_takes_what_its_launches_take() -> None:
    params = json.dumps({"rows": 8, "cols": 1024, "warps": 4})
    alone = h100.us({"case": "softmax f16", "params": params})
    assert 1.0 < alone < 2.5


@pytest.mark.slow
def test_a_layer_by_a_library_is_the_decoder_on_one_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = [group for group in read("h100").groups if group.measure == "decoder_us"]
    found = [case for group in groups for _, _, case in cases(group)]
    tables = [case["table"] for case in found]
    assert (tables.count("layer"), tables.count("layer part")) == (12, 87)
    assert len({(case["table"], case["case"], case["params"]) for case in found}) == 99
    for table in ("layer", "layer part"):  # every given row is in one group
        given = [line for line in lines_of("h100_rows.csv") if line["table"] == table]
        grouped = [case for group in read("h100").groups if group.file for _, _, case in cases(group)]
        assert sum(case["table"] == table for case in grouped) == len(given)
    monkeypatch.setitem(h100.SIZES, "small", {"hidden": 512, "heads": 8, "kv_heads": 2, "ffn": 512})
    sizes = {"model": "small", "tp": 2, "phase": "decode", "batch": 2, "kv": 64}
    one, more = (h100.decoder_us({"params": json.dumps({**sizes, "kv": kv})}) for kv in (64, 512))
    assert 5 < one < more < 100
    part = {"table": "layer part", "params": json.dumps({**sizes, "kv": 64})}
    names = ("rmsnorm", "qkv", "attention", "o", "gate_up", "down")
    parts = [h100.decoder_us({**part, "case": name}) for name in names]
    assert min(parts) > 0.82
    assert sum(parts) + parts[0] < one


def test_a_user_reads_the_latency_that_is_validated() -> None:
    n, block = 65_536, 1024
    x = np.zeros(n, np.float32)
    grid = h100._kernels().vadd[(n // block,)]
    done = kb.run_kernel(grid, x, x.copy(), o=x.copy(), n=n, BLOCK=block, topology="h100", store="memory:")
    case = {"case": "vector add f32", "params": json.dumps({"n": n, "block": block})}
    assert done.latency_ns == pytest.approx(1e3 * h100.us(case))
    assert done.run.launch_ns == pytest.approx(819.0625, abs=1e-3)
    path = done.run.critical_path()
    cached = sum(step.ns for step in path.steps if step.location == "gpu.hbm" and "cache" in step.cause)
    assert cached > 0.5 * path.by_location()["gpu.hbm"]
    assert path.main_causes()["gpu.hbm"] == "cache_hit"
