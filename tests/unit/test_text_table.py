"""Tables fit their terminal without losing anything, whatever is in them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.cli.output import print_table
from kernbench.draw.text_table import TextTable, table

LINKS = [
    ["fabric.switch0->sip0.io0.pcie_ep", "pcie", "25.9%", "256.375", "32816"],
    ["sip0.cube0.ucie-N->sip0.cube0.ucie-N.conn0", "ucie_internal", "5.9%", "56.375", "816"],
]
COLUMNS = ("resource", "kind", "used", "busy_ns", "bytes")
NUMERIC = (False, False, True, True, True)


def laid(width: int | None) -> list[str]:
    made = table(COLUMNS, LINKS, NUMERIC, width)
    return [*made.head, *made.body]


def test_what_fits_is_a_plain_grid() -> None:
    assert laid(None) == laid(80)
    assert laid(80) == [
        "resource                                    kind            used  busy_ns  bytes",
        "fabric.switch0->sip0.io0.pcie_ep            pcie           25.9%  256.375  32816",
        "sip0.cube0.ucie-N->sip0.cube0.ucie-N.conn0  ucie_internal   5.9%   56.375    816",
    ]


def test_a_long_name_gets_a_line_of_its_own() -> None:
    assert laid(79) == [
        "resource",
        "  kind            used  busy_ns  bytes",
        "fabric.switch0->sip0.io0.pcie_ep",
        "  pcie           25.9%  256.375  32816",
        "sip0.cube0.ucie-N->sip0.cube0.ucie-N.conn0",
        "  ucie_internal   5.9%   56.375    816",
    ]


def test_names_break_at_their_joints_and_numbers_never() -> None:
    assert laid(37)[-4:] == [
        "sip0.cube0.ucie-N->sip0.cube0.ucie-N.",
        "conn0",
        "  ucie_          5.9%   56.375    816",
        "  internal",
    ]


def test_what_fits_in_no_way_becomes_blocks() -> None:
    assert laid(24)[:7] == [
        "resource  fabric.",
        "          switch0->sip0.",
        "          io0.pcie_ep",
        "kind      pcie",
        "used      25.9%",
        "busy_ns   256.375",
        "bytes     32816",
    ]


def test_sentences_break_between_words_before_names_do() -> None:
    made = table(
        ("name", "title"), [["who-waited-for-whom", "Which ones waited, and how long?"]], (False,) * 2, 40
    )
    assert made == TextTable(
        ["name                 title"],
        ["who-waited-for-whom  Which ones waited,", "                     and how long?"],
    )


CELLS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=30)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.integers().map(str)).map(list), max_size=4),
    width=st.integers(40, 120),
)
def test_nothing_is_left_out(rows: list[list[str]], width: int) -> None:
    made = table(("a", "second_column", "n"), rows, (False, False, True), width)
    for row in rows:
        for cell in row:
            wanted = re.sub(r"\s", "", cell)
            assert all(c in "".join(made.body) for c in wanted)
    shown = sorted(re.sub(r"\s", "", "".join(made.body)))
    wanted = sorted(re.sub(r"\s", "", "".join(cell for row in rows for cell in row)))
    if made.head:  # blocks repeat the names of the columns
        assert shown == wanted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "bold"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_the_names_of_the_columns_are_bold_where_that_is_wanted(
    variables: dict[str, str], bold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TERM": "xterm", "NO_COLOR": "", **variables}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    monkeypatch.setattr("sys.stdout", stream)
    print_table(("ns",), [(1.5,)])
    assert stream.getvalue() == ("\x1b[1m ns\x1b[0m\n1.5\n" if bold else " ns\n1.5\n")


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (("a\x1b[31mb", 1), "a\\x1b[31mb  1"),
        (("two\nlines", 2), "two\\nlines  2"),
        (("日本", 3), "日本  3"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(
    cells: Sequence[object], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(("text", "n"), [cells])
    assert capsys.readouterr().out.splitlines()[1] == line


def test_shares_stand_right(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("share",), [(0.05,), (1.0,)])
    assert capsys.readouterr().out.splitlines() == [" share", "  5.0%", "100.0%"]
