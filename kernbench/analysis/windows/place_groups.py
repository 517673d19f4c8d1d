"""A run's trace in pieces by place, so that what is worked out from hops takes little memory at any size.

How a place was used follows from its own hops and operations, and from those of a few places beside it: the
slice of a pseudo-channel, the DMA engine at the end of a wire within a PE, the other engines of its PE, the
part of another package that is simulated for it. Such places stay together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints, Texts

HOPS = 1 << 18
"""Hops and operations in a piece, unless places that stay together have more: some 80 MB while in use."""
ENGINES = ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math")
"""Kinds of the engines of a PE."""
_BY_PLACE = {"Use": "resource", "Hop": "resource", "Op": "component", "Dealt": "resource",
             "WaitedFor": "resource"}  # fmt: skip
"""Tables whose rows are of one place, and the column with its name."""

Tables = Mapping[str, pa.Table]


def pieces(tables: Tables, most: int = HOPS) -> Iterator[tuple[Tables, Mapping[str, Ints]]]:
    """The tables of a run with the rows of some places each, all places once.

    Args:
        tables: A run's; ``Dealt`` may be missing.
        most: Hops and operations of a piece that has several groups of places.

    Yields:
        The tables of a piece, and which rows of ``Use``, ``Hop``, ``Op`` they have, in order.
    """
    if tables["Hop"].num_rows + tables["Op"].num_rows <= most:
        yield tables, {name: np.arange(tables[name].num_rows) for name in ("Use", "Hop", "Op")}
        return
    names = tables["Use"]["resource"].to_pylist()
    index = {name: number for number, name in enumerate(names)}
    # By row of each table the number of its place; what is not among the uses counts at the end.
    codes = {name: _coded(tables[name][of], index) for name, of in _BY_PLACE.items() if name in tables}
    weight = np.bincount(np.concatenate([codes["Hop"], codes["Op"]]), minlength=len(names) + 1)
    of_place = np.append(_piece_of_each(_together(tables, names, index), weight[:-1], most), -1)
    for number in range(int(of_place.max(initial=-1)) + 1):
        rows = {name: np.flatnonzero(of_place[code] == number) for name, code in codes.items()}
        yield (
            {
                **{
                    name: tables[name]
                    for name in ("Transaction", "Launch", "Repeat", "Beyond")
                    if name in tables
                },
                **{name: _rows(tables[name], name, row) for name, row in rows.items()},
            },
            rows,
        )


def _rows(table: pa.Table, name: str, rows: Ints) -> pa.Table:
    """Some rows of a table; of hops no columns that nothing here reads, and of texts each once."""
    if name == "Hop":
        table = table.drop_columns([one for one in ("seq", "service_ns") if one in table.column_names])
    found = table.take(pa.array(rows))
    if name == "Use":
        return found
    at = found.column_names.index(_BY_PLACE[name])
    return found.set_column(at, _BY_PLACE[name], found.column(at).combine_chunks().dictionary_encode())


def _coded(column: pa.ChunkedArray, index: Mapping[str, int]) -> Ints:
    texts = Texts(column)
    found: Ints = np.array([index.get(text, len(index)) for text in texts.all()], np.int64)[texts.codes]
    return found


def _together(tables: Tables, names: list[str], index: Mapping[str, int]) -> Ints:
    """By place the number of its group: the least number of a place in it."""
    of = list(range(len(names)))

    def root(one: int) -> int:
        while of[one] != one:
            of[one] = one = of[of[one]]
        return one

    def join(one: int, name: str) -> None:
        if (other := index.get(name)) is not None:
            first, second = sorted((root(one), root(other)))
            of[second] = first

    kinds = tables["Use"]["kind"].to_pylist()
    engine_of: dict[str, str] = {}
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        source, arrow, target = name.partition("->")
        parent = name.rpartition(".")[0]
        for end in (source, target) if arrow else (parent,):
            if not arrow or (end in index and kinds[index[end]] in ENGINES):
                join(number, end)
        if not arrow and kind in ENGINES:
            join(number, engine_of.setdefault(parent, name))
    if (beyond := tables.get("Beyond")) is not None:
        for name, like in zip(beyond["resource"].to_pylist(), beyond["like"].to_pylist(), strict=True):
            if name in index:
                join(index[name], like)
    return np.array([root(number) for number in range(len(of))], np.int64)


def _piece_of_each(group: Ints, weight: NDArray[np.int64], most: int) -> Ints:
    """By place the number of the piece that it is in, from 0: groups in order, as many as fit."""
    of_group = np.bincount(group, weight, minlength=len(group))
    found, piece, filled = np.zeros(len(group), np.int64), 0, 0.0
    for one in np.unique(group).tolist():
        if filled and filled + of_group[one] > most:
            piece, filled = piece + 1, 0.0
        found[one] = piece
        filled += of_group[one]
    return found[group]
