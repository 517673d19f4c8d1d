"""The compiled engine keeps the same archives as the Python one, each column to its last bit.

What ``tests/golden`` keeps is what both engines keep: ``test_archives`` asks it of the compiled engine in
``make test`` and ``make slow``, ``make pure`` asks all but the slow cases of the Python engine, and those are
asked of it here. Of generated machines with generated programs and patterns nothing is kept, so two processes
run the same ones, one of them with ``KERNBENCH_PURE=1``. ``python tools/measure_pairs.py --against pure
--archives`` is the same comparison by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kernbench.support.compiled import state
from tests.golden.archives import GOLDEN, SLOW, differences

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from measure_pairs import PURE, ask, differing  # noqa: E402

pytestmark = pytest.mark.skipif(state != "used", reason="the engine is not compiled here")

DAILY = ["pattern uniform-random on small", *(f"generated {seed}" for seed in (1, 2, 4))]
GENERATED = [f"generated {seed}" for seed in range(40)]
OF_THE_PYTHON_ENGINE = [case for case in SLOW if not case.endswith(" on default")]
"""Kernels on the default machine are those of the cases on smaller ones, here and in ``make pure``."""


def test_the_two_sides_run_on_two_engines() -> None:
    assert ask(ROOT, "engine", [""]) == "used"
    assert "KERNBENCH_PURE" in ask(PURE, "engine", [""])


def test_archives_are_the_same_to_their_last_bit() -> None:
    assert list(differing(PURE, DAILY)) == []


@pytest.mark.slow
def test_generated_archives_are_the_same_to_their_last_bit() -> None:
    assert list(differing(PURE, GENERATED)) == []


@pytest.mark.slow
def test_the_python_engine_keeps_what_is_kept_of_slow_cases() -> None:
    kept = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    found = ask(PURE, "digest", OF_THE_PYTHON_ENGINE)
    assert {case: list(differences(kept[case], digests)) for case, digests in found.items()} == {
        case: [] for case in OF_THE_PYTHON_ENGINE
    }
