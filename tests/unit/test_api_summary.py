"""Figures that sum up a run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernbench_graph.archive.record import launched_ns

from kernbench.api.summary import busiest_engines, busiest_links

INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)).map(lambda p: (p[0], p[0] + p[1])))


@given(INTERVALS)
def test_latency_is_the_time_in_which_any_launch_runs(intervals: list[tuple[int, int]]) -> None:
    launches = [{"t_start": float(start), "t_done": float(end)} for start, end in intervals]
    covered = {ns for start, end in intervals for ns in range(start, end)}
    assert launched_ns(launches) == len(covered)


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.sampled_from(["router", "pe_gemm", "hbm_ctrl", "ucie_port"]), st.integers(0, 5)
        ),
        max_size=12,
    ),
    st.integers(0, 12),
)
def test_busiest_are_the_first_of_all_that_were_busy(rows: list[tuple[bool, str, int]], top: int) -> None:
    used = {
        "resource": np.array([f"r{i:02}" for i in range(len(rows))], dtype=object),
        "kind": np.array(["router_mesh" if is_link else kind for is_link, kind, _ in rows], dtype=object),
        "is_link": np.array([is_link for is_link, _, _ in rows], dtype=bool),
        "busy_ns": np.array([busy for *_, busy in rows], dtype=float),
        "utilisation": np.array([busy / 10 for *_, busy in rows], dtype=float),
        **{name: np.zeros(len(rows), dtype=np.int64) for name in ("wait_ns", "bytes", "transactions")},
    }
    for found, wanted in (
        (busiest_links(used, top), lambda is_link, kind: is_link),
        (busiest_engines(used, top), lambda is_link, kind: not is_link and kind in ("pe_gemm", "hbm_ctrl")),
    ):
        ranked = sorted(
            (-busy, f"r{i:02}") for i, (link, kind, busy) in enumerate(rows) if wanted(link, kind) and busy
        )
        assert [row["resource"] for row in found] == [name for _, name in ranked[:top]]
