"""Tags that several writers give and take at once: none is lost, and none goes to a run that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.archive import record as archive
from kernbench_graph.errors import RunNotFoundError
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import sample


@contextmanager
def another(store: GraphStore) -> Iterator[GraphStore]:
    """The same store as another process would open it; in memory there is only one."""
    if store.url == "memory:":
        yield store
    else:
        with open_store(store.url) as opened:
            yield opened


def test_writers_at_once_lose_no_tag(store: GraphStore) -> None:
    store.keep(*sample(id="a", tags=["first", "gone"]))
    names = [f"{writer}-{number}" for writer in range(4) for number in range(6)]

    def write(writer: int) -> None:
        with another(store) as mine:
            for name in names[writer * 6 : writer * 6 + 6]:
                assert name in mine.change_tags("a", add=[name], remove=["gone"])

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(write, writer) for writer in range(4)]:
            done.result()
    tags = store.change_tags("a")
    assert tags[0] == "first"
    assert sorted(tags[1:]) == sorted(names)
    rows = store.query("MATCH (r:Run {id: $run}) RETURN r.tags AS tags", run="a").rows
    assert rows == [(archive.manifest.json_text(tags, "tags"),)]


def test_a_run_that_is_not_there_gets_no_tag(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    for name in ("b", "last", "../runs/a", ""):
        with pytest.raises(RunNotFoundError):
            store.change_tags(name, ["x"])
    assert store.runs()[0]["tags"] == "[]"


def test_a_run_that_goes_while_it_is_tagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(str(tmp_path / "s")) as store, open_store(str(tmp_path / "s")) as other:
        store.keep(*sample(id="a"))
        change = archive.change_tags

        def late(*arguments: Any) -> Any:
            other.remove("a")
            return change(*arguments)

        monkeypatch.setattr(archive, "change_tags", late)
        with pytest.raises(RunNotFoundError, match="no run 'a'"):
            store.change_tags("a", ["x"])
        assert not (tmp_path / "s" / "runs" / "a").exists()


def test_finding_the_last_run_costs_one_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(str(tmp_path / "s")) as store:
        for number in range(20):
            store.keep(*sample(id=f"z{19 - number:02}"))
        assert store.resolve("last") == "z00"
    read: list[str] = []
    read_info = archive.read_info

    def counting(folder: Path) -> Any:
        read.append(folder.name)
        return read_info(folder)

    monkeypatch.setattr(archive, "read_info", counting)
    with open_store(str(tmp_path / "s")) as store:
        assert [store.resolve(ref) for ref in ("last", "last~3", "z00", "z1")[:3]] == ["z00", "z03", "z00"]
        assert read == ["z00", "z03"]
        with pytest.raises(RunNotFoundError, match="could be any of"):
            store.resolve("z1")
        store.keep(*sample(id="new"))
        read.clear()
        assert store.resolve("last") == "new"
        assert read == ["new", "new"]  # noted, and looked at
        (tmp_path / "s" / "runs" / "new" / "manifest.json").write_text("x")
        assert store.resolve("last") == "z00"
        store.remove("z00")
        assert store.resolve("last") == "z01"
