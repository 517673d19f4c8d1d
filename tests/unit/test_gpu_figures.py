"""Figures of a GPU as a machine: made again from measured rows, of calibration tables alone."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import kernbench as kb
from tests.triton_kernels import MEASURE, measured
from tools.gpu.figures import Measured, Row, main, read

ROOT = Path(__file__).resolve().parents[2]
H100 = ROOT / "configs" / "validation" / "h100_calibration.csv"
EXPECTED = {
    "clock.ghz": 1.98,
    "launch.ns, 1 blocks": 819,
    "launch.ns, 132 blocks": 919,
    "memory.cache.hit": 283,
    "memory.latency": 690,
    "memory.gbs": 3050,
    "memory.cache.gbs": 7900,
    "pe.links.dma_gbs": 240,
    "pe_math.cycles.*, latency": 2.5,
    "pe_math.cycles.*, rate": 128,
    "pe_math.cycles.exp, latency": 46,
    "pe_math.cycles.exp, rate": 17.9,
    "pe_math.cycles.exp2, latency": 0,
    "pe_math.cycles.div, latency": 39,
    "pe_math.cycles.div, rate": 13.9,
    "pe_math.cycles.sum, latency": 301,
    "pe_math.cycles.sum, rate": 38,
    "pe_gemm.macs_per_cycle": 1886,
    "pe_gemm.smallest.fixed": 33,
    "pe_gemm.smallest.macs_per_cycle": 289,
    "pe_dma.issue.load": 87.8,
    "pe_dma.issue.bytes_per_cycle": 104.1,
    "energy.static": 140.6,
    "energy.read HBM": 151,
}
"""What an earlier calculation gave from the same rows; of the issue of loads, of fewer."""


def figures(rows: list[Row]) -> dict[str, float]:
    return {one.key: one.value for one in Measured(rows).figures()}


def test_figures_of_an_h100_are_those_of_an_earlier_calculation() -> None:
    found = figures(read(H100))
    assert {key: found[key] for key in EXPECTED} == pytest.approx(EXPECTED, rel=0.02, abs=1e-9)
    assert 0 < found["pe_gemm.fixed"] < 10
    assert found["memory.cache.capacity, least"] == 40


def test_only_calibration_tables_are_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    more = 'kernel,matmul f16,"{""m"": 1}",1,1,0.001,0.001,0.001\n'
    file.write_text(H100.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert figures(read(file)) == figures(read(H100))
    with H100.open(encoding="utf-8") as lines:
        assert {row["table"] for row in csv.DictReader(lines)} <= {
            "latency", "bandwidth", "launch", "one multiprocessor", "power"
        }  # fmt: skip


def test_a_machine_that_is_known_is_found_again() -> None:
    latency, rate = 7.0, 64.0

    def timed(row: Row) -> Row:
        if not row.case.startswith("math f32 "):
            return row
        cycles = {"fma": 2 * latency + row.params["block"] / rate}.get(row.case[9:], 500.0)
        return row._replace(us=cycles * row.params["rounds"] / 1980 + 1)

    found = figures([timed(row) for row in read(H100)])
    assert found["pe_math.cycles.*, latency"] == pytest.approx(latency)
    assert found["pe_math.cycles.*, rate"] == pytest.approx(rate)


def test_what_was_not_measured_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in read(H100) if row.case != "read HBM"]
    with pytest.raises(SystemExit, match=r"no row 'read HBM' in table 'bandwidth'; measure it with"):
        figures(rows)
    with pytest.raises(SystemExit, match=r"give the rows.csv that measure.py wrote"):
        main([])
    main([str(H100)])
    printed = capsys.readouterr().out.splitlines()
    page = (ROOT / "docs" / "how-to" / "measure-a-gpu.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in page if line.startswith(("clock.", "launch.", "memory.", "pe_math."))]
    assert len(shown) == 4
    assert {*shown} <= {*printed}
    assert not [
        one for one in figures([r for r in read(H100) if r.table != "power"]) if one.startswith("energy")
    ]


@pytest.mark.slow
def test_kernels_that_are_measured_run_here_too() -> None:
    a, b = (np.random.default_rng(1).standard_normal((16, 16)).astype(np.float16) for _ in range(2))
    out = np.zeros((16, 16), np.float32)
    done = kb.run_kernel(measured.sm_dot[(1,)], a, b, out=out, rounds=3, M=16, N=16, K=16)
    np.testing.assert_allclose(
        done.output, 3 * (a.astype(np.float32) @ b.astype(np.float32)), rtol=1e-3, atol=1e-3
    )
    x = np.arange(128, dtype=np.float16)
    done = kb.run_kernel(measured.sm_load[(2,)], x, out=np.zeros(32, np.float32), n=64, BLOCK=16, STAGES=3)
    assert (done.output == np.concatenate([part.reshape(4, 16).sum(0) for part in (x[:64], x[64:])])).all()
    a, b = a.reshape(16, 16), b[:, :16]
    done = kb.run_kernel(
        measured.sm_streamed[(1,)],
        a,
        b,
        out=np.zeros((16, 16), np.float16),
        K=16,
        M=16,
        N=16,
        BK=16,
        STAGES=2,
    )
    np.testing.assert_allclose(done.output, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)
    done = kb.run_kernel(measured.sm_fill[(1,)], out=np.zeros(64, np.float16), n=64, BLOCK=16)
    assert (done.output == 1).all()
    rows = np.ones((4, 16), np.float32)
    done = kb.run_kernel(measured.sm_rows[(1,)], rows, out=np.zeros_like(rows), rounds=1, R=4, C=16)
    np.testing.assert_allclose(done.output, 0.5 + 16e-6, rtol=1e-6)
    y = np.ones(64, np.float32)
    done = kb.run_kernel(measured.sm_math[(1,)], y, out=np.zeros_like(y), rounds=2, OP="div", BLOCK=64)
    np.testing.assert_allclose(done.output, 1.5 / (0.5 + 2), rtol=1e-6)


def test_each_case_that_figures_need_is_measured() -> None:
    text = MEASURE.read_text(encoding="utf-8")
    needed = {row.case for row in read(H100) if not row.case.startswith("math f32 ")}
    asked = (ROOT / "tools" / "gpu" / "figures.py").read_text(encoding="utf-8")
    for case in needed:
        assert f'"{case}"' in text or f'"{case}"' not in asked, case
    measured.note("power", "idle after", {"watts": 1.0}, times=[3.0, 1.0, 2.0])
    assert measured.ROWS == [["power", "idle after", '{"watts": 1.0}', 0, 0, "2.000", "1.000", "3.000"]]
