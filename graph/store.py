"""What every store can do, the records it keeps and the errors it raises.

A store keeps runs (:class:`RunRecord`) and the topologies they ran on (:class:`TopologyRecord`), and
answers Cypher over the property graph described in :mod:`graph.schema`. Callers hold a
:class:`GraphStore` from :func:`open_store` and never see the library behind it. Importing this module is
cheap: pyarrow and the Cypher engine are loaded when first needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

QUERY_TIMEOUT_S = 60.0
"""How long a query may run before it is stopped, unless the caller says otherwise."""


class StoreError(Exception):
    """Root of all errors that stores raise on purpose. One line: what, where, what to do."""


class StoreUrlError(StoreError, ValueError):
    """The store URL is not of a kind that this installation can open."""


class RunNotFoundError(StoreError, LookupError):
    """No run, or more than one, goes by that reference; the message lists what there is."""


class ArchiveError(StoreError, ValueError):
    """A record is damaged or does not fit the schema; the message names file or table, and the remedy."""


class SchemaVersionError(ArchiveError):
    """A record was written under another schema version; the message names both."""


class QueryError(StoreError, ValueError):
    """A query or question is wrong: syntax, unknown name, unknown or missing parameter, wrong columns."""


class ReadOnlyError(QueryError, PermissionError):
    """A query tries to do something else than read."""


class QueryTimeoutError(QueryError, TimeoutError):
    """A query took longer than it was given."""


@dataclass(frozen=True, slots=True)
class TopologyRecord:
    """A compiled topology as it is kept: properties, and tables by name (Component, Link, Contains)."""

    id: str
    name: str
    spec: str
    tables: Mapping[str, pa.Table]
    schema_version: str = "1"
    """Version of the topology file's format (not of the archive)."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as it is kept: properties of its Run node, and tables by name (see :mod:`graph.schema`).

    ``info`` needs ``bench`` and ``topology``; ``id`` is given by the store when absent; other Run
    properties default to empty, 0 or -1. Further keys are kept and handed back, but are not in the graph;
    their values must be JSON values. Tables that are absent count as empty.
    """

    info: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query. Values are plain Python: str, int, float, bool, None, list, dict."""

    columns: list[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def dicts(self) -> list[dict[str, Any]]:
        """Each row as a dictionary keyed by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)


@runtime_checkable
class GraphStore(Protocol):
    """A place where runs are kept and asked about. Safe to use from several threads."""

    engine: str
    """Cypher dialect: a question's ``cypher_<engine>`` is preferred over its ``cypher``."""
    notes: list[str]
    """Things that went otherwise than planned but harmed nobody, such as a cache that was rebuilt."""

    @property
    def url(self) -> str:
        """What :func:`open_store` was given."""

    def keep(self, run: RunRecord, topology: TopologyRecord) -> str:
        """Keep a run and its topology; return the run id. All of it becomes visible at once, or nothing.

        ``ArchiveError`` when the record does not fit the schema, ``StoreError`` when the id is taken.
        """

    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run, in the order in which they were kept."""

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N`` (N before the last), an id, or a unique prefix of one."""

    def remove(self, run_id: str) -> None:
        """Forget a run; ``RunNotFoundError`` when there is none of that id."""

    def set_tags(self, run_id: str, tags: Sequence[str]) -> None:
        """Replace a run's tags."""

    def load(self, run_id: str) -> RunRecord:
        """The record of a run; its tables are read when first looked at."""

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology; ``StoreError`` when there is none of that id."""

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        run: str | None = None,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> Result:
        """Ask Cypher of the graph of one run (an id or reference), or, for None, of the history.

        The history holds every Run with its Topology and what it USED. Reads only: anything else is a
        ``ReadOnlyError``. Parameters are bound, never pasted.
        """

    def close(self) -> None:
        """Let go of files and memory. The store must not be used afterwards."""

    def __enter__(self) -> Self:
        """``with open_store(url) as store:`` closes it at the end."""

    def __exit__(self, *error: object) -> None:
        """Close."""


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_NEO4J = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")


def open_store(url: str | Path) -> GraphStore:
    """Open the store behind ``url``: ``memory:``, a folder's path (it need not exist yet), or a server.

    ``neo4j://host:port`` and ``bolt://host:port`` (also ``+s``, ``+ssc``) are Neo4j servers, with credentials
    from the environment (:mod:`graph.stores.neo4j_address`). ``StoreUrlError`` for anything else; the message
    never repeats credentials.
    """
    text = str(url)
    scheme = _SCHEME.match(text)
    if text == "memory:":
        from graph.stores.memory import MemoryStore

        return MemoryStore()
    if scheme and scheme.group(1).lower() in _NEO4J:
        return _open_neo4j(text)
    if not text.strip() or scheme:
        shown = f"{scheme.group(1)}:..." if scheme else text
        raise StoreUrlError(
            f"store '{shown}' is not a store URL; use the path of a folder, 'memory:' or 'neo4j://host:7687'"
        )
    path = Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise StoreUrlError(f"store '{text}' is a file, but a store is a folder; give the path of a folder")
    from graph.stores.embedded import EmbeddedStore

    return EmbeddedStore(path, text)


def _open_neo4j(url: str) -> GraphStore:
    if find_spec("neo4j") is None:
        raise StoreUrlError(
            "stores on Neo4j need the official driver; pip install 'kernbench[neo4j]', "
            "or use the path of a folder"
        )
    from graph.stores.neo4j import Neo4jStore

    return Neo4jStore(url)


_LAST = re.compile(r"last(?:~(\d{1,9}))?")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")


def check_id(what: str, value: object) -> str:
    """``value`` as an id that is safe as a folder's name, or ``ArchiveError``."""
    if not isinstance(value, str) or not _ID.fullmatch(value) or _LAST.fullmatch(value):
        raise ArchiveError(
            f"{what} id {value!r} cannot be used; use up to 128 letters, digits, '.', '_', '+', '-', "
            "starting with a letter or digit, and not 'last'"
        )
    return value


def resolve_ref(ref: str, ids: Sequence[str]) -> str:
    """The id in ``ids`` (oldest first) that ``ref`` means; ``RunNotFoundError`` lists what there is."""
    if ref in ids:
        return ref
    if last := _LAST.fullmatch(ref):
        back = int(last.group(1) or 0)
        if back < len(ids):
            return ids[-1 - back]
        raise RunNotFoundError(f"run '{ref}' does not exist: {_listing(ids)}")
    matches = [run_id for run_id in ids if ref and run_id.startswith(ref)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise RunNotFoundError(f"run '{ref}' could be any of {', '.join(matches[:8])}; give more of the id")
    raise RunNotFoundError(f"no run '{ref}': {_listing(ids)}")


def _listing(ids: Sequence[str]) -> str:
    if not ids:
        return "the store holds no runs that can be read; keep one first"
    newest = ", ".join(reversed(ids[-8:]))
    return f"the store holds {len(ids)}: {newest}{', ...' if len(ids) > 8 else ''} (newest first)"
