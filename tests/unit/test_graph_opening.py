"""Stores are found by the scheme of their URLs; a package adds a kind with an entry point."""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

import pytest
from kernbench_graph import errors
from kernbench_graph.errors import StoreUrlError
from kernbench_graph.opening import GROUP, open_store

from kernbench.errors import KernBenchError
from kernbench.support.pgraph import GraphStore, RunRecord, topology_record
from tests.compiled import compiled

OTHER_STORE = """
from kernbench_graph.stores.memory import MemoryStore

class OtherStore(MemoryStore):
    pass

def open_url(url):
    store = OtherStore()
    store.asked_for = url
    return store
"""


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package on the path that provides the scheme ``other``, as pip would have installed it."""
    (tmp_path / "other_store.py").write_text(OTHER_STORE)
    metadata = tmp_path / "other_store-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other-store\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\nother = other_store:open_url\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "other_store", raising=False)


@pytest.mark.parametrize("url", ["other:", "other://host/x", "other+tls://host", "OTHER:x"])
@pytest.mark.usefixtures("other_package")
def test_another_store_is_added_without_an_edit(url: str) -> None:
    with open_store(url) as store:
        assert type(store).__name__ == "OtherStore"
        assert vars(store)["asked_for"] == url
        assert isinstance(store, GraphStore)


@pytest.mark.parametrize(
    "url", ["other:", "", "   ", ":memory:", "memory:x", "neo4j+x://h", "bolt+tls://h", "mysql://u:p@h"]
)
def test_an_unknown_url_is_refused_without_showing_credentials(url: str) -> None:
    with pytest.raises(StoreUrlError, match="is not a store URL") as refused:
        open_store(url)
    assert "u:p" not in str(refused.value)


@pytest.mark.parametrize("name", [name for name in dir(errors) if name.endswith("Error")])
def test_every_error_has_one_root_and_a_builtin_that_fits(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, KernBenchError)
    if error is not KernBenchError:
        assert any(base.__module__ == "builtins" and base is not Exception for base in error.__mro__[1:-2])


def test_a_store_in_memory_that_is_never_closed_leaves_nothing_and_warns_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = open_store("memory:")
    store.keep(RunRecord({"id": "one", "bench": "none"}, {}), topology_record(compiled("minimal")))
    store.query("MATCH (r:Run) RETURN count(r) AS runs", {}, "one")
    assert list(tmp_path.iterdir())
    del store
    gc.collect()
    assert list(tmp_path.iterdir()) == []
