"""Everything that a Neo4j database holds besides rows: constraints and indexes from the schema, a version.

Labels that begin with ``Kernbench`` are the store's own: the catalogue of runs and topologies, their archived
files, and the nodes of runs that are not whole yet or not any more.
"""

from __future__ import annotations

import time
from contextlib import suppress

from kernbench_graph.errors import SchemaVersionError, StoreError
from kernbench_graph.schema import READABLE, SCHEMA, SCHEMA_VERSION
from kernbench_graph.stores.neo4j.server import Neo4jServer, RefusedError

_TURNS, _PAUSE_S = 10, 0.3
VERSION = 3
"""Of how this store lays things out. In 1 and 2 every run had a topology of its own."""
HIDDEN = "KernbenchHidden"
"""The label of the node of a run that is being pushed or removed, in place of ``Run``."""
_META = (
    "MATCH (d:KernbenchDatabase {name: 'kernbench'}) RETURN d.version AS version, d.schema_version AS schema"
)
_SET = """MERGE (d:KernbenchDatabase {name: 'kernbench'})
          ON CREATE SET d.kept = 0 SET d.version = $version, d.schema_version = $schema"""
_PRESENT = "SHOW {} YIELD name WHERE name STARTS WITH 'kernbench_' RETURN collect(name) AS names"


def statements() -> list[str]:
    """Constraints and indexes, each harmless when it is there already.

    >>> for text in statements():
    ...     if text.split()[2] in ("kernbench_label_link", "kernbench_link_kind"):
    ...         print(text)
    CREATE CONSTRAINT kernbench_label_link IF NOT EXISTS FOR (n:Link) REQUIRE (n.id) IS UNIQUE
    CREATE INDEX kernbench_link_kind IF NOT EXISTS FOR (n:Link) ON (n.`kind`)
    """
    own = {
        "database": ("KernbenchDatabase", "n.name"),
        "run": ("KernbenchRun", "n.id"),
        "topology": ("KernbenchTopology", "n.id"),
        "lane": ("KernbenchLane", "n.id"),
        "file": ("KernbenchFile", "n.owner, n.name, n.part"),
        "hidden": (HIDDEN, "n.id"),
    }
    keys = own | {f"label_{label.name.lower()}": (label.name, "n.id") for label in SCHEMA.labels}
    found = [
        f"CREATE CONSTRAINT kernbench_{name} IF NOT EXISTS FOR (n:{label}) REQUIRE ({properties}) IS UNIQUE"
        for name, (label, properties) in keys.items()
    ]
    indexed = [("KernbenchRun", "topology")] + [
        (label.name, prop.name)
        for label in SCHEMA.labels
        for prop in label.properties
        if prop.indexed and prop.name != "id"
    ]
    return found + [
        f"CREATE INDEX kernbench_{label.lower()}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.`{name}`)"
        for label, name in indexed
    ]


def create(server: Neo4jServer) -> None:
    """Make the constraints and indexes that are not there."""
    present = {
        what: set(server.read(lambda tx, w=what: tx.run(_PRESENT.format(w)).single(strict=True)["names"]))  # type: ignore[misc]
        for what in ("CONSTRAINTS", "INDEXES")
    }
    missing = [
        statement
        for statement in statements()
        if statement.split()[2]
        not in present["CONSTRAINTS" if statement.startswith("CREATE CONSTRAINT") else "INDEXES"]
    ]
    if not missing:
        return
    for statement in missing:
        create_one(server, statement)
    server.write(lambda tx: tx.run("CALL db.awaitIndexes(60)").consume())


def create_one(server: Neo4jServer, statement: str) -> None:
    """Run one of ``statements``, also while or after another process does or did, and was killed.

    A constraint is made in two steps by the server, its index first; of a client that is killed in between,
    an index is left that belongs to no constraint and is only in the way.
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
            with suppress(StoreError):  # the index of a constraint that is there by now cannot be dropped
                server.write(lambda tx: tx.run(dropping_index(statement)).consume())


def dropping_index(statement: str) -> str:
    """Statement that drops the index which one of ``statements`` makes, for itself or for its constraint.

    >>> print(dropping_index("CREATE INDEX kernbench_run_kind IF NOT EXISTS FOR (n:Run) ON (n.`kind`)"))
    DROP INDEX kernbench_run_kind IF EXISTS
    """
    return f"DROP INDEX {statement.split()[2]} IF EXISTS"


def schema_of(server: Neo4jServer, url: str) -> int | None:
    """The schema version of what the database holds, None where it is unused.

    ``SchemaVersionError`` when this KernBench cannot read it.
    """
    row = server.read(lambda tx: tx.run(_META).single())
    if row is None:
        return None
    for what, found, known, current in (
        ("schema", row["schema"], READABLE, SCHEMA_VERSION), ("layout", row["version"], (VERSION,), VERSION)
    ):  # fmt: skip
        if found not in known:
            raise SchemaVersionError(
                f"store '{url}' has {what} version {found!r}, but this KernBench knows version {current}; "
                "use the KernBench that wrote it, or another database"
            )
    return int(row["schema"])


def check_current(server: Neo4jServer, url: str) -> bool:
    """Whether the database is used; ``SchemaVersionError`` where its graphs are of an older schema."""
    found = schema_of(server, url)
    if found not in (None, SCHEMA_VERSION):
        raise SchemaVersionError(
            f"store '{url}' has graphs of schema version {found}, but this KernBench pushes and asks version "
            f"{SCHEMA_VERSION}; rebuild them with kernbench runs upgrade --store {url}"
        )
    return found is not None


def prepare(server: Neo4jServer, url: str) -> None:
    """Make the database ready where no KernBench has used it. Several processes may do it at once.

    When it is interrupted it is done again, as far as it came: the version is written at the end. A database
    that an older KernBench made ready gets the constraints that labels of newer ones need.
    """
    known = check_current(server, url)
    create(server)
    if not known:
        values = {"version": VERSION, "schema": SCHEMA_VERSION}
        server.write(lambda tx: tx.run(_SET, values).consume())
