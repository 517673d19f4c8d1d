"""Flops, bytes and roofs of shipped benches, worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.notebook import exact

import kernbench as kb
from kernbench.draw import roofs
from kernbench.support.pgraph import QueryError

PEAK, HBM, TCM = 8.192, 256.0, 512.0
"""Of one PE of ``minimal``: 4096 MACs a ns are 8.192 TFLOP/s; GB/s of its HBM slice; of its TCM each way."""


def test_a_gemm_of_two_loads_a_dot_and_a_store() -> None:
    m, k, n = 64, 128, 64
    run = kb.run("gemm-single-pe", "minimal", params={"m": m, "k": k, "n": n}, store="memory:")
    dot, *memory = run.roofline()
    flops, operands = 2 * m * n * k, (2 * m * k, 2 * k * n, 2 * m * n)
    # Its operands are read while results are written: the port that takes longest counts, at its own rate.
    assert (dot["flops"], dot["hbm_bytes"], dot["tcm_bytes"]) == (flops, 0, operands[0] + operands[1])
    assert dot["tcm_gbs"] == TCM
    assert dot["light_ns"] == flops / (PEAK * 1e3) == 128.0
    # Fetch 64 ns, multiply 128 ns, store 16 ns, one after the other.
    assert dot["ns"] == pytest.approx((operands[0] + operands[1]) / TCM + 128.0 + operands[2] / TCM)
    assert dot["share"] == pytest.approx(128.0 / 208.0)
    assert (dot["bound"], dot["level"], dot["attainable_tflops"]) == ("gemm", "tcm", PEAK)
    assert sorted(row["hbm_bytes"] for row in memory) == sorted(operands)
    assert {(row["bound"], row["light_ns"]) for row in memory} == {("hbm", b / HBM) for b in operands}
    (pe,), (launch,) = run.roofline("pe"), run.roofline("launch")
    for row in (pe, launch):
        assert (row["flops"], row["hbm_bytes"], row["bound"]) == (flops, sum(operands), "hbm")
        assert row["light_ns"] == sum(operands) / HBM == 160.0
        assert row["intensity"] == flops / sum(operands)
        assert row["attainable_tflops"] == pytest.approx(flops / 160.0 / 1e3)
        assert row["share"] == pytest.approx(row["achieved_tflops"] / row["attainable_tflops"])
    assert (launch["name"], launch["ns"]) == ("gemm", pytest.approx(run.kernels_ns))
    assert (pe["name"], pe["ns"]) == ("sip0.cube0.pe0", pytest.approx(77.0 + 77.0 + 208.0 + 45.0))


def test_a_composite_streams_its_operands_once_for_each_tile_of_the_result() -> None:
    m, k, n = 64, 256, 128
    params = {"m": m, "k": k, "n": n, "tiles": "native"}
    tiles = (m // 32) * (n // 32)
    streamed = tiles * 2 * k * (32 + 32) + 2 * m * n
    run = kb.run("matmul-composite", "minimal", params=params, store="memory:")
    (row,) = run.roofline()
    assert (row["op"], row["flops"], row["hbm_bytes"]) == (row["op"], 2 * m * n * k, streamed)
    assert row["light_ns"] == max(2 * m * n * k / (PEAK * 1e3), streamed / HBM)
    pinned = kb.run("matmul-composite", "minimal", params={**params, "variant": "load_load"}, store="memory:")
    by_name = {row["name"].split()[0]: row for row in pinned.roofline()}
    assert by_name["composite_gemm"]["hbm_bytes"] == 2 * m * n
    assert pinned.roofline("launch")[0]["hbm_bytes"] == 2 * (m * k + k * n + m * n)


@pytest.mark.daily("*-minimal")
@pytest.mark.parametrize(
    ("bench", "topology"),
    [
        *(
            (bench, "minimal")
            for bench in ("softmax", "flash-attention", "qkv-gemm-multi-pe", "ipcq-allreduce")
        ),
        *((bench, "default") for bench in ("ipcq-allreduce", "pe2pe")),  # over every kind of link
    ],
)
def test_nothing_is_faster_than_light(bench: str, topology: str) -> None:
    run = kb.run(bench, topology, store="memory:")
    for by in ("operation", "pe", "launch"):
        rows = run.roofline(by)
        assert rows
        assert all(0 <= row["share"] <= 1 + 1e-9 for row in rows)
        assert sum(row["flops"] for row in rows) == sum(run.ops["flops"])
        assert [row["light_ns"] - row["ns"] for row in rows] == sorted(r["light_ns"] - r["ns"] for r in rows)


@pytest.mark.daily("next-cube*")
@pytest.mark.parametrize(
    ("path", "binds", "link_bytes", "package_bytes", "slow"),
    [
        # Over one UCIe connection at either end, 128 GB/s each; over the seam, 512 GB/s.
        ("next-cube", {"link": 512.0, "package": 128.0}, 2 * 65536, 65536, "cube.ucie.seam_gbs"),
        # Over two PCIe links, and two links of IO chiplets, 128 GB/s each.
        ("next-sip", {"link": 512.0, "package": 512.0}, 2 * 65536, 2 * 65536, "system.switch.link_gbs"),
    ],
)
def test_a_write_to_another_chiplet_is_held_against_links(
    path: str, binds: dict[str, float], link_bytes: int, package_bytes: int, slow: str
) -> None:
    params = {"path": path, "how": "dma", "nbytes": 65536}
    run = kb.run("pe2pe", params=params, store="memory:")
    name = f"dma {path} 65536"
    row = next(row for row in run.roofline("launch") if row["name"] == name)
    assert (row["link_bytes"], row["package_bytes"]) == (link_bytes, package_bytes)
    assert (row["bound"], row["level"]) == ("link", "link")
    assert row["light_ns"] == max(binds.values())
    assert row["light_ns"] < row["ns"] < 1.5 * row["light_ns"]
    # An eighth of the rate between the chiplets: then it is the roof.
    again = kb.run(
        "pe2pe", params=params, topo={slow: 64.0 if path == "next-cube" else 16.0}, store="memory:"
    )
    row = next(row for row in again.roofline("launch") if row["name"] == name)
    assert (row["bound"], row["light_ns"]) == ("package", 8 * binds["package"])


def test_products_are_held_against_the_peak_of_their_type() -> None:
    def kernel(x: int, tl: Any) -> None:
        for dtype in ("f16", "f8e4m3"):
            tl.dot(tl.zeros((64, 64), dtype), tl.zeros((64, 64), dtype))

    def bench(torch: Any) -> None:
        torch.launch("both", kernel, torch.zeros((8, 8), dtype="f16")).wait()

    topo = {"pe.pe_gemm.macs_per_cycle": {"*": 4096, "f8e4m3": 8192}}
    run = kb.run(bench, "minimal", topo=topo, store="memory:")
    half, eighth = sorted((row for row in run.roofline() if row["flops"]), key=lambda row: row["op"])
    assert (half["peak_tflops"], eighth["peak_tflops"]) == (PEAK, 2 * PEAK)
    (pe,) = (row for row in run.roofline("pe") if row["flops"])
    assert pe["peak_tflops"] == pytest.approx(2 * 2 / 3 * PEAK)  # as much of the one as of the other


@pytest.mark.parametrize("by", ["operation", "launch"])
def test_work_has_a_dot_at_each_level_that_it_moved_bytes_over(by: str) -> None:
    """At its own arithmetic intensity, and the roof that binds is as far above as the share says."""
    rows = kb.run("gemm-multi-pe", store="memory:").roofline(by)
    drawn = roofs.drawn(rows)
    assert sum(one["count"] for one in drawn["work"]) == sum(1 for row in rows if row["flops"])
    gbs = {roof["level"]: roof["gbs"] for roof in drawn["roofs"]}
    for one in drawn["work"]:
        row = next(row for row in rows if (row["op"], row["name"]) == (one["op"], one["name"]))
        wanted = {level: row["flops"] / row[f"{level}_bytes"] for level in gbs if row[f"{level}_bytes"]}
        assert {dot["level"]: dot["intensity"] for dot in one["dots"]} == pytest.approx(wanted)
        allowed = {dot["level"]: dot["intensity"] * dot["gbs"] / 1e3 for dot in one["dots"]}
        least = min({"gemm": one["peak_tflops"], **allowed}.items(), key=lambda roof: roof[1])
        assert least == (one["bound"], pytest.approx(one["achieved_tflops"] / one["share"]))
        assert row["level"] == min(allowed, key=lambda level: allowed[level])


def test_details_of_a_run_and_the_question_say_the_same(cli: Callable[..., Any]) -> None:
    run = ("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--details")
    found = json.loads(cli(*run, "--format", "json").out)["roofline"]
    assert {by: len(rows) for by, rows in found.items()} == {"launch": 1, "pe": 1, "operation": 4}
    asked = kb.open_run().query("bottleneck/roofline").dicts()
    for one, row in zip(asked, found["operation"], strict=True):
        assert list(one) == list(row)
        assert [exact(v) if isinstance(v, float) else v for v in one.values()] == list(row.values())
    shown = cli("show", "--details").out
    assert "By operation" in shown
    assert "61.5%" in shown
    assert "roofline" not in cli("show", "--format", "json").out
    with pytest.raises(QueryError, match=r"must be one of"):
        kb.open_run().roofline("operations")
    assert "no launch '7'" in cli("query", "roofline", "launch=7").err


@pytest.mark.slow
def test_the_figure_needs_flops(cli: Callable[..., Any], workdir: Path) -> None:
    cli("run", "--bench", "gemm-single-pe", "--topology", "minimal")
    assert cli("export", "roofline", "--out", "r.png").status == 0
    assert (workdir / "r.png").read_bytes().startswith(b"\x89PNG")
    cli("run", "--bench", "softmax", "--topology", "minimal")
    ended = cli("export", "roofline", "--out", "none.png")
    assert ended.status == 2
    assert "there is no roofline to draw" in ended.err
    assert not (workdir / "none.png").exists()
