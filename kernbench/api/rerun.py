"""Re-running a kept run on another machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kernbench.api.result import Run
from kernbench.api.running import bench_hash, program_of, run
from kernbench.api.topologies import mark_changes
from kernbench.api.traffic_runs import BENCH, PATTERN, traffic, traffic_hash
from kernbench.errors import UsageError
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.user_modules import code_hash, only


def rerun(
    kept: Run,
    graph: PropertyGraph,
    original: PropertyGraph,
    bench: str | Callable[[Any], Any] | None = None,
    code: Sequence[str] = (),
    **how: Any,
) -> Run:
    """Re-run ``kept`` on ``graph`` instead of ``original``; ``how`` goes to ``run`` or ``traffic``.

    ``bench`` is needed where the kept run's bench has no name. Of users' code only ``bench`` and the files
    and modules in ``code`` are run: what the kept run names may be any file that happens to lie here.
    ``UsageError`` when it cannot be re-run, or when bench or version have changed since: the result would say
    nothing about the kept run.
    """
    with only(_known_code(kept, bench, code)):
        return _rerun(kept, graph, original, bench, how)


def _rerun(
    kept: Run,
    graph: PropertyGraph,
    original: PropertyGraph,
    bench: str | Callable[[Any], Any] | None,
    how: dict[str, Any],
) -> Run:
    how_kept, params = kept.again, kept.params
    components = how_kept["components"]
    mark_changes(graph, how_kept.get("topo", {}))
    if kept.bench == BENCH:
        if bench is not None:
            raise UsageError(f"run '{kept.id}' is of traffic and has no bench; leave it out")
        _check(kept, traffic_hash(original, params, components))
        pattern = params.pop("pattern", None)
        flows = params.pop("flows") if pattern is None else f"{PATTERN}{pattern}"
        return traffic(flows, graph, params=params, components=components, **how)
    bench = bench or how_kept["bench"]
    if not bench:
        raise UsageError(
            f"run '{kept.id}' was of a function that has no name to find it by; give it with bench=, "
            "or put it into a file with @bench and run that"
        )
    try:
        program = program_of(bench, params)
    except UsageError as wrong:
        raise UsageError(f"run '{kept.id}' cannot be re-run: {wrong}") from wrong
    device, exact = how_kept["device"], bool(how_kept.get("exact"))
    _check(kept, bench_hash(program, str(original.properties["id"]), device, components, exact))
    # What was verified is verified again: on another machine accesses may race that did not.
    verify = kept.verified is True
    return run(bench, graph, verify, params=params, device=device, components=components, exact=exact, **how)


def _known_code(kept: Run, bench: str | Callable[[Any], Any] | None, code: Sequence[str]) -> dict[str, str]:
    """The hashes of the files and modules that a re-run may load: those that the caller names."""
    from kernbench.workloads.benches.user import parts, place_of

    noted: dict[str, str] = kept.again.get("code", {})
    known = {place: noted.get(place) or code_hash(place) for place, _, _ in map(parts, code)}
    if isinstance(bench, str):
        known[place_of(bench)] = code_hash(place_of(bench))
    return known


def _check(kept: Run, now: str) -> None:
    """Refuse to go on where the same command would not give ``kept`` any more."""
    if now != kept.info["config_hash"]:
        raise UsageError(
            f"run '{kept.id}' of '{kept.bench}' is out of date: its bench, its parameters or KernBench have "
            "changed since; re-run it first"
        )
