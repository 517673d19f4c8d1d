"""What strangers, scripts and long sessions do to the server: connections, headers, wrong types."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from werkzeug.test import Client

from kernbench.api.stores import borrowed
from kernbench.page.server.app import App
from kernbench.page.server.guard import Guard
from tests.processes import Process

HALF_OPEN = 150


def test_half_open_connections_do_not_stop_the_page(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "kernbench",
        "web",
        "--no-open",
        "--port",
        "0",
        "--store",
        str(tmp_path / "s"),
    ]
    server = Process(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    url = server.stdout.readline().split()[1]
    port = int(url.rsplit(":", 1)[1].strip("/"))
    half = [socket.create_connection(("127.0.0.1", port)) for _ in range(HALF_OPEN)]
    try:
        for one in half:
            one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        time.sleep(0.5)
        began = time.monotonic()
        with urllib.request.urlopen(f"{url}api/state", timeout=10) as answer:
            assert json.load(answer)["queries"] == []
        assert time.monotonic() - began < 5
    finally:
        for one in half:
            one.close()
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=20)


@pytest.mark.parametrize(
    "host",
    [
        "localhost:",
        "localhost:x",
        "localhost:80:80",
        "[::1",
        "[::1]x",
        "localhost:999999",
        "[localhost]",
        "",
        ":80",
    ],
)
def test_malformed_hosts_are_refused(host: str) -> None:
    assert "is not this server" in Guard("127.0.0.1").refusal({"Host": host}, page=True)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8765", "127.0.0.1:1", "[::1]", "[::1]:8765"])
def test_names_of_this_server_are_not(host: str) -> None:
    assert Guard("127.0.0.1").refusal({"Host": host}, page=True) == ""


@pytest.mark.daily("value1-*", "None-*")
@pytest.mark.parametrize("name", ["from", "to", "launch", "run", "question", "params", "number", "text"])
@pytest.mark.parametrize("value", [[1], {"a": 1}, 10**400, True, None, "", -1])
def test_values_of_wrong_types_are_an_error_that_says_so(
    kept: tuple[Path, list[str]], name: str, value: object
) -> None:
    with borrowed(kept[0]) as store:
        client = Client(App(store))
        for asked in ("ask", "cypher", "cancel"):
            body = {"question": "bottleneck/busiest-links", "text": "RETURN 1 AS x", "number": 7, name: value}
            found = client.post(f"/api/{asked}", json=body, base_url="http://localhost/")
            assert found.status_code in (200, 400, 404), (asked, found.text)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_memory_of_the_page_is_bounded(kept: tuple[Path, list[str]]) -> None:
    """The graphs of a few runs, whichever and however often they are asked."""
    command = [sys.executable, "-m", "kernbench", "web", "--no-open", "--port", "0", "--store", str(kept[0])]
    server = Process(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    url = server.stdout.readline().split()[1]
    most = 0
    try:
        for launch in ("all", "run"):
            for run in kept[1] * 3:
                for view in ("overview", "machine", "timeline", "waits", "advice"):
                    urllib.request.urlopen(f"{url}api/{view}?run={run}&launch={launch}", timeout=60).close()
                status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
                most = max(most, int(status.partition("VmRSS:")[2].split()[0]) >> 10)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=20)
    assert 0 < most < 550
