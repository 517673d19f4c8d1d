"""The store behind ``neo4j://`` and ``bolt://`` URLs: runs in a Neo4j server."""

from __future__ import annotations

from kernbench_graph.errors import StoreUrlError
from kernbench_graph.store import GraphStore

_ENCRYPTION = ("", "s", "ssc")


def open_url(url: str) -> GraphStore:
    """Connect to the server at ``url``; ``StoreUrlError`` for another encryption."""
    scheme = url.partition(":")[0]
    name, _, encryption = scheme.partition("+")
    if encryption.lower() not in _ENCRYPTION:
        raise StoreUrlError(
            f"store '{scheme}:...' is not a store URL; use {name}://, {name}+s:// or {name}+ssc://"
        )
    from kernbench_graph.stores.neo4j.store import Neo4jStore

    return Neo4jStore(url)
