"""Machines built part by part: equal to those of topology files, and clear about what no machine has."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.cli.app import app
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError, KernBenchError, RoutingError, UsageError
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.link_parts import LinkParts
from kernbench.support.pgraph import PropertyGraph, topology_graph, topology_id, topology_record
from tests.examples import examples
from tests.small_machines import MODELS, minimal, small

_SAID_BY_NAME = {"name", "kind", "sip", "cube", "pe", "row", "col", "side", "index", "slice", "channel"}
_WORKED_OUT = {"slice_gbs", "passes"}


def rebuilt(graph: PropertyGraph) -> PropertyGraph:
    """``graph`` built again, part by part and link by link."""
    p: dict[str, Any] = graph.properties
    made = kb.Topology(
        p["name"], flit_bytes=p["flit_bytes"], ns_per_mm=p["ns_per_mm"], address_model=p["address_model"]
    )
    for node in graph.nodes():
        q: dict[str, Any] = node.properties
        if q["kind"] != "pseudo_channel":
            keys = {key: value for key, value in q.items() if key not in _SAID_BY_NAME | _WORKED_OUT}
            if not q["impl"]:
                keys = {key: keys[key] for key in ("x_mm", "y_mm")}
            made.add(node.id, **keys)
    for edge in graph.edges("LINK"):
        if edge.source < edge.target:
            q = edge.properties
            made.link(edge.source, edge.target, q["kind"], gbs=q["bw_gbs"], mm=q["distance_mm"],
                      weight_mm=q["routing_weight"])  # fmt: skip
    return made.compile()


def everything(graph: PropertyGraph) -> tuple[list[Any], set[Any]]:
    nodes = [(node.id, node.labels, node.properties) for node in graph.nodes()]
    edges = {(e.id, e.source, e.target, e.type, *sorted(e.properties.items())) for e in graph.edges()}
    return nodes, edges


@pytest.mark.parametrize("model", [*MODELS, "minimal"])
def test_a_machine_built_part_by_part_is_the_one_of_the_file(model: str) -> None:
    wanted = minimal() if model == "minimal" else small(model)
    found = rebuilt(wanted)
    assert everything(found) == everything(wanted)
    # The file puts cubes in rows and columns; a machine of parts has all in one row, as this one.
    assert found.properties | {"id": "", "spec": ""} == wanted.properties | {"id": "", "spec": ""}
    assert found.properties["id"] == topology_id(found)


def test_the_machine_of_a_file_is_itself_and_can_be_added_to() -> None:
    same = kb.Topology.from_yaml("minimal")
    assert same.compile().properties["id"] == minimal().properties["id"]
    same.add("sip0.cube0.pe1.pe_dma")
    same.add("sip0.cube0.hbm_ctrl.pe1", n_channels=8, slice_bytes=6 << 30)
    same.link("sip0.cube0.hbm_ctrl.pe1", "sip0.cube0.r0c0", "router_to_hbm", gbs=256.0)
    larger = same.compile()
    assert "sip0.cube0.hbm_ctrl.pe1.pc7" in larger
    assert larger.properties["pes_per_cube"] == 2
    assert larger.properties["id"] != minimal().properties["id"]
    assert sum(1 for _ in larger.nodes("PseudoChannel")) == 16


def line(routers: int = 3) -> kb.Topology:
    """A row of routers with a sender at the first and a memory at the last."""
    made = kb.Topology("line", flit_bytes=64, ns_per_mm=0.5)
    for i in range(routers):
        made.add(f"sip0.cube0.r0c{i}", overhead_ns=2.0)
        if i:
            made.link(f"sip0.cube0.r0c{i - 1}", f"sip0.cube0.r0c{i}", "router_mesh", gbs=64.0, mm=2.0)
    made.add("sip0.cube0.m_cpu", overhead_ns=0.0)
    made.add("sip0.cube0.sram", overhead_ns=4.0)
    made.link("sip0.cube0.m_cpu", "sip0.cube0.r0c0", "command", gbs=64.0)
    made.link("sip0.cube0.sram", f"sip0.cube0.r0c{routers - 1}", "router_to_sram", gbs=32.0, delay_ns=7.0)
    return made


def test_traffic_runs_on_it_and_is_kept(tmp_path: Any) -> None:
    flow = {"src": "sip0.cube0.m_cpu", "dst": "sip0.cube0.sram", "bytes": 64, "op": "write"}
    run = kb.traffic([flow], line().compile(), store=str(tmp_path))
    # 64 bytes: 1 ns on each of three links and 2 on the last; 2 ns a router; flights of 1, 1 and 7 ns; the
    # memory's 4 ns; then the acknowledgement: flights of 9 ns and 6 ns of routers.
    assert run.totals["makespan_ns"] == (3 + 2) + 6 + 9 + 4 + 9 + 6
    kept = kb.open_run(run.id, str(tmp_path))
    assert kept.query("bottleneck/busiest-links").rows


def rows(graph: PropertyGraph) -> object:
    return (
        graph.properties,
        [(n.id, n.labels, n.properties) for n in graph.nodes()],
        [(e.id, e.properties) for e in graph.edges()],
    )


@examples(40)
@given(st.data())
def test_what_python_makes_comes_back_from_its_text(data: st.DataObject) -> None:
    """Any sequence of steps, on nothing or on a file's machine."""
    on_file = data.draw(st.booleans())
    made = kb.Topology.from_yaml("minimal") if on_file else line(data.draw(st.integers(2, 4)))
    routers = [f"sip0.cube0.r0c{i}" for i in range(2)] if not on_file else []
    for i in range(data.draw(st.integers(0, 4))):
        step = data.draw(st.sampled_from(["add", "change", "wire", "links", "cut", "remove"]))
        if step == "add":
            routers.append(made.add(f"sip0.cube{i + 1}.r{i}c7", overhead_ns=1.5, x_mm=0.1 * i))
            if len(routers) > 1:
                made.link(
                    routers[-2], routers[-1], "router_mesh", gbs=3.5, mm=i, one_way=data.draw(st.booleans())
                )
        elif step == "change" and routers:
            made.change(routers[0], overhead_ns=4.0 + i)
        elif step == "wire" and not on_file:
            made.change("sip0.cube0.r0c0->sip0.cube0.r0c1", gbs=7 + i)
        elif step == "links":
            made.set_links("router_mesh", arbiter="round_robin")
        elif step == "cut" and not on_file:
            link = "sip0.cube0.r0c1->sip0.cube0.r0c0"
            if any(s.get("what") == link and s["do"] == "remove" for s in made.spec.built.steps):
                continue
            made.remove(link)
        elif step == "remove" and len(routers) > 2:
            made.remove(routers.pop())
    graph = made.compile()
    again = compile_topology(parse(made.to_yaml(), "again.yaml"))
    assert rows(again) == rows(graph)
    assert topology_id(topology_graph(topology_record(graph))) == graph.properties["id"]
    text = str(graph.properties["spec"])
    assert compile_topology(parse(text, "kept")).properties["id"] == graph.properties["id"]


