"""Running again what a kept run ran, on another machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernbench.api.result import Run
from kernbench.api.running import config_hash, program_of, run
from kernbench.api.traffic import BENCH, PATTERN, traffic
from kernbench.api.traffic import config_hash as traffic_hash
from kernbench.errors import UsageError
from kernbench.pgraph import PropertyGraph


def run_again(
    kept: Run,
    graph: PropertyGraph,
    original: PropertyGraph,
    bench: str | Callable[[Any], Any] | None = None,
    **how: Any,
) -> Run:
    """Run what ``kept`` ran, on ``graph`` instead of ``original``; ``how`` goes to ``run`` or ``traffic``.

    ``bench`` is needed where the kept run's cannot be named. ``UsageError`` when it cannot be run again, or
    when bench or version have changed since: what came out would say nothing about the kept run.
    """
    again, params = kept.again, kept.params
    components = again["components"]
    if kept.bench == BENCH:
        if bench is not None:
            raise UsageError(f"run '{kept.id}' is of traffic and has no bench; leave it out")
        _check(kept, traffic_hash(original, params, components))
        pattern = params.pop("pattern", None)
        flows = params.pop("flows") if pattern is None else f"{PATTERN}{pattern}"
        return traffic(flows, graph, params=params, components=components, **how)
    bench = bench or again["bench"]
    if not bench:
        raise UsageError(
            f"run '{kept.id}' was of a function that has no name to find it by; give it with bench=, "
            "or put it into a file with @bench and run that"
        )
    try:
        program = program_of(bench, params)
    except UsageError as wrong:
        raise UsageError(f"run '{kept.id}' cannot be run again: {wrong}") from wrong
    device = again["device"]
    _check(kept, config_hash(program, original, device, components))
    return run(bench, graph, params=params, device=device, components=components, **how)


def _check(kept: Run, now: str) -> None:
    """Refuse to go on where the same command would not give ``kept`` any more."""
    if now != kept.info["config_hash"]:
        raise UsageError(
            f"run '{kept.id}' of '{kept.bench}' is out of date: its bench, its parameters or KernBench have "
            "changed since; run it again first"
        )
