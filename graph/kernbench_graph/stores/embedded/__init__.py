"""The store behind a path: archives on disk, LadybugDB as their cache."""

from __future__ import annotations

from pathlib import Path

from kernbench_graph.errors import StoreUrlError
from kernbench_graph.store import GraphStore


def open_url(url: str) -> GraphStore:
    """Open the store in the folder ``url``; ``StoreUrlError`` when that is a file."""
    from kernbench_graph.stores.embedded.store import EmbeddedStore

    try:
        url.encode()
    except UnicodeEncodeError:
        raise StoreUrlError(f"store {url!a} is not text in UTF-8; give its folder another name") from None
    path = Path(url).expanduser()
    if ":" in url:  # which Arrow would take for a URL
        path = path.absolute()
    if path.exists() and not path.is_dir():
        raise StoreUrlError(f"store '{url}' is a file, but a store is a folder; give the path of a folder")
    return EmbeddedStore(path, url)
