"""The schema agrees with itself, with the engine's tables and with the reference pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graph.questions import load_library
from graph.reference import questions_page, schema_page
from graph.schema import SCHEMA
from graph.store import StoreUrlError, open_store
from graph.stores.ladybug_ddl import history_statements, run_statements
from graph.stores.ladybug_engine import LadybugDatabase

ROOT = Path(__file__).parents[2]


def test_names_are_unique_and_refer_to_something() -> None:
    labels = [label.name for label in SCHEMA.labels]
    assert len(set(labels)) == len(labels)
    for label in SCHEMA.labels:
        assert label.property(label.key).type in ("string", "int64")
    for rel in SCHEMA.relationships:
        assert all(set(pair) <= set(labels) for pair in rel.pairs)
    for table in SCHEMA.tables:
        columns = {column.name: column.type for column in table.columns}
        for column, targets in table.references.items():
            for target in targets:
                assert columns[column] == SCHEMA.table(target).columns[0].type
    with pytest.raises(KeyError):
        SCHEMA.label("Nothing")


@pytest.mark.parametrize("statements", [run_statements(), history_statements()])
def test_the_engine_takes_the_tables(statements: list[str]) -> None:
    with LadybugDatabase() as database:
        database.create(statements)
        assert database.query(
            "MATCH (r:Run)-[u:USED]->(p:Link|Component) RETURN count(u) AS n", {}, 5
        ).rows == [(0,)]


def test_reference_pages_are_current() -> None:
    """Otherwise: ``python -m graph.reference``."""
    folder = ROOT / "docs" / "reference"
    assert (folder / "schema.md").read_text(encoding="utf-8") == schema_page()
    assert (folder / "questions.md").read_text(encoding="utf-8") == questions_page(
        load_library(ROOT / "queries")
    )


def test_the_protocol_is_light() -> None:
    script = """
import sys, graph.store, graph.schema, graph.cypher_guard
heavy = [name for name in ("ladybug", "pyarrow", "networkx", "neo4j", "pydantic") if name in sys.modules]
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    "url",
    ["neo4j://me:secret@host", "bolt://host/a/b", "neo4j+s://secret@host", "neo4j:", "bolt://host:secret",
     "neo4j://host?x=secret", "http://me:secret@host", "", " "],
)  # fmt: skip
def test_urls_that_cannot_be_opened(url: str) -> None:
    with pytest.raises(StoreUrlError, match=r"; (set|use) ") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_is_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUrlError, match="is a file"):
        open_store(tmp_path / "file")


def test_opening_a_store_writes_nothing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "new"))
    assert store.runs() == []
    assert store.url == str(tmp_path / "new")
    assert not (tmp_path / "new").exists()
