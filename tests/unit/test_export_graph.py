"""The property graph of a run as files, read back by networkx."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import kernbench as kb
from kernbench.errors import UsageError
from tests.compiled import compiled

READERS: dict[str, Any] = {
    "graphml": lambda path: nx.read_graphml(path, force_multigraph=True),
    "gexf": nx.read_gexf,
    "json": lambda path: nx.node_link_graph(json.loads(Path(path).read_text()), edges="links"),
}


@pytest.fixture(scope="module")
def run() -> Any:
    with kb.open_store("memory:") as store:
        yield kb.run("gemm-single-pe", compiled("minimal"), store=store, check=False)


@pytest.mark.daily("json", "graphml")
@pytest.mark.parametrize("form", READERS)
def test_a_file_holds_every_node_and_relationship(run: kb.Run, form: str, tmp_path: Path) -> None:
    (name,) = run.export(form, tmp_path / f"run.{form}")
    found, graph = READERS[form](name), run.graph
    assert sorted(found.nodes) == sorted(data["id"] for _, data in graph.nodes(data=True))
    types = Counter(data["type"] for *_, data in graph.edges(data=True))
    assert Counter(data["relationship"] for *_, data in found.edges(data=True)) == types
    for _, data in graph.nodes(data=True):
        other = found.nodes[data["id"]]
        assert other["labels"] == data["labels"]
        for prop in ("t_submit", "t_start", "bytes", "kind"):
            assert other.get(prop) == data.get(prop), (data["id"], prop)


def test_a_part_of_a_window_is_written_too(run: kb.Run, tmp_path: Path) -> None:
    (name,) = run.export("graphml", tmp_path / "ops.graphml", launch=0, names=("Op", "DEPENDS_ON"))
    labels = {data["labels"] for _, data in nx.read_graphml(name).nodes(data=True)}
    assert labels == {"Op"}


def test_the_ending_says_which_format(run: kb.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"does not end in \.graphml; give it that ending"):
        run.export("graphml", tmp_path / "run.dot")
