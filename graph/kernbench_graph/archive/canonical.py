"""Archive tables in their one canonical form: column types, order, no nulls, ids that refer to something.

What the schema calls ``string`` is a plain Arrow string here, whatever encoding a producer used, so that
equal content gives equal bytes.

``pyarrow.compute`` takes as long to import as keeping a short run takes, so a record of few values is checked
without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import filterfalse
from typing import Any

import pyarrow as pa

from kernbench_graph.errors import ArchiveError
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import Record, Table

_FEW = 100_000
"""Values that Python looks through sooner than ``pyarrow.compute`` is imported."""

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


def with_defaults(table: Table, data: pa.Table) -> pa.Table:
    """``data`` with the columns that it lacks and that have a default, at the end."""
    for column in table.columns:
        if column.name not in data.column_names and column.default is not None:
            default = pa.scalar(column.default, ARROW_TYPES[column.type])
            data = data.append_column(column.name, pa.repeat(default, data.num_rows))
    return data


def _canonical(table: Table, data: pa.Table, what: str) -> pa.Table:
    names = [column.name for column in table.columns]
    data = with_defaults(table, data)
    missing = [name for name in names if name not in data.column_names]
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
        column = data.column(field.name)
        try:
            column = _cast(column, field.type)
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise ArchiveError(
                f"{what}: column {table.name}.{field.name} does not hold {field.type} ({reason}); convert it"
            ) from error
        if column.null_count:
            raise ArchiveError(f"{what}: column {table.name}.{field.name} has empty values; fill them")
        columns.append(column)
    result = pa.table(columns, schema=arrow_schema(table))
    if table.key and not _are_distinct(result[table.key]):
        raise ArchiveError(f"{what}: column {table.name}.{table.key} has an id twice; ids are unique")
    return result


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """``column`` as ``wanted``; :class:`pa.ArrowException` where it does not fit."""
    if column.type == wanted:
        return column
    if not len(column) and column.type == pa.null():
        return pa.chunked_array([], wanted)
    if (column.type, wanted) in _PLAIN and not column.null_count and len(column) <= _FEW:
        with suppress(pa.ArrowException):  # which tells less of what is wrong
            return pa.chunked_array([pa.array(_values(column), wanted)])
    return column.cast(wanted)


_PLAIN = ((pa.dictionary(pa.int32(), pa.string()), pa.string()), (pa.int64(), pa.int32()))
"""Types of columns that producers hand over, and those that records hold instead."""


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column without nulls."""
    values: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
    return values


def _are_distinct(column: pa.ChunkedArray) -> bool:
    if len(column) <= _FEW:
        return len(set(_values(column))) == len(column)
    import pyarrow.compute as pc

    return bool(pc.count_distinct(column).as_py() == len(column))


def check_references(
    tables: Mapping[str, pa.Table],
    what: str,
    there: Callable[[str], pa.Table | None] | None = None,
    remedy: str = "record that too, or leave the row out",
) -> None:
    """Every id in ``tables`` (canonical, of a run and its topology) is in the table that it refers to.

    That one is among ``tables``, or else what ``there`` gives; of None nothing is checked. ``ArchiveError``
    names column, row and first offending id, so that a projection can never stumble over it.
    """

    def check(values: pa.ChunkedArray, table: str, column: str, absent: Any = None) -> None:
        holder = tables[table] if there is None or table in tables else there(table)
        if holder is None:
            return
        found = _stranger(values, holder[SCHEMA.table(table).key], absent)
        if found is not None:
            raise ArchiveError(
                f"{what}: {column} refers to {found!r} in row {_row_of(values, found)}, which is not in the "
                f"record; {remedy}"
            )

    for name, data in tables.items():
        for column in SCHEMA.table(name).columns if data.num_rows else ():
            if column.to:
                check(data[column.name], column.to, f"{name}.{column.name}", column.absent)
    used = tables.get("Use")
    if used is not None and used.num_rows:
        uses = list(zip(_values(used["resource"]), _values(used["is_link"]), strict=True))
        for links, table in ((True, "Link"), (False, "Component")):
            chosen = pa.chunked_array([[at for at, is_link in uses if is_link == links]], pa.string())
            check(chosen, table, "Use.resource")


def check_values(name: str, data: pa.Table, what: str, remedy: str) -> None:
    """A table as read is like one that is written: text, no empty value, numbers, objects, no id twice."""
    try:
        data.validate(full=True)
    except pa.ArrowException as error:
        raise ArchiveError(f"{what}: {str(error).splitlines()[0]}; {remedy}") from None
    for column in data.column_names:
        if data[column].null_count:
            raise ArchiveError(f"{what}: {name}.{column} has empty values; {remedy}")
        values = data[column].to_numpy() if data.schema.field(column).type == pa.float64() else None
        if values is not None and bool((values != values).any()):
            raise ArchiveError(f"{what}: {name}.{column} has a value that is not a number; {remedy}")
    key = SCHEMA.table(name).key
    if key and not _are_distinct(data[key]):
        raise ArchiveError(f"{what}: {name}.{key} has an id twice; {remedy}")
    for own in (label.own for label in SCHEMA.labels if label.name == name and label.own):
        if (found := next(filterfalse(_is_object, dict.fromkeys(_values(data[own]))), None)) is not None:
            row = _row_of(data[own], found)
            raise ArchiveError(f"{what}: {name}.{own} in row {row} is not the JSON of an object; {remedy}")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _row_of(values: pa.ChunkedArray, wanted: Any) -> int:
    return next(row for row, value in enumerate(_values(values)) if value == wanted)


def _stranger(values: pa.ChunkedArray, known: pa.ChunkedArray, absent: Any = None) -> Any:
    """The first of ``values`` that is neither ``absent`` nor one of ``known``; None where there is none."""
    if len(values) + len(known) <= _FEW:
        there = {absent, *_values(known)}
        return next((value for value in _values(values) if value not in there), None)
    import pyarrow.compute as pc

    distinct = pc.unique(values)
    among = pc.is_in(distinct, value_set=known.combine_chunks())
    strangers = (value for value in distinct.filter(pc.invert(among)).to_pylist() if value != absent)
    return next(strangers, None)
