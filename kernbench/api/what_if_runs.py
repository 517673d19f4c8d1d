"""What-if: a kept run's time on a machine that is faster in places, estimated and then simulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from kernbench.analysis.routes.routing import kept_topology
from kernbench.analysis.windows.time_window import PARTIAL
from kernbench.api.advising import energy
from kernbench.api.open_runs import open_run
from kernbench.api.rerun import rerun as rerun_kept
from kernbench.api.result import Run
from kernbench.api.running import RunVerificationError
from kernbench.api.shown import Found
from kernbench.api.stores import Store, borrowed
from kernbench.api.topologies import described_machine
from kernbench.engine.run_options import Progress
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore, PropertyGraph, RunNotFoundError

if TYPE_CHECKING:
    from kernbench.analysis.path.path_steps import CriticalPath
    from kernbench.analysis.what_if.bounds import Bounds

TAG = "what-if"
"""The tag of confirming runs, and the suffix of their topology's name."""
FREE = "free"
_LONGEST_NAME = 64
_SMALLEST_NS = 1e-6
"""Differences below are rounding."""

Speed = float | str
"""Times as fast, or ``"free"``."""


class WhatIf(Found):
    """A faster machine, or candidates for one: see :func:`what_if` and :func:`what_if_candidates`."""

    shown_by = "what_if:content"


def what_if(
    run: str | None = None,
    changes: Mapping[str, Speed] | None = None,
    store: Store = None,
    rerun: bool = True,
    *,
    launch: int | str | None = "all",
    bench: str | Callable[[Any], Any] | None = None,
    topo: Mapping[str, object] | None = None,
    code: Sequence[str] = (),
    progress: Progress | None = None,
) -> WhatIf:
    """Estimate the time of the kept run ``run`` with ``changes``, then measure it in a real run.

    Args:
        run: An id or a reference such as ``last``; by default the newest run that is not tagged ``what-if``.
        changes: What is faster, as the topology file's ``overrides`` say it: a component, a link ``a->b``,
            ``kind:NAME``, ``wire:NAME``, a group such as ``sip0.cube3``, or several of these with `` + ``
            between them, each with how many times as fast, or ``"free"``:
            ``{"kind:router_mesh": 2.0, "sip0.cube0.pe0.pe_gemm": "free"}``. Links get twice the bandwidth and
            half the delay by 2; one of the two with ``.width`` or ``.delay``: ``{"wire:noc.width": 2.0}``.
        store: An open store, a URL, or None for the default one.
        rerun: Compile the run's machine again with the changes and run the bench, or the traffic, on it; that
            run is kept with the tag ``what-if``.
        launch: A launch's number, ``"all"`` launches, ``"setup"``, or ``"run"``, the whole run.
        bench: Needed where the kept run was of a function.
        topo: Changes of the topology's keys, such as ``{"cube.hbm.channel_gbs": 64}``; only a real run shows
            what they do.
        code: Users' files and modules that may be run again, as the kept run names them: of its bench,
            components, arbiters and algorithms. Others are not run: a kept run may come from elsewhere.
        progress: As for :func:`run`.

    Returns:
        Times are ns.

        - ``run_id bench topology launch problem``, and ``changes``, each with ``where``, ``speed`` and
            ``of_links`` (``width``, ``delay``, ``width and delay``; empty where it means no links), or
            ``key`` and ``value``; ``problem`` is not empty where the run's values are wrong or accesses race;
        - ``before`` and ``estimate``, each ``ns`` and ``by_cause`` (see
            :mod:`kernbench.analysis.what_if.retiming` on what an estimate leaves out); with ``topo`` there is
            no estimate, and it is None;
        - ``measured``: ``run_id topology ns by_cause`` of the new run, or None;
        - in ``before`` and ``measured`` also ``energy_pj``, that of the whole run, None in ``before``
            where nothing is run;
        - ``saved_ns``: of the measured run or, without one, of the estimate;
        - ``difference_ns``: estimate less measured, or None;
        - ``slower_although_better``: whether the new run took longer although all that is changed of the
            machine is better; None without a run.

    Raises:
        RunVerificationError: The run was verified, and on the changed machine values are wrong, or accesses
            race.
        UsageError: Changes mean nothing on the machine, the run has no trace or cannot be run again, or the
            same command would not give it any more.
    """
    from kernbench.analysis.what_if.retiming import what_if as estimated
    from kernbench.hardware.topology.better import only_better
    from kernbench.hardware.topology.overrides import FREE as FREE_SPEED
    from kernbench.hardware.topology.overrides import of_links

    wanted = {where: _speed(where, speed) for where, speed in (changes or {}).items()}
    if not wanted and not topo:
        raise UsageError("no changes; name what is faster, such as {'kind:router_mesh': 2.0}")
    if topo and not rerun:
        raise UsageError("a change of a topology key cannot be estimated; leave out rerun=False (--no-rerun)")
    with borrowed(store) as opened:
        kept, original = _open(run, opened)
        factors = [(where, FREE_SPEED if speed == FREE else float(speed)) for where, speed in wanted.items()]
        before = kept.critical_path(launch)
        estimate = None if topo else estimated(before, original, factors, _bounds(kept, before, launch))
        measured: dict[str, Any] | None = None
        slower: bool | None = None
        before_pj: float | None = None
        if rerun:
            before_pj = energy(kept)["energy_pj"]
            changed = kept_topology(spec_with(str(original.properties["spec"]), wanted))
            if topo:
                changed = described_machine(changed, topo)[0]
            new = rerun_kept(
                kept, changed, original, bench, code, store=opened, tags=[TAG], progress=progress
            )
            path = new.critical_path(launch)
            slower = path.ns > before.ns + _SMALLEST_NS and only_better(original, changed)
            measured = {
                "run_id": new.id,
                "topology": new.topology,
                "ns": path.ns,
                "by_cause": path.by_cause(),
                "energy_pj": energy(new)["energy_pj"],
            }
    before_ns = before.ns
    after = measured["ns"] if measured else estimate.ns if estimate else before_ns
    return WhatIf(
        {
            **kept.window_facts(kept.window(launch)),
            "problem": kept.problem,
            "changes": [
                *(
                    {"where": where, "speed": speed, "of_links": of_links(original, where)}
                    for where, speed in wanted.items()
                ),
                *({"key": key, "value": str(value)} for key, value in (topo or {}).items()),
            ],
            "before": {
                "ns": before_ns,
                "by_cause": before.by_cause(),
                "energy_pj": before_pj,
            },
            "estimate": None if estimate is None else {"ns": estimate.ns, "by_cause": estimate.by_cause},
            "measured": measured,
            "saved_ns": before_ns - after,
            "difference_ns": estimate.ns - after if estimate and measured else None,
            "slower_although_better": slower,
        }
    )


