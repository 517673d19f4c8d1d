"""Tests that plant faults into the engine's own classes run where nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernbench.support.compiled import state

HERE = Path(__file__).parent
FILES = (
    "exact/test_invariants.py",
    "exact/test_reference_agreement.py",
    "property/test_timing_monotone.py",
    "unit/test_api_check.py",
)


@pytest.mark.slow
@pytest.mark.skipif(state != "used", reason="they run by themselves")
def test_planted_faults_are_found() -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
            "-k", "broken or can_fail or violation_names or after_a_wait or checked_where_asked or is_found "
            "or ends_the_command",
            *(str(HERE.parent / name) for name in FILES),
        ],
        cwd=HERE.parents[1], env=os.environ | {"KERNBENCH_PURE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
