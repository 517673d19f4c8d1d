"""Reads recorded loads: CSV with the columns of Azure's, BurstGPT's or Mooncake's public traces."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernbench.errors import ConfigError, UsageError
from kernbench.support.input_files import input_text
from kernbench.workloads.serving.lengths import LONGEST
from kernbench.workloads.serving.load import Load

_BYTES = 1_000_000_000
_LATEST_S = 10**15
_LATEST = _LATEST_S * 10**9
"""ns; later times are mistakes."""
_Read = Callable[[str], int]


def _ns_of(unit_ns: int) -> _Read:
    def read(text: str) -> int:
        number = Decimal(text)
        return round(number * unit_ns) if abs(number) < _LATEST_S else _LATEST

    return read


def _date_ns(text: str) -> int:
    head, _, fraction = text.partition(".")  # Azure writes seven digits, Python reads six
    seconds = (datetime.fromisoformat(head) - datetime(2000, 1, 1)).total_seconds()
    return round(seconds) * 10**9 + round(Decimal(f"0.{fraction}") * 10**9)


class _Columns(NamedTuple):
    time: str
    prompt: str
    output: str
    read: _Read
    told: str


_KNOWN = (
    _Columns("timestamp", "contexttokens", "generatedtokens", _date_ns, "a date and time"),  # Azure
    _Columns(
        "timestamp", "request tokens", "response tokens", _ns_of(10**9), "a number of seconds"
    ),  # BurstGPT
    _Columns(
        "timestamp", "input_length", "output_length", _ns_of(10**6), "a number of milliseconds"
    ),  # Mooncake
    _Columns("timestamp", "input", "output", _ns_of(10**9), "a number of seconds"),
)


def read_trace(path: str | Path) -> Load:
    """The requests of a CSV file, from the time of the first; those that arrive together in their order.

    The first line names the columns, in any order and case, others are ignored: ``TIMESTAMP ContextTokens
    GeneratedTokens`` (Azure; dates), ``Timestamp``, ``Request tokens``, ``Response tokens`` (BurstGPT; s),
    ``timestamp input_length output_length`` (Mooncake; ms) or ``timestamp input output`` (s).

    Raises:
        ConfigError: Columns are missing or a cell is wrong; it names file, line and column.
        UsageError: The file does not exist.
    """
    file = Path(path).expanduser()
    text = input_text(file, "a trace of requests (CSV)", UsageError, _BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    times: list[int] = []
    prompts: list[int] = []
    outputs: list[int] = []
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        columns = next((one for one in _KNOWN if {*one[:3]} <= {*header}), None)
        if columns is None:
            forms = "; ".join(", ".join(one[:3]) for one in _KNOWN)
            raise ConfigError(f"{file}:1: lacks the columns of a trace; expected a first line with {forms}")
        at = [header.index(name) for name in columns[:3]]
        for row in reader:
            if not row:
                continue
            where = f"{file}:{reader.line_num}"
            if len(row) != len(header):
                raise ConfigError(f"{where}: has {len(row)} cells, expected {len(header)}")
            times.append(_time(row[at[0]], columns, where))
            prompts.append(_tokens(row[at[1]], columns.prompt, where))
            outputs.append(_tokens(row[at[2]], columns.output, where))
    except csv.Error as error:
        raise ConfigError(f"{file}:{reader.line_num}: bad CSV: {error}") from None
    if not times:
        raise ConfigError(f"{file}: has no requests, expected a line for each below the names of columns")
    first = min(times)
    ns = np.array([time - first for time in times], float)
    order = np.argsort(ns, kind="stable")
    return Load(ns[order], np.array(prompts)[order], np.array(outputs)[order])


def _time(cell: str, columns: _Columns, where: str) -> int:
    try:
        found = columns.read(cell.strip())
    except (ValueError, ArithmeticError):
        found = _LATEST
    if not abs(found) < _LATEST:
        raise ConfigError(f"{where}: {columns.time}: '{cell}' is not {columns.told}")
    return found


def _tokens(cell: str, name: str, where: str) -> int:
    text = cell.strip()
    number = int(text) if text.isdecimal() and len(text) < 12 else 0
    if not 1 <= number <= LONGEST:
        raise ConfigError(f"{where}: {name}: '{cell}' is not a number of tokens, from 1 to {LONGEST}")
    return number
