"""Measure this installation and write docs/reference/measured.md: ``make measure``.

Figures are medians of three runs in one process, on whatever machine this is; the counts (events, hops,
crossings, bytes) are the same everywhere. ``python -m tools.measure --missing`` measures only the questions
that the page lacks, and adds them to it.
"""

from __future__ import annotations

import gc
import os
import platform
import resource
import shutil
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import kernbench as kb
from kernbench.engine.core.clock import Clock
from kernbench.hardware.topology import compile_topology, load
from kernbench.support.data_files import shipped_topologies
from kernbench.workloads.benches import list_all
from tools.measured_rows import lacking, with_rows

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "measured.md"
_GIVEN = sys.argv[1:] if __name__ == "__main__" else []
REPEATS = next((int(text) for text in _GIVEN if text.isdigit()), 3)
LARGEST = ("matmul-composite", {"m": 768, "k": 512, "n": 768})


class Stopwatch:
    """CPU time spent inside the event loop, s: what else the machine does counts less than in wall time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        advance = Clock.advance

        def timed(clock: Clock, goal: object) -> bool:
            begun = time.thread_time()
            try:
                return advance(clock, goal)  # type: ignore[arg-type]
            finally:
                self.seconds += time.thread_time() - begun

        Clock.advance = timed  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            Clock.advance = advance  # type: ignore[method-assign]


def run_once(bench: str, params: dict[str, object], store: Path | None) -> tuple[kb.Run, float, float]:
    """(run, wall seconds, CPU seconds in the event loop)."""
    gc.collect()
    watch = Stopwatch()
    begun = time.perf_counter()
    with watch.watching():
        if store is None:
            run = kb.run(bench, params=params, trace=False)
        else:
            run = kb.run(bench, params=params, store=str(store))
    return run, time.perf_counter() - begun, watch.seconds


def size_of(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def bench_rows(store: Path) -> Iterator[str]:
    """Each bench's row; the largest run comes last and is kept last, traced."""
    todo: list[tuple[str, dict[str, object]]] = [(spec.name, {}) for spec in list_all()]
    todo.append(LARGEST)
    for bench, params in todo:
        repeats = REPEATS if not params else 1
        off = [run_once(bench, params, None) for _ in range(repeats)]
        on = [run_once(bench, params, store) for _ in range(max(2, repeats))]
        run = on[-1][0]
        info = run.info
        wall, loop = (statistics.median(o[i] for o in on) for i in (1, 2))
        loop_off = statistics.median(o[2] for o in off)
        name = bench + "".join(f" {key}={value}" for key, value in params.items())
        archive = size_of(store / "runs" / str(run.id))
        yield (
            f"| {name} | {wall:.2f} | {loop:.2f} | {info['events']:,} | {info['hops']:,} | "
            f"{info['hops'] / loop:,.0f} | {info['flit_crossings']:,} | "
            f"{info['flit_crossings'] / loop:,.0f} | "
            f"{loop / loop_off:.2f} | {archive:,} |"
        )


def arguments(run: kb.Run, before: kb.Run) -> dict[str, object]:
    """Values of the parameters without a default: the busiest link, the slowest transfer ..."""
    slowest = run.query("contention/slowest-transactions", limit=1).dicts()[0]
    link = run.query("bottleneck/busiest-links", limit=1).dicts()[0]
    latest = int(run.frame("Op")["number"].max())
    return {
        "resource": link["link"],
        "transaction": slowest["id"] if "id" in slowest else next(iter(slowest.values())),
        "op": latest,
        "other": latest - 1,
        "bench": run.bench,
        "before": before.id,
        "after": run.id,
        "src": "sip0.cube0.pe0.pe_dma",
        "dst": "sip0.cube15.hbm_ctrl.pe3",
        "other_src": "sip0.cube1.pe0.pe_dma",
        "other_dst": "sip0.cube14.hbm_ctrl.pe3",
        "lost": "sip0.cube5",
        "within_ns": 100.0,
        "key": "cube.hbm.channel_gbs",
    }


