"""Queries and runs that are going on, as the server lists and cancels them; what is answered meanwhile."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from werkzeug.test import Client

import kernbench as kb
from kernbench.api.active_runs import UnderWay
from kernbench.api.stores import borrowed
from kernbench.page.server.app import App
from tests.processes import Process
from tests.web.conftest import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BASE = "http://127.0.0.1:8765"
ENDLESS = """UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b UNWIND range(1, 4000) AS c
             WITH a, b, c WHERE (a * b) % 7 = c % 5 RETURN sum(a) AS n"""


class Asking(threading.Thread):
    """Asks the server for ``ENDLESS`` in a thread of its own."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client
        self.found: Any = None
        self.start()

    def run(self) -> None:
        self.found = self.client.post("/api/cypher", base_url=BASE, json={"text": ENDLESS}).json


def until(holds: Callable[[], Any]) -> Any:
    """What ``holds`` gives, when it is something."""
    for _ in range(3000):
        if found := holds():
            return found
        threading.Event().wait(0.01)
    raise AssertionError


@pytest.fixture
def client(store: Path) -> Iterator[Client]:
    """A server that works one answer out at a time."""
    with borrowed(store) as opened:
        yield Client(App(opened, most=1))


def queries(client: Client) -> Any:
    return client.get("/api/state", base_url=BASE).json["queries"]


def test_one_is_listed_and_cancelled_and_the_page_is_alive_meanwhile(client: Client, ids: list[str]) -> None:
    asking = Asking(client)
    (query,) = until(lambda: queries(client))
    assert (query["text"], query["run"], query["asker"]) == (ENDLESS, ids[-1], "page at this computer")
    assert query["seconds"] >= 0.0
    assert len(client.get("/api/runs", base_url=BASE).json["runs"]) == len(ids)
    assert client.get("/", base_url=BASE).status_code == 200
    assert client.get("/api/questions", base_url=BASE).status_code == 200
    refused = client.get("/api/overview", base_url=BASE)
    assert refused.status_code == 503
    assert "cancel one" in refused.json["error"]
    for number in (None, "1", query["number"] + 1):
        wrong = client.post("/api/cancel", base_url=BASE, json={"number": number})
        assert wrong.status_code in (400, 404)
    assert client.get("/api/cancel", base_url=BASE).status_code == 405
    done = client.post("/api/cancel", base_url=BASE, json={"number": query["number"]})
    assert (done.status_code, done.json) == (200, {})
    asking.join(30)
    assert asking.found == {"error": "the query was cancelled"}
    assert until(lambda: not queries(client))
    assert client.get("/api/overview", base_url=BASE).status_code == 200


def test_a_query_ends_with_the_browser_that_asked(client: Client) -> None:
    body = {"text": ENDLESS}
    gone = {"waitress.client_disconnected": lambda: True}
    found = client.post("/api/cypher", base_url=BASE, json=body, environ_overrides=gone)
    assert found.json == {"error": "the query was cancelled: whoever asked it has gone"}


@pytest.mark.slow
def test_it_ends_promptly_and_notices_who_hangs_up(store: Path) -> None:
    command = [sys.executable, "-m", "kernbench", "web", "--no-open", "--port", "0", "--store", str(store)]
    with Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[1]

        def running() -> int:
            with urllib.request.urlopen(f"{url}api/state", timeout=20) as answer:
                return len(json.load(answer)["queries"])

        def ask() -> http.client.HTTPConnection:
            connection = http.client.HTTPConnection(url.split("/")[2], timeout=60)
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/api/cypher", json.dumps({"text": ENDLESS}), headers)
            return connection

        asking: list[http.client.HTTPConnection] = []
        try:
            asking += [ask() for _ in range(3)]
            assert until(lambda: running() == 3)
            asking.pop().close()
            assert until(lambda: running() == 2)
            server.send_signal(signal.SIGTERM)
            out, err = server.communicate(timeout=20)
        finally:
            server.kill()
            for connection in asking:
                connection.close()
    assert (server.returncode, out, err) == (0, "", "")


def test_the_page_lists_them_with_a_button_that_cancels(browser: Browser, server: str) -> None:
    page = browser.new_page()
    page.goto(f"{server}#cypher")
    page.get_by_label("Cypher").fill(ENDLESS)
    page.get_by_role("button", name="Ask", exact=True).click()
    listed = page.locator(".running")
    listed.get_by_text("1 query is running").wait_for(timeout=20_000)
    assert ENDLESS.split()[0] in listed.inner_text()
    listed.get_by_role("button", name="Cancel").click()
    page.get_by_role("alert").get_by_text("the query was cancelled").wait_for(timeout=20_000)
    listed.wait_for(state="detached", timeout=20_000)
    page.close()


@pytest.mark.slow
def test_the_page_follows_a_run_of_another_process_and_lists_it_when_it_is_kept(
    browser: Browser, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernbench.api.active_runs.FIRST_S", 0.0)
    own = shutil.copytree(store, tmp_path / "store")
    page = browser.new_page()
    with served(own) as address:
        page.goto(f"{address}#runs")
        rows = page.locator("table tbody tr")
        rows.first.wait_for(timeout=20_000)
        before = rows.count()
        with UnderWay(own, "sweep softmax") as going:
            going.tell(lambda _: "3 of 8 points")
            followed = page.get_by_label("Runs under way")
            followed.get_by_text("sweep softmax: 3 of 8 points").wait_for(timeout=20_000)
            new = kb.run("gemm-single-pe", "minimal", store=str(own))
            rows.get_by_text(new.id).wait_for(timeout=20_000)
            assert rows.count() == before + 1
        followed.wait_for(state="detached", timeout=20_000)
        page.close()