def test_parts_and_links_are_changed_and_removed() -> None:
    made = line(3)
    made.change("sip0.cube0.r0c1", overhead_ns=9.0)
    made.change("sip0.cube0.r0c0->sip0.cube0.r0c1", gbs=8.0, delay_ns=3.0)
    graph = made.compile()
    assert graph.node("sip0.cube0.r0c1").properties["overhead_ns"] == 9.0
    assert graph.node("sip0.cube0.r0c1").properties["col"] == 1
    wire = graph.edge("sip0.cube0.r0c0->sip0.cube0.r0c1").properties
    assert (wire["bw_gbs"], wire["delay_ns"], wire["distance_mm"]) == (8.0, 3.0, 2.0)
    assert graph.edge("sip0.cube0.r0c1->sip0.cube0.r0c0").properties["bw_gbs"] == 64.0
    made.remove("sip0.cube0.r0c1")
    with pytest.raises(RoutingError, match="no route"):
        kb.route(made.compile(), "sip0.cube0.r0c0", "sip0.cube0.r0c2", "COMMAND")
    made.remove("sip0.cube0")
    assert [node.id for node in made.compile().nodes()] == ["tray", "sip0", "host.cpu"]
    slices = kb.Topology("slices")
    slices.add("sip0.cube0.hbm_ctrl.pe0", n_channels=4, slice_bytes=1 << 20, channel_gbs=10.0)
    slices.change("sip0.cube0.hbm_ctrl.pe0", channel_gbs=20.0)
    p = slices.compile().node("sip0.cube0.hbm_ctrl.pe0").properties
    assert (p["slice_gbs"], p["n_channels"], p["slice"]) == (80.0, 4, 0)


