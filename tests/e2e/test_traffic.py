"""``kernbench traffic`` and ``kb.traffic``: what is printed, kept, asked and refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.engine.components.sram import Sram
from kernbench.engine.core.transaction import Packet
from kernbench.errors import ConfigError, DeadlockError, KernBenchError, UsageError

OBLONG = str(Path(__file__).resolve().parents[1] / "exact" / "oblong.yaml")
FLOW_KEYS = ["name", "src", "dst", "op", "bytes", "offset", "count", "start_ns", "end_ns", "bandwidth_gbs",
             "wait_ns", "peak_path_gbs", "peak_fair_gbs"]  # fmt: skip
FLOWS = """\
- {name: a, src: sip0.cube0.pe0, dst: sip0.cube0.hbm_ctrl.pe0, bytes: 4096}
- {name: b, src: sip1.cube2.pe1, dst: sip0.cube0.hbm_ctrl.pe0, bytes: 4096, op: read, start_ns: 20}
- {name: c, src: host, dst: sip0.cube1.sram, bytes: 10000}
- {name: d, src: sip0.cube4.m_cpu, dst: sip1.cube0.hbm_ctrl.pe3, bytes: 700, count: 3, period_ns: 5}
"""


def test_json_has_the_keys_that_others_rely_on(cli: Callable[..., Any], workdir: Path) -> None:
    (workdir / "flows.yaml").write_text(FLOWS, encoding="utf-8")
    done = cli("traffic", "flows.yaml", "--topology", OBLONG, "--format", "json", "--tag", "mine")
    assert (done.status, done.err, done.out.count("\n")) == (0, "", 1)
    said = json.loads(done.out)
    assert {"run_id", "flows", "makespan_ns", "total_bytes", "peak_path_gbs", "peak_fair_gbs"} <= set(said)
    assert [list(flow) for flow in said["flows"]] == [FLOW_KEYS] * 4
    assert said["total_bytes"] == 4096 * 2 + 10000 + 3 * 700
    assert said["makespan_ns"] == max(f["end_ns"] for f in said["flows"])
    assert said["bandwidth_gbs"] == pytest.approx(said["total_bytes"] / said["makespan_ns"])
    assert (said["bench"], said["topology"], said["tags"]) == ("traffic", "oblong", ["mine"])
    assert [f["name"] for f in said["params"]["flows"]] == ["a", "b", "c", "d"]
    a = said["flows"][0]
    assert a["bandwidth_gbs"] == pytest.approx(4096 / (a["end_ns"] - a["start_ns"]))

    # Kept like any run: found, shown, asked. It has no launches, so no latency, rather than one of 0.
    (listed,) = json.loads(cli("runs", "list", "--format", "json").out)["runs"]
    assert (listed["run_id"], listed["latency_ns"], listed["launch_ns"]) == (said["run_id"], None, None)
    asked = json.loads(cli("query", "history/runs", "--format", "json").out)
    assert dict(zip(asked["columns"], asked["rows"][0], strict=True))["latency_ns"] is None
    run = kb.open_run(said["run_id"])
    assert (run.latency_ns, run.launch_ns, run.kernels_ns, run.time_ns) == (None, None, None, run.sim_ns)
    assert f"{run.sim_ns:.1f} ns" in repr(run)
    use = kb.energy(run)
    assert (use["latency_ns"], use["edp_pj_ns"]) == (None, None)
    compared = {one["name"] for one in kb.compare(run.id, run.id)["figures"]}
    assert "sim_ns" in compared
    assert not compared & {"latency_ns", "kernels_ns"}
    assert json.loads(cli("show", "last", "--format", "json").out)["bench"] == "traffic"
    busiest = json.loads(cli("query", "busiest-links", "--format", "json").out)
    links = [row["resource"] for row in said["busiest"] if "->" in row["resource"]]
    assert busiest["rows"][0][0] == links[0]
    cypher = (
        "MATCH (t:Transaction)-[:SENT_FOR]->(o:Op) RETURN o.name AS name, sum(t.bytes) AS n ORDER BY name"
    )
    moved = json.loads(cli("query", "last", "--cypher", cypher, "--format", "json").out)
    assert moved["rows"] == [
        ["dma_read", 4096],
        ["dma_write", 4096],
        ["host_write", 10000],
        ["mcpu_write", 2100],
    ]


def test_all_formats_tell_the_same(cli: Callable[..., Any], workdir: Path) -> None:
    (workdir / "flows.yaml").write_text(FLOWS, encoding="utf-8")
    common = ("traffic", "flows.yaml", "--topology", OBLONG, "--no-trace", "--format")
    said = json.loads(cli(*common, "json").out)
    assert said["run_id"] is None
    rows = list(csv.DictReader(io.StringIO(cli(*common, "csv").out)))
    assert {flow["wait_ns"] for flow in said["flows"]} == {None}  # not known without a trace
    assert [{k: "" if v is None else str(v) for k, v in flow.items()} for flow in said["flows"]] == rows
    table = cli(*common, "table").out
    assert "not kept" in table
    assert f"makespan      {said['makespan_ns']:.3f}".rstrip("0") in table
    assert not (workdir / ".kernbench").exists()


def test_the_list_of_patterns(cli: Callable[..., Any]) -> None:
    listed = json.loads(cli("traffic", "--list", "--format", "json").out)["patterns"]
    names = ["uniform-random", "transpose", "bit-complement", "tornado", "neighbour", "hot-spot", "all-local"]
    assert [p["name"] for p in listed] == [*names, "gather", "scatter"]
    for pattern in listed:
        done = cli(
            "traffic",
            f"pattern:{pattern['name']}",
            "--topology",
            "minimal",
            "--no-trace",
            "bytes=64",
        )
        assert done.status == 0, done.err


def test_top_says_how_many_parts(cli: Callable[..., Any]) -> None:
    line = ("traffic", "pattern:all-local", "--topology", OBLONG, "--no-trace", "--format", "json", "--top")
    assert len(json.loads(cli(*line, "3").out)["busiest"]) == 3


WRONG_USAGE = [
    ((), "give one of FILE, pattern:NAME and --list"),
    (("x.yaml", "--list"), "give one of FILE, pattern:NAME and --list"),
    (("x.yaml",), "x.yaml: cannot be read: it does not exist"),
    (("pattern:transposed",), "did you mean 'transpose'?"),
    (("pattern:gather", "root=999"), "no PE has rank 999"),
    (("pattern:gather", "byte=9"), "did you mean 'bytes'?"),
    (("pattern:gather", "--topology", "nowhere"), "no such topology file"),
    (("flows.yaml", "bytes=9"), "'bytes' cannot be set: only patterns have parameters"),
]
FAILED = [
    ("[]", "NO_REQUESTS: no flows are given"),
    ("- {src: host, dst: sip0.cube0.pe0, bytes: 1}\n", "flows.yaml:1: flow 1: dst: 'sip0.cube0.pe0' is"),
    ("- {src: host, dst: sip0.cube0.sram, bytes: 0}\n", "flows.yaml:1: flow 1: bytes: is 0"),
    ("- {src: host, dst: sip0.cube0.sram,\n   bytes: 1000000000}\n", "flows.yaml:2: flow 1: bytes: 10000000"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_USAGE)
def test_wrong_usage(
    cli: Callable[..., Any], workdir: Path, arguments: tuple[str, ...], message: str
) -> None:
    (workdir / "flows.yaml").write_text(FLOWS, encoding="utf-8")
    done = cli("traffic", *arguments)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


@pytest.mark.parametrize(("text", "message"), FAILED)
def test_files_that_cannot_be_run(cli: Callable[..., Any], workdir: Path, text: str, message: str) -> None:
    (workdir / "flows.yaml").write_text(text, encoding="utf-8")
    done = cli("traffic", "flows.yaml", "--topology", "minimal")
    assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err
    assert json.loads(cli("runs", "list", "--format", "json").out)["runs"] == []


def test_in_python() -> None:
    entries = [
        {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 4096, "count": 2},
        {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 4096, "op": "read"},
    ]
    run = kb.traffic(entries, "minimal", store="memory:", tags=["t"])
    assert (run.bench, run.tags, run.params) == ("traffic", ["t"], {"flows": [
        {"name": f"flow{n}", **entry} for n, entry in enumerate(entries, 1)]})  # fmt: skip
    moved = run.transactions
    assert sorted(moved["kind"]) == ["dma_read", "dma_write", "dma_write"]
    # Traced and result agree; waits and service close for every transaction.
    assert np.allclose(moved["service_ns"] + moved["wait_ns"], moved["t_done"] - moved["t_submit"], atol=1e-9)
    assert sum(moved["wait_ns"]) == pytest.approx(sum(f["wait_ns"] for f in run.flows))
    assert run.makespan_ns == run.sim_ns == max(moved["t_done"])
    assert run.query("busiest-links", limit=1).rows
    again = kb.traffic(entries, "minimal", trace=False)
    assert (again.id, again.totals) == ("", run.totals)
    assert all(np.isnan(row.pop("wait_ns")) for row in again.flows)
    assert again.flows == [{k: v for k, v in flow.items() if k != "wait_ns"} for flow in run.flows]
    kinds = {row["kind"]: row for row in run.link_kinds}
    # Two writes and a read of 4096 bytes, one link out and one back, of 256 GB/s each.
    assert kinds["router_to_hbm"]["bytes"] == 3 * 4096
    assert kinds["router_to_hbm"]["max_utilisation"] == pytest.approx(2 * 16 / run.makespan_ns)


def test_utilisation_is_a_share_of_the_makespan() -> None:
    flow = {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 16384}
    now = kb.traffic([flow], "minimal", trace=False)
    later = kb.traffic([{**flow, "start_ns": 1000}], "minimal", trace=False)
    assert later.sim_ns == pytest.approx(now.sim_ns + 1000)
    traced = kb.traffic([{**flow, "start_ns": 1000}], "minimal", store="memory:")
    for run in (later, traced):
        assert run.busiest(1)[0]["utilisation"] == pytest.approx(now.busiest(1)[0]["utilisation"])
        assert run.window("all").ns == pytest.approx(run.makespan_ns)


def test_python_errors_say_which_flow() -> None:
    with pytest.raises(ConfigError, match=r"^flow 2: bytes: is missing"):
        kb.traffic([{"src": "host", "dst": "x", "bytes": 1}, {"src": "host", "dst": "x"}], "minimal")
    with pytest.raises(KernBenchError, match=r"^NO_REQUESTS"):
        kb.traffic([], "minimal")
    with pytest.raises(UsageError, match="only patterns have parameters"):
        kb.traffic([], "minimal", bytes=4)


class Hole(Sram):
    """A memory that never answers."""

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        pass


def test_traffic_that_is_never_answered_ends_with_who_waits_for_what(workdir: Path) -> None:
    flow = {"src": "sip0.cube0.m_cpu", "dst": "sip0.cube0.sram", "bytes": 4096}
    with pytest.raises(
        DeadlockError, match=r"(?s)^deadlock at .*not saved\n.*sip0\.cube0\.m_cpu has 1 unanswered write jobs"
    ) as stuck:
        kb.traffic([flow], "minimal", components={"builtin.sram": f"{__name__}:Hole"})
    assert stuck.value.during_run
    assert kb.runs() == []


def test_channels_mapped_one_to_one_have_the_same_peaks() -> None:
    same = {"system.address_model": "la"}
    totals = [
        kb.traffic("pattern:neighbour", kb.load_topology(OBLONG, {**same, "cube.hbm.mapping": mapping}),
                   trace=False, bytes=4096).totals
        for mapping in ("n_to_one", "one_to_one")
    ]  # fmt: skip
    assert totals[0]["peak_path_gbs"] == pytest.approx(totals[1]["peak_path_gbs"])
    assert totals[0]["peak_fair_gbs"] == pytest.approx(totals[1]["peak_fair_gbs"])


def test_for_people_the_busiest_links_come_first_and_flows_last(cli: Callable[..., Any]) -> None:
    out = cli("traffic", "pattern:uniform-random", "--topology", OBLONG, "--no-trace", "--top", "3").out
    tables = [part.splitlines() for part in out.split("\n\n")[1:]]
    assert [lines[0].split(";")[0] for lines in tables] == [
        "Busiest links", "Links by kind", "Busiest engines, memories and routers", "Flows that end last",
    ]  # fmt: skip
    assert all("->" in line for line in tables[0][2:5])
    assert len(tables[3]) == 6
    ends = [float(line.split()[8]) for line in tables[3][2:5]]
    assert ends == sorted(ends, reverse=True)
