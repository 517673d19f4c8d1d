"""Measure the stores on a large run and write docs/reference/measured-stores.md: ``make measure-store``.

``python -m tools.measure_store [--missing] [HOPS] [URL]``: with the URL of a Neo4j server that one is
measured (its memory and disk are then unknown, and it is not restarted), otherwise one is started here. With
``--missing`` only the questions that the page lacks are measured, and added to it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.measure import size_of
from tools.measure_store_page import machine, page, question_rows
from tools.measured_rows import lacking, with_rows
from tools.run_neo4j import missing, running

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "measured-stores.md"
REPEATS = 5
ENOUGH_S = 4.0
"""A question that has taken this long in all is not asked again."""
TIMEOUT_S = 15.0
BESIDE = 20
"""Runs that lie beside the large one while it is kept, asked and removed."""
HISTORY_RUNS = 100
HOPS_OF_MANY = 10_000
"""Hops of each of those runs beside, and of :data:`HISTORY_RUNS` that are kept beside each other."""
_TASK = "tools.measure_store_task"


@dataclass
class Measured:
    """Measurements of one store; sizes and memory in bytes."""

    name: str
    pushes: list[dict[str, Any]] = field(default_factory=list)
    beside: dict[str, Any] = field(default_factory=dict)
    disk: dict[str, int] = field(default_factory=dict)
    server_memory: int = 0
    removal_s: float = 0.0
    many: dict[str, Any] = field(default_factory=dict)
    first: list[dict[str, Any]] = field(default_factory=list)
    cold: dict[str, dict[str, Any]] = field(default_factory=dict)
    warm: dict[str, dict[str, Any]] = field(default_factory=dict)


def task(*arguments: object, module: str = _TASK) -> Iterator[dict[str, Any]]:
    """The reports of a fresh process, a line of JSON each."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")


def forget_pages(folder: Path) -> None:
    """Have the operating system drop what it remembers of the files in ``folder``."""
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def note(text: str) -> None:
    print(f"{time.perf_counter() - _BEGUN:6.0f} s  {text}", file=sys.stderr, flush=True)


def fill(found: Measured, url: str, hops: int) -> None:
    """A simulated run, to compare with, others beside, and then the large one, all of one machine."""
    note(f"pushing a simulated run to {url}")
    found.pushes += task("push", url, 0, "run0")
    note(f"pushing {BESIDE} runs of {HOPS_OF_MANY:,} hops")
    (found.beside,) = task("beside", url, BESIDE, HOPS_OF_MANY)
    note(f"pushing {hops:,} hops")
    found.pushes += task("push", url, hops, "run1")


def questions(found: Measured, url: str, files: Path | None, only: Sequence[str]) -> None:
    """Ask all questions, or ``only`` some, cold and warm; before a cold one memory forgets ``files``."""
    note(f"asking {url}, cold")
    for name in only or shipped():
        if files is not None:
            forget_pages(files)
        found.cold.update({row["name"]: row for row in task("ask", url, name, 1, 0, TIMEOUT_S)})
    note(f"asking {url}, warm")
    some = ",".join(only)
    found.warm.update({row["name"]: row for row in task("ask", url, some, REPEATS, ENOUGH_S, TIMEOUT_S)})


def shipped() -> list[str]:
    """Names of all questions."""
    (found,) = task("names")
    return list(found["names"])


def embedded(folder: Path, hops: int, only: Sequence[str]) -> tuple[Measured, dict[str, Any]]:
    """The store in a folder, and how the graph over all runs grows; of ``only`` some questions just these."""
    found, url = Measured("embedded"), folder / "store"
    fill(found, str(url), hops)
    questions(found, str(url), url, only)
    if only:
        return found, {}
    found.disk = {"archive": size_of(url / "runs" / "run1"), "cache": size_of(url / "cache")}
    (removed,) = task("remove", url, "run1")
    found.removal_s = removed["s"]
    note(f"history of {HISTORY_RUNS} runs")
    (history,) = task("history", folder / "history", HISTORY_RUNS)
    many(found, str(folder / "many"))
    note("first questions of the shipped benches")
    found.first += task(folder / "first", module="tools.measure_first")
    return found, history


