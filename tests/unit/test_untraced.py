"""A run without a trace has the same times, remembers no holders, and says that it knows no waits."""

from __future__ import annotations

from math import isnan
from typing import Any

import pytest

from kernbench.engine.machine.machine import Machine
from tests.compiled import compiled

LINKS: dict[str, dict[str, object]] = {
    "first come first served": {},
    "round robin": {"arbiter": "round_robin"},
    "buffers": {"buffer_flits": 2, "vcs": 2},
}


def run(links: dict[str, object], *, traced: bool, check: bool = False) -> tuple[Machine, list[Any]]:
    """60 transfers that meet each other, and each part's use without its waits."""
    graph = compiled(None, {"links": {"router_mesh": links}} if links else {})
    machine = Machine(graph, traced=traced, check=check)
    flows = [
        machine.flow(
            f"sip0.cube{i % 2}.pe{i % 8}", f"sip0.cube0.hbm_ctrl.pe{i * 5 % 8}", 4096 * i,
            700 * (1 + i % 4), is_write=i % 3 == 0, start_ns=float(i // 4),
        )
        for i in range(60)
    ]  # fmt: skip
    machine.wait(*flows)
    machine.drain()
    use = [(r.resource, r.bytes, r.busy_ns, r.transactions, r.max_queue) for r in machine.resources]
    assert all(isnan(flow.wait_ns) != traced for flow in flows)
    assert all(isnan(r.wait_ns) != traced for r in machine.resources)
    return machine, [[flow.t_done for flow in flows], use, machine.clock.events]


@pytest.mark.daily("first come first served")
@pytest.mark.parametrize("links", LINKS.values(), ids=LINKS)
def test_times_are_the_same_and_no_holder_is_remembered(links: dict[str, object]) -> None:
    seen, with_trace = run(links, traced=True)
    unseen, without = run(links, traced=False)
    assert with_trace == without == run(links, traced=False, check=True)[1]
    assert sum(r.wait_ns for r in seen.resources) > 0
    unseen.reset()
    unseen.start_run()
    assert unseen.resources[0].wait_ns == 0.0  # the next run on it may have a trace
    links_again = run(links, traced=False)[0].links.values()
    logs = [one.log for link in links_again for one in (link, link.port) if one]
    assert not any(log.runs.count for log in logs if log is not None)
