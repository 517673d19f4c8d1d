"""The run that stores are measured with has a critical path, as a simulated one has."""

from __future__ import annotations

from math import fsum

import pytest

from kernbench.analysis.path.critical_path import critical_path, trace_index
from kernbench.support.pgraph import open_store, topology_record
from tests.compiled import compiled
from tools.made_up_run import made_up_run


def test_its_critical_path_can_be_walked() -> None:
    graph = compiled()
    with open_store("memory:") as store:
        run = store.load(store.keep(made_up_run(graph, 3000), topology_record(graph)))
    sim_ns = float(run.info["sim_ns"])
    for launch in (None, 0):
        path = critical_path(trace_index(run.tables, run.info), sim_ns, launch)
        assert fsum(step.ns for step in path.steps) == pytest.approx(path.ns, abs=1e-6)
        assert path.by_cause().get("unexplained", 0.0) < 1e-6
        assert len(path.steps) > 100
    # A record of another program may have the table of launches alone.
    alone = {name: value for name, value in run.info.items() if name != "launches"}
    assert critical_path(trace_index(run.tables, alone), sim_ns, 0).steps == path.steps
