"""A command on operands in TCM that is recorded as one row stands for what is recorded of it stage by stage.

A run that computes values has an object for each stage, a timing run a row for each command, which is
expanded when it is kept: all tables are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.values.recorder import LAYOUT, Recorder

TABLES = ("Op", "Operand", "Region", "DependsOn", "Awaited", "Transaction", "Hop", "WaitedFor", "Use")


def twice(x: Any, y: Any, out: Any, tl: Any) -> None:
    """Handles that are given twice, loads between commands, results that wait for the slot."""
    a, b = tl.load(x), tl.load(y)
    c = tl.dot(a, b)
    d = tl.exp(c * c) + tl.fma(c, c, tl.sum(c, axis=1))
    tl.store(out, tl.where(d > c, tl.load(y), tl.dot(d, a)))


def bench(torch: Any) -> None:
    everywhere = {"dp": kb.DPPolicy(pe="replicate", cube="replicate")}
    x, y, out = (torch.zeros((32, 32), dtype="f32", name=name, **everywhere) for name in ("x", "y", "out"))
    torch.launch("twice", twice, x, y, out).wait()


@pytest.mark.parametrize(
    ("what", "topology"),
    [("flash-attention", "minimal"), pytest.param(bench, "default", marks=pytest.mark.slow)],
)
def test_rows_of_commands_stand_for_their_stages(what: Any, topology: str, tmp_path: Path) -> None:
    runs = [kb.run(what, topology, store=tmp_path, verify=verify, check=False) for verify in (False, True)]
    for table in TABLES:
        timed, computed = (run.tables[table].to_pydict() for run in runs)
        assert timed == computed, table
    assert runs[0].tables["Op"].num_rows > 100


def test_only_a_timing_run_has_such_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Recorder] = []
    words = Recorder.words
    monkeypatch.setattr("kernbench.values.oplog.OpLog.words", lambda log: made.append(log) or words(log))
    for verify in (False, True):
        kb.run(bench, "minimal", store=tmp_path, verify=verify, check=False)
        rows = made[-1].commands.rows(LAYOUT["command"])
        assert (len(rows) > 0) is not verify
