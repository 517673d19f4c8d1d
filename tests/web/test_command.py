"""``kernbench web`` itself: wrong usage, a missing extra, a taken port, and its end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernbench.api.stores import borrowed
from kernbench.page.server.start import serve
from tests.processes import Process

Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--run", "last"), "--run was removed; write 'kernbench"),
        (("--port", "70000"), "70000"),
        (("nosuch",), "nosuch"),
        (("--host", "example.org", "--no-open"), "'example.org' is not an address"),
    ],
)
def test_wrong_usage_says_what_to_do(cli: Cli, store: Path, argv: tuple[str, ...], said: str) -> None:
    ended = cli("web", *argv, "--store", str(store))
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_a_taken_port_is_an_error(cli: Cli, store: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = cli("web", "--no-open", "--port", str(port), "--store", str(store))
    assert (ended.status, ended.out) == (2, "")
    assert f"port {port} is in use" in ended.err
    assert "--port 0" in ended.err


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_may_be_stopped_before_it_has_begun_to_serve(store: Path, stop: signal.Signals) -> None:
    said = []

    def stopped_at_once(url: str) -> None:
        said.append(url)
        signal.raise_signal(stop)

    before = signal.getsignal(signal.SIGTERM)
    with borrowed(store) as opened:
        serve(opened, port=0, open_browser=False, say=stopped_at_once)
    assert signal.getsignal(signal.SIGTERM) is before
    (url,) = said
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url, timeout=20)


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(store: Path, stop: signal.Signals) -> None:
    command = [sys.executable, "-m", "kernbench", "web", "--no-open", "--port", "0", "--store", str(store)]
    with Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.fullmatch(r"serving (http://127\.0\.0\.1:\d+/) until Ctrl-C\n", line)
        assert found, line
        with urllib.request.urlopen(f"{found[1]}api/overview", timeout=20) as answer:
            assert answer.status == 200
        server.send_signal(stop)
        try:
            out, err = server.communicate(timeout=20)
        finally:
            server.kill()  # else a server that goes on would hold up the end of the test
    assert (server.returncode, out, err) == (0, "", "")
