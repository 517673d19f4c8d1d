"""Results of commands are the same tables and lines in the shell, in a notebook and in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.diagnosis import doctor
from kernbench.api.shown import Shows
from kernbench.cli.main import main
from kernbench.validation import validate

Capture = pytest.CaptureFixture[str]
BENCH = "gemm-single-pe"
FOUND: dict[str, tuple[Callable[[str], Any], str]] = {
    "sweep": (
        lambda store: kb.sweep(BENCH, ["minimal"], params={"m": [16, 32]}, store=store),
        f"sweep {BENCH} --topology minimal m=16,32",
    ),
    "what-if": (
        lambda store: kb.what_if("last", {"kind:pe_gemm": 2.0}, store, False),
        "what-if last --speed kind:pe_gemm=2 --no-rerun",
    ),
    "candidates": (
        lambda store: kb.what_if_candidates("last", store, locations=1),
        "what-if last --no-rerun --locations 1",
    ),
    "compare": (lambda store: kb.compare("last~1", "last", store), "compare last~1 last --threshold 1"),
    "advise": (lambda store: kb.advise("last", store), "advise last"),
    "energy": (lambda store: kb.energy("last", store), "energy last"),
    "doctor": (doctor, "doctor"),
    "probe": (
        lambda _: kb.probe("minimal", case="h2d-1hop", sizes=[256], nbytes=1024),
        "probe --topology minimal --case h2d-1hop --sizes 256 --bytes 1KiB",
    ),
    "traffic": (
        lambda store: kb.traffic("pattern:all-local", "minimal", store=store),
        "traffic pattern:all-local --topology minimal",
    ),
    "validate": (lambda _: validate("gemm"), "validate gemm"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("shown") / "store"
    kb.sweep(BENCH, ["minimal"], params={"m": [16, 32]}, store=str(folder))
    return str(folder)


def figures(text: str) -> set[str]:
    """Numbers and names in a text, however it is laid out."""
    return set(re.findall(r"[\w.:/%-]*\d[\w.:/%-]*", text))


@pytest.mark.daily(but=("advise", "validate"))
@pytest.mark.parametrize("name", FOUND)
def test_python_shell_and_notebook_say_the_same(store: str, capsys: Capture, name: str) -> None:
    ask, words = FOUND[name]
    found = ask(store)
    assert isinstance(found, Shows)
    command = [*words.split(), *(() if name in ("probe", "validate") else ("--store", store))]
    capsys.readouterr()
    main(command)
    printed = capsys.readouterr().out
    assert main([*command, "--format", "json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out).keys() == found.as_dict().keys()
    told = figures(str(found))
    assert told
    if name == "traffic":  # which is another run, with an id of its own
        told.remove(found.id)
    if name not in ("compare", "advise"):  # which the shell shortens, or draws as paragraphs
        assert told <= figures(printed)
    assert found._repr_html_().startswith("<")


def test_tuning_shows_its_best(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "scale.py"
    file.write_text(
        "import numpy as np, kernbench as kb, kernbench.tl as tl\n"
        "from kernbench.workloads.benches import bench\n\n"
        "@kb.autotune([{'rows': 8}, {'rows': 16}], key=[])\n"
        "def scale(x, out, rows):\n    tl.store(out, tl.load(x) * 2.0)\n\n"
        "@bench(name='scale', description='Doubles.')\n"
        "def run(torch):\n"
        "    x = torch.from_numpy(np.ones((16, 32), np.float32))\n"
        "    torch.launch('scale', scale, x, torch.zeros((16, 32), dtype='f32')).wait()\n",
        encoding="utf-8",
    )
    store = str(tmp_path / "store")
    found = kb.tune(str(file), "minimal", store=store)
    assert main(["tune", str(file), "--topology", "minimal", "--store", store]) == 0
    first = capsys.readouterr().out.splitlines()[1]
    assert first.split()[:2] == ["scale", "rows=8"]
    assert " * " in first
    assert figures(first) - {first.split()[-1]} <= figures(str(found))
