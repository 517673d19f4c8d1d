"""``Run.export("roofline")``, and formats and options that there are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernbench as kb
from kernbench.draw.figures.roofline import roofline_figure
from kernbench.draw.roofs import drawn
from kernbench.errors import UsageError


@pytest.fixture(scope="module")
def gemm() -> kb.Run:
    return kb.run("gemm-single-pe", "minimal", store="memory:")


def test_the_roofline_has_launches_and_operations_where_they_belong(gemm: kb.Run) -> None:
    figure = roofline_figure([(by, drawn(gemm.roofline(by))) for by in ("launch", "operation")], "title")
    assert [axes.get_title() for axes in figure.axes] == ["launch", "operation"]
    for axes, by in zip(figure.axes, ("launch", "operation"), strict=True):
        (row,) = [row for row in gemm.roofline(by) if row["flops"]]
        dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
        assert [line.get_ydata()[0] for line in dots] == pytest.approx([row["achieved_tflops"]] * len(dots))
        levels = [level for level in ("tcm", "sram", "hbm", "link", "package") if row[f"{level}_bytes"]]
        intensities = [row["flops"] / row[f"{x}_bytes"] for x in levels]
        assert [line.get_xdata()[0] for line in dots] == pytest.approx(intensities)
        full = [x for x, line in zip(levels, dots, strict=True) if line.get_markerfacecolor() != "white"]
        assert full == [row["bound"]] * (row["bound"] != "gemm")
        roofs = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
        allowed = [roofs[0].get_ydata()[0]]
        for dot, roof in zip(dots, roofs[1:], strict=True):
            x, y = np.log(roof.get_data())
            allowed.append(np.exp(np.interp(np.log(dot.get_xdata()[0]), x, y)))
        assert min(allowed) == pytest.approx(row["attainable_tflops"])
    assert "3 without flops are not shown" in figure.axes[1].get_xlabel()


@pytest.mark.slow
def test_the_roofline_is_a_picture_and_the_same_file_each_time(gemm: kb.Run, tmp_path: Path) -> None:
    first, second = (gemm.export("roofline", tmp_path / name) for name in ("a.png", "b.png"))
    assert Path(first[0]).read_bytes() == Path(second[0]).read_bytes()
    assert Path(first[0]).read_bytes().startswith(b"\x89PNG")


def test_launch_0_is_one_launch(tmp_path: Path) -> None:
    run = kb.run("tp-mlp", "minimal", store="memory:")
    assert len(run.launches) > 1
    (file,) = run.export("timeline", tmp_path / "0.svg", launch=0)
    assert Path(file).read_text("utf-8") == run.timeline(0).svg() != run.timeline().svg()


def test_wrong_figures_are_errors(gemm: kb.Run) -> None:
    with pytest.raises(UsageError, match="no format 'rofline'; did you mean 'roofline'"):
        gemm.export("rofline")
    with pytest.raises(UsageError, match="no launch 3"):
        gemm.export("timeline", launch=3)
    with pytest.raises(UsageError, match="of whole launches"):
        gemm.export("roofline", from_ns=gemm.launches[0]["t_start"])
    with pytest.raises(UsageError, match="'links' is not an option of 'csv'; it takes none"):
        gemm.export("csv", links=True)


def test_where_nothing_was_multiplied_there_is_no_roofline() -> None:
    softmax = kb.run("softmax", "minimal", store="memory:", params={"rows": 2, "columns": 16, "block": 1})
    with pytest.raises(UsageError, match="there is no roofline to draw"):
        softmax.export("roofline")
