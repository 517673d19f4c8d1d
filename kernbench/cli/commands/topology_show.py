"""``kernbench topology show``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import topology_file
from kernbench.cli.output import emit, format_option, number, print_table


@click.command(
    cls=Command,
    examples=[
        "kernbench topology show default",
        "kernbench topology show default --from sip0.cube0.pe0 --to sip0.cube5.hbm_ctrl.pe0",
    ],
)
@click.argument("file")
@click.option("--from", "src", metavar="A", help="Where the way begins: a component's name, or host.")
@click.option("--to", "dst", metavar="B", help="Where it ends.")
@click.option(
    "--traffic",
    type=click.Choice(api.TRAFFIC, case_sensitive=False),
    help="What is carried, which decides the links it may use. [default: what A sends]",
)
@format_option
def command(file: str, src: str | None, dst: str | None, traffic: str | None, fmt: str) -> None:
    """Count the parts of the topology FILE, or show the way that traffic takes from A to B."""
    if (src is None) != (dst is None):
        raise click.UsageError("--from and --to go together; give both or neither")
    graph = api.load_topology(topology_file(file))
    if src is None or dst is None:
        if traffic is not None:
            raise click.UsageError("--traffic needs --from and --to")
        _show_counts(graph, fmt)
    else:
        _show_route(api.route(graph, src, dst, traffic), fmt)


def _show_counts(graph: api.PropertyGraph, fmt: str) -> None:
    counts = api.topology_counts(graph)
    rows = [(what, kind, count) for what in ("components", "links") for kind, count in counts[what].items()]
    properties = {key: value for key, value in graph.properties.items() if key != "spec"}
    overrides = api.topology_overrides(graph)
    emit(
        fmt,
        {**properties, **counts, "overrides": overrides},
        ("what", "kind", "count"),
        rows,
        heading=lambda: (f"{key}: {value}" for key, value in properties.items()),
    )
    if overrides and fmt == "table":
        print("\noverrides")
        print_table(list(overrides[0]), [list(override.values()) for override in overrides])


def _show_route(route: dict[str, object], fmt: str) -> None:
    hops = route["hops"]
    assert isinstance(hops, list)
    columns = ("node", "link_kind", "bw_gbs", "distance_mm", "weight_mm")
    emit(
        fmt,
        route,
        columns,
        [[hop[column] for column in columns] for hop in hops],
        heading=lambda: [
            f"{route['src']} to {route['dst']} as {route['traffic']}: {len(hops) - 1} links, "
            f"weight {number(float(str(route['weight_mm'])))} mm"
        ],
    )
