"""Topologies as users load them, and the ways through them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kernbench_graph.topology
import pytest

import kernbench as kb
from kernbench.api.topologies import topology_counts
from kernbench.errors import ConfigError, UsageError
from kernbench.support.pgraph import open_store, topology_graph, topology_id, topology_record


@pytest.fixture(scope="module")
def machine() -> Any:
    return kb.load_topology("minimal")


def test_none_a_name_and_a_path_are_one(workdir: Path) -> None:
    by_name = kb.load_topology("minimal")
    (workdir / "copy.yaml").write_text(str(by_name.properties["spec"]))
    assert kb.load_topology(workdir / "copy.yaml").properties == by_name.properties
    assert kb.load_topology().properties["name"] == "default"
    with pytest.raises(ConfigError, match="none-such"):
        kb.load_topology("none-such")


def test_overrides_make_another_machine(machine: Any) -> None:
    other = kb.load_topology("minimal", {"cube.router.overhead_ns": 3})
    assert other.properties["id"] != machine.properties["id"]
    assert {n.properties["overhead_ns"] for n in other.nodes("Router")} == {3.0}


def test_counts_are_of_all_wired_parts(machine: Any) -> None:
    counts = topology_counts(machine)
    assert sum(counts["components"].values()) == sum(1 for n in machine.nodes() if n.properties["impl"])
    assert sum(counts["links"].values()) == sum(1 for _ in machine.edges("LINK"))
    assert counts["components"]["pe_gemm"] == 1
    assert "pe" not in counts["components"]


@pytest.mark.parametrize(
    ("src", "dst", "traffic"),
    [
        ("host", "sip0.cube0.hbm_ctrl.pe0", "HOST_MEMORY"),
        ("sip0.cube0.pe0", "sip0.cube0.sram", "PE_DMA"),
        ("sip0.cube0.m_cpu", "sip0.cube0.hbm_ctrl.pe0", "MCPU_DMA"),
        ("sip0.io0.io_cpu", "sip0.cube0.m_cpu", "COMMAND"),
    ],
)
def test_what_is_carried_follows_from_who_sends(machine: Any, src: str, dst: str, traffic: str) -> None:
    route = kb.route(machine, src, dst)
    assert route["traffic"] == traffic
    assert [route["hops"][0]["node"], route["hops"][-1]["node"]] == [route["src"], route["dst"]]
    for before, after in zip(route["hops"], route["hops"][1:], strict=False):
        assert after["link"] == f"{before['node']}->{after['node']}"


@pytest.mark.parametrize(
    ("src", "dst", "traffic", "message"),
    [
        ("sip0.cube0.pe8", "host", None, "no component 'sip0.cube0.pe8'"),
        ("sip0", "host", None, "whole sip"),
        ("host", "sip0.cube0.sram", "MAIL", "PE_DMA"),
    ],
)
def test_what_is_no_way(machine: Any, src: str, dst: str, traffic: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kb.route(machine, src, dst, traffic)


def test_a_topology_that_a_store_has_is_not_made_into_tables_again(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    table = kernbench_graph.topology._table

    def noted(name: str, columns: dict[str, Any]) -> Any:
        made.append(name)
        return table(name, columns)

    monkeypatch.setattr(kernbench_graph.topology, "_table", noted)
    mine = {"cube.hbm.channel_gbs": 31}  # a machine that no other test of this process has run on
    for _ in range(2):
        kept = kb.run("gemm-single-pe", "minimal", topo=mine, store=str(workdir / "store"))
        assert sorted(made) == ["Component", "Link"]
        assert kept.query("busiest-links").rows


def test_the_record_holds_the_whole_graph(machine: Any) -> None:
    record = topology_record(machine)
    assert record.id == machine.properties["id"]
    assert record.tables["Component"].num_rows == len(machine)
    assert record.tables["Link"].num_rows == sum(1 for _ in machine.edges("LINK"))
    parents = record.tables["Component"]["parent"].to_pylist()
    assert sum(map(bool, parents)) == len(machine) - 1  # a tree
    again = topology_graph(record)
    assert topology_id(again) == record.id
    assert again.properties == machine.properties
    assert [(n.id, n.labels, n.properties) for n in again.nodes()] == [
        (n.id, n.labels, n.properties) for n in machine.nodes()
    ]
    assert {(e.id, e.source, e.target, e.type) for e in again.edges()} == {
        (e.id, e.source, e.target, e.type) for e in machine.edges()
    }

    from kernbench.support.pgraph import RunRecord

    store = open_store("memory:")
    store.keep(RunRecord({"bench": "none"}, {}), record)
    routers = store.query("MATCH (c:Component) WHERE c.kind = 'router' RETURN count(*) AS n", run="last")
    assert routers.rows == [(topology_counts(machine)["components"]["router"],)]
    store.close()
