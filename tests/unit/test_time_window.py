"""Windows of a run: what they cover, and the use of resources within them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.path.critical_path import critical_path, path_of_launches, path_within, trace_index
from kernbench.analysis.path.path_steps import CriticalPath, Step
from kernbench.analysis.path.walk_track import Track
from kernbench.analysis.trace_tables import TracedMessage
from kernbench.analysis.windows.time_window import Window, select
from kernbench.api.pictures import diagram_frames
from kernbench.errors import UsageError
from tests.window_sums import check_windows_add_up

LAUNCHES = [
    {"t_start": 10.0, "t_done": 20.0},
    {"t_start": 15.0, "t_done": 30.0},
    {"t_start": 50.0, "t_done": 60.0},
]
INFO: dict[str, Any] = {"sim_ns": 100.0, "launches": LAUNCHES}


@pytest.mark.parametrize(
    ("chosen", "spans"),
    [
        ((None,), ((0.0, 100.0),)),
        (("run",), ((0.0, 100.0),)),
        (("all",), ((10.0, 30.0), (50.0, 60.0))),
        (("setup",), ((0.0, 10.0), (30.0, 50.0), (60.0, 100.0))),
        ((1,), ((15.0, 30.0),)),
        (("2",), ((50.0, 60.0),)),
        (("all", 25.0, 55.0), ((25.0, 30.0), (50.0, 55.0))),
        (("run", None, 7.0), ((0.0, 7.0),)),
        (("run", 93.0, 500.0), ((93.0, 100.0),)),
    ],
)
def test_a_window_is_what_was_chosen(chosen: tuple[Any, ...], spans: tuple[Any, ...]) -> None:
    assert select(INFO, *chosen).spans == spans


def test_all_launches_of_a_run_without_any_are_the_run() -> None:
    assert select({"sim_ns": 5.0, "launches": []}, "all").spans == ((0.0, 5.0),)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ((3,), "no launch 3; it has 3"),
        (("-1",), "no launch -1"),
        (("last",), "launch 'last' is not known; give a number from 0, all, setup or run"),
        (("run", 30.0, 30.0), "the time range 30 to 30 ns is empty; the run lasts from 0 to 100"),
        (("all", 31.0, 49.0), "nothing in the kernels of 3 launches from 31.000 to 49.000 ns"),
    ],
)
def test_what_is_no_window_is_an_error(chosen: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select(INFO, *chosen)


SPANS = st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True).map(sorted).map(
    lambda edges: tuple(zip(map(float, edges[::2]), map(float, edges[1::2]), strict=False))
)  # fmt: skip


@given(spans=SPANS, ends=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=9))
def test_shares_are_lengths_in_common(spans: Any, ends: list[tuple[int, int]]) -> None:
    window = Window("w", spans)
    begin, end = (np.array([f(pair) for pair in ends], dtype=float) for f in (min, max))
    for a, b, share in zip(begin, end, window.share(begin, end), strict=True):
        if a == b:
            assert share == float(any(first <= a <= last for first, last in spans))
        else:
            common = sum(max(0.0, min(b, last) - max(a, first)) for first, last in spans)
            assert share == pytest.approx(common / (b - a))


NEAR = st.builds(lambda time, off: time + off * 4e-10, st.integers(0, 60), st.integers(-4, 4))


@given(spans=SPANS, ends=st.lists(st.tuples(NEAR, NEAR), min_size=1, max_size=9))
def test_intervals_touch_a_window_where_they_have_a_part_in_it(
    spans: Any, ends: list[tuple[float, float]]
) -> None:
    begin, end = (np.array([f(pair) for pair in ends], dtype=float) for f in (min, max))
    for a, b, found in zip(begin, end, Window("w", spans).touches(begin, end), strict=True):
        common = any(a < last - 1e-9 and b > first + 1e-9 for first, last in spans)
        at_one = b - a < 1e-9 and any(a > first - 1e-9 and b < last + 1e-9 for first, last in spans)
        assert found == (common or at_one)


@given(spans=SPANS, edges=st.lists(st.integers(0, 60), min_size=2, max_size=9, unique=True).map(sorted))
def test_a_clipped_path_has_the_time_in_common(spans: Any, edges: list[int]) -> None:
    steps = tuple(
        Step(float(a), float(b), "link", f"l{n}", "") for n, (a, b) in enumerate(itertools.pairwise(edges))
    )
    path = CriticalPath(float(edges[0]), float(edges[-1]), steps)
    found = Window("w", spans).clip(path)
    for step in steps:
        common = sum(max(0.0, min(step.t_end, last) - max(step.t_start, first)) for first, last in spans)
        assert sum(s.ns for s in found.steps if s.location == step.location) == pytest.approx(common)
    assert [s.t_start for s in found.steps] == sorted(s.t_start for s in found.steps)


@pytest.mark.parametrize("bench", ["matmul-composite", "va-offset-verify"])
def test_a_path_within_a_window_is_its_part_of_the_path_of_the_run(bench: str) -> None:
    run = kb.run(bench, "minimal", store="memory:", check=False)
    index = trace_index(run.tables, run.info)
    whole = critical_path(index, run.sim_ns)
    quarter = run.sim_ns / 4
    chosen: list[tuple[Any, ...]] = [
        ("all",),
        ("setup",),
        ("run", quarter, 2 * quarter),
        ("all", None, quarter * 3),
    ]
    for window in (select(run.info, *how) for how in chosen):
        found, expected = path_within(index, run.sim_ns, window), window.clip(whole)
        assert found.steps == expected.steps
        assert found.ns == expected.ns
        named = {step.transaction for step in found.steps if step.transaction >= 0}
        assert named <= found.paths.keys()
        assert found.paths == {number: whole.paths[number] for number in found.paths}
    assert whole.steps == path_within(index, run.sim_ns, select(run.info)).steps


@pytest.mark.parametrize("spans", [None, [(0.0, 1.0)], [(20.0, 30.0)]])
def test_a_message_without_hops_takes_no_time(spans: Any) -> None:
    run = kb.run("gemm-single-pe", "minimal", store="memory:", check=False)
    track = Track(trace_index(run.tables, run.info), stop=0.0, now=10.0, spans=spans)
    track.back_over(TracedMessage(10**9, "read", "a", "b", 1.0, 10.0, -1))
    assert track.now == 10.0
    assert track.steps == []


@pytest.mark.parametrize(
    ("bench", "machine"),
    [
        ("gemm-single-pe", "minimal"),
        ("matmul-composite", "minimal"),
        ("va-offset-verify", "minimal"),
        ("tp-mlp", "minimal"),
        # uploads pass through DMA engines that have operations of their own, or none
        pytest.param("pe2pe", "default", marks=pytest.mark.slow),
    ],
)
def test_use_within_windows_adds_up_to_the_use_of_the_run(bench: str, machine: str) -> None:
    check_windows_add_up(kb.run(bench, machine, store="memory:"))


def test_questions_and_summaries_tell_of_the_same_window() -> None:
    with kb.open_store("memory:") as store:
        check_windows(kb.run("gemm-single-pe", "minimal", store=store))


def check_windows(run: kb.Run) -> None:
    for launch in ("all", "setup", "run"):
        use, rows = run.use(launch), run.query("busiest-links", launch=launch, limit=1000).dicts()
        links = use["is_link"].astype(bool) & (use["transactions"] > 0)
        wanted = dict(zip(use["resource"][links], use["busy_ns"][links], strict=True))
        assert {row["link"]: row["busy_ns"] for row in rows} == pytest.approx(wanted)
        best = next(row for row in run.summary(100, launch)["busiest"] if "->" in row["resource"])
        for share in ("utilisation", "occupancy"):
            assert best[share] == pytest.approx(rows[0][share])
        causes = {
            row["cause"]: row["ns"] for row in run.query("critical-path/by-cause", launch=launch).dicts()
        }
        assert causes == pytest.approx(run.summary(1, launch)["by_cause"])
    sent = [run.query("transactions-by-kind", launch=launch).dicts() for launch in ("all", "setup", "run")]
    counts = [sum(row["transactions"] for row in rows) for rows in sent]
    assert counts[0] + counts[1] == counts[2] == len(run.transactions["number"])
    assert counts[0]
    assert counts[1]


def test_nothing_is_busy_for_longer_than_a_window_and_stretches_add_up() -> None:
    run = kb.run("qkv-gemm", "minimal", store="memory:")
    whole = run.use(0)
    frames = diagram_frames(run, 7, 0)
    assert [frame.from_ns for frame in frames][1:] == [frame.to_ns for frame in frames][:-1]
    busy = dict.fromkeys(whole["resource"].tolist(), 0.0)
    for frame in frames:
        part = run.use(frame)
        assert part["utilisation"].max() <= 1.0
        for name, ns in zip(part["resource"].tolist(), part["busy_ns"].tolist(), strict=True):
            busy[name] += ns
    engines = np.array([kind.startswith("pe_") and kind != "pe_internal" for kind in whole["kind"]])
    for name, ns in zip(whole["resource"][engines], whole["busy_ns"][engines], strict=True):
        assert busy[name] == pytest.approx(ns), name


@pytest.mark.parametrize(
    ("spans", "parts"),
    [
        ([(0.0, 5.0), (8.0, 9.0)], [(0, 0.0, 5.0), (1, 8.0, 9.0)]),
        ([(0.0, 6.0), (4.0, 9.0)], [(0, 0.0, 4.0), (1, 4.0, 9.0)]),
        ([(0.0, 9.0), (4.0, 6.0)], [(0, 0.0, 9.0)]),
        ([(2.0, 9.0), (2.0, 9.0)], [(0, 2.0, 9.0)]),
        ([(0.0, 9.0), (4.0, 9.0)], [(0, 0.0, 9.0)]),
        ([(4.0, 9.0), (0.0, 5.0), (1.0, 3.0)], [(1, 0.0, 4.0), (0, 4.0, 9.0)]),
    ],
)
def test_the_path_of_several_launches_is_made_of_their_own(
    spans: list[tuple[float, float]], parts: list[tuple[int, float, float]]
) -> None:
    info = {"sim_ns": 20.0, "launches": [{"t_start": begin, "t_done": end} for begin, end in spans]}
    paths = {
        number: CriticalPath(begin, end, (Step(begin, end, "compute", f"part {number}", ""),))
        for number, (begin, end) in enumerate(spans)
    }
    window = select(info, "all")
    found = path_of_launches(paths, window)
    assert [(step.location, step.t_start, step.t_end) for step in found.steps] == [
        (f"part {number}", begin, end) for number, begin, end in parts
    ]
    assert found.ns == window.ns


def own_part(run: kb.Run, spans: Any) -> float:
    """ns of the launches' own paths within spans of time."""
    steps = [step for number in range(len(run.launches)) for step in run.critical_path(number).steps]
    return sum(max(0.0, min(s.t_end, last) - max(s.t_start, first)) for s in steps for first, last in spans)