def question_rows(store: Path, only: Collection[str] = ()) -> Iterator[str]:
    """Each question's name, first and repeated time, rows; of those in ``only``, where it is given."""
    with kb.open_store(str(store)) as opened:
        run = kb.open_run("last", opened)
        known = arguments(run, kb.open_run("last~1", opened))
        for question in kb.questions():
            if only and question["name"] not in only:
                continue
            params = {p["name"]: known[p["name"]] for p in question["params"] if p["default"] is None}
            times = []
            rows = 0
            for _ in range(1 + REPEATS):
                begun = time.perf_counter()
                try:
                    rows = len(run.query(question["name"], **params).rows)
                except kb.KernBenchError as error:  # it took too long
                    yield f"| {question['name']} | - | - | {error} |"
                    break
                times.append(time.perf_counter() - begun)
            if len(times) < 1 + REPEATS:
                continue
            again = statistics.median(times[1:])
            yield f"| {question['name']} | {times[0] * 1e3:,.0f} | {again * 1e3:,.0f} | {rows} |"


def topology_rows() -> Iterator[str]:
    for name in shipped_topologies():
        times = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            graph = compile_topology(load(name))
            times.append(time.perf_counter() - begun)
            del graph
        tracemalloc.start()
        graph = compile_topology(load(name))
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        links = sum(1 for _ in graph.edges("LINK"))
        seconds = statistics.median(times)
        yield f"| {name} | {len(graph):,} | {links:,} | {seconds:.2f} | {memory / 2**20:,.0f} |"


def add_missing() -> int:
    """Measure the questions that the page lacks, on the largest run, and add their rows."""
    names = lacking(PAGE, [question["name"] for question in kb.questions()])
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            run_once(*LARGEST, Path(folder))
        rows = {line.split("|")[1].strip(): line for line in question_rows(Path(folder), names or [""])}
    if rows:
        PAGE.write_text(with_rows(PAGE, rows, today()), encoding="utf-8")
    print(f"added {len(rows)} questions to {PAGE}")
    return 0


def today() -> str:
    """The day, and what this machine is."""
    python = f"Python {platform.python_version()}"
    return f"{time.strftime('%Y-%m-%d')} ({os.cpu_count()} cores, {python}, {platform.machine()})"


def main() -> int:
    if "--missing" in _GIVEN:
        return add_missing()
    folder = Path(tempfile.mkdtemp())
    try:
        store = folder / "store"
        benches = list(bench_rows(store))
        questions = list(question_rows(store))
        topologies = list(topology_rows())
        cache = size_of(store / "cache")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    PAGE.write_text(
        f"""# Measured

Written by `make measure`; medians of {REPEATS} on {os.cpu_count()} cores, Python {platform.python_version()},
{platform.system()} {platform.machine()}. Times differ from machine to machine, counts do not. Peak memory of
the whole measurement was {peak:,.0f} MB.

## Runs

Default topology, default parameters unless given. *Wall* is a whole `kb.run` with its archive kept, *loop*
the CPU time of the event loop alone; *on/off* is the loop with the trace on against off.

| bench | wall s | loop s | events | hops | hops/s | flit crossings | crossings/s | on/off | archive bytes |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(benches)}

## Questions

On the last and largest of these runs, in the embedded store. *First* includes what had to be built before
the question could be asked (the projection for the first one); *again* is the median of {REPEATS} more. The
projections take {cache:,} bytes.

| question | first ms | again ms | rows |
|---|---|---|---|
{chr(10).join(questions)}

## Topologies

Time and peak memory of loading and compiling; both grow in proportion to components and links.

| topology | components | links | s | MB |
|---|---|---|---|---|
{chr(10).join(topologies)}
""",
        encoding="utf-8",
    )
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
