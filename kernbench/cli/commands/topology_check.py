"""``kernbench topology check``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import topology_file
from kernbench.cli.output import emit, format_option


@click.command(cls=Command, examples=["kernbench topology check default"])
@click.argument("file")
@format_option
def command(file: str, fmt: str) -> None:
    """Say whether FILE is a valid topology: a path, or the name of one that comes with the package.

    An invalid one is an error that names the line, the key and what was expected there.
    """
    graph = api.load_topology(topology_file(file))
    facts = {
        "topology": graph.properties["name"],
        "id": graph.properties["id"],
        "components": sum(1 for node in graph.nodes() if node.properties["impl"]),
        "links": sum(1 for _ in graph.edges("LINK")),
    }
    if fmt == "table":
        print(f"{file}: valid, {facts['components']} components, {facts['links']} links, id {facts['id']}")
    else:
        emit(fmt, facts, list(facts), [list(facts.values())])
