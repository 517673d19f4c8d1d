"""A Neo4j server for a test run, or for each of its workers, started when first needed.

Every user holds a FIFO open for writing; the server's process (tools/run_neo4j.py) reads it and stops the
server at its end, which the kernel brings about when the last user is gone, in whatever way it went.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tools" / "run_neo4j.py"


@dataclass(frozen=True)
class Running:
    """A server: the URL of its bolt port, the password of the user ``neo4j``, its process id."""

    url: str
    password: str
    pid: int


@contextmanager
def shared_server(folder: Path) -> Iterator[Running]:
    """The server whose files lie in ``folder``, started unless somebody else has done so."""
    folder.mkdir(parents=True, exist_ok=True)
    ready, fifo = folder / "ready", folder / "ready.held"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        hold = _join(fifo) if ready.exists() else -1
        if hold < 0:
            for path in (ready, fifo):
                path.unlink(missing_ok=True)
            os.mkfifo(fifo)
            home = folder / f"home-{os.getpid()}-{time.monotonic_ns()}"
            command = [sys.executable, str(SCRIPT), "--ready", str(ready), "--home", str(home)]
            command += ["--bolt", "0", "--http", "0"]
            with (folder / "log").open("a") as log:
                starter = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            while not ready.exists():
                if starter.poll() is not None:
                    raise RuntimeError(f"no Neo4j: {(folder / 'log').read_text(encoding='utf-8')}")
                time.sleep(0.1)
            starter.returncode = 0  # it outlives this object, on purpose
            hold = os.open(fifo, os.O_WRONLY)
        port, password, pid = ready.read_text(encoding="utf-8").split()
    try:
        yield Running(f"bolt://127.0.0.1:{port}", password, int(pid))
    finally:
        os.close(hold)


def _join(fifo: Path) -> int:
    with suppress(OSError):  # no reader: that server has gone
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    return -1


def seen(server: Running, cypher: str, **params: Any) -> list[tuple[Any, ...]]:
    """Rows of a text as the plain driver gets them: of all that the server has."""
    auth = ("neo4j", server.password)
    with GraphDatabase.driver(server.url, auth=auth) as driver:
        records, _, _ = driver.execute_query(cypher, params)
        return [tuple(record.values()) for record in records]


def empty(server: Running) -> None:
    """Delete all nodes and relationships; constraints and indexes stay."""
    auth = ("neo4j", server.password)
    with GraphDatabase.driver(server.url, auth=auth) as driver, driver.session() as session:
        for some in ("()-[x]->()", "(x)"):  # a node that all lead to takes its relationships along
            session.run(f"MATCH {some} CALL (x) {{ DELETE x }} IN TRANSACTIONS OF 10000 ROWS").consume()
