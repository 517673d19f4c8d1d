"""What a Neo4j database holds besides rows: constraints and indexes from the schema, and a version.

Labels that begin with ``Kernbench`` are the store's own: the catalogue of runs, their archived files, and the
nodes of the graph over all runs. ``_run`` numbers the graph that a node belongs to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from graph.schema import SCHEMA, SCHEMA_VERSION
from graph.store import SchemaVersionError, StoreError
from graph.stores.neo4j_server import RefusedError, Server

_TURNS, _PAUSE_S = 10, 0.3
VERSION = 2
"""Of how this store lays things out. Raised together with a new entry of ``MIGRATIONS``."""
_META = (
    "MATCH (d:KernbenchDatabase {name: 'kernbench'}) RETURN d.version AS version, d.schema_version AS schema"
)
_SET = """MERGE (d:KernbenchDatabase {name: 'kernbench'})
          ON CREATE SET d.graphs = 0, d.kept = 0 SET d.version = $version, d.schema_version = $schema"""


_OF_2 = ("CREATE INDEX kernbench_run_topology IF NOT EXISTS FOR (n:KernbenchRun) ON (n.store, n.topology)",)


def statements() -> list[str]:
    """Constraints and indexes, each harmless when it is there already."""
    own = {
        "database": ("KernbenchDatabase", "n.name"),
        "run": ("KernbenchRun", "n.key"),
        "file": ("KernbenchFile", "n.owner, n.name, n.part"),
        "topology": ("KernbenchTopology", "n.key"),
        "history": ("KernbenchHistory", "n._key"),
    }
    keys = own | {
        f"label_{label.name.lower()}": (label.name, f"n.`{label.key}`, n._run") for label in SCHEMA.labels
    }
    found = [
        f"CREATE CONSTRAINT kernbench_{name} IF NOT EXISTS FOR (n:{label}) REQUIRE ({properties}) IS UNIQUE"
        for name, (label, properties) in keys.items()
    ]
    for label in SCHEMA.labels:
        found += [
            f"CREATE INDEX kernbench_{label.name.lower()}_{prop.name} IF NOT EXISTS "
            f"FOR (n:{label.name}) ON (n.`{prop.name}`)"
            for prop in label.properties
            if prop.indexed and prop.name != label.key
        ]
    return [*found, *_OF_2]


def _create(server: Server, wanted: Iterable[str]) -> None:
    for statement in wanted:
        _create_one(server, statement)
    server.write(lambda tx: tx.run("CALL db.awaitIndexes(60)").consume())


def _create_one(server: Server, statement: str) -> None:
    """Run one of ``statements``, also while or after another process does or did, and was killed.

    A constraint is made in two steps by the server, its index first; of a client that is killed in between,
    an index is left that is no constraint's and only in the way.
    """
    for turn in range(_TURNS):
        try:
            server.write(lambda tx: tx.run(statement).consume())
            return
        except RefusedError as error:
            if not error.code.startswith("Neo.ClientError.Schema") or turn == _TURNS - 1:
                raise
        time.sleep(_PAUSE_S)
        if turn >= _TURNS // 2:
            name = statement.split()[2]
            with suppress(StoreError):  # the index of a constraint that is there by now cannot be dropped
                server.write(lambda tx: tx.run(f"DROP INDEX {name} IF EXISTS").consume())  # noqa: B023


MIGRATIONS: dict[int, Callable[[Server], None]] = {
    0: lambda server: _create(server, statements()),
    1: lambda server: _create(server, _OF_2),
}
"""From each version to a later one; 0 is a database that no KernBench has used. Each may be done again, as
far as it came when it was interrupted: the version is raised when it is complete.

1 to 2: runs say at once which topology they are on, so that topologies without runs can be removed."""


def version(server: Server, url: str) -> int:
    """The database's version, 0 when unused. ``SchemaVersionError`` when this KernBench cannot use it."""
    row = server.read(lambda tx: tx.run(_META).single())
    if row is None:
        return 0
    for what, found, known in (
        ("layout", row["version"], VERSION), ("schema", row["schema"], SCHEMA_VERSION)
    ):  # fmt: skip
        if not isinstance(found, int) or found > known or found < 1 or (what == "schema" and found != known):
            raise SchemaVersionError(
                f"store '{url}' has {what} version {found!r}, but this KernBench knows version {known}; "
                "use the KernBench that wrote it, or another database"
            )
    return int(row["version"])


def migrate(server: Server, url: str) -> None:
    """Bring the database to ``VERSION``. Several processes may do it at once."""
    found = version(server, url)
    while found < VERSION:
        MIGRATIONS[found](server)
        found = found + 1 if found else VERSION
        values = {"version": found, "schema": SCHEMA_VERSION}
        server.write(lambda tx: tx.run(_SET, values).consume())  # noqa: B023