def test_the_channels_of_a_changed_slice_are_those_that_it_says() -> None:
    slice_ = "sip0.cube0.hbm_ctrl.pe0"
    flow = {"src": "sip0.cube0.pe0", "dst": slice_, "bytes": 1 << 16, "op": "read"}
    ns = []
    for channels in (8, 2):
        made = kb.Topology.from_yaml("minimal")
        with pytest.raises(UsageError, match="follows from the component that it is in; change that"):
            made.remove(f"{slice_}.pc0")
        made.change(slice_, n_channels=channels, channel_gbs=16.0)
        graph = made.compile()
        assert [n.properties["bw_gbs"] for n in graph.nodes("PseudoChannel")] == [16.0] * channels
        ns.append(kb.traffic([flow], graph).totals["makespan_ns"])
        assert rows(compile_topology(parse(made.to_yaml(), "again.yaml"))) == rows(graph)
    for channels, took in zip((8, 2), ns, strict=True):
        assert 0 < took - (1 << 16) / (channels * 16.0) < 16.0  # the way there and back


def test_a_machine_that_was_compiled_before_is_the_one_of_its_text() -> None:
    made = line(2)
    assert [node.id for node in made.compile().nodes()][-1] == "host.cpu"
    made.add("sip0.cube0.r1c0", overhead_ns=1.0)
    graph = made.compile()
    assert rows(compile_topology(parse(made.to_yaml(), "again.yaml"))) == rows(graph)
    made.add("host.cpu", launch_ns=3.0)
    assert made.compile().node("host.cpu").properties["launch_ns"] == 3.0


def test_wires_of_a_file_are_removed_and_get_buffers(tmp_path: Any) -> None:
    file = tmp_path / "way.yaml"
    file.write_text(
        "name: way\nwires: {w: {gbs: 1, delay_ns: 1}}\nparts: {a: router, b: router, c: router}\n"
        "connect: [{pair: [a, b], wire: w}, {pair: [b, c], wire: w, one_way: true}]\n"
    )
    made = kb.Topology.from_yaml(file)
    assert made.compile().properties["one_way_links"] == 1
    made.remove("b->c")
    made.set_links("w", buffer_flits=4)
    graph = made.compile()
    assert "one_way_links" not in graph.properties
    assert {link: LinkParts(graph).part(graph.edge(link)).buffer_flits for link in ("a->b", "b->a")} == {
        "a->b": 4,
        "b->a": 4,
    }


def test_a_compiled_machine_does_not_follow_later_changes() -> None:
    made, link = line(3), "sip0.cube0.r0c0->sip0.cube0.r0c1"
    before = made.compile()
    made.change(link, gbs=8.0)
    assert (before.edge(link).properties["bw_gbs"], made.compile().edge(link).properties["bw_gbs"]) == (
        64.0,
        8.0,
    )


@pytest.mark.parametrize(("keys", "gbs"), [({"access_ns": 9.0}, 204.8), ({"channel_gbs": 64.0}, 409.6)])
def test_a_change_of_a_slice_keeps_the_efficiency_of_its_file(keys: dict[str, float], gbs: float) -> None:
    made = kb.Topology.from_yaml("minimal", {"cube.hbm.efficiency": 0.8})
    slice_ = "sip0.cube0.hbm_ctrl.pe0"
    made.change(slice_, **keys)
    p = made.compile().node(slice_).properties
    assert p["slice_gbs"] == gbs
    assert p | keys == p


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: made.change("sip0.cube0.r0c9"), "is not there, did you mean 'sip0.cube0.r0c"),
        (lambda made: made.change("sip0.cube0.r0c0", speed=2), "unknown key"),
        (lambda made: made.change("sip0.cube0", overhead_ns=1.0), "has no keys of its own"),
        (lambda made: made.change("tray", overhead_ns=1.0), "has no keys of its own"),
        (
            lambda made: made.change("sip0.cube0.r0c0->sip0.cube0.r0c1", gb=2),
            "unknown key 'gb', did you mean 'gbs'",
        ),
        (lambda made: made.change("sip0.cube0.r0c0->sip0.cube0.r0c1", gbs=0), "expected a number above 0"),
        (lambda made: made.remove("sip0.cube0.r0c0->sip0.cube0.r0c2"), "is not there"),
    ],
)
def test_what_cannot_be_changed_says_why(change: Any, message: str) -> None:
    with pytest.raises(KernBenchError, match=message):
        change(line(3))


CHIP = """
import kernbench as kb

def topology(routers: int = 3, gbs: float = 64.0) -> kb.Topology:
    made = kb.Topology("line", flit_bytes=64)
    for i in range(routers):
        made.add(f"sip0.cube0.r0c{i}", overhead_ns=2.0)
        if i:
            made.link(f"sip0.cube0.r0c{i - 1}", f"sip0.cube0.r0c{i}", "router_mesh", gbs=gbs, mm=2.0)
    made.add("sip0.cube0.m_cpu")
    made.add("sip0.cube0.sram", overhead_ns=4.0)
    made.link("sip0.cube0.m_cpu", "sip0.cube0.r0c0", "command", gbs=gbs, mm=1)
    made.link("sip0.cube0.sram", f"sip0.cube0.r0c{routers - 1}", "router_to_sram", gbs=gbs, mm=1)
    return made
"""


