"""Pushing looks nodes up by their unique keys, and takes the same memory however large the run is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graph.archive import complete_info
from graph.columns import canonical_tables
from graph.store import RunRecord, open_store
from graph.stores.neo4j_address import parse
from graph.stores.neo4j_rows import run_batches
from graph.stores.neo4j_server import Server
from tests.conformance.graph_records import sample

SLOW = ("Scan", "CartesianProduct", "Eager", "HashJoin")


def operators(plan: dict[str, Any]) -> list[str]:
    """Names of a plan's operators, those below included."""
    below = [name for child in plan.get("children", []) for name in operators(child)]
    return [str(plan["operatorType"]).partition("@")[0], *below]


@pytest.mark.slow
def test_relationships_are_joined_by_index(neo4j_url: str) -> None:
    run, topology = sample(id="a")
    with open_store(neo4j_url) as store:
        store.keep(run, topology)  # so that the indexes are there and the labels are known
    record = RunRecord(complete_info(run.info, topology), canonical_tables("run", run.tables, "run"))
    server = Server(parse(neo4j_url), neo4j_url)
    joins = [batch for batch in run_batches("InRun7", 7, record, topology) if batch.joins]
    assert len(joins) > 12
    for batch in joins:
        text, bound = f"EXPLAIN {batch.cypher}", batch.parameters()
        plan = server.read(lambda tx, t=text, b=bound: tx.run(t, b).consume().plan)  # type: ignore[misc]
        names = operators(plan)
        assert sum("NodeUniqueIndexSeek" in name for name in names) == 2, names
        assert not [name for name in names if name.endswith(SLOW[0]) or name in SLOW[1:]], names
    server.close()


def test_a_relationship_whose_end_is_missing_is_not_made_elsewhere(neo4j_url: str) -> None:
    """Positions count in a batch: with a node missing, all would shift."""
    run, topology = sample(id="a")
    with open_store(neo4j_url) as store:
        store.keep(run, topology)
    server = Server(parse(neo4j_url), neo4j_url)
    number = server.read(
        lambda tx: tx.run(
            "MATCH (k:KernbenchRun {key: $key}) RETURN k.number AS n", key=f"{parse(neo4j_url).name}/a"
        ).single(strict=True)["n"]
    )
    record = RunRecord(complete_info(run.info, topology), canonical_tables("run", run.tables, "run"))
    hops = next(batch for batch in run_batches(f"InRun{number}", number, record, topology)
                if "`HOP`" in batch.cypher)  # fmt: skip
    bound = hops.parameters()
    for ends in ("sources", "targets"):
        unknown: Any = 99 if ends == "sources" else "no->where"
        wrong = bound | {ends: [unknown, *bound[ends][1:]]}
        assert server.write(lambda tx, b=wrong: tx.run(hops.cypher, b).single()["made"]) == 0  # type: ignore[misc]
    server.close()


PUSH = """
import sys
from pathlib import Path
from kernbench.api.topologies import load_topology, topology_record
from graph.archive import complete_info
from graph.columns import canonical_tables
from graph.store import RunRecord, open_store
from tools.made_up_run import made_up_run
def memory(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
graph = load_topology()
machine, run = topology_record(graph), made_up_run(graph, int(sys.argv[2]))
run = RunRecord(run.info, canonical_tables("run", run.tables, "run"))  # as a store hands it out
with open_store(sys.argv[1]) as store:
    store.runs()
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    store.keep(run, machine)
    print(memory("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured by Linux's /proc")
def test_memory_does_not_grow_with_the_run(neo4j_url: str) -> None:
    more = [
        float(subprocess.run([sys.executable, "-c", PUSH, f"{neo4j_url}{hops}", str(hops)], check=True,
                             capture_output=True, text=True, cwd=Path(__file__).parents[2]).stdout)
        for hops in (20_000, 220_000)
    ]  # fmt: skip
    assert more[1] < more[0] + 60, more  # MB; 200,000 hops as Python lists would be 100 more
