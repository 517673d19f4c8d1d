"""Values and ranges of a sweep, and how they are multiplied out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernbench.api.sweeps.file import read_sweep
from kernbench.api.sweeps.grid import MOST_POINTS, grid, values
from kernbench.api.sweeps.result import Sweep, SweepPoint, median_of
from kernbench.errors import ConfigError, UsageError


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("1,2,4", ["1", "2", "4"]),
        ("8..11", [8, 9, 10, 11]),
        ("8..128*2", [8, 16, 32, 64, 128]),
        ("8..100*2", [8, 16, 32, 64]),
        ("8..64+16", [8, 24, 40, 56]),
        ("0.1..0.5+0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("-2..0", [-2, -1, 0]),
        ("1KiB..4KiB*2", [1024, 2048, 4096]),
        ("64..1 KiB+480 B", [64, 544, 1024]),
        ("1, 4..6, f16", ["1", 4, 5, 6, "f16"]),
        ("[1, 2], {a: 1, b: 2}", ["[1, 2]", "{a: 1, b: 2}"]),
        ("f16", ["f16"]),
        ("../x", ["../x"]),
        ("", [""]),
        (7, [7]),
        ([1, "2..3", "x"], [1, 2, 3, "x"]),
        (range(2), [0, 1]),
        (np.array([1, 2]), [1, 2]),
    ],
)
def test_values(given: object, found: list[object]) -> None:
    assert values(given) == found


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("9..8", "ends below its beginning"),
        ("1..8*1", "does not grow"),
        ("0..8*2", "does not grow"),
        ("1..8+0", "does not grow"),
        ("1MiB..64KiB", "ends below its beginning"),
        ("1..", "'1..' is not a range; give both ends, such as 8..64"),
        ("..4", "'..4' is not a range"),
        ("1..a", "'1..a' is not a range"),
        ("1,,2", "has an empty part"),
        ([], "has no values"),
        (f"0..{MOST_POINTS}", "more than 100000 values"),
    ],
)
def test_bad_ranges_are_named(given: object, problem: str) -> None:
    with pytest.raises(UsageError, match=f"parameter 'm'.*{problem}"):
        grid([None], {"m": given})


def test_the_last_key_is_the_fastest_and_points_come_before_what_is_common() -> None:
    found = grid(["a"], {"m": "1,2"}, {"x.y": [3, 4]})
    assert [(p.params["m"], p.topo["x.y"]) for p in found] == [("1", 3), ("1", 4), ("2", 3), ("2", 4)]
    own = grid(["a"], {"m": 1, "n": 5}, None, [{"params": {"m": [2, 3]}}, {"topology": ["b", "c"]}])
    assert [(p.topology, dict(p.params)) for p in own] == [
        ("a", {"m": 2, "n": 5}),
        ("a", {"m": 3, "n": 5}),
        ("b", {"m": 1, "n": 5}),
        ("c", {"m": 1, "n": 5}),
    ]
    with pytest.raises(UsageError, match="more than 100000 points"):
        grid([None], {"m": "1..1000", "n": "1..1000"})


def test_a_file_is_checked_line_by_line_and_finds_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("", encoding="utf-8")
    file = tmp_path / "s.yaml"
    file.write_text("bench: mine.py:x\nset: {m: 1..3}\npoints:\n  - topo: {a.b: 1}\n", encoding="utf-8")
    spec = read_sweep(file)
    assert spec.bench == f"{tmp_path / 'mine.py'}:x"
    assert spec.points is not None
    assert spec.points[0].topo == {"a.b": 1}
    file.write_text("bench: x\npoints:\n  - tpo: {a.b: 1}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"s\.yaml:3: points\.0\.tpo: unknown key, did you mean 'topo'"):
        read_sweep(file)
    with pytest.raises(UsageError, match="does not exist"):
        read_sweep(tmp_path / "none.yaml")


def test_swept_keys_are_those_that_differ() -> None:
    points = (
        SweepPoint(1, "a", {"m": 1, "n": 2}, {}, 5.0),
        SweepPoint(2, "a", {"m": 1, "n": 2}, {"x": 1}, 4.0),
        SweepPoint(3, "a", {"m": "no"}, {"x": 1}, error="bad"),
    )
    sweep = Sweep("b", points)
    assert sweep.swept == ["m", "x"]
    assert sweep.best == points[1]
    wrong = SweepPoint(4, "a", {"m": 1, "n": 2}, {"x": 1}, 1.0, error="values are wrong")
    assert Sweep("b", (*points, wrong)).best == points[1]
    table = sweep.table()
    assert table["m"].to_pylist() == ["1", "1", "no"]
    assert table["x"].to_pylist() == [None, 1, 1]
    assert table["latency_ns"].to_pylist() == [5.0, 4.0, None]


def test_what_a_point_says_comes_before_what_is_common_and_all_of_both_is_multiplied() -> None:
    found = grid(
        ["t"], {"m": "1,2"}, {"x": 5}, [{"set": {"m": 9}, "topology": ["a", "b"]}, {"params": {"n": 3}}]
    )
    assert [(one.topology, dict(one.params), dict(one.topo)) for one in found] == [
        ("a", {"m": 9}, {"x": 5}), ("b", {"m": 9}, {"x": 5}),
        ("t", {"m": "1", "n": 3}, {"x": 5}), ("t", {"m": "2", "n": 3}, {"x": 5}),
    ]  # fmt: skip


def test_the_front_is_of_points_that_no_other_beats() -> None:
    def point(number: int, ns: float | None, pj: float | None, error: str = "") -> SweepPoint:
        return SweepPoint(number, "t", {"m": number}, {}, ns, error=error, energy_pj=pj)

    points = (
        point(1, 5.0, 9.0), point(2, 4.0, 10.0), point(3, 4.0, 9.5), point(4, 6.0, 9.0),
        point(5, 1.0, 1.0, "bad"), point(6, None, 1.0), point(7, 8.0, None), point(8, 9.0, 2.0),
    )  # fmt: skip
    assert [one.point for one in Sweep("b", points).front] == [3, 1, 8]
    assert points[0].edp_pj_ns == 45.0
    assert points[5].edp_pj_ns is None


def test_the_median_of_phases_and_their_spread() -> None:
    rows = [
        SweepPoint(n, "t", {}, {}, ns, kept_before=n > 1)
        for n, ns in ((1, 7.0), (2, 3.0), (3, 5.0), (4, 4.0))
    ]
    found = median_of(rows)
    assert (found.latency_ns, found.spread_ns, found.phases, found.kept_before) == (4.0, 4.0, 4, False)
    wrong = median_of([*rows, SweepPoint(5, "t", {}, {}, error="bad")])
    assert (wrong.latency_ns, wrong.error) == (4.0, "bad")
    assert median_of([SweepPoint(1, "t", {}, {}, error="bad")]).spread_ns is None


def test_columns_have_one_type() -> None:
    points = (
        SweepPoint(1, "t", {"m": 1}, {}, 2.0, energy_pj=3.0),
        SweepPoint(2, "t", {"m": 2.5}, {}, None, error="bad"),
    )  # fmt: skip
    table = Sweep("b", points).table()
    assert [str(table[name].type) for name in ("m", "latency_ns", "verified", "energy_pj", "edp_pj_ns")] == [
        "double", "double", "bool", "double", "double",
    ]  # fmt: skip
    assert table["edp_pj_ns"].to_pylist() == [6.0, None]
    assert [point.point for point in Sweep("b", points).failed] == [2]