def many(found: Measured, url: str) -> None:
    """Many runs of one machine in a store that is otherwise empty, or holds those beside the large run."""
    note(f"keeping {HISTORY_RUNS} runs of {HOPS_OF_MANY:,} hops in {url}")
    (found.many,) = task("many", url, HISTORY_RUNS, HOPS_OF_MANY)


def neo4j(folder: Path, hops: int, url: str, only: Sequence[str]) -> Measured:
    """A server of our own, restarted before it is asked; or the one at ``url``, as it is.

    Of ``only`` some questions just these are measured.
    """
    found, home = Measured("Neo4j"), folder / "neo4j"
    if url:
        store = f"{url.rstrip('/')}/measured-{secrets.token_hex(4)}"
        fill(found, store, hops)
        questions(found, store, None, only)
        for run in ("run1", "run0", *found.beside["ids"]):
            (removed,) = task("remove", store, run)
            found.removal_s = found.removal_s or removed["s"]
        return found
    password = secrets.token_urlsafe(12)
    os.environ.update(KERNBENCH_NEO4J_USER="neo4j", KERNBENCH_NEO4J_PASSWORD=password)
    os.environ.pop("KERNBENCH_NEO4J_AUTH_FILE", None)
    with running(home, password) as (bolt, _, pid):
        fill(found, f"bolt://127.0.0.1:{bolt}", hops)
        found.server_memory = peak_memory(pid)
    data = home / "data"
    found.disk = {"databases": size_of(data / "databases"), "transactions": size_of(data / "transactions")}
    forget_pages(data)
    with running(home, password) as (bolt, _, _):
        questions(found, f"bolt://127.0.0.1:{bolt}", None, only)
        if only:
            return found
        (removed,) = task("remove", f"bolt://127.0.0.1:{bolt}", "run1")
        found.removal_s = removed["s"]
        many(found, f"bolt://127.0.0.1:{bolt}")
    return found


def peak_memory(pid: int) -> int:
    """Most memory that a process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def main() -> int:
    given = [text for text in sys.argv[1:] if text != "--missing"]
    hops = int(given[0]) if given else 1_000_000
    url = given[1] if len(given) > 1 else ""
    only = lacking(PAGE, shipped()) if len(given) < len(sys.argv) - 1 else []
    if not only and len(given) < len(sys.argv) - 1:
        note(f"{PAGE} has all questions")
        return 0
    if not url and (needed := missing()):
        print(f"measure-store: {needed} not found; install a JDK 17 and Maven, or give the URL of a Neo4j",
              file=sys.stderr)  # fmt: skip
        return 1
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="kernbench-measure-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        first, history = embedded(folder, hops, only)
        stores = [first, neo4j(folder, hops, url, only)]
    if only:
        rows = {line.split("|")[1].strip(): line for line in question_rows(stores, TIMEOUT_S)}
        PAGE.write_text(with_rows(PAGE, rows, f"{time.strftime('%Y-%m-%d')}, {machine()}"), encoding="utf-8")
        note(f"added {len(rows)} questions to {PAGE}")
        return 0
    seconds = time.perf_counter() - _BEGUN
    PAGE.write_text(page(stores, history, REPEATS, TIMEOUT_S, bool(url), seconds), encoding="utf-8")
    statistics_ = statistics.median(row["s"][0] for row in first.warm.values() if row["s"])
    note(f"wrote {PAGE}; half of all questions, embedded and warm, take less than {statistics_ * 1e3:.0f} ms")
    return 0


_BEGUN = time.perf_counter()

if __name__ == "__main__":
    sys.exit(main())
