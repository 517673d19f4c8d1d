"""The tables of users' instruments, checked row by row, as the table Reading of a run's record."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.errors import KernBenchError, UsageError
from kernbench.support.pgraph import SCHEMA, PropertyGraph
from kernbench.support.user_code import raised_at
from kernbench.support.user_modules import load_file, load_module

if TYPE_CHECKING:
    from kernbench.engine.core.instrument import Instrument

_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TYPES: dict[type, str] = {str: "text", bool: "truth", int: "whole number", float: "number"}
_SAME = {"string": str, "bool": bool, "int64": int, "int32": int, "double": float}
Row = dict[str, Any]


def check_instruments(instruments: Sequence[object]) -> list[Instrument]:
    """``instruments`` as a run takes them; a class in a file or module is made into an object.

    ``UsageError`` where one is none, or two have one table.
    """
    from kernbench.engine.core.instrument import Instrument

    found: list[Instrument] = []
    tables: set[object] = set()
    for given in instruments:
        one = _load(given) if isinstance(given, str) else given
        if not isinstance(one, Instrument):
            made = f"; give an object, {one.__name__}()" if isinstance(one, type) else ""
            raise UsageError(f"instruments has {one!r}, which is not a kernbench.Instrument{made}")
        if one.table and not _WORD.fullmatch(str(one.table)):
            raise UsageError(f"{_name(one)}: its table is called {one.table!r}; use a word, as in 'energy'")
        if one.table in tables:
            raise UsageError(f"two instruments have a table '{one.table}'; give each its own name")
        tables |= {one.table} - {""}
        found.append(one)
    return found


def _load(named: str) -> Instrument:
    """An object of the class ``file.py:Class`` or ``module:Class``; of a file with one instrument, that."""
    from kernbench.engine.core.instrument import Instrument

    place, _, name = (named, "", "") if named.endswith(".py") else named.rpartition(":")
    load = load_file if place.endswith(".py") else load_module
    module = sys.modules[load(place or named, "instrument")]
    known = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Instrument) and value.__module__ == module.__name__
    }
    if name not in known and (name or len(known) != 1):
        there = (
            f"it has {', '.join(known)}" if known else "it has none; make a subclass of kernbench.Instrument"
        )
        raise UsageError(f"'{named}' does not name one instrument: {there}")
    made = known[name] if name else next(iter(known.values()))
    try:
        return made()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"'{named}': {made.__name__}() raised {what}; it is made without arguments"
        ) from error


def readings(
    instruments: Sequence[Instrument], places: Collection[str], launches: int, graph: PropertyGraph
) -> dict[str, list[Any]]:
    """The columns of the table Reading.

    Args:
        instruments: those of a run that is over.
        places: names of the components and links that rows may be about.
        launches: how many launches the run had.
        graph: the machine; properties of its components have their types, which columns may not take.

    Raises:
        UsageError: an instrument's ``rows`` failed, or a row cannot be kept.
    """
    found: dict[str, list[Any]] = {c.name: [] for c in SCHEMA.table("Reading").columns}
    own: list[Row] = []
    taken = {name for node in graph.nodes() for name in node.properties} - set(SCHEMA.properties())
    types: dict[str, tuple[type, str]] = {}
    for instrument in instruments:
        for number, row in _rows(instrument):
            where = f"{_name(instrument)}: row {number} of '{instrument.table}'"
            values = {name: own_value(value, f"{where}: column '{name}'") for name, value in row.items()}
            resource, launch = values.pop("resource", ""), values.pop("launch", -1)
            if resource != "" and resource not in places:
                raise UsageError(f"{where} is about '{resource}', but the machine has nothing of that name")
            if not isinstance(launch, int) or not -1 <= launch < launches:
                raise UsageError(f"{where} is about launch {launch!r}, but the run has {launches} launches")
            for name, value in values.items():
                _check_name(name, taken, where)
                _check_type(name, type(value), types, where)
            own.append(values)
            entries = (len(own) - 1, instrument.table, resource, launch)
            for column, entry in zip(("number", "kind", "resource", "launch"), entries, strict=True):
                found[column].append(entry)
    floats = {name for name, (kind, _) in types.items() if kind is float}
    for values in own:
        as_kept = {name: float(value) if name in floats else value for name, value in values.items()}
        found["columns"].append(json.dumps(as_kept, sort_keys=True, ensure_ascii=False))
    return found


def _name(instrument: Instrument) -> str:
    return f"instrument {type(instrument).__name__}"


def _rows(instrument: Instrument) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The rows of an instrument with their numbers; whatever it raises is a ``UsageError``."""
    if not instrument.table:
        return
    try:
        rows = list(instrument.rows())
    except (KernBenchError, KeyboardInterrupt):
        raise
    except BaseException as error:
        at = f" ({line})" if (line := raised_at(error)) else ""
        what = f"{type(error).__name__}: {error}"
        raise UsageError(f"{_name(instrument)}: rows() raised {what}{at}") from error
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
            what = f"row {number} is {row!r}, not a mapping from columns to values"
            raise UsageError(f"{_name(instrument)}: {what}")
        yield number, row


def own_value(value: object, what: str) -> Any:
    """A user's own value as runs keep it, a text, number or truth; numbers of numpy become Python's.

    ``what`` begins the message of the ``UsageError`` for another.
    """
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", None) == 0:
        value = item()
    if type(value) not in _TYPES:
        raise UsageError(f"{what} is {value!r}; use a text, a number or a boolean")
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{what} is {value!r}; leave out what is not a finite number")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise UsageError(f"{what} is {value!r}, beyond 64 bits; use a float")
    return value


def _check_name(name: str, taken: Collection[str], where: str) -> None:
    columns = {prop.name for prop in SCHEMA.label("Reading").properties}
    if not _WORD.fullmatch(name):
        raise UsageError(f"{where}: column '{name}' is not a word of small letters, digits and '_'")
    if name in columns:
        raise UsageError(f"{where}: column '{name}' is KernBench's own in every table; give it another name")
    if name in taken:
        raise UsageError(f"{where}: column '{name}' is a property of components; give it another name")


def _check_type(name: str, kind: type, types: dict[str, tuple[type, str]], where: str) -> None:
    """One type a name, over all tables and all the graph; whole numbers may stand among others."""
    known = SCHEMA.properties().get(name)
    first = (_SAME[min(known)], "in the graph") if known else (kind, f"in {where.partition(': ')[2]}")
    before, whose = types.get(name, first)
    if {before, kind} == {int, float} and not (known and before is int):
        before = kind = float
    if before is not kind:
        raise UsageError(
            f"{where}: column '{name}' is a {_TYPES[kind]}, but a {_TYPES[before]} {whose}; "
            "give it another name, or one type"
        )
    types[name] = before, whose
