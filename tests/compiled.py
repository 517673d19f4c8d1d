"""Topologies compiled once a process: a compiled graph is read and never changed, so tests may share it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from kernbench.hardware.topology import compile_topology, load
from kernbench.support.pgraph import PropertyGraph


def compiled(file: str | None = None, overrides: Mapping[str, object] | None = None) -> PropertyGraph:
    """The graph of a file or shipped topology (None: the default one) with values replaced by dotted key."""
    path = Path(file or "")
    content = path.read_text(encoding="utf-8") if path.is_file() else ""
    return _compiled(file, content, json.dumps(dict(overrides or {})))


@lru_cache(maxsize=32)
def _compiled(file: str | None, _content: str, overrides: str) -> PropertyGraph:
    return compile_topology(load(file, json.loads(overrides)))
