"""Tables that were worked out and kept beside a run are used only where they are what was kept."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from kernbench_graph import worked_out
from kernbench_graph.archive.canonical import arrow_schema
from kernbench_graph.schema import SCHEMA
from kernbench_graph.worked_out import FACTS, Beside

VALUES = {"string": "abc", "int64": 12345678, "int32": 7, "double": 1234.5678, "bool": True}


@pytest.mark.daily("31")
@pytest.mark.parametrize("every", [3, 31])
def test_a_flipped_bit_is_noticed_or_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(worked_out, "_PIECE", 16)
    name = FACTS[0]
    columns = SCHEMA.table(name).columns
    rows = [
        {c.name: VALUES[c.type] * n if c.type == "int64" else VALUES[c.type] for c in columns}
        for n in range(40)
    ]  # type: ignore[operator]
    table = pa.Table.from_pylist(rows, schema=arrow_schema(SCHEMA.table(name)))
    beside = Beside(tmp_path, "content")
    beside.write(name, table)
    found = beside.read(name)
    assert found is not None
    assert found.equals(table)
    file = tmp_path / f"{name}.parquet"
    data = file.read_bytes()
    noticed = 0
    for place in range(0, len(data), every):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        file.write_bytes(flipped)
        found, part = beside.read(name), beside.read(name, ["abc"])
        noticed += found is None
        assert found is None or found.equals(table)
        assert part is None or part.equals(table)
    assert noticed > len(data) // (2 * every)