@pytest.mark.usefixtures("workdir")
def test_what_the_host_does_meanwhile_is_not_what_launches_took() -> None:
    """The next operand's upload takes longer than the launch before it."""

    def add(x: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.load(x) + tl.load(x))

    def program(torch: Any) -> None:
        small = torch.from_numpy(np.ones((8, 64), np.float32))
        out = torch.empty(8, 64, dtype="f32")
        for _ in range(2):
            torch.launch("add", add, small, out)
            torch.from_numpy(np.ones((512, 64), np.float32))
        torch.launch("add", add, small, out)

    run = kb.run(program, "minimal")
    own = [run.critical_path(number).by_cause() for number in range(3)]
    spans = [(one["t_start"], one["t_done"]) for one in run.launches]
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    for found in (
        run.critical_path("all").by_cause(),
        {row["cause"]: row["ns"] for row in run.query("critical-path/by-cause").dicts()},
    ):
        assert found == pytest.approx({c: sum(one.get(c, 0.0) for one in own) for one in own for c in one})
    assert "host" not in run.critical_path("all").by_cause()
    half = {"from_ns": spans[0][0] + 50.0, "to_ns": spans[2][0] + 50.0}
    part = run.critical_path("all", **half).by_cause()
    assert "host" not in part
    assert {row["cause"]: row["ns"] for row in run.query("critical-path/by-cause", **half).dicts()} == (
        pytest.approx(part)
    )
    window = run.window("all", **half)
    assert sum(part.values()) == pytest.approx(window.ns) == pytest.approx(own_part(run, window.spans))
