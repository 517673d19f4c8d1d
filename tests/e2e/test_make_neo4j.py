"""``make neo4j`` as somebody at a terminal uses it, and what is said where it cannot work."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import need_neo4j
from tools.run_neo4j import START_S

ROOT = Path(__file__).parents[2]
VENV = Path(sys.prefix)
MAKE = ["make", "-o", f"{VENV}/.installed-dev", f"VENV={VENV}", "neo4j"]
CTRL_C = b"\x03"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def read_until(terminal: int, wanted: str, seconds: float) -> str:
    """The output of the terminal until ``wanted`` has come, or nothing more does."""
    shown, end = "", time.monotonic() + seconds
    while wanted not in shown and (left := end - time.monotonic()) > 0:
        if not select.select([terminal], [], [], left)[0]:
            break
        try:
            shown += os.read(terminal, 1 << 12).decode()
        except OSError:  # the other end is closed
            break
    return shown


@pytest.mark.slow
def test_it_runs_until_ctrl_c(tmp_path: Path) -> None:
    need_neo4j()
    bolt = free_port()
    options = f"NEO4J_OPTIONS=--home {tmp_path / 'home'} --bolt {bolt} --http {free_port()}"
    child, terminal = pty.fork()  # whose keyboard sends real interrupts, to make and all that it started
    if child == 0:
        environment = {**os.environ, "KERNBENCH_NEO4J_PASSWORD": "of this test"}
        os.chdir(ROOT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in a shell's background
        os.execvpe(MAKE[0], [*MAKE, options], environment)
    try:
        shown = read_until(terminal, "Stop it with Ctrl-C.", 2 * START_S)
        assert f"neo4j://127.0.0.1:{bolt}, user neo4j" in shown, shown
        with socket.create_connection(("127.0.0.1", bolt), 5.0):
            pass
        found = re.search(r"Neo4j Browser at (http://127\.0\.0\.1:\d+/browser/)", shown)
        assert found, shown
        with urllib.request.urlopen(found[1], timeout=10.0) as page:
            assert page.status == 200
            assert "neo4j" in page.read().decode().lower()
        os.write(terminal, CTRL_C)
        shown = read_until(terminal, "that the terminal closes", START_S)
        assert "stopped" in shown, shown
        assert "Traceback" not in shown, shown
    finally:
        with suppress(OSError):
            os.write(terminal, CTRL_C)  # also where something above has failed
        os.close(terminal)
        os.waitpid(child, 0)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", bolt)) != 0, "the server lives on"


def make_neo4j(options: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MAKE, f"NEO4J_OPTIONS={options}"], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "KERNBENCH_NEO4J_PASSWORD": "of this test", **environment},
    )  # fmt: skip


@pytest.mark.neo4j
def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    need_neo4j()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = make_neo4j(f"--home {tmp_path} --bolt {port} --http 0")
    assert done.returncode == 2  # make's, when a command fails
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("neo4j: "))
    assert f"port {port} cannot be used (Address already in use); stop what listens there" in line


def without_java(tmp_path: Path) -> str:
    """A PATH with the programs that make and pytest need and no others."""
    for program in ("make", "sh", "env"):
        found = shutil.which(program)
        assert found is not None
        (tmp_path / program).symlink_to(found)
    return str(tmp_path)


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    done = make_neo4j(PATH=without_java(tmp_path))
    assert done.returncode == 2
    assert "neo4j: java and mvn not found; install a JDK 17 and Maven, or use docker compose" in done.stderr


@pytest.mark.neo4j
@pytest.mark.parametrize("ci", ["", "true"])
def test_without_java_the_suite_says_once_what_it_left_out(tmp_path: Path, ci: str) -> None:
    environment = {**os.environ, "PATH": without_java(tmp_path), "CI": ci}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "neo4j"]
    command += ["tests/conformance/test_neo4j_reading.py", "tests/conformance/test_neo4j_plans.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    said = re.findall(r"(\d+) tests of the Neo4j store were left out: java and mvn not found", done.stdout)
    if ci:
        assert done.returncode == 1
        assert "no Neo4j: java and mvn not found" in done.stdout
        assert said == []
    else:
        assert done.returncode == 0, done.stdout
        assert len(said) == 1
        assert int(said[0]) >= 3
        assert "Install a JDK 17 and Maven to run them." in done.stdout
