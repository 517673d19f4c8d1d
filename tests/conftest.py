"""Fixtures and hooks that all tests share."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from kernbench_graph.stores.embedded import engine

from kernbench.support import collector, compiled
from kernbench.support.compiled import state
from tests.examples import register_profiles
from tests.neo4j_server import Running, empty, shared_server
from tests.processes import end_all
from tools import run_neo4j

NO_NEO4J = "no Neo4j"
TESTS = Path(__file__).parent

pytest_plugins = ["pytester", "tests.measured_once"]

register_profiles()

CHECKED = ("exact", "property")
"""Folders whose machines are checked as they run; elsewhere what is shipped runs as it is shipped."""
ASKED = os.environ.get("KERNBENCH_CHECK")
"""Set by the caller: ``KERNBENCH_CHECK=1 make test`` checks the machines of all tests."""


if compiled.out_of_date:  # a note of it on stderr would fail many tests; here and in the processes they start
    compiled.out_of_date = False
    os.environ[compiled.VARIABLE] = "1"

signal.signal(signal.SIGINT, signal.default_int_handler)
"""As at a terminal, here and in the processes that tests start: a shell has its background ignore it."""

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
MOST_MB = most_mb = max(1500, os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES >> 23)
"""A process of tests that is larger lets go, after a test, of all that it can; the least that is large.

An eighth of the machine's memory: letting go takes seconds, and what is let go of is made again.
"""


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str) -> Generator[None, object, object]:
    """Mark slow the parameters of a test that ``daily`` does not name, or names with ``but``.

    By their ids, or patterns of them as ``fnmatch`` has.
    """
    made = yield
    items = [item for item in made if isinstance(item, pytest.Item)] if isinstance(made, list) else []
    for mark in items[0].iter_markers("daily") if items else ():
        ids = {item.name[len(name) + 1 : -1]: item for item in items}
        but = mark.kwargs.get("but", ())
        for pattern in (*mark.args, *but):
            if not any(fnmatchcase(one, pattern) for one in ids):
                raise collector.CollectError(f"daily: {name} has no parameter {pattern!r}: {', '.join(ids)}")
        for one, item in ids.items():
            if any(fnmatchcase(one, pattern) for pattern in mark.args or but) == bool(but):
                item.add_marker(pytest.mark.slow)
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a Neo4j, and what runs on checked machines.

    What needs a Neo4j comes first, so that one worker does it and only one starts a server: the others take
    the rest first.
    """
    for item in items:
        if {"neo4j_url", "neo4j_server"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.neo4j)
        folder = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if folder in CHECKED:
            item.add_marker(pytest.mark.checked)
    items.sort(key=lambda item: item.get_closest_marker("neo4j") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Check the machines of a test marked so, and set aside what a file of tests leaves behind.

    That is for what others share, such as topologies. It waits until pytest has let go of the last test's
    fixtures, which it does after their teardown: what is set aside while it is held is never freed.
    """
    if ASKED is None:
        os.environ["KERNBENCH_CHECK"] = "1" if item.get_closest_marker("checked") else "0"
    done = yield
    end_all()
    global most_mb
    if large := resident_mb() > most_mb:
        forget()
        most_mb = max(MOST_MB, resident_mb() * 5 // 4)
    if large or nextitem is None or nextitem.path != item.path:
        let_go(getattr(item, "module", None))
        collector.set_aside()
    return done


def pytest_configure() -> None:
    """Tests end processes, never the machine: what they write need not have reached the disk."""
    os.fsync = lambda fd: None


def pytest_collection() -> None:
    """Importing all tests makes little garbage; to look for it takes a third of their import's time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """All that is there before the first test stays to the end; the collector need not look at it again.

    Memory of closed databases is for the next one, hundreds of which come: to get it from the system again
    takes longer than to fill a database.
    """
    engine._RETURNED_MB = 500
    collector.set_aside()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def resident_mb() -> int:
    """Memory of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * PAGE_BYTES >> 20


def let_go(module: object) -> None:
    """Let go of what a module of tests keeps for others, such as machines: it is made again where wanted."""
    name = getattr(module, "__name__", "")
    for kept in list(getattr(module, "__dict__", {}).values()):
        if getattr(kept, "__module__", "") == name:
            getattr(kept, "cache_clear", int)()


def forget() -> None:
    """Let go of what was set aside and what tests keep for others, which make it again, and of free memory.

    Of that the C library has hundreds of megabytes, which databases have freed.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "tests":
            let_go(module)
    gc.unfreeze()
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


patches_the_engine = pytest.mark.skipif(
    state == "used", reason="compiled classes cannot be patched; test_planted_faults runs it where none is"
)
"""For tests that replace methods of the engine's own classes."""


@dataclass(frozen=True)
class Ended:
    """A command line that has ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no store named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERNBENCH_STORE", raising=False)
    return tmp_path


@pytest.fixture
def cli(workdir: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """``cli("runs", "list")``: the command line within this process, in :func:`workdir`."""
    from kernbench.cli.main import main

    def run(*argv: str) -> Ended:
        capfd.readouterr()
        status = main(argv)
        sys.stdout.flush()
        return Ended(status, *capfd.readouterr())

    return run


@pytest.fixture
def process(workdir: Path) -> Callable[..., Ended]:
    """``process("runs", "list")``: the installed ``kernbench`` in its own process, in :func:`workdir`."""

    def run(*argv: str, **environment: str) -> Ended:
        done = subprocess.run(
            [str(Path(sys.executable).parent / "kernbench"), *argv],
            capture_output=True,
            text=True,
            check=False,
            cwd=workdir,
            env={**os.environ, **environment},
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


def need_neo4j() -> None:
    """Leave the test out where a Neo4j cannot be run; where ``CI`` is set it fails."""
    if lacking := run_neo4j.missing():
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(f"{NO_NEO4J}: {lacking} not found")
        pytest.skip(f"{NO_NEO4J}: {lacking} not found")


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real Neo4j, of this worker alone, for a database is one store.

    Without Java and Maven the test is left out, which the end of the run says; where ``CI`` is set it fails.
    """
    need_neo4j()
    with shared_server(tmp_path_factory.getbasetemp() / "neo4j") as server:
        yield server


@pytest.fixture
def neo4j_url(neo4j_server: Running, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of an empty store on a real Neo4j, with the credentials in the environment."""
    monkeypatch.setenv("KERNBENCH_NEO4J_USER", "neo4j")
    monkeypatch.setenv("KERNBENCH_NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.delenv("KERNBENCH_NEO4J_AUTH_FILE", raising=False)
    empty(neo4j_server)
    return neo4j_server.url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once what was not tested."""
    left_out = [r for r in terminalreporter.stats.get("skipped", []) if NO_NEO4J in str(r.longrepr)]
    if left_out:
        terminalreporter.section("Neo4j")
        terminalreporter.line(
            f"{len(left_out)} tests of the Neo4j store were left out: {run_neo4j.missing()} not found. "
            "Install a JDK 17 and Maven to run them."
        )
