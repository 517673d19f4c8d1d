"""Figures that sum up a run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernbench_graph.archive.launched import run_times

from kernbench.api.summary import busiest, busiest_by_class, most_waited_for

LAUNCHES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9), st.integers(0, 20)))


@given(LAUNCHES)
def test_latency_is_the_time_in_which_any_launch_is_submitted_and_not_done(
    launches: list[tuple[int, int, int]],
) -> None:
    info = {
        "launches": [
            {"t_submit": float(t), "t_start": float(t + before), "t_done": float(t + before + ran)}
            for t, before, ran in launches
        ]
    }
    whole = {ns for t, before, ran in launches for ns in range(t, t + before + ran)}
    running = {ns for t, before, ran in launches for ns in range(t + before, t + before + ran)}
    assert run_times(info) == {"latency_ns": len(whole), "launch_ns": len(whole - running)}
    assert run_times(info, ()) == {"latency_ns": 0.0, "launch_ns": 0.0}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["router_mesh", "router", "pe_gemm", "hbm_ctrl", "ucie_port", "pseudo_channel"]),
            st.integers(0, 5),
            st.integers(0, 5),
        ),
        max_size=12,
    ),
    st.integers(0, 12),
)
def test_all_that_serve_are_ranked_together(rows: list[tuple[str, int, int]], top: int) -> None:
    """Links, engines and routers, by use and by what others waited; never parts of others."""
    used = {
        "resource": np.array([f"r{i:02}" for i in range(len(rows))], dtype=object),
        "kind": np.array([kind for kind, _, _ in rows], dtype=object),
        "busy_ns": np.array([busy for _, busy, _ in rows], dtype=float),
        "utilisation": np.array([busy / 10 for _, busy, _ in rows], dtype=float),
        "occupancy": np.full(len(rows), np.nan),
        "wait_ns": np.array([waited for *_, waited in rows], dtype=float),
        **{name: np.zeros(len(rows), dtype=np.int64) for name in ("bytes", "transactions", "max_queue")},
    }
    for found, value in ((busiest(used, top), 1), (most_waited_for(used, top), 2)):
        ranked = sorted(
            (-row[value], f"r{i:02}")
            for i, row in enumerate(rows)
            if row[value] and row[0] != "pseudo_channel"
        )
        assert [row["resource"] for row in found] == [name for _, name in ranked[:top]]
        assert all(row["occupancy"] is None for row in found)
    apart = busiest_by_class(used, top)
    links = [row["resource"] for row in busiest(used, len(rows)) if row["kind"] == "router_mesh"]
    engines = [row["resource"] for row in busiest(used, len(rows)) if row["kind"] != "router_mesh"]
    assert [row["resource"] for row in apart["busiest_links"]] == links[:top]
    assert [row["resource"] for row in apart["busiest_engines"]] == engines[:top]
