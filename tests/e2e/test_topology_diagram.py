"""``kernbench topology diagram``: files, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

Cli = Callable[..., Any]


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
    assert f"Utilisation in {run.id} (gemm-single-pe), the kernel of launch 0" in coloured.out.replace(
        "</text>\n", " "
    )
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
