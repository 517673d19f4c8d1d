"""Evaluations: their points are run or found, their tables, figures and page written to a folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kernbench.api.kept_runs import tag as tag_run
from kernbench.api.open_runs import open_run
from kernbench.api.open_runs import runs as all_runs
from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, keeper
from kernbench.api.topologies import described_machine
from kernbench.api.traffic_runs import BENCH, traffic, traffic_hash_of
from kernbench.bounds import check_number
from kernbench.errors import KernBenchError
from kernbench.pgraph import GraphStore, PropertyGraph
from kernbench.report.progress import PieceProgress, of_points
from kernbench.sweeps.evaluation_gate import baselines, compare_runs
from kernbench.sweeps.sweeping import sweep
from kernbench.user_modules import unmoved
from kernbench.version import __version__
from kernbench.written_files import write_csv, writing

FAST_VARIABLE = "MILESTONE_FAST"
"""Where it is 1, evaluations draw from the points that are kept, and run nothing."""


@dataclass(slots=True)
class Evaluated:
    """The results of an evaluation.

    ``points`` are rows ``bench params topology run_id latency_ns kept_before error``; ``tables`` are rows by
    name; ``moved`` compares with a baseline (:func:`kernbench.sweeps.evaluation_gate.compare_runs`), None
    where none was asked for.
    """

    name: str
    folder: str
    points: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    moved: list[dict[str, Any]] | None = None
    wall_s: float = 0.0

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Points with an error."""
        return [point for point in self.points if point["error"]]

    @property
    def regressed(self) -> list[dict[str, Any]]:
        """Points that got slower than the baseline by more than the threshold, or are gone."""
        return [row for row in self.moved or () if row["moved"] in ("slower", "gone")]

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON shows it."""
        names = ("name", "folder", "points", "tables", "files", "notes", "moved", "wall_s")
        return {name: getattr(self, name) for name in names}


def evaluate(
    name: str,
    out: str | os.PathLike[str] | None = None,
    *,
    params: Mapping[str, object] | None = None,
    topology: str | None = None,
    topo: Mapping[str, object] | None = None,
    jobs: int = 1,
    executor: str | None = None,
    scheduler: str | None = None,
    store: Store = None,
    tags: Sequence[str] = (),
    against: str | None = None,
    threshold: float = 0.02,
    fresh: bool = False,
    fast: bool | None = None,
    exact: bool = False,
    progress: PieceProgress | None = None,
) -> Evaluated:
    """Run an evaluation and write its tables (CSV), figures (PNG), ``results.json`` and ``report.html``.

    Args:
        name: A name from :func:`evaluations`, or ``file.py[:name]``.
        out: The folder, which need not exist; by default ``evaluation-NAME`` in the working directory.
        params: Parameters of the evaluation.
        topology: The machine of points whose evaluation does not name one; ``topo`` changes keys of it.
        jobs: Points that are run at the same time, each in a process of its own; ``executor`` and
            ``scheduler`` are as for :func:`sweep`.
        tags: Further tags of the kept runs, which all have ``evaluate-NAME``.
        against: A tag: compare with its runs. Then every point is run anew, for a kept run says nothing about
            a KernBench that has changed since, unless ``fast``.
        threshold: The share by which a point may be slower than ``against``.
        fresh: Run points that are kept as well.
        fast: Run nothing, take the points that are kept; by default where ``MILESTONE_FAST`` is 1.
        exact: Simulate all ranks and periods, as :func:`kernbench.run` does with it.

    Raises:
        UsageError: No such evaluation, parameter or baseline.
        MissingExtraError: matplotlib is not installed.
    """
    from kernbench.evaluations import resolve
    from kernbench.report.figures import drawing

    check_number("threshold", threshold)
    spec = resolve(name)
    values = spec.resolve_params(params)
    drawing.require()
    began = time.perf_counter()
    fast = os.environ.get(FAST_VARIABLE) == "1" if fast is None else fast
    folder = Path(out) if out is not None else Path(f"evaluation-{spec.name}")
    own = f"evaluate-{spec.name}"
    with borrowed(keeper(store)) as opened:
        before = None if against is None else baselines(against, opened, [own])
        work = _Evaluating(
            result=Evaluated(spec.name, str(folder)),
            folder=folder,
            params=values,
            store=opened,
            topology=topology,
            topo=dict(topo or {}),
            workers=_Workers(jobs, executor, scheduler),
            tags=[own, *tags],
            fresh=(fresh or against is not None) and not fast,
            fast=fast,
            exact=exact,
            progress=progress,
        )
        folder.mkdir(parents=True, exist_ok=True)
        with unmoved():
            spec.run(work)
        result = work.result
        if before is not None:
            result.moved = compare_runs(work.runs, before, threshold)
        result.wall_s = time.perf_counter() - began
        _write_results(result, folder, against, threshold)
    return result


def evaluations() -> list[dict[str, Any]]:
    """The shipped evaluations: ``name description params``."""
    from kernbench.evaluations import list_all

    return [
        {
            "name": spec.name,
            "description": spec.description,
            "params": [{"name": p.name, "default": p.default, "help": p.help} for p in spec.params],
        }
        for spec in list_all()
    ]


class PointRun(Run):
    """The run of a point."""

    def by_cause(self) -> dict[str, float]:
        """ns of the critical path of its launches, or of the whole of a run of traffic, by cause."""
        return self.critical_path("all" if self.launches else None).by_cause()


@dataclass(frozen=True, slots=True)
class _Workers:
    """Where points are run; see :func:`sweep`."""

    jobs: int
    executor: str | None
    scheduler: str | None


@dataclass
class _Evaluating:
    """An :class:`kernbench.evaluations.Evaluator`."""

    result: Evaluated
    folder: Path
    params: Mapping[str, Any]
    store: GraphStore
    topology: str | None
    topo: dict[str, object]
    workers: _Workers
    tags: list[str]
    fresh: bool
    fast: bool
    exact: bool
    progress: PieceProgress | None
    runs: list[Run] = field(default_factory=list)
    _traffic: dict[str, Run] | None = None
    _why: str = ""

    def machine(self, topology: str | None = None, topo: Mapping[str, object] | None = None) -> PropertyGraph:
        """See :class:`kernbench.evaluations.Evaluator`."""
        return described_machine(topology or self.topology, {**self.topo, **(topo or {})})[0]

    def points(
        self,
        bench: str,
        points: Sequence[Mapping[str, Any]],
        topology: str | None = None,
        topo: Mapping[str, object] | None = None,
        optional: bool = False,
        verify: bool = True,
        device: str | None = None,
    ) -> list[PointRun | None]:
        """See :class:`kernbench.evaluations.Evaluator`."""
        found = sweep(
            bench,
            topology or self.topology,
            verify=verify,
            device=device,
            topo={key: [value] for key, value in {**self.topo, **(topo or {})}.items()},
            points=[{"params": {key: [value] for key, value in point.items()}} for point in points],
            store=self.store,
            tags=self.tags,
            jobs=min(self.workers.jobs, len(points)),
            executor=None if self.fast else self.workers.executor,
            scheduler=None if self.fast else self.workers.scheduler,
            fresh=self.fresh,
            only_kept=self.fast,
            exact=self.exact,
            progress=self.progress,
        )
        runs: list[PointRun | None] = []
        for point in found.points:
            run = self._open(point.run_id) if point.run_id and not point.error else None
            self._why = point.error or self._why
            if run is not None or not optional:
                self._note_point(bench, point.params, point.topology, run, point.kept_before, point.error)
            runs.append(run)
        return runs

    def why(self) -> str:
        """See :class:`kernbench.evaluations.Evaluator`."""
        return self._why

    def traffic(self, name: str, flows: Sequence[Mapping[str, Any]]) -> PointRun | None:
        """See :class:`kernbench.evaluations.Evaluator`."""
        graph, classes = described_machine(self.topology, self.topo)
        if self._traffic is None:
            known = (run for run in all_runs(self.store) if run.bench == BENCH and run.info["status"] == "ok")
            self._traffic = {run.info["config_hash"]: run for run in known}
        kept = None if self.fresh else self._traffic.get(traffic_hash_of(flows, graph, classes))
        run, error = None, ""
        if kept is not None:
            if missing := [text for text in self.tags if text not in kept.tags]:
                tag_run(kept.id, missing, store=self.store)
            run = self._open(kept.id)
        elif self.fast:
            error = "the store holds no run of this point"
        else:
            try:
                run = self._open(traffic(list(flows), graph, store=self.store, tags=self.tags).id)
            except KernBenchError as failure:
                error = str(failure)
        self._note_point(BENCH, {"flows": name}, str(graph.properties["name"]), run, kept is not None, error)
        if self.progress is not None:
            points = self.result.points
            kept_before = sum(point["kept_before"] for point in points)
            self.progress(of_points(len(points), len(points), kept_before, len(self.result.failed)))
        return run

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """See :class:`kernbench.evaluations.Evaluator`."""
        self.result.tables[name] = [dict(row) for row in rows]
        if rows:
            file = self.folder / f"{name}.csv"
            write_csv(file, list(rows[0]), rows)
            self.result.files.append(str(file))

    def figure(self, name: str, draw: Callable[[Any], None], size: tuple[float, float] = (9.0, 5.0)) -> None:
        """See :class:`kernbench.evaluations.Evaluator`."""
        from matplotlib.figure import Figure

        from kernbench.report.figures import drawing

        figure = Figure(figsize=size, dpi=110)
        figure.set_layout_engine("constrained")
        draw(figure)
        file = self.folder / f"{name}.png"
        drawing.save(figure, str(file))
        self.result.files.append(str(file))

    def note(self, text: str) -> None:
        """See :class:`kernbench.evaluations.Evaluator`."""
        self.result.notes.append(text)

    def _open(self, run_id: str) -> PointRun:
        return PointRun.kept(self.store, open_run(run_id, self.store).properties)

    def _note_point(
        self, bench: str, params: Mapping[str, Any], topology: str, run: Run | None, kept: bool, error: str
    ) -> None:
        if run is not None:
            self.runs.append(run)
        self.result.points.append(
            {
                "bench": bench,
                "params": dict(params),
                "topology": topology,
                "run_id": run.id if run else "",
                "latency_ns": (run.latency_ns or run.sim_ns) if run else None,
                "kept_before": kept,
                "error": error,
            }
        )


def _write_results(result: Evaluated, folder: Path, against: str | None, threshold: float) -> None:
    from kernbench.report.page import page

    kept = sum(point["kept_before"] for point in result.points)
    facts = {
        "made by": f"kernbench {__version__}",
        "points": f"{len(result.points)}, including {kept} kept before and {len(result.failed)} that failed",
    }
    tables = dict(result.tables)
    if result.moved is not None:
        facts["compared with"] = f"tag {against}, threshold {threshold:.3g}"
        tables = {"against the baseline": result.moved, **tables}
    pictures = [Path(file) for file in result.files if file.endswith(".png")]
    tables["points"] = result.points
    report = folder / "report.html"
    with writing(report) as partial:
        partial.write_text(
            page(f"Evaluation {result.name}", facts, tables, pictures, result.notes), encoding="utf-8"
        )
    results = folder / "results.json"
    result.files += [str(results), str(report)]
    text = json.dumps(replace(result).as_dict(), indent=1, ensure_ascii=False, default=str)
    with writing(results) as partial:
        partial.write_text(text + "\n", encoding="utf-8")
