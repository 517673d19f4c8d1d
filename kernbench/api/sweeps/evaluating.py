"""Evaluations: their points are run or found, their tables, figures and page written to a folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernbench.api.stores import Store, borrowed, keeper
from kernbench.api.sweeps.evaluation_gate import baselines, compare_runs
from kernbench.api.sweeps.evaluator import Evaluated, Evaluator
from kernbench.draw.progress import PieceProgress
from kernbench.errors import BenchError, KernBenchError
from kernbench.support.bounds import check_number
from kernbench.support.user_code import raised, raised_at
from kernbench.support.user_greenlets import run_user
from kernbench.support.user_modules import users_code
from kernbench.support.written_files import writing
from kernbench.version import __version__
from kernbench.workloads.benches.params import described

FAST_VARIABLE = "MILESTONE_FAST"
"""Where it is 1, evaluations draw from the points that are kept, and run nothing."""


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

    Without matplotlib, no figures are drawn; a note says how to install it.

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
    """
    from kernbench.api.evaluations import resolve

    check_number("threshold", threshold)
    spec = resolve(name)
    values = spec.resolve_params(params)
    began = time.perf_counter()
    fast = os.environ.get(FAST_VARIABLE) == "1" if fast is None else fast
    folder = Path(out) if out is not None else Path(f"evaluation-{spec.name}")
    own = f"evaluate-{spec.name}"
    with borrowed(keeper(store)) as opened:
        before = None if against is None else baselines(against, opened, [own])
        where = {} if fast else {"executor": executor, "scheduler": scheduler}
        work = Evaluator(
            result=Evaluated(spec.name, str(folder)),
            params=values,
            store=opened,
            topology=topology,
            topo=dict(topo or {}),
            tags=[own, *tags],
            fresh=(fresh or against is not None) and not fast,
            fast=fast,
            progress=progress,
            how={**where, "jobs": jobs, "exact": exact},
        )
        folder.mkdir(parents=True, exist_ok=True)
        with users_code():
            try:
                run_user(lambda: spec.run(work))
            except (KernBenchError, KeyboardInterrupt):
                raise
            except BaseException as error:
                at = f" ({line})" if (line := raised_at(error)) else ""
                raise BenchError(f"evaluation '{spec.name}' {raised(error)}{at}") from error
        result = work.result
        if before is not None:
            result.moved = compare_runs(work.runs, before, threshold)
        result.wall_s = time.perf_counter() - began
        _write_results(result, folder, against, threshold)
    return result


def evaluations() -> list[dict[str, Any]]:
    """The shipped evaluations: ``name description params``."""
    from kernbench.api.evaluations import list_all

    return [described(spec, "description") for spec in list_all()]


def _write_results(result: Evaluated, folder: Path, against: str | None, threshold: float) -> None:
    from kernbench.export.html.evaluation_page import page

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
    text = json.dumps(result.as_dict(), indent=1, ensure_ascii=False, default=str)
    with writing(results) as partial:
        partial.write_text(text + "\n", encoding="utf-8")
