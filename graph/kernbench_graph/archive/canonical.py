"""Archive tables in their one canonical form: column types, order, no nulls, ids that refer to something.

What the schema calls ``string`` is a plain Arrow string here, whatever encoding a producer used, so that
equal content gives equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kernbench_graph.errors import ArchiveError
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import Record, Table

ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "int32": pa.int32(),
    "double": pa.float64(),
    "bool": pa.bool_(),
}
"""Arrow type by type of the schema."""


def arrow_schema(table: Table) -> pa.Schema:
    """The Arrow schema of an archive table."""
    return pa.schema(
        [pa.field(column.name, ARROW_TYPES[column.type], nullable=False) for column in table.columns]
    )


def empty_table(table: Table) -> pa.Table:
    """The table without rows."""
    return arrow_schema(table).empty_table()


def canonical_tables(record: Record, tables: Mapping[str, pa.Table], what: str) -> dict[str, pa.Table]:
    """All tables of a record in canonical form and schema order; ``what`` names the record in errors.

    ``ArchiveError`` for an unknown table, a missing or unknown column, a value that does not fit its
    type, a null, or a key that occurs twice.
    """
    wanted = SCHEMA.record_tables(record)
    unknown = [name for name in tables if name not in {table.name for table in wanted}]
    if unknown:
        raise ArchiveError(
            f"{what}: unknown table '{unknown[0]}'; known are {', '.join(table.name for table in wanted)}"
        )
    return {
        table.name: _canonical(table, tables[table.name], what)
        if table.name in tables
        else empty_table(table)
        for table in wanted
    }


def canonical_table(name: str, data: pa.Table, what: str) -> pa.Table:
    """One table in canonical form, one that is computed too; ``what`` names its record in errors.

    ``ArchiveError`` as for :func:`canonical_tables`.
    """
    return _canonical(SCHEMA.table(name), data, what)


def _canonical(table: Table, data: pa.Table, what: str) -> pa.Table:
    names = [column.name for column in table.columns]
    defaults = {column.name: column.default for column in table.columns if column.default is not None}
    missing = [name for name in names if name not in data.column_names and name not in defaults]
    extra = [name for name in data.column_names if name not in names]
    if missing or extra or len(set(data.column_names)) != len(data.column_names):
        wrong = (
            f"lacks column '{missing[0]}'"
            if missing
            else f"has a column '{(extra or ['twice'])[0]}' too many"
        )
        raise ArchiveError(f"{what}: table {table.name} {wrong}; its columns are {', '.join(names)}")
    columns = []
    for field in arrow_schema(table):
        if field.name not in data.column_names:
            columns.append(pa.repeat(pa.scalar(defaults[field.name], field.type), data.num_rows))
            continue
        column = data.column(field.name)
        try:
            column = column.cast(field.type)
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise ArchiveError(
                f"{what}: column {table.name}.{field.name} does not hold {field.type} ({reason}); convert it"
            ) from error
        if column.null_count:
            raise ArchiveError(f"{what}: column {table.name}.{field.name} has empty values; fill them")
        columns.append(column)
    result = pa.table(columns, schema=arrow_schema(table))
    if table.key and pc.count_distinct(result[table.key]).as_py() != result.num_rows:
        raise ArchiveError(f"{what}: column {table.name}.{table.key} has an id twice; ids are unique")
    return result


def check_references(tables: Mapping[str, pa.Table], what: str) -> None:
    """Every id in ``tables`` (canonical, of a run and its topology) is in the table that it refers to.

    ``ArchiveError`` names column and first offending id, so that a projection can never stumble over it.
    """
    for table in SCHEMA.tables:
        data = tables.get(table.name)
        if data is None or not data.num_rows:
            continue
        for column in table.columns:
            if not column.to:
                continue
            values = data[column.name]
            if column.absent is not None:
                values = values.filter(pc.not_equal(values, pa.scalar(column.absent, values.type)))
            target = SCHEMA.table(column.to)
            _check(values, tables[target.name][target.key], what, table.name, column.name)
    used = tables.get("Use")
    if used is not None and used.num_rows:
        links, resources = used["is_link"], used["resource"]
        for chosen, name in ((links, "Link"), (pc.invert(links), "Component")):
            _check(resources.filter(chosen), tables[name]["name"], what, "Use", "resource")


def _check(values: Any, known: Any, what: str, table: str, column: str) -> None:
    distinct = pc.unique(values)
    strangers = distinct.filter(
        pc.invert(pc.is_in(distinct, value_set=pa.chunked_array(known).combine_chunks()))
    )
    if len(strangers):
        raise ArchiveError(
            f"{what}: {table}.{column} refers to {strangers[0].as_py()!r}, which is not in the record; "
            "record that too, or leave the row out"
        )
