"""The machine a100: h100 with the figures of another data sheet, judged by products that others measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernbench.support.data_files import data_dir
from kernbench.support.dtypes import DTYPES
from kernbench.validation import a100, h100, validate
from kernbench.validation.sampling import sampled
from kernbench.validation.table_file import Case, cases, read

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


def test_only_data_sheet_figures_differ_from_those_of_the_h100() -> None:
    """8-bit types aside, whose rate is not said of the A100."""
    ours, said = figures("a100"), figures("h100")
    types = [f"{PE}.pe_gemm.macs_per_cycle.{dtype}" for dtype in DTYPES]
    theirs = {key.removesuffix(".*"): value for key, value in said.items() if key not in types}
    assert ours.keys() == theirs.keys()
    assert {key for key in ours if ours[key] != theirs[key]} == DATA_SHEET | IN_CYCLES.keys()
    faster = ours[f"{PE}.clock.ghz"] / theirs[f"{PE}.clock.ghz"]
    for key, sign in IN_CYCLES.items():
        assert ours[key] == pytest.approx(theirs[key] * faster**sign, rel=1e-3)
    for key, (a100_says, h100_says) in {
        f"{PE}.pe_gemm.macs_per_cycle": (1024, 2048),
        f"{PE}.pe_math.cycles.*.1": (64, 128),
        "blocks.gpu.parts.hbm.channel_gbs": (2039, 3350),
    }.items():
        assert ours[key] / a100_says == pytest.approx(theirs[key] / h100_says, rel=1e-3), key


def product(m: int, n: int, k: int) -> Case:
    return {"m": m, "n": n, "k": k, "host_us": 20.0}


def test_a_product_takes_the_better_block_where_both_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[int, int]] = []

    def us(case: Case, machine: str) -> float:
        params = json.loads(case["params"])
        tried.append((params["bm"], params["bn"]))
        assert machine == "a100"
        return {256: 7.0, 128: 5.0, 64: 3.0}[params["bn"]]

    monkeypatch.setattr(h100, "us", us)
    assert a100.us(product(8192, 512, 512)) == 25.0
    assert a100.us(product(64, 12288, 12288)) == 25.0
    assert a100.us(product(8192, 64, 64)) == 23.0
    assert a100.us(product(8192, 4096, 4096)) == 27.0
    assert tried == [(128, 256), (128, 128), (64, 256), (64, 128), (128, 64), (128, 256)]
    assert a100.turns(product(64, 12288, 12288), 256) == 48 * 192


def test_more_products_are_measured_as_more_is_asked_for() -> None:
    (group,) = (group for group in read("a100").groups if group.measure == "us")
    counted = {extent: sampled("a100", group, extent)[1].measured for extent in ("short", "usual", "all")}
    assert counted == {"short": 5, "usual": 7, "all": 16}


@pytest.mark.slow
def test_a_part_of_a_layer_is_near_that_of_kernels_of_a_library() -> None:
    parts = next(group for group in read("a100").groups if group.measure == "layer_us")
    found = {case["case"]: (us, case) for _, us, case in cases(parts)}
    assert not sampled("a100", parts, "usual")[0]
    reference, case = found["o"]
    assert a100.layer_us(case) == pytest.approx(reference, rel=0.15)


@pytest.mark.slow
def test_short_products_keep_what_the_page_says() -> None:
    page = (ROOT / "docs" / "reference" / "validation.md").read_text(encoding="utf-8")
    report = validate("a100", short=True)
    assert len(report.rows) == 7
    assert not report.missed
    for row in report.rows:
        line = next(line for line in page.splitlines() if line.startswith(f"| {row.title} |"))
        assert f" {row.apart} |" in line


@pytest.mark.slow
def test_the_usual_form_keeps_its_limits() -> None:
    assert not validate("a100").missed
