"""Tables, JSON, CSV and progress: what is printed, and where."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernbench.api.sweeps.result import SweepPoint
from kernbench.cli.output import number, plain, print_csv, print_json, print_table
from kernbench.cli.progress import Progress, point_lines
from kernbench.draw.progress import Standing, line, of_points

NUMBERS = st.floats() | st.integers(-(2**53), 2**53)
VALUES = st.recursive(st.none() | st.booleans() | NUMBERS | st.text(), st.lists, max_leaves=8)
PRINTED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@PRINTED
@given(VALUES)
def test_json_is_one_line_and_says_the_value(capsys: Any, value: Any) -> None:
    print_json(value)
    text = capsys.readouterr().out
    assert text.count("\n") == 1
    assert json.loads(text, parse_constant=pytest.fail) == plain(value)


def test_json_knows_numpys_numbers(capsys: Any) -> None:
    print_json({"a": np.float64(1.5), "b": np.int32(2), "c": np.array([True]), "d": math.nan, "e": np.inf})
    assert json.loads(capsys.readouterr().out) == {"a": 1.5, "b": 2, "c": [True], "d": None, "e": None}


@PRINTED
@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\r")), NUMBERS)))
def test_csv_gives_back_texts_and_numbers_to_nine_decimals(
    capsys: Any, rows: list[tuple[str, float]]
) -> None:
    print_csv(("text", "number"), rows)
    head, *read = csv.reader(io.StringIO(capsys.readouterr().out, newline=""))
    assert head == ["text", "number"]
    assert [row[0] for row in read] == [text for text, _ in rows]
    for row, (_, value) in zip(read, rows, strict=True):
        if not math.isfinite(value):
            assert row[1] == ""
            continue
        found = float(row[1])
        assert abs(found - value) <= max(5e-10, 1e-15 * abs(value))
        assert plain(found) == found


def test_a_table_in_a_pipe_is_neither_cut_nor_coloured_nor_interpreted(capsys: Any) -> None:
    wide = "x" * 500
    print_table(("name", "ns"), [(wide, 1.25), ("[bold]plain[/bold]", 1e6), ("none", None)])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "name".ljust(500) + "       ns",
        wide + "     1.25",
        "[bold]plain[/bold]".ljust(500) + "  1000000",
        "none".ljust(500) + "        -",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (1.2345, "1.234"),
        (1e7, "10000000"),
        (0.0001, "0.0001"),
        (-0.5, "-0.5"),
        (None, "-"),
    ],
)
def test_figures_for_people(value: float | None, text: str) -> None:
    assert number(value) == text


WIPED = "\x1b[?25h\r\x1b[1A\x1b[2K"
"""The cursor is shown again, and the line is gone."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress_shown(stream: io.StringIO, times: list[float]) -> str:
    clock = iter([0.0, *times])
    with Progress(stream, clock=lambda: next(clock)) as progress:
        for time in times:
            progress(time * 1e3, int(time * 1000))
    return stream.getvalue()


def test_progress_is_silent_for_a_second_and_then_frugal() -> None:
    assert progress_shown(Terminal(), [0.1, 0.5, 0.9]) == ""
    shown = progress_shown(Terminal(), [0.9, 2.5, 2.6, 3.0])
    assert (shown.count("2.5 k events"), shown.count("3.0 k events")) == (1, 2)  # once more at the end
    assert "simulated 2.500 us, 2.5 k events, 1.0 k events/s" in shown
    assert shown.endswith(WIPED)


def test_progress_is_a_line_every_half_minute_in_a_pipe() -> None:
    assert progress_shown(io.StringIO(), [1.0, 29.9]) == ""
    shown = progress_shown(io.StringIO(), [1.0, 30.0, 45.0, 60.0, 60.5]).splitlines()
    assert ["30.0 k events" in shown[0], "60.0 k events" in shown[1], len(shown)] == [True, True, 2]
    clock, stream = iter([0.0, 0.5, 30.5]), io.StringIO()
    with Progress(stream, clock=lambda: next(clock)) as progress:
        for done in (1, 2):
            points = [SweepPoint(done, "minimal", {"m": 16}, {}, 100.0)]
            progress.of_pieces(Standing(done, 3, f"{done} of 3 rows"), points)
    assert stream.getvalue() == "2 of 3 rows\n"


