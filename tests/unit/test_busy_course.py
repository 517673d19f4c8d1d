"""Places whose work is nothing beside the time that it takes part in have no course, and no error."""

from __future__ import annotations

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.busy_course import course_of
from kernbench.analysis.windows.time_window import Window


@pytest.mark.parametrize("ends", [5.0, 5e6])
def test_work_that_is_nothing(ends: float) -> None:
    """One place with hardly any work, and one that is busy half of the time."""
    where, work = np.array([0, 0, 1]), np.array([1e-30, 1e-30, 5.0])
    course = course_of(where, work, np.array([5.0, 5.0, 0.0]), np.array([5.0, ends, 10.0]))
    assert course.within(Window("run", ((0.0, 10.0),)), 2).tolist() == pytest.approx([0.0, 5.0])


@pytest.mark.slow
def test_free_links_beside_a_slow_switch() -> None:
    topo = {
        "system.switch.link_gbs": 0.128,
        "overrides": [{"where": "kind:router_mesh", "free": True}],
    }
    run = kb.run("va-offset-verify", topo=topo, store="memory:")
    used = run.use()
    assert float(np.max(used["utilisation"])) <= 1.0
