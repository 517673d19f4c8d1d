"""Every store that this installation can open, so that one suite runs on all of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from tempfile import mkdtemp

import pytest

from graph.store import GraphStore, open_store

NewStore = Callable[[], AbstractContextManager[GraphStore]]


@pytest.fixture(params=["memory", "embedded", "neo4j"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> NewStore:
    """``with new_store() as store``: another empty store of each kind."""

    if request.param == "neo4j":
        url = request.getfixturevalue("neo4j_url")
        return lambda: closing(open_store(f"{url}-{secrets.token_hex(8)}"))

    def make() -> AbstractContextManager[GraphStore]:
        return closing(open_store("memory:" if request.param == "memory" else mkdtemp(dir=tmp_path)))

    return make


@pytest.fixture
def store(new_store: NewStore) -> Iterator[GraphStore]:
    """One empty store of each kind."""
    with new_store() as opened:
        yield opened