def what_if_candidates(
    run: str | None = None,
    store: Store = None,
    *,
    launch: int | str | None = "all",
    locations: int = 10,
    measure: int = 0,
    bench: str | Callable[[Any], Any] | None = None,
    code: Sequence[str] = (),
    progress: Progress | None = None,
) -> WhatIf:
    """Candidates for a change: estimates for everything on the critical path of the kept run ``run``.

    Args:
        run: As for :func:`what_if`.
        store: An open store, a URL, or None for the default one.
        launch: A launch's number, ``"all"`` launches, ``"setup"``, or ``"run"``, the whole run.
        locations: How many single components and links to list, those with most time on the path; all kinds
            are listed beside them.
        measure: For how many of the candidates, from the first, to run the bench, or the traffic, on a
            machine on which they are twice as fast. These runs are not kept.
        bench: Needed to measure where the kept run was of a function.
        code: As for :func:`what_if`.
        progress: As for :func:`run`.

    Returns:
        ``run_id bench topology launch``, ``ns`` (of the run, or of the window that ``launch`` names) and
        ``candidates``, the one that saves most when free first. Each has ``where``, ``on_path_ns``,
        ``twice_ns twice_saved_ns free_ns free_saved_ns``, estimates of what all would take with it twice as
        fast, or free, and ``measured_saved_ns``: what it saved in a real run with it twice as fast, None
        where that was not measured, or where values were wrong then, and ``slower_although_better``, whether
        that is less than nothing, None likewise. ``problem`` is that of the kept run, if
        its values are wrong or its accesses race. Times are ns.

    Raises:
        UsageError: The run has no trace, or one is to be measured and it cannot be run again.
    """
    from kernbench.analysis.what_if.retiming import candidates

    with borrowed(store) as opened, borrowed("memory:" if measure else opened) as aside:
        kept, original = _open(run, opened)
        path = kept.critical_path(launch)
        found = candidates(path, original, locations, _bounds(kept, path, launch))
        before = path.ns
        saved: list[float | None] = []
        for one in found[:measure]:
            changed = kept_topology(spec_with(str(original.properties["spec"]), {one.where: 2.0}))
            try:
                new = rerun_kept(kept, changed, original, bench, code, store=aside, progress=progress)
            except RunVerificationError:  # what gives wrong values saves nothing
                saved.append(None)
                continue
            saved.append(before - new.critical_path(launch).ns)
    return WhatIf(
        {
            **kept.window_facts(kept.window(launch)),
            "problem": kept.problem,
            "ns": before,
            "candidates": [
                {
                    "where": one.where,
                    "on_path_ns": one.on_path_ns,
                    "twice_ns": one.twice_ns,
                    "twice_saved_ns": before - one.twice_ns,
                    "measured_saved_ns": measured,
                    "slower_although_better": None if measured is None else measured < -_SMALLEST_NS,
                    "free_ns": one.free_ns,
                    "free_saved_ns": before - one.free_ns,
                }
                for one, measured in zip_longest(found, saved)
            ],
        }
    )


