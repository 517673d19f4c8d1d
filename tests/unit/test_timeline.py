"""``Run.timeline``: rows from the trace, folded, in text, SVG and PNG."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.use.occupancy import united
from kernbench.analysis.use.time_lines import lanes
from kernbench.api.pictures import diagram_frames
from kernbench.api.stores import borrowed
from kernbench.draw.timeline.model import shares, ticks
from kernbench.errors import UsageError

SMALL = {"system.sips": 1, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def qkv() -> kb.Run:
    return kb.run("qkv-gemm-multi-pe", topo=SMALL, store="memory:")


def test_every_operation_of_the_launch_is_a_bar_at_its_engine(qkv: kb.Run) -> None:
    line = qkv.timeline(fold=False, rows=0).to_dict()
    start = qkv.launches[0]["t_start"]
    assert (line["start_ns"], line["ns"]) == (start, pytest.approx(qkv.kernels_ns))
    bars = {
        (row["place"], bar["number"]): (bar["begin"], bar["end"])
        for group in line["groups"]
        for row in group["rows"]
        for bar in row["bars"]
        if bar["number"] >= 0
    }
    ops = qkv.ops
    wanted = {
        (ops["component"][i], ops["number"][i]): (ops["t_start"][i] - start, ops["t_end"][i] - start)
        for i in np.flatnonzero(ops["launch"] == 0)
    }
    assert bars.keys() == wanted.keys()
    for key, times in bars.items():
        assert times == pytest.approx(wanted[key], abs=1e-6)


def test_pes_equal_in_every_time_fold_with_their_count(qkv: kb.Run) -> None:
    folded, each = qkv.timeline().to_dict(), qkv.timeline(fold=False, rows=0).to_dict()
    assert sum(group["count"] for group in folded["groups"]) == len(each["groups"])
    assert len(folded["groups"]) < len(each["groups"])
    by_place = {group["place"]: group["rows"] for group in each["groups"]}
    for group in folded["groups"]:
        assert by_place[group["place"]] == group["rows"]


def test_groups_left_out_are_counted(qkv: kb.Run) -> None:
    every = qkv.timeline(fold=False, rows=0).to_dict()
    few = qkv.timeline(fold=False, rows=2).to_dict()
    assert few["left_out"] == len(every["groups"]) - len(few["groups"]) == 6
    assert "6 more not shown" in qkv.timeline(fold=False, rows=2).text(300)


def test_what_was_crossed_comes_most_occupied_first_in_the_window(qkv: kb.Run) -> None:
    groups = qkv.timeline(links=True, fold=False, rows=0).to_dict()["groups"]
    rows = [group["rows"][0] for group in groups if group["rows"][0]["label"] == group["place"] != "host.cpu"]
    kinds = dict(zip(qkv.used["resource"].tolist(), qkv.used["kind"].tolist(), strict=True))
    assert {"router", "router_mesh", "hbm_ctrl", "m_cpu"} <= {kinds[row["place"]] for row in rows}
    shares = [round(row["occupancy"], 9) for row in rows]
    assert shares == sorted(shares, reverse=True)
    hops = qkv.hops
    for row in rows:
        at = (hops["resource"] == row["place"]) & (hops["t_out"] > qkv.launches[0]["t_start"] + 1e-9)
        assert {bar["number"] for bar in row["bars"] if bar["end"] > 1e-6} == set(hops["txn"][at].tolist())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_text_fits_its_width_and_shows_each_row(qkv: kb.Run, width: int) -> None:
    text = qkv.timeline(links=True).text(width)
    lines = text.splitlines()
    bars = [line for line in lines if line.count("|") == 2 and line.endswith("%")]
    assert max(map(len, bars)) == width
    assert any("pe_gemm" in line for line in bars)
    assert text == qkv.timeline(links=True).text(width)


def test_the_upload_is_one_line_where_launches_are_shown(qkv: kb.Run) -> None:
    setup = qkv.sim_ns - qkv.kernels_ns
    assert f"{setup:.3f} ns are setup, outside of kernels" in qkv.timeline().text(200)
    assert "outside of launches" not in qkv.timeline("run").text(200)
    assert "outside of launches" not in qkv.timeline("setup").text(200)


def test_text_in_ascii(qkv: kb.Run) -> None:
    assert qkv.timeline().text(80, ascii_only=True).isascii()


def test_svg_is_well_formed_and_names_operations(qkv: kb.Run) -> None:
    root = ET.fromstring(qkv.timeline(links=True).svg())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = list(root.iter(f"{SVG}rect"))[1:]
    assert len(boxes) > 50
    for box in boxes:
        assert (
            0 <= float(box.attrib["x"]) <= float(box.attrib["x"]) + float(box.attrib["width"]) <= width + 0.1
        )
        assert float(box.attrib["y"]) + float(box.attrib["height"]) <= height
    tips = [tip.text or "" for tip in root.iter(f"{SVG}title")]
    assert any("op " in tip and "_qkv.py:" in tip for tip in tips)


def test_the_picture_in_a_notebook_is_the_one_in_the_file(qkv: kb.Run, tmp_path: Path) -> None:
    line = qkv.timeline(rows=1)
    (file,) = qkv.export("timeline", tmp_path / "a.svg", rows=1)
    assert Path(file).read_text(encoding="utf-8") == line.svg()
    assert line.svg() in line._repr_html_()


def test_a_run_in_two_launches_and_a_part_of_it(tmp_path: Path) -> None:
    run = kb.run("ccl-allreduce", topo={**SMALL, "system.sips": 2}, store="memory:", params={"elements": 16})
    assert len(run.launches) > 1
    last = run.launches[-1]
    line = run.timeline(last["launch"]).to_dict()
    assert line["start_ns"] == last["t_start"]
    part = run.timeline(last["launch"], last["t_start"] + 10, last["t_start"] + 30).to_dict()
    assert part["ns"] == pytest.approx(20)
    for group in part["groups"]:
        for row in group["rows"]:
            assert all(0 <= bar["begin"] <= bar["end"] <= 20.000001 for bar in row["bars"])
    json.dumps(part, allow_nan=False)


def test_wrong_settings_are_errors(qkv: kb.Run) -> None:
    with pytest.raises(UsageError, match="rows=-1"):
        qkv.timeline(rows=-1)
    with pytest.raises(UsageError, match="needs 40 characters"):
        qkv.timeline().text(20)
    bare = kb.run("gemm-single-pe", "minimal", trace=False, params={"m": 8, "k": 8, "n": 8})
    with pytest.raises(UsageError, match="no trace"):
        bare.timeline()


def test_a_lane_is_free_where_its_bar_ends() -> None:
    """Beside a long bar three that touch each other take one lane."""
    begin, end = np.array([0, 0, 10, 20]), np.array([30, 10, 20, 30])
    assert sorted(lanes(np.zeros(4, np.int64), begin, end).tolist()) in ([0, 0, 0, 1], [0, 1, 1, 1])


def test_stretches_that_touch_are_one() -> None:
    begin, end = np.array([0.0, 2.0, 5.0]), np.array([2.0, 4.0, 6.0])
    assert [column.tolist() for column in united(begin, end)] == [[0.0, 5.0], [4.0, 6.0]]


def test_shares_count_overlaps_once() -> None:
    begin, end = np.array([0.0, 1.0, 6.0]), np.array([2.0, 3.0, 8.0])
    assert [list(column) for column in united(begin, end)] == [[0.0, 6.0], [3.0, 8.0]]
    assert shares(begin, end, np.array([0.0, 2.0, 4.0, 7.0, 10.0])).tolist() == pytest.approx(
        [1, 0.5, 1 / 3, 1 / 3]
    )
    assert shares(np.zeros(0), np.zeros(0), np.array([0.0, 1.0])).tolist() == [0.0]


@pytest.mark.parametrize(("ns", "most", "step"), [(1319.1, 7, 200), (0.9, 10, 0.1), (5e6, 4, 2e6)])
def test_ticks_are_round(ns: float, most: int, step: float) -> None:
    found = ticks(ns, most)
    assert found == pytest.approx([number * step for number in range(len(found))])
    assert found[-1] <= ns < found[-1] + step


def test_a_launch_that_never_began_has_no_time_line(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with pytest.raises(kb.KernBenchError, match="limit of 500 ns"):
        kb.run("gemm-single-pe", "minimal", store=store, max_ns=500, keep_partial=True)
    with borrowed(store) as opened:
        run = kb.open_run("last", opened)
        assert "host.cpu" in run.timeline("run").text(80)
        for show in (
            run.timeline,
            lambda: run.to_perfetto(tmp_path / "x"),
            lambda: run.export("chakra", tmp_path / "x"),
        ):
            with pytest.raises(UsageError, match="launch 0 is empty"):
                show()
        with pytest.raises(UsageError, match="launch 0 is empty"):
            diagram_frames(run, 3)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 9)), max_size=40))
def test_lanes_are_few_and_none_has_two_at_once(intervals: list[tuple[int, int, int]]) -> None:
    place, begin, length = (
        (np.array(column, np.int64) for column in zip(*intervals, strict=True))
        if intervals
        else (np.zeros((3, 0), np.int64))
    )
    end = begin + length
    lane = lanes(place, begin, end)
    for at in set(place.tolist()):
        mine = np.flatnonzero(place == at)
        for one in set(lane[mine].tolist()):
            rows = sorted((begin[row], end[row]) for row in mine if lane[row] == one)
            assert all(before[1] <= after[0] for before, after in pairwise(rows))
        most = max(int(((begin[mine] <= t) & (end[mine] > t)).sum()) for t in range(40))
        assert lane[mine].max() + 1 <= max(most, 1) + 1
