"""Reads a file of flows: YAML, JSON or CSV, a list of entries with the keys of :class:`Flow`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.topology.marked_yaml import load_marked
from kernbench.support.input_files import input_text, json_value
from kernbench.workloads.probes.noc_events import entries_of, is_trace
from kernbench.workloads.probes.traffic_flow import KEYS, REQUIRED, Flow, Where, make_flows

LONGEST = 256_000_000
"""Bytes of a file of flows: traces of chips are long."""
Entries = Iterator[tuple[object, Where]]


def read_flows(path: str | Path) -> list[Flow]:
    """The flows of a file, by the end of its name: ``.yaml``, ``.yml``, ``.json`` or ``.csv``.

    YAML and JSON hold a list of flows, or a mapping with the one key ``flows`` for it. CSV begins with a
    line of keys; an empty cell stands for the default, and a column without a name must be empty. JSON may
    instead hold a trace of a Wormhole chip (see :mod:`kernbench.workloads.probes.noc_events`).
    :class:`ConfigError` names file, line (YAML, CSV) or entry (JSON, from 1), key and what was expected; a
    file that is not there is a :class:`UsageError`.
    """
    file = Path(path).expanduser()
    read = {".yaml": _yaml, ".yml": _yaml, ".json": _json, ".csv": _csv}.get(file.suffix.lower())
    if read is None:
        raise UsageError(f"'{file}' is not a file of flows: its name must end in .yaml, .yml, .json or .csv")
    text = input_text(file, "a file of flows, or pattern:NAME", UsageError, LONGEST)
    return make_flows(read(text, str(file)))


def _read_list(data: object, where: str) -> list[object]:
    """The list of entries in a document; an empty document is an empty list."""
    if isinstance(data, dict) and list(data) == ["flows"]:
        data = data["flows"]
    if data is None:
        return []
    if not isinstance(data, list):
        raise ConfigError(f"{where}: expected a list of flows, or a mapping with the one key 'flows'")
    return data


def _yaml(text: str, source: str) -> Entries:
    marked = load_marked(text, source)
    inside = ("flows",) if isinstance(marked.data, dict) else ()
    for index, entry in enumerate(_read_list(marked.data, f"{source}:{marked.line(())}")):

        def where(key: str, index: int = index) -> str:
            line = marked.line((*inside, index, key))
            return f"{source}:{line}: flow {index + 1}" + (f": {key}" if key else "")

        yield entry, where


def _json(text: str, source: str) -> Entries:
    data = json_value(text, source) if text.strip() else None
    entries = _read_list(data, source)
    if is_trace(entries):
        yield from entries_of(entries, lambda number: _numbered(f"{source}: event {number}"))
        return
    for index, entry in enumerate(entries, 1):
        yield entry, _numbered(f"{source}: flow {index}")


def _csv(text: str, source: str) -> Entries:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(([cell.strip() for cell in row] for row in reader if any(map(str.strip, row))), [])
        if not header:
            return
        top = f"{source}:{reader.line_num}"
        named = [key for key in header if key]
        if len(set(named)) < len(named):
            raise ConfigError(f"{top}: a column is named twice, expected each of {', '.join(KEYS)} once")
        for key in REQUIRED:
            if key not in header:
                raise ConfigError(f"{top}: {key}: no such column, expected a line of column names with it")
        begun = reader.line_num + 1
        for row in reader:
            line, begun = begun, reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                raise ConfigError(f"{source}:{line}: has {len(row)} cells, expected {len(header)}")
            cells = [(key, cell.strip()) for key, cell in zip(header, row, strict=True) if cell.strip()]
            if stray := [cell for key, cell in cells if not key]:
                raise ConfigError(f"{source}:{line}: '{stray[0]}' is in a column without a name, name it")
            yield dict(cells), _numbered(f"{source}:{line}")
    except csv.Error as error:
        raise ConfigError(f"{source}:{reader.line_num}: bad CSV: {error}") from None


def _numbered(prefix: str) -> Where:
    return lambda key: f"{prefix}: {key}" if key else prefix
