"""A Neo4j server without Docker, from Maven's jars: ``make neo4j``, and what the tests run.

Needs a JDK 17 and Maven. Jars and data lie in ``.neo4j`` of the checkout, which git ignores. The server
listens on the loopback address only and is stopped by SIGTERM, in whatever way this program ends.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
POM = ROOT / "tools" / "neo4j-server" / "pom.xml"
CACHE = ROOT / ".neo4j"
START_S = 90
STOP_S = 30
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_PLANNED_ONCE = {"dbms.cypher.min_replan_interval": "1h"}
"""For short lives: a database that is emptied and filled all the time has each text planned anew every 10 s,
which takes ten times as long as what the texts do."""
_LASTING = ("-Xms1g", "-XX:+UseParallelGC")
_OPENS = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")


def missing() -> str:
    """The things that a server needs and this machine lacks; empty when nothing."""
    lacking = [program for program in ("java", "mvn") if shutil.which(program) is None]
    return " and ".join(lacking)


def jars() -> Path:
    """The folder of the server's jars, fetched by Maven when it is not there yet."""
    text = POM.read_text(encoding="utf-8")
    found = re.search(r"<neo4j\.version>([\d.]+)<", text)
    if found is None:
        raise RuntimeError(f"{POM} does not say which version of Neo4j it is about")
    CACHE.mkdir(exist_ok=True)
    place = CACHE / f"lib-{found[1]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / ".complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
            subprocess.run(
                [*command, "-DincludeScope=runtime", f"-DoutputDirectory={place}"],
                check=True,
                stdout=sys.stderr,
            )
            (place / ".complete").touch()
    return place


@contextmanager
def running(
    home: Path,
    password: str,
    bolt: int = 0,
    http: int = 0,
    quick: bool = False,
    more: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, int, int]]:
    """A server with its files in ``home``; gives its bolt port, its http port (0: free ones) and its pid.

    ``quick`` is for short lives: less compiling, so that it starts sooner and never gets as fast, and plans
    that stay whatever becomes of the data. ``more`` are settings of the server besides.
    """
    for port, option in ((bolt, "--bolt"), (http, "--http")):
        _check_free(port, option)
    classpath = f"{jars()}/*"
    fresh = not (home / "conf").exists()
    bolt, http = bolt or _free_port(), http or _free_port()
    (home / "conf").mkdir(parents=True, exist_ok=True)
    settings = {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": f"127.0.0.1:{bolt}",
        "server.bolt.advertised_address": f"127.0.0.1:{bolt}",
        "server.http.listen_address": f"127.0.0.1:{http}",
        "server.http.advertised_address": f"127.0.0.1:{http}",
        "server.https.enabled": "false",
        "dbms.usage_report.enabled": "false",
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "1 files",
        "server.memory.pagecache.size": "512m",
        **(_PLANNED_ONCE if quick else {}),
        **(more or {}),
    }
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (home / "conf" / "neo4j.conf").write_text(text, encoding="utf-8")
    environment = {**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    with (home / "server.log").open("a") as log:
        if fresh:
            _set_password(home, classpath, password, environment, log)
        opens = [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS]
        command = ["java", *opens, "-Xmx1g", *(_QUICK if quick else _LASTING), "-cp", classpath]
        command += ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}"]
        command += [f"--config-dir={home / 'conf'}"]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        ) as server:
            try:
                _wait(server, bolt, http, password, home)
                yield bolt, http, server.pid
            finally:
                _stop(server)


def _set_password(
    home: Path, classpath: str, password: str, environment: Mapping[str, str], log: IO[str]
) -> None:
    # In a file of ours alone that the tool reads its arguments from, so that no list of processes shows it;
    # behind "--" it may begin with a hyphen.
    with NamedTemporaryFile("w", encoding="utf-8", dir=home / "conf") as file:
        quoted = password.replace("\\", "\\\\").replace('"', '\\"')
        file.write(f'dbms\nset-initial-password\n--\n"{quoted}"\n')
        file.flush()
        command = [
            "java",
            *_QUICK,
            "-Dfile.encoding=UTF-8",
            "-cp",
            classpath,
            "org.neo4j.cli.AdminTool",
            f"@{file.name}",
        ]
        subprocess.run(command, check=True, stdout=log, stderr=log, env=environment)


def _wait(server: subprocess.Popen[bytes], bolt: int, http: int, password: str, home: Path) -> None:
    """Wait until the server answers at both ports; the one of its pages comes last."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    end = time.monotonic() + START_S
    while True:
        try:
            with GraphDatabase.driver(f"bolt://127.0.0.1:{bolt}", auth=("neo4j", password)) as driver:
                driver.verify_connectivity()
            socket.create_connection(("127.0.0.1", http), 1.0).close()
            return
        except (DriverError, Neo4jError, OSError) as error:
            if server.poll() is not None or time.monotonic() > end:
                tail = (home / "server.log").read_text(encoding="utf-8", errors="replace")[-2000:]
                raise RuntimeError(f"Neo4j did not start:\n{tail}") from error
            time.sleep(0.25)


def _stop(server: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        server.terminate()
    try:
        server.wait(STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()


def _check_free(port: int, option: str) -> None:
    """``RuntimeError`` when another program listens at ``port``; 0 stands for any free one."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise RuntimeError(
                f"port {port} cannot be used ({error.strerror}); stop what listens there, or choose another: "
                f"make neo4j NEO4J_OPTIONS='{option} {port + 10_000}'"
            ) from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _until_interrupted() -> None:
    print("Stop it with Ctrl-C.", flush=True)
    while True:
        signal.pause()


def _until_unused(fifo: Path) -> None:
    """Wait until no process holds ``fifo`` open for writing; the kernel closes it after a kill."""
    with fifo.open("rb") as held:
        while held.read(1 << 10):
            pass


def main() -> int:
    """Start a server and wait."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=CACHE / "home", help="folder of its data and settings")
    parser.add_argument("--bolt", type=int, default=7687, help="bolt port; 0 for a free one")
    parser.add_argument("--http", type=int, default=7474, help="http port; 0 for a free one")
    parser.add_argument("--ready", type=Path, help="write bolt port, password and pid there once it runs, "
                        "and stop when no process holds the FIFO of that name and '.held'")  # fmt: skip
    options = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"neo4j: {lacking} not found; install a JDK 17 and Maven, or use docker compose up -d",
              file=sys.stderr)  # fmt: skip
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    password = os.environ.get("KERNBENCH_NEO4J_PASSWORD", "")
    if options.ready:
        password = secrets.token_urlsafe(12)
    elif len(password) < 8:
        print("neo4j: set KERNBENCH_NEO4J_PASSWORD to the password that the server is to have, of 8 "
              "characters or more", file=sys.stderr)  # fmt: skip
        return 1
    try:
        quick = options.ready is not None
        with running(options.home.resolve(), password, options.bolt, options.http, quick) as (
            bolt,
            http,
            pid,
        ):
            if options.ready:
                fifo = options.ready.with_name(options.ready.name + ".held")
                partial = options.ready.with_suffix(".part")
                partial.write_text(f"{bolt} {password} {pid}\n", encoding="utf-8")
                partial.replace(options.ready)
                _until_unused(fifo)
            else:
                page = f"http://127.0.0.1:{http}/browser/"
                print(f"Neo4j runs: neo4j://127.0.0.1:{bolt}, user neo4j; Neo4j Browser at {page}")
                _until_interrupted()
    except KeyboardInterrupt:
        print("stopped")
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"neo4j: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
