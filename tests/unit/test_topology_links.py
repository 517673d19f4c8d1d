"""``links`` of a topology file: who is next, by kind of link or by link."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench.engine.arbiters.oldest_first import OldestFirst
from kernbench.engine.arbiters.registry import arbiter_class, shipped
from kernbench.engine.arbiters.round_robin import RoundRobin
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError
from kernbench.support.pgraph import topology_graph, topology_record
from tests.compiled import compiled

ONE = "sip0.cube0.r0c0->sip0.cube0.r0c1"
MIXED: dict[str, object] = {
    "links": {
        "router_mesh": {"arbiter": "round_robin", "attributes": {"a_note": 1, "other": 2}},
        ONE: {"arbiter": "fifo"},
        "sip0.cube0.r0c1->sip0.cube0.r0c0": {"arbiter": "oldest_first", "attributes": {"a_note": 3}},
    }
}


def test_links_have_the_arbiter_of_their_kind_or_their_own() -> None:
    graph = compiled(None, MIXED)
    for again in (graph, topology_graph(topology_record(graph))):
        links = Machine(again).links
        for link in links.values():
            if link.resource == ONE or link.kind != "router_mesh":
                assert link.port is None
        back = links["sip0.cube0.r0c1", "sip0.cube0.r0c0"]
        assert type(back.port.arbiter) is OldestFirst
        assert (back.edge.properties["a_note"], back.edge.properties["other"]) == (3, 2)
        assert type(links["sip0.cube0.r1c0", "sip0.cube0.r0c0"].port.arbiter) is RoundRobin


@pytest.mark.slow
def test_nothing_said_leaves_the_machine_what_it_was() -> None:
    plain = compiled()
    for links in ({}, {"router_mesh": {"arbiter": "fifo"}}, {"pcie": {}}):
        assert compiled(None, {"links": links}).properties == plain.properties
    assert compiled(None, MIXED).properties["id"] != plain.properties["id"]
    assert not any(link.port for link in Machine(plain).links.values())


NEITHER = "links.router_mash: is neither a kind of link nor a link 'a->b', "

OWN = """\
from kernbench.engine.core.port import Arbiter


class LastFirst(Arbiter):
    def pick(self, lines, last):
        return len(lines) - 1


class Undecided(Arbiter):
    pass


class NoArbiter:
    pass
"""


@pytest.mark.parametrize(
    ("arbiter", "message"),
    [
        (
            "roundrobin",
            "does not exist, did you mean 'round_robin'? expected fifo, oldest_first, priority, round_robin",
        ),
        ("registry", "does not exist, expected fifo"),
        ("own.py:Missing", "does not import: 'own.py' has no class 'Missing'"),
        ("none_such:Class", "does not import: "),
        ("own.py:NoArbiter", "is not a subclass of kernbench.engine.core.port.Arbiter"),
        ("own.py:Undecided", "lacks pick; define it"),
    ],
)
def test_an_arbiter_that_does_not_exist_is_an_error_in_its_line(
    arbiter: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    Path("f.yaml").write_text(f"name: t\nlinks:\n  router_mesh:\n    arbiter: {arbiter}\n")
    with pytest.raises(ConfigError) as error:
        kb.load_topology("f.yaml")
    assert str(error.value).startswith(f"f.yaml:4: links.router_mesh.arbiter: arbiter '{arbiter}' {message}")


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("{router_mash: {}}", NEITHER + "did you mean 'router_mesh'?"),
        ("{pcie: {arbitre: fifo}}", "links.pcie.arbitre: unknown key, did you mean 'arbiter'?"),
        ("{pcie: {arbiter: 3}}", "links.pcie.arbiter: is 3, expected a text"),
        ("{pcie: fifo}", "links.pcie: is the text 'fifo', expected a mapping"),
        ("fifo", "links: is the text 'fifo', expected a mapping"),
        (
            "{pcie: {attributes: {bw_gbs: 1}}}",
            "links.pcie.attributes.bw_gbs: is a property that the compiler sets, expected another name",
        ),
        ("{x->y: {}}", "links.x->y: unknown link, expected one such as 'host.cpu->fabric.switch0'"),
        (
            "{host.cpu->fabric.switch1: {}}",
            "links.host.cpu->fabric.switch1: unknown link, did you mean 'host.cpu->fabric.switch0'?",
        ),
    ],
)
def test_what_links_cannot_say(links: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(f"name: t\nsystem: {{sips: 1}}\nlinks: {links}\n")
    with pytest.raises(ConfigError) as error:
        kb.load_topology(file)
    assert str(error.value) == f"{file}:3: {message}"


def test_an_arbiter_of_a_components_file_runs_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNBENCH_STORE", str(tmp_path / "runs"))
    Path("own.py").write_text(OWN)
    Path("mine.yaml").write_text("mine.last: own.py:LastFirst\n")
    Path("f.yaml").write_text(
        "name: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\ncomponents_file: mine.yaml\n"
        "links: {router_to_hbm: {arbiter: mine.last}, router_mesh: {arbiter: own.py:LastFirst}}\n"
    )
    flows = [
        {"src": f"sip0.cube0.pe{pe}", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 4096} for pe in range(4)
    ]
    run = kb.traffic(flows, "f.yaml", check=True)
    last = run.flows
    first = kb.traffic(flows, "f.yaml", topo={"links": {}}).flows
    assert [flow["end_ns"] for flow in first] != [flow["end_ns"] for flow in last]
    code = run.properties["again"]
    assert set(code["components"]) >= {"mine.last", "own.py:LastFirst"}
    assert any(place.endswith("own.py") for place in code["code"])


def test_shipped_arbiters_lie_in_files_of_their_names() -> None:
    assert shipped() == ["fifo", "oldest_first", "priority", "round_robin", "weighted_round_robin"]
    assert [arbiter_class(name).__name__ for name in shipped()] == [
        "Fifo",
        "OldestFirst",
        "Priority",
        "RoundRobin",
        "WeightedRoundRobin",
    ]
