"""Machines described in Python: those of the files that they write, and clear about what no machine has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.cli.app import app
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.builder import Parts
from kernbench.hardware.topology.link_parts import LinkParts
from kernbench.hardware.topology.marked_yaml import dump, load_value
from kernbench.support.pgraph import PropertyGraph, topology_graph, topology_id, topology_record
from tests.examples import examples
from tests.small_machines import minimal


def rows(graph: PropertyGraph) -> object:
    return (
        graph.properties,
        [(n.id, n.labels, n.properties) for n in graph.nodes()],
        [(e.id, e.properties) for e in graph.edges()],
    )


def said_again(content: dict[str, Any]) -> kb.Topology:
    """The machine of ``content``, said call by call."""

    def inside(made: Parts, block: dict[str, Any]) -> None:
        for name, use in block.get("parts", {}).items():
            what = use if isinstance(use, dict) else {"block" if use in blocks else "kind": use}
            made.part(name, **what)
        for join in block.get("connect", ()):
            made.connect(**join)

    calls = ("name", "wires", "blocks", "defaults", "links", "parts", "connect")
    blocks = {"pe", "chiplet", "package", "io_chiplet", "tray", *content.get("blocks", {})}
    made = kb.Topology(content["name"], **{key: v for key, v in content.items() if key not in calls})
    for name, keys in content.get("wires", {}).items():
        made.wire(name, **keys)
    for name, block in content.get("blocks", {}).items():
        own = {key: value for key, value in block.items() if key not in ("parts", "connect")}
        inside(made.block(name, **own), block)
    for section, say in (("defaults", made.defaults), ("links", made.links)):
        for name, keys in content.get(section, {}).items():
            for key, value in keys.items():
                say(name, **{key: value})
    inside(made, content)
    return made


@pytest.mark.parametrize("name", ["two-kinds", "mesh-8x8", "a100-4", "minimal"])
def test_what_is_said_call_by_call_is_the_machine_of_the_file(name: str) -> None:
    file = kb.Topology.from_yaml(name)
    made, wanted = said_again(file.to_dict()), kb.load_topology(name)
    assert rows(file.compile()) == rows(compile_topology(parse(file.to_yaml()))) == rows(wanted)
    found = made.compile()
    assert rows(compile_topology(parse(made.to_yaml()))) == rows(found)
    found.properties |= {
        key: wanted.properties[key] for key in ("id", "spec")
    }  # which say r: router in short
    assert rows(found) == rows(wanted)


def test_the_machine_of_a_file_is_itself_and_can_be_added_to() -> None:
    same = kb.Topology.from_yaml("minimal")
    assert rows(same.compile()) == rows(minimal())
    same.part("more", kind="memory", size_bytes="2 MiB")
    same.connect(pair=["tray.fabric.switch0", "more"], wire={"gbs": 64, "delay_ns": 5})
    larger = same.compile()
    assert {node.id for node in larger.nodes()} == {*(node.id for node in minimal().nodes()), "more"}
    assert larger.node("more").properties["size_bytes"] == 2 << 20
    flow = {"src": "host", "dst": "more", "bytes": 640}
    assert kb.traffic([flow], larger).makespan_ns > 0
    joined = kb.Topology.from_yaml("minimal")
    joined.connect(pair=["tray.sip0.cube0.r0c0", "tray.sip0.cube0.r2c1"], wire={"gbs": 64, "delay_ns": 5})
    assert "sip0.cube0.r0c0->sip0.cube0.r2c1" in {edge.id for edge in joined.compile().edges("LINK")}


def line(routers: int = 3, gbs: float = 64.0, **system: object) -> kb.Topology:
    """A row of routers with a sender at the first and a memory at the last."""
    made = kb.Topology("line", system={"flit_bytes": 64, "ns_per_mm": 0.5, **system})
    made.wire("hop", gbs=gbs, mm=2.0)
    made.part("r", kind="router", count=routers, overhead_ns=2.0)
    made.part("cpu", kind="m_cpu", overhead_ns=0.0)
    made.part("sram", kind="sram", overhead_ns=4.0)
    made.connect(mesh="r", wire="hop")
    made.connect(pair=["cpu", "r[0]"], wire={"gbs": gbs})
    made.connect(pair=["sram", f"r[{routers - 1}]"], wire={"gbs": gbs / 2, "delay_ns": 7.0})
    return made


def test_traffic_runs_on_it_and_is_kept(tmp_path: Path) -> None:
    flow = {"src": "cpu", "dst": "sram", "bytes": 64, "op": "write"}
    run = kb.traffic([flow], line(), store=str(tmp_path))
    # 64 bytes: 1 ns on each of three links and 2 on the last; 2 ns a router; flights of 1, 1 and 7 ns; the
    # memory's 4 ns; then the acknowledgement: flights of 9 ns and 6 ns of routers.
    assert run.totals["makespan_ns"] == (3 + 2) + 6 + 9 + 4 + 9 + 6
    assert kb.traffic([flow], line().compile()).totals["makespan_ns"] == run.totals["makespan_ns"]
    kept = kb.open_run(run.id, str(tmp_path))
    assert kept.query("bottleneck/busiest-links").rows


NUMBERS = st.one_of(st.integers(1, 9), st.floats(0.5, 1e17), st.integers(1, 9).map(np.int64))


@examples(40)
@given(st.data())
def test_what_python_makes_comes_back_from_its_text(data: st.DataObject) -> None:
    made = line(data.draw(st.integers(2, 4)))
    ends = ["r[0]", "r[1]"]
    for i in range(data.draw(st.integers(0, 4))):
        step = data.draw(st.sampled_from(["part", "block", "links", "defaults", "one_way"]))
        if step == "part":
            ends.append(made.part(f"x{i}", kind="router", overhead_ns=data.draw(NUMBERS)))
        elif step == "block":
            block = made.block(f"b{i}", port="m", params={"ns": 1})
            block.part("m", kind="memory", access_ns="{ns}")
            block.part("n", kind="memory", size_bytes=1 << 20)
            block.connect(pair=("m", "n"), wire="hop")
            ends.append(made.part(f"y{i}", block=f"b{i}", ns=data.draw(NUMBERS)))
        elif step == "links":
            made.links("router_mesh", arbiter="round_robin", attributes={f"key{i}": "1e9"})
        elif step == "defaults":
            made.defaults("router", issue_ns=data.draw(NUMBERS))
        if step in ("part", "block", "one_way"):
            made.part(f"z{i}", kind="router")
            made.connect(
                pair=[ends[-1], f"z{i}"], one_way=step == "one_way", wire={"gbs": data.draw(NUMBERS)}
            )
    graph = made.compile()
    assert rows(compile_topology(parse(made.to_yaml(), "again.yaml"))) == rows(graph)
    assert rows(kb.load_topology(made)) == rows(graph)
    assert topology_id(topology_graph(topology_record(graph))) == graph.properties["id"]
    text = str(graph.properties["spec"])
    assert compile_topology(parse(text, "kept")).properties["id"] == graph.properties["id"]


@given(st.one_of(st.text(), st.sampled_from(["1e9", "010", "1:30", "on", "~", "0x1f", ".5", "2026-01-01"])))
def test_a_text_stays_the_text_in_a_file(text: str) -> None:
    assert load_value(dump({"key": [text]})) == {"key": [text]}


def test_a_compiled_machine_does_not_follow_later_changes() -> None:
    made = line(3)
    before = made.compile()
    content = made.to_dict()
    made.links("router_mesh", buffer_flits=4)
    made.part("more", kind="router")
    assert rows(before) == rows(line(3).compile())
    assert "more" in made.compile()
    assert "more" not in content["parts"]


def test_wires_get_buffers_and_one_way_links_are_counted() -> None:
    made = kb.Topology("way")
    made.wire("w", gbs=1, delay_ns=1, buffer_flits=4)
    for name in "abc":
        made.part(name, kind="router")
    made.connect(pair=["a", "b"], wire="w")
    assert "one_way_links" not in made.compile().properties
    made.connect(pair=["b", "c"], wire="w", one_way=True)
    graph = made.compile()
    assert graph.properties["one_way_links"] == 1
    assert {edge.id: LinkParts(graph).part(edge).buffer_flits for edge in graph.edges("LINK")} == {
        "a->b": 4,
        "b->a": 4,
        "b->c": 4,
    }


def test_a_slice_has_the_channels_that_it_says() -> None:
    flow = {"src": "cpu", "dst": "hbm", "bytes": 1 << 16, "op": "read"}
    for channels in (8, 2):
        made = kb.Topology("slices")
        made.part("cpu", kind="m_cpu")
        made.part("hbm", kind="hbm_ctrl", n_channels=channels, channel_gbs=16.0, slice_bytes=1 << 20)
        made.connect(pair=["cpu", "hbm"], wire={"gbs": 1000, "delay_ns": 1})
        graph = made.compile()
        assert [n.properties["bw_gbs"] for n in graph.nodes("PseudoChannel")] == [16.0] * channels
        assert graph.node("hbm").properties["slice_gbs"] == channels * 16.0
        took = kb.traffic([flow], graph).totals["makespan_ns"]
        assert 0 < took - (1 << 16) / (channels * 16.0) < 24.0  # the way there and back


CHIP = """
import kernbench as kb

