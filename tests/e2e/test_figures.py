"""``kernbench figures`` and ``kernbench topology diagram``: files, formats, and what goes wrong."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.report.figures import drawing
from kernbench.report.figures.transfers import OPS, bandwidth_rows, latency_rows, scenarios
from tests.compiled import compiled

Cli = Callable[..., Any]
OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")
FILES = ["dma_latency.csv", "dma_latency.png", "dma_bandwidth.csv", "dma_bandwidth.png"]


def test_figures_and_their_numbers_come_from_one_command(cli: Cli, workdir: Path) -> None:
    done = cli("figures", "--out", "out", "--topology", "minimal", "--format", "json")
    assert done.status == 0
    made = json.loads(done.out)
    assert [Path(file).name for file in made["files"]] == FILES
    assert len(made["left_out"]) == 8
    assert done.err.count("\n") == 8
    assert "left out 'other SIP': the tray has one SIP" in done.err
    with (workdir / "out" / "dma_latency.csv").open(newline="") as stream:
        kept = list(csv.DictReader(stream))
    assert [float(row["total_ns"]) for row in kept] == [row["total_ns"] for row in made["latency"]]
    assert kept[0]["slowest"] == "true"
    for name in FILES[1::2]:
        assert (workdir / "out" / name).read_bytes().startswith(b"\x89PNG")


def test_figures_are_the_same_bytes_again(cli: Cli, workdir: Path) -> None:
    for folder in ("a", "b"):
        assert cli("figures", "--out", folder, "--topology", "minimal").status == 0
    for name in FILES:
        assert (workdir / "a" / name).read_bytes() == (workdir / "b" / name).read_bytes()


def test_without_matplotlib_there_is_one_line_and_no_file(
    cli: Cli, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = cli("figures", "--out", "out", "--topology", "minimal")
    assert done.status == 1
    assert done.err == (
        "kernbench: error: figures need matplotlib, which is not installed; "
        "run: pip install 'kernbench[figures]'\n"
    )
    assert not (workdir / "out").exists()


@pytest.mark.slow
def test_labels_of_the_figures_lie_apart() -> None:
    graph = compiled(OBLONG)
    found = [item for item in scenarios(graph)[0] if "cube" in item.name or item.contended][2:7]
    latency = latency_rows(graph, found, 256)
    bandwidth = bandwidth_rows(graph, found, 256)
    for figure in (
        drawing.latency_figure(latency, "oblong", 256),
        drawing.bandwidth_figure(bandwidth, "oblong", 256),
    ):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        boxes = []
        assert len(figure.axes) == len(OPS)
        for axes in figure.axes:
            assert "ns" in axes.get_xlabel() or "GB/s" in axes.get_xlabel()
            shown = [*axes.get_xticklabels(), *axes.texts, axes.title, axes.xaxis.label]
            if axes is figure.axes[0]:
                shown += axes.get_yticklabels()
            boxes += [text.get_window_extent() for text in shown if text.get_text()]
        boxes += [text.get_window_extent() for text in figure.legends[0].get_texts()]
        for i, one in enumerate(boxes):
            assert figure.bbox.x0 <= one.x0
            assert one.x1 <= figure.bbox.x1
            assert not any(one.overlaps(other) for other in boxes[:i])
        assert figure.get_suptitle().startswith("oblong: ")
        assert "256 bytes" in figure.get_suptitle()


def test_diagrams_of_all_views_go_into_a_folder(cli: Cli, workdir: Path) -> None:
    done = cli("topology", "diagram", "minimal", "--out", "pictures", "--format", "csv")
    assert done.status == 0
    names = ["system_view.svg", "sip_view.svg", "cube_view.svg", "pe_view.svg"]
    assert [Path(line.partition(",")[2]).name for line in done.out.splitlines()[1:]] == names
    assert sorted(file.name for file in (workdir / "pictures").iterdir()) == sorted(names)


def test_one_diagram_goes_into_a_file_or_to_stdout(cli: Cli, workdir: Path) -> None:
    assert cli("topology", "diagram", "minimal", "--view", "pe", "--out", "pe.svg").status == 0
    shown = cli("topology", "diagram", "minimal", "--view", "pe", "--out", "-")
    assert shown.out == (workdir / "pe.svg").read_text() == kb.diagram("minimal", "pe")


def test_a_run_is_laid_over_its_own_topology(cli: Cli, workdir: Path) -> None:
    store = str(workdir / "store")
    assert cli("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--store", store).status == 0
    draw = ("topology", "diagram", "minimal", "--view", "cube", "--out", "-")
    plain, coloured = cli(*draw), cli(*draw, "--run", "last", "--store", store)
    assert (plain.status, coloured.status) == (0, 0)
    assert "busy" not in plain.out
    run = kb.open_run("last", store)
    assert f"Utilisation in {run.id} (gemm-single-pe), launch 0" in coloured.out.replace("</text>\n", " ")
    assert coloured.out == kb.diagram("minimal", "cube", run=run)
    wrong = cli("topology", "diagram", "default", "--run", "last", "--store", store)
    assert wrong.status == 2
    assert f"run '{run.id}' was on topology 'minimal'" in wrong.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--out", "-"), "--out - needs one --view"),
        (("--of", "sip0"), "--of needs one --view"),
        (("--view", "cube", "--out", "cube.png"), "unsupported file type; use .svg"),
        (("--view", "sip", "--of", "sip7"), "has no sip 'sip7'; expected one such as 'sip0'"),
        (("--view", "chip"), "'chip' is not one of"),
    ],
)
def test_wrong_usage_is_one_line(cli: Cli, options: tuple[str, ...], said: str) -> None:
    done = cli("topology", "diagram", "minimal", *options)
    assert done.status == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_the_library_says_what_there_is() -> None:
    with pytest.raises(kb.KernBenchError, match="there is no view 'chip'; use one of system, sip, cube, pe"):
        kb.diagram("minimal", "chip")