def test_progress_is_wiped_when_work_fails() -> None:
    clock = iter([0.0, 3.0])
    stream = Terminal()

    def interrupted() -> None:
        with Progress(stream, clock=lambda: next(clock)) as progress:
            progress(1.0, 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue().endswith(WIPED)


def test_rows_of_a_sweep_fill_in_as_points_finish() -> None:
    """The last points done, with what varies between them, stand above the count; a failed one says why."""
    points = [SweepPoint(n, "minimal", {"m": 16 << n, "k": 64}, {}, 100.5 * n) for n in range(20)]
    points[19] = SweepPoint(19, "minimal", {"m": 8, "k": 64}, {}, error="no room\x1b[2J")
    clock, stream = iter([0.0, 3.0]), Terminal()
    with Progress(stream, clock=lambda: next(clock)) as progress:
        progress.of_pieces(of_points(20, 40, 0, 1, 7.0), points)
    shown = stream.getvalue()
    assert "point 18: m=4194304  1809 ns" in shown
    assert "point 19: m=8        no room\\x1b[2J" in shown
    assert "20 of 40 points, 1 failed, about 7 s left" in shown
    assert "point 7:" not in shown
    assert point_lines([]) == []


def test_progress_says_the_share_where_it_is_known() -> None:
    assert line(2.5e6, 3_000_000, 2.0, 0.4) == "simulated 2.500 ms, 3.0 M events, 1.5 M events/s, 40 % done"
    assert line(12.0, 7, 0.0, None) == "simulated 12 ns, 7 events, 0 events/s"
    assert line(0.0, 0, 3.0, None) == "preparing"


def test_work_that_says_nothing_of_itself_is_named_with_its_seconds() -> None:
    stream, seconds = Terminal(), itertools.count(0.0, 0.5)
    with Progress(stream, clock=lambda: next(seconds)) as progress, progress.during("looking"):
        while "looking, 2 s" not in stream.getvalue():
            time.sleep(0.01)
    assert "looking, 0 s" not in stream.getvalue()
    assert stream.getvalue().endswith(WIPED)
    said, pipe = Terminal(), io.StringIO()
    with Progress(said) as progress, progress.during("looking"):
        progress(1.0, 1)  # from here on the work speaks for itself
        time.sleep(0.3)
    with Progress(pipe) as progress, progress.during("looking"):
        time.sleep(0.3)
    assert "looking" not in said.getvalue()
    assert pipe.getvalue() == ""


@pytest.mark.parametrize(
    ("command", "told"),
    [
        pytest.param(["advise"], "looking for advice, 0 s", marks=pytest.mark.slow),
        (["why"], "following the critical path, 0 s"),
        (["what-if", "--no-rerun"], "estimating, 0 s"),
        pytest.param(["report"], "writing the page", marks=pytest.mark.slow),
    ],
)
def test_commands_that_take_long_show_that_they_go_on(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any, command: list[str], told: str
) -> None:
    cli("run", "gemm-single-pe", "--topology", "minimal", "--format", "json")
    assert cli(*command).err == ""  # no terminal
    monkeypatch.setattr("kernbench.cli.progress.QUIET_S", 0.0)
    monkeypatch.setattr("kernbench.cli.progress._EVERY_S", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert told in cli(*command).err


def test_progress_is_shown_on_a_terminal(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr("kernbench.cli.progress.QUIET_S", 0.0)
    monkeypatch.setattr("kernbench.cli.progress._EVERY_S", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    ended = cli("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--format", "json")
    assert "events/s" in ended.err
    assert json.loads(ended.out)["bench"] == "gemm-single-pe"
