"""Names of parts mean nothing: a machine whose parts have other names has the same answers under those."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import SCREENS
from kernbench.api.open_runs import OpenRun
from kernbench.api.stores import borrowed
from kernbench.page.answers import Answers
from kernbench.tui.models.machine import MachineTree
from kernbench.tui.models.resource_page import shares_of

MACHINE = """
schema_version: 1
name: own
system: {{flit_bytes: 64, ns_per_mm: 0.01}}
wires:
  way: {{gbs: 128, mm: 1}}
  far: {{gbs: 64, delay_ns: 4}}
  pcie: {{gbs: 32, delay_ns: 250, weight: 1000}}
blocks:
  chiplet:
    level: chiplet
    port: r
    parts:
      r: router
      {pe}: {{block: pe, count: 2}}
      hbm: {{kind: hbm_ctrl, count: 2, n_channels: 8, channel_gbs: 16, slice_bytes: 1 GiB}}
      m_cpu: m_cpu
    connect: [{{pair: [r, {pe}], wire: way}}, {{pair: [r, hbm], wire: way}}, {{pair: [r, m_cpu], wire: way}}]
  package:
    level: package
    port: io
    parts: {{{cube}: {{block: chiplet, count: 2}}, io: router, io_cpu: io_cpu}}
    connect: [{{pair: [io, {cube}], wire: far}}, {{pair: [io, io_cpu], wire: way}}]
parts:
  host.cpu: host_cpu
  {sip}: {{block: package, count: 2}}
connect:
  - {{pair: [host.cpu, {sip}], wire: pcie}}
"""
NAMES = {"sip": "siq", "cube": "cubf", "pe": "pf"}
"""Other names, which sort as the usual ones do."""


def run(tmp: Path, names: dict[str, str]) -> kb.Run:
    file = tmp / "own.yaml"
    file.write_text(MACHINE.format(**names), encoding="utf-8")

    def bench(torch: Any) -> None:
        everywhere = kb.DPPolicy(cube="column_wise", pe="column_wise")
        x = torch.from_numpy(np.ones((8, 64), np.float32), dp=everywhere, name="x")
        y = torch.empty(8, 64, dtype="f32", dp=everywhere, name="y")

        def kernel(x: Any, y: Any, *, tl: Any) -> None:
            rows = tl.load(x.local, x.local_shape, "f32")
            tl.store(y.local, tl.exp(rows) + rows)
            tl.store(y + 0, tl.full((4,), 1.0, "f32"))  # a race

        torch.launch("work", kernel, x, y)

    with pytest.raises(kb.RunVerificationError, match="race") as error:
        kb.run(bench, file, store=tmp / "store", verify=True, check=False)
    return error.value.run


def as_usual(what: object, names: dict[str, str]) -> str:
    """A text, or plain data, with the names of parts as they are by default."""
    text = what if isinstance(what, str) else json.dumps(what, sort_keys=True, default=str)
    for usual, own in names.items():
        text = re.sub(rf"\b{own}(\d)", rf"{usual}\1", text)
    return text


def said(run: kb.Run, names: dict[str, str], out: Path) -> Iterator[tuple[str, str]]:
    """What surfaces say of the run, with the names of parts as they are by default."""

    def usual(what: object) -> str:
        return as_usual(what, names).replace(run.id, "RUN")

    yield "launches", usual(run.launches)
    yield "problem", usual(run.problem)
    yield "timeline", usual(str(run.timeline()))
    run.export("chakra", out / "trace")
    yield "chakra", usual((out / "trace.0.et").read_bytes().decode("latin-1"))
    with borrowed(out / "store") as store:
        page = Answers(store)
        for part in ("", "{sip}0.{cube}1.{pe}0.pe_dma", "{sip}0.io", "host.cpu"):
            shown = page.answer("machine", {"run": run.id, "part": part.format(**names)})
            assert shown["use"]["whole"]
            yield f"picture of {part}", usual(shown)
    opened = OpenRun(run)
    tree = MachineTree(opened, shares_of(opened, ChosenWindow()), "launch 0")
    for part in tree.parts(tree.root):
        yield f"map of {usual(part)}", usual(repr(tree.map(part)))


def answers(run: kb.Run) -> Iterator[tuple[str, object]]:
    """The tabs, and the questions about a run that need no parameter."""
    for screen in SCREENS:
        yield f"tab {screen.key}", repr(run.screen(screen.key)).replace(run.id, "RUN")
    for question in kb.questions():
        if question["scope"] == "run" and all(param["default"] is not None for param in question["params"]):
            yield question["name"], run.query(question["name"]).rows


USUAL = {name: name for name in NAMES}


@pytest.mark.slow
def test_pictures_timelines_traces_and_errors_have_own_names(tmp_path: Path) -> None:
    usual, own = (dict(said(run(tmp_path, names), names, tmp_path)) for names in (USUAL, NAMES))
    assert {name: text for name, text in own.items() if text != usual.get(name)} == {}
    assert usual.keys() == own.keys()


@pytest.mark.slow
def test_questions_and_tabs_answer_with_own_names(tmp_path: Path) -> None:
    usual, own = (
        {name: json.loads(as_usual([rows], names)) for name, rows in answers(run(tmp_path, names))}
        for names in (USUAL, NAMES)
    )
    assert {name: rows for name, rows in own.items() if rows != like(usual.get(name))} == {}
    assert usual.keys() == own.keys()


def like(value: Any) -> Any:
    """An engine may sum rows in another order: floats up to 1e-9."""
    if isinstance(value, list):
        return [like(item) for item in value]
    if isinstance(value, dict):
        return {key: like(item) for key, item in value.items()}
    return pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value
