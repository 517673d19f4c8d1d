"""What an evaluation works with, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kernbench.api.kept_runs import tag as tag_run
from kernbench.api.open_runs import open_run
from kernbench.api.open_runs import runs as all_runs
from kernbench.api.result import Run
from kernbench.api.shown import Shows, flat_rows
from kernbench.api.sweeps.sweeping import sweep
from kernbench.api.topologies import described_machine
from kernbench.api.traffic_runs import BENCH, traffic, traffic_hash_of
from kernbench.draw.progress import PieceProgress, of_points
from kernbench.errors import KernBenchError, MissingExtraError
from kernbench.support.pgraph import GraphStore, PropertyGraph
from kernbench.support.written_files import write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernbench.draw.content import Flat

Row = Mapping[str, Any]
"""A row of a table: values by column, each row with the same columns."""


@dataclass(slots=True)
class Evaluated(Shows):
    """The results of an evaluation.

    ``points`` are rows ``bench params topology run_id latency_ns kept_before error``; ``tables`` are rows by
    name; ``moved`` compares with a baseline (:func:`kernbench.api.sweeps.evaluation_gate.compare_runs`),
    None where none was asked for.
    """

    shown_by: ClassVar[str] = "evaluation:of_evaluation"
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
        return asdict(self)

    def flat(self) -> Flat:
        """Its first table, for CSV."""
        return flat_rows(next(iter(self.tables.values()), []))


class PointRun(Run):
    """The run of a point."""

    def by_cause(self) -> dict[str, float]:
        """ns of the critical path of its launches, or of the whole of a run of traffic, by cause."""
        return self.critical_path("all" if self.launches else None).by_cause()


@dataclass
class Evaluator:
    """The means of an evaluation. Points are kept, tagged runs; those kept already are not run again."""

    result: Evaluated
    params: Mapping[str, Any]
    """Values of the evaluation's own parameters."""
    store: GraphStore
    topology: str | None
    topo: dict[str, object]
    tags: list[str]
    fresh: bool
    fast: bool
    progress: PieceProgress | None
    how: Mapping[str, Any]
    """Further arguments of :func:`kernbench.sweep`: where points are run, and whether all of them."""
    runs: list[Run] = field(default_factory=list)
    _traffic: dict[str, Run] | None = None
    _why: str = ""

    def machine(self, topology: str | None = None, topo: Mapping[str, object] | None = None) -> PropertyGraph:
        """The compiled machine of a point with that topology."""
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
        """The verified runs of a bench with these parameters, in order; None for a point that failed.

        ``topology`` is by default the one that the user chose, ``device`` the first package. A point that
        failed fails the evaluation, unless ``optional``; :meth:`why` says why.
        """
        found = sweep(
            bench,
            topology or self.topology,
            verify=verify,
            device=device,
            topo={key: [value] for key, value in {**self.topo, **(topo or {})}.items()},
            points=[{"params": {key: [value] for key, value in point.items()}} for point in points],
            store=self.store,
            tags=self.tags,
            fresh=self.fresh,
            only_kept=self.fast,
            progress=self.progress,
            **{**self.how, "jobs": min(self.how["jobs"], len(points))},
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
        """The error of the last point that failed."""
        return self._why

    def traffic(self, name: str, flows: Sequence[Mapping[str, Any]]) -> PointRun | None:
        """Run flows that start together; errors call them ``name``."""
        graph, classes = described_machine(self.topology, self.topo)
        if self._traffic is None:
            known = (
                run
                for run in all_runs(self.store, project="")
                if run.bench == BENCH and run.info["status"] == "ok"
            )
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

    def table(self, name: str, rows: Sequence[Row]) -> None:
        """Write a table."""
        self.result.tables[name] = [dict(row) for row in rows]
        if rows:
            file = Path(self.result.folder) / f"{name}.csv"
            write_csv(file, list(rows[0]), rows)
            self.result.files.append(str(file))

    def figure(
        self, name: str, draw: Callable[[Figure], None], size: tuple[float, float] = (9.0, 5.0)
    ) -> None:
        """Write a figure of ``size`` inches, or note once what draws figures where that is not installed."""
        from kernbench.draw.figures import drawing

        try:
            figure = drawing.blank(size)
        except MissingExtraError as missing:
            if str(missing) not in self.result.notes:
                self.note(str(missing))
            return
        draw(figure)
        file = Path(self.result.folder) / f"{name}.png"
        drawing.save(figure, str(file))
        self.result.files.append(str(file))

    def note(self, text: str) -> None:
        """A sentence that a reader of the results must know."""
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
                "latency_ns": run.time_ns if run else None,
                "kept_before": kept,
                "error": error,
            }
        )
