"""One thing measured in a process of its own, for tools/measure_store.py: prints lines of JSON.

names                               the questions of the library
push URL HOPS ID                    keep a made-up run, or for no hops a simulated one; have its graph built
beside URL RUNS HOPS                keep so many made-up runs of one machine, each with a seed of its own
ask URL NAME REPEATS ENOUGH LIMIT   a question, or all of them where NAME is empty
remove URL ID                       remove a run
history FOLDER RUNS                 the graph over so many runs, made, and made again with one more
many URL RUNS HOPS                  keep so many runs of one machine; a question of the first and of the last
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernbench_graph.archive.canonical import canonical_tables
from kernbench_graph.archive.record import complete_info
from kernbench_graph.projection import Projection

import kernbench as kb
from kernbench.analysis.on_demand import add_answers
from kernbench.api.asking import library
from kernbench.api.stores import open_store
from kernbench.api.topologies import load_topology
from kernbench.support.pgraph import (
    GraphStore,
    Question,
    RunRecord,
    StoreError,
    TopologyRecord,
    ask,
    topology_record,
)
from tools.made_up_run import HOT_LINK, made_up_run

SIMULATED = "gpt3-qkv"
KNOWN: dict[str, Any] = {
    "resource": HOT_LINK,
    "bench": "made-up",
    "op": 1000,
    "other": 999,
    "before": "run0",
    "after": "run1",
    "src": "sip0.cube0.pe0.pe_dma",
    "dst": "sip1.cube15.hbm_ctrl.pe3",
    "other_src": "sip0.cube1.pe0.pe_dma",
    "other_dst": "sip1.cube14.hbm_ctrl.pe3",
    "lost": "sip0.cube5",
    "within_ns": 100.0,
    "key": "cube.hbm.channel_gbs",
}
"""Values of the parameters without a default; ``transaction`` is one that waited long."""


def tell(**values: Any) -> None:
    print(json.dumps(values), flush=True)


ASKED_OF_MANY = "contention/slowest-transactions"

LATE = """MATCH (:Run {id: $run})-[:SENT]->(a:Transaction)-[w:WAITED_FOR]->(:Transaction)
RETURN a.number AS id ORDER BY w.ns DESC, id LIMIT 1"""
EVERYTHING = "MATCH (:Run {id: $run})-[r]->() RETURN count(r) AS n"
"""Names no type, so that all of a run's graph has to be there."""


