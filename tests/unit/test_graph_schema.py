"""The schema agrees with itself, with the engine's tables and with the reference pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from kernbench_graph.errors import StoreUrlError
from kernbench_graph.opening import open_store
from kernbench_graph.projection import HISTORY
from kernbench_graph.query.library import load_library
from kernbench_graph.query.looked_at import ALL
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.embedded.ddl import statements
from kernbench_graph.stores.embedded.engine import LadybugDatabase
from kernbench_graph.stores.neo4j.style import style

from tools.reference.graph import PICTURE, STYLE, questions_page, schema_page
from tools.reference.schema_pictures import schema_pictures

ROOT = Path(__file__).parents[2]
_LABELS = [label.name for label in SCHEMA.labels]


def test_names_are_unique_and_refer_to_something() -> None:
    labels = [label.name for label in SCHEMA.labels]
    assert len(set(labels)) == len(labels)
    for label in SCHEMA.labels:
        assert label.property(label.key).type in ("string", "int64")
    for rel in SCHEMA.relationships:
        assert all(set(pair) <= set(labels) for pair in rel.pairs)
    for table in SCHEMA.tables:
        for column in table.columns:
            if column.to:
                target = SCHEMA.table(column.to)
                assert target.record in ("topology", table.record)
                assert column.type == target.column(target.key).type, f"{table.name}.{column.name}"
    for rel in SCHEMA.relationships:
        for rows in rel.rows:
            for label, column in (rows.source, rows.target):
                if column:
                    key = SCHEMA.label(label).property(SCHEMA.label(label).key)
                    assert SCHEMA.table(rows.table).column(column).type == key.type
    with pytest.raises(KeyError):
        SCHEMA.label("Nothing")


def test_a_property_has_one_type_wherever_it_occurs() -> None:
    """LadybugDB ends the process, or makes numbers up, where a path has one of two types."""
    assert {name: types for name, types in SCHEMA.properties().items() if len(types) > 1} == {}


def test_every_node_has_a_unique_id_and_a_name() -> None:
    for label in SCHEMA.labels:
        assert [prop.name for prop in label.properties[:2]] == ["id", "name"]
    prefixes = [label.prefix for label in SCHEMA.labels if label.record == "run" and label.key != "id"]
    assert len(set(prefixes)) == len(prefixes)
    assert all(prefixes)


@pytest.mark.parametrize("made", [statements(ALL, {}), statements(HISTORY, {}, by_id=True)])
def test_the_engine_takes_the_tables(made: list[str]) -> None:
    with LadybugDatabase() as database:
        database.create(made)
        text = "MATCH (r:Run)-[:USED]->(u:Use)-[:OF]->(p:Link|Component) RETURN count(u) AS n"
        assert database.query(text, {}, 5).rows == [(0,)]


def test_reference_pages_are_current() -> None:
    """Otherwise: ``python -m tools.reference.graph``."""
    folder = ROOT / "docs" / "reference"
    pictures = [
        (folder / PICTURE.format(n + 1)).read_text(encoding="utf-8") for n in range(len(schema_pictures()))
    ]
    assert pictures == [picture for _, picture in schema_pictures()]
    assert (folder / "schema.md").read_text(encoding="utf-8") == schema_page()
    assert (folder / "questions.md").read_text(encoding="utf-8") == questions_page(
        load_library(ROOT / "queries")
    )
    assert (folder / STYLE).read_text(encoding="utf-8") == style()


def test_the_style_captions_every_label_by_its_name() -> None:
    text = style()
    for label in SCHEMA.labels:
        assert re.search(rf'node\.{label.name} \{{[^}}]*caption: "\{{name\}}";', text), label.name
    assert text.count("{\n") == text.count("\n}")


def test_the_protocol_is_light() -> None:
    script = """
import sys, kernbench_graph.store, kernbench_graph.schema, kernbench_graph.query.guard
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
