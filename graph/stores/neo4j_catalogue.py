"""The catalogue of a store in a Neo4j database: which runs are kept there, their manifests and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from graph import manifest
from graph.schema import SCHEMA, SCHEMA_VERSION
from graph.store import ArchiveError, SchemaVersionError
from graph.stores.neo4j_history import Place
from graph.stores.neo4j_server import Server, Transaction

_KEPT = "MATCH (k:KernbenchRun {key: $key}) WHERE k.state = 'kept' "


class Entry(NamedTuple):
    """A kept run: its id, its manifest, the number of its graph."""

    id: str
    manifest: bytes
    number: int


class Catalogue:
    """Reads of the store ``name``."""

    def __init__(self, server: Server, name: str) -> None:
        self._server, self._name = server, name

    def runs(self) -> list[Entry]:
        """All kept runs, in the order in which they were kept."""
        return [
            Entry(row["id"], bytes(row["manifest"]), row["number"])
            for row in self._server.read(
                lambda tx: tx.run(
                    "MATCH (k:KernbenchRun) WHERE k.store = $store AND k.state = 'kept' "
                    "RETURN k.id AS id, k.manifest AS manifest, k.number AS number ORDER BY k.seq",
                    store=self._name,
                ).data()
            )
        ]

    def ids(self) -> list[str]:
        """Ids of all kept runs, in that order."""
        rows = self._server.read(
            lambda tx: tx.run(
                "MATCH (k:KernbenchRun) WHERE k.store = $store AND k.state = 'kept' "
                "RETURN k.id AS id ORDER BY k.seq", store=self._name,
            ).data()
        )  # fmt: skip
        return [row["id"] for row in rows]

    def run(self, run_id: str) -> Entry | None:
        """A kept run; None when there is none of that id."""
        text = _KEPT + "RETURN k.manifest AS manifest, k.number AS number"
        row = self._one(text, f"{self._name}/{run_id}")
        return None if row is None else Entry(run_id, bytes(row["manifest"]), row["number"])

    def number(self, run_id: str) -> int | None:
        """The number of a kept run's graph; None when there is none of that id."""
        row = self._one(_KEPT + "RETURN k.number AS number", f"{self._name}/{run_id}")
        return None if row is None else int(row["number"])

    def topology(self, topology_id: str) -> bytes | None:
        """The manifest of a topology; None when there is none of that id."""
        text = "MATCH (t:KernbenchTopology {key: $key}) RETURN t.manifest AS manifest"
        row = self._one(text, f"{self._name}/{topology_id}")
        return None if row is None or row["manifest"] is None else bytes(row["manifest"])

    def files(self, owner: str, written: bytes) -> Callable[[], dict[str, bytes]]:
        """Fetches all files of ``owner``, to which the manifest ``written`` belongs."""

        def work(tx: Transaction) -> dict[str, bytes]:
            found: dict[str, bytearray] = {}
            for row in tx.run(
                "MATCH (f:KernbenchFile {owner: $owner}) "
                "RETURN f.name AS name, f.data AS data ORDER BY f.name, f.part", owner=owner,
            ):  # fmt: skip
                found.setdefault(row["name"], bytearray()).extend(row["data"])
            return {name: bytes(data) for name, data in found.items()}

        return lambda: {**self._server.read(work), manifest.NAME: written}

    def place(self) -> Place:
        """The store in the database; number 0 as long as nothing has been kept in it."""
        row = self._one("MATCH (s:KernbenchStore {name: $key}) RETURN s.number AS number", self._name)
        return Place(self._name, 0 if row is None else row["number"])

    def set_tags(self, place: Place, run_id: str, text: str) -> bool:
        """Replace a run's tags in its manifest and in both graphs, at once; False when it is not there."""
        key = place.key(run_id)

        def work(tx: Transaction) -> bool:
            row = tx.run(
                _KEPT + "SET k.beat = timestamp() RETURN k.manifest AS manifest, k.number AS number", key=key
            ).single()
            if row is None:
                return False
            content = json.loads(bytes(row["manifest"]))
            content["wall"]["tags"] = text
            tx.run(
                "MATCH (k:KernbenchRun {key: $key}) MATCH (h:KernbenchHistory {_key: $history}) "
                "MATCH (r:Run {id: $id, _run: $number}) "
                "SET k.manifest = $manifest, h.tags = $tags, r.tags = $tags",
                key=key, history=place.history_key("Run", run_id), id=run_id, number=row["number"],
                manifest=manifest.encode(content, run_id), tags=text,
            ).consume()  # fmt: skip
            return True

        return self._server.write(work)

    def _one(self, text: str, key: str) -> Any:
        return self._server.read(lambda tx: tx.run(text, key=key).single())


def run_info(run_id: str, data: bytes) -> dict[str, Any]:
    """Properties of a run from its manifest, as :func:`graph.archive.read_info` gives them."""
    try:
        content = json.loads(bytes(data))
        version = content["schema_version"]
        if version != SCHEMA_VERSION:
            raise SchemaVersionError(
                f"it has schema version {version!r}, but this KernBench reads version {SCHEMA_VERSION}; "
                "use the KernBench that wrote it"
            )
        values: dict[str, Any] = {"id": run_id} | content["run"] | content["wall"]
        extra: dict[str, Any] = content["extra"]
        return {prop.name: values.get(prop.name) for prop in SCHEMA.run_info} | extra
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError("its manifest is damaged; remove it") from error
