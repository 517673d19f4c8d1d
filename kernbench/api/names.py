"""Names to choose from, of benches, questions and runs, as fast as a shell wants them completed.

Nothing here imports numpy, pydantic or a store's library where the names can be read from files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kernbench.api import stores
from kernbench.api.stores import Store
from kernbench.support.data_files import data_dir, shipped_topologies
from kernbench.support.input_files import read_text
from kernbench.support.registered_names import registered, registered_in

QUERIES_VARIABLE = "KERNBENCH_QUERIES"
"""Names folders with questions of a user's own, separated like those of ``PATH``."""

Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_PACKAGE = Path(__file__).resolve().parents[1]


def bench_names() -> dict[str, tuple[str, ...]]:
    """The names of the parameters of every shipped bench, by its name."""
    return registered(_PACKAGE / "workloads" / "benches", "bench")


def evaluation_names() -> list[str]:
    """The names of the shipped evaluations."""
    return list(registered(data_dir("evaluations"), "evaluation"))


def table_names() -> list[str]:
    """The tables that the model is measured beside."""
    return sorted(file.stem for file in (data_dir("configs") / "validation").glob("*.yaml"))


def pattern_names() -> list[str]:
    """The names of the built-in patterns of traffic, in the order in which they are listed."""
    return list(registered_in(_PACKAGE / "workloads" / "probes" / "traffic_patterns.py", "_pattern"))


def topology_names() -> list[str]:
    """The names of the shipped topologies."""
    return list(shipped_topologies())


def topology_keys() -> list[str]:
    """The dotted keys of the default topology's file, such as ``cube.hbm.channel_gbs``."""
    from kernbench.support.pgraph import load_plain

    file = data_dir("configs") / "topologies" / "default.yaml"
    return list(_keys("", load_plain(read_text(file))))


def _keys(begun: str, section: Any) -> Iterator[str]:
    for key, value in section.items():
        if isinstance(value, dict) and value:
            yield from _keys(f"{begun}{key}.", value)
        else:
            yield f"{begun}{key}"


def question_folders(queries: Folders = ()) -> tuple[str, ...]:
    """Folders of questions of a user's own: those of ``$KERNBENCH_QUERIES``, then ``queries``."""
    named = os.environ.get(QUERIES_VARIABLE, "").split(os.pathsep)
    queries = [queries] if isinstance(queries, str | os.PathLike) else queries
    return tuple(dict.fromkeys(os.fspath(folder) for folder in [*named, *queries] if folder))


def question_files() -> dict[str, Path]:
    """The file of every question by name, which is its place in its folder; none of them is read."""
    roots = [data_dir("queries"), *map(Path, question_folders())]
    return dict(
        sorted(
            (path.relative_to(root).with_suffix("").as_posix(), path)
            for root in roots
            for path in root.glob("*/*.yaml")
        )
    )


def question_parameter_names(file: Path) -> list[str]:
    """The names of the parameters of the question in ``file`` that one may give; none where it is wrong."""
    from kernbench.support.pgraph import load_plain, with_shared

    try:
        return list(with_shared(load_plain(read_text(file))["params"]))
    except (OSError, ValueError, LookupError, TypeError):
        return []


def run_names(store: Store = None) -> list[tuple[str, tuple[str, ...]]]:
    """(id, tags) of every run in ``store``, oldest first."""
    url = stores.default_store() if store is None else store
    folder = stores.folder_of(os.fspath(url)) if isinstance(url, str | os.PathLike) else None
    if folder is not None:
        from kernbench.support.pgraph import archived_run_names

        return archived_run_names(folder)
    return [(str(info["id"]), tuple(stores.tags_of(info))) for info in stores.as_store(url).runs()]
