"""Overrides of a topology file: what they mean, what they change, and what they leave alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.kinds import COMMON, COMPONENT_KINDS, LINK_KINDS, Form, LinkKind
from kernbench.hardware.routing import Router, Traffic
from kernbench.hardware.topology import TopologySpec, compile_topology, parse
from kernbench.hardware.topology.overrides import FREE, Override, matching, of_links
from kernbench.support.pgraph import Edge, Node, PropertyGraph

HEAD = "schema_version: 1\nname: m\nsystem: {sips: 2}\nsip: {cube_mesh: {w: 2, h: 1}}\n"
LINK = "sip0.cube0.r0c0->sip0.cube0.r0c1"
_TIMES, _RATES = ("_ns", "_cycles"), ("gbs", "_ghz", "_per_ns")


def graph(*overrides: dict[str, Any]) -> PropertyGraph:
    return compile_topology(parse(HEAD + f"overrides: {json.dumps(overrides)}\n"))


@pytest.fixture(scope="module")
def plain() -> PropertyGraph:
    return compile_topology(parse(HEAD))


def everything(graph: PropertyGraph) -> dict[str, dict[str, Any]]:
    parts: list[Node | Edge] = [*graph.nodes(), *graph.edges("LINK")]
    return {part.id: dict(part.properties) for part in parts}


def test_no_kind_that_takes_time_is_forgotten(plain: PropertyGraph) -> None:
    """A time or a rate that is added to a kind is also scaled by its speed."""
    for kind in COMPONENT_KINDS.values():
        if kind.form is Form.GROUP:
            continue
        assert all(key.endswith((*_RATES, "bytes_per_cycle")) for key in kind.rates), kind.kind
        named = {key for key in (*COMMON, *kind.properties) if key.endswith((*_TIMES, *_RATES))}
        # Cycles are counts; the clock beside them is what is faster.
        # A controller has the clock of its DRAM, and the figures of its cache, where it has these. A DMA that
        # takes the PE's time to issue loads has the PE's clock, so its cycles are fewer.
        where_modelled = {"dram_tck_ns", "cache_gbs", "cache_write_gbs", "cache_hit_ns"}
        where_modelled |= {"issue_load_cycles", "issue_bytes_per_cycle"}
        where_modelled |= {"rearrange_cycles", "rearrange_bytes_per_cycle"}
        scaled = {*kind.rates, *kind.times} - where_modelled
        assert named - {"dispatch_cycles", "latency_cycles"} == scaled, kind.kind
    link = next(iter(plain.edges("LINK"))).properties
    assert {key for key in link if key.endswith((*_TIMES, *_RATES))} == {
        *LinkKind.rates,
        *LinkKind.times,
    }


@pytest.mark.parametrize(
    ("where", "components", "links"),
    [
        ("sip0.cube1.pe3.pe_gemm", {"sip0.cube1.pe3.pe_gemm"}, set()),
        (LINK, set(), {LINK}),
        ("kind:switch", {"fabric.switch0"}, set()),
    ],
)
def test_single_places(plain: PropertyGraph, where: str, components: set[str], links: set[str]) -> None:
    assert set(matching(plain, where)) == components | links


def test_kinds_and_groups(plain: PropertyGraph) -> None:
    nodes = {n.id: n for n in plain.nodes() if n.properties["impl"]}
    links = list(plain.edges("LINK"))
    assert set(matching(plain, "kind:router_mesh")) == {
        e.id for e in links if e.properties["kind"] == "router_mesh"
    }
    assert set(matching(plain, "kind:router")) == {
        i for i in nodes if nodes[i].properties["kind"] == "router"
    }
    assert set(matching(plain, "tray")) == {*nodes, *(e.id for e in links)}
    cube = {i for i, n in nodes.items() if (n.properties["sip"], n.properties["cube"]) == (1, 0)}
    assert set(matching(plain, "sip1.cube0")) == cube | {
        e.id for e in links if e.source in cube and e.target in cube
    }
    pe = {i for i in nodes if i.startswith("sip0.cube0.pe1.")}
    inside = set(matching(plain, "sip0.cube0.pe1"))
    assert inside >= pe
    assert {i for i in inside if "->" in i} == {
        e.id for e in links if e.properties["kind"] == "pe_internal" and e.source in pe
    }
    kinds = {str(n.properties["kind"]) for n in nodes.values()}
    assert not kinds & {str(e.properties["kind"]) for e in links}, "kind:NAME would mean two things"


def test_rates_are_multiplied_times_divided_and_nothing_else_changes(plain: PropertyGraph) -> None:
    before, after = everything(plain), everything(graph({"where": "tray", "speed": 4.0}))
    for name, properties in before.items():
        kind = str(properties["kind"])
        scaled = LINK_KINDS[kind] if kind in LINK_KINDS else COMPONENT_KINDS[kind]
        if kind in COMPONENT_KINDS and COMPONENT_KINDS[kind].form is Form.GROUP:
            assert after[name] == properties
            continue
        for key, value in properties.items():
            factor = 4.0 if key in scaled.rates else 0.25 if key in scaled.times else None
            assert after[name][key] == (value if factor is None else value * factor), (name, key)
            assert type(after[name][key]) is type(value)
    assert after["sip0.cube0.pe0.pe_gemm"]["clock_ghz"] == 4.0


def test_only_the_link_meant_changes_though_links_share_properties(plain: PropertyGraph) -> None:
    before, after = everything(plain), everything(graph({"where": LINK, "speed": 0.5}))
    assert {name for name in before if before[name] != after[name]} == {LINK}
    assert (after[LINK]["bw_gbs"], after[LINK]["delay_ns"]) == (
        before[LINK]["bw_gbs"] / 2,
        before[LINK]["delay_ns"] * 2,
    )
    assert after[LINK]["distance_mm"] == before[LINK]["distance_mm"]
    changed = graph({"where": "kind:router_mesh", "speed": 2.0})
    sorts = {id(e.properties) for e in changed.edges("LINK") if e.properties["kind"] == "router_mesh"}
    assert len(sorts) == len(
        {id(e.properties) for e in plain.edges("LINK") if e.properties["kind"] == "router_mesh"}
    )


def test_several_overrides_multiply() -> None:
    gemm = "sip0.cube0.pe0.pe_gemm"
    changed = graph(
        {"where": "kind:pe_gemm", "speed": 3.0},
        {"where": gemm, "speed": 0.5},
        {"where": "sip0.cube0.pe0", "speed": 2},
    )
    assert changed.node(gemm).properties["clock_ghz"] == 3.0
    assert changed.node("sip0.cube0.pe1.pe_gemm").properties["clock_ghz"] == 3.0


def test_free_is_a_speed() -> None:
    assert Override(where="tray", free=True).factor == FREE
    changed = graph({"where": "kind:router", "free": True})
    assert changed.node("sip0.cube0.r0c0").properties["overhead_ns"] == 2.0 / FREE


def test_routes_stay(plain: PropertyGraph) -> None:
    slow = graph({"where": "kind:router_mesh", "speed": 0.01}, {"where": "sip0.cube0.ucie-E", "free": True})
    for target in ("sip0.cube1.hbm_ctrl.pe6", "sip0.cube0.sram", "sip1.cube0.hbm_ctrl.pe0"):
        there = [
            Router(g).route("sip0.cube0.pe0.pe_dma", target, Traffic.PE_DMA).nodes for g in (plain, slow)
        ]
        assert there[0] == there[1]


def test_machines_with_the_same_overrides_have_the_same_id() -> None:
    ids = {
        compile_topology(parse(HEAD + text)).properties["id"]
        for text in (
            "",
            "overrides: []\n",
            "overrides: [{where: tray, speed: 2.0}]\n",
            "overrides: [{where: tray, speed: 3.0}]\n",
        )
    }
    assert len(ids) == 3


def test_a_spec_is_kept_and_read_again() -> None:
    spec = parse(
        HEAD + "overrides:\n  - {where: tray, speed: 2}\n  - {where: kind:pcie, free: true}\n", "m.yaml"
    )
    again = parse(spec.canonical())
    assert again == spec
    assert hash(again.overrides) == hash(spec.overrides)
    assert again.overrides[0] != Override(where="tray", speed=3.0)
    assert compile_topology(again).properties["id"] == compile_topology(spec).properties["id"]
    assert spec.overrides[1].written_at == "m.yaml:7"


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("kind:ruter", "'kind:ruter' matches nothing, did you mean 'kind:router'?"),
        ("kind:pe", "'kind:pe' matches nothing, "),
        ("sip0.cube0.pe0.pe_gem", "matches nothing, did you mean 'sip0.cube0.pe0.pe_gemm'?"),
        (LINK[:-1] + "9", f"matches nothing, did you mean '{LINK}'?"),
        ("sip0.cube0.r0cx->there", "matches nothing, did you mean 'sip0.cube0.r0c"),
        ("everything", "matches nothing, expected a component such as "),
        ("kind:ucie_conn", "'kind:ucie_conn' takes no time on this machine, "),
        ("sip0.cube0.pe0.pe_scheduler", "takes no time on this machine, "),
    ],
)
def test_a_place_that_means_nothing_is_reported_with_its_line(where: str, message: str) -> None:
    text = HEAD + f"overrides:\n  - speed: 2.0\n    where: '{where}'\n"
    with pytest.raises(ConfigError) as wrong:
        compile_topology(parse(text, "m.yaml"))
    assert str(wrong.value).startswith("m.yaml:7: overrides.0.where: ")
    assert message in str(wrong.value)
    with pytest.raises(ConfigError, match=r"^topology 'x': overrides\.0\.where: "):
        compile_topology(TopologySpec(name="x", overrides=(Override(where="nowhere", speed=2.0),)))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{where: tray}", "overrides.0: has neither speed nor free, expected one of"),
        ("{where: tray, free: false}", "overrides.0: has neither speed nor free"),
        ("{where: tray, speed: 2.0, free: true}", "overrides.0: has both speed and free"),
        ("{where: tray, speed: 0}", "overrides.0.speed: is 0, expected at least 1e-12"),
        ("{where: tray, speed: .inf}", "overrides.0.speed: is inf, expected"),
        ("{where: tray, speed: fast}", "overrides.0.speed: is the text 'fast', expected a number"),
        ("{where: tray, sped: 2}", "overrides.0.sped: unknown key, did you mean 'speed'?"),
        ("{speed: 2}", "overrides.0.where: is missing"),
    ],
)
def test_an_entry_that_is_wrong_is_reported_with_its_line(entry: str, message: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        parse(HEAD + f"overrides:\n  - {entry}\n", "m.yaml")
    assert str(wrong.value).startswith(f"m.yaml:6: {message}")


def test_speeds_that_multiply_beyond_all_bounds_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"overrides\.3\.where: the speeds of 'fabric\.switch0' multiply to 1e\+48"
    ):
        graph(*({"where": "fabric.switch0", "free": True} for _ in range(4)))
    with pytest.raises(UsageError, match="matches nothing"):
        matching(graph(), "")


@pytest.mark.parametrize(
    ("where", "rate", "delay", "of"),
    [
        ("kind:router_mesh.width", 2.0, 1.0, "width"),
        ("kind:router_mesh.delay", 1.0, 2.0, "delay"),
        ("kind:router_mesh", 2.0, 2.0, "width and delay"),
        ("kind:router_mesh.width + kind:router_mesh.delay", 2.0, 2.0, "width and delay"),
        (f"{LINK}.width", 2.0, 1.0, "width"),
        ("sip0.cube0.delay", 1.0, 2.0, "delay"),
        ("sip0", 2.0, 2.0, "width and delay"),
        ("kind:router", 1.0, 1.0, ""),
    ],
)
def test_width_and_delay_of_links_are_two_things(
    plain: PropertyGraph, where: str, rate: float, delay: float, of: str
) -> None:
    made, own = graph({"where": where, "speed": 2.0}), plain.edge(LINK).properties
    link = made.edge(LINK).properties
    assert (link["bw_gbs"], link["delay_ns"]) == (own["bw_gbs"] * rate, own["delay_ns"] / delay)
    assert of_links(plain, where) == of
    others = {name: properties for name, properties in everything(made).items() if "->" not in name}
    if where.endswith((".width", ".delay")):
        assert others == {name: ps for name, ps in everything(plain).items() if "->" not in name}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("kind:router.width", "'kind:router' has no width: it means no links; leave out '.width'"),
        ("kind:pe_internal.delay", "the delay of 'kind:pe_internal' is 0 ns on this machine"),
        ("kind:nothing.width", "'kind:nothing' matches nothing"),
        ("kind:router_mesh.speed", "'kind:router_mesh.speed' matches nothing"),
    ],
)
def test_what_has_no_width_or_delay_is_an_error(plain: PropertyGraph, where: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        matching(plain, where)