def _speed(where: str, speed: Speed) -> Speed:
    """``speed`` as a number or ``free``."""
    from kernbench.hardware.topology.overrides import FREE as FASTEST

    if speed == FREE:
        return FREE
    try:
        value = float(speed)
    except (TypeError, ValueError):
        value = 0.0
    if not 1 / FASTEST <= value <= FASTEST:
        raise UsageError(
            f"'{where}={speed}': expected a number from {1 / FASTEST:g} to {FASTEST:g}, or 'free'"
        )
    return value


def _bounds(kept: Run, path: CriticalPath, launch: int | str | None) -> Bounds | None:
    """How much work each part did in the window of ``launch``; None if the path has no steps."""
    from kernbench.analysis.what_if.bounds import Bounds

    return Bounds(kept.tables, path, kept.window(launch).launches) if path.steps else None


def _open(run: str | None, store: GraphStore) -> tuple[Run, PropertyGraph]:
    """A kept run and the machine that it ran on."""
    kept = _newest(store) if run is None else open_run(run, store)
    if kept.info["status"] == PARTIAL:
        raise UsageError(f"run '{kept.id}' is partial: it was stopped; run it to its end first")
    record = store.load_topology(str(kept.info["topology_id"]))
    graph = kept_topology(record.spec)
    if graph.properties["id"] != record.id:
        raise UsageError(
            f"the topology of run '{kept.id}' compiles differently in this version; re-run it first"
        )
    return kept, graph


def _newest(store: GraphStore) -> Run:
    """The newest run that no what-if made: the machine of one that it made has changes already."""
    kept = open_run("last", store)
    newest, back = kept.id, 0
    while TAG in kept.tags:
        back += 1
        try:
            kept = open_run(f"last~{back}", store)
        except RunNotFoundError:
            raise UsageError(f"all runs here were made by what-if; name one, such as {newest}") from None
    return kept


def spec_with(spec: str, changes: Mapping[str, Speed]) -> str:
    """A topology's specification with further overrides, under a name of its own."""
    content: dict[str, Any] = json.loads(spec)
    name = str(content["name"]).removesuffix(f".{TAG}")
    content["name"] = f"{name[: _LONGEST_NAME - len(TAG) - 1]}.{TAG}"
    more = [
        {"where": where, "free": True} if speed == FREE else {"where": where, "speed": speed}
        for where, speed in changes.items()
    ]
    content["overrides"] = [*content.get("overrides", []), *more]
    return json.dumps(content)
