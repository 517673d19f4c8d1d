"""``Run.to_csv`` and ``Run.to_parquet``."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

import kernbench as kb
from kernbench.errors import UsageError


@pytest.fixture(scope="module")
def gemm() -> kb.Run:
    return kb.run("gemm-single-pe", "minimal", store="memory:")


def test_parquet_is_the_archive(gemm: kb.Run, tmp_path: Path) -> None:
    files = gemm.export("parquet", tmp_path / "out")
    assert {Path(file).name for file in files} == {"run.json", *(f"{name}.parquet" for name in gemm.tables)}
    for name, table in gemm.tables.items():
        assert pyarrow.parquet.read_table(tmp_path / "out" / f"{name}.parquet").equals(table)


def test_csv_has_the_values_of_the_archive(gemm: kb.Run, tmp_path: Path) -> None:
    gemm.export("csv", tmp_path)
    for name, table in gemm.tables.items():
        types = {field.name: field.type for field in table.schema}
        options = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        read = pyarrow.csv.read_csv(tmp_path / f"{name}.csv", convert_options=options)
        assert read.to_pylist() == table.to_pylist()
    about = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert about["bench"] == "gemm-single-pe"
    assert about["window"]["name"] == "the whole run"


def test_a_window_has_its_rows_and_what_belongs_to_them(gemm: kb.Run, tmp_path: Path) -> None:
    gemm.export("parquet", tmp_path, launch=0)

    def rows(name: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = pyarrow.parquet.read_table(tmp_path / f"{name}.parquet").to_pylist()
        return found

    ops = {row["number"] for row in rows("Op")}
    assert ops == {
        number for number, launch in zip(gemm.ops["number"], gemm.ops["launch"], strict=True) if launch == 0
    }
    assert {row["op"] for row in rows("Operand")} <= ops
    assert {row["txn"] for row in rows("Hop")} <= {row["number"] for row in rows("Transaction")}
    assert 0 < len(rows("Route")) < gemm.tables["Route"].num_rows
    used = gemm.use(0)
    assert {row["resource"]: row["busy_ns"] for row in rows("Use")} == dict(
        zip(used["resource"], used["busy_ns"], strict=True)
    )


def test_a_file_in_place_of_the_folder_is_refused(gemm: kb.Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="is a file; name a folder"):
        gemm.export("csv", tmp_path / "x")