def topology(routers: int = 3, gbs: float = 64.0) -> kb.Topology:
    made = kb.Topology("line", system={"flit_bytes": 64})
    made.wire("hop", gbs=gbs, mm=2.0)
    made.part("r", kind="router", count=routers, overhead_ns=2.0)
    made.part("cpu", kind="m_cpu")
    made.part("sram", kind="sram", overhead_ns=4.0)
    made.connect(mesh="r", wire="hop")
    made.connect(pair=["cpu", "r[0]"], wire="hop")
    made.connect(pair=["sram", f"r[{routers - 1}]"], wire="hop")
    return made
"""


def test_a_python_file_is_a_topology_everywhere(tmp_path: Path) -> None:
    chip, store, flows = tmp_path / "chip.py", str(tmp_path / "s"), tmp_path / "flows.yaml"
    chip.write_text(CHIP, encoding="utf-8")
    flows.write_text("flows: [{src: cpu, dst: sram, bytes: 640}]\n", encoding="utf-8")

    def command(*words: str, status: int = 0) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == status, done.output
        return done.output

    def ns(*words: str) -> float:
        out = command(
            "traffic", str(flows), "--topology", str(chip), *words, "--store", store, "--format", "json"
        )
        return float(json.loads(out)["makespan_ns"])

    base = ns()
    assert ns("--topo", "gbs=32") == ns("--topo", "wires.hop.gbs=32") > base
    assert ns("--topo", "routers=5") > base
    assert ns("--topo", "system.flit_bytes=32") != base
    command("topology", "check", str(chip), "--topo", "system.sips=2", status=1)
    assert ns("--fault", "kind:router=0.5") > base
    assert json.loads(
        command("what-if", "last", "--speed", "kind:router=2", "--store", store, "--format", "json")
    )
    assert "chip.py: valid" in command("topology", "check", str(chip))
    command("topology", "diagram", str(chip), "--view", "system", "--out", str(tmp_path / "chip.svg"))
    chip.write_text(CHIP.replace('kind="sram",', 'kind="sram", size=3,'), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^chip\.py:9: parts\.sram\.size: unknown key"):
        kb.load_topology(chip)
    chip.write_text(CHIP.replace('kind="sram"', 'kind="sram", impl="nothing:Here"'), encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"^chip\.py:9: parts\.sram\.impl: impl 'nothing:Here' does not import"
    ):
        kb.load_topology(chip)
    chip.write_text("topology = 3\n", encoding="utf-8")
    with pytest.raises(UsageError, match="expected 'topology', a kb"):
        kb.load_topology(chip)
    chip.write_text("def topology():\n    return 1 / 0\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"raised ZeroDivisionError.*chip\.py:2"):
        kb.load_topology(chip)


def test_only_trays_have_the_other_views() -> None:
    with pytest.raises(UsageError, match="'line' is not a tray of packages; draw its view system"):
        kb.diagram(line(), "cube")


def test_answers_alone_use_a_wire_of_a_large_weight() -> None:
    made = kb.Topology("ring", system={"flit_bytes": 64, "ns_per_mm": 0.0})
    made.part("r", kind="router", count=4, overhead_ns=1.0)
    for next_, here, weight in (("r[(i + 1) % 4]", "r[i]", 1.0), ("r[i]", "r[(i + 1) % 4]", 100.0)):
        wire = made.wire(f"of{weight:g}", gbs=64.0, delay_ns=1, weight=weight)
        made.connect(pair=[here, next_], each={"i": 4}, wire=wire, one_way=True)
    graph = made.compile()
    way = kb.route(graph, "r0", "r3", "COMMAND")
    assert [hop["node"] for hop in way["hops"]] == ["r0", "r1", "r2", "r3"]
    back = kb.route(graph, "r1", "r0", "COMMAND")
    assert [hop["node"] for hop in back["hops"]] == ["r1", "r2", "r3", "r0"]


@examples(48)
@given(st.integers(2, 7), st.integers(0, 6), st.integers(1, 6), st.booleans())
def test_on_a_ring_of_one_way_links_an_answer_goes_on_around_it(
    nodes: int, start: int, flits: int, is_write: bool
) -> None:
    source, target = start % nodes, (start + 1 + start // nodes) % nodes
    made = kb.Topology("ring", system={"flit_bytes": 64, "ns_per_mm": 0.0})
    node = made.block("node", level="package", port="r")
    node.part("r", kind="router", overhead_ns=1.0)
    node.part("cpu", kind="m_cpu", overhead_ns=0.0)
    node.part("sram", kind="sram", overhead_ns=0.0)
    node.connect(all=["r", "cpu"], wire={"gbs": 64.0})
    node.connect(all=["r", "sram"], wire={"gbs": 64.0})
    made.part("node", block="node", count=nodes)
    far = made.wire("far", gbs=64.0, delay_ns=5.0)
    made.connect(pair=["node[i]", f"node[(i + 1) % {nodes}]"], each={"i": nodes}, wire=far, one_way=True)
    machine = Machine(made.compile())
    sent = machine.flow(f"node{source}.cpu", f"node{target}.sram", 0, 64 * flits, is_write=is_write)
    machine.wait(sent)
    there = (target - source) % nodes
    back = (nodes - there) % nodes
    loaded, empty = (there, back) if is_write else (back, there)
    # Data pay 1 ns on each link, the first of them, and the flits behind one more each; all pay the routers.
    data = loaded + 2 + (flits - 1) + loaded * 5 + (loaded + 1)
    assert sent.ns == pytest.approx(data + empty * 5 + (empty + 1), abs=1e-9)


BAD: dict[str, tuple[Callable[[kb.Topology], object], str]] = {
    "no such kind": (lambda t: t.part("x", kind="route"), "parts.x.kind: 'route' is not a kind of part, did"),
    "neither": (lambda t: t.part("x"), "parts.x: has neither kind nor block"),
    "another model's part": (lambda t: t.part("x", kind="pe_baaw", key=1), "parts.x.key: unknown key"),
    "unknown key": (lambda t: t.part("x", kind="sram", size=4), "parts.x.size: unknown key"),
    "negative": (lambda t: t.part("x", kind="sram", overhead_ns=-1.0), "overhead_ns: is -1.0, expected at"),
    "not a number": (lambda t: t.part("x", kind="sram", overhead_ns=np.nan), "is nan, expected a finite"),
    "text": (lambda t: t.part("x", kind="sram", size_bytes="much"), "parts.x.size_bytes: is"),
    "slice": (lambda t: t.part("x", kind="hbm_ctrl", n_channels=2), "slice_bytes is missing"),
    "wire": (lambda t: t.connect(pair=["a", "c"], wire="hip"), "'hip' is not a wire, did you mean 'hop'"),
    "end": (lambda t: t.connect(pair=["a", "z"], wire="hop"), "connect.1: 'z' is not a part here"),
    "itself": (lambda t: t.connect(pair=["a", "a"], wire="hop"), "joins 'a' to 'a', expected two parts"),
    "again": (lambda t: t.connect(pair=["b", "a"], wire="hop"), "joins 'b' to 'a' again"),
    "bandwidth": (
        lambda t: t.connect(pair=["a", "c"], wire={"gbs": 0}),
        "gbs: is 0, expected a number above",
    ),
    "unused": (
        lambda t: t.wire("hup", gbs=1),
        "wires.hup: no connection names this wire, did you mean 'hop'",
    ),
    "links": (lambda t: t.links("router_mash", arbiter="oldest_first"), "'router_mesh'"),
    "key of links": (lambda t: t.links("hop", buffer_flit=2), "links.hop.buffer_flit: unknown key"),
    "no time": (lambda t: t.connect(pair=["cpu", "sram"], wire={"gbs": 1}), "takes 0 ns"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_an_error_of_the_line_that_said_it(case: str) -> None:
    made = kb.Topology("bad", system={"ns_per_mm": 0.0})
    hop = made.wire("hop", gbs=1, delay_ns=1)
    for name in "abc":
        made.part(name, kind="router")
    for name in ("cpu", "sram"):
        made.part(name, kind={"cpu": "m_cpu"}.get(name, name), overhead_ns=0.0)
    made.connect(pair=["a", "b"], wire=hop)
    made.compile()
    act, message = BAD[case]
    act(made)
    with pytest.raises(ConfigError) as raised:
        made.compile()
    assert message in str(raised.value)
    assert str(raised.value).startswith("test_topology_builder.py:")
    assert "\n" not in str(raised.value)
    if case not in ("no time",):
        here = act.__code__.co_firstlineno  # type: ignore[attr-defined]
        assert str(raised.value).startswith(f"test_topology_builder.py:{here}: ")


def test_what_no_file_can_say_is_refused_at_once() -> None:
    made = line()
    for act, message in (
        (lambda: made.part("r", kind="router"), "topology 'line': parts.r: is there already"),
        (lambda: made.wire("hop", gbs=1), "topology 'line': wires.hop: is there already"),
        (lambda: made.part("x", kind="router", attributes={"a": {1, 2}}), r"parts\.x\.attributes\.a: is"),
        (lambda: kb.Topology("bad", system={"flit_bytes": object()}), r"system\.flit_bytes: is <object"),
    ):
        with pytest.raises(UsageError, match=message):
            act()
    assert rows(made.compile()) == rows(line().compile())


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({"flit_bytes": 48}, "system.flit_bytes: is 48, expected a power of two"),
        ({"ns_per_mm": -1.0}, "system.ns_per_mm: is -1.0, expected at least 0"),
        ({"address_model": "xa"}, "system.address_model: is the text 'xa', expected 'va', 'pa' or 'la'"),
    ],
)
def test_a_machine_takes_what_a_file_takes(system: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=r"^test_topology_builder.py:\d+: ") as raised:
        line(**system).compile()
    assert str(raised.value).endswith(message)


def test_an_error_in_what_a_file_said_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("name: m\nparts:\n  a: router\nwires:\n  w: {gbs: 1}\n")
    with pytest.raises(ConfigError, match=r"m.yaml:5: wires.w: no connection names this wire"):
        kb.Topology.from_yaml(file).compile()
    with pytest.raises(ConfigError, match=r"^override system.flit_bytes: is 48"):
        kb.Topology.from_yaml("minimal", {"system.flit_bytes": 48})
    (tmp_path / "classes.yaml").write_text("mine: tests.unit.test_user_components:Nothing\n")
    file.write_text("name: m\nparts: {a: router}\ncomponents_file: classes.yaml\n")
    assert "mine" in kb.Topology.from_yaml(file).checked().components


def test_a_machine_of_steps_is_refused_with_how_to_say_it_now(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text("name: old\nbuilt:\n  on: nothing\n  steps: [{do: add, what: sip0.cube0.sram}]\n")
    with pytest.raises(ConfigError, match=r"old.yaml:2: built: is a key of former versions: .*'parts'"):
        kb.load_topology(file)
    kept = line().compile()
    kept.properties["spec"] = json.dumps({"name": "line", "sip": {}, "built": {"on": "nothing"}})
    with pytest.raises(
        ConfigError, match=r"topology 'line':1: built: is a key of former versions: .*'faults'"
    ):
        kb.load_topology(kept, {"system.flit_bytes": 32})
    with pytest.raises(UsageError, match="is not a tray"):
        kb.diagram(kept, "cube")
    assert ">cpu<" in kb.diagram(kept, "system")
