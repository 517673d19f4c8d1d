"""The manifest of an archived record: what it is, what belongs to it, and how to tell that it is whole.

    {"format": "kernbench-run", "schema_version": 2, "id": ...,
     "run":   properties of the Run node that are equal for two identical runs, the topology's id among them,
     "wall":  those that differ, "extra": what the producer added,
     "files": {"Hop.parquet": {"rows": n, "bytes": n, "sha256": ...}, ...},
     "content": sha256 over format, schema version, run and files: equal for two identical runs}

A topology's manifest has ``"topology": {"id", "name", "spec", ...}`` instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernbench_graph.errors import ArchiveError, SchemaVersionError
from kernbench_graph.schema import SCHEMA_VERSION
from kernbench_graph.schema_types import Property, Record

NAME = "manifest.json"
_DEFAULTS: dict[str, Any] = {"string": "", "int64": 0, "int32": 0, "double": 0.0, "bool": False}
_SPECIAL: dict[str, Any] = {
    "params": "{}",
    "properties": "{}",
    "tags": "[]",
    "seed": -1,
    "status": "ok",
    "verified": "not asked",
}


def typed(prop: Property, value: Any, what: str) -> Any:
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
    if not fits:
        raise ArchiveError(f"{what}: property '{prop.name}' is {value!r}, but should be of type {prop.type}")
    return float(value) if prop.type == "double" else value


def json_text(value: Any, what: str) -> str:
    """``value`` as compact JSON text with sorted keys; ``ArchiveError`` when it is not JSON."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ArchiveError(f"{what} cannot be kept as JSON ({error}); use plain values") from error


def encode(manifest: Mapping[str, Any], what: str) -> bytes:
    """The manifest as the bytes of its file."""
    try:
        text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ArchiveError(f"{what} cannot be kept as JSON ({error}); use plain values") from error
    return (text + "\n").encode()


def read(folder: Path, record: Record) -> dict[str, Any]:
    """The manifest in ``folder``.

    ``ArchiveError`` when it is damaged, ``SchemaVersionError`` when it is of another schema version.
    """
    path = folder / NAME
    remedy = "remove the folder or restore it from a copy"
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror}); {remedy}") from error
    except ValueError as error:
        raise ArchiveError(f"{path} is damaged; {remedy}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != f"kernbench-{record}":
        raise ArchiveError(f"{path} is not the manifest of a {record}; {remedy}")
    version = manifest.get("schema_version")
    if version != SCHEMA_VERSION:
        raise SchemaVersionError(
            f"{path} has schema version {version!r}, but this KernBench reads version {SCHEMA_VERSION}; "
            "use the KernBench that wrote it, or run the simulation again"
        )
    parts = {"run": ("run", "wall", "extra", "files"), "topology": ("topology", "files")}[record]
    if not all(isinstance(manifest.get(part), dict) for part in parts) or "content" not in manifest:
        raise ArchiveError(f"{path} is damaged: a part is missing; {remedy}")
    return manifest


def content_hash(parts: Mapping[str, Any]) -> str:
    """SHA-256 over ``parts`` as canonical JSON."""
    return hashlib.sha256(json_text(parts, "content").encode()).hexdigest()
