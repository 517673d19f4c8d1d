"""Numbers that commands and functions are given: nan, infinity and what is out of bounds are errors."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.api.comparing import compare
from kernbench.cli.main import main
from kernbench.errors import UsageError
from kernbench.support.pgraph import QueryError


@pytest.fixture(scope="module")
def run() -> kb.Run:
    return kb.run("gemm-single-pe", "minimal")


def _check(torch: Any, tolerance: float) -> None:
    torch.check("x", torch.zeros((4, 4)), np.ones((4, 4), np.float16), tolerance=tolerance)


@pytest.mark.parametrize("value", [nan, inf, -1])
def test_numbers_of_functions(run: kb.Run, value: float) -> None:
    asked = {
        "max_ns": lambda: kb.run("gemm-single-pe", "minimal", max_ns=value),
        "max_events": lambda: kb.sweep("gemm-single-pe", topology="minimal", max_events=value),  # type: ignore[arg-type]
        "least": lambda: run.advice(least=value),
        "threshold": lambda: compare("last", "last", threshold=value),
        "check 'x': the tolerance": lambda: kb.run(
            lambda torch: _check(torch, value), "minimal", verify=True
        ),
        "a size": lambda: kb.probe("minimal", sizes=[value]),  # type: ignore[list-item]
        "jobs": lambda: kb.sweep("gemm-single-pe", topology="minimal", jobs=value),  # type: ignore[arg-type]
    }
    for name, ask in asked.items():
        with pytest.raises(UsageError, match=f"^{name} is {value}"):
            ask()


@pytest.mark.parametrize("value", [nan, inf, 0.0, -1.0])
def test_a_query_has_a_time_limit(run: kb.Run, value: float) -> None:
    with pytest.raises(QueryError, match="give a finite number above 0"):
        kb.ask_cypher("MATCH (n:Run) RETURN n.bench", timeout_s=value, store="memory:")


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_numbers_of_commands(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("start_ns", "period_ns", "share"):
        assert main(["traffic", "pattern:hot-spot", "--topology", "minimal", f"{name}={value}"]) == 2
        assert f"parameter '{name}': {value} is " in capsys.readouterr().err
    assert main(["run", "gemm-single-pe", "--topology", "minimal", "--max-ns", value]) == 2
    assert f"max_ns is {float(value)}, expected a finite number" in capsys.readouterr().err


def test_a_name_in_the_other_case_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "gemm-single-pe", "--topology", "minimal", "M=64"]) == 2
    assert "has no parameter 'M'; did you mean 'm'?" in capsys.readouterr().err
