"""What is in a store's folder and is not what a store writes, and folders with names that others misread."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.archive import manifest
from kernbench_graph.errors import ArchiveError, StoreUrlError
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.graph_records import add_to, sample

COUNT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"


ASKED: tuple[Callable[[GraphStore], object], ...] = (
    lambda store: store.runs(),
    lambda store: store.query(COUNT, run="a", engine="ladybug"),
    lambda store: dict(store.load("a").tables),
    lambda store: dict(store.load_topology("0123456789abcdef").tables),
    lambda store: store.added("a"),
)


def refusal(ask: Callable[[GraphStore], object], store: GraphStore) -> str:
    """What the error says; empty where there is none."""
    try:
        ask(store)
    except ArchiveError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_in_place_of_any_file_hangs_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "whole") as store:
        store.keep(*sample(id="a"))
        add_to(store, "a")
        assert store.query(COUNT, run="a", engine="ladybug").rows == [(2,)]
    files = [path.relative_to(tmp_path / "whole") for path in sorted((tmp_path / "whole").rglob("*"))]
    replaced = 0
    for file in files:
        if not (tmp_path / "whole" / file).is_file():
            continue
        replaced += 1
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        shutil.copytree(tmp_path / "whole", tmp_path / "store")
        (tmp_path / "store" / file).unlink()
        os.mkfifo(tmp_path / "store" / file)
        with open_store(tmp_path / "store") as store:
            refused = [error for error in (refusal(ask, store) for ask in ASKED) if error]
        assert all("not a regular file" in error for error in refused), file
        assert bool(refused) == (file.parts[0] in ("runs", "topologies") and file.suffix != ".added"), file
    assert replaced > 15


@pytest.mark.parametrize(
    ("launches", "place"),
    [
        ("x", "'launches' is not a list"),
        ({"t_start": 1.0}, "'launches' is not a list"),
        ([3], "'t_start' of launch 0 is"),
        (
            [{"launch": 0, "kernel": "a", "t_start": "1", "t_done": 2.0, "pe_ns": 1.0, "pe_times": {}}],
            "'t_start'",
        ),
        (
            [{"launch": 0, "kernel": "a", "t_start": 1, "t_done": 2.0, "pe_ns": 1.0, "pe_times": [1]}],
            "'pe_times'",
        ),
        (
            [{"launch": 0, "kernel": "a", "t_start": 1, "t_done": 2, "pe_ns": 1, "pe_times": {"p": 1}}],
            "'p' of",
        ),
    ],
)
def test_launches_of_a_sealed_manifest_are_what_they_should_be(
    tmp_path: Path, launches: Any, place: str
) -> None:
    run = kb.run("gemm-single-pe", "minimal", store=tmp_path)
    file = tmp_path / "runs" / run.id / "manifest.json"
    content = json.loads(file.read_text())
    content["extra"]["launches"] = launches
    file.write_bytes(manifest.encode(content, "it"))
    with kb.open_store(tmp_path) as store:
        assert store.runs() == []
        assert place in store.notes[0]
        with pytest.raises(ArchiveError, match="its manifest is damaged"):
            store.load(run.id)


def test_a_folder_may_have_a_colon_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("a:b") as store:
        store.keep(*sample(id="a"))
        assert store.query(COUNT, run="a").rows == [(2,)]
    assert (tmp_path / "a:b" / "runs" / "a").is_dir()


def test_a_name_that_is_not_text_is_refused() -> None:
    with pytest.raises(StoreUrlError, match=r"store 'a\\udcff' is not text in UTF-8"):
        open_store("a\udcff")


def test_what_killed_writers_left_goes_when_the_store_is_opened(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.keep(*sample(id="a"))
        add_to(store, "a")
    left = [tmp_path / folder / ".tmp-1-aa" for folder in ("runs", "topologies", "added", "cache")]
    for path in left:
        path.mkdir(parents=True)
    files = [tmp_path / place / ".tmp-1-bb" for place in ("cache", "runs/a", "added/a")]
    young = tmp_path / "cache" / ".tmp-1-cc"
    for file in [*files, young]:
        file.write_text("{")
        os.utime(file, (time.time() - 7200,) * 2)
    os.utime(young)
    with open_store(tmp_path) as store:
        assert not any(path.exists() for path in left)
        store.change_tags("a", ["x"])
        store.add("a", "annotation x", {})
        add_to(store, "a")
    assert [file for file in files if file.exists()] == []
    assert young.exists()
