"""Instruments of a user's: told what happens, their tables kept and asked, and free where there are none."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import kernbench as kb
from kernbench.engine.core.instrument import Instrument, observing
from kernbench.errors import KernBenchError, UsageError

ABOUT = """MATCH (:Run {id: $run})-[:RECORDED]->(e:Reading {kind: 'moved'})-[:ABOUT]->(u:Use)
           RETURN u.resource AS resource, e.bytes AS bytes, e.share AS share ORDER BY resource"""


class Moved(kb.Instrument):
    """Bytes that hops moved through each component and link."""

    table = "moved"

    def started(self, resources: Sequence[Any], clock: Any) -> None:
        self.resources, self.clock = resources, clock
        self.bytes: Counter[str] = Counter()
        self.launches: list[tuple[str, float]] = []
        self.ops: list[int] = []

    def transaction_done(self, transaction: Any) -> None:
        assert transaction.t_done == self.clock.now
        for hop in transaction.rows:
            self.bytes[self.resources[hop.resource].resource] += hop.bytes

    def op_done(self, op: Any) -> None:
        self.ops.append(op.id)

    def launch_started(self, launch: int, name: str, pes: int, t_start: float) -> None:
        self.launches.append((name, t_start))

    def rows(self) -> Iterator[Mapping[str, object]]:
        for resource, moved in sorted(self.bytes.items()):
            yield {"resource": resource, "bytes": np.int64(moved), "share": moved / max(self.bytes.values())}
        yield {"launch": 0, "share": 1, "text": "all"}


@pytest.mark.daily("folder-True", "memory:-False")
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("kept", ["memory:", "folder"])
def test_a_table_is_kept_and_asked_on_both_engines(kept: str, check: bool, tmp_path: Path) -> None:
    moved = Moved()
    with kb.open_store("memory:" if kept == "memory:" else str(tmp_path)) as store:
        run = kb.run("gemm-single-pe", "minimal", store=store, check=check, instruments=[moved])
        hops = run.hops
        wanted: Counter[str] = Counter()
        for resource, nbytes in zip(hops["resource"].tolist(), hops["bytes"].tolist(), strict=True):
            wanted[resource] += nbytes
        assert moved.bytes == wanted
        assert moved.ops == run.ops["number"].tolist()
        assert moved.launches == [(one["kernel"], one["t_start"]) for one in run.launches]
        rows = [(name, n, n / max(wanted.values())) for name, n in sorted(wanted.items())]
        for engine in store.engines:
            assert run.cypher(ABOUT, engine=engine).rows == rows
        text = "MATCH (e:Reading)-[:ABOUT]->(l:Launch) RETURN e.share AS share, e.text AS text"
        assert run.cypher(text).rows == [(1.0, "all")]
        assert run.frame("Reading")["kind"].tolist() == ["moved"] * (len(rows) + 1)
        assert ("Reading", 0) in run.graph


@pytest.mark.slow
def test_readings_of_two_runs_are_compared(tmp_path: Path) -> None:
    text = """MATCH (:Run {id: $run})-[:RECORDED]->(a:Reading)-[:ABOUT]->(u:Use {resource: 'host.cpu'})
              MATCH (:Run {id: $other})-[:RECORDED]->(b:Reading)-[:ABOUT]->(v:Use {resource: 'host.cpu'})
              RETURN a.bytes AS here, b.bytes AS there, b.share AS share"""
    with kb.open_store(str(tmp_path)) as store:
        first, second = (
            kb.run("gemm-single-pe", "minimal", store=store, instruments=[Moved()]) for _ in range(2)
        )
        found = {engine: first.cypher(text, engine=engine, other=second.id).rows for engine in store.engines}
        assert list(found.values()) == [[(0, 0, 0.0)]] * 2


@pytest.mark.neo4j
def test_a_table_is_asked_on_a_server(neo4j_url: str) -> None:
    moved = Moved()
    with kb.open_store(neo4j_url) as store:
        for detail in ("full", "summary"):
            run = kb.run("gemm-single-pe", "minimal", store=store, detail=detail, instruments=[moved])
            assert [row[:2] for row in run.cypher(ABOUT).rows] == sorted(moved.bytes.items())
            assert run.frame("Reading")["kind"].tolist()[0] == "moved"
            store.remove(run.id)


def test_one_is_named_on_the_command_line(cli: Callable[..., Any], workdir: Path) -> None:
    text = "import kernbench as kb\n\nclass One(kb.Instrument):\n    table = 'one'\n"
    text += "    def rows(self): return [{'pj': 2.5}]\n"
    (workdir / "one.py").write_text(text, encoding="utf-8")
    flow = '[{"src": "host", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 64}]'
    (workdir / "flows.json").write_text(flow, encoding="utf-8")
    for command in (("run", "--bench", "gemm-single-pe"), ("traffic", "flows.json")):
        for named in ("one.py", "one.py:One", "one:One"):
            done = cli(*command, "--topology", "minimal", "--instrument", named)
            assert done.status == 0, done
        text = "MATCH (:Run {id: $run})-[:RECORDED]->(e:Reading {kind: 'one'}) RETURN e.pj AS pj"
        assert kb.open_run("last").cypher(text).rows == [(2.5,)]


def test_traffic_is_observed_too() -> None:
    flow = {"src": "host", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 4096}
    moved = Moved()
    moved.rows = lambda: iter([{"bytes": 1}])  # type: ignore[method-assign]
    run = kb.traffic([flow], "minimal", store="memory:", instruments=[moved])
    assert moved.bytes["sip0.cube0.hbm_ctrl.pe0"] == 4096
    assert run.cypher("MATCH (e:Reading) RETURN e.bytes AS n").rows == [(1,)]


def test_without_a_trace_it_sees_hops_all_the_same() -> None:
    moved = Moved()
    kb.run("gemm-single-pe", "minimal", trace=False, instruments=[moved])
    assert sum(moved.bytes.values()) > 0


class Silent(kb.Instrument):
    """Overrides nothing."""


def test_what_it_does_not_override_is_not_called() -> None:
    for method in ("transaction_done", "op_served", "op_done"):
        assert observing([Silent(), Instrument()], method) == []
    alone = Silent()
    alone.op_served = print  # type: ignore[method-assign,assignment]
    assert observing([alone], "op_served") == [alone]


def test_a_run_without_any_keeps_what_it_kept(tmp_path: Path) -> None:
    with kb.open_store(str(tmp_path)) as store:
        bare = kb.run("gemm-single-pe", "minimal", store=store)
        silent = kb.run("gemm-single-pe", "minimal", store=store, instruments=[Silent()])
        watched = kb.run("gemm-single-pe", "minimal", store=store, instruments=[Moved()])
        assert bare.tables["Reading"].num_rows == 0
    files = {
        run: {path.name: path.read_bytes() for path in (tmp_path / "runs" / run.id).glob("*.parquet")}
        for run in (bare, silent, watched)
    }
    assert files[bare] == files[silent]
    assert set(files[watched]) - set(files[bare]) == {"Reading.parquet"}
    assert {name: files[watched][name] for name in files[bare]} == files[bare]
    assert pq.ParquetFile(tmp_path / "runs" / watched.id / "Reading.parquet").metadata.num_rows > 1


def _rows_of(*rows: Any) -> Callable[[], Any]:
    return lambda: iter(rows)


def _fails() -> Any:
    raise RuntimeError("no figure")


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a place": (_rows_of({"resource": "nowhere"}), "is about 'nowhere', but the machine"),
    "a launch": (_rows_of({"launch": 7}), "is about launch 7, but the run has 1"),
    "a list": (_rows_of({"pj": [1]}), r"column 'pj' is \[1\]; use a text"),
    "not a number": (_rows_of({"pj": float("nan")}), "column 'pj' is nan; leave out"),
    "too large": (_rows_of({"pj": 2**63}), "beyond 64 bits"),
    "own column": (_rows_of({"kind": "x"}), "column 'kind' is KernBench's own"),
    "a word": (_rows_of({"p J": 1}), "column 'p J' is not a word"),
    "of components": (
        _rows_of({"overhead_ns": "x"}),
        "column 'overhead_ns' is a text, but a number in the graph",
    ),
    "of a kind": (_rows_of({"channel_gbs": 1}), "column 'channel_gbs' is a property of components"),
    "two types": (
        _rows_of({"pj": 1}, {"pj": "x"}),
        "row 1 of 'moved': column 'pj' is a text, but a whole number",
    ),
    "no row": (_rows_of(3), "row 0 is 3, not a mapping"),
    "raises": (_fails, r"rows\(\) raised RuntimeError: no figure \(test_instruments.py:\d+\)"),
}


@pytest.mark.parametrize("what", list(WRONG))
def test_a_wrong_row_is_an_error_and_the_run_is_kept(what: str) -> None:
    rows, message = WRONG[what]
    moved = Moved()
    moved.rows = rows  # type: ignore[method-assign]
    with kb.open_store("memory:") as store:
        with pytest.raises(UsageError, match=f"instrument Moved: .*{message}.*; saved as run") as caught:
            kb.run("gemm-single-pe", "minimal", store=store, instruments=[moved])
        assert "\n" not in str(caught.value)
        (kept,) = kb.runs(store=store)
        assert caught.value.kept_run.id == kept.id
        assert kept.properties["status"] == "ok"
        assert kept.tables["Reading"].num_rows == 0


class Demanding(kb.Instrument):
    def __init__(self, what: str) -> None:
        self.what = what


class Broken(kb.Instrument):
    def transaction_done(self, transaction: Any) -> None:
        raise ValueError("broken")


class BrokenAtOps(kb.Instrument):
    def op_done(self, op: Any) -> None:
        raise ValueError("broken")


@pytest.mark.parametrize("broken", [Broken, BrokenAtOps])
def test_one_that_raises_is_named(broken: type[kb.Instrument]) -> None:
    message = (
        rf"instrument {broken.__name__} raised ValueError: broken at [\d.]+ ns \(test_instruments.py:\d+\)"
    )
    with pytest.raises(KernBenchError, match=message):
        kb.run("gemm-single-pe", "minimal", store="memory:", instruments=[broken()])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([Moved], r"not a kernbench.Instrument; give an object, Moved\(\)"),
        ([object()], "not a kernbench.Instrument"),
        ([Moved(), Moved()], "two instruments have a table 'moved'"),
        (["nowhere.py"], "instrument file 'nowhere.py' does not exist"),
        (["json:JSONEncoder"], "'json:JSONEncoder' does not name one instrument: it has none; make a sub"),
        ([f"{__file__}:Movd"], "does not name one instrument: it has Moved, Silent, "),
        ([__file__], "does not name one instrument: it has Moved, Silent, "),
        ([f"{__file__}:Demanding"], r"Demanding\(\) raised TypeError: .*it is made without arguments"),
    ],
)
def test_what_is_no_instrument_is_refused_before_anything_runs(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kb.run("gemm-single-pe", "minimal", store="memory:", instruments=given)


def test_one_that_looks_at_nothing_costs_nothing() -> None:
    """Calls of Python functions, counted."""

    def calls(instruments: list[kb.Instrument]) -> int:
        count = 0

        def seen(frame: Any, event: str, arg: object) -> None:
            nonlocal count
            count += event == "call"

        graph = kb.load_topology("minimal")
        with kb.open_store("memory:") as store:
            sys.setprofile(seen)
            try:
                kb.run("gemm-single-pe", graph, store=store, instruments=instruments)
            finally:
                sys.setprofile(None)
        return count

    calls([])  # what is imported and looked up once
    bare, silent = calls([]), calls([Silent()])
    assert silent - bare < 150
    assert calls([Moved()]) - bare > 600
