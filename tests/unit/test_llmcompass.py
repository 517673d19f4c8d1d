"""The machines a100 and mi210: h100 with the figures of other data sheets, judged by what others measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernbench.support.data_files import data_dir
from kernbench.support.dtypes import DTYPES
from kernbench.validation import h100, llmcompass, running
from kernbench.validation.row_statistics import statistic
from kernbench.validation.sampling import sampled
from kernbench.validation.table_file import Case, Extent, cases, read
from tests.measured_once import some

ROOT = Path(__file__).resolve().parents[2]
PE = "blocks.gpu.parts.pe"
IN_CYCLES = {"memory.cache.hit_ns": -1, "wires.way.gbs": 1, "wires.stores.gbs": 1}
"""Figures that are as many cycles, or bytes a cycle, as the H100's: the sign of the clock's exponent."""
DATA_SHEET = {
    "name", *(f"memory.cache.{key}" for key in ("gbs", "write_gbs", "coalesce")),
    "blocks.gpu.parts.hbm.channel_gbs",
    *(f"{PE}.{key}" for key in ("count", "clock.ghz", "clock.loaded_ghz", "pe_gemm.macs_per_cycle")),
    *(f"{PE}.{key}" for key in ("pe_gemm.smallest.macs", "pe_math.cycles.*.1", "pe_tcm.scratch_bytes")),
}  # fmt: skip
MORE = {"a100": set[str](), "mi210": {"memory.cache.capacity", "blocks.gpu.parts.hbm.slice_bytes"}}
"""Figures of a data sheet that are as the H100's on the other."""
SAID = {
    "a100": {"macs_per_cycle": 1024, "lanes": 64, "hbm": 2039, "cache": 5120 * 1.41},
    "mi210": {"macs_per_cycle": 512, "lanes": 64, "hbm": 1638.4, "cache": 4096 * 1.7},
}
"""Peaks of data sheets."""


def figures(name: str) -> dict[str, Any]:
    """What a machine's file says, by path."""

    def leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
        if not isinstance(value, dict | list):
            yield path, value
            return
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(f"{path}.{key}" if path else str(key), one)

    text = (data_dir("configs") / "topologies" / "zoo" / f"{name}.yaml").read_text(encoding="utf-8")
    return {path: value for path, value in leaves("", yaml.safe_load(text)) if not path.startswith("energy.")}


@pytest.mark.parametrize("machine", list(SAID))
def test_only_data_sheet_figures_differ_from_those_of_the_h100(machine: str) -> None:
    """8-bit types aside, whose rate is not said of the others."""
    ours, said = figures(machine), figures("h100")
    types = [f"{PE}.pe_gemm.macs_per_cycle.{dtype}" for dtype in DTYPES]
    theirs = {key.removesuffix(".*"): value for key, value in said.items() if key not in types}
    assert ours.keys() == theirs.keys()
    differ = DATA_SHEET | IN_CYCLES.keys() | MORE[machine]
    assert {key for key in ours if ours[key] != theirs[key]} == differ
    faster = ours[f"{PE}.clock.ghz"] / theirs[f"{PE}.clock.ghz"]
    for key, sign in IN_CYCLES.items():
        assert ours[key] == pytest.approx(theirs[key] * faster**sign, rel=1e-3)
    peaks = SAID[machine]
    assert ours["memory.cache.gbs"] == pytest.approx(peaks["cache"], rel=1e-3)
    for key, (we_say, h100_says) in {
        f"{PE}.pe_gemm.macs_per_cycle": (peaks["macs_per_cycle"], 2048),
        f"{PE}.pe_math.cycles.*.1": (peaks["lanes"], 128),
        "blocks.gpu.parts.hbm.channel_gbs": (peaks["hbm"], 3350),
    }.items():
        assert ours[key] / we_say == pytest.approx(theirs[key] / h100_says, rel=1e-3), key


def product(m: int, n: int, k: int) -> Case:
    return {"chip": "A100", "op": "matmul", "m": m, "n": n, "k": k, "host_us": 20.0}


