"""``Run.figure``: the roofline, links over time, the timeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernbench as kb
from kernbench import api
from kernbench.errors import UsageError


@pytest.fixture(scope="module")
def gemm() -> kb.Run:
    return kb.run("gemm-single-pe", "minimal", store="memory:")


def test_the_roofline_has_launches_and_operations_where_they_belong(gemm: kb.Run) -> None:
    figure = gemm.figure("roofline")
    assert [axes.get_title() for axes in figure.axes] == ["launches", "operations"]
    for axes, by in zip(figure.axes, ("launch", "operation"), strict=True):
        (row,) = [row for row in gemm.roofline(by) if row["flops"]]
        dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
        assert {line.get_ydata()[0] for line in dots} == {row["achieved_tflops"]}
        levels = [level for level in ("tcm", "sram", "hbm", "link", "package") if row[f"{level}_bytes"]]
        assert [line.get_xdata()[0] for line in dots] == [row["flops"] / row[f"{x}_bytes"] for x in levels]
        full = [x for x, line in zip(levels, dots, strict=True) if line.get_markerfacecolor() != "white"]
        assert full == [row["bound"]] * (row["bound"] != "gemm")
        roofs = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
        allowed = [roofs[0].get_ydata()[0]]
        for dot, roof in zip(dots, roofs[1:], strict=True):
            x, y = np.log(roof.get_data())
            allowed.append(np.exp(np.interp(np.log(dot.get_xdata()[0]), x, y)))
        assert min(allowed) == pytest.approx(row["attainable_tflops"])
    assert "3 without flops are not shown" in figure.axes[1].get_xlabel()


def test_links_over_time_are_as_busy_as_in_the_run(gemm: kb.Run) -> None:
    axes = gemm.figure("links").axes[0]
    (cells,) = [one for one in axes.collections if one.get_array() is not None]
    shares = np.asarray(cells.get_array()).reshape(len(axes.get_yticks()), -1)
    hops, start = gemm.hops, gemm.launches[0]["t_start"]
    for label, row in zip(axes.get_yticklabels(), shares, strict=True):
        at = (hops["resource"] == label.get_text()) & (hops["t_start"] >= start - 1e-9)
        crossed = (hops["t_out"] - hops["t_start"])[at]
        assert row.mean() * gemm.latency_ns == pytest.approx(crossed.sum(), rel=1e-6)


def test_each_figure_is_the_same_file_each_time(gemm: kb.Run, tmp_path: Path) -> None:
    for name in ("links",):
        files = [api.save_figure(gemm.figure(name), tmp_path / folder / "x.png") for folder in ("a", "b")]
        first, second = (Path(file).read_bytes() for file in files)
        assert first == second
        assert first.startswith(b"\x89PNG")


def test_wrong_figures_are_errors(gemm: kb.Run) -> None:
    with pytest.raises(UsageError, match="no figure 'rofline'; did you mean 'roofline'"):
        gemm.figure("rofline")
    with pytest.raises(UsageError, match="no launch 3"):
        gemm.figure("links", 3)
    with pytest.raises(UsageError, match="of whole launches"):
        gemm.figure("roofline", from_ns=10)


def test_where_nothing_was_multiplied_there_is_no_roofline() -> None:
    softmax = kb.run("softmax", "minimal", store="memory:", params={"rows": 2, "columns": 16, "block": 1})
    with pytest.raises(UsageError, match="there is no roofline to draw"):
        softmax.figure("roofline")


def test_energy_has_a_bar_for_each_kind_and_line(gemm: kb.Run) -> None:
    parts, lines = gemm.figure("energy").axes
    for axes, by in ((parts, "kind"), (lines, "line")):
        rows = [row for row in gemm.energy(by)["rows"] if row["energy_pj"]]
        widths = [bar.get_width() for bar in axes.patches[: len(rows)]]
        assert widths == [row["energy_pj"] / 1e3 for row in reversed(rows)]
    with pytest.raises(UsageError, match="leave launch and times out"):
        gemm.figure("energy", 0)
