"""Diagnosis of an installation: versions, backends, and whether the store can be used."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

from kernbench.api.shown import Found
from kernbench.api.stores import check_can_be_written, default_store, folder_of, open_store
from kernbench.support.data_files import data_dir, shipped_topologies
from kernbench.support.pgraph import install
from kernbench.support.sizes import counted
from kernbench.version import __version__

_NEEDED = (
    *("simpy", "greenlet", "numpy", "ml_dtypes", "networkx", "pydantic", "pyyaml", "pyarrow"),
    *("ladybug", "click", "rich", "textual", "werkzeug", "waitress"),
)
_BACKENDS = (("memory:", "ladybug"), ("folder", "ladybug"), ("neo4j:", "neo4j"))


@runtime_checkable
class _Database(Protocol):
    """A store on a server, which somebody may have used with another version of KernBench."""

    @property
    def schema_version(self) -> int | None: ...


class Diagnosis(Found):
    """What is installed and works: see :func:`doctor`."""

    shown_by = "diagnosis:content"


def doctor(store: str | None = None) -> Diagnosis:
    """Check the installation and the store at ``store`` (None: the default one).

    Gives ``ok`` and ``checks``, each with ``check``, ``state`` (``ok``, ``missing`` when nothing needs it,
    ``failed``) and ``detail``. Nothing is written.
    """
    checks = [
        _row("kernbench", "ok", __version__),
        _row("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        *(_package(name) for name in _NEEDED),
        *(_backend(name, library) for name, library in _BACKENDS),
        _extra("any Cypher text", "cypher", "arcadedb"),
        _extra("figures", "figures", "matplotlib"),
        _extra("sweeps on a cluster", "dask", "distributed"),
        _compiled_core(),
        _attempt("topologies", _topologies),
        _attempt("questions", _questions),
        _attempt("benches", _benches),
        _attempt("store", lambda: _store(default_store() if store is None else store)),
    ]
    return Diagnosis(ok=all(check["state"] != "failed" for check in checks), checks=checks)


def _row(check: str, state: str, detail: str) -> dict[str, str]:
    return {"check": check, "state": state, "detail": detail}


def _package(name: str) -> dict[str, str]:
    try:
        return _row(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return _row(name, "failed", f"not installed; pip install {name}")


def _backend(name: str, library: str) -> dict[str, str]:
    found = find_spec(library) is not None
    detail = f"{library} {metadata.version(library)}" if found else f"needs {library}; pip install {library}"
    return _row(f"backend {name}", "ok" if found else "failed", detail)


def _extra(check: str, extra: str, *libraries: str) -> dict[str, str]:
    if any(find_spec(name) is None for name in libraries):
        return _row(check, "missing", install(extra))
    return _row(check, "ok", ", ".join(f"{name} {metadata.version(name)}" for name in libraries))


def _compiled_core() -> dict[str, str]:
    from kernbench.support.compiled import state

    return _row("compiled core", "ok" if state == "used" else "missing", state)


def _attempt(check: str, look: Callable[[], str]) -> dict[str, str]:
    try:
        return _row(check, "ok", look())
    except Exception as error:  # whatever it is, this is the place to say it
        return _row(check, "failed", " ".join(f"{error}".split()) or type(error).__name__)


def _topologies() -> str:
    return ", ".join(shipped_topologies())


def _questions() -> str:
    from kernbench.api.asking import library

    return f"{len(library())} in {data_dir('queries')}"


def _benches() -> str:
    from kernbench.workloads.benches import list_all

    return f"{len(list_all())}"


def _store(url: str) -> str:
    from kernbench.support.pgraph import SCHEMA_VERSION

    folder = folder_of(url)
    if folder is not None and not folder.exists():
        check_can_be_written(folder)
        return f"{url}: empty, the first run creates it; schema version {SCHEMA_VERSION}"
    opened = open_store(url)
    try:
        runs = len(opened.runs())
        kept = counted(runs, "run")
        if isinstance(opened, _Database):
            version = opened.schema_version
            if version is None:
                return f"{url}: reachable, not used yet; the first run makes schema version {SCHEMA_VERSION}"
            return f"{url}: reachable, {kept}, schema version {version}"
        limit = (
            "" if folder is None or os.access(folder, os.W_OK) else "; read-only, no run can be saved there"
        )
        return f"{url}: {kept}, schema version {SCHEMA_VERSION}{limit}"
    finally:
        opened.close()
