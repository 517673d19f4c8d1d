"""The compiled engine keeps the same archives as the Python one, each column to its last bit.

Two processes run the same cases, one of them with ``KERNBENCH_PURE=1``: those of ``tests/golden`` and
generated machines with generated programs and patterns. ``python tools/measure_pairs.py --against pure
--archives`` is the same comparison by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kernbench.compiled import core
from tests.golden.archives import PATTERNS, SLOW, cases

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from measure_pairs import PURE, ask, differing  # noqa: E402

pytestmark = pytest.mark.skipif(core is None, reason="there is no compiled core to compare")

DAILY = ["pattern uniform-random on small", *(f"generated {seed}" for seed in (1, 2, 4))]
"""The others are in ``test_archives``, which ``make test`` and ``make pure`` ask of one engine each."""
GROUPS = {
    "benches": [case for case in cases() if " on " in case and not case.startswith("pattern")],
    "patterns": [f"pattern {pattern} on small" for pattern in PATTERNS],
    "generated": [f"generated {seed}" for seed in range(200)],
    "topologies": [case for case in cases() if case.startswith("topology")],
}


def test_the_two_sides_run_on_two_engines() -> None:
    assert ask(ROOT, "engine", [""]) == "used"
    assert "KERNBENCH_PURE" in ask(PURE, "engine", [""])


def test_archives_are_the_same_to_their_last_bit() -> None:
    assert list(differing(PURE, DAILY)) == []


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_all_archives_are_the_same_to_their_last_bit(group: str) -> None:
    assert set(SLOW) <= {case for group in GROUPS.values() for case in group}
    assert list(differing(PURE, GROUPS[group])) == []
