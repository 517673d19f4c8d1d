"""The manifest of an archived record: what it is, what belongs to it, and how to tell that it is whole.

    {"format": "kernbench-run", "schema_version": 3, "id": ...,
     "run":   properties of the Run node that are equal for two identical runs, the topology's id among them,
     "wall":  those that differ, "extra": what the producer added,
     "files": {"Hop.parquet": {"rows": n, "bytes": n, "sha256": ...}, ...},
     "content": sha256 over format, schema version, run and files: equal for two identical runs,
     "sha256": of all bytes of the file before this line}

A topology's manifest has ``"topology": {"id", "name", "spec", ...}`` instead. ``content`` and ``sha256`` are
checked whenever a manifest is read; manifests of schema version 2 have no ``sha256``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernbench_graph.errors import ArchiveError, SchemaVersionError
from kernbench_graph.input_files import read_file
from kernbench_graph.json_text import parse
from kernbench_graph.schema import READABLE, SCHEMA
from kernbench_graph.schema_types import Property, Record

NAME = "manifest.json"
_SEAL, _SEALED_SINCE = "sha256", 3
_NOT_HASHED = ("wall", "extra")
"""Parts that are not in ``content``, for they may differ between identical runs."""
REMEDY = "remove the folder or restore it from a copy"
_DEFAULTS: dict[str, Any] = {"string": "", "int64": 0, "int32": 0, "double": 0.0, "bool": False}
_BITS = {"int64": 64, "int32": 32}
_SPECIAL: dict[str, Any] = {
    "params": "{}",
    "properties": "{}",
    "tags": "[]",
    "seed": -1,
    "status": "ok",
    "verified": "not asked",
}


def as_type(prop: Property, value: Any, what: str) -> Any:
    """``value`` as the type of ``prop``; None is its default; lists and mappings become JSON text.

    ``ArchiveError`` when it does not fit.
    """
    if value is None:
        return _SPECIAL.get(prop.name, _DEFAULTS[prop.type])
    if prop.type == "string" and isinstance(value, list | tuple | Mapping):
        return json_text(value, f"{what}: '{prop.name}'")
    fits = {
        "string": isinstance(value, str),
        "int64": isinstance(value, int) and not isinstance(value, bool),
        "int32": isinstance(value, int) and not isinstance(value, bool),
        "double": isinstance(value, int | float) and not isinstance(value, bool),
        "bool": isinstance(value, bool),
    }[prop.type]
    if fits and isinstance(value, int) and prop.type in _BITS:
        fits = -(1 << _BITS[prop.type] - 1) <= value < 1 << _BITS[prop.type] - 1
    if fits and prop.type == "double":
        fits = abs(value) <= sys.float_info.max
    if not fits:
        raise ArchiveError(f"{what}: property '{prop.name}' is {value!r}, but should be of type {prop.type}")
    return float(value) if prop.type == "double" else value


def not_utf_8(error: UnicodeEncodeError) -> str:
    """What is to be said where a text has halves of characters."""
    around = error.object[max(error.start - 20, 0) : error.end + 20]
    return f"cannot be kept: {around!r} is not text in UTF-8; use other characters"


def json_text(value: Any, what: str) -> str:
    """``value`` as compact JSON text with sorted keys; ``ArchiveError`` when it is not JSON."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ArchiveError(f"{what} cannot be kept as JSON ({error}); use plain values") from error


def encode(manifest: Mapping[str, Any], what: str) -> bytes:
    """The manifest as the bytes of its file, with its checksum at the end."""
    unsealed = {name: value for name, value in manifest.items() if name != _SEAL}
    try:
        text = json.dumps(unsealed, indent=1, ensure_ascii=False, allow_nan=False)
        head = text.removesuffix("\n}").encode() + b",\n"
    except UnicodeEncodeError as error:
        raise ArchiveError(f"{what} {not_utf_8(error)}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise ArchiveError(f"{what} cannot be kept as JSON ({error}); use plain values") from error
    return head + _seal(head)


def read(folder: Path, record: Record) -> dict[str, Any]:
    """The manifest in ``folder``.

    ``ArchiveError`` when it is damaged, ``SchemaVersionError`` when its schema version is not a readable one.
    """
    path = folder / NAME
    try:
        data = read_file(path)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror}); {REMEDY}") from error
    return decode(data, record, str(path))


def decode(data: bytes, record: Record, path: str) -> dict[str, Any]:
    """The manifest whose file's bytes are ``data``; errors, as for :func:`read`, name ``path``."""
    try:
        manifest = parse(data)
    except ValueError as error:
        raise ArchiveError(f"{path} is damaged; {REMEDY}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != f"kernbench-{record}":
        raise ArchiveError(f"{path} is not the manifest of a {record}; {REMEDY}")
    version = manifest.get("schema_version")
    if version not in READABLE or isinstance(version, bool | float):
        raise SchemaVersionError(
            f"{path} has schema version {version!r}, but this KernBench reads version "
            f"{' or '.join(map(str, READABLE))}; use the KernBench that wrote it, or run the simulation again"
        )
    parts = {"run": ("run", "wall", "extra", "files"), "topology": ("topology", "files")}[record]
    if not all(isinstance(manifest.get(part), dict) for part in parts) or "content" not in manifest:
        raise ArchiveError(f"{path} is damaged: a part is missing; {REMEDY}")
    head = data[: data.rfind(b' "' + _SEAL.encode() + b'": "')]
    sealed = version < _SEALED_SINCE or data == head + _seal(head)
    hashed = {
        name: manifest[name] for name in ("format", "schema_version", *parts) if name not in _NOT_HASHED
    }
    if not sealed or manifest["content"] != content_hash(hashed):
        raise ArchiveError(f"{path} does not match its checksum: it is damaged; {REMEDY}")
    return manifest


def properties(record: Record, values: Mapping[str, Any], path: str) -> dict[str, Any]:
    """All properties of a run or topology, in the schema's order, from those that its manifest has.

    Those that an older KernBench did not know have their defaults. ``ArchiveError`` where one does not fit.
    """
    return {prop.name: as_type(prop, values.get(prop.name), path) for prop in SCHEMA.info[record]}


def _seal(head: bytes) -> bytes:
    """The last line of a manifest that begins with ``head``, and the end of its object."""
    return f' "{_SEAL}": "{hashlib.sha256(head).hexdigest()}"\n}}\n'.encode()


def content_hash(parts: Mapping[str, Any]) -> str:
    """SHA-256 over ``parts`` as canonical JSON."""
    return hashlib.sha256(json_text(parts, "content").encode()).hexdigest()
