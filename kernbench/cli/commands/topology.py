"""``kernbench topology``: check a topology file, count its parts, show a route."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

import kernbench as kb
from kernbench.api.topologies import (
    TRAFFIC,
    check_routes,
    topology_area,
    topology_counts,
    topology_differences,
    topology_kinds,
    topology_overrides,
    topology_schema,
    topology_warnings,
)
from kernbench.cli import completion, options
from kernbench.cli.group import Command, Entry, LazyGroup
from kernbench.cli.output import emit, format_option, number, print_table, say
from kernbench.hardware.topology.harvest import COUNTED, lost
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.sizes import counted, size_text

_HERE = "kernbench.cli.commands"

command = LazyGroup(
    "topology",
    help="Check, show, compare and draw topologies.",
    entries={
        "check": Entry(f"{_HERE}.topology:check", "Validate a topology file."),
        "show": Entry(f"{_HERE}.topology:show", "Count its parts, or show the route between two of them."),
        "diff": Entry(f"{_HERE}.topology:diff", "Show the differences of two topologies."),
        "kinds": Entry(f"{_HERE}.topology:kinds", "List the kinds of parts and of wires."),
        "schema": Entry(f"{_HERE}.topology:schema", "Print the JSON Schema of topology files, for editors."),
        "diagram": Entry(f"{_HERE}.topology_diagram", "Draw it, optionally with a run's utilisation."),
    },
    examples=["kernbench topology show default --from sip0.cube0.pe0 --to sip0.cube5.hbm_ctrl.pe0"],
)


@click.command("check", cls=Command, examples=["kernbench topology check default"])
@options.file()
@options.changes
@options.timeout
@format_option
def check(file: str, topo: dict[str, str], components: str | None, fmt: str) -> None:
    """Check whether FILE is a valid topology: a path, or the name of a shipped one.

    Each mistake is listed with its line in FILE, its key and what was expected. Routes that can deadlock
    with finite link buffers are errors too. Parts that no message can reach, and PEs on which no kernel can
    run, are warnings.
    """
    graph = kb.load_topology(file, topo, components)
    check_routes(graph)
    facts: dict[str, Any] = {
        "topology": graph.properties["name"],
        "id": graph.properties["id"],
        "components": sum(1 for node in graph.nodes() if node.properties["impl"]),
        "links": sum(1 for _ in graph.edges("LINK")),
        "overrides": len(topology_overrides(graph)),
        "lost": lost(graph),
    }
    found = topology_warnings(graph)
    if fmt == "table":
        told = f"{facts['components']} components, {facts['links']} links"
        if facts["overrides"]:
            told += f", {counted(facts['overrides'], 'override')}"
        say(f"{file}: valid, {told}, id {facts['id']}")
        if gone := facts["lost"]:
            say(f"lost for good: {', '.join(_lost(what, one) for what, one in gone.items())}")
        for warning in found:
            say(f"warning: {warning}")
    else:
        row = facts | {"lost": json.dumps(facts["lost"]), "warnings": "; ".join(found)}
        emit(fmt, facts | {"warnings": found}, list(row), [list(row.values())])


def _lost(what: str, one: Mapping[str, int]) -> str:
    """``2 of 132 PEs``, ``2 of 16 GiB of HBM slices``."""
    counted = what in COUNTED
    gone, of = (str(one[key]) if counted else size_text(one[key]) for key in ("lost", "of"))
    return f"{gone} of {of} {what}" if counted else f"{gone} of {of} of {what}"


@click.command("diff", cls=Command, examples=["kernbench topology diff default six-sip-torus"])
@options.file("old", "A")
@options.file("new", "B")
@options.timeout
@format_option
def diff(old: str, new: str, fmt: str) -> None:
    """Show how the topologies A and B differ: keys, defaults included, and numbers of parts by kind."""
    rows = topology_differences(kb.load_topology(old), kb.load_topology(new))
    columns = ("what", "key", "before", "after")
    emit(fmt, rows, columns, [[row[column] for column in columns] for row in rows])


@click.command("kinds", cls=Command, examples=["kernbench topology kinds"])
@format_option
def kinds(fmt: str) -> None:
    """List the kinds of parts and of wires that a topology of parts may name, what each means, and its keys.

    Every part also takes overhead_ns, impl and attributes. A wire without a kind has what its ends make.
    """
    rows = topology_kinds()
    emit(fmt, rows, list(rows[0]), [list(row.values()) for row in rows])


@click.command("schema", cls=Command, examples=["kernbench topology schema > topology.schema.json"])
def schema() -> None:
    """Print the JSON Schema of topology files.

    Editors complete and check keys with it. It does not have rules between keys; 'kernbench topology
    check' checks those.
    """
    say(json.dumps(topology_schema(), indent=2))


@click.command(
    "show",
    cls=Command,
    examples=[
        "kernbench topology show default",
        "kernbench topology show default --from sip0.cube0.pe0 --to sip0.cube5.hbm_ctrl.pe0",
    ],
)
@options.file()
@click.option(
    "--from",
    "src",
    metavar="A",
    shell_complete=completion.parts,
    help="Start of the route: a component, or host.",
)
@click.option("--to", "dst", metavar="B", shell_complete=completion.parts, help="End of the route.")
@click.option(
    "--traffic",
    type=click.Choice(TRAFFIC, case_sensitive=False),
    help="The kind of traffic, which determines the links it may use. [default: what A sends]",
)
@options.changes
@options.timeout
@format_option
def show(
    file: str,
    src: str | None,
    dst: str | None,
    traffic: str | None,
    topo: dict[str, str],
    components: str | None,
    fmt: str,
) -> None:
    """Count the parts of the topology FILE, or show the route that traffic takes from A to B."""
    if (src is None) != (dst is None):
        raise click.UsageError("--from and --to go together; give both or neither")
    graph = kb.load_topology(file, topo, components)
    if src is None or dst is None:
        if traffic is not None:
            raise click.UsageError("--traffic needs --from and --to")
        _show_counts(graph, fmt)
    else:
        _show_route(kb.route(graph, src, dst, traffic), fmt)


def _show_counts(graph: PropertyGraph, fmt: str) -> None:
    counts = topology_counts(graph)
    properties = {key: value for key, value in graph.properties.items() if key != "spec"}
    overrides, area = topology_overrides(graph), topology_area(graph)
    rows = [
        (what, kind, count, area.get(kind) if what == "components" else None)
        for what, kinds in counts.items()
        for kind, count in kinds.items()
    ]
    emit(
        fmt,
        {**properties, **counts, "overrides": overrides, "area_mm2": area},
        ("what", "kind", "count", "area_mm2"),
        rows,
        heading=lambda: [
            *(f"{key}: {value}" for key, value in properties.items()),
            f"area of the kinds that have a figure: {number(sum(area.values()))} mm2",
        ],
    )
    if overrides and fmt == "table":
        say("\noverrides")
        print_table(list(overrides[0]), [list(override.values()) for override in overrides])


def _show_route(route: dict[str, object], fmt: str) -> None:
    hops = route["hops"]
    assert isinstance(hops, list)
    wires = ("wire",) if any(hop["wire"] for hop in hops) else ()
    columns = ("node", "link_kind", *wires, "bw_gbs", "distance_mm", "weight")
    emit(
        fmt,
        route,
        columns,
        [[hop[column] for column in columns] for hop in hops],
        heading=lambda: [
            f"{route['src']} to {route['dst']} as {route['traffic']}: {len(hops) - 1} links, "
            f"weight {number(float(str(route['weight'])))}"
        ],
    )
