"""Records that were read last are not read again while they are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernbench_graph.archive import manifest
from kernbench_graph.stores.embedded.recent import Recent

import kernbench as kb
from tests.compiled import compiled


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    found = [tmp_path / name for name in "abc"]
    for folder in found:
        folder.mkdir()
        (folder / manifest.NAME).write_text(folder.name)
    return found


def _read(folder: Path) -> list[str]:
    return [(folder / manifest.NAME).read_text()]


def test_a_record_is_read_once_while_it_is_the_same(folders: list[Path]) -> None:
    recent = Recent(_read)
    first = recent.read(folders[0])
    assert recent.read(folders[0]) is first
    (folders[0] / manifest.NAME).write_text("changed")
    assert recent.read(folders[0]) == ["changed"]
    recent.clear()
    assert recent.read(folders[0]) == ["changed"]
    assert recent.read(folders[0]) is not first


def test_the_record_asked_for_longest_ago_makes_room(folders: list[Path]) -> None:
    recent = Recent(_read, most=2)
    a, b = recent.read(folders[0]), recent.read(folders[1])
    assert recent.read(folders[0]) is a
    recent.read(folders[2])
    assert recent.read(folders[0]) is a
    assert recent.read(folders[1]) is not b


def test_a_record_that_has_gone_is_not_given_out(folders: list[Path]) -> None:
    recent = Recent(_read)
    recent.read(folders[0])
    (folders[0] / manifest.NAME).unlink()
    with pytest.raises(FileNotFoundError):
        recent.read(folders[0])


def test_a_store_reads_a_table_once_and_sees_new_tags(tmp_path: Path) -> None:
    run = kb.run("gemm-single-pe", compiled("minimal"), store=tmp_path / "store", check=False)
    with kb.open_store(tmp_path / "store") as store:
        record = store.load(run.id)
        assert store.load(run.id).tables["Hop"] is record.tables["Hop"]
        assert store.load_topology(record.info["topology"]) is store.load_topology(record.info["topology"])
        store.change_tags(run.id, ["good"])
        assert store.load(run.id).info["tags"] == '["good"]'
        store.remove(run.id)
        with pytest.raises(kb.KernBenchError, match="no run"):
            store.load(run.id)