def test_a_product_takes_the_better_block_where_both_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[int, int]] = []

    def us(case: Case, machine: str) -> float:
        params = json.loads(case["params"])
        tried.append((params["bm"], params["bn"]))
        assert machine == "a100"
        return {256: 7.0, 128: 5.0, 64: 3.0}[params["bn"]]

    monkeypatch.setattr(h100, "us", us)
    assert llmcompass.us(product(8192, 512, 512)) == 25.0
    assert llmcompass.us(product(64, 12288, 12288)) == 25.0
    assert llmcompass.us(product(8192, 64, 64)) == 23.0
    assert llmcompass.us(product(8192, 4096, 4096)) == 27.0
    assert tried == [(128, 256), (128, 128), (64, 256), (64, 128), (128, 64), (128, 256)]
    assert llmcompass.turns(product(64, 12288, 12288), 256) == 48 * 192


def test_each_operation_runs_its_kernel_on_the_machine_of_the_chip() -> None:
    """A row of softmax or layer norm is a block, 2,048 elements of GeLU are; the host's time is added."""
    rows: Case = {"chip": "MI210", "m": 8, "n": "", "k": 4096, "host_us": 20.0}
    gelu: Case = {"chip": "MI210", "op": "gelu", "m": "", "n": 4096, "k": "", "host_us": 20.0}
    found = [llmcompass.us({**rows, "op": op}) for op in ("softmax", "layernorm")] + [llmcompass.us(gelu)]
    assert [llmcompass.turns(case) for case in ({**rows, "op": "softmax"}, gelu)] == [16, 2]
    assert all(20.8 < us < 23.0 for us in found)
    assert found[2] == llmcompass.us({**gelu, "host_us": 0.0}) + 20.0
    assert found[2] != llmcompass.us({**gelu, "chip": "A100"})


@pytest.mark.slow
def test_an_mi210_is_measured_at_the_clock_and_in_the_types_of_the_paper() -> None:
    """Every figure that goes with the clock follows it; kernels that are not products are of 32 bits."""
    ours = figures("mi210")
    groups = [group for group in read("llmcompass").groups if "topo" in group.settings]
    clock = [f"{PE}.clock.ghz", f"{PE}.clock.loaded_ghz", "memory.cache.gbs", "memory.cache.write_gbs"]
    for key, sign in (dict.fromkeys(clock, 1) | IN_CYCLES).items():
        assert groups[0].settings["topo"][key] == pytest.approx(ours[key] * (1.4 / 1.7) ** sign, rel=1e-3)
    assert [group.settings.get("dtype") for group in groups] == [None, "f32", "f32", "f32"]
    for op, k in (("softmax", 4096), ("layernorm", 4096), ("gelu", "")):
        case: Case = {"chip": "MI210", "op": op, "m": 256, "k": k, "n": 1 << 20, "host_us": 0.0}
        narrow, wide = (llmcompass.us(case | more) for more in ({}, {"dtype": "f32"}))
        assert wide > narrow
        assert llmcompass.us({**case, **groups[1].settings, "host_us": 0.0}) >= wide


def test_more_products_are_measured_as_more_is_asked_for() -> None:
    groups = {group.set: group for group in read("llmcompass").groups if group.measure == "us"}
    for name, expected in {"products, A100": [5, 7, 16], "products, MI210": [3, 5, 10]}.items():
        extents: list[Extent] = ["short", "usual", "all"]
        assert [sampled("llmcompass", groups[name], e)[1].measured for e in extents] == expected


@pytest.mark.slow
def test_a_part_of_a_layer_is_near_that_of_kernels_of_a_library() -> None:
    parts = next(group for group in read("llmcompass").groups if group.measure == "layer_us")
    found = {case["case"]: (us, case) for _, us, case in cases(parts)}
    assert not sampled("llmcompass", parts, "usual")[0]
    reference, case = found["o"]
    assert llmcompass.layer_us(case) == pytest.approx(reference, rel=0.15)


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
def test_products_on_an_a100_keep_their_limits_in_the_usual_form() -> None:
    """Of its seven products six by hash: with the five that the short form measures."""
    group = next(group for group in read("llmcompass").groups if group.set == "products, A100")
    picked, sample = some("llmcompass", group, "usual", most=6)
    us = running._module("llmcompass").us
    found = [(case, reference, us(case)) for _, reference, case in picked]
    for what, limit in {"median": 20.0, "worst": 40.0}.items():
        assert (statistic(what, found, sample.known).figure or 100.0) <= limit
