"""What the page is sent: graphs of answers, bars of timelines, cells, windows; and what its guard lets in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents.windows import windows
from kernbench.draw.content import SHARE, Column, Grid
from kernbench.draw.timeline.model import TimelineRow
from kernbench.errors import UsageError
from kernbench.page import answers, machine, tables, times
from kernbench.page.graphs import graph
from kernbench.page.server import app
from kernbench.page.server.guard import HEADERS, Guard
from kernbench.page.server.start import _address


def bars(
    *intervals: tuple[float, float], category: tuple[int, ...] = (), lane: tuple[int, ...] = ()
) -> TimelineRow:
    count = len(intervals)
    begin, end = (np.array(column) for column in zip(*intervals, strict=True))
    return TimelineRow(
        "p", "l", begin, end, np.array(category or (0,) * count), np.array(lane or (0,) * count),
        tuple(f"n{i}" for i in range(count)), np.arange(count),
        tuple(f"f.py:{i}" for i in range(count)), "op",
    )  # fmt: skip


def test_pairs_of_a_question_are_a_graph_without_what_is_missing() -> None:
    rows = [[1, 2, "a", 5.0], [1, 3, "b", 6.0], [-1, 3, "c", 7.0], [4, None, "d", 1.0], [1, 2, "a", 5.0]]
    found = graph(["holder", "waiter", "resource", "ns"], rows, "contention/waits")
    assert found is not None
    assert [node["id"] for node in found["nodes"]] == ["1", "2", "3"]
    assert [(edge["source"], edge["target"], edge["label"]) for edge in found["edges"]] == [
        ("1", "2", "a"),
        ("1", "3", "b"),
    ]
    assert "ns: 5" in found["edges"][0]["facts"]
    assert graph(["holder", "ns"], [[1, 2.0]], "contention/waits") is None


def test_a_chain_leads_from_part_to_part() -> None:
    rows = [["a", "router"], ["a->b", "link"], ["b", "hbm"], ["b", "hbm"]]
    found = graph(["location", "kind"], rows, "routing/taken")
    assert found is not None
    assert [(edge["source"], edge["target"], edge["label"]) for edge in found["edges"]] == [("a", "b", "hbm")]


def test_a_large_graph_is_cut_and_says_so() -> None:
    rows = [[0, other] for other in range(1, 310)]
    found = graph(["holder", "waiter"], rows, "q")
    assert found is not None
    assert (len(found["nodes"]), found["left_out"], len(found["edges"])) == (300, 10, 299)


def test_long_facts_are_cut() -> None:
    found = graph(["src", "dst", "text"], [["a", "b", "x" * 200]], "q")
    assert found is not None
    assert [len(fact) for fact in found["edges"][0]["facts"] if fact.startswith("text")] == [
        len("text: ") + 120
    ]


def test_short_bars_of_one_lane_and_category_are_joined() -> None:
    row = bars((0, 1), (2, 3), (4, 5), (6, 7), (50, 90), category=(0, 0, 1, 1, 0), lane=(0, 0, 0, 1, 0))
    shown = times._row(row, 5.0, {})
    assert shown["count"] == [2, 1, 1, 1]
    assert shown["number"] == [-1, 2, 3, 4]
    assert shown["end"] == [3.0, 5.0, 7.0, 90.0]
    assert times._row(bars((0, 1), (2, 3), category=(0, 1)), 5.0, {})["count"] == []
    apart = times._row(bars((0, 1), (7, 8)), 5.0, {})
    assert (apart["count"], apart["filled"]) == ([], [])


def test_names_of_joined_bars_are_empty_and_texts_are_said_once() -> None:
    texts: dict[str, int] = {}
    shown = times._row(bars((0, 1), (2, 3), (50, 90)), 5.0, texts)
    names = {number: text for text, number in texts.items()}
    assert [names[number] for number in shown["name"]] == ["", "n2"]
    assert [names[number] for number in shown["source"]] == ["", "f.py:2"]


def test_a_cell_has_its_text_where_that_differs() -> None:
    assert tables.cell(Column("share", SHARE), 0.5) == [0.5, "50.0%"]
    assert tables.cell(Column("name"), "x") == "x"
    assert tables.cell(Column("launch"), 3) == 3
    assert tables.cell(Column("launch"), -1) == [-1, "-"]


def test_bars_of_a_grid_are_shares_of_its_total() -> None:
    grid = Grid(
        "g", "G", (Column("name"), Column("ns", "ns")), [{"name": "a", "ns": 30.0}], bars="ns", total=40.0
    )
    assert tables._pairs(grid) == [["a", 0.75, "30 ns"]]
    assert tables._pairs(Grid("g", "G", grid.columns, grid.rows, bars="ns"))[0][1] == 0.0
    columns = {c["name"]: c for c in tables.table(["utilisation", "cause", "ns"], [])["columns"]}
    assert [columns[name]["bar"] for name in ("utilisation", "cause", "ns")] == [True, False, False]
    assert columns["cause"]["colours"]
    assert columns["ns"]["colours"] is None


def test_windows_and_numbers_are_read() -> None:
    assert answers.window_of({}) == ChosenWindow()
    assert answers.window_of({"launch": "2", "from": "1.5", "to": ""}) == ChosenWindow("2", 1.5)
    with pytest.raises(UsageError, match="to 'x' is not a time"):
        answers.window_of({"to": "x"})
    assert [
        answers._count(params, "rows", 16) for params in ({}, {"rows": ""}, {"rows": 0}, {"rows": 7})
    ] == [16, 16, 0, 7]
    for wrong in ("-1", "x"):
        with pytest.raises(UsageError, match="is not a number of rows"):
            answers._count({"rows": wrong}, "rows", 16)


def test_windows_to_choose_from() -> None:
    def of(count: int) -> list[str]:
        run = SimpleNamespace(launches=[{"kernel": f"k{n}"} for n in range(count)])
        return [name for name, _ in windows(cast(kb.Run, run))]

    assert of(1) == ["0", "setup", "run"]
    assert of(3) == ["all", "0", "1", "2", "setup", "run"]


def test_the_busiest_parts_come_first_and_are_few() -> None:
    shares = {f"p{n}": n / 10 for n in range(8)}
    assert machine._busiest([*shares, "idle"], shares) == [[f"p{n}", n / 10] for n in (7, 6, 5, 4, 3)]


LOCAL, OPEN = Guard("127.0.0.1"), Guard("192.0.2.7")


@pytest.mark.parametrize(
    ("guard", "headers", "page", "refused"),
    [
        (LOCAL, {"Host": "localhost:8765"}, False, ""),
        (LOCAL, {"Host": "[::1]:8765"}, False, ""),
        (LOCAL, {"Host": "LOCALHOST"}, False, ""),
        (LOCAL, {"Host": "192.0.2.7"}, False, "is not this server"),
        (LOCAL, {"Host": "evil.example"}, False, "is not this server"),
        (LOCAL, {"Host": "localhost.evil.example"}, False, "is not this server"),
        (LOCAL, {"Host": "localhost:8765:1"}, False, "is not this server"),
        (LOCAL, {"Host": "localhost evil"}, False, "is not this server"),
        (LOCAL, {}, False, "is not this server"),
        (OPEN, {"Host": "192.0.2.7:80"}, False, ""),
        (OPEN, {"Host": "198.51.100.1"}, False, ""),
        (OPEN, {"Host": "evil.example"}, False, "is not this server"),
        (LOCAL, {"Host": "localhost", "Origin": "http://localhost"}, False, ""),
        (LOCAL, {"Host": "localhost", "Origin": "http://evil.example"}, True, "another site"),
        (LOCAL, {"Host": "localhost", "Origin": "null"}, False, "another site"),
        (LOCAL, {"Host": "localhost", "Sec-Fetch-Site": "cross-site"}, False, "another site"),
        (LOCAL, {"Host": "localhost", "Sec-Fetch-Site": "same-site"}, False, "another site"),
        (LOCAL, {"Host": "localhost", "Sec-Fetch-Site": "cross-site"}, True, ""),
        (LOCAL, {"Host": "localhost", "Sec-Fetch-Site": "same-origin"}, False, ""),
    ],
)
def test_who_is_answered(guard: Guard, headers: dict[str, str], page: bool, refused: str) -> None:
    found = guard.refusal(headers, page=page)
    assert refused in found
    assert bool(found) == bool(refused)


def test_headers_let_nothing_in_and_keep_nothing() -> None:
    policy = dict(part.strip().partition(" ")[::2] for part in HEADERS["Content-Security-Policy"].split(";"))
    assert (
        policy["default-src"]
        == policy["frame-ancestors"]
        == policy["form-action"]
        == policy["base-uri"]
        == "'none'"
    )
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert (HEADERS["Cache-Control"], HEADERS["X-Content-Type-Options"]) == ("no-store", "nosniff")


class Client:
    """Asks an application without a server."""

    def __init__(self, **how: Any) -> None:
        from werkzeug.test import Client as Werkzeug

        self.store = kb.open_store("memory:")
        self.app = app.App(self.store, **how)
        self.given: list[str] = []
        self.app.answers.answer = self.answer  # type: ignore[method-assign]
        self._client = Werkzeug(self.app)

    def answer(self, name: str, params: Any) -> Any:
        self.given.append(name)
        if name == "boom":
            raise RuntimeError("no")
        if name == "wrong":
            raise UsageError("what is wrong")
        return {"asked": len(self.given)}

    def __call__(self, path: str, method: str = "GET", **how: Any) -> Any:
        return self._client.open(path, method=method, headers={"Host": "localhost"}, **how)


def test_answers_that_cannot_change_are_kept_and_others_are_asked_anew() -> None:
    ask = Client()
    for path, again in (
        ("/api/timeline?run=x1", False),
        ("/api/timeline?run=last", True),
        ("/api/runs?run=x1", True),
    ):
        first, second = (ask(path).get_json()["asked"] for _ in range(2))
        assert (second != first) == again, path
    ask("/api/timeline?run=x1")
    for number in range(40):
        ask(f"/api/timeline?run=y{number}")
    before = len(ask.given)
    ask("/api/timeline?run=x1")
    assert len(ask.given) == before + 1  # 32 are remembered, the first is not among them
    ask("/api/timeline?run=y39")
    assert len(ask.given) == before + 1


def test_methods_statuses_and_bodies() -> None:
    ask = Client()
    assert ask("/api/wrong").status_code == 400
    assert ask("/api/boom").status_code == 500
    assert "unexpected RuntimeError: no" in ask("/api/boom").get_json()["error"]
    for path, method, allowed in (
        ("/api/runs", "POST", "GET, HEAD"),
        ("/api/ask", "GET", "POST"),
        ("/", "DELETE", "GET, HEAD"),
    ):
        answer = ask(path, method)
        assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)
    assert ask("/nothing.js").status_code == 404
    assert ask("/api/ask", "POST", json=[1]).status_code == 400
    assert ask("/api/ask", "POST", json={"params": 3}).status_code == 400
    assert ask("/api/ask", "POST", data="{}", content_type="text/plain").status_code == 400
    assert ask("/api/ask", "POST", json={"x": "y" * 200_000}).status_code == 413
    assert ask("/api/cancel", "POST", json={"number": "1"}).status_code == 400
    assert ask("/api/cancel", "POST", json={"number": 7}).status_code == 404
    assert ask("/api/runs").headers["X-Frame-Options"] == "DENY"


def test_no_more_than_so_many_answers_are_worked_out_at_once() -> None:
    ask = Client(most=1)
    assert [ask(f"/api/timeline?run=a{n}").status_code for n in range(3)] == [
        200
    ] * 3  # each gives its place back
    assert [ask("/api/boom").status_code for _ in range(3)] == [500] * 3
    assert ask.app._places.acquire(blocking=False)
    assert ask("/api/timeline?run=b").status_code == 503
    assert ask("/api/runs").status_code == 200  # light


def test_the_state_says_how_far_a_graph_is() -> None:
    ask = Client()
    for done, said in ((1, "building the graph, 25%"), (4, "")):
        ask.app._built(done, 4)
        assert ask("/api/state").get_json()["building"] == said


def test_addresses_to_listen_at() -> None:
    assert [_address(given) for given in ("localhost", "0.0.0.0", "::1")] == ["127.0.0.1", "0.0.0.0", "::1"]
    with pytest.raises(UsageError, match=r"'my\.host' is not an address"):
        _address("my.host")
