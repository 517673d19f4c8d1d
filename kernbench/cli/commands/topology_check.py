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
        "overrides": len(api.topology_overrides(graph)),
    }
    if fmt == "table":
        counted = f"{facts['components']} components, {facts['links']} links"
        if facts["overrides"]:
            counted += f", {facts['overrides']} override{'' if facts['overrides'] == 1 else 's'}"
        print(f"{file}: valid, {counted}, id {facts['id']}")
    else:
        emit(fmt, facts, list(facts), [list(facts.values())])