def test_a_python_file_is_a_topology_everywhere(tmp_path: Any) -> None:
    chip, store, flows = tmp_path / "chip.py", str(tmp_path / "s"), tmp_path / "flows.yaml"
    chip.write_text(CHIP, encoding="utf-8")
    flows.write_text("flows: [{src: sip0.cube0.m_cpu, dst: sip0.cube0.sram, bytes: 640}]\n", encoding="utf-8")

    def command(*words: str) -> Any:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == 0, done.output
        return done.output

    def ns(*words: str) -> float:
        out = command(
            "traffic", str(flows), "--topology", str(chip), *words, "--store", store, "--format", "json"
        )
        return float(json.loads(out)["makespan_ns"])

    base = ns()
    assert ns("--topo", "gbs=32") > base
    assert ns("--topo", "routers=5") > base
    assert ns("--topo", "system.flit_bytes=32") != base
    assert CliRunner().invoke(app, ["topology", "check", str(chip), "--topo", "system.sips=2"]).exit_code == 1
    assert ns("--fault", "kind:router=0.5") > base
    assert json.loads(
        command("what-if", "last", "--speed", "kind:router=2", "--store", store, "--format", "json")
    )
    assert "chip.py: valid" in command("topology", "check", str(chip))
    command("topology", "diagram", str(chip), "--view", "system", "--out", str(tmp_path / "chip.svg"))
    chip.write_text("topology = 3\n", encoding="utf-8")
    with pytest.raises(UsageError, match="expected 'topology', a kb"):
        kb.load_topology(chip)
    chip.write_text("def topology():\n    return 1 / 0\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"raised ZeroDivisionError.*chip\.py:2"):
        kb.load_topology(chip)


def test_only_trays_have_the_other_views() -> None:
    graph = line().compile()
    with pytest.raises(UsageError, match="'line' is not a tray of packages; draw its view system"):
        kb.diagram(graph, "cube")


def test_answers_alone_use_a_wire_of_a_large_weight() -> None:
    made = kb.Topology("ring", flit_bytes=64, ns_per_mm=0.0)
    parts = [made.add(f"sip{i}.cube0.r0c0", overhead_ns=1.0) for i in range(4)]
    for i, part in enumerate(parts):
        made.link(part, parts[(i + 1) % 4], "router_mesh", gbs=64.0, weight_mm=1.0, back_weight_mm=100.0)
    graph = made.compile()
    way = kb.route(graph, parts[0], parts[3], "COMMAND")
    assert [hop["node"] for hop in way["hops"]] == parts
    back = kb.route(graph, parts[1], parts[0], "COMMAND")
    assert [hop["node"] for hop in back["hops"]] == [parts[1], parts[2], parts[3], parts[0]]


@examples(48)
@given(st.integers(2, 7), st.integers(0, 6), st.integers(1, 6), st.booleans())
def test_on_a_ring_of_one_way_links_an_answer_goes_on_around_it(
    nodes: int, start: int, flits: int, is_write: bool
) -> None:
    source, target = start % nodes, (start + 1 + start // nodes) % nodes
    made = kb.Topology("ring", flit_bytes=64, ns_per_mm=0.0)
    for i in range(nodes):
        for part, overhead in (("r0c0", 1.0), ("m_cpu", 0.0), ("sram", 0.0)):
            made.add(f"sip{i}.cube0.{part}", overhead_ns=overhead)
        made.link(f"sip{i}.cube0.m_cpu", f"sip{i}.cube0.r0c0", "command", gbs=64.0, weight_mm=1.0)
        made.link(f"sip{i}.cube0.sram", f"sip{i}.cube0.r0c0", "router_to_sram", gbs=64.0, weight_mm=1.0)
    for i in range(nodes):
        made.link(f"sip{i}.cube0.r0c0", f"sip{(i + 1) % nodes}.cube0.r0c0", "router_mesh",
                  gbs=64.0, delay_ns=5.0, weight_mm=1.0, one_way=True)  # fmt: skip
    machine = Machine(made.compile())
    sent = machine.flow(
        f"sip{source}.cube0.m_cpu", f"sip{target}.cube0.sram", 0, 64 * flits, is_write=is_write
    )
    machine.wait(sent)
    there = (target - source) % nodes
    back = (nodes - there) % nodes
    loaded, empty = (there, back) if is_write else (back, there)
    # Data pay 1 ns on each link, the first of them, and the flits behind one more each; all pay the routers.
    data = loaded + 2 + (flits - 1) + loaded * 5 + (loaded + 1)
    assert sent.ns == pytest.approx(data + empty * 5 + (empty + 1), abs=1e-9)


def test_a_machine_of_links_both_ways_says_nothing_of_one_way_links() -> None:
    assert "one_way_links" not in line().compile().properties


A, B = "sip0.cube0.r0c0", "sip0.cube0.r0c1"
BAD: dict[str, tuple[Callable[[kb.Topology], object], str]] = {
    "no such name": (lambda t: t.add("router7"), "'router7' is not a component's name"),
    "twice": (lambda t: t.add(A), f"part '{A}': is there already"),
    "too many packages": (lambda t: t.add("sip1024.cube0.r0c0"), "expected a sip from 0 to 1023"),
    "a part of a part": (lambda t: t.add("sip0.cube0.hbm_ctrl.pe0.pc0"), "give that n_channels"),
    "another model's part": (lambda t: t.add("sip0.cube0.pe0.pe_baaw"), "with address_model va a PE has no"),
    "unknown key": (lambda t: t.add("sip0.cube0.sram", size=4), "unknown key 'size'"),
    "said by the name": (lambda t: t.add("sip1.cube0.r0c0", row=0), "unknown key 'row'"),
    "negative": (lambda t: t.add("sip0.cube0.sram", overhead_ns=-1.0), "is -1.0, expected at least 0"),
    "text": (lambda t: t.add("sip0.cube0.sram", size_bytes="much"), "size_bytes: is"),
    "slice": (lambda t: t.add("sip0.cube0.hbm_ctrl.pe0", n_channels=2), "slice_bytes is missing"),
    "key of a group": (lambda t: t.add("sip3.cube1", overhead_ns=1.0), "takes x_mm and y_mm alone"),
    "place": (lambda t: t.add("sip3.cube1", x_mm=float("nan")), "x_mm is nan, expected a finite number"),
    "kind of link": (lambda t: t.link(A, B, "mesh", gbs=1.0), "'mesh' is not a kind of link"),
    "end": (lambda t: t.link(A, "sip0.cube0.sram", "command", gbs=1.0), "there is no part 'sip0.cube0.sram'"),
    "group": (lambda t: t.link(A, "sip0.cube0", "command", gbs=1.0), "'sip0.cube0' has no wires"),
    "itself": (lambda t: t.link(A, A, "command", gbs=1.0), "leads to where it begins"),
    "again": (lambda t: t.link(B, A, "router_mesh", gbs=1.0), "is there already"),
    "again one way": (lambda t: t.link(A, B, "router_mesh", gbs=1.0, one_way=True), "is there already"),
    "a wire that is not": (
        lambda t: t.link(A, "sip0.cube0.r1c0", "router_mesh", gbs=1.0, one_way=True, back_weight_mm=2.0),
        "a one-way link has no wire back",
    ),
    "bandwidth": (lambda t: t.link(A, "sip0.cube0.r1c0", "command", gbs=0), "gbs is 0, expected a number"),
    "no time": (lambda t: t.compile(), "the path from 'sip0.cube0.m_cpu' to 'sip0.cube0.sram' takes 0 ns"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_changes_nothing(case: str) -> None:
    made = kb.Topology("bad", ns_per_mm=0.0)
    made.add(A), made.add(B), made.add("sip0.cube0.r1c0", overhead_ns=0.0)
    made.link(A, B, "router_mesh", gbs=1.0)
    if case == "no time":
        made.add("sip0.cube0.m_cpu", overhead_ns=0.0), made.add("sip0.cube0.sram", overhead_ns=0.0)
        for part, kind in (("m_cpu", "command"), ("sram", "router_to_sram")):
            made.link(f"sip0.cube0.{part}", "sip0.cube0.r1c0", kind, gbs=1.0)
    before = None if case == "no time" else everything(made.compile())
    act, message = BAD[case]
    with pytest.raises((UsageError, ConfigError)) as raised:
        act(made)
    assert message in str(raised.value)
    assert str(raised.value).startswith("topology 'bad'")
    assert "\n" not in str(raised.value)
    assert before is None or everything(made.compile()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flit_bytes": 48}, "system_flit_bytes: is 48, expected a power of two"),
        ({"ns_per_mm": -1.0}, "system_ns_per_mm: is -1.0, expected at least 0"),
        ({"address_model": "xa"}, "system_address_model: is the text 'xa', expected 'va', 'pa' or 'la'"),
    ],
)
def test_a_machine_takes_what_a_file_takes(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        kb.Topology("bad", **arguments)
    assert str(raised.value) == f"topology 'bad': {message}"
