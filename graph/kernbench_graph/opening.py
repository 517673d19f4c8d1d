"""Opens the store behind a URL. Kinds of stores are found by the scheme of their URLs.

A package adds a kind of store with an entry point of the group ``kernbench.stores``. Its name is the scheme
(``redis`` for ``redis://host`` and ``redis+tls://host``), its value a function that takes the URL and returns
a :class:`~kernbench_graph.store.GraphStore`. The kinds that come with KernBench are listed here, so that they
work in a checkout that was not installed; their libraries are imported when one of them is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import entry_points
from os import PathLike, fspath
from pkgutil import resolve_name
from typing import cast

from kernbench_graph.errors import StoreUrlError
from kernbench_graph.store import GraphStore

GROUP = "kernbench.stores"
Opener = Callable[[str], GraphStore]

_SHIPPED = {
    "": "kernbench_graph.stores.embedded:open_url",
    "memory": "kernbench_graph.stores.memory:open_url",
    "neo4j": "kernbench_graph.stores.neo4j:open_url",
    "bolt": "kernbench_graph.stores.neo4j:open_url",
}
"""Opener by scheme; without a scheme a URL is a path."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.-]+)(\+[A-Za-z0-9.+-]*)?:")


def open_store(url: str | PathLike[str]) -> GraphStore:
    """Open a store.

    Args:
        url: ``memory:``, a folder's path (it need not exist yet), a server such as ``neo4j://host:7687``, or
            the URL of a kind of store that an installed package provides.

    Returns:
        The store; close it, or use it in a ``with`` statement.

    Raises:
        StoreUrlError: no kind of store has such URLs. The message never repeats credentials.
        StoreError: the store cannot be opened.
    """
    text = fspath(url)
    found = _SCHEME.match(text)
    scheme = found.group(1).lower() if found else ""
    opener = None if not text.strip() or text == ":memory:" else _opener(scheme)  # SQLite's name of one
    if opener is None:
        shown = f"{found.group(1)}:..." if found else text
        raise StoreUrlError(
            f"store '{shown}' is not a store URL; use the path of a folder, 'memory:' or 'neo4j://host:7687'"
        )
    return opener(text)


def _opener(scheme: str) -> Opener | None:
    """The opener for ``scheme``; None when there is none."""
    if scheme in _SHIPPED:
        return cast(Opener, resolve_name(_SHIPPED[scheme]))
    for point in entry_points(group=GROUP, name=scheme):
        return cast(Opener, point.load())
    return None
