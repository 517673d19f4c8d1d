"""The records that a store keeps, runs and the topologies that they ran on, and how they are referred to."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernbench_graph.errors import ArchiveError, RunNotFoundError

if TYPE_CHECKING:
    import pyarrow as pa

_LAST = re.compile(r"last(?:~(\d{1,9}))?")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")


class LazyTables(Mapping[str, "pa.Table"]):
    """Tables by name, each made on first use, then kept."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._made: dict[str, pa.Table] = {}

    @abstractmethod
    def _make(self, name: str) -> pa.Table:
        """The table of that name, read or fetched."""

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True)
class TopologyRecord:
    """A compiled topology as it is kept: its properties, and the tables Component and Link."""

    id: str
    name: str
    spec: str
    tables: Mapping[str, pa.Table]
    schema_version: str = "1"
    """Version of the topology file's format (not of the archive)."""
    flit_bytes: int = 0
    ns_per_mm: float = 0.0
    properties: str = "{}"
    """The compiled graph's other properties, as JSON text of an object."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as it is kept: properties of its Run node, and tables by name (:mod:`kernbench_graph.schema`).

    ``info`` needs ``bench`` and ``topology``; ``id`` is given by the store when absent; other Run
    properties default to empty, 0 or -1. Further keys are kept and handed back, but are not in the graph;
    their values must be JSON values. Tables that are absent count as empty.
    """

    info: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


def is_id(value: object) -> bool:
    """Whether ``value`` may be an id: safe as a folder's name, and no reference such as ``last``."""
    return isinstance(value, str) and bool(_ID.fullmatch(value)) and not _LAST.fullmatch(value)


def check_id(what: str, value: object) -> str:
    """``value`` as an id that is safe as a folder's name, or ``ArchiveError``."""
    if not isinstance(value, str) or not is_id(value):
        raise ArchiveError(
            f"{what} id {value!r} cannot be used; use up to 128 letters, digits, '.', '_', '+', '-', "
            "starting with a letter or digit, and not 'last'"
        )
    return value


def resolve_ref(ref: str, ids: Sequence[str]) -> str:
    """The id in ``ids`` (oldest first) that ``ref`` means; ``RunNotFoundError`` lists what there is."""
    if ref in ids:
        return ref
    if last := _LAST.fullmatch(ref):
        back = int(last.group(1) or 0)
        if back < len(ids):
            return ids[-1 - back]
        raise RunNotFoundError(f"run '{ref}' does not exist: {_listing(ids)}")
    matches = [run_id for run_id in ids if ref and run_id.startswith(ref)]
    if not matches:
        matches = [run_id for run_id in ids if ref and run_id.rpartition("-")[2].startswith(ref)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise RunNotFoundError(f"run '{ref}' could be any of {', '.join(matches[:8])}; give more of the id")
    raise RunNotFoundError(f"no run '{ref}': {_listing(ids)}")


def _listing(ids: Sequence[str]) -> str:
    if not ids:
        return "the store holds no runs that can be read; run a bench first"
    newest = ", ".join(reversed(ids[-8:]))
    return f"the store holds {len(ids)}, 'last' is the newest: {newest}{', ...' if len(ids) > 8 else ''}"