def memory(name: str) -> int:
    """``VmHWM`` (the most so far) or ``VmRSS`` (now) of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def timed(call: Callable[..., Any], *arguments: Any) -> float:
    begun = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - begun


def simulated(run_id: str) -> tuple[RunRecord, TopologyRecord]:
    """The largest of the shipped benches, whose trace is one that has a critical path."""
    with open_store("memory:") as store:
        run = kb.run(SIMULATED, store=store)
        record = store.load(run.id)
        machine = store.load_topology(str(run.info["topology_id"]))
        return RunRecord({**record.info, "id": run_id}, record.tables), machine


def made_up(hops: int, run_id: str) -> tuple[RunRecord, TopologyRecord]:
    graph = load_topology()
    return made_up_run(graph, hops, id=run_id), topology_record(graph)


def push(url: str, hops: int, run_id: str) -> None:
    run, machine = made_up(hops, run_id) if hops else simulated(run_id)
    rows = {True: 0, False: 0}
    complete = RunRecord(
        complete_info(run.info, machine), canonical_tables("run", run.tables, f"run '{run_id}'")
    )
    projection = Projection(machine, complete)
    for part in (*projection.parts("topology"), *projection.parts("run")):
        rows[part.ends is not None] += part.data.num_rows
    with open_store(url) as store:
        store.runs()  # connected, and whatever that loads is loaded
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # VmHWM begins anew
        before = memory("VmRSS")
        kept = timed(store.keep, run, machine)
        most = memory("VmHWM")
        built = free = 0.0
        if store.engines != ("neo4j",):
            built = timed(
                lambda: store.query(
                    EVERYTHING, {"run": run_id}, run=run_id, engine=store.engines[-1], proved=True
                )
            )
            free = timed(lambda: store.query("RETURN 1 AS one", run=run_id))
    tell(
        hops=run.tables["Hop"].num_rows,
        waits=run.tables["WaitedFor"].num_rows,
        nodes=rows[False],
        relationships=rows[True],
        kept_s=kept,
        built_s=built,
        free_s=free,
        memory_before=before,
        memory_most=most,
    )


def beside(url: str, runs: int, hops: int) -> None:
    graph = load_topology()
    machine, ids = topology_record(graph), [f"beside{number:02}" for number in range(runs)]
    with open_store(url) as store:
        for seed, name in enumerate(ids, start=2):
            store.keep(made_up_run(graph, hops, seed, id=name), machine)
    tell(ids=ids, hops=hops)


def values(store: GraphStore, question: Question) -> dict[str, Any]:
    """Parameters that must be given; ``KeyError`` when a question has one that is not known here."""
    needed = [name for name, p in question.params.items() if p.default is None or p.refers == "run"]
    known = dict(KNOWN)
    if "transaction" in needed:
        known["transaction"] = store.query(LATE, run="run1", engine=store.engines[-1], proved=True).rows[0][0]
    return {name: known[name] for name in needed}


def ask_one(
    store: GraphStore, question: Question, given: dict[str, Any], limit_s: float, of: str = ""
) -> int:
    """Ask as ``kernbench query`` does; the number of rows."""
    bound = question.bind(given)
    run = None if question.scope == "history" else of or _run_for(question)
    if question.works_out and run is not None:
        add_answers(store, run, question.works_out, bound)
    return len(ask(store, question, run, limit_s, **bound))


def _run_for(question: Question) -> str:
    """The large run; it is made up, and has no critical path."""
    return "run0" if question.name.startswith("critical-path/") else "run1"


def ask_all(url: str, names: str, repeats: int, enough_s: float, limit_s: float) -> None:
    """Ask the questions ``names``, with commas between them, or all; named ones that are asked once, cold."""
    store: GraphStore | None = None
    for question in library().values():
        if names and question.name not in names.split(","):
            continue
        found: list[float] = []
        row: dict[str, Any] = {"name": question.name, "rows": None, "said": ""}
        try:
            if names and repeats == 1:  # cold: what must be given is looked up with a store of its own
                with open_store(url) as other:
                    given = values(other, question) if "transaction" in question.params else {}
                given = given or values(None, question)  # type: ignore[arg-type]
            else:
                store = store or open_store(url)
                given = values(store, question)
                ask_one(store, question, given, limit_s)
            while len(found) < repeats and (not found or sum(found) < enough_s):
                begun = time.perf_counter()
                store = store or open_store(url)
                row["rows"] = ask_one(store, question, given, limit_s)
                found.append(time.perf_counter() - begun)
        except KeyError as error:
            row["said"] = f"no value for {error}"
        except StoreError as error:
            row["said"] = str(error)
        tell(**row, s=sorted(found))
    if store is not None:
        store.close()


def remove(url: str, run_id: str) -> None:
    with open_store(url) as store:
        tell(s=timed(store.remove, run_id))


def history(folder: str, runs: int) -> None:
    graph = load_topology()
    machine, run = topology_record(graph), made_up_run(graph, 50_000)
    used = "MATCH (:Run)-[:USED]->(u:Use) RETURN u.kind AS kind, sum(u.bytes) AS bytes ORDER BY kind"

    def keep(store: GraphStore, number: int) -> None:
        store.keep(RunRecord({**run.info, "id": f"r{number:05}"}, {"Use": run.tables["Use"]}), machine)

    def first_answer() -> float:
        with open_store(folder) as store:
            store.runs()
            return timed(lambda: store.query(used, timeout_s=600.0, engine=store.engines[-1], proved=True))

    with open_store(folder) as store:
        for number in range(runs):
            keep(store, number)
    whole = first_answer()
    with open_store(folder) as store:
        keep(store, runs)
    grown = first_answer()
    tell(runs=runs, used=run.tables["Use"].num_rows, whole_s=whole, grown_s=grown, again_s=first_answer())


def many(url: str, runs: int, hops: int) -> None:
    graph = load_topology()
    machine, question = topology_record(graph), library()[ASKED_OF_MANY]
    kept: list[float] = []
    first: list[float] = []
    with open_store(url) as store:
        store.runs()
        for number in range(runs):
            name = f"many{number:04}"
            kept.append(timed(store.keep, made_up_run(graph, hops, number, id=name), machine))
            if number in (0, 1, runs - 1):  # the first of all builds the topology's graph as well
                first.append(timed(ask_one, store, question, {}, 600.0, name))
        again = [timed(ask_one, store, question, {}, 600.0, name) for name in ("many0000", name)]
        across = library()["history/slower-where"]
        over_all = timed(ask_one, store, across, {"before": "many0000", "after": name}, 600.0)
    tell(
        question=ASKED_OF_MANY,
        runs=runs,
        hops=hops,
        kept_s=sum(kept),
        kept_first_s=kept[1],
        kept_last_s=kept[-1],
        first_s=first,
        again_s=again,
        over_all_s=over_all,
    )


def main(what: str, *rest: str) -> None:
    if what == "names":
        tell(names=list(library()))
    elif what == "push":
        push(rest[0], int(rest[1]), rest[2])
    elif what == "beside":
        beside(rest[0], int(rest[1]), int(rest[2]))
    elif what == "ask":
        ask_all(rest[0], rest[1], int(rest[2]), float(rest[3]), float(rest[4]))
    elif what == "remove":
        remove(rest[0], rest[1])
    elif what == "history":
        history(rest[0], int(rest[1]))
    elif what == "many":
        many(rest[0], int(rest[1]), int(rest[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
