"""Generated runs in numbers: made up once in a process, for all stores and all questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from kernbench_graph.entities import GraphPath
from kernbench_graph.errors import QueryError
from kernbench_graph.query.library import load_library
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.graph_records import runs, topologies
from tests.conformance.tensor_oracle import TENSORS
from tests.conformance.traffic_oracle import TRAFFIC

T = TypeVar("T")
LIBRARY = load_library(Path(__file__).parents[2] / "queries", proved=True)
SIZES = ["few", pytest.param("many", marks=pytest.mark.slow)]
"""How many generated runs a test asks about; see :func:`planned`."""
NAMES = ("small", "small", "large", "small.what-if", "it's")
"""Of topologies; each goes by more than one id."""


@dataclass(frozen=True)
class Case:
    """A run on its topology, and parameters for every question that is asked of one such run."""

    run: RunRecord
    topology: TopologyRecord
    params: dict[str, dict[str, Any]]


def examples(strategy: st.SearchStrategy[T], count: int, number: int = 20250101) -> list[T]:
    """``count`` examples of a strategy.

    They are the same for the same ``number`` in every process that has loaded the same modules: Hypothesis
    prefers constants that it finds in the code.
    """
    found: list[T] = []

    @seed(number)
    @settings(
        max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    assert len(found) >= count
    return found[:count]


@dataclass(frozen=True)
class Plan:
    """How many runs a store holds, and which questions it is asked about each of them."""

    runs: int
    every: int
    """Each question is asked about one run in so many, and each run is asked one question in so many."""
    share: int = 1
    """Of so many runs one is asked anything: a graph that is made for a run then answers more questions."""

    @property
    def times(self) -> int:
        """Runs that each question is asked about, at least."""
        return self.runs // self.share // self.every

    def asked(self, run: int) -> bool:
        """Whether anything is asked about a run, by number: three in a row are, or none of them."""
        return run // 3 % self.share == 0

    def asks(self, run: int, question: int) -> bool:
        """Whether a question is asked about a run, both by number.

        Of any ``every`` in a row that are asked one is, not always at the same place: runs repeat what they
        have.
        """
        at = run // 3 // self.share * 3 + run % 3
        return self.asked(run) and (at + at // self.every + question) % self.every == 0


def planned(size: str, store: GraphStore, every: int = 3, share: int = 1) -> Plan:
    """Of many runs 63, on every store, and each question goes to one in ``every`` of those that are asked.

    Of few, 2 in a folder, where each question goes to one of them, or 4 on a server.
    """
    if size == "few":
        return Plan(4, 1) if store.engines == ("neo4j",) else Plan(2, 2)
    return Plan(63, every, share)


@cache
def made_up(count: int, names: tuple[str, ...]) -> list[Case]:
    """``count`` made-up runs, up to three on one topology, with parameters for the questions ``names``."""

    @st.composite
    def several(draw: st.DrawFn) -> list[Case]:
        topology = draw(topologies())
        drawn = [draw(runs(topology)) for _ in range(draw(st.integers(1, 3)))]
        return [Case(run, topology, {n: parameters(draw, n, run, topology) for n in names}) for run in drawn]

    groups = examples(several(), 2 * count // 3 + 2)  # of two runs on the average
    if sum(map(len, groups)) < count:  # of which there may be fewer: Hypothesis prefers some numbers
        groups += examples(several(), count, 20250102)
    cases: list[Case] = []
    for number, group in enumerate(groups):
        for case in group:
            info = {
                **case.run.info,
                "id": f"r{len(cases)}",
                "topology": f"t{number}",
                "bench": case.run.info["bench"] if len(cases) % 3 == 0 else "gemm",
                "params": {"m": int(len(cases) % 5 == 0)},
                "status": "failed" if len(cases) % 7 == 3 else "ok",
                "verified": ("yes", "no", "not asked")[len(cases) // 3 % 3],  # runs of one topology alike
                "tags": ["swept"] if len(cases) % 4 < 3 else [],
            }
            topology = TopologyRecord(
                f"t{number}", NAMES[number % len(NAMES)], case.topology.spec, case.topology.tables
            )
            cases.append(Case(RunRecord(info, case.run.tables), topology, case.params))
    assert len(cases) >= count
    return cases[:count]


def parameters(draw: Any, name: str, run: RunRecord, topology: TopologyRecord) -> dict[str, Any]:
    """Parameters for a question that now and then select something."""
    kinds = ["", "dma_read", *topology.tables["Link"]["kind"].to_pylist(), "router", "no such"]
    components = topology.tables["Component"]["name"].to_pylist()
    places = sorted({*run.tables["Hop"]["resource"].to_pylist(), components[0]})
    sent = run.tables["Transaction"]
    values = {
        "launch": st.just("run"),
        "from_ns": st.just(0.0),
        "to_ns": st.just(-1.0),
        "transaction": st.integers(0, 8),
        "op": st.integers(0, 8),
        "other": st.integers(0, 8),
        "steps": st.integers(int(name.startswith("causes/")), 4),
        "kind": st.sampled_from(kinds),
        "cause": st.sampled_from(["", "memory", "transit"]),
        "measure": st.sampled_from(["betweenness", "pagerank"]),
        "by": st.sampled_from(["operation", "pe", "launch"]),
        "limit": st.integers(0, 5) | st.just(1000),
        "min_ns": st.integers(0, 1000).map(float),
        "resource": st.sampled_from(["", *components]),
        "src": st.sampled_from(sent["src"].to_pylist() or components),
        "dst": st.sampled_from(sent["dst"].to_pylist() or components),
        "times": st.sampled_from([1.0, 2.0, 16.0]),
        "bin_mm": st.sampled_from([0.5, 1.0, 3.0]),
    }
    placed: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "resource": lambda: st.sampled_from(places),
        "start_ns": lambda: st.integers(0, 40).map(float),
        "interval_ns": lambda: st.sampled_from([0.25, 64.0, 512.0]),
        "intervals": lambda: st.integers(1, 30),
        "from_ns": lambda: st.integers(0, 1000).map(float),
    }
    if name in ("bottleneck/queue-depth", "contention/met-on-link", "routing/uses-link"):
        values |= {key: make() for key, make in placed.items()}
    if name == "routing/bandwidth-over-a-cut":
        wired = sorted(set(topology.tables["Link"]["src"].to_pylist()))
        values["src"] = st.just(draw(st.sampled_from(wired[:-1])))
        values["dst"] = st.sampled_from(["", wired[-1]])
    if name in (*TRAFFIC, *TENSORS) and run.info["sim_ns"] >= 1.0:
        from_ns = draw(st.sampled_from([0.0, 0.0, 0.25, run.info["sim_ns"] / 4]))
        values["from_ns"] = st.just(from_ns)
        values["to_ns"] = st.sampled_from([-1.0, from_ns + 0.5, run.info["sim_ns"] / 2])
        values["kind"] = st.sampled_from(["", "", "dma_read", "no such"])
    return {key: draw(values[key]) for key in LIBRARY[name].params}


def expected(store: GraphStore, run: str, names: Iterable[str]) -> None:
    """Have one graph made for all questions that will be asked, rather than a larger one for each."""
    asked = [LIBRARY[name] for name in names]
    for engine in store.engines:
        if texts := [(one.text(engine), one.defaults()) for one in asked if one.engine == engine]:
            store.expect(run, texts, engine)


def _named(value: Any) -> Any:
    """A path as the names of its nodes, any other value as it is."""
    return [node["name"] for node in value.nodes] if isinstance(value, GraphPath) else value


def rows_asked(
    name: str, run: str | None, store: GraphStore, params: dict[str, Any]
) -> list[tuple[Any, ...]]:
    """The rows of an answer; none where a parameter names what does not exist, which an error must say."""
    try:
        rows = kb.ask(name, run, store, params).rows
        return [tuple(_named(value) for value in row) for row in rows]
    except QueryError as error:
        if ": there is no " in str(error) or ": the run has no " in str(error):
            return []
        raise


def same(rows: Sequence[tuple[Any, ...]], wanted: Sequence[tuple[Any, ...]]) -> bool:
    """Whether rows are those wanted, floats up to 1e-9: their sums depend on the order of rows."""

    def near(one: Any, other: Any) -> bool:
        if isinstance(one, float) and isinstance(other, float):
            return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
        return bool(one == other)

    return len(rows) == len(wanted) and all(
        len(row) == len(other) and all(map(near, row, other)) for row, other in zip(rows, wanted, strict=True)
    )
