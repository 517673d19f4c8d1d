"""Stores: the default one, opening one, and which run in it is meant."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernbench.api import team
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore, RunNotFoundError, RunRecord, StoreError, resolve_ref
from kernbench.support.pgraph import open_store as _open_store

if TYPE_CHECKING:
    import pyarrow as pa

STORE_VARIABLE = "KERNBENCH_STORE"
DEFAULT_FOLDER = ".kernbench"

Store = str | os.PathLike[str] | GraphStore | None
"""A store, its URL, or None for the default one."""


def default_store() -> str:
    """URL of the default store: ``$KERNBENCH_STORE``, else ``.kernbench`` in the working directory."""
    return os.environ.get(STORE_VARIABLE, "").strip() or DEFAULT_FOLDER


def open_store(url: str | os.PathLike[str] | None = None) -> GraphStore:
    """Open the store at ``url`` (``memory:``, or the path of a folder that need not exist yet).

    Close it when done. ``StoreUrlError`` when there is no such kind of store.
    """
    opened = _open_store(default_store() if url is None else os.fspath(url))
    opened.computed = partial(_worked_out, opened)
    return opened


def _worked_out(store: GraphStore, run: RunRecord, table: str) -> Mapping[str, pa.Table]:
    from kernbench.analysis.derived_tables import derived_tables

    return derived_tables(run, table, lambda: store.load_topology(str(run.info["topology"])))


def as_store(store: Store) -> GraphStore:
    """``store`` itself when it is open already, else opened."""
    return open_store(store) if store is None or isinstance(store, str | os.PathLike) else store


def keeper(store: Store, detail: str = "full") -> GraphStore:
    """As :func:`as_store`, to keep a run in: ``StoreError`` now where it could not be kept at its end."""
    opened = as_store(store)
    check_detail(opened, detail)
    folder = folder_of(opened.url)
    if folder is not None:
        check_can_be_written(folder)
    return opened


def check_detail(store: GraphStore, detail: str) -> None:
    """``UsageError`` when the store cannot keep runs at that detail."""
    if detail not in store.details:
        known = " or ".join(store.details)
        raise UsageError(
            f"--detail {detail} is not for store '{store.url}'; use {known}, or a server such as neo4j://host"
        )


def folder_of(url: str) -> Path | None:
    """The folder that a store's URL means, if it means one."""
    return None if ":" in url or not url.strip() else Path(url).expanduser()


def check_can_be_written(folder: Path) -> None:
    """``StoreError`` when ``folder`` cannot be written or, where it does not exist, cannot be made."""
    above = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))
    if not above.exists():
        raise StoreError(f"store '{folder}' cannot be made: '{above}' is a broken link; fix it")
    if not above.is_dir():
        raise StoreError(f"store '{folder}' cannot be made: '{above}' is a file; name another folder")
    if not os.access(above, os.W_OK):
        raise StoreError(
            f"store '{folder}' cannot be written: no write permission for '{above}'; name another folder"
        )


@contextmanager
def borrowed(store: Store) -> Iterator[GraphStore]:
    """``store`` for the length of a ``with``; closed at its end unless the caller had opened it."""
    opened = as_store(store)
    try:
        yield opened
    finally:
        if opened is not store:
            opened.close()


def run_id(store: GraphStore, ref: str, project: str | None = None) -> str:
    """The id of the run that ``ref`` means, as for :func:`open_run`; ``last`` is the project's."""
    if team.project(project) and re.fullmatch(r"last(~\d+)?", ref):
        return resolve_ref(ref, [str(info["id"]) for info in store.runs() if team.is_seen(info, project)])
    try:
        return store.resolve(ref)
    except RunNotFoundError:
        seen = [info for info in store.runs() if team.is_seen(info, project)]
        tagged = [str(info["id"]) for info in seen if ref in tags_of(info)]
        if not tagged:
            raise
        return tagged[-1]


def tags_of(info: Mapping[str, Any]) -> list[str]:
    """The tags in the record of a run."""
    found: list[str] = json.loads(info["tags"] or "[]")
    return found
