"""``kernbench show --tab`` and ``Run.screen``: every tab is in the shell, with the rows that the page has."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.contents import SCREENS

Cli = Callable[..., Any]


@pytest.fixture
def kept(cli: Cli) -> kb.Run:
    assert cli("run", "gemm-single-pe", "--topology", "minimal").status == 0
    return kb.open_run("last")


DAILY = ("overview", "parts")


@pytest.mark.parametrize(
    "keys",
    [DAILY, pytest.param([one.key for one in SCREENS if one.key not in DAILY], marks=pytest.mark.slow)],
)
def test_every_tab_is_in_the_shell_as_it_is_in_python(cli: Cli, kept: kb.Run, keys: Sequence[str]) -> None:
    for screen in (one for one in SCREENS if one.key in keys):
        content = kept.screen(screen.key)
        found = json.loads(cli("show", "last", "--tab", screen.key, "--format", "json").out)
        assert (found.pop("run_id"), found.pop("tab")) == (kept.id, screen.key)
        assert {key: len(rows) for key, rows in found.items()} == {g.key: len(g.rows) for g in content.grids}
        shown = cli("show", "--tab", screen.key).out
        for grid in content.grids:
            assert (grid.heading in shown) == bool(grid.rows)


def test_a_tab_has_all_rows_and_those_of_its_window(cli: Cli, kept: kb.Run) -> None:
    steps = kept.screen("path").grids
    shown = cli("show", "--tab", "path").out
    assert "more" not in shown
    assert len(shown.splitlines()) > max(len(grid.rows) for grid in steps)
    half = kept.screen("path", 0, to_ns=kept.launches[0]["t_start"] + 100.0).grids
    assert sum(row["ns"] for row in half[0].rows) == pytest.approx(100.0)


def test_a_tab_that_there_is_not_is_an_error(cli: Cli, kept: kb.Run) -> None:
    with pytest.raises(kb.KernBenchError, match="there is no tab 'wait'; did you mean 'waits'"):
        kept.screen("wait")
    assert "there is no tab 'wait'; did you mean 'waits'" in cli("show", "--tab", "wait").err
    assert "did you mean 'kernbench show'" in cli("runs", "show").err
