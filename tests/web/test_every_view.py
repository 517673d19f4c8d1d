"""Every view of the page is answered, with the texts that a browser is to show: without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from kernbench.api.contents import SCREENS, named, views
from tests.web.views import VIEWS

SHOWN = {
    "launches": ("Launches", "launch kernel package pes"),
    "time": ("Critical path by source line", "line ns share"),
    "path": ("Steps", "t_start_ns t_end_ns ns cause location line activity transaction"),
    "parts": (VIEWS["overview"], "resource kind utilisation occupancy"),
    "waits": ("Who waited for whom", "waiter waiter_kind waiter_src holder"),
    "memory": (VIEWS["memory"], "component from_ns to_ns max_bytes mean_bytes"),
    "advice": ("Advice", "saves_ns share rule advice"),
    "energy": ("By kind of part", "name parts energy share"),
    "roofline": ("By launch", "launch op name source flops level intensity ns light_ns share bound"),
}
"""Of each screen the heading of a table, and its first columns."""
DRAWN = {"topology": "topology.js", "questions": "ask.js", "cypher": "ask.js"}
"""Views whose text is in the program that draws them; that of others is in an answer."""


def answered(server: str, name: str, **params: str) -> str:
    with urlopen(f"{server}{name}?{urlencode(params)}", timeout=60) as found:
        assert found.status == 200
        return str(found.read().decode())


def texts_of(found: Any) -> Iterator[str]:
    """All texts of an answer."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for one in found.values() if isinstance(found, dict) else found:
            yield from texts_of(one)


@pytest.mark.daily(but=("advice",))
@pytest.mark.parametrize("screen", [screen.key for screen in SCREENS])
def test_every_screen_is_answered_with_its_tables(server: str, ids: list[str], screen: str) -> None:
    found = json.loads(answered(server, f"api/{screen}", run=ids[0]))
    heading, columns = SHOWN[screen]
    (shown,) = (one["table"] for one in found["grids"] if one["heading"].startswith(heading))
    names = columns.split()
    assert [column["title"].replace(" ", "_") for column in shown["columns"]][: len(names)] == names
    assert shown["rows"] or screen == "waits"


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_text(server: str, ids: list[str], view: str) -> None:
    asked = {"before": ids[1], "after": ids[2]} if view == "compare" else {"run": ids[0]}
    if view in DRAWN:
        assert VIEWS[view] in answered(server, DRAWN[view])
    else:
        assert VIEWS[view] in "\n".join(texts_of(json.loads(answered(server, f"api/{view}", **asked))))


def test_the_page_lists_the_views_and_all_that_they_are_drawn_with(server: str) -> None:
    page, frame = answered(server, ""), answered(server, "main.js")
    assert all(key in page and title in page for key, title in named())
    assert {key for key, _ in views()} == {*VIEWS, "source"}
    for name in re.findall(r'from "\./(\w+\.js)"', frame):
        assert answered(server, name)
