"""Every store that this installation can open, so that one suite runs on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from tempfile import mkdtemp

import pytest
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import made_here
from tests.neo4j_server import empty

SAME_IN_MEMORY = (
    "test_store_advice.py",
    "test_measured_questions.py",
    "test_doors.py",
    "test_several_runs.py",
    "test_store_additions.py",
    "test_store_configuration.py",
    "test_store_entities.py",
    "test_store_plans.py",
    "test_store_running.py",
    "test_store_traffic.py",
    "test_store_hostile.py",
    "test_store_routes.py",
    "test_store_graph.py",
    "test_store_questions.py",
    "test_store_simulated.py",
    "test_store_over_time.py",
    "test_store_windows.py",
)
"""``memory:`` shares what they test with the embedded store, which adds the files.

CI asks the embedded store, and a server, about many runs, and the one in memory about few: it asks the same
engines in the same texts, so that few show a store that hands them other rows or parameters. What every store
promises, ``test_store_contract.py``, is asked of the one in memory every day.
"""

NewStore = Callable[[], AbstractContextManager[GraphStore]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to CI what is asked of the embedded store as well, and of what that is asked about, many runs."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        call = getattr(item, "callspec", None)
        size = call and call.params.get("size", call.params.get("hostile"))
        if item.path.name in SAME_IN_MEMORY and call and call.params.get("new_store") == "memory":
            item.add_marker(pytest.mark.slow)
            if size == "many" or item.path.name == "test_measured_questions.py":  # two runs of 3,000 hops
                left.append(item)
                continue
        elif call and (call.params.get("new_store"), size) == ("neo4j", "few"):
            left.append(item)  # where there is a server, it is asked about many
            continue
        kept.append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.fixture(params=["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> NewStore:
    """``with new_store() as store``: an empty store of each kind; on a server it empties the one before."""
    if request.param == "neo4j":
        url, server = request.getfixturevalue("neo4j_url"), request.getfixturevalue("neo4j_server")

        opened = []

        def emptied() -> AbstractContextManager[GraphStore]:
            if opened:  # it is empty at first
                empty(server)
            opened.append(url)
            return closing(_opened(url))

        return emptied

    def make() -> AbstractContextManager[GraphStore]:
        return closing(_opened("memory:" if request.param == "memory" else mkdtemp(dir=tmp_path)))

    return make


def _opened(url: str) -> GraphStore:
    store = open_store(url)
    store.computed = made_here(store)
    return store


@pytest.fixture
def store(new_store: NewStore) -> Iterator[GraphStore]:
    """One empty store of each kind."""
    with new_store() as opened:
        yield opened
