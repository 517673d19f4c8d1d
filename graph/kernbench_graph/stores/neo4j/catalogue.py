"""The catalogue of a Neo4j database: which runs are kept there, their manifests, files and detail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kernbench_graph.archive import manifest
from kernbench_graph.archive.brief import brief, brief_version
from kernbench_graph.archive.record import changed_tags, info_of, tag_list
from kernbench_graph.records import is_id
from kernbench_graph.schema_described import TAG_PREFIX
from kernbench_graph.stores.neo4j.files import read_files
from kernbench_graph.stores.neo4j.server import Neo4jServer, Transaction

_IS_KEPT = "WHERE k.state IN ['kept', 'upgrading'] "
"""While its graph is rebuilt, a run is listed, and its record can be loaded."""
_KEPT = "MATCH (k:KernbenchRun {id: $id}) " + _IS_KEPT
_ALL = "MATCH (k:KernbenchRun) " + _IS_KEPT
_IN_ORDER = " ORDER BY k.seq"
_ENTRY = "RETURN k.id AS id, k.manifest AS manifest, k.token AS token, k.detail AS detail"

_LISTED = """WITH k, coalesce(k.briefed, '') = $of AS known
RETURN k.id AS id, CASE WHEN known THEN k.brief END AS brief,
       CASE WHEN known THEN null ELSE k.manifest END AS manifest"""
SET_BRIEF = "k.briefed = $briefed, k.brief = $brief"
_TAG = f"""MATCH (k:KernbenchRun {{id: $id}}) MATCH (r:Run {{id: $id}})
SET k.manifest = $manifest, r.tags = $tags, {SET_BRIEF}
WITH r OPTIONAL MATCH (r)-[:TAGGED]->(old:Tag) DETACH DELETE old
WITH DISTINCT r UNWIND $names AS name
CREATE (r)-[:TAGGED]->(:Tag {{id: r.id + $prefix + name, name: name}})"""


class KeptEntry(NamedTuple):
    """A kept run: id, manifest, a token that no other push has, and how much of it is in the graph."""

    id: str
    manifest: bytes
    token: str
    detail: str


class ListedEntry(NamedTuple):
    """A kept run as a list has it: its short properties in JSON, with the names of the others.

    Of one that a version pushed whose runs have other properties, its manifest instead.
    """

    id: str
    brief: str | None
    manifest: bytes | None


class Pushed(NamedTuple):
    """Which push a kept run is of, and how much of it is in the graph."""

    token: str
    detail: str
    facts: int
    """The version of the facts that were pushed with it; 0 where it was pushed without any."""
    topology: str


class Catalogue:
    """Reads of a database."""

    def __init__(self, server: Neo4jServer) -> None:
        self._server = server

    def runs(self) -> list[ListedEntry]:
        """All kept runs, in the order in which they were kept."""
        text = _ALL + _LISTED + _IN_ORDER
        # Not ``data()``, which copies a manifest byte by byte.
        return self._server.read(lambda tx: [ListedEntry(*row) for row in tx.run(text, of=brief_version())])

    def ids(self) -> list[str]:
        """Ids of all kept runs, in that order."""
        text = _ALL + "RETURN k.id AS id" + _IN_ORDER
        return [row["id"] for row in self._server.read(lambda tx: tx.run(text).data())]

    def run(self, run_id: str) -> KeptEntry | None:
        """A kept run; None when there is none of that id."""
        row = self._server.read(lambda tx: tx.run(_KEPT + _ENTRY, id=run_id).single())
        return None if row is None else _entry(row)

    def pushed(self, ids: Iterable[object]) -> dict[str, Pushed]:
        """How those of ``ids`` that are ids of kept runs were pushed."""
        text = (
            "UNWIND $ids AS id MATCH (k:KernbenchRun {id: id}) WHERE k.state = 'kept' "
            "RETURN k.id AS id, k.token AS token, k.detail AS detail, coalesce(k.facts, 0) AS facts, "
            "k.topology AS topology"
        )
        wanted = list(dict.fromkeys(value for value in ids if is_id(value)))
        rows = self._server.read(lambda tx: tx.run(text, ids=wanted).data()) if wanted else []
        return {row.pop("id"): Pushed(**row) for row in rows}

    def topology(self, topology_id: str) -> bytes | None:
        """The manifest of a topology; None when there is none of that id."""
        text = "MATCH (t:KernbenchTopology {id: $id}) RETURN t.manifest AS manifest"
        row = self._server.read(lambda tx: tx.run(text, id=topology_id).single())
        return None if row is None else bytes(row["manifest"])

    def files(self, owner: str, written: bytes) -> Callable[[], dict[str, bytes]]:
        """Fetches all files of ``owner``, to which the manifest ``written`` belongs."""
        return lambda: {**self._server.read(lambda tx: read_files(tx, owner)), manifest.NAME: written}

    def change_tags(self, run_id: str, add: Sequence[str], remove: Sequence[str]) -> list[str] | None:
        """Change a run's tags in its manifest and in the graph, at once; None when it is not there."""

        def work(tx: Transaction) -> str | None:
            # Written to first, so that no other process changes it between reading and writing.
            row = tx.run(_KEPT + "SET k.busy = true RETURN k.manifest AS manifest", id=run_id).single()
            if row is None:
                return None
            content = manifest.decode(bytes(row["manifest"]), "run", f"the manifest of run '{run_id}'")
            text = changed_tags(content["wall"]["tags"], add, remove)
            content["wall"]["tags"] = text
            data = manifest.encode(content, run_id)
            tx.run(
                _TAG, id=run_id, manifest=data, tags=text, names=tag_list(text), prefix=f"/{TAG_PREFIX}",
                **brief_values(run_id, data),
            ).consume()  # fmt: skip
            return text

        text = self._server.write(work)
        return None if text is None else tag_list(text)


def brief_values(run_id: str, data: bytes) -> dict[str, Any]:
    """Parameters of :data:`SET_BRIEF` for the run whose manifest is ``data``."""
    return {"briefed": brief_version(), "brief": json.dumps(brief(run_info(run_id, data)))}


def _entry(row: Any) -> KeptEntry:
    return KeptEntry(row["id"], bytes(row["manifest"]), row["token"], row["detail"])


def run_info(run_id: str, data: bytes) -> dict[str, Any]:
    """Properties of a run from its manifest, as :func:`~kernbench_graph.archive.record.read_info` gives."""
    return info_of(manifest.decode(data, "run", f"the manifest of run '{run_id}'"), run_id)
