"""Times of the default machine's probe, kept so that a change of the model is one that someone decided on.

``probe_default.json`` was written by the simulator, at a point where all of its times agreed with the closed
form and with the recursion of ``tests/exact/max_plus.py`` to 1e-9 ns. To renew it after a decision to change
the model or the default machine: ``python tests/golden/test_probe_golden.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

GOLDEN = Path(__file__).with_name("probe_default.json")
SIZES = (256, 4096, 32768)


def times() -> dict[str, Any]:
    """ns by case, direction and bytes, and the ends of each way."""
    report = kb.probe("default", sizes=SIZES)
    return {
        row.case.title: {
            "src": row.case.src,
            "dst": row.case.dst,
            "actual_ns": {str(n): round(m.actual_ns, 9) for n, m in row.by_size.items()},
            "breakdown": {
                cause: round(ns, 9) for cause, ns in row.by_size[32768].prediction.breakdown().items()
            },
        }
        for row in report.rows
    }


@pytest.mark.slow
def test_probe_of_the_default_machine() -> None:
    golden, now = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"], times()
    assert list(now) == list(golden)
    for name, case in now.items():
        assert (case["src"], case["dst"]) == (golden[name]["src"], golden[name]["dst"])
        for key in ("actual_ns", "breakdown"):
            assert case[key] == pytest.approx(golden[name][key], abs=2e-9, rel=0), (name, key)


if __name__ == "__main__":
    origin = (
        "ns, written by 'python tests/golden/test_probe_golden.py' from the simulator; "
        "equal to the closed form of kernbench/analysis/routes/zero_load.py to 1e-9 ns"
    )
    GOLDEN.write_text(json.dumps({"origin": origin, "cases": times()}, indent=1) + "\n", encoding="utf-8")
